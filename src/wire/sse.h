// Server-sent events, both ways: bytes in any pieces to events, events to bytes.
// Source: WHATWG HTML, "Server-sent events", 9.2.5 (line ends CRLF, LF, CR; one leading BOM; comments;
// multi-line data; id; retry). Kinder in one point: an event that the closing connection left without its
// blank line is handed out, marked, because some servers end so; a reader decides whether it is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tunesmith::wire {

struct SseEvent {
  std::string event;  ///< empty when the stream names none (which means "message")
  std::string data;   ///< lines joined by \n
  std::string id;     ///< the last one seen so far, as the standard has it
  std::optional<std::int64_t> retry_ms;
  bool unterminated = false;  ///< the stream ended inside it

  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

struct SseLimits {
  std::size_t line_bytes = 16U << 20U;   ///< one image in base64 in one line fits
  std::size_t event_bytes = 32U << 20U;  ///< `data` of one event
};

class SseDecoder {
 public:
  using Sink = std::function<void(const SseEvent&)>;
  explicit SseDecoder(SseLimits limits = {}) : m_limits(limits) {}

  /// Calls `sink` for each event that these bytes complete. `invalid` when a limit is passed; the decoder
  /// then refuses everything.
  Status feed(std::string_view bytes, const Sink& sink);

  enum class End {
    clean,  ///< the last byte ended an event (or there was none)
    cut,    ///< the stream ended inside a line or an event
  };
  /// The stream has ended. Hands out what stood unfinished, marked. The decoder is new afterwards.
  End finish(const Sink& sink);

 private:
  Status line(std::string_view text, const Sink& sink);
  void dispatch(const Sink& sink);

  SseLimits m_limits;
  std::string m_line;
  SseEvent m_event;
  bool m_has_data = false;
  bool m_in_event = false;   ///< a field was read since the last blank line
  bool m_skip_lf = false;    ///< the last byte was a CR
  bool m_first_line = true;  ///< a BOM may stand here
  std::optional<Error> m_dead;
};

/// Appends one event; `event` may be empty. Line ends inside `data` become further data lines.
void sse_encode(std::string_view event, std::string_view data, std::string& out);
/// Appends a comment line and a blank line: keeps connections alive, means nothing.
void sse_comment(std::string_view text, std::string& out);

}  // namespace tunesmith::wire
