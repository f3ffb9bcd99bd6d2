// One interface over the three formats, and the table of them. Pure: bytes and values in, bytes and values
// out. Adding one: its files, a name in format_id.h, a line in table.cpp, its figures in usage.cpp.
//
// Sources of the formats: the type files of the official SDKs (openai 7.59, @anthropic-ai/sdk 1.14), what the
// real clients (Codex 0.171, Claude Code 2.1.332) were seen to send and to need, and the forms that
// compatible servers were reported to send.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "wire/message.h"
#include "wire/sse.h"

namespace tunesmith::wire {

/// What is known about the model and server that a request is written for: data, never guessed here.
struct Target {
  std::string model;  ///< empty: the request's own
  /// Chat: "max_tokens", or "max_completion_tokens" for OpenAI's newer models. The other formats have one
  /// key.
  std::string output_limit_key = "max_tokens";
  std::int64_t default_output_limit = 8192;  ///< Messages demands a limit; used when the request has none
  bool temperature = true;      ///< takes temperature and top_p; if not, they are left out and noted
  bool developer_role = false;  ///< Chat: "developer" is known; else it is written as "system"
  bool inner_system = true;  ///< Messages: takes role "system" after the first message; else refused by name
  bool stream_usage = true;  ///< Chat: takes stream_options; strict old servers answer 400 to it
  bool reasoning_effort = true;    ///< Chat: takes reasoning_effort
  bool reasoning_history = false;  ///< Chat: wants reasoning_content of earlier turns back (some refuse it)
  bool adaptive_thinking = true;   ///< Messages: effort and adaptive thinking; else a budget in tokens
  bool cache_marks = true;         ///< Messages: takes cache_control
  bool cache_key = false;          ///< Chat: takes prompt_cache_key
  bool custom_tools =
      false;  ///< Chat: takes tools of type "custom"; else they become functions of one string
  /// What may be left out of a translation, by the name that the refusal gives it ("tools.web_search",
  /// "context_management"): an operator's decision, still noted each time.
  std::vector<std::string> may_drop;
};

/// How a tool's name left, when it could not leave as it was; needed to write the reply's calls
/// (translate.h).
struct RenamedTool {
  std::string sent;   ///< the name in the request
  std::string name;   ///< the name the caller knows
  std::string space;  ///< its namespace, may be empty
  bool custom = false;
};

struct Written {
  std::string body;
  std::vector<std::string>
      notes;  ///< one sentence for each hint that was left out or changed; meaning never is
  std::vector<RenamedTool> renamed;
};

struct HttpAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  ///< content-type among them
  std::string body;
};

/// Reads a streamed reply. Feed the body's bytes as they arrive, in any pieces; call finish() when the
/// connection ends. Exactly one of Finished, Failed, Cut comes out in the end. A server that answers a whole
/// JSON reply or an HTML page instead of a stream is understood as that. Never throws, never holds more than
/// one event's bytes plus what parallel calls need.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  void feed(std::string_view bytes, std::vector<Event>& out);
  void finish(std::vector<Event>& out);

  /// One of Finished, Failed, Cut has been handed out.
  [[nodiscard]] bool ended() const { return m_ended; }
  /// The reply said how it stopped; its usage is settled as complete even if the connection broke after that.
  [[nodiscard]] bool complete() const { return m_complete; }
  [[nodiscard]] const UsageMeter& meter() const { return m_meter; }
  /// Bytes of text, thinking, arguments received so far: what an estimate of a cut reply's output rests on.
  [[nodiscard]] std::int64_t output_bytes() const { return m_output_bytes; }

 protected:
  using Events = std::vector<Event>;
  explicit StreamReader(FormatId format) : m_meter(format), m_format(format) {}

  virtual void on_event(const SseEvent& event, const View& root, Events& out) = 0;
  /// The connection ended without the format's end mark. True when the reply was whole nevertheless.
  virtual bool whole_at_end(Events& out) = 0;
  /// A data line that is no JSON; true when the format knows it ("[DONE]").
  virtual bool on_word(std::string_view /*data*/, Events& /*out*/) { return false; }

  void start(std::string id, std::string model, Events& out);  ///< only the first call counts
  int start_part(Part head, Events& out);
  void delta(int part, DeltaField field, std::string_view text, Events& out);
  void end_part(int part, Events& out);  ///< a second call does nothing
  void finished(StopReason stop, std::string stop_text, Events& out);
  void failed(ApiError error, Events& out);
  void cut(std::string reason, Events& out);
  void set_complete() { m_complete = true; }
  [[nodiscard]] bool any_calls() const { return m_calls; }
  [[nodiscard]] const std::string& reply_id() const { return m_id; }

  UsageMeter m_meter;

 private:
  void on_sse(const SseEvent& event, Events& out);
  void read_whole(Events& out);

  FormatId m_format;
  SseDecoder m_decoder;
  enum class Shape { unknown, stream, json, html } m_shape = Shape::unknown;
  std::string m_whole;  ///< a body that is no stream
  std::string m_id;
  std::vector<bool> m_open;
  std::int64_t m_output_bytes = 0;
  bool m_started = false;
  bool m_ended = false;
  bool m_complete = false;
  bool m_calls = false;
};

struct StreamOptions {
  std::string model;  ///< told to the client; empty: the upstream's
  std::int64_t created =
      0;  ///< seconds since 1970, from the caller's clock; formats that have the field show it
  bool usage_chunk = true;  ///< Chat: the client asked for the usage chunk; naive ones crash on it
};

/// Writes a streamed reply: hand over the events in order, each appends its bytes.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  StreamWriter() = default;
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;
  /// A part that the format cannot say ends the stream with an error that names it.
  virtual void write(const Event& event, std::string& out) = 0;
};

struct Format {
  FormatId id;
  std::string_view name;
  std::string_view path;  ///< after the base URL: "/chat/completions"
  Result<Request> (*read_request)(std::string body);
  Result<Written> (*write_request)(const Request& request, const Target& target);
  /// `invalid` when the body is no reply of this format; a body that holds an error says that error.
  Result<Reply> (*read_reply)(std::string body);
  Result<std::string> (*write_reply)(const Reply& reply, const StreamOptions& options);
  std::unique_ptr<StreamReader> (*reader)();
  std::unique_ptr<StreamWriter> (*writer)(const StreamOptions& options);
  HttpAnswer (*write_error)(const ApiError& error);
};

[[nodiscard]] std::span<const Format> formats();
[[nodiscard]] const Format& format(FormatId id);

/// Any provider's error body, JSON in the known forms, HTML or nothing. `status` 0: found inside a stream.
[[nodiscard]] ApiError read_error(int status, std::string_view body);
[[nodiscard]] ApiError read_error(int status, const View& root);

/// The answer that makes a dialect's client stop at once instead of trying again: measured with Codex 0.171
/// and Claude Code 2.1.332 (other versions may differ, so keep it under test with real clients). chat,
/// messages: 402 with x-should-retry: false; responses: 400 with code budget_exceeded. Never Retry-After.
[[nodiscard]] HttpAnswer stop_answer(FormatId client, const std::string& message);

// The table's rows, one a format.
extern const Format k_chat;
extern const Format k_responses;
extern const Format k_messages;

}  // namespace tunesmith::wire
