// Chat Completions: requests.
#include <fmt/format.h>

#include "wire/carry.h"
#include "wire/chat.h"

namespace tunesmith::wire {

namespace {

constexpr FormatId k_me = FormatId::chat;

Result<Part> read_part(const View& part) {
  TS_ASSIGN(const std::string type, need_string(part, "type"));
  if (type == "text") {
    TS_ASSIGN(std::string text, need_string(part, "text"));
    return Part{Text{std::move(text)}};
  }
  if (type == "refusal") return Part{Refusal{part["refusal"].str()}};
  if (type == "image_url") {
    Image image;
    const View inner = part["image_url"];
    const std::string url = inner.is_string() ? inner.str() : inner["url"].str();
    if (url.empty()) return part.error("an image needs image_url.url");
    if (!split_data_url(url, image.media_type, image.base64)) image.url = url;
    image.detail = inner["detail"].str();
    return Part{std::move(image)};
  }
  return Part{Foreign{k_me, type, std::string(part.raw())}};
}

/// A string, null, or an array of parts.
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

Status read_assistant(const View& message, std::vector<Part>& parts) {
  // DeepSeek and vLLM say reasoning_content, OpenRouter reasoning.
  const View thought =
      message["reasoning_content"].is_string() ? message["reasoning_content"] : message["reasoning"];
  if (thought.is_string() && !thought.equals("")) {
    Thinking thinking{thought.str()};
    thinking.sealed_by = k_me;
    parts.insert(parts.begin(), Part{std::move(thinking)});
  }
  if (message["refusal"].is_string()) parts.push_back({Refusal{message["refusal"].str()}});
  if (message["function_call"].given()) {
    return message["function_call"].error("function_call is the form of 2023 and is not carried",
                                          "use tool_calls");
  }
  const std::vector<View> calls = message["tool_calls"].items();
  for (const View& call : calls) {
    TS_ASSIGN(ToolCall read, read_chat_call(call));
    parts.push_back({std::move(read)});
  }
  return {};
}

Result<Message> read_message(const View& message) {
  if (!message.is_object())
    return message.error(fmt::format("must be an object, not {}", message.kind_name()));
  TS_ASSIGN(const std::string role, need_string(message, "role"));
  Message read;
  TS_ASSIGN(read.parts, read_content(message["content"]));
  if (role == "system" || role == "developer") {
    read.role = role == "system" ? Role::system : Role::developer;
  } else if (role == "user") {
    read.role = Role::user;
  } else if (role == "assistant") {
    read.role = Role::assistant;
    TS_TRY(read_assistant(message, read.parts));
  } else if (role == "tool") {
    read.role = Role::user;
    ToolResult result;
    TS_ASSIGN(result.call_id, need_string(message, "tool_call_id"));
    result.content = std::move(read.parts);
    read.parts = {Part{std::move(result)}};
  } else {
    return message["role"].error(fmt::format("the role \"{}\" is not known", role),
                                 "use system, developer, user, assistant or tool");
  }
  return read;
}

Result<Tool> read_tool(const View& tool) {
  TS_ASSIGN(const std::string type, need_string(tool, "type"));
  Tool read;
  if (type != "function" && type != "custom") {
    read.name = type;
    read.foreign = Foreign{k_me, "tools." + type, std::string(tool.raw())};
    return read;
  }
  const View inner = tool[type];
  TS_ASSIGN(read.name, need_string(inner, "name"));
  read.description = inner["description"].str();
  read.custom = type == "custom";
  const View schema = inner[read.custom ? "format" : "parameters"];
  if (schema.given()) read.schema = schema.raw();
  read.strict = inner["strict"].boolean();
  read.extra = unknown_fields(k_me, inner, {"name", "description", "parameters", "format", "strict"});
  return read;
}

Status read_choice(const View& choice, Request& request) {
  if (!choice.given()) return {};
  if (choice.equals("auto")) {
    request.tool_choice = ToolChoice::automatic;
  } else if (choice.equals("none")) {
    request.tool_choice = ToolChoice::none;
  } else if (choice.equals("required")) {
    request.tool_choice = ToolChoice::required;
  } else if (choice["function"].is_object() || choice["custom"].is_object()) {
    request.tool_choice = ToolChoice::named;
    TS_ASSIGN(request.tool_name, need_string(choice[choice["type"].str()], "name"));
  } else {
    return choice.error("this tool_choice is not carried", "use auto, none, required or one tool by name");
  }
  return {};
}

Status read_settings(const View& root, Request& request) {
  if (root["temperature"].is_number()) request.temperature = root["temperature"].raw();
  if (root["top_p"].is_number()) request.top_p = root["top_p"].raw();
  const View limit =
      root["max_completion_tokens"].given() ? root["max_completion_tokens"] : root["max_tokens"];
  if (limit.given()) {
    request.output_limit = limit.integer();
    if (!request.output_limit || *request.output_limit < 1)
      return limit.error("must be a whole number of at least 1");
  }
  const View stop = root["stop"];
  if (stop.is_string()) request.stop.push_back(stop.str());
  for (const View& word : stop.items()) request.stop.push_back(word.str());
  request.stream = root["stream"].boolean().value_or(false);
  request.stream_usage = root["stream_options"]["include_usage"].boolean().value_or(false);
  request.reasoning.effort = root["reasoning_effort"].str();
  request.parallel_tools = root["parallel_tool_calls"].boolean();
  request.user = root["user"].str();
  request.cache_key = root["prompt_cache_key"].str();
  request.verbosity = root["verbosity"].str();
  const View form = root["response_format"];
  if (form["type"].equals("text")) request.output_format.kind = OutputFormat::Kind::text;
  if (form["type"].equals("json_object")) request.output_format.kind = OutputFormat::Kind::json_object;
  if (form["type"].equals("json_schema")) {
    const View schema = form["json_schema"];
    request.output_format = {OutputFormat::Kind::json_schema, schema["name"].str(),
                             std::string(schema["schema"].raw()), schema["strict"].boolean()};
  } else if (form.given() && request.output_format.kind == OutputFormat::Kind::unset) {
    return form.error("this response_format is not known", "use text, json_object or json_schema");
  }
  return {};
}

// --- writing ---

void write_image(const Image& image, Writer& w) {
  w.open('{').field("type", "image_url").key("image_url").open('{').field("url", image_url(image));
  if (!image.detail.empty()) w.field("detail", image.detail);
  w.close('}').close('}');
}

/// Text alone as one string: the form that every server takes.
Status write_content(const std::vector<Part>& parts, const std::string& where, const Losses& losses,
                     Writer& w) {
  bool plain = true;
  for (const Part& part : parts) {
    plain = plain && !std::holds_alternative<Image>(part.is) && !std::holds_alternative<Foreign>(part.is);
  }
  if (plain) {
    w.string(joined_text(parts));
    return {};
  }
  w.open('[');
  for (const Part& part : parts) {
    if (const auto* text = std::get_if<Text>(&part.is)) {
      w.open('{').field("type", "text").field("text", text->text).close('}');
    } else if (const auto* image = std::get_if<Image>(&part.is)) {
      write_image(*image, w);
    } else if (const auto* foreign = std::get_if<Foreign>(&part.is)) {
      if (foreign->format == k_me) {
        w.raw(foreign->raw);
      } else {
        TS_TRY(losses.cannot(where + "." + foreign->name, "the format has no such part"));
      }
    }
  }
  w.close(']');
  return {};
}

void note_marks(const std::vector<Part>& parts, const Losses& losses) {
  for (const Part& part : parts) {
    const auto* text = std::get_if<Text>(&part.is);
    const auto* result = std::get_if<ToolResult>(&part.is);
    const auto* image = std::get_if<Image>(&part.is);
    if ((text != nullptr && text->cache != CacheMark::none) ||
        (result != nullptr && result->cache != CacheMark::none) ||
        (image != nullptr && image->cache != CacheMark::none)) {
      losses.note("cache marks were left out: servers of this format cache by themselves");
    }
  }
}

Status write_results(const Message& message, const Losses& losses, Writer& w) {
  std::vector<const Image*> images;
  for (const Part& part : message.parts) {
    const auto* result = std::get_if<ToolResult>(&part.is);
    if (result == nullptr) continue;
    std::string text;
    for (const Part& inner : result->content) {
      std::string piece;
      if (const auto* t = std::get_if<Text>(&inner.is)) {
        piece = t->text;
      } else if (const auto* image = std::get_if<Image>(&inner.is)) {
        images.push_back(image);
        piece = fmt::format("[image {}, in the next message]", images.size());
        losses.note("images of tool results stand in the user's message behind them");
      } else if (const auto* foreign = std::get_if<Foreign>(&inner.is)) {
        TS_ASSIGN(piece, tool_reference_text(*foreign, losses));
      }
      if (!piece.empty() && !text.empty()) text += "\n\n";
      text += piece;
    }
    w.open('{').field("role", "tool").field("tool_call_id", result->call_id);
    w.field("content", result->failed ? failed_text(text) : text).close('}');
  }
  if (images.empty()) return {};
  w.open('{').field("role", "user").key("content").open('[');
  for (std::size_t i = 0; i < images.size(); ++i) {
    w.open('{').field("type", "text").field("text", fmt::format("[image {}]", i + 1)).close('}');
    write_image(*images[i], w);
  }
  w.close(']').close('}');
  return {};
}

Status write_user(const Message& message, const Losses& losses, Writer& w) {
  TS_TRY(write_results(message, losses, w));
  std::vector<Part> rest;
  for (const Part& part : message.parts) {
    if (!std::holds_alternative<ToolResult>(part.is)) rest.push_back(part);
  }
  if (rest.empty() && !message.parts.empty()) return {};
  w.open('{').field("role", "user").key("content");
  TS_TRY(write_content(rest, "messages", losses, w));
  w.close('}');
  return {};
}

Status write_assistant(const Message& message, const Target& target, const Losses& losses, Writer& w) {
  std::vector<Part> said;
  std::vector<const ToolCall*> calls;
  std::string thoughts;
  std::string refusal;
  for (const Part& part : message.parts) {
    if (const auto* call = std::get_if<ToolCall>(&part.is)) {
      calls.push_back(call);
    } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
      thoughts += thinking->text;
      if (!target.reasoning_history || thinking->redacted)
        losses.note("thinking of earlier turns was left out");
    } else if (const auto* said_no = std::get_if<Refusal>(&part.is)) {
      refusal += said_no->text;
    } else if (std::holds_alternative<Image>(part.is)) {
      TS_TRY(losses.cannot("messages.assistant.image", "an assistant's message holds no image there"));
    } else {
      said.push_back(part);
    }
  }
  w.open('{').field("role", "assistant").key("content");
  if (said.empty() && (!calls.empty() || !refusal.empty())) {
    w.null();
  } else {
    TS_TRY(write_content(said, "messages.assistant", losses, w));
  }
  if (!refusal.empty()) w.field("refusal", refusal);
  if (target.reasoning_history && !thoughts.empty()) w.field("reasoning_content", thoughts);
  if (!calls.empty()) {
    w.key("tool_calls").open('[');
    for (const ToolCall* call : calls) write_chat_call(*call, target.custom_tools, w);
    w.close(']');
  }
  w.close('}');
  return {};
}

Status write_messages(const Request& request, const Target& target, const Losses& losses, Writer& w) {
  TS_ASSIGN(const std::vector<Message> messages, results_adjacent(request.messages));
  w.key("messages").open('[');
  for (const Message& message : messages) {
    note_marks(message.parts, losses);
    switch (message.role) {
      case Role::system:
      case Role::developer: {
        const bool developer = message.role == Role::developer && target.developer_role;
        w.open('{').field("role", developer ? "developer" : "system").key("content");
        TS_TRY(write_content(message.parts, "messages.system", losses, w));
        w.close('}');
        break;
      }
      case Role::user:
        TS_TRY(write_user(message, losses, w));
        break;
      case Role::assistant:
        TS_TRY(write_assistant(message, target, losses, w));
        break;
    }
  }
  w.close(']');
  return {};
}

Status write_tools(const Request& request, const Target& target, const Losses& losses, Writer& w) {
  if (!request.tools.empty()) {
    std::string list;
    Writer l(list);
    for (const Tool& tool : request.tools) {
      if (tool.foreign) {
        if (tool.foreign->format == k_me) {
          l.raw(tool.foreign->raw);
        } else {
          TS_TRY(
              losses.cannot(tool.foreign->name, "it is run by the provider, and this one has none like it"));
        }
        continue;
      }
      if (tool.cache != CacheMark::none) {
        losses.note("cache marks were left out: servers of this format cache by themselves");
      }
      for (const Foreign& extra : tool.extra)
        losses.note(fmt::format("{} of a tool was left out", extra.name));
      const bool custom = tool.custom && target.custom_tools;
      l.open('{').field("type", custom ? "custom" : "function").key(custom ? "custom" : "function").open('{');
      l.field("name", flat_name(tool.space, tool.name));
      const std::string description = tool.custom && !custom ? custom_description(tool) : tool.description;
      if (!description.empty()) l.field("description", description);
      if (tool.custom && !custom) {
        losses.note(fmt::format("the custom tool {} became a function of one string", tool.name));
        l.field_raw("parameters", custom_schema());
      } else if (!tool.schema.empty()) {
        l.field_raw(custom ? "format" : "parameters", tool.schema);
      }
      if (tool.strict && !tool.custom) l.field_bool("strict", *tool.strict);
      l.close('}').close('}');
    }
    // Servers refuse an empty list.
    if (!list.empty()) {
      w.key("tools").open('[');
      w.raw(list).close(']');
    }
  }
  switch (request.tool_choice) {
    case ToolChoice::unset:
      break;
    case ToolChoice::automatic:
      if (!request.tools.empty()) w.field("tool_choice", "auto");
      break;
    case ToolChoice::none:
      if (!request.tools.empty()) w.field("tool_choice", "none");
      break;
    case ToolChoice::required:
      w.field("tool_choice", "required");
      break;
    case ToolChoice::named:
      w.key("tool_choice").open('{').field("type", "function").key("function").open('{');
      w.field("name", chosen_name(request)).close('}').close('}');
      break;
  }
  if (request.parallel_tools && !request.tools.empty())
    w.field_bool("parallel_tool_calls", *request.parallel_tools);
  return {};
}

void write_settings(const Request& request, const Target& target, const Losses& losses, Writer& w) {
  if (request.output_limit) w.field(target.output_limit_key, *request.output_limit);
  if (target.temperature) {
    if (!request.temperature.empty()) w.field_raw("temperature", request.temperature);
    if (!request.top_p.empty()) w.field_raw("top_p", request.top_p);
  } else if (!request.temperature.empty() || !request.top_p.empty()) {
    losses.note("temperature and top_p were left out: the model refuses them");
  }
  if (!request.stop.empty()) {
    w.key("stop").open('[');
    for (const std::string& word : request.stop) w.string(word);
    w.close(']');
  }
  if (request.stream) {
    w.field_bool("stream", true);
    // Asked for always, or nobody could meter; whether the client sees the chunk is the writer's business.
    if (target.stream_usage) w.key("stream_options").open('{').field_bool("include_usage", true).close('}');
  }
  const Reasoning& reasoning = request.reasoning;
  std::string effort = reasoning.effort;
  if (effort.empty() && reasoning.budget_tokens) effort = effort_of_budget(*reasoning.budget_tokens);
  if (!effort.empty()) {
    if (!target.reasoning_effort) {
      losses.note("the effort of reasoning was left out: the model does not take it");
    } else {
      if (reasoning.effort.empty()) losses.note("a budget of thinking tokens became an effort");
      w.field("reasoning_effort", effort);
    }
  }
  if (!reasoning.summary.empty()) losses.note("the wish for summaries of reasoning was left out");
  const OutputFormat& form = request.output_format;
  if (form.kind == OutputFormat::Kind::json_object) {
    w.key("response_format").open('{').field("type", "json_object").close('}');
  } else if (form.kind == OutputFormat::Kind::json_schema) {
    w.key("response_format").open('{').field("type", "json_schema").key("json_schema").open('{');
    w.field("name", form.name.empty() ? "reply" : form.name)
        .field_raw("schema", form.schema.empty() ? "{}" : form.schema);
    if (form.strict) w.field_bool("strict", *form.strict);
    w.close('}').close('}');
  }
  if (!request.user.empty()) w.field("user", request.user);
  if (!request.verbosity.empty()) w.field("verbosity", request.verbosity);
  if (!request.cache_key.empty()) {
    if (target.cache_key) {
      w.field("prompt_cache_key", request.cache_key);
    } else {
      losses.note("prompt_cache_key was left out: the server does not know it");
    }
  }
}

}  // namespace

Result<Request> read_chat_request(std::string body) {
  TS_ASSIGN(const Document document, parse_request(std::move(body)));
  const View root = document.root();
  Request request;
  TS_ASSIGN(request.model, need_string(root, "model"));
  if (!root["messages"].is_array()) return root.error("\"messages\" must be an array");
  const std::vector<View> messages = root["messages"].items();
  for (const View& message : messages) {
    TS_ASSIGN(Message read, read_message(message));
    request.messages.push_back(std::move(read));
    add_fields(request, unknown_fields(k_me, message,
                                       {"role", "content", "tool_calls", "tool_call_id", "refusal",
                                        "reasoning_content", "reasoning", "function_call"},
                                       "messages."));
  }
  const std::vector<View> tools = root["tools"].items();
  for (const View& tool : tools) {
    TS_ASSIGN(Tool read, read_tool(tool));
    request.tools.push_back(std::move(read));
  }
  TS_TRY(read_choice(root["tool_choice"], request));
  TS_TRY(read_settings(root, request));
  add_fields(request, unknown_fields(k_me, root,
                                     {"model", "messages", "tools", "tool_choice", "temperature", "top_p",
                                      "max_tokens", "max_completion_tokens", "stop", "stream",
                                      "stream_options", "reasoning_effort", "parallel_tool_calls", "user",
                                      "prompt_cache_key", "verbosity", "response_format"}));
  add_fields(request, unknown_fields(k_me, root["stream_options"], {"include_usage"}, "stream_options."));
  return request;
}

Result<Written> write_chat_request(const Request& request, const Target& target) {
  Written written;
  const Losses losses(k_me, target, written);
  TS_TRY(rename_tools(request, target.custom_tools, written));
  written.body.reserve(size_of(request));
  Writer w(written.body);
  w.open('{').field("model", target.model.empty() ? request.model : target.model);
  TS_TRY(write_messages(request, target, losses, w));
  TS_TRY(write_tools(request, target, losses, w));
  write_settings(request, target, losses, w);
  TS_TRY(losses.fields(request.extra, w));
  w.close('}');
  return written;
}

Result<ToolCall> read_chat_call(const View& call) {
  ToolCall read;
  read.id = call["id"].str();
  read.custom = call["type"].equals("custom");
  const View inner = call[read.custom ? "custom" : "function"];
  TS_ASSIGN(read.name, need_string(inner, "name"));
  const View arguments = inner[read.custom ? "input" : "arguments"];
  // Some servers send the object itself instead of its text.
  read.arguments = arguments.is_string() ? arguments.str()
                   : arguments.given()   ? std::string(arguments.raw())
                                         : "";
  return read;
}

void write_chat_call(const ToolCall& call, bool custom_allowed, Writer& w) {
  const bool custom = call.custom && custom_allowed;
  w.open('{').field("id", call.id).field("type", custom ? "custom" : "function");
  w.key(custom ? "custom" : "function").open('{').field("name", flat_name(call.space, call.name));
  if (custom) {
    w.field("input", call.arguments);
  } else if (call.custom) {
    w.field("arguments", wrap_custom(call.arguments));
  } else {
    w.field("arguments", call.arguments.empty() ? "{}" : call.arguments);
  }
  w.close('}').close('}');
}

}  // namespace tunesmith::wire
