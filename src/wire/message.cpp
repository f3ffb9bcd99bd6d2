#include "wire/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace tunesmith::wire {

namespace {

std::string* field_of(Part& part, DeltaField field) {
  if (auto* text = std::get_if<Text>(&part.is)) return field == DeltaField::text ? &text->text : nullptr;
  if (auto* refusal = std::get_if<Refusal>(&part.is))
    return field == DeltaField::text ? &refusal->text : nullptr;
  if (auto* call = std::get_if<ToolCall>(&part.is))
    return field == DeltaField::arguments ? &call->arguments : nullptr;
  if (auto* thinking = std::get_if<Thinking>(&part.is)) {
    if (field == DeltaField::text) return &thinking->text;
    return field == DeltaField::seal ? &thinking->seal : nullptr;
  }
  return nullptr;
}

/// The part without what its deltas will tell.
Part head_of(const Part& part) {
  Part head = part;
  for (const DeltaField field : {DeltaField::text, DeltaField::arguments, DeltaField::seal}) {
    // A redacted thought comes whole: no format streams its seal.
    const auto* thinking = std::get_if<Thinking>(&head.is);
    if (thinking != nullptr && thinking->redacted) break;
    if (std::string* text = field_of(head, field)) text->clear();
  }
  return head;
}

/// The part an event speaks of, or -1.
int part_of(const Event& event) {
  if (const auto* start = std::get_if<PartStart>(&event)) return start->part;
  if (const auto* delta = std::get_if<PartDelta>(&event)) return delta->part;
  if (const auto* end = std::get_if<PartEnd>(&event)) return end->part;
  return -1;
}

}  // namespace

void Collector::take(const Event& event) {
  if (const auto* start = std::get_if<Start>(&event)) {
    m_reply.id = start->id;
    m_reply.model = start->model;
    m_reply.usage = start->usage;
  } else if (const auto* part = std::get_if<PartStart>(&event)) {
    const auto index = static_cast<std::size_t>(part->part);
    if (m_reply.parts.size() <= index) m_reply.parts.resize(index + 1);
    m_reply.parts[index] = part->head;
  } else if (const auto* delta = std::get_if<PartDelta>(&event)) {
    const auto index = static_cast<std::size_t>(delta->part);
    if (index >= m_reply.parts.size()) return;
    if (std::string* text = field_of(m_reply.parts[index], delta->field)) *text += delta->text;
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    m_reply.stop = finished->stop;
    m_reply.stop_text = finished->stop_text;
    m_reply.usage = finished->usage;
  } else if (const auto* failed = std::get_if<Failed>(&event)) {
    m_error = failed->error;
  } else if (std::holds_alternative<Cut>(event)) {
    m_cut = true;
  }
}

std::vector<Event> events_of(const Reply& reply) {
  std::vector<Event> events;
  events.emplace_back(Start{reply.id, reply.model, reply.usage});
  for (std::size_t i = 0; i < reply.parts.size(); ++i) {
    const int index = static_cast<int>(i);
    Part part = reply.parts[i];
    events.emplace_back(PartStart{index, head_of(part)});
    const auto* thinking = std::get_if<Thinking>(&part.is);
    if (thinking == nullptr || !thinking->redacted) {
      for (const DeltaField field : {DeltaField::text, DeltaField::arguments, DeltaField::seal}) {
        const std::string* text = field_of(part, field);
        if (text != nullptr && !text->empty()) events.emplace_back(PartDelta{index, field, *text});
      }
    }
    events.emplace_back(PartEnd{index});
  }
  events.emplace_back(Finished{reply.stop, reply.stop_text, reply.usage});
  return events;
}

std::vector<Event> Sequencer::take(Event event) {
  std::vector<Event> out;
  const int part = part_of(event);
  if (part < 0) {
    if (std::holds_alternative<Finished>(event)) {
      while (m_open >= 0 || !m_waiting.empty()) {
        if (m_open >= 0) out.emplace_back(PartEnd{m_open});
        m_open = -1;
        release(out);
      }
    }
    out.push_back(std::move(event));
    return out;
  }
  if (m_open < 0 && std::holds_alternative<PartStart>(event)) m_open = part;
  if (part == m_open) {
    const bool end = std::holds_alternative<PartEnd>(event);
    out.push_back(std::move(event));
    if (end) {
      m_open = -1;
      release(out);
    }
    return out;
  }
  const auto queue =
      std::find_if(m_waiting.begin(), m_waiting.end(), [&](const auto& w) { return w.first == part; });
  if (queue != m_waiting.end()) {
    queue->second.push_back(std::move(event));
  } else if (std::holds_alternative<PartStart>(event)) {
    m_waiting.emplace_back(part, std::vector<Event>());
    m_waiting.back().second.push_back(std::move(event));
  }
  return out;
}

void Sequencer::release(std::vector<Event>& out) {
  while (m_open < 0 && !m_waiting.empty()) {
    auto [part, events] = std::move(m_waiting.front());
    m_waiting.erase(m_waiting.begin());
    const bool ended = std::holds_alternative<PartEnd>(events.back());
    for (Event& event : events) out.push_back(std::move(event));
    if (!ended) m_open = part;
  }
}

std::string describe(const std::vector<Part>& parts) {
  std::string out;
  for (const Part& part : parts) {
    if (!out.empty()) out += ' ';
    if (const auto* text = std::get_if<Text>(&part.is)) {
      out += fmt::format("text({})", text->text);
    } else if (const auto* image = std::get_if<Image>(&part.is)) {
      out += image->url.empty() ? fmt::format("image({} {})", image->media_type, image->base64)
                                : fmt::format("image({})", image->url);
    } else if (const auto* thinking = std::get_if<Thinking>(&part.is)) {
      out += fmt::format("thinking({}{}{}{})", thinking->redacted ? "redacted " : "", thinking->text,
                         thinking->seal.empty() ? "" : " sealed ", thinking->seal);
    } else if (const auto* refusal = std::get_if<Refusal>(&part.is)) {
      out += fmt::format("refusal({})", refusal->text);
    } else if (const auto* call = std::get_if<ToolCall>(&part.is)) {
      out += fmt::format("{}({} {}{}{} {})", call->custom ? "custom" : "call", call->id, call->space,
                         call->space.empty() ? "" : "/", call->name, call->arguments);
    } else if (const auto* result = std::get_if<ToolResult>(&part.is)) {
      out += fmt::format("result({}{} {})", result->call_id, result->failed ? " failed" : "",
                         describe(result->content));
    } else if (const auto* foreign = std::get_if<Foreign>(&part.is)) {
      out += fmt::format("foreign({} {})", format_name(foreign->format), foreign->name);
    }
  }
  return out;
}

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::unknown:
      return "unknown";
    case StopReason::end:
      return "end";
    case StopReason::length:
      return "length";
    case StopReason::tool_calls:
      return "tool_calls";
    case StopReason::stop_sequence:
      return "stop_sequence";
    case StopReason::refusal:
      return "refusal";
    case StopReason::pause:
      return "pause";
    case StopReason::context_exceeded:
      return "context_exceeded";
  }
  return "?";
}

std::string_view error_kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_request:
      return "invalid_request";
    case ErrorKind::authentication:
      return "authentication";
    case ErrorKind::billing:
      return "billing";
    case ErrorKind::permission:
      return "permission";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::too_large:
      return "too_large";
    case ErrorKind::context_too_long:
      return "context_too_long";
    case ErrorKind::rate_limit:
      return "rate_limit";
    case ErrorKind::overloaded:
      return "overloaded";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::server:
      return "server";
    case ErrorKind::budget:
      return "budget";
  }
  return "?";
}

}  // namespace tunesmith::wire
