#include <fmt/format.h>

#include "base/text.h"
#include "wire/format.h"

namespace tunesmith::wire {

namespace {

// A body that is no stream is held whole, so it gets a limit: larger than any reply, small beside memory.
constexpr std::size_t k_whole_limit = 32U << 20U;

}  // namespace

void StreamReader::feed(std::string_view bytes, Events& out) {
  if (m_ended) return;
  if (m_shape == Shape::unknown) {
    // No line of an event stream that means anything starts with these two.
    std::size_t at = 0;
    m_whole += bytes;
    while (at < m_whole.size() && std::string_view(" \t\r\n").find(m_whole[at]) != std::string_view::npos)
      ++at;
    if (at == m_whole.size()) {
      if (at > k_whole_limit) cut("the body is nothing but white space", out);
      return;
    }
    m_shape = m_whole[at] == '{' ? Shape::json : m_whole[at] == '<' ? Shape::html : Shape::stream;
    if (m_shape != Shape::stream) return;
    const std::string first = std::move(m_whole);
    m_whole.clear();
    feed(first, out);
    return;
  }
  if (m_shape != Shape::stream) {
    if (m_whole.size() + bytes.size() > k_whole_limit) {
      cut(fmt::format("the body is no event stream and longer than {} bytes", k_whole_limit), out);
      return;
    }
    m_whole += bytes;
    return;
  }
  const auto status = m_decoder.feed(bytes, [&](const SseEvent& event) { on_sse(event, out); });
  if (!status && !m_ended) cut(status.error().message, out);
}

void StreamReader::finish(Events& out) {
  if (m_ended) return;
  if (m_shape == Shape::json || m_shape == Shape::html) {
    read_whole(out);
    return;
  }
  bool inside = false;
  if (m_shape == Shape::stream) {
    inside = m_decoder.finish([&](const SseEvent& event) { on_sse(event, out); }) == SseDecoder::End::cut;
  }
  if (m_ended) return;
  if (whole_at_end(out)) return;
  cut(inside      ? "the stream ended inside an event"
      : m_started ? "the stream ended before the reply did"
                  : "the stream ended before it began",
      out);
}

void StreamReader::on_sse(const SseEvent& event, Events& out) {
  // Empty data keeps connections alive, at some servers.
  const std::string_view word = trim(event.data);
  if (m_ended || word.empty() || on_word(word, out)) return;
  auto document = Document::parse(event.data, "stream");
  if (!document) {
    // What an unterminated event holds is half of something: a cut, said as such by finish().
    if (!event.unterminated) cut(fmt::format("an event of the stream is {}", document.error().message), out);
    return;
  }
  if (!document->root().is_object()) {
    cut(fmt::format("an event of the stream is {}, not an object", document->root().kind_name()), out);
    return;
  }
  on_event(event, document->root(), out);
}

void StreamReader::read_whole(Events& out) {
  if (m_shape == Shape::html) {
    cut("the answer is an HTML page: this address is no model server, or a proxy answered", out);
    return;
  }
  auto document = Document::parse(m_whole, "reply");
  if (!document) {
    cut(fmt::format("the answer is no event stream and {}", document.error().message), out);
    return;
  }
  const View root = document->root();
  if (root["error"].given()) {
    failed(read_error(0, root), out);
    return;
  }
  auto reply = format(m_format).read_reply(m_whole);
  if (!reply) {
    cut(fmt::format("the answer is no event stream and no reply: {}", reply.error().message), out);
    return;
  }
  const View usage = root["usage"];
  m_meter.tell(usage);
  for (const Event& event : events_of(*reply)) {
    if (const auto* begin = std::get_if<Start>(&event)) {
      start(begin->id, begin->model, out);
    } else if (const auto* part = std::get_if<PartStart>(&event)) {
      start_part(part->head, out);
    } else if (const auto* piece = std::get_if<PartDelta>(&event)) {
      delta(piece->part, piece->field, piece->text, out);
    } else if (const auto* end = std::get_if<PartEnd>(&event)) {
      end_part(end->part, out);
    }
  }
  finished(reply->stop, reply->stop_text, out);
}

void StreamReader::start(std::string id, std::string model, Events& out) {
  if (m_started) return;
  m_started = true;
  m_id = id;
  out.emplace_back(Start{std::move(id), std::move(model), m_meter.so_far()});
}

int StreamReader::start_part(Part head, Events& out) {
  start("", "", out);
  const int part = static_cast<int>(m_open.size());
  m_open.push_back(true);
  m_calls = m_calls || std::holds_alternative<ToolCall>(head.is);
  out.emplace_back(PartStart{part, std::move(head)});
  return part;
}

void StreamReader::delta(int part, DeltaField field, std::string_view text, Events& out) {
  if (text.empty() || part < 0 || !m_open[static_cast<std::size_t>(part)]) return;
  if (field != DeltaField::seal) m_output_bytes += static_cast<std::int64_t>(text.size());
  out.emplace_back(PartDelta{part, field, std::string(text)});
}

void StreamReader::end_part(int part, Events& out) {
  if (part < 0 || !m_open[static_cast<std::size_t>(part)]) return;
  m_open[static_cast<std::size_t>(part)] = false;
  out.emplace_back(PartEnd{part});
}

void StreamReader::finished(StopReason stop, std::string stop_text, Events& out) {
  if (m_ended) return;
  start("", "", out);
  for (std::size_t i = 0; i < m_open.size(); ++i) end_part(static_cast<int>(i), out);
  m_ended = m_complete = true;
  Usage usage = m_meter.so_far();
  if (usage.input_told && usage.output_told) usage.source = UsageSource::provider;
  out.emplace_back(Finished{stop, std::move(stop_text), std::move(usage)});
}

void StreamReader::failed(ApiError error, Events& out) {
  if (m_ended) return;
  m_ended = true;
  out.emplace_back(Failed{std::move(error)});
}

void StreamReader::cut(std::string reason, Events& out) {
  if (m_ended) return;
  m_ended = true;
  out.emplace_back(Cut{std::move(reason)});
}

}  // namespace tunesmith::wire
