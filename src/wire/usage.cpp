#include "wire/usage.h"

#include <algorithm>
#include <optional>

namespace tunesmith::wire {

namespace {

/// A count that can be true; anything else is as if absent.
std::optional<std::int64_t> count(const View& value) {
  constexpr std::int64_t k_absurd = 1'000'000'000'000'000;
  const auto number = value.integer();
  if (!number || *number < 0 || *number > k_absurd) return std::nullopt;
  return number;
}

/// An input figure that includes the cached part. A cached part larger than the whole is an upstream's
/// mistake; the whole is what gets billed, so the parts are cut to fit.
void split_inclusive(Usage& usage, std::int64_t input) {
  usage.cache_read = std::min(usage.cache_read, input);
  std::int64_t room = input - usage.cache_read;
  for (std::int64_t* part :
       {&usage.cache_write.minutes_5, &usage.cache_write.minutes_30, &usage.cache_write.hour_1,
        &usage.cache_write.hours_12, &usage.cache_write.untold}) {
    *part = std::min(*part, room);
    room -= *part;
  }
  usage.input_uncached = room;
  usage.input_told = true;
}

/// OpenAI's cache writes: a total and perhaps its split by life.
void read_inclusive_writes(const View& details, CacheWrites& writes) {
  const auto total = count(details["cache_write_tokens"]);
  const View split = details["cache_write_tokens_details"];
  if (!total && !split.given()) return;
  writes = {};
  writes.minutes_30 = count(split["ttl_30m_tokens"]).value_or(0);
  writes.hours_12 = count(split["ttl_12h_tokens"]).value_or(0);
  writes.untold = std::max<std::int64_t>(0, total.value_or(0) - writes.minutes_30 - writes.hours_12);
}

}  // namespace

std::string_view usage_source_name(UsageSource source) {
  switch (source) {
    case UsageSource::none:
      return "none";
    case UsageSource::provider:
      return "provider";
    case UsageSource::estimated:
      return "estimated";
    case UsageSource::cut:
      return "cut";
  }
  return "?";
}

void UsageMeter::tell(const View& usage, bool first) {
  if (!usage.is_object()) return;
  switch (m_format) {
    case FormatId::chat:
      tell_chat(usage);
      break;
    case FormatId::responses:
      tell_responses(usage);
      break;
    case FormatId::messages:
      tell_messages(usage, first);
      break;
  }
  const View tier = usage["service_tier"];
  if (tier.is_string()) m_usage.service_tier = tier.str();
  std::string raw;
  Writer(raw).raw(usage.raw());
  if (first) {
    m_first_raw = raw;
    m_usage.raw = raw;
  } else {
    m_usage.raw = m_first_raw.empty() ? raw : "[" + m_first_raw + "," + raw + "]";
  }
}

void UsageMeter::tell_chat(const View& usage) {
  const View details = usage["prompt_tokens_details"];
  const auto hit = count(usage["prompt_cache_hit_tokens"]);
  const auto miss = count(usage["prompt_cache_miss_tokens"]);
  auto input = count(usage["prompt_tokens"]);
  if (!input && hit && miss) input = *hit + *miss;
  if (input) {
    // DeepSeek's relays tell hits only in its own field; where both stand, they mirror each other.
    m_usage.cache_read = std::max(hit.value_or(0), count(details["cached_tokens"]).value_or(0));
    m_usage.cache_write = {};
    read_inclusive_writes(details, m_usage.cache_write);
    split_inclusive(m_usage, *input);
  }
  if (const auto output = count(usage["completion_tokens"])) {
    m_usage.output = *output;
    m_usage.output_told = true;
    m_usage.reasoning =
        std::min(*output, count(usage["completion_tokens_details"]["reasoning_tokens"]).value_or(0));
  }
}

void UsageMeter::tell_responses(const View& usage) {
  const View details = usage["input_tokens_details"];
  if (const auto input = count(usage["input_tokens"])) {
    m_usage.cache_read = count(details["cached_tokens"]).value_or(0);
    m_usage.cache_write = {};
    read_inclusive_writes(details, m_usage.cache_write);
    split_inclusive(m_usage, *input);
  }
  if (const auto output = count(usage["output_tokens"])) {
    m_usage.output = *output;
    m_usage.output_told = true;
    m_usage.reasoning =
        std::min(*output, count(usage["output_tokens_details"]["reasoning_tokens"]).value_or(0));
  }
}

void UsageMeter::tell_messages(const View& usage, bool first) {
  if (const auto input = count(usage["input_tokens"])) {
    m_usage.input_uncached = *input;
    m_usage.input_told = true;
  }
  if (const auto read = count(usage["cache_read_input_tokens"])) m_usage.cache_read = *read;
  const View split = usage["cache_creation"];
  const auto written = count(usage["cache_creation_input_tokens"]);
  if (written || split.given()) {
    const std::int64_t hour = count(split["ephemeral_1h_input_tokens"]).value_or(0);
    const std::int64_t five = count(split["ephemeral_5m_input_tokens"]).value_or(0);
    m_usage.cache_write = {};
    m_usage.cache_write.hour_1 = hour;
    // What the split leaves out lives for the default five minutes.
    m_usage.cache_write.minutes_5 = std::max(five, written.value_or(0) - hour);
  }
  if (const auto output = count(usage["output_tokens"])) {
    m_usage.output = *output;
    m_usage.output_told = !first;
    if (m_usage.reasoning > *output) m_usage.reasoning = *output;
  }
  if (const auto thinking = count(usage["output_tokens_details"]["thinking_tokens"])) {
    m_usage.reasoning = std::min(*thinking, m_usage.output);
  }
}

Usage UsageMeter::settle(bool complete, const UsageEstimate& estimate) const {
  Usage usage = m_usage;
  if (complete && usage.input_told && usage.output_told) {
    usage.source = UsageSource::provider;
    return usage;
  }
  usage.source = complete ? UsageSource::estimated : UsageSource::cut;
  // Figures told before a cut may be partial (some upstreams send zeros with every piece): a floor, no more.
  // The prompt's figure cannot grow, so one that is not zero stands.
  if (!usage.input_told || (!complete && usage.input_total() == 0)) {
    const std::int64_t cached = usage.cache_read + usage.cache_write.total();
    usage.input_uncached = std::max(usage.input_uncached, estimate.input - cached);
  }
  if (!complete || !usage.output_told) usage.output = std::max(usage.output, estimate.output);
  return usage;
}

Usage read_usage(FormatId format, const View& usage) {
  UsageMeter meter(format);
  meter.tell(usage);
  Usage read = meter.so_far();
  if (read.input_told && read.output_told) read.source = UsageSource::provider;
  return read;
}

std::string write_usage(FormatId format, const Usage& usage) {
  std::string out;
  Writer w(out);
  w.open('{');
  const CacheWrites& writes = usage.cache_write;
  switch (format) {
    case FormatId::chat:
      w.field("prompt_tokens", usage.input_total()).field("completion_tokens", usage.output);
      w.field("total_tokens", usage.total());
      w.key("prompt_tokens_details").open('{').field("cached_tokens", usage.cache_read);
      if (writes.total() > 0) w.field("cache_write_tokens", writes.total());
      w.close('}');
      w.key("completion_tokens_details").open('{').field("reasoning_tokens", usage.reasoning).close('}');
      break;
    case FormatId::responses:
      w.field("input_tokens", usage.input_total());
      w.key("input_tokens_details").open('{').field("cached_tokens", usage.cache_read);
      if (writes.total() > 0) {
        w.field("cache_write_tokens", writes.total());
        if (writes.minutes_30 + writes.hours_12 > 0) {
          w.key("cache_write_tokens_details").open('{');
          w.field("ttl_30m_tokens", writes.minutes_30).field("ttl_12h_tokens", writes.hours_12).close('}');
        }
      }
      w.close('}').field("output_tokens", usage.output);
      w.key("output_tokens_details").open('{').field("reasoning_tokens", usage.reasoning).close('}');
      // Without total_tokens Codex cannot parse the event and sends the request again.
      w.field("total_tokens", usage.total());
      break;
    case FormatId::messages:
      w.field("input_tokens", usage.input_uncached);
      w.field("cache_creation_input_tokens", writes.total())
          .field("cache_read_input_tokens", usage.cache_read);
      if (writes.total() > 0) {
        // Messages knows two lives; longer ones are told as the hour, the rest as five minutes.
        const std::int64_t hour = writes.hour_1 + writes.hours_12;
        w.key("cache_creation").open('{').field("ephemeral_5m_input_tokens", writes.total() - hour);
        w.field("ephemeral_1h_input_tokens", hour).close('}');
      }
      w.field("output_tokens", usage.output);
      if (usage.reasoning > 0) {
        w.key("output_tokens_details").open('{').field("thinking_tokens", usage.reasoning).close('}');
      }
      break;
  }
  w.close('}');
  return out;
}

}  // namespace tunesmith::wire
