// OpenAI Responses: requests.
#include <fmt/format.h>

#include <algorithm>

#include "wire/responses.h"

namespace tunesmith::wire {

namespace {

constexpr FormatId k_me = FormatId::responses;

Result<Part> read_part(const View& part) {
  TS_ASSIGN(const std::string type, need_string(part, "type"));
  if (type == "input_text" || type == "output_text" || type == "text") return Part{Text{part["text"].str()}};
  if (type == "refusal") return Part{Refusal{part["refusal"].str()}};
  if (type == "input_image" && part["image_url"].is_string()) {
    Image image;
    const std::string url = part["image_url"].str();
    if (!split_data_url(url, image.media_type, image.base64)) image.url = url;
    image.detail = part["detail"].str();
    return Part{std::move(image)};
  }
  return Part{Foreign{k_me, type, std::string(part.raw())}};
}

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
    TS_ASSIGN(Part part, read_part(item));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<Tool> read_tool(const View& tool, const std::string& space) {
  TS_ASSIGN(const std::string type, need_string(tool, "type"));
  Tool read;
  read.space = space;
  if (type != "function" && type != "custom") {
    read.name = type;
    read.foreign = Foreign{k_me, "tools." + type, std::string(tool.raw())};
    return read;
  }
  TS_ASSIGN(read.name, need_string(tool, "name"));
  read.description = tool["description"].str();
  read.custom = type == "custom";
  const View schema = tool[read.custom ? "format" : "parameters"];
  if (schema.given()) read.schema = schema.raw();
  read.strict = tool["strict"].boolean();
  read.extra = unknown_fields(k_me, tool, {"type", "name", "description", "parameters", "format", "strict"});
  return read;
}

Status read_tools(const View& list, Request& request) {
  const std::vector<View> tools = list.items();
  for (const View& tool : tools) {
    if (!tool["type"].equals("namespace")) {
      TS_ASSIGN(Tool read, read_tool(tool, ""));
      request.tools.push_back(std::move(read));
      continue;
    }
    TS_ASSIGN(const std::string space, need_string(tool, "name"));
    const std::vector<View> inner = tool["tools"].items();
    for (const View& one : inner) {
      TS_ASSIGN(Tool read, read_tool(one, space));
      request.tools.push_back(std::move(read));
    }
    request.spaces.emplace_back(space, tool["description"].str());
  }
  return {};
}

/// The message that a part of this role joins: neighbours become one turn.
Message& turn(Request& request, Role role) {
  if (request.messages.empty() || request.messages.back().role != role)
    request.messages.push_back({role, {}});
  return request.messages.back();
}

Status read_message_item(const View& item, Request& request) {
  TS_ASSIGN(const std::string role, need_string(item, "role"));
  TS_ASSIGN(std::vector<Part> parts, read_content(item["content"]));
  add_fields(request,
             unknown_fields(k_me, item, {"type", "role", "content", "id", "status"}, "input.message."));
  if (role == "assistant") {
    for (Part& part : parts) turn(request, Role::assistant).parts.push_back(std::move(part));
    return {};
  }
  Message message;
  message.parts = std::move(parts);
  if (role == "system" || role == "developer") {
    message.role = role == "system" ? Role::system : Role::developer;
  } else if (role != "user") {
    return item["role"].error(fmt::format("the role \"{}\" is not known", role),
                              "use system, developer, user or assistant");
  }
  request.messages.push_back(std::move(message));
  return {};
}

Status read_item(const View& item, Request& request) {
  if (!item.is_object()) return item.error(fmt::format("must be an object, not {}", item.kind_name()));
  const std::string type = item["type"].is_string() ? item["type"].str() : "message";
  if (type == "message") return read_message_item(item, request);
  if (type == "function_call" || type == "custom_tool_call") {
    TS_ASSIGN(ToolCall call, read_call_item(item));
    turn(request, Role::assistant).parts.push_back({std::move(call)});
    return {};
  }
  if (type == "function_call_output" || type == "custom_tool_call_output") {
    ToolResult result;
    TS_ASSIGN(result.call_id, need_string(item, "call_id"));
    TS_ASSIGN(result.content, read_content(item["output"]));
    result.custom = type == "custom_tool_call_output";
    // A message of its own if the last one holds anything but results.
    Message& last = turn(request, Role::user);
    const bool results = last.parts.empty() || std::holds_alternative<ToolResult>(last.parts.back().is);
    if (!results) request.messages.push_back({Role::user, {}});
    request.messages.back().parts.push_back({std::move(result)});
    return {};
  }
  if (type == "reasoning") {
    turn(request, Role::assistant).parts.push_back({read_reasoning_item(item)});
    return {};
  }
  if (type == "additional_tools") return read_tools(item["tools"], request);
  turn(request, Role::assistant).parts.push_back({Foreign{k_me, type, std::string(item.raw())}});
  return {};
}

Status read_settings(const View& root, Request& request) {
  const View limit = root["max_output_tokens"];
  if (limit.given()) {
    request.output_limit = limit.integer();
    if (!request.output_limit || *request.output_limit < 1)
      return limit.error("must be a whole number of at least 1");
  }
  if (root["temperature"].is_number()) request.temperature = root["temperature"].raw();
  if (root["top_p"].is_number()) request.top_p = root["top_p"].raw();
  request.stream = root["stream"].boolean().value_or(false);
  request.stream_usage = true;
  request.parallel_tools = root["parallel_tool_calls"].boolean();
  request.user = root["user"].str();
  request.cache_key = root["prompt_cache_key"].str();
  const View reasoning = root["reasoning"];
  request.reasoning.effort = reasoning["effort"].str();
  request.reasoning.summary = reasoning["summary"].str();
  add_fields(request, unknown_fields(k_me, reasoning, {"effort", "summary"}, "reasoning."));
  const View text = root["text"];
  request.verbosity = text["verbosity"].str();
  const View form = text["format"];
  if (form["type"].equals("text")) {
    request.output_format.kind = OutputFormat::Kind::text;
  } else if (form["type"].equals("json_object")) {
    request.output_format.kind = OutputFormat::Kind::json_object;
  } else if (form["type"].equals("json_schema")) {
    request.output_format = {OutputFormat::Kind::json_schema, form["name"].str(),
                             std::string(form["schema"].raw()), form["strict"].boolean()};
  } else if (form.given()) {
    return form.error("this output format is not known", "use text, json_object or json_schema");
  }
  add_fields(request, unknown_fields(k_me, text, {"verbosity", "format"}, "text."));
  const View choice = root["tool_choice"];
  if (choice.equals("auto")) {
    request.tool_choice = ToolChoice::automatic;
  } else if (choice.equals("none")) {
    request.tool_choice = ToolChoice::none;
  } else if (choice.equals("required")) {
    request.tool_choice = ToolChoice::required;
  } else if (choice["type"].equals("function") || choice["type"].equals("custom")) {
    request.tool_choice = ToolChoice::named;
    TS_ASSIGN(request.tool_name, need_string(choice, "name"));
  } else if (choice.given()) {
    return choice.error("this tool_choice is not carried", "use auto, none, required or one tool by name");
  }
  return {};
}

// --- writing ---

class RequestWriter {
 public:
  RequestWriter(const Request& request, const Losses& losses) : m_request(request), m_losses(losses) {}

  Status input(Writer& w) {
    std::size_t first = 0;
    const auto& messages = m_request.messages;
    if (!messages.empty() && messages[0].role == Role::system) {
      const std::string text = joined_text(messages[0].parts);
      note_marks(messages[0]);
      if (!text.empty()) w.field("instructions", text);
      first = 1;
    }
    w.key("input").open('[');
    for (std::size_t i = first; i < messages.size(); ++i) {
      note_marks(messages[i]);
      TS_TRY(message(messages[i], w));
    }
    w.close(']');
    return {};
  }

 private:
  void note_marks(const Message& message) const {
    for (const Part& part : message.parts) {
      const auto* text = std::get_if<Text>(&part.is);
      const auto* result = std::get_if<ToolResult>(&part.is);
      const auto* image = std::get_if<Image>(&part.is);
      if ((text != nullptr && text->cache != CacheMark::none) ||
          (image != nullptr && image->cache != CacheMark::none) ||
          (result != nullptr && result->cache != CacheMark::none)) {
        m_losses.note("cache marks were left out: servers of this format cache by themselves");
      }
    }
  }

  /// Runs of text and images become message items, everything else an item of its own, in order.
  Status message(const Message& message, Writer& w) {
    std::string run;
    const auto flush = [&] {
      if (run.empty()) return;
      const std::string_view role = message.role == Role::system      ? "system"
                                    : message.role == Role::developer ? "developer"
                                    : message.role == Role::user      ? "user"
                                                                      : "assistant";
      w.open('{').field("type", "message").field("role", role).key("content").open('[');
      w.raw(run).close(']').close('}');
      run.clear();
    };
    for (const Part& part : message.parts) {
      Writer r(run);
      if (content_part(part, message.role, r)) continue;
      flush();
      TS_TRY(item(part, w));
    }
    flush();
    return {};
  }

  bool content_part(const Part& part, Role role, Writer& w) const {
    if (const auto* text = std::get_if<Text>(&part.is)) {
      w.open('{')
          .field("type", role == Role::assistant ? "output_text" : "input_text")
          .field("text", text->text)
          .close('}');
      return true;
    }
    if (const auto* refusal = std::get_if<Refusal>(&part.is)) {
      w.open('{').field("type", "refusal").field("refusal", refusal->text).close('}');
      return true;
    }
    if (const auto* image = std::get_if<Image>(&part.is)) {
      w.open('{').field("type", "input_image").field("image_url", image_url(*image));
      w.field("detail", image->detail.empty() ? "auto" : image->detail).close('}');
      return true;
    }
    const auto* foreign = std::get_if<Foreign>(&part.is);
    if (foreign == nullptr || foreign->format != k_me || !foreign->name.starts_with("input_")) return false;
    w.raw(foreign->raw);
    return true;
  }

  Status item(const Part& part, Writer& w) const {
    if (const auto* call = std::get_if<ToolCall>(&part.is)) {
      w.open('{')
          .field("type", call->custom ? "custom_tool_call" : "function_call")
          .field("call_id", call->id);
      if (!call->space.empty()) w.field("namespace", call->space);
      w.field("name", call->name);
      w.field(call->custom ? "input" : "arguments",
              call->arguments.empty() && !call->custom ? "{}" : call->arguments);
      w.close('}');
    } else if (const auto* result = std::get_if<ToolResult>(&part.is)) {
      return result_item(*result, w);
    } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
      if (thinking->sealed_by != k_me || thinking->seal.empty()) {
        m_losses.note("thinking of earlier turns was left out: it is not sealed by this provider");
        return {};
      }
      TS_TRY(write_output_item(part, thinking->id, "", w));
    } else if (const auto* foreign = std::get_if<Foreign>(&part.is)) {
      if (foreign->format != k_me)
        return m_losses.cannot("messages." + foreign->name, "the format has no such part");
      w.raw(foreign->raw);
    }
    return {};
  }

  Status result_item(const ToolResult& result, Writer& w) const {
    bool plain = true;
    for (const Part& part : result.content) plain = plain && !std::holds_alternative<Image>(part.is);
    std::string content;
    Writer c(content);
    std::string text;
    for (const Part& part : result.content) {
      Part said = part;
      if (const auto* foreign = std::get_if<Foreign>(&part.is);
          foreign != nullptr && foreign->format != k_me) {
        TS_ASSIGN(std::string words, tool_reference_text(*foreign, m_losses));
        said = Part{Text{std::move(words)}};
      }
      content_part(said, Role::user, c);
      if (const auto* words = std::get_if<Text>(&said.is)) text += (text.empty() ? "" : "\n\n") + words->text;
      plain = plain && !std::holds_alternative<Foreign>(said.is);
    }
    w.open('{').field("type", result.custom ? "custom_tool_call_output" : "function_call_output");
    w.field("call_id", result.call_id).key("output");
    if (plain) {
      w.string(result.failed ? failed_text(text) : text);
    } else {
      w.open('[');
      if (result.failed) w.open('{').field("type", "input_text").field("text", failed_text("")).close('}');
      w.raw(content).close(']');
    }
    w.close('}');
    return {};
  }

  const Request& m_request;
  const Losses& m_losses;
};

void write_tool(const Tool& tool, const Losses& losses, Writer& l) {
  if (tool.cache != CacheMark::none)
    losses.note("cache marks were left out: servers of this format cache by themselves");
  l.open('{').field("type", tool.custom ? "custom" : "function").field("name", tool.name);
  if (!tool.description.empty()) l.field("description", tool.description);
  if (tool.custom) {
    if (!tool.schema.empty()) l.field_raw("format", tool.schema);
  } else {
    l.field_raw("parameters", tool.schema.empty() ? R"({"type":"object","properties":{}})" : tool.schema);
    // Left out, the server takes true and refuses schemas that other formats allow.
    l.field_bool("strict", tool.strict.value_or(false));
  }
  for (const Foreign& extra : tool.extra) {
    if (extra.format == k_me) {
      l.field_raw(extra.name, extra.raw);
    } else {
      losses.note(fmt::format("{} of a tool was left out", extra.name));
    }
  }
  l.close('}');
}

Status write_tools(const Request& request, const Losses& losses, Writer& w) {
  std::string list;
  Writer l(list);
  std::string_view space;
  for (const Tool& tool : request.tools) {
    if (!space.empty() && (tool.space != space || tool.foreign)) {
      l.close(']').close('}');
      space = {};
    }
    if (tool.foreign) {
      if (tool.foreign->format == k_me) {
        l.raw(tool.foreign->raw);
      } else {
        TS_TRY(losses.cannot(tool.foreign->name, "it is run by the provider, and this one has none like it"));
      }
      continue;
    }
    if (!tool.space.empty() && space.empty()) {
      space = tool.space;
      l.open('{').field("type", "namespace").field("name", space);
      for (const auto& [name, description] : request.spaces) {
        if (name == space && !description.empty()) l.field("description", description);
      }
      l.key("tools").open('[');
    }
    write_tool(tool, losses, l);
  }
  if (!space.empty()) l.close(']').close('}');
  if (!list.empty()) {
    w.key("tools").open('[');
    w.raw(list).close(']');
  }
  const bool any = !list.empty();
  if (any && request.tool_choice == ToolChoice::automatic) w.field("tool_choice", "auto");
  if (any && request.tool_choice == ToolChoice::none) w.field("tool_choice", "none");
  if (any && request.tool_choice == ToolChoice::required) w.field("tool_choice", "required");
  if (any && request.tool_choice == ToolChoice::named) {
    w.key("tool_choice").open('{').field("type", "function").field("name", request.tool_name).close('}');
  }
  if (any && request.parallel_tools) w.field_bool("parallel_tool_calls", *request.parallel_tools);
  return {};
}

Status write_settings(const Request& request, const Target& target, const Losses& losses, Writer& w) {
  if (request.output_limit) w.field("max_output_tokens", *request.output_limit);
  if (target.temperature) {
    if (!request.temperature.empty()) w.field_raw("temperature", request.temperature);
    if (!request.top_p.empty()) w.field_raw("top_p", request.top_p);
  } else if (!request.temperature.empty() || !request.top_p.empty()) {
    losses.note("temperature and top_p were left out: the model refuses them");
  }
  if (!request.stop.empty()) TS_TRY(losses.cannot("stop", "the format has no stop sequences"));
  if (request.stream) w.field_bool("stream", true);
  const Reasoning& reasoning = request.reasoning;
  std::string effort = reasoning.effort;
  if (effort.empty() && reasoning.budget_tokens) {
    effort = effort_of_budget(*reasoning.budget_tokens);
    losses.note("a budget of thinking tokens became an effort");
  }
  if (!effort.empty() || !reasoning.summary.empty()) {
    w.key("reasoning").open('{');
    if (!effort.empty()) w.field("effort", effort);
    if (!reasoning.summary.empty()) w.field("summary", reasoning.summary);
    w.close('}');
  }
  const OutputFormat& form = request.output_format;
  const bool formed =
      form.kind == OutputFormat::Kind::json_object || form.kind == OutputFormat::Kind::json_schema;
  if (formed || !request.verbosity.empty()) {
    w.key("text").open('{');
    if (formed) {
      w.key("format").open('{');
      if (form.kind == OutputFormat::Kind::json_object) {
        w.field("type", "json_object");
      } else {
        w.field("type", "json_schema").field("name", form.name.empty() ? "reply" : form.name);
        w.field_raw("schema", form.schema.empty() ? "{}" : form.schema);
        if (form.strict) w.field_bool("strict", *form.strict);
      }
      w.close('}');
    }
    if (!request.verbosity.empty()) w.field("verbosity", request.verbosity);
    w.close('}');
  }
  if (!request.user.empty()) w.field("user", request.user);
  if (!request.cache_key.empty()) w.field("prompt_cache_key", request.cache_key);
  // The server keeps conversations unless told not to; who did not ask for it does not get it.
  const bool told = std::any_of(request.extra.begin(), request.extra.end(),
                                [](const Foreign& f) { return f.format == k_me && f.name == "store"; });
  if (!told) w.field_bool("store", false);
  return {};
}

}  // namespace

Result<Request> read_responses_request(std::string body) {
  TS_ASSIGN(const Document document, parse_request(std::move(body)));
  const View root = document.root();
  Request request;
  TS_ASSIGN(request.model, need_string(root, "model"));
  if (root["instructions"].is_string() && !root["instructions"].equals("")) {
    request.messages.push_back({Role::system, {Part{Text{root["instructions"].str()}}}});
  }
  TS_TRY(read_tools(root["tools"], request));
  const View input = root["input"];
  if (input.is_string()) {
    request.messages.push_back({Role::user, {Part{Text{input.str()}}}});
  } else if (!input.is_array()) {
    return root.error("\"input\" must be a string or an array");
  }
  const std::vector<View> items = input.items();
  for (const View& item : items) TS_TRY(read_item(item, request));
  TS_TRY(read_settings(root, request));
  add_fields(request,
             unknown_fields(k_me, root,
                            {"model", "instructions", "input", "tools", "tool_choice", "max_output_tokens",
                             "temperature", "top_p", "stream", "parallel_tool_calls", "user",
                             "prompt_cache_key", "reasoning", "text"}));
  return request;
}

Result<Written> write_responses_request(const Request& request, const Target& target) {
  Written written;
  const Losses losses(k_me, target, written);
  written.body.reserve(size_of(request));
  Writer w(written.body);
  w.open('{').field("model", target.model.empty() ? request.model : target.model);
  TS_TRY(RequestWriter(request, losses).input(w));
  TS_TRY(write_tools(request, losses, w));
  TS_TRY(write_settings(request, target, losses, w));
  TS_TRY(losses.fields(request.extra, w));
  w.close('}');
  return written;
}

}  // namespace tunesmith::wire
