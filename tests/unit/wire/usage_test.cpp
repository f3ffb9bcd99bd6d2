#include "wire/usage.h"

#include <gtest/gtest.h>

#include "support/wire_streams.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::figures;
using test::must;

namespace {

Usage whole(FormatId format, const std::string& json) {
  const Document document = must(Document::parse(json, "usage"));
  return read_usage(format, document.root());
}

/// message_start's usage, then those of message_delta.
Usage streamed(const std::vector<std::string>& usages, bool complete = true) {
  UsageMeter meter(FormatId::messages);
  bool first = true;
  for (const std::string& json : usages) {
    const Document document = must(Document::parse(json, "usage"));
    meter.tell(document.root(), first);
    first = false;
  }
  return meter.settle(complete, {1000, 500});
}

Usage chunks(const std::vector<std::string>& usages, bool complete = true) {
  UsageMeter meter(FormatId::chat);
  for (const std::string& json : usages) {
    const Document document = must(Document::parse(json, "usage"));
    meter.tell(document.root());
  }
  return meter.settle(complete, {1000, 500});
}

}  // namespace

TEST(UsageTest, OpenAiCountsTheCacheInsideTheInput) {
  EXPECT_EQ(figures(whole(FormatId::chat,
                          R"({"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,
      "prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":5}})")),
            "40 read 60 write 0/0/0/0/0 out 7 thought 5 provider");
}

TEST(UsageTest, OpenAiCountsCacheWritesInsideTheInputToo) {
  EXPECT_EQ(figures(whole(FormatId::chat, R"({"prompt_tokens":100,"completion_tokens":7,
      "prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}})")),
            "10 read 60 write 0/0/0/0/30 out 7 thought 0 provider");
  EXPECT_EQ(figures(whole(FormatId::responses, R"({"input_tokens":100,"output_tokens":7,"total_tokens":107,
      "input_tokens_details":{"cached_tokens":50,"cache_write_tokens":40,
      "cache_write_tokens_details":{"ttl_30m_tokens":25,"ttl_12h_tokens":10}},
      "output_tokens_details":{"reasoning_tokens":3}})")),
            "10 read 50 write 0/25/0/10/5 out 7 thought 3 provider");
}

TEST(UsageTest, AnthropicCountsTheCacheBesideTheInput) {
  const Usage usage = whole(FormatId::messages, R"({"input_tokens":4,"cache_read_input_tokens":2455,
      "cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},
      "output_tokens":23,"output_tokens_details":{"thinking_tokens":9},"service_tier":"batch"})");
  EXPECT_EQ(figures(usage), "4 read 2455 write 10/0/20/0/0 out 23 thought 9 provider");
  EXPECT_EQ(usage.input_total(), 2489);
  EXPECT_EQ(usage.service_tier, "batch");
}

TEST(UsageTest, ACacheWriteWithoutItsLifeCountsAsFiveMinutes) {
  EXPECT_EQ(figures(whole(FormatId::messages,
                          R"({"input_tokens":4,"cache_creation_input_tokens":30,"output_tokens":2})")),
            "4 read 0 write 30/0/0/0/0 out 2 thought 0 provider");
  // A split that leaves part of the total out.
  EXPECT_EQ(figures(whole(FormatId::messages, R"({"input_tokens":4,"cache_creation_input_tokens":30,
      "cache_creation":{"ephemeral_1h_input_tokens":20},"output_tokens":2})")),
            "4 read 0 write 10/0/20/0/0 out 2 thought 0 provider");
}

TEST(UsageTest, StreamedCacheReadsAreNotBilledAsFreshInput) {
  EXPECT_EQ(figures(streamed({R"({"input_tokens":4,"cache_read_input_tokens":2455,"output_tokens":1})",
                              R"({"output_tokens":23})"})),
            "4 read 2455 write 0/0/0/0/0 out 23 thought 0 provider");
}

TEST(UsageTest, StartAndDeltaAreNeverAdded) {
  const std::string both =
      R"({"input_tokens":12,"cache_read_input_tokens":30,"cache_creation_input_tokens":5,"output_tokens":9})";
  EXPECT_EQ(figures(streamed({both, both})), "12 read 30 write 5/0/0/0/0 out 9 thought 0 provider");
  const std::string plain = R"({"input_tokens":12,"output_tokens":1})";
  EXPECT_EQ(figures(streamed({both, R"({"output_tokens":9})"})),
            "12 read 30 write 5/0/0/0/0 out 9 thought 0 provider");
  EXPECT_EQ(figures(streamed({plain, both})), "12 read 30 write 5/0/0/0/0 out 9 thought 0 provider");
}

TEST(UsageTest, ADeltaThatSplitsThePromptAfterwardsReplacesTheStart) {
  EXPECT_EQ(figures(streamed({R"({"input_tokens":10000,"cache_read_input_tokens":0,"output_tokens":0})",
                              R"({"input_tokens":200,"cache_read_input_tokens":9800,"output_tokens":50})"})),
            "200 read 9800 write 0/0/0/0/0 out 50 thought 0 provider");
}

TEST(UsageTest, NullsInADeltaKeepWhatTheStartTold) {
  EXPECT_EQ(
      figures(streamed(
          {R"({"input_tokens":12,"cache_read_input_tokens":3,"output_tokens":1})",
           R"({"input_tokens":null,"cache_read_input_tokens":null,"cache_creation":null,"output_tokens":9})"})),
      "12 read 3 write 0/0/0/0/0 out 9 thought 0 provider");
}

TEST(UsageTest, TheLastOfSeveralCumulativeOutputsCounts) {
  EXPECT_EQ(figures(streamed({R"({"input_tokens":12,"output_tokens":1})", R"({"output_tokens":9})",
                              R"({"output_tokens":9})", R"({"output_tokens":159})"})),
            "12 read 0 write 0/0/0/0/0 out 159 thought 0 provider");
}

TEST(UsageTest, TheStartsPlaceholderOutputIsNeverFinal) {
  const Usage cut = streamed({R"({"input_tokens":12,"output_tokens":1})"}, false);
  EXPECT_EQ(figures(cut), "12 read 0 write 0/0/0/0/0 out 500 thought 0 cut");
  const Usage untold = streamed({R"({"input_tokens":12,"output_tokens":1})"}, true);
  EXPECT_EQ(figures(untold), "12 read 0 write 0/0/0/0/0 out 500 thought 0 estimated");
}

TEST(UsageTest, DeepSeeksRelaysTellOnlyHitsAndMisses) {
  EXPECT_EQ(figures(whole(FormatId::chat, R"({"prompt_tokens":100,"prompt_cache_hit_tokens":80,
      "prompt_cache_miss_tokens":20,"completion_tokens":5})")),
            "20 read 80 write 0/0/0/0/0 out 5 thought 0 provider");
  // Both fields mirror each other and are not two reads.
  EXPECT_EQ(figures(whole(FormatId::chat, R"({"prompt_tokens":100,"prompt_cache_hit_tokens":80,
      "prompt_tokens_details":{"cached_tokens":80},"completion_tokens":5})")),
            "20 read 80 write 0/0/0/0/0 out 5 thought 0 provider");
}

TEST(UsageTest, UsageInEveryChunkMeansTheLastOne) {
  EXPECT_EQ(figures(chunks({R"({"prompt_tokens":0,"completion_tokens":0})",
                            R"({"prompt_tokens":50,"completion_tokens":1})", "null",
                            R"({"prompt_tokens":50,"completion_tokens":8})", "null"})),
            "50 read 0 write 0/0/0/0/0 out 8 thought 0 provider");
}

TEST(UsageTest, AnExplicitZeroIsNotReplacedByAnEstimate) {
  EXPECT_EQ(figures(chunks({R"({"prompt_tokens":0,"completion_tokens":0})"})),
            "0 read 0 write 0/0/0/0/0 out 0 thought 0 provider");
  EXPECT_EQ(figures(chunks({"null"})), "1000 read 0 write 0/0/0/0/0 out 500 thought 0 estimated");
  EXPECT_EQ(figures(chunks({R"({"prompt_tokens":70})"})),
            "70 read 0 write 0/0/0/0/0 out 500 thought 0 estimated");
}

TEST(UsageTest, ACutReplyIsNeverFree) {
  EXPECT_EQ(figures(chunks({}, false)), "1000 read 0 write 0/0/0/0/0 out 500 thought 0 cut");
  // Zeros that some servers send with every piece are no final figures.
  EXPECT_EQ(figures(chunks({R"({"prompt_tokens":0,"completion_tokens":0})"}, false)),
            "1000 read 0 write 0/0/0/0/0 out 500 thought 0 cut");
  // More was told than estimated.
  EXPECT_EQ(figures(chunks({R"({"prompt_tokens":70,"completion_tokens":900})"}, false)),
            "70 read 0 write 0/0/0/0/0 out 900 thought 0 cut");
}

TEST(UsageTest, CachedMoreThanTheWholeIsCutToTheWhole) {
  EXPECT_EQ(figures(whole(FormatId::chat, R"({"prompt_tokens":100,"completion_tokens":1,
      "prompt_tokens_details":{"cached_tokens":250,"cache_write_tokens":9}})")),
            "0 read 100 write 0/0/0/0/0 out 1 thought 0 provider");
}

TEST(UsageTest, AbsurdCountsAreAsIfAbsent) {
  EXPECT_EQ(whole(FormatId::chat, R"({"prompt_tokens":-5,"completion_tokens":1e300})").source,
            UsageSource::none);
  EXPECT_EQ(whole(FormatId::chat, R"({"prompt_tokens":"5","completion_tokens":2.5})").source,
            UsageSource::none);
  EXPECT_EQ(whole(FormatId::chat, R"([1])").source, UsageSource::none);
}

TEST(UsageTest, ReasoningIsAPartOfTheOutput) {
  EXPECT_EQ(whole(FormatId::responses,
                  R"({"input_tokens":1,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":9}})")
                .reasoning,
            5);
}

TEST(UsageTest, TheProvidersJsonIsKept) {
  EXPECT_EQ(whole(FormatId::chat,
                  R"({"prompt_tokens":1, "completion_tokens":2,"new_field":{"x":12345678901234567890123}})")
                .raw,
            R"({"prompt_tokens":1,"completion_tokens":2,"new_field":{"x":12345678901234567890123}})");
  EXPECT_EQ(streamed({R"({"input_tokens":12})", R"({"output_tokens":9})"}).raw,
            R"([{"input_tokens":12},{"output_tokens":9}])");
}

TEST(UsageTest, EachFormatWritesItsOwnMeaningAndReadsItBack) {
  Usage usage;
  usage.input_uncached = 40;
  usage.cache_read = 60;
  usage.cache_write.minutes_5 = 10;
  usage.cache_write.hour_1 = 5;
  usage.output = 7;
  usage.reasoning = 2;
  EXPECT_EQ(
      write_usage(FormatId::chat, usage),
      R"({"prompt_tokens":115,"completion_tokens":7,"total_tokens":122,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":15},"completion_tokens_details":{"reasoning_tokens":2}})");
  EXPECT_EQ(
      write_usage(FormatId::messages, usage),
      R"({"input_tokens":40,"cache_creation_input_tokens":15,"cache_read_input_tokens":60,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":5},"output_tokens":7,"output_tokens_details":{"thinking_tokens":2}})");
  for (const FormatId format : {FormatId::chat, FormatId::responses, FormatId::messages}) {
    const Usage back = whole(format, write_usage(format, usage));
    EXPECT_EQ(back.input_total(), usage.input_total());
    EXPECT_EQ(back.cache_read, 60);
    EXPECT_EQ(back.cache_write.total(), 15);
    EXPECT_EQ(back.input_uncached, 40);
    EXPECT_EQ(back.reasoning, 2);
  }
}

TEST(UsageTest, ResponsesAlwaysTellTheTotal) {
  EXPECT_NE(write_usage(FormatId::responses, Usage{}).find("\"total_tokens\":0"), std::string::npos);
}
