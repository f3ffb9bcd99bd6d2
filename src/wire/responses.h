// Responses' pieces, for its own files alone.
#pragma once

#include "wire/carry.h"
#include "wire/format.h"

namespace tunesmith::wire {

[[nodiscard]] Result<Request> read_responses_request(std::string body);
[[nodiscard]] Result<Written> write_responses_request(const Request& request, const Target& target);
[[nodiscard]] Result<Reply> read_responses_reply(std::string body);
[[nodiscard]] Result<std::string> write_responses_reply(const Reply& reply, const StreamOptions& options);
[[nodiscard]] std::unique_ptr<StreamReader> responses_reader();
[[nodiscard]] std::unique_ptr<StreamWriter> responses_writer(const StreamOptions& options);
[[nodiscard]] HttpAnswer write_responses_error(const ApiError& error);

/// function_call or custom_tool_call.
[[nodiscard]] Result<ToolCall> read_call_item(const View& item);
/// A reasoning item; paragraphs of the summary (or of the raw text where it is shown) are joined by blank
/// lines.
[[nodiscard]] Thinking read_reasoning_item(const View& item);
/// Parts of one output item: a message may hold several.
[[nodiscard]] Result<std::vector<Part>> read_output_item(const View& item);
/// One item of a reply's output. `invalid` for what Responses cannot say.
[[nodiscard]] Status write_output_item(const Part& part, const std::string& id, std::string_view status,
                                       Writer& w);
[[nodiscard]] std::string item_id(const Part& part, const std::string& reply_id, std::size_t number);
/// The response object; `items` are JSON values joined by commas, `usage` null until the end.
struct ResponseObject {
  std::string id;
  std::string model;
  std::int64_t created = 0;
  std::string_view status = "in_progress";
  StopReason stop = StopReason::unknown;
  std::string_view items;
  const Usage* usage = nullptr;
  const ApiError* error = nullptr;
};
void write_response(const ResponseObject& response, Writer& w);
[[nodiscard]] std::string_view responses_status(StopReason stop);
[[nodiscard]] StopReason responses_stop(const View& response, bool calls);
/// The code of response.failed that makes Codex do what the kind means; "invalid_prompt" shows the message
/// and stops.
[[nodiscard]] std::string_view failed_code(ErrorKind kind);

}  // namespace tunesmith::wire
