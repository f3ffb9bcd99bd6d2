// Messages' pieces, for its own files alone.
#pragma once

#include "wire/carry.h"
#include "wire/format.h"

namespace tunesmith::wire {

[[nodiscard]] Result<Request> read_messages_request(std::string body);
[[nodiscard]] Result<Written> write_messages_request(const Request& request, const Target& target);
[[nodiscard]] Result<Reply> read_messages_reply(std::string body);
[[nodiscard]] Result<std::string> write_messages_reply(const Reply& reply, const StreamOptions& options);
[[nodiscard]] std::unique_ptr<StreamReader> messages_reader();
[[nodiscard]] std::unique_ptr<StreamWriter> messages_writer(const StreamOptions& options);
[[nodiscard]] HttpAnswer write_messages_error(const ApiError& error);
/// {"type":"error",…}, the body of an answer and the data of a stream's error event.
[[nodiscard]] std::string messages_error_body(const ApiError& error);

/// One block of a request's or reply's content.
[[nodiscard]] Result<Part> read_block(const View& block);
/// A block of a reply, whole or (head) as it starts in a stream. `invalid` for what Messages cannot say.
[[nodiscard]] Status write_reply_block(const Part& part, Writer& w);
[[nodiscard]] StopReason messages_stop(std::string_view word, bool calls);
[[nodiscard]] std::string_view messages_stop_word(StopReason stop);
/// Tool ids hold letters, digits, _ and - there; others ("functions.sh:0") are changed alike in calls and
/// results.
[[nodiscard]] std::string messages_tool_id(std::string_view id);

}  // namespace tunesmith::wire
