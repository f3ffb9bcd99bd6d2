// Chat Completions: whole replies, errors, and the row of the table.
#include "wire/chat.h"

#include <fmt/format.h>

namespace tunesmith::wire {

namespace {

constexpr FormatId k_me = FormatId::chat;

}  // namespace

StopReason chat_stop(std::string_view word, bool calls) {
  if (word == "tool_calls" || word == "function_call") return StopReason::tool_calls;
  // Some servers say "stop" after a call; a client that believes it never runs the tool.
  if (word == "stop" || word == "eos" || word.empty())
    return calls ? StopReason::tool_calls : StopReason::end;
  if (word == "length") return StopReason::length;
  if (word == "content_filter") return StopReason::refusal;
  return StopReason::unknown;
}

std::string_view chat_stop_word(StopReason stop) {
  switch (stop) {
    case StopReason::length:
    case StopReason::context_exceeded:
      return "length";
    case StopReason::tool_calls:
      return "tool_calls";
    case StopReason::refusal:
      return "content_filter";
    case StopReason::unknown:
    case StopReason::end:
    case StopReason::stop_sequence:
    case StopReason::pause:
      break;
  }
  return "stop";
}

std::string chat_content_text(const View& content) {
  if (content.is_string()) return content.str();
  std::string text;
  const std::vector<View> items = content.items();
  for (const View& item : items) text += item["text"].str();
  return text;
}

std::string chat_thought(const View& message) {
  if (message["reasoning_content"].is_string()) return message["reasoning_content"].str();
  if (message["reasoning"].is_string()) return message["reasoning"].str();
  // Mistral's form: thinking is a part of the content.
  std::string text;
  const std::vector<View> items = message["content"].items();
  for (const View& item : items) {
    if (item["type"].equals("thinking")) text += chat_content_text(item["thinking"]);
  }
  return text;
}

Result<Reply> read_chat_reply(std::string body) {
  TS_ASSIGN(const Document document, Document::parse(std::move(body), "reply"));
  const View root = document.root();
  if (root["error"].given())
    return fail(ErrorCode::invalid, "the provider answered: " + read_error(0, root).message);
  const std::vector<View> choices = root["choices"].items();
  if (choices.empty())
    return root.error("this is no reply of Chat Completions: \"choices\" is missing or empty");
  const View message = choices[0]["message"];
  if (!message.is_object())
    return choices[0].error("this is no reply of Chat Completions: \"message\" is missing");
  Reply reply;
  reply.id = root["id"].str();
  reply.model = root["model"].str();
  std::string thought = chat_thought(message);
  if (!thought.empty()) {
    Thinking thinking{std::move(thought)};
    thinking.sealed_by = k_me;
    reply.parts.push_back({std::move(thinking)});
  }
  std::string text = chat_content_text(message["content"]);
  if (!text.empty()) reply.parts.push_back({Text{std::move(text)}});
  if (message["refusal"].is_string()) reply.parts.push_back({Refusal{message["refusal"].str()}});
  const std::vector<View> calls = message["tool_calls"].items();
  for (const View& call : calls) {
    TS_ASSIGN(ToolCall read, read_chat_call(call));
    if (read.id.empty()) read.id = fmt::format("call_{}_{}", reply.id, reply.parts.size());
    reply.parts.push_back({std::move(read)});
  }
  const std::string word = choices[0]["finish_reason"].str();
  reply.stop = chat_stop(word, !calls.empty());
  if (reply.stop == StopReason::unknown) reply.stop_text = word;
  const View usage = root["usage"].given() ? root["usage"] : choices[0]["usage"];
  reply.usage = read_usage(k_me, usage);
  return reply;
}

Result<std::string> write_chat_reply(const Reply& reply, const StreamOptions& options) {
  std::string text;
  std::string thoughts;
  std::string refusal;
  std::vector<const ToolCall*> calls;
  for (const Part& part : reply.parts) {
    if (const auto* said = std::get_if<Text>(&part.is)) {
      text += said->text;
    } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
      thoughts += thinking->text;
    } else if (const auto* no = std::get_if<Refusal>(&part.is)) {
      refusal += no->text;
    } else if (const auto* call = std::get_if<ToolCall>(&part.is)) {
      calls.push_back(call);
    } else {
      const auto* foreign = std::get_if<Foreign>(&part.is);
      return fail(ErrorCode::invalid,
                  fmt::format("the reply holds a part that the format chat cannot carry: {}",
                              foreign != nullptr ? foreign->name : "an image or a tool's result"));
    }
  }
  std::string out;
  Writer w(out);
  w.open('{').field("id", reply.id).field("object", "chat.completion").field("created", options.created);
  w.field("model", options.model.empty() ? reply.model : options.model);
  w.key("choices").open('[').open('{').field("index", 0).key("message").open('{').field("role", "assistant");
  if (text.empty() && (!calls.empty() || !refusal.empty())) {
    w.field_null("content");
  } else {
    w.field("content", text);
  }
  if (!refusal.empty()) w.field("refusal", refusal);
  if (!thoughts.empty()) w.field("reasoning_content", thoughts);
  if (!calls.empty()) {
    w.key("tool_calls").open('[');
    for (const ToolCall* call : calls) write_chat_call(*call, true, w);
    w.close(']');
  }
  w.close('}').field("finish_reason", chat_stop_word(reply.stop)).close('}').close(']');
  w.field_raw("usage", write_usage(k_me, reply.usage)).close('}');
  return out;
}

HttpAnswer write_chat_error(const ApiError& error) { return write_openai_error(error, 402, "billing_error"); }

HttpAnswer write_openai_error(const ApiError& error, int budget_status, std::string_view budget_type) {
  struct Row {
    ErrorKind kind;
    int status;
    std::string_view type;
    std::string_view code;
  };
  static constexpr Row rows[] = {
      {ErrorKind::invalid_request, 400, "invalid_request_error", ""},
      {ErrorKind::authentication, 401, "invalid_request_error", "invalid_api_key"},
      {ErrorKind::billing, 429, "insufficient_quota", "insufficient_quota"},
      {ErrorKind::permission, 403, "invalid_request_error", ""},
      {ErrorKind::not_found, 404, "invalid_request_error", ""},
      {ErrorKind::too_large, 413, "invalid_request_error", ""},
      {ErrorKind::context_too_long, 400, "invalid_request_error", "context_length_exceeded"},
      {ErrorKind::rate_limit, 429, "rate_limit_error", "rate_limit_exceeded"},
      {ErrorKind::overloaded, 503, "server_error", "server_is_overloaded"},
      {ErrorKind::timeout, 504, "server_error", ""},
      {ErrorKind::server, 500, "server_error", ""},
  };
  HttpAnswer answer;
  std::string_view type = budget_type;
  std::string_view code = "budget_exceeded";
  answer.status = budget_status;
  for (const Row& row : rows) {
    if (row.kind != error.kind) continue;
    answer.status = row.status;
    type = row.type;
    code = !row.code.empty() ? row.code : std::string_view(error.code);
  }
  answer.headers.emplace_back("content-type", "application/json");
  const bool waits = error.kind == ErrorKind::rate_limit || error.kind == ErrorKind::overloaded;
  if (error.kind == ErrorKind::budget) answer.headers.emplace_back("x-should-retry", "false");
  if (waits && error.retry_after_ms) {
    answer.headers.emplace_back("retry-after", fmt::format("{}", (*error.retry_after_ms + 999) / 1000));
  }
  Writer w(answer.body);
  w.open('{').key("error").open('{').field("message", error.message).field("type", type);
  if (error.param.empty()) {
    w.field_null("param");
  } else {
    w.field("param", error.param);
  }
  if (code.empty()) {
    w.field_null("code");
  } else {
    w.field("code", code);
  }
  w.close('}').close('}');
  return answer;
}

const Format k_chat = {
    FormatId::chat,  "chat",           "/chat/completions", read_chat_request, write_chat_request,
    read_chat_reply, write_chat_reply, chat_reader,         chat_writer,       write_chat_error,
};

}  // namespace tunesmith::wire
