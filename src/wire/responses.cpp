// OpenAI Responses: whole replies, errors, and the row of the table.
#include "wire/responses.h"

#include <fmt/format.h>

#include "wire/chat.h"

namespace tunesmith::wire {

namespace {

constexpr FormatId k_me = FormatId::responses;

void add_paragraphs(const View& list, std::string& text) {
  const std::vector<View> items = list.items();
  for (const View& item : items) {
    if (!text.empty()) text += "\n\n";
    text += item["text"].str();
  }
}

}  // namespace

Result<ToolCall> read_call_item(const View& item) {
  ToolCall call;
  call.custom = item["type"].equals("custom_tool_call");
  TS_ASSIGN(call.name, need_string(item, "name"));
  call.id = item["call_id"].is_string() ? item["call_id"].str() : item["id"].str();
  if (!item["call_id"].is_string() && !item["id"].is_string())
    return item.error("a tool call needs \"call_id\"");
  call.space = item["namespace"].str();
  const View arguments = item[call.custom ? "input" : "arguments"];
  call.arguments = arguments.is_string() ? arguments.str()
                   : arguments.given()   ? std::string(arguments.raw())
                                         : "";
  return call;
}

Thinking read_reasoning_item(const View& item) {
  Thinking thinking;
  thinking.sealed_by = k_me;
  thinking.id = item["id"].str();
  thinking.seal = item["encrypted_content"].str();
  add_paragraphs(item["summary"], thinking.text);
  if (thinking.text.empty()) add_paragraphs(item["content"], thinking.text);
  return thinking;
}

Result<std::vector<Part>> read_output_item(const View& item) {
  std::vector<Part> parts;
  if (!item.is_object()) return item.error(fmt::format("must be an object, not {}", item.kind_name()));
  const std::string type = item["type"].str();
  if (type == "message") {
    const std::vector<View> pieces = item["content"].items();
    for (const View& piece : pieces) {
      if (piece["type"].equals("refusal")) {
        parts.push_back({Refusal{piece["refusal"].str()}});
      } else if (!piece["text"].equals("")) {
        parts.push_back({Text{piece["text"].str()}});
      }
    }
  } else if (type == "function_call" || type == "custom_tool_call") {
    TS_ASSIGN(ToolCall call, read_call_item(item));
    parts.push_back({std::move(call)});
  } else if (type == "reasoning") {
    parts.push_back({read_reasoning_item(item)});
  } else {
    parts.push_back({Foreign{k_me, type, std::string(item.raw())}});
  }
  return parts;
}

StopReason responses_stop(const View& response, bool calls) {
  if (response["status"].equals("incomplete")) {
    const View reason = response["incomplete_details"]["reason"];
    return reason.equals("content_filter") ? StopReason::refusal : StopReason::length;
  }
  return calls ? StopReason::tool_calls : StopReason::end;
}

std::string_view responses_status(StopReason stop) {
  const bool incomplete =
      stop == StopReason::length || stop == StopReason::refusal || stop == StopReason::context_exceeded;
  return incomplete ? "incomplete" : "completed";
}

Result<Reply> read_responses_reply(std::string body) {
  TS_ASSIGN(const Document document, Document::parse(std::move(body), "reply"));
  const View root = document.root();
  if (root["error"].given())
    return fail(ErrorCode::invalid, "the provider answered: " + read_error(0, root).message);
  if (!root["output"].is_array()) return root.error("this is no reply of Responses: \"output\" is missing");
  Reply reply;
  reply.id = root["id"].str();
  reply.model = root["model"].str();
  bool calls = false;
  const std::vector<View> items = root["output"].items();
  for (const View& item : items) {
    TS_ASSIGN(std::vector<Part> parts, read_output_item(item));
    for (Part& part : parts) {
      calls = calls || std::holds_alternative<ToolCall>(part.is);
      reply.parts.push_back(std::move(part));
    }
  }
  reply.stop = responses_stop(root, calls);
  reply.usage = read_usage(k_me, root["usage"]);
  return reply;
}

std::string item_id(const Part& part, const std::string& reply_id, std::size_t number) {
  const auto* thinking = std::get_if<Thinking>(&part.is);
  if (thinking != nullptr && !thinking->id.empty()) return thinking->id;
  const auto* call = std::get_if<ToolCall>(&part.is);
  const char* prefix = thinking != nullptr ? "rs" : call == nullptr ? "msg" : call->custom ? "ctc" : "fc";
  return fmt::format("{}_{}_{}", prefix, reply_id, number);
}

Status write_output_item(const Part& part, const std::string& id, std::string_view status, Writer& w) {
  if (const auto* foreign = std::get_if<Foreign>(&part.is); foreign != nullptr && foreign->format == k_me) {
    w.raw(foreign->raw);
    return {};
  }
  w.open('{');
  if (!id.empty()) w.field("id", id);
  if (const auto* call = std::get_if<ToolCall>(&part.is)) {
    w.field("type", call->custom ? "custom_tool_call" : "function_call").field("status", status);
    w.field("call_id", call->id);
    if (!call->space.empty()) w.field("namespace", call->space);
    w.field("name", call->name).field(call->custom ? "input" : "arguments", call->arguments);
  } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
    w.field("type", "reasoning").key("summary").open('[');
    if (!thinking->text.empty())
      w.open('{').field("type", "summary_text").field("text", thinking->text).close('}');
    w.close(']');
    if (thinking->sealed_by == k_me && !thinking->seal.empty()) w.field("encrypted_content", thinking->seal);
  } else if (const auto* text = std::get_if<Text>(&part.is)) {
    w.field("type", "message").field("status", status).field("role", "assistant").key("content").open('[');
    // An item that has just begun holds nothing yet.
    if (status != "in_progress") {
      w.open('{')
          .field("type", "output_text")
          .field("text", text->text)
          .key("annotations")
          .open('[')
          .close(']')
          .close('}');
    }
    w.close(']');
  } else if (const auto* refusal = std::get_if<Refusal>(&part.is)) {
    w.field("type", "message").field("status", status).field("role", "assistant").key("content").open('[');
    if (status != "in_progress")
      w.open('{').field("type", "refusal").field("refusal", refusal->text).close('}');
    w.close(']');
  } else {
    const auto* foreign = std::get_if<Foreign>(&part.is);
    return fail(ErrorCode::invalid,
                fmt::format("the reply holds a part that the format responses cannot carry: {}",
                            foreign != nullptr ? foreign->name : "an image or a tool's result"));
  }
  w.close('}');
  return {};
}

void write_response(const ResponseObject& response, Writer& w) {
  w.open('{').field("id", response.id).field("object", "response").field("created_at", response.created);
  w.field("status", response.status).field("model", response.model);
  if (response.error != nullptr) {
    w.key("error")
        .open('{')
        .field("code", failed_code(response.error->kind))
        .field("message", response.error->message);
    w.close('}');
  } else {
    w.field_null("error");
  }
  if (response.status == "incomplete") {
    const bool filtered = response.stop == StopReason::refusal;
    w.key("incomplete_details")
        .open('{')
        .field("reason", filtered ? "content_filter" : "max_output_tokens")
        .close('}');
  } else {
    w.field_null("incomplete_details");
  }
  w.key("output").open('[');
  if (!response.items.empty()) w.raw(response.items);
  w.close(']');
  if (response.usage != nullptr) {
    w.field_raw("usage", write_usage(k_me, *response.usage));
  } else {
    w.field_null("usage");
  }
  w.close('}');
}

Result<std::string> write_responses_reply(const Reply& reply, const StreamOptions& options) {
  std::string items;
  Writer l(items);
  for (std::size_t i = 0; i < reply.parts.size(); ++i) {
    Part part = reply.parts[i];
    if (auto* call = std::get_if<ToolCall>(&part.is);
        call != nullptr && call->arguments.empty() && !call->custom) {
      call->arguments = "{}";
    }
    TS_TRY(write_output_item(part, item_id(part, reply.id, i), "completed", l));
  }
  ResponseObject object{reply.id, options.model.empty() ? reply.model : options.model, options.created};
  object.status = responses_status(reply.stop);
  object.stop = reply.stop;
  object.items = items;
  object.usage = &reply.usage;
  std::string out;
  Writer w(out);
  write_response(object, w);
  return out;
}

std::string_view failed_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::context_too_long:
      return "context_length_exceeded";
    case ErrorKind::billing:
      return "insufficient_quota";
    case ErrorKind::rate_limit:
      return "rate_limit_exceeded";
    case ErrorKind::overloaded:
      return "server_is_overloaded";
    case ErrorKind::server:
    case ErrorKind::timeout:
      return "server_error";
    case ErrorKind::invalid_request:
    case ErrorKind::authentication:
    case ErrorKind::permission:
    case ErrorKind::not_found:
    case ErrorKind::too_large:
    case ErrorKind::budget:
      break;
  }
  return "invalid_prompt";
}

// Codex sends six times on 402 and 403, once on a plain 400.
HttpAnswer write_responses_error(const ApiError& error) {
  return write_openai_error(error, 400, "invalid_request_error");
}

const Format k_responses = {
    FormatId::responses,     "responses",           "/responses",          read_responses_request,
    write_responses_request, read_responses_reply,  write_responses_reply, responses_reader,
    responses_writer,        write_responses_error,
};

}  // namespace tunesmith::wire
