// Streams for the tests of wire/: made from data lines, fed whole or in any pieces.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "wire/format.h"

namespace tunesmith::test {

/// One event a line, each line the JSON of its data. `named`: with the event's type as its name.
inline std::string stream_of(const std::vector<std::string>& data, bool named = false) {
  std::string out;
  for (const std::string& line : data) {
    std::string name;
    if (named) {
      const auto document = wire::Document::parse(line, "test");
      if (document) name = document->root()["type"].str();
    }
    wire::sse_encode(name, line, out);
  }
  return out;
}

/// What a reader makes of a body.
struct Heard {
  std::vector<wire::Event> events;
  wire::Reply reply;
  std::string parts;  ///< describe()
  std::string end;    ///< "finished tool_calls", "failed overloaded: text", "cut: text", "nothing"
  wire::Usage usage;  ///< settled with the estimate 1000 in, 500 out
  std::int64_t output_bytes = 0;
};

inline std::string end_text(const std::vector<wire::Event>& events) {
  std::string text = "nothing";
  int ends = 0;
  for (const wire::Event& event : events) {
    if (const auto* finished = std::get_if<wire::Finished>(&event)) {
      text = fmt::format("finished {}", wire::stop_reason_name(finished->stop));
      if (!finished->stop_text.empty()) text += " " + finished->stop_text;
      ++ends;
    } else if (const auto* failed = std::get_if<wire::Failed>(&event)) {
      text = fmt::format("failed {}: {}", wire::error_kind_name(failed->error.kind), failed->error.message);
      ++ends;
    } else if (const auto* cut = std::get_if<wire::Cut>(&event)) {
      text = "cut: " + cut->reason;
      ++ends;
    }
  }
  return ends > 1 ? "more than one end" : text;
}

/// Feeds pieces of the given sizes over and over (one empty list: all at once).
inline Heard hear(wire::FormatId id, const std::string& body, std::vector<std::size_t> sizes = {}) {
  Heard heard;
  const auto reader = wire::format(id).reader();
  if (sizes.empty()) sizes.push_back(body.size() + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; at < body.size(); ++i) {
    const std::size_t size = sizes[i % sizes.size()];
    reader->feed(std::string_view(body).substr(at, size), heard.events);
    at += size;
  }
  reader->finish(heard.events);
  wire::Collector collector;
  for (const wire::Event& event : heard.events) collector.take(event);
  heard.reply = collector.reply();
  heard.parts = wire::describe(heard.reply.parts);
  heard.end = end_text(heard.events);
  heard.usage = reader->meter().settle(reader->complete(), {1000, 500});
  heard.output_bytes = reader->output_bytes();
  return heard;
}

/// A line an event, deltas of one part joined: what must not depend on the pieces that the bytes came in.
inline std::string transcript(const std::vector<wire::Event>& events) {
  std::string out;
  for (const wire::Event& event : events) {
    if (const auto* start = std::get_if<wire::Start>(&event)) {
      out += fmt::format("start {} {}\n", start->id, start->model);
    } else if (const auto* part = std::get_if<wire::PartStart>(&event)) {
      out += fmt::format("part {} {}\n", part->part, wire::describe({part->head}));
    } else if (const auto* delta = std::get_if<wire::PartDelta>(&event)) {
      out += fmt::format("delta {} {} {}\n", delta->part, static_cast<int>(delta->field), delta->text);
    } else if (const auto* end = std::get_if<wire::PartEnd>(&event)) {
      out += fmt::format("end {}\n", end->part);
    } else if (std::holds_alternative<wire::Ping>(event)) {
      out += "ping\n";
    }
  }
  return out + end_text(events) + "\n";
}

inline std::string figures(const wire::Usage& usage) {
  return fmt::format("{} read {} write {}/{}/{}/{}/{} out {} thought {} {}", usage.input_uncached,
                     usage.cache_read, usage.cache_write.minutes_5, usage.cache_write.minutes_30,
                     usage.cache_write.hour_1, usage.cache_write.hours_12, usage.cache_write.untold,
                     usage.output, usage.reasoning, wire::usage_source_name(usage.source));
}

/// A value or the test ends with its error.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().line());
  return std::move(*result);
}

template <class T>
std::string complaint(const Result<T>& result) {
  return result ? "accepted" : result.error().line();
}

}  // namespace tunesmith::test
