#include "wire/translate.h"

#include <algorithm>

#include "wire/carry.h"

namespace tunesmith::wire {

Result<TranslatedRequest> translate_request(FormatId from, FormatId to, std::string body,
                                            const Target& target) {
  TS_ASSIGN(const Request request, format(from).read_request(std::move(body)));
  TS_ASSIGN(Written written, format(to).write_request(request, target));
  TranslatedRequest out;
  out.body = std::move(written.body);
  out.notes = std::move(written.notes);
  out.context = {std::move(written.renamed), request.stream, request.stream_usage, request.model};
  return out;
}

Result<std::string> translate_reply(FormatId from, FormatId to, std::string body, const ReplyContext& context,
                                    const StreamOptions& options, Usage* usage) {
  TS_ASSIGN(Reply reply, format(from).read_reply(std::move(body)));
  if (usage != nullptr) *usage = reply.usage;
  ToolNames(context.renamed).restore(reply);
  return format(to).write_reply(reply, options);
}

HttpAnswer translate_error(FormatId to, int status, std::string_view body) {
  return format(to).write_error(read_error(status, body));
}

bool ToolNames::rename(ToolCall& call) const {
  for (const RenamedTool& tool : m_renamed) {
    if (tool.sent != call.name || !call.space.empty()) continue;
    call.name = tool.name;
    call.space = tool.space;
    const bool wrapped = tool.custom && !call.custom;
    call.custom = call.custom || tool.custom;
    return wrapped;
  }
  return false;
}

void ToolNames::restore(Reply& reply) const {
  for (Part& part : reply.parts) {
    auto* call = std::get_if<ToolCall>(&part.is);
    if (call != nullptr && rename(*call)) call->arguments = unwrap_custom(call->arguments);
  }
}

std::vector<Event> ToolNames::restore(Event event) {
  std::vector<Event> out;
  const auto open = [&](int part) {
    return std::find_if(m_wrapped.begin(), m_wrapped.end(), [&](const auto& w) { return w.first == part; });
  };
  if (auto* start = std::get_if<PartStart>(&event)) {
    auto* call = std::get_if<ToolCall>(&start->head.is);
    if (call != nullptr && rename(*call)) m_wrapped.emplace_back(start->part, "");
  } else if (const auto* piece = std::get_if<PartDelta>(&event)) {
    const auto found = open(piece->part);
    if (found != m_wrapped.end()) {
      found->second += piece->text;
      return out;
    }
  } else if (const auto* end = std::get_if<PartEnd>(&event)) {
    const auto found = open(end->part);
    if (found != m_wrapped.end()) {
      std::string text = unwrap_custom(found->second);
      if (!text.empty()) out.emplace_back(PartDelta{end->part, DeltaField::arguments, std::move(text)});
      m_wrapped.erase(found);
    }
  }
  out.push_back(std::move(event));
  return out;
}

StreamTranslator::StreamTranslator(FormatId from, FormatId to, const ReplyContext& context,
                                   StreamOptions options)
    : m_reader(format(from).reader()), m_names(context.renamed) {
  options.usage_chunk = context.stream_usage;
  m_writer = format(to).writer(options);
}

void StreamTranslator::feed(std::string_view bytes, std::string& out) {
  if (m_stopped) return;
  m_reader->feed(bytes, m_events);
  pass(out);
}

void StreamTranslator::finish(std::string& out) {
  if (m_stopped) return;
  m_reader->finish(m_events);
  pass(out);
}

void StreamTranslator::pass(std::string& out) {
  for (Event& event : m_events) {
    m_started = m_started || std::holds_alternative<Start>(event);
    const std::vector<Event> restored = m_names.restore(std::move(event));
    for (const Event& one : restored) m_writer->write(one, out);
  }
  m_events.clear();
}

void StreamTranslator::stop(std::string& out) {
  if (ended()) return;
  m_stopped = true;
  if (!m_started) m_writer->write(Start{}, out);
  m_writer->write(Finished{StopReason::length, "", m_reader->meter().so_far()}, out);
}

}  // namespace tunesmith::wire
