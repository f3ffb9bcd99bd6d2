#include "wire/sse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

using namespace tunesmith;
using namespace tunesmith::wire;

namespace {

struct Decoded {
  std::vector<SseEvent> events;
  SseDecoder::End end = SseDecoder::End::clean;
};

Decoded decode(std::string_view bytes, std::size_t size = 1'000'000) {
  Decoded out;
  SseDecoder decoder;
  const auto sink = [&](const SseEvent& event) { out.events.push_back(event); };
  while (!bytes.empty()) {
    EXPECT_TRUE(decoder.feed(bytes.substr(0, size), sink));
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  out.end = decoder.finish(sink);
  return out;
}

std::string datas(std::string_view bytes) {
  std::string out;
  for (const SseEvent& event : decode(bytes).events) out += "<" + event.data + ">";
  return out;
}

}  // namespace

TEST(SseDecoderTest, LineEndsMayBeAnyOfThree) {
  EXPECT_EQ(datas("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\r\n"), "<a><b><c><d>");
}

TEST(SseDecoderTest, LinesOfDataAreJoined) {
  EXPECT_EQ(datas("data: a\ndata:\ndata:  b\n\n"), "<a\n\n b>");
  EXPECT_EQ(datas("data\n\n"), "<>");
}

TEST(SseDecoderTest, OneLeadingByteOrderMarkIsSkipped) {
  EXPECT_EQ(datas("\xEF\xBB\xBF"
                  "data: a\n\n"),
            "<a>");
  EXPECT_EQ(datas("data: a\n\n\xEF\xBB\xBF"
                  "data: b\n\n"),
            "<a>");
}

TEST(SseDecoderTest, CommentsAndUnknownFieldsMeanNothing) {
  EXPECT_EQ(datas(": ping\n\ndata: a\n:x\nfoo: bar\n\n: bye\n\n"), "<a>");
}

TEST(SseDecoderTest, AnEventWithoutDataIsNone) { EXPECT_EQ(datas("event: ping\n\ndata: a\n\n"), "<a>"); }

TEST(SseDecoderTest, NamesDoNotLeakIntoTheNextEventAndIdsDo) {
  const auto events =
      decode("event: x\nid: 7\nretry: 250\ndata: a\n\ndata: b\n\nid: 8\0z\ndata: c\n\n").events;
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[0].event, "x");
  EXPECT_EQ(events[0].id, "7");
  EXPECT_EQ(events[0].retry_ms, 250);
  EXPECT_EQ(events[1].event, "");
  EXPECT_EQ(events[1].id, "7");
  EXPECT_EQ(events[1].retry_ms, std::nullopt);
}

TEST(SseDecoderTest, AnIdWithANullByteAndARetryThatIsNoNumberAreIgnored) {
  const std::string bytes =
      std::string("id: 1\nid: 2") + '\0' + "\nretry: 1s\nretry: -5\nretry:\ndata: a\n\n";
  const auto events = decode(bytes).events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, "1");
  EXPECT_EQ(events[0].retry_ms, std::nullopt);
}

TEST(SseDecoderTest, EveryWayToCutTheBytesGivesTheSameEvents) {
  const std::string bytes =
      "\xEF\xBB\xBF: hi\r\n\r\nevent: a\r\ndata: {\"x\":\"é\"}\r\ndata: 2\r\n\r\nid: 9\rdata: b\r\rdata: "
      "c\n\n: z\n\nretry: 5\ndata: d";
  const Decoded whole = decode(bytes);
  ASSERT_EQ(whole.events.size(), 4U);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(decode(bytes, size).events, whole.events) << size;
  }
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    std::vector<SseEvent> events;
    SseDecoder decoder;
    const auto sink = [&](const SseEvent& event) { events.push_back(event); };
    EXPECT_TRUE(decoder.feed(std::string_view(bytes).substr(0, at), sink));
    EXPECT_TRUE(decoder.feed(std::string_view(bytes).substr(at), sink));
    decoder.finish(sink);
    EXPECT_EQ(events, whole.events) << at;
  }
}

TEST(SseDecoderTest, ACutStreamIsToldAsSuch) {
  EXPECT_EQ(decode("data: a\n\n").end, SseDecoder::End::clean);
  EXPECT_EQ(decode("").end, SseDecoder::End::clean);
  EXPECT_EQ(decode(": comment\n").end, SseDecoder::End::clean);
  for (const char* bytes : {"data: a\n", "data: a", "da", "event: x\n", "data: a\n\nd"}) {
    EXPECT_EQ(decode(bytes).end, SseDecoder::End::cut) << bytes;
  }
  const auto events = decode("data: a\n\ndata: [DONE]").events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_FALSE(events[0].unterminated);
  EXPECT_TRUE(events[1].unterminated);
  EXPECT_EQ(events[1].data, "[DONE]");
}

TEST(SseDecoderTest, LongLinesAndEventsAreRefusedAndStayRefused) {
  const auto none = [](const SseEvent&) {};
  SseDecoder line(SseLimits{10, 100});
  EXPECT_TRUE(line.feed("data: abcd", none));
  const Status status = line.feed("e", none);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "a line of the event stream is longer than 10 bytes");
  EXPECT_FALSE(line.feed("\n\n", none));
  SseDecoder event(SseLimits{10, 8});
  EXPECT_TRUE(event.feed("data: abc\ndata: d\n", none));
  EXPECT_FALSE(event.feed("data: efg\n", none));
}

TEST(SseEncoderTest, WhatIsWrittenIsReadBack) {
  std::string out;
  sse_encode("", "one", out);
  sse_encode("name", "a\nb\r\nc\rd", out);
  sse_encode("", "", out);
  sse_comment("keep\nalive", out);
  EXPECT_EQ(out,
            "data: one\n\nevent: name\ndata: a\ndata: b\ndata: c\ndata: d\n\ndata: \n\n: keep alive\n\n");
  const auto events = decode(out).events;
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].event, "name");
  EXPECT_EQ(events[1].data, "a\nb\nc\nd");
}
