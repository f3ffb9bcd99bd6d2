// Chat Completions' pieces, for its own files alone.
#pragma once

#include "wire/carry.h"
#include "wire/format.h"

namespace tunesmith::wire {

[[nodiscard]] Result<Request> read_chat_request(std::string body);
[[nodiscard]] Result<Written> write_chat_request(const Request& request, const Target& target);
[[nodiscard]] Result<Reply> read_chat_reply(std::string body);
[[nodiscard]] Result<std::string> write_chat_reply(const Reply& reply, const StreamOptions& options);
[[nodiscard]] std::unique_ptr<StreamReader> chat_reader();
[[nodiscard]] std::unique_ptr<StreamWriter> chat_writer(const StreamOptions& options);
[[nodiscard]] HttpAnswer write_chat_error(const ApiError& error);

[[nodiscard]] Result<ToolCall> read_chat_call(const View& call);
void write_chat_call(const ToolCall& call, bool custom_allowed, Writer& w);
/// `word` is finish_reason; calls turn a mistaken "stop" into what it is.
[[nodiscard]] StopReason chat_stop(std::string_view word, bool calls);
[[nodiscard]] std::string_view chat_stop_word(StopReason stop);

/// Content as a string or as an array of text parts.
[[nodiscard]] std::string chat_content_text(const View& content);
/// What of a message or delta is thinking: reasoning_content (DeepSeek, vLLM), reasoning (OpenRouter), or
/// parts of type thinking (Mistral).
[[nodiscard]] std::string chat_thought(const View& message);
/// The error shape that Chat Completions and Responses share. A budget stop takes the given status and type.
[[nodiscard]] HttpAnswer write_openai_error(const ApiError& error, int budget_status,
                                            std::string_view budget_type);

}  // namespace tunesmith::wire
