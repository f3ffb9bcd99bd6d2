// Anthropic Messages: requests.
#include <fmt/format.h>

#include <algorithm>

#include "wire/messages.h"

namespace tunesmith::wire {

namespace {

constexpr FormatId k_me = FormatId::messages;

CacheMark read_mark(const View& object) {
  const View mark = object["cache_control"];
  if (!mark.is_object()) return CacheMark::none;
  return mark["ttl"].equals("1h") ? CacheMark::hour_1 : CacheMark::minutes_5;
}

/// A string or an array of blocks.
Result<std::vector<Part>> read_content(const View& content) {
  std::vector<Part> parts;
  if (!content.given()) return parts;
  if (content.is_string()) {
    if (!content.equals("")) parts.push_back({Text{content.str()}});
    return parts;
  }
  if (!content.is_array())
    return content.error(fmt::format("must be a string or an array, not {}", content.kind_name()));
  const std::vector<View> items = content.items();
  for (const View& item : items) {
    TS_ASSIGN(Part part, read_block(item));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<Message> read_message(const View& message) {
  if (!message.is_object())
    return message.error(fmt::format("must be an object, not {}", message.kind_name()));
  TS_ASSIGN(const std::string role, need_string(message, "role"));
  Message read;
  if (role == "user") {
    read.role = Role::user;
  } else if (role == "assistant") {
    read.role = Role::assistant;
  } else if (role == "system") {  // Claude Code sends these behind the first user message
    read.role = Role::system;
  } else {
    return message["role"].error(fmt::format("the role \"{}\" is not known", role),
                                 "use user, assistant or system");
  }
  TS_ASSIGN(read.parts, read_content(message["content"]));
  return read;
}

Result<Tool> read_tool(const View& tool) {
  if (!tool.is_object()) return tool.error(fmt::format("must be an object, not {}", tool.kind_name()));
  Tool read;
  const std::string type = tool["type"].str();
  if (!type.empty() && type != "custom") {
    read.name = type;
    read.foreign = Foreign{k_me, "tools." + type, std::string(tool.raw())};
    return read;
  }
  TS_ASSIGN(read.name, need_string(tool, "name"));
  read.description = tool["description"].str();
  if (tool["input_schema"].given()) read.schema = tool["input_schema"].raw();
  read.strict = tool["strict"].boolean();
  read.cache = read_mark(tool);
  read.extra =
      unknown_fields(k_me, tool, {"type", "name", "description", "input_schema", "strict", "cache_control"});
  return read;
}

Status read_choice(const View& choice, Request& request) {
  if (!choice.given()) return {};
  const std::string type = choice["type"].str();
  if (type == "auto") {
    request.tool_choice = ToolChoice::automatic;
  } else if (type == "any") {
    request.tool_choice = ToolChoice::required;
  } else if (type == "none") {
    request.tool_choice = ToolChoice::none;
  } else if (type == "tool") {
    request.tool_choice = ToolChoice::named;
    TS_ASSIGN(request.tool_name, need_string(choice, "name"));
  } else {
    return choice.error("this tool_choice is not known", "use auto, any, none or tool");
  }
  if (const auto single = choice["disable_parallel_tool_use"].boolean()) request.parallel_tools = !*single;
  return {};
}

Status read_settings(const View& root, Request& request) {
  const View limit = root["max_tokens"];
  if (limit.given()) {
    request.output_limit = limit.integer();
    if (!request.output_limit || *request.output_limit < 1)
      return limit.error("must be a whole number of at least 1");
  }
  if (root["temperature"].is_number()) request.temperature = root["temperature"].raw();
  if (root["top_p"].is_number()) request.top_p = root["top_p"].raw();
  const std::vector<View> words = root["stop_sequences"].items();
  for (const View& word : words) request.stop.push_back(word.str());
  request.stream = root["stream"].boolean().value_or(false);
  request.stream_usage = true;  // this format always tells it
  request.user = root["metadata"]["user_id"].str();
  const View thinking = root["thinking"];
  if (thinking["type"].equals("enabled")) request.reasoning.mode = Reasoning::Mode::on;
  if (thinking["type"].equals("adaptive")) request.reasoning.mode = Reasoning::Mode::adaptive;
  if (thinking["type"].equals("disabled")) request.reasoning.mode = Reasoning::Mode::off;
  request.reasoning.budget_tokens = thinking["budget_tokens"].integer();
  const View config = root["output_config"];
  request.reasoning.effort = config["effort"].str();
  const View form = config["format"];
  if (form["type"].equals("json_schema")) {
    request.output_format.kind = OutputFormat::Kind::json_schema;
    request.output_format.schema = form["schema"].raw();
  } else if (form.given()) {
    return form.error("this output format is not known", "use json_schema");
  }
  add_fields(request, unknown_fields(k_me, config, {"effort", "format"}, "output_config."));
  return {};
}

// --- writing ---

void write_mark(CacheMark mark, const Target& target, const Losses& losses, Writer& w) {
  if (mark == CacheMark::none) return;
  if (!target.cache_marks) {
    losses.note("cache marks were left out: the server does not take them");
    return;
  }
  w.key("cache_control").open('{').field("type", "ephemeral");
  if (mark == CacheMark::hour_1) w.field("ttl", "1h");
  w.close('}');
}

class RequestWriter {
 public:
  RequestWriter(const Request& request, const Target& target, const Losses& losses)
      : m_request(request), m_target(target), m_losses(losses) {}

  Status messages(Writer& w) {
    TS_ASSIGN(const std::vector<Message> all, results_adjacent(m_request.messages));
    std::size_t first = 0;
    std::string system;
    Writer s(system);
    for (; first < all.size() && is_system(all[first]); ++first) {
      for (const Part& part : all[first].parts) TS_TRY(block(part, "system", s));
    }
    if (!system.empty()) {
      w.key("system").open('[');
      w.raw(system).close(']');
    }
    w.key("messages").open('[');
    for (std::size_t i = first; i < all.size(); ++i) TS_TRY(message(all[i], w));
    w.close(']');
    return {};
  }

 private:
  static bool is_system(const Message& message) {
    return message.role == Role::system || message.role == Role::developer;
  }

  Status message(const Message& message, Writer& w) {
    if (is_system(message) && !m_target.inner_system) {
      TS_TRY(m_losses.cannot("messages.system",
                             "this model takes no system message behind the first user message"));
      return {};
    }
    std::string blocks;
    Writer b(blocks);
    // Results first: the server demands them right behind the calls.
    for (const Part& part : message.parts) {
      if (std::holds_alternative<ToolResult>(part.is)) TS_TRY(block(part, "messages", b));
    }
    for (const Part& part : message.parts) {
      if (!std::holds_alternative<ToolResult>(part.is)) TS_TRY(block(part, "messages", b));
    }
    // Empty content is refused by the server; a turn that held nothing but others' thinking says nothing.
    if (blocks.empty()) return {};
    w.open('{').field("role", is_system(message)           ? "system"
                              : message.role == Role::user ? "user"
                                                           : "assistant");
    w.key("content").open('[');
    w.raw(blocks).close(']').close('}');
    return {};
  }

  Status block(const Part& part, const std::string& where, Writer& w) {
    if (const auto* text = std::get_if<Text>(&part.is)) {
      if (text->text.empty()) return {};  // refused by the server
      w.open('{').field("type", "text").field("text", text->text);
      write_mark(text->cache, m_target, m_losses, w);
      w.close('}');
    } else if (const auto* refusal = std::get_if<Refusal>(&part.is)) {
      if (!refusal->text.empty()) w.open('{').field("type", "text").field("text", refusal->text).close('}');
    } else if (const auto* image = std::get_if<Image>(&part.is)) {
      write_image(*image, w);
    } else if (const auto* call = std::get_if<ToolCall>(&part.is)) {
      write_call(*call, w);
    } else if (const auto* result = std::get_if<ToolResult>(&part.is)) {
      return write_result(*result, w);
    } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
      write_thinking(*thinking, w);
    } else if (const auto* foreign = std::get_if<Foreign>(&part.is)) {
      if (foreign->format != k_me)
        return m_losses.cannot(where + "." + foreign->name, "the format has no such part");
      w.raw(foreign->raw);
    }
    return {};
  }

  void write_image(const Image& image, Writer& w) {
    if (!image.detail.empty()) m_losses.note("the detail of an image was left out");
    w.open('{').field("type", "image").key("source").open('{');
    if (image.url.empty()) {
      w.field("type", "base64").field("media_type", image.media_type).field("data", image.base64);
    } else {
      w.field("type", "url").field("url", image.url);
    }
    w.close('}');
    write_mark(image.cache, m_target, m_losses, w);
    w.close('}');
  }

  void write_call(const ToolCall& call, Writer& w) {
    bool mended = false;
    const std::string input = call.custom ? wrap_custom(call.arguments) : arguments_object(call, mended);
    if (mended)
      m_losses.note(
          fmt::format("the arguments of the call {} are no JSON object and went along as text", call.id));
    w.open('{').field("type", "tool_use").field("id", messages_tool_id(call.id));
    w.field("name", flat_name(call.space, call.name)).field_raw("input", input);
    write_mark(call.cache, m_target, m_losses, w);
    w.close('}');
  }

  Status write_result(const ToolResult& result, Writer& w) {
    w.open('{').field("type", "tool_result").field("tool_use_id", messages_tool_id(result.call_id));
    std::string blocks;
    Writer b(blocks);
    for (const Part& part : result.content) TS_TRY(block(part, "messages.tool_result", b));
    if (!blocks.empty()) {
      w.key("content").open('[');
      w.raw(blocks).close(']');
    }
    if (result.failed) w.field_bool("is_error", true);
    write_mark(result.cache, m_target, m_losses, w);
    w.close('}');
    return {};
  }

  /// Only the seal of this format can be read back there; thoughts of other providers would be refused.
  void write_thinking(const Thinking& thinking, Writer& w) {
    if (thinking.sealed_by != k_me || thinking.seal.empty()) {
      m_losses.note("thinking of earlier turns was left out: it is not sealed by this provider");
    } else if (thinking.redacted) {
      w.open('{').field("type", "redacted_thinking").field("data", thinking.seal).close('}');
    } else {
      w.open('{')
          .field("type", "thinking")
          .field("thinking", thinking.text)
          .field("signature", thinking.seal)
          .close('}');
    }
  }

  const Request& m_request;
  const Target& m_target;
  const Losses& m_losses;
};

Status write_tools(const Request& request, const Target& target, const Losses& losses, Writer& w) {
  std::string list;
  Writer l(list);
  for (const Tool& tool : request.tools) {
    if (tool.foreign) {
      if (tool.foreign->format == k_me) {
        l.raw(tool.foreign->raw);
      } else {
        TS_TRY(losses.cannot(tool.foreign->name, "it is run by the provider, and this one has none like it"));
      }
      continue;
    }
    l.open('{').field("name", flat_name(tool.space, tool.name));
    const std::string description = tool.custom ? custom_description(tool) : tool.description;
    if (!description.empty()) l.field("description", description);
    if (tool.custom)
      losses.note(fmt::format("the custom tool {} became a function of one string", tool.name));
    const std::string schema = tool.custom ? custom_schema() : tool.schema;
    l.field_raw("input_schema", schema.empty() ? R"({"type":"object","properties":{}})" : schema);
    if (tool.strict && *tool.strict && !tool.custom) l.field_bool("strict", true);
    for (const Foreign& extra : tool.extra) {
      if (extra.format == k_me) {
        l.field_raw(extra.name, extra.raw);
      } else {
        losses.note(fmt::format("{} of a tool was left out", extra.name));
      }
    }
    write_mark(tool.cache, target, losses, l);
    l.close('}');
  }
  if (!list.empty()) {
    w.key("tools").open('[');
    w.raw(list).close(']');
  }
  const bool single = request.parallel_tools && !*request.parallel_tools;
  ToolChoice choice = request.tool_choice;
  if (choice == ToolChoice::unset && single) choice = ToolChoice::automatic;
  if (list.empty() || choice == ToolChoice::unset) return {};
  w.key("tool_choice").open('{');
  w.field("type", choice == ToolChoice::automatic  ? "auto"
                  : choice == ToolChoice::none     ? "none"
                  : choice == ToolChoice::required ? "any"
                                                   : "tool");
  if (choice == ToolChoice::named) w.field("name", chosen_name(request));
  if (single && choice != ToolChoice::none) w.field_bool("disable_parallel_tool_use", true);
  w.close('}');
  return {};
}

Status write_settings(const Request& request, const Target& target, const Losses& losses, Writer& w) {
  const std::int64_t limit = request.output_limit.value_or(target.default_output_limit);
  w.field("max_tokens", limit);
  const Reasoning& reasoning = request.reasoning;
  const bool wants =
      reasoning.mode == Reasoning::Mode::on || reasoning.mode == Reasoning::Mode::adaptive ||
      (reasoning.mode == Reasoning::Mode::unset && !reasoning.effort.empty() && reasoning.effort != "none");
  bool thinks = false;
  std::string effort;
  if (reasoning.mode == Reasoning::Mode::off) {
    w.key("thinking").open('{').field("type", "disabled").close('}');
  } else if (wants && reasoning.budget_tokens) {
    thinks = true;
    w.key("thinking")
        .open('{')
        .field("type", "enabled")
        .field("budget_tokens", *reasoning.budget_tokens)
        .close('}');
    effort = target.adaptive_thinking ? reasoning.effort : "";
  } else if (wants && target.adaptive_thinking) {
    thinks = true;
    w.key("thinking").open('{').field("type", "adaptive").close('}');
    effort = reasoning.effort;
  } else if (wants) {
    // The budget counts within max_tokens and leaves room for the answer.
    const std::int64_t budget = std::min(budget_of_effort(reasoning.effort), limit / 2);
    if (budget >= 1024) {
      thinks = true;
      losses.note(fmt::format("an effort of reasoning became a budget of {} thinking tokens", budget));
      w.key("thinking").open('{').field("type", "enabled").field("budget_tokens", budget).close('}');
    } else {
      losses.note("the effort of reasoning was left out: the output limit leaves no room for thinking");
    }
  }
  if (!reasoning.summary.empty()) losses.note("the wish for summaries of reasoning was left out");
  const OutputFormat& form = request.output_format;
  if (form.kind == OutputFormat::Kind::json_object) {
    TS_TRY(losses.cannot("response_format.json_object", "the format knows JSON with a schema alone"));
  }
  const bool schema = form.kind == OutputFormat::Kind::json_schema;
  if (!effort.empty() || schema) {
    w.key("output_config").open('{');
    // OpenAI's lowest efforts have no name there.
    if (!effort.empty()) w.field("effort", effort == "minimal" || effort == "none" ? "low" : effort);
    if (schema) {
      w.key("format")
          .open('{')
          .field("type", "json_schema")
          .field_raw("schema", form.schema.empty() ? "{}" : form.schema);
      w.close('}');
    }
    w.close('}');
  }
  if (!request.temperature.empty() || !request.top_p.empty()) {
    if (!target.temperature) {
      losses.note("temperature and top_p were left out: the model refuses them");
    } else if (thinks) {
      losses.note("temperature and top_p were left out: they cannot stand beside thinking");
    } else {
      if (!request.temperature.empty()) w.field_raw("temperature", request.temperature);
      if (!request.top_p.empty()) w.field_raw("top_p", request.top_p);
    }
  }
  if (!request.stop.empty()) {
    w.key("stop_sequences").open('[');
    for (const std::string& word : request.stop) w.string(word);
    w.close(']');
  }
  if (request.stream) w.field_bool("stream", true);
  const bool whole = std::any_of(request.extra.begin(), request.extra.end(),
                                 [](const Foreign& f) { return f.format == k_me && f.name == "metadata"; });
  if (!request.user.empty() && !whole) w.key("metadata").open('{').field("user_id", request.user).close('}');
  if (!request.cache_key.empty()) losses.note("prompt_cache_key was left out: the format caches by marks");
  if (!request.verbosity.empty()) losses.note("verbosity was left out");
  return {};
}

}  // namespace

Result<Part> read_block(const View& block) {
  if (!block.is_object()) return block.error(fmt::format("must be an object, not {}", block.kind_name()));
  TS_ASSIGN(const std::string type, need_string(block, "type"));
  const CacheMark mark = read_mark(block);
  if (type == "text") return Part{Text{block["text"].str(), mark}};
  if (type == "image" &&
      (block["source"]["type"].equals("base64") || block["source"]["type"].equals("url"))) {
    const View source = block["source"];
    return Part{Image{source["media_type"].str(), source["data"].str(), source["url"].str(), "", mark}};
  }
  if (type == "thinking") {
    return Part{Thinking{block["thinking"].str(), block["signature"].str(), false, k_me, ""}};
  }
  if (type == "redacted_thinking") return Part{Thinking{"", block["data"].str(), true, k_me, ""}};
  if (type == "tool_use") {
    ToolCall call;
    TS_ASSIGN(call.id, need_string(block, "id"));
    TS_ASSIGN(call.name, need_string(block, "name"));
    Writer(call.arguments).raw(block["input"].given() ? block["input"].raw() : "{}");
    call.cache = mark;
    return Part{std::move(call)};
  }
  if (type == "tool_result") {
    ToolResult result;
    TS_ASSIGN(result.call_id, need_string(block, "tool_use_id"));
    TS_ASSIGN(result.content, read_content(block["content"]));
    result.failed = block["is_error"].boolean().value_or(false);
    result.cache = mark;
    return Part{std::move(result)};
  }
  return Part{Foreign{k_me, type, std::string(block.raw())}};
}

Result<Request> read_messages_request(std::string body) {
  TS_ASSIGN(const Document document, parse_request(std::move(body)));
  const View root = document.root();
  Request request;
  TS_ASSIGN(request.model, need_string(root, "model"));
  TS_ASSIGN(std::vector<Part> system, read_content(root["system"]));
  if (!system.empty()) request.messages.push_back({Role::system, std::move(system)});
  if (!root["messages"].is_array()) return root.error("\"messages\" must be an array");
  const std::vector<View> messages = root["messages"].items();
  for (const View& message : messages) {
    TS_ASSIGN(Message read, read_message(message));
    request.messages.push_back(std::move(read));
    add_fields(request, unknown_fields(k_me, message, {"role", "content"}, "messages."));
  }
  const std::vector<View> tools = root["tools"].items();
  for (const View& tool : tools) {
    TS_ASSIGN(Tool read, read_tool(tool));
    request.tools.push_back(std::move(read));
  }
  TS_TRY(read_choice(root["tool_choice"], request));
  TS_TRY(read_settings(root, request));
  std::vector<std::string_view> known = {"model",          "system",     "messages",    "tools",
                                         "tool_choice",    "max_tokens", "temperature", "top_p",
                                         "stop_sequences", "stream",     "thinking",    "output_config"};
  // Metadata with more than the user stays whole.
  if (root["metadata"].size() == 1 && root["metadata"]["user_id"].is_string()) known.push_back("metadata");
  add_fields(request, unknown_fields(k_me, root, known));
  return request;
}

Result<Written> write_messages_request(const Request& request, const Target& target) {
  Written written;
  const Losses losses(k_me, target, written);
  TS_TRY(rename_tools(request, false, written));
  written.body.reserve(size_of(request));
  Writer w(written.body);
  w.open('{').field("model", target.model.empty() ? request.model : target.model);
  TS_TRY(RequestWriter(request, target, losses).messages(w));
  TS_TRY(write_tools(request, target, losses, w));
  TS_TRY(write_settings(request, target, losses, w));
  TS_TRY(losses.fields(request.extra, w));
  w.close('}');
  return written;
}

}  // namespace tunesmith::wire
