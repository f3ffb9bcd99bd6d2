#include "wire/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/text.h"

namespace tunesmith::wire {

namespace {

struct Hint {
  FormatId format;
  std::string_view name;
};

// Fields that change cost, speed, storage or display, never what the model is asked.
constexpr Hint k_hints[] = {
    {FormatId::chat, "metadata"},
    {FormatId::chat, "store"},
    {FormatId::chat, "service_tier"},
    {FormatId::chat, "safety_identifier"},
    {FormatId::chat, "prompt_cache_retention"},
    {FormatId::chat, "prediction"},
    {FormatId::chat, "stream_options.include_obfuscation"},
    // What servers add to their replies and clients send back with the history.
    {FormatId::chat, "messages.annotations"},
    {FormatId::chat, "messages.audio"},
    {FormatId::chat, "messages.reasoning_details"},
    {FormatId::responses, "metadata"},
    {FormatId::responses, "client_metadata"},
    {FormatId::responses, "store"},
    {FormatId::responses, "include"},
    {FormatId::responses, "service_tier"},
    {FormatId::responses, "safety_identifier"},
    {FormatId::responses, "prompt_cache_retention"},
    {FormatId::responses, "stream_options"},
    {FormatId::responses, "truncation"},
    {FormatId::messages, "metadata"},
    {FormatId::messages, "service_tier"},
    {FormatId::messages, "speed"},
    {FormatId::messages, "cache_control"},
    // Lets the server clear old turns from the context; without it the whole context stands.
    {FormatId::messages, "context_management"},
};

// Fields at the value that means "as if it were not there".
bool is_neutral(const Foreign& field) {
  static const std::set<std::pair<std::string_view, std::string_view>> neutral = {
      {"n", "1"},
      {"presence_penalty", "0"},
      {"frequency_penalty", "0"},
      {"logprobs", "false"},
      {"background", "false"},
      {"top_logprobs", "0"},
      {"mcp_servers", "[]"},
      {"modalities", "[\"text\"]"},
  };
  std::string compact;
  Writer(compact).raw(field.raw);
  return compact == "null" || neutral.contains({field.name, compact});
}

bool is_hint(const Foreign& field) {
  return std::any_of(std::begin(k_hints), std::end(k_hints), [&](const Hint& hint) {
    return hint.format == field.format && hint.name == field.name;
  });
}

}  // namespace

Status Losses::cannot(const std::string& name, const std::string& why) const {
  if (std::find(m_target.may_drop.begin(), m_target.may_drop.end(), name) != m_target.may_drop.end()) {
    note(fmt::format("{} was left out, as allowed: {}", name, why));
    return {};
  }
  return fail(ErrorCode::invalid,
              fmt::format("{} cannot be carried in the format {}: {}", name, format_name(m_to), why),
              "use an upstream that speaks the client's own format, or allow this name to be dropped",
              {"request", 0, 0, name});
}

void Losses::note(std::string text) const {
  auto& notes = m_written.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

Status Losses::fields(const std::vector<Foreign>& extra, Writer& w) const {
  for (const Foreign& field : extra) {
    if (field.format == m_to && field.name.find('.') == std::string::npos) {
      w.field_raw(field.name, field.raw);
    } else if (is_neutral(field)) {
      continue;
    } else if (is_hint(field)) {
      note(fmt::format("{} is a hint of the format {} and was left out", field.name,
                       format_name(field.format)));
    } else {
      TS_TRY(
          cannot(field.name, fmt::format("it is a field of the format {} alone", format_name(field.format))));
    }
  }
  return {};
}

Result<Document> parse_request(std::string body) {
  TS_ASSIGN(Document document, Document::parse(std::move(body), "request", Duplicates::refused));
  if (!document.root().is_object()) {
    return document.root().error(
        fmt::format("a request must be an object, not {}", document.root().kind_name()));
  }
  return document;
}

Result<std::string> need_string(const View& object, std::string_view key) {
  const View value = object[key];
  if (!value)
    return object.error(fmt::format("the key \"{}\" is missing", key), fmt::format("add \"{}\"", key));
  if (!value.is_string()) return value.error(fmt::format("must be a string, not {}", value.kind_name()));
  return value.str();
}

std::vector<Foreign> unknown_fields(FormatId format, const View& object,
                                    const std::vector<std::string_view>& known, std::string_view prefix) {
  std::vector<Foreign> fields;
  for (const View& member : object.members()) {
    std::string key = member.key();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    fields.push_back({format, fmt::format("{}{}", prefix, key), std::string(member.raw())});
  }
  return fields;
}

void add_fields(Request& request, std::vector<Foreign> fields) {
  for (Foreign& field : fields) request.extra.push_back(std::move(field));
}

Result<std::vector<Message>> results_adjacent(const std::vector<Message>& messages) {
  // Where each call's result stands now.
  // A queue for each id, since some servers use an id again in every turn.
  std::map<std::string, std::deque<const ToolResult*>> results;
  std::set<std::string> called;
  for (const Message& message : messages) {
    for (const Part& part : message.parts) {
      if (const auto* result = std::get_if<ToolResult>(&part.is)) results[result->call_id].push_back(result);
      if (const auto* call = std::get_if<ToolCall>(&part.is)) called.insert(call->id);
    }
  }
  for (const auto& [id, queue] : results) {
    if (called.contains(id)) continue;
    return fail(ErrorCode::invalid,
                fmt::format("a tool result answers the call \"{}\", which is not in the request", id),
                "send the call with its result", {"request", 0, 0, id});
  }
  // Results move behind their calls; what remains keeps its order.
  std::vector<Message> out;
  std::vector<std::string> owed;  // ids of the last assistant's calls
  const auto pay = [&]() -> Status {
    if (owed.empty()) return {};
    Message message{Role::user, {}};
    for (const std::string& id : owed) {
      const auto found = results.find(id);
      if (found == results.end() || found->second.empty()) {
        return fail(ErrorCode::invalid, fmt::format("the tool call \"{}\" has no result in the request", id),
                    "send its result, even one that says it was aborted", {"request", 0, 0, id});
      }
      message.parts.push_back({*found->second.front()});
      found->second.pop_front();
    }
    owed.clear();
    out.push_back(std::move(message));
    return {};
  };
  for (const Message& message : messages) {
    Message kept{message.role, {}};
    for (const Part& part : message.parts) {
      if (!std::holds_alternative<ToolResult>(part.is)) kept.parts.push_back(part);
    }
    if (kept.parts.empty() && !message.parts.empty()) {
      // Nothing but results: they stand behind their calls, which closes the assistant's turn.
      TS_TRY(pay());
      continue;
    }
    if (message.role != Role::assistant) TS_TRY(pay());
    const bool joins = !out.empty() && out.back().role == message.role &&
                       (message.role == Role::assistant || message.role == Role::user);
    if (message.role == Role::assistant) {
      for (const Part& part : kept.parts) {
        if (const auto* call = std::get_if<ToolCall>(&part.is)) owed.push_back(call->id);
      }
    }
    if (joins) {
      for (Part& part : kept.parts) out.back().parts.push_back(std::move(part));
    } else {
      out.push_back(std::move(kept));
    }
  }
  TS_TRY(pay());
  for (const auto& [id, queue] : results) {
    if (queue.empty()) continue;
    return fail(ErrorCode::invalid, fmt::format("the tool call \"{}\" has more than one result", id),
                "send one of them", {"request", 0, 0, id});
  }
  return out;
}

std::string flat_name(std::string_view space, std::string_view name) {
  return space.empty() ? std::string(name) : fmt::format("{}__{}", space, name);
}

std::string chosen_name(const Request& request) {
  for (const Tool& tool : request.tools) {
    if (tool.name == request.tool_name && !tool.foreign) return flat_name(tool.space, tool.name);
  }
  return request.tool_name;
}

Status rename_tools(const Request& request, bool custom_allowed, Written& written) {
  std::set<std::string> names;
  for (const Tool& tool : request.tools) {
    if (tool.foreign) continue;
    const std::string sent = flat_name(tool.space, tool.name);
    if (!names.insert(sent).second) {
      return fail(ErrorCode::invalid, fmt::format("two tools would both be called \"{}\"", sent),
                  "rename one of them", {"request", 0, 0, sent});
    }
    const bool wrapped = tool.custom && !custom_allowed;
    if (sent != tool.name || wrapped) written.renamed.push_back({sent, tool.name, tool.space, wrapped});
  }
  return {};
}

std::string custom_schema() {
  return R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false})";
}

std::string wrap_custom(std::string_view input) {
  return fmt::format("{{\"input\":{}}}", json_string(input));
}

std::string unwrap_custom(const std::string& arguments) {
  const auto document = Document::parse(arguments, "arguments");
  if (!document || !document->root()["input"].is_string()) return arguments;
  return document->root()["input"].str();
}

std::string custom_description(const Tool& tool) {
  std::string text = tool.description;
  const auto document = Document::parse(tool.schema.empty() ? "{}" : tool.schema, "format");
  if (document && document->root()["definition"].is_string()) {
    const View root = document->root();
    text += fmt::format("\n\nThe input must follow this {} grammar:\n{}", root["syntax"].str(),
                        root["definition"].str());
  }
  return text;
}

std::size_t size_of(const Request& request) {
  const auto count = [](const std::vector<Part>& parts, const auto& self) -> std::size_t {
    std::size_t bytes = 0;
    for (const Part& part : parts) {
      bytes += 100;
      if (const auto* text = std::get_if<Text>(&part.is)) bytes += text->text.size() + text->text.size() / 16;
      if (const auto* image = std::get_if<Image>(&part.is)) bytes += image->base64.size();
      if (const auto* call = std::get_if<ToolCall>(&part.is)) bytes += call->arguments.size() * 9 / 8;
      if (const auto* result = std::get_if<ToolResult>(&part.is)) bytes += self(result->content, self);
    }
    return bytes;
  };
  std::size_t bytes = 1000;
  for (const Message& message : request.messages) bytes += 100 + count(message.parts, count);
  for (const Tool& tool : request.tools) bytes += 200 + tool.description.size() + tool.schema.size();
  return bytes;
}

std::string joined_text(const std::vector<Part>& parts) {
  std::string out;
  std::size_t bytes = 0;
  for (const Part& part : parts) {
    const auto* text = std::get_if<Text>(&part.is);
    if (text != nullptr) bytes += text->text.size() + 2;
  }
  out.reserve(bytes);
  for (const Part& part : parts) {
    const auto* text = std::get_if<Text>(&part.is);
    if (text == nullptr || text->text.empty()) continue;
    if (!out.empty()) out += "\n\n";
    out += text->text;
  }
  return out;
}

bool split_data_url(std::string_view url, std::string& media_type, std::string& base64) {
  if (!url.starts_with("data:")) return false;
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view head = url.substr(5, comma - 5);
  if (!head.ends_with(";base64")) return false;
  media_type = head.substr(0, head.find(';'));
  base64 = url.substr(comma + 1);
  return true;
}

std::string image_url(const Image& image) {
  return image.url.empty() ? fmt::format("data:{};base64,{}", image.media_type, image.base64) : image.url;
}

Result<std::string> tool_reference_text(const Foreign& part, const Losses& losses) {
  if (part.name == "tool_reference") {
    const auto document = Document::parse(part.raw, "part");
    if (document && document->root()["tool_name"].is_string()) {
      losses.note("references to tools became text: all tools are listed from the start");
      return fmt::format("[tool {} is available]", document->root()["tool_name"].str());
    }
  }
  TS_TRY(losses.cannot("messages.tool_result." + part.name, "the format has no such part"));
  return std::string();
}

std::string failed_text(std::string_view text) { return fmt::format("[tool failed] {}", text); }

std::int64_t budget_of_effort(std::string_view effort) {
  if (effort == "minimal" || effort == "none") return 1024;  // the least that Messages takes
  if (effort == "low") return 4096;
  if (effort == "medium") return 8192;
  if (effort == "high") return 16384;
  return 31999;  // "xhigh", "max" and names to come; what Claude Code asks on its own
}

std::string effort_of_budget(std::int64_t tokens) {
  if (tokens <= 4096) return "low";
  return tokens <= 8192 ? "medium" : "high";
}

std::string arguments_object(const ToolCall& call, bool& mended) {
  mended = false;
  if (trim(call.arguments).empty()) return "{}";
  const auto document = Document::parse(call.arguments, "arguments");
  if (document && document->root().is_object()) return call.arguments;
  mended = true;
  return fmt::format("{{\"invalid_json\":{}}}", json_string(call.arguments));
}

}  // namespace tunesmith::wire
