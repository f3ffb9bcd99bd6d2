#include "wire/sse.h"

#include <fmt/format.h>

#include <charconv>

namespace tunesmith::wire {

Status SseDecoder::feed(std::string_view bytes, const Sink& sink) {
  if (m_dead) return tl::unexpected<Error>(*m_dead);
  while (!bytes.empty()) {
    if (m_skip_lf) {
      m_skip_lf = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (m_line.size() + piece.size() > m_limits.line_bytes) {
      m_dead = Error{ErrorCode::invalid,
                     fmt::format("a line of the event stream is longer than {} bytes", m_limits.line_bytes),
                     "",
                     {"stream", 0, 0, ""}};
      return tl::unexpected<Error>(*m_dead);
    }
    if (end == std::string_view::npos) {
      m_line += piece;
      return {};
    }
    m_skip_lf = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    Status status;
    if (m_line.empty()) {
      status = line(piece, sink);
    } else {
      m_line += piece;
      const std::string whole = std::move(m_line);
      m_line.clear();
      status = line(whole, sink);
    }
    if (!status) {
      m_dead = status.error();
      return status;
    }
  }
  return {};
}

Status SseDecoder::line(std::string_view text, const Sink& sink) {
  if (m_first_line) {
    m_first_line = false;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  }
  if (text.empty()) {
    dispatch(sink);
    return {};
  }
  const std::size_t colon = text.find(':');
  if (colon == 0) return {};  // a comment
  const std::string_view name = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  m_in_event = true;
  if (name == "data") {
    if (m_event.data.size() + value.size() + 1 > m_limits.event_bytes) {
      return fail(ErrorCode::invalid,
                  fmt::format("an event of the stream is longer than {} bytes", m_limits.event_bytes), "",
                  {"stream", 0, 0, ""});
    }
    if (m_has_data) m_event.data += '\n';
    m_has_data = true;
    m_event.data += value;
  } else if (name == "event") {
    m_event.event = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) m_event.id = value;
  } else if (name == "retry") {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem == std::errc() && end == value.data() + value.size() && number >= 0 && value[0] != '-') {
      m_event.retry_ms = number;
    }
  }
  return {};
}

void SseDecoder::dispatch(const Sink& sink) {
  if (m_has_data) sink(m_event);
  m_event.event.clear();
  m_event.data.clear();
  m_event.retry_ms.reset();
  m_has_data = false;
  m_in_event = false;
}

SseDecoder::End SseDecoder::finish(const Sink& sink) {
  const bool cut = !m_line.empty() || m_in_event;
  if (!m_dead) {
    const std::string rest = std::move(m_line);
    const bool whole = rest.empty() || line(rest, sink).has_value();
    if (whole && m_has_data) {
      m_event.unterminated = true;
      sink(m_event);
    }
  }
  *this = SseDecoder(m_limits);
  return cut ? End::cut : End::clean;
}

void sse_encode(std::string_view event, std::string_view data, std::string& out) {
  if (!event.empty()) {
    out += "event: ";
    out += event;
    out += '\n';
  }
  while (true) {
    const std::size_t end = data.find_first_of("\r\n");
    out += "data: ";
    out += data.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) break;
    data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  out += '\n';
}

void sse_comment(std::string_view text, std::string& out) {
  out += ": ";
  for (const char c : text) out += c == '\r' || c == '\n' ? ' ' : c;
  out += "\n\n";
}

}  // namespace tunesmith::wire
