// The neutral form between the formats: requests, replies, streamed events and errors, each with all that any
// of the three can say and this program carries. What only one format understands stays in it as raw JSON
// together with that format's name, so that it can go back there unchanged and be refused by name elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wire/format_id.h"
#include "wire/usage.h"

namespace tunesmith::wire {

/// A field or part that the neutral form does not know.
struct Foreign {
  FormatId format = FormatId::chat;
  std::string name;  ///< field, item or block type: "context_management", "web_search_call"
  std::string raw;   ///< JSON, digits and order as they came
};

// --- parts of a message
// --------------------------------------------------------------------------------------

/// "Cache the prefix up to here": Messages' cache_control. The other formats cache by themselves.
enum class CacheMark { none, minutes_5, hour_1 };

struct Text {
  std::string text;
  CacheMark cache = CacheMark::none;
};

/// Either bytes or an address.
struct Image {
  std::string media_type;  ///< "image/png"; empty for an address
  std::string base64;
  std::string url;
  std::string detail;  ///< OpenAI's low, high, auto; a hint
  CacheMark cache = CacheMark::none;
};

/// Thinking, as far as the provider shows it, with the seal that lets only its own provider read it back.
struct Thinking {
  std::string text;
  std::string seal;  ///< Messages: signature, or data of redacted_thinking; Responses: encrypted_content
  bool redacted = false;
  FormatId sealed_by = FormatId::messages;
  std::string id;  ///< Responses' item id
};

struct Refusal {
  std::string text;
};

struct ToolCall {
  std::string id;
  std::string name;
  std::string space;      ///< Responses' namespace of tools; empty for plain ones
  std::string arguments;  ///< JSON text as the model wrote it; free text for custom tools. Not checked.
  bool custom = false;
  CacheMark cache = CacheMark::none;
};

struct Part;

struct ToolResult {
  std::string call_id;
  std::vector<Part> content;  ///< Text and Image
  bool failed = false;
  bool custom = false;
  CacheMark cache = CacheMark::none;
};

struct Part {
  std::variant<Text, Image, Thinking, Refusal, ToolCall, ToolResult, Foreign> is;
};

// --- request
// -------------------------------------------------------------------------------------------------

enum class Role { system, developer, user, assistant };

/// Tool results are parts of a user's message, as in Messages.
struct Message {
  Role role = Role::user;
  std::vector<Part> parts;
};

struct Tool {
  std::string name;
  std::string space;
  std::string description;
  std::string schema;  ///< JSON Schema of the arguments; for a custom tool its format object, or empty
  std::optional<bool> strict;
  bool custom = false;
  CacheMark cache = CacheMark::none;
  std::vector<Foreign> extra;  ///< further fields of its definition
  std::optional<Foreign>
      foreign;  ///< a tool that the provider runs itself; then nothing above counts but name
};

enum class ToolChoice { unset, automatic, none, required, named };

struct Reasoning {
  enum class Mode { unset, off, on, adaptive };
  Mode mode = Mode::unset;
  std::optional<std::int64_t> budget_tokens;  ///< Messages, older models
  std::string effort;                         ///< "minimal", "low", "medium", "high", …; empty: unset
  std::string summary;                        ///< Responses: how much of it to show
};

struct OutputFormat {
  enum class Kind { unset, text, json_object, json_schema };
  Kind kind = Kind::unset;
  std::string name;
  std::string schema;
  std::optional<bool> strict;
};

struct Request {
  std::string model;
  std::vector<Message> messages;  ///< system messages stand where they stood; Messages' `system` comes first
  std::vector<Tool> tools;
  std::vector<std::pair<std::string, std::string>> spaces;  ///< Responses' namespaces: name, description
  ToolChoice tool_choice = ToolChoice::unset;
  std::string tool_name;  ///< for ToolChoice::named
  std::optional<bool> parallel_tools;
  std::string temperature;  ///< JSON number as written, empty: unset
  std::string top_p;
  std::optional<std::int64_t> output_limit;
  std::vector<std::string> stop;
  bool stream = false;
  bool stream_usage = false;  ///< Chat: the caller asked for the usage chunk
  Reasoning reasoning;
  OutputFormat output_format;
  std::string user;       ///< opaque id of the end user
  std::string cache_key;  ///< OpenAI's prompt_cache_key
  std::string verbosity;
  std::vector<Foreign> extra;  ///< fields that have no place above
};

// --- reply
// ---------------------------------------------------------------------------------------------------

enum class StopReason {
  unknown,
  end,
  length,  ///< output limit
  tool_calls,
  stop_sequence,
  refusal,           ///< the provider's filter or the model's own refusal
  pause,             ///< Messages' pause_turn: send it back to go on
  context_exceeded,  ///< Messages' model_context_window_exceeded
};

struct Reply {
  std::string id;
  std::string model;  ///< the one that answered; price by this one
  std::vector<Part> parts;
  StopReason stop = StopReason::unknown;
  std::string stop_text;  ///< the stop sequence that was hit, or an unknown reason as it was named
  Usage usage;
};

// --- errors
// --------------------------------------------------------------------------------------------------

enum class ErrorKind {
  invalid_request,
  authentication,
  billing,  ///< no money or quota left; waiting does not help
  permission,
  not_found,
  too_large,
  context_too_long,
  rate_limit,  ///< waiting helps
  overloaded,
  timeout,
  server,
  budget,  ///< a limit of ours; written so that the client stops at once
};

struct ApiError {
  int status = 0;  ///< HTTP; 0 inside a stream
  ErrorKind kind = ErrorKind::server;
  std::string message;
  std::string type;  ///< as the provider named it
  std::string code;
  std::string param;
  std::string request_id;
  std::optional<std::int64_t> retry_after_ms;  ///< from the caller, who sees the headers
};

// --- streamed events
// ----------------------------------------------------------------------------------------- Order: Start,
// then parts, then exactly one of Finished, Failed, Cut. Part numbers count from 0 in the order of PartStart;
// parts may be open at the same time (parallel tool calls); each is closed before Finished.

struct Start {
  std::string id;
  std::string model;
  Usage usage;  ///< what is told of the input so far (Messages); source none otherwise
};
/// A part with what is known at its beginning: kind, and for tool calls id and name. Foreign ones come whole.
struct PartStart {
  int part = 0;
  Part head;
};
enum class DeltaField { text, arguments, seal };
struct PartDelta {
  int part = 0;
  DeltaField field = DeltaField::text;
  std::string text;
};
struct PartEnd {
  int part = 0;
};
struct Ping {};
struct Finished {
  StopReason stop = StopReason::unknown;
  std::string stop_text;
  Usage usage;  ///< as told; settle() of the reader's meter for the ledger
};
struct Failed {
  ApiError error;
};
/// The connection ended, or what came was no longer readable, before the reply did.
struct Cut {
  std::string reason;
};

using Event = std::variant<Start, PartStart, PartDelta, PartEnd, Ping, Finished, Failed, Cut>;

/// Gathers events into the reply they spell; a reply that failed or was cut keeps the parts that came.
class Collector {
 public:
  void take(const Event& event);
  [[nodiscard]] const Reply& reply() const { return m_reply; }
  [[nodiscard]] const std::optional<ApiError>& error() const { return m_error; }
  [[nodiscard]] bool cut() const { return m_cut; }

 private:
  Reply m_reply;
  std::optional<ApiError> m_error;
  bool m_cut = false;
};

/// A whole reply as the events of a stream.
[[nodiscard]] std::vector<Event> events_of(const Reply& reply);

/// Passes events on with only one part open at a time: deltas of others wait until the open one ends.
/// Messages and Responses clients expect blocks one after the other, Chat upstreams may interleave parallel
/// calls. Finished closes what is still open; Failed and Cut close nothing, so that no client
/// takes half a part for a whole one.
class Sequencer {
 public:
  [[nodiscard]] std::vector<Event> take(Event event);

 private:
  void release(std::vector<Event>& out);
  int m_open = -1;
  std::vector<std::pair<int, std::vector<Event>>> m_waiting;  ///< by part, in order of their start
};

/// Text in which every part stands, for tests and logs: "text(hi) call(c1 f {\"a\":1})".
[[nodiscard]] std::string describe(const std::vector<Part>& parts);
[[nodiscard]] std::string_view stop_reason_name(StopReason reason);
[[nodiscard]] std::string_view error_kind_name(ErrorKind kind);

}  // namespace tunesmith::wire
