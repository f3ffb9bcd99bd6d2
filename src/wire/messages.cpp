// Anthropic Messages: whole replies, errors, and the row of the table.
#include "wire/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tunesmith::wire {

namespace {

constexpr FormatId k_me = FormatId::messages;

/// Claude Code compacts when it reads "prompt is too long: N tokens > M maximum", so other providers' ways to
/// say it ("maximum context length is 128000 tokens … resulted in 130000") are put into that form.
std::string too_long_text(const std::string& message) {
  if (message.find("prompt is too long") != std::string::npos) return message;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < message.size();) {
    std::size_t length = 0;
    std::int64_t number = 0;
    while (i + length < message.size() && length < 12 &&
           std::isdigit(static_cast<unsigned char>(message[i + length])) != 0) {
      number = number * 10 + (message[i + length] - '0');
      ++length;
    }
    if (number >= 1000) numbers.push_back(number);
    i += std::max<std::size_t>(length, 1);
  }
  if (numbers.size() < 2 || numbers[0] == numbers[1]) return "prompt is too long: " + message;
  return fmt::format("prompt is too long: {} tokens > {} maximum", std::max(numbers[0], numbers[1]),
                     std::min(numbers[0], numbers[1]));
}

struct Row {
  ErrorKind kind;
  int status;
  std::string_view type;
};

constexpr Row k_rows[] = {
    {ErrorKind::invalid_request, 400, "invalid_request_error"},
    {ErrorKind::authentication, 401, "authentication_error"},
    {ErrorKind::billing, 402, "billing_error"},
    {ErrorKind::permission, 403, "permission_error"},
    {ErrorKind::not_found, 404, "not_found_error"},
    {ErrorKind::too_large, 413, "request_too_large"},
    {ErrorKind::context_too_long, 400, "invalid_request_error"},
    {ErrorKind::rate_limit, 429, "rate_limit_error"},
    {ErrorKind::overloaded, 529, "overloaded_error"},
    {ErrorKind::timeout, 504, "timeout_error"},
    {ErrorKind::server, 500, "api_error"},
    {ErrorKind::budget, 402, "billing_error"},
};

const Row& row_of(ErrorKind kind) {
  return *std::find_if(std::begin(k_rows), std::end(k_rows),
                       [&](const Row& row) { return row.kind == kind; });
}

}  // namespace

StopReason messages_stop(std::string_view word, bool calls) {
  if (word == "end_turn" || word.empty()) return calls ? StopReason::tool_calls : StopReason::end;
  if (word == "tool_use") return StopReason::tool_calls;
  if (word == "max_tokens") return StopReason::length;
  if (word == "stop_sequence") return StopReason::stop_sequence;
  if (word == "refusal") return StopReason::refusal;
  if (word == "pause_turn") return StopReason::pause;
  if (word == "model_context_window_exceeded") return StopReason::context_exceeded;
  return StopReason::unknown;
}

std::string_view messages_stop_word(StopReason stop) {
  switch (stop) {
    case StopReason::length:
      return "max_tokens";
    case StopReason::tool_calls:
      return "tool_use";
    case StopReason::stop_sequence:
      return "stop_sequence";
    case StopReason::refusal:
      return "refusal";
    case StopReason::pause:
      return "pause_turn";
    case StopReason::context_exceeded:
      return "model_context_window_exceeded";
    case StopReason::unknown:
    case StopReason::end:
      break;
  }
  return "end_turn";
}

std::string messages_tool_id(std::string_view id) {
  std::string out(id);
  for (char& c : out) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '_';
  }
  return out;
}

Result<Reply> read_messages_reply(std::string body) {
  TS_ASSIGN(const Document document, Document::parse(std::move(body), "reply"));
  const View root = document.root();
  if (root["error"].given())
    return fail(ErrorCode::invalid, "the provider answered: " + read_error(0, root).message);
  if (!root["content"].is_array()) return root.error("this is no reply of Messages: \"content\" is missing");
  Reply reply;
  reply.id = root["id"].str();
  reply.model = root["model"].str();
  bool calls = false;
  const std::vector<View> blocks = root["content"].items();
  for (const View& block : blocks) {
    TS_ASSIGN(Part part, read_block(block));
    calls = calls || std::holds_alternative<ToolCall>(part.is);
    reply.parts.push_back(std::move(part));
  }
  const std::string word = root["stop_reason"].str();
  reply.stop = messages_stop(word, calls);
  if (reply.stop == StopReason::unknown) reply.stop_text = word;
  if (reply.stop == StopReason::stop_sequence) reply.stop_text = root["stop_sequence"].str();
  reply.usage = read_usage(k_me, root["usage"]);
  return reply;
}

Status write_reply_block(const Part& part, Writer& w) {
  if (const auto* text = std::get_if<Text>(&part.is)) {
    w.open('{').field("type", "text").field("text", text->text).close('}');
  } else if (const auto* refusal = std::get_if<Refusal>(&part.is)) {
    w.open('{').field("type", "text").field("text", refusal->text).close('}');
  } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
    if (thinking->redacted && thinking->sealed_by == k_me) {
      w.open('{').field("type", "redacted_thinking").field("data", thinking->seal).close('}');
    } else {
      // Another provider's seal would only be refused when it comes back.
      const bool ours = thinking->sealed_by == k_me;
      w.open('{').field("type", "thinking").field("thinking", thinking->text);
      w.field("signature", ours ? thinking->seal : "").close('}');
    }
  } else if (const auto* call = std::get_if<ToolCall>(&part.is)) {
    bool mended = false;
    const std::string input = call->custom ? wrap_custom(call->arguments) : arguments_object(*call, mended);
    w.open('{').field("type", "tool_use").field("id", messages_tool_id(call->id));
    w.field("name", flat_name(call->space, call->name)).field_raw("input", input).close('}');
  } else {
    const auto* foreign = std::get_if<Foreign>(&part.is);
    if (foreign == nullptr || foreign->format != k_me) {
      return fail(ErrorCode::invalid,
                  fmt::format("the reply holds a part that the format messages cannot carry: {}",
                              foreign != nullptr ? foreign->name : "an image or a tool's result"));
    }
    w.raw(foreign->raw);
  }
  return {};
}

Result<std::string> write_messages_reply(const Reply& reply, const StreamOptions& options) {
  std::string out;
  Writer w(out);
  w.open('{').field("id", reply.id).field("type", "message").field("role", "assistant");
  w.field("model", options.model.empty() ? reply.model : options.model).key("content").open('[');
  for (const Part& part : reply.parts) TS_TRY(write_reply_block(part, w));
  w.close(']').field("stop_reason", messages_stop_word(reply.stop));
  if (reply.stop == StopReason::stop_sequence && !reply.stop_text.empty()) {
    w.field("stop_sequence", reply.stop_text);
  } else {
    w.field_null("stop_sequence");
  }
  w.field_raw("usage", write_usage(k_me, reply.usage)).close('}');
  return out;
}

std::string messages_error_body(const ApiError& error) {
  std::string out;
  Writer w(out);
  w.open('{').field("type", "error").key("error").open('{').field("type", row_of(error.kind).type);
  w.field("message",
          error.kind == ErrorKind::context_too_long ? too_long_text(error.message) : error.message);
  w.close('}');
  if (!error.request_id.empty()) w.field("request_id", error.request_id);
  w.close('}');
  return out;
}

HttpAnswer write_messages_error(const ApiError& error) {
  HttpAnswer answer;
  answer.status = row_of(error.kind).status;
  answer.headers.emplace_back("content-type", "application/json");
  const bool waits = error.kind == ErrorKind::rate_limit || error.kind == ErrorKind::overloaded;
  if (error.kind == ErrorKind::budget) answer.headers.emplace_back("x-should-retry", "false");
  if (waits && error.retry_after_ms) {
    answer.headers.emplace_back("retry-after", fmt::format("{}", (*error.retry_after_ms + 999) / 1000));
  }
  answer.body = messages_error_body(error);
  return answer;
}

const Format k_messages = {
    FormatId::messages,  "messages",           "/messages",     read_messages_request, write_messages_request,
    read_messages_reply, write_messages_reply, messages_reader, messages_writer,       write_messages_error,
};

}  // namespace tunesmith::wire
