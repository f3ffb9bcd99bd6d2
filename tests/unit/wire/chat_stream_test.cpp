#include <gtest/gtest.h>

#include "support/wire_streams.h"
#include "wire/chat.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::figures;
using test::hear;
using test::stream_of;

namespace {

std::string chunk(const std::string& delta, const std::string& finish = "null") {
  return R"({"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":)" + delta +
         ",\"finish_reason\":" + finish + "}],\"obfuscation\":\"xyz\"}";
}

const std::string k_usage =
    R"({"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}})";

test::Heard chat(const std::vector<std::string>& data) { return hear(FormatId::chat, stream_of(data)); }

}  // namespace

TEST(ChatStreamTest, TextInPieces) {
  const auto heard = chat({chunk(R"({"role":"assistant","content":""})"), chunk(R"({"content":"hel"})"),
                           chunk(R"({"content":"lo"})"), chunk("{}", "\"stop\""), k_usage, "[DONE]"});
  EXPECT_EQ(heard.parts, "text(hello)");
  EXPECT_EQ(heard.end, "finished end");
  EXPECT_EQ(heard.reply.id, "c1");
  EXPECT_EQ(heard.reply.model, "m");
  EXPECT_EQ(heard.output_bytes, 5);
  EXPECT_EQ(figures(heard.usage), "40 read 60 write 0/0/0/0/0 out 7 thought 0 provider");
}

TEST(ChatStreamTest, ParallelCallsMayInterleave) {
  const auto heard = chat(
      {chunk(
           R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]})"),
       chunk(
           R"({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{\"y\""}}]})"),
       chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]})"),
       chunk(
           R"({"tool_calls":[{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":"1}"}}]})"),
       chunk("{}", "\"tool_calls\""), "[DONE]"});
  EXPECT_EQ(heard.parts, R"(call(a f {"x":1}) call(b g {"y":2}))");
  EXPECT_EQ(heard.end, "finished tool_calls");
}

TEST(ChatStreamTest, CallsWithoutAnIndexOrAllWithTheSameAreToldApartById) {
  const char* a = R"({"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]})";
  const char* b = R"({"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{"}}]})";
  const char* rest = R"({"tool_calls":[{"function":{"arguments":"}"}}]})";
  EXPECT_EQ(chat({chunk(a), chunk(b), chunk(rest), "[DONE]"}).parts, "call(a f {}) call(b g {})");
  const char* a0 = R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})";
  const char* b0 = R"({"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]})";
  EXPECT_EQ(chat({chunk(a0), chunk(b0), "[DONE]"}).parts, "call(a f {}) call(b g {})");
}

TEST(ChatStreamTest, ArgumentsMayBeAnObjectAndKeepTheirDigits) {
  EXPECT_EQ(
      chat(
          {chunk(
               R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"n":12345678901234567890123}}}]})"),
           "[DONE]"})
          .parts,
      R"(call(a f {"n":12345678901234567890123}))");
}

TEST(ChatStreamTest, ANameMayComeAfterTheId) {
  EXPECT_EQ(chat({chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{"}}]})"),
                  chunk(R"({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]})"), "[DONE]"})
                .parts,
            "call(a f {})");
}

TEST(ChatStreamTest, ACallWithoutAnIdGetsOne) {
  EXPECT_EQ(
      chat({chunk(R"({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]})"), "[DONE]"})
          .parts,
      "call(call_c1_0 f {})");
}

TEST(ChatStreamTest, ACallWithoutANameIsAFailure) {
  EXPECT_EQ(
      chat({chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]})"), "[DONE]"}).end,
      "failed server: the reply holds a tool call without a name (id \"a\")");
}

TEST(ChatStreamTest, StopBesideACallMeansTheCall) {
  EXPECT_EQ(chat({chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})",
                        "\"stop\""),
                  "[DONE]"})
                .end,
            "finished tool_calls");
}

TEST(ChatStreamTest, ThinkingComesUnderThreeNames) {
  EXPECT_EQ(
      chat({chunk(R"({"reasoning_content":"hm"})"), chunk(R"({"reasoning_content":"m","content":null})"),
            chunk(R"({"content":"ok"})"), "[DONE]"})
          .parts,
      "thinking(hmm) text(ok)");
  EXPECT_EQ(chat({chunk(R"({"reasoning":"hm"})"), chunk(R"({"content":"ok"})"), "[DONE]"}).parts,
            "thinking(hm) text(ok)");
  EXPECT_EQ(chat({chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]})"),
                  chunk(R"({"content":[{"type":"text","text":"ok"}]})"), "[DONE]"})
                .parts,
            "thinking(hm) text(ok)");
}

TEST(ChatStreamTest, ARefusalIsAPartOfItsOwn) {
  EXPECT_EQ(chat({chunk(R"({"refusal":"I "})"), chunk(R"({"refusal":"cannot"})"), chunk("{}", "\"stop\""),
                  "[DONE]"})
                .parts,
            "refusal(I cannot)");
}

TEST(ChatStreamTest, StopReasonsAreCarriedByName) {
  EXPECT_EQ(chat({chunk("{}", "\"length\""), "[DONE]"}).end, "finished length");
  EXPECT_EQ(chat({chunk("{}", "\"content_filter\""), "[DONE]"}).end, "finished refusal");
  EXPECT_EQ(chat({chunk("{}", "\"function_call\""), "[DONE]"}).end, "finished tool_calls");
  EXPECT_EQ(chat({chunk("{}", "\"new_reason\""), "[DONE]"}).end, "finished unknown new_reason");
  EXPECT_EQ(chat({chunk("{}", "\"insufficient_system_resource\""), "[DONE]"}).end,
            "failed overloaded: the provider stopped the reply: insufficient_system_resource");
}

TEST(ChatStreamTest, UsageIsReadWhereverItStands) {
  // In a chunk whose choices are not empty, in one without choices, inside the choice.
  const std::string figures_json = R"("usage":{"prompt_tokens":9,"completion_tokens":2})";
  const auto with =
      chat({R"({"id":"c1","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],)" +
                figures_json + "}",
            "[DONE]"});
  const auto without = chat({chunk(R"({"content":"x"})", "\"stop\""), "{" + figures_json + "}", "[DONE]"});
  const auto inside =
      chat({R"({"id":"c1","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop",)" +
                figures_json + "}]}",
            "[DONE]"});
  for (const auto* heard : {&with, &without, &inside}) {
    EXPECT_EQ(figures(heard->usage), "9 read 0 write 0/0/0/0/0 out 2 thought 0 provider");
    EXPECT_EQ(heard->parts, "text(x)");
  }
}

TEST(ChatStreamTest, MissingUsageIsEstimated) {
  EXPECT_EQ(figures(chat({chunk(R"({"content":"x"})", "\"stop\""), "[DONE]"}).usage),
            "1000 read 0 write 0/0/0/0/0 out 500 thought 0 estimated");
}

TEST(ChatStreamTest, ACutIsToldAndSettledAsSuch) {
  const auto heard = chat({chunk(R"({"content":"half"})")});
  EXPECT_EQ(heard.end, "cut: the stream ended before the reply did");
  EXPECT_EQ(heard.parts, "text(half)");
  EXPECT_EQ(heard.usage.source, UsageSource::cut);
  const auto inside =
      hear(FormatId::chat, stream_of({chunk(R"({"content":"half"})")}) + "data: {\"id\":\"c1\",\"choi");
  EXPECT_EQ(inside.end, "cut: the stream ended inside an event");
  EXPECT_EQ(hear(FormatId::chat, "").end, "cut: the stream ended before it began");
}

TEST(ChatStreamTest, AToldReasonToStopIsEndEnough) {
  const auto heard = chat({chunk(R"({"content":"x"})", "\"stop\""), k_usage});
  EXPECT_EQ(heard.end, "finished end");
  EXPECT_EQ(heard.usage.source, UsageSource::provider);
  // The last line without its blank line.
  EXPECT_EQ(hear(FormatId::chat, stream_of({chunk(R"({"content":"x"})")}) + "data: [DONE]").end,
            "finished end");
}

TEST(ChatStreamTest, HeartbeatsOfEveryKindMeanNothing) {
  EXPECT_EQ(hear(FormatId::chat, ": OPENROUTER PROCESSING\n\ndata:\n\n" +
                                     stream_of({chunk(R"({"content":"x"})", "\"stop\"")}) +
                                     "data: \n\ndata: [DONE] \n\n")
                .end,
            "finished end");
}

TEST(ChatStreamTest, AnErrorInTheStreamIsAFailure) {
  EXPECT_EQ(
      chat({chunk(R"({"content":"x"})"), R"({"error":{"message":"slow down","code":429}})", "[DONE]"}).end,
      "failed rate_limit: slow down");
  EXPECT_EQ(chat({R"({"error":"text alone"})"}).end, "failed server: text alone");
}

TEST(ChatStreamTest, WhatIsNoStreamIsUnderstood) {
  EXPECT_EQ(hear(FormatId::chat, "<!doctype html><html></html>").end,
            "cut: the answer is an HTML page: this address is no model server, or a proxy answered");
  const auto whole =
      hear(FormatId::chat,
           R"({"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},
      "finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}})");
  EXPECT_EQ(whole.parts, "text(hi)");
  EXPECT_EQ(whole.end, "finished end");
  EXPECT_EQ(figures(whole.usage), "9 read 0 write 0/0/0/0/0 out 2 thought 0 provider");
  EXPECT_EQ(hear(FormatId::chat, R"({"error":{"message":"no","type":"insufficient_quota"}})").end,
            "failed billing: no");
  EXPECT_EQ(hear(FormatId::chat, "garbage\n\nmore\n").end, "cut: the stream ended inside an event");
  EXPECT_EQ(chat({"{broken"}).end,
            "cut: an event of the stream is not valid JSON: a key in quotes is missing");
  EXPECT_EQ(chat({"[]"}).end, "cut: an event of the stream is an array, not an object");
}

TEST(ChatStreamTest, AnyPiecesGiveTheSameEvents) {
  const std::string body =
      "\r\n" +
      stream_of(
          {chunk(R"({"role":"assistant","content":""})"), chunk(R"({"reasoning_content":"hmé"})"),
           chunk(R"({"content":"漢字 😀"})"),
           chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]})"),
           chunk("{}", "\"tool_calls\""), k_usage, "[DONE]"});
  const std::string whole = test::transcript(hear(FormatId::chat, body).events);
  for (std::size_t at = 1; at < body.size(); ++at) {
    ASSERT_EQ(test::transcript(hear(FormatId::chat, body, {at, body.size()}).events), whole) << at;
  }
  EXPECT_EQ(test::transcript(hear(FormatId::chat, body, {1}).events), whole);
}

TEST(ChatReplyTest, AWholeReplyIsRead) {
  const auto reply = test::must(
      read_chat_reply(R"({"id":"c","model":"m2","choices":[{"index":0,"message":{"role":"assistant",
      "content":null,"reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":1.10}"}},
      {"id":"b","type":"function","function":{"name":"g","arguments":""}}]},"finish_reason":"tool_calls"}],
      "usage":{"prompt_tokens":3,"completion_tokens":4}})"));
  EXPECT_EQ(describe(reply.parts), R"(thinking(hm) call(a f {"n":1.10}) call(b g ))");
  EXPECT_EQ(reply.stop, StopReason::tool_calls);
  EXPECT_EQ(reply.model, "m2");
  EXPECT_EQ(reply.usage.source, UsageSource::provider);
}

TEST(ChatReplyTest, WhatIsNoReplyIsRefusedInOneLine) {
  EXPECT_EQ(test::complaint(read_chat_reply(R"({"error":{"message":"no"}})")), "the provider answered: no");
  EXPECT_EQ(test::complaint(read_chat_reply("{}")),
            "reply:1:1: this is no reply of Chat Completions: \"choices\" is missing or empty");
  EXPECT_NE(test::complaint(read_chat_reply("<html>")), "accepted");
}

TEST(ChatWriterTest, TheUsageChunkComesOnlyToThoseWhoAsked) {
  Reply reply;
  reply.id = "c";
  reply.model = "m";
  reply.parts = {Part{Text{"hi"}}};
  reply.stop = StopReason::end;
  for (const bool asked : {true, false}) {
    StreamOptions options;
    options.usage_chunk = asked;
    const auto writer = chat_writer(options);
    std::string out;
    for (const Event& event : events_of(reply)) writer->write(event, out);
    EXPECT_EQ(out.find("\"choices\":[]") != std::string::npos, asked);
    EXPECT_TRUE(out.ends_with("data: [DONE]\n\n"));
    EXPECT_EQ(hear(FormatId::chat, out).parts, "text(hi)");
  }
}
