// What one request cost in tokens, in one form for every provider.
// The trap of traps: OpenAI (both formats) and DeepSeek count cached tokens INSIDE their input figure,
// Anthropic beside it; and a stream of Anthropic tells figures twice, cumulative, to be overwritten and never
// added. Sources: the type files of openai 7.59 and @anthropic-ai/sdk 1.14; DeepSeek's documentation of
// prompt_cache_hit_tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/document.h"
#include "wire/format_id.h"

namespace tunesmith::wire {

/// Written into the cache, by how long it lives there.
struct CacheWrites {
  std::int64_t minutes_5 =
      0;  ///< Anthropic's default, so a write whose life is not told counts here for Messages
  std::int64_t minutes_30 = 0;
  std::int64_t hour_1 = 0;
  std::int64_t hours_12 = 0;
  std::int64_t untold = 0;  ///< OpenAI formats without the details

  [[nodiscard]] std::int64_t total() const { return minutes_5 + minutes_30 + hour_1 + hours_12 + untold; }
  friend bool operator==(const CacheWrites&, const CacheWrites&) = default;
};

enum class UsageSource {
  none,       ///< nothing was told (yet)
  provider,   ///< final figures of the provider
  estimated,  ///< the reply ended well and told none, or not all
  cut,        ///< the reply was cut; figures are the greater of told and estimated
};
[[nodiscard]] std::string_view usage_source_name(UsageSource source);

struct Usage {
  std::int64_t input_uncached = 0;  ///< neither read from nor written to the cache
  std::int64_t cache_read = 0;
  CacheWrites cache_write;
  std::int64_t output = 0;     ///< everything generated, reasoning included
  std::int64_t reasoning = 0;  ///< the part of `output` that was thinking
  UsageSource source = UsageSource::none;
  bool input_told = false;   ///< zero was said, not merely left out
  bool output_told = false;  ///< likewise; in a stream: the final figure
  std::string service_tier;  ///< as told; prices depend on it
  std::string raw;  ///< the provider's usage objects as JSON: the last one, or [first, last] of a stream

  [[nodiscard]] std::int64_t input_total() const { return input_uncached + cache_read + cache_write.total(); }
  [[nodiscard]] std::int64_t total() const { return input_total() + output; }
};

/// Figures of ours, for when the provider tells none. Both are upper bounds of the caller's choosing.
struct UsageEstimate {
  std::int64_t input = 0;
  std::int64_t output = 0;  ///< for what was actually received
};

/// Gathers the usage of one reply. Feed every usage object in the order of arrival, then settle once.
/// Rule of merging: a field that is present and not null overwrites; null and absent keep what was. Figures
/// of one class (cache writes and their split) are overwritten together. Nothing is ever added up.
class UsageMeter {
 public:
  explicit UsageMeter(FormatId format) : m_format(format) {}

  /// `usage` may be absent or null: then nothing happens. Counts below zero and beyond 10^15 are ignored.
  /// Messages: `first` marks message_start, whose output figure is provisional and never final.
  void tell(const View& usage, bool first = false);

  [[nodiscard]] const Usage& so_far() const { return m_usage; }

  /// The figures to write down. `complete`: the reply reached its proper end.
  /// Complete and told: the provider's. Complete, not all told: told where told, else the estimate.
  /// Not complete (cut): output is the greater of told and estimated; input as told unless that was nothing.
  [[nodiscard]] Usage settle(bool complete, const UsageEstimate& estimate) const;

 private:
  void tell_chat(const View& usage);
  void tell_responses(const View& usage);
  void tell_messages(const View& usage, bool first);

  FormatId m_format;
  Usage m_usage;
  std::string m_first_raw;
};

/// One usage object of a whole (not streamed) reply.
[[nodiscard]] Usage read_usage(FormatId format, const View& usage);

/// The usage object in a format's own shape, figures in that format's own meaning (inclusive or not).
[[nodiscard]] std::string write_usage(FormatId format, const Usage& usage);

}  // namespace tunesmith::wire
