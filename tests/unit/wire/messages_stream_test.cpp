#include <gtest/gtest.h>

#include "support/wire_streams.h"
#include "wire/messages.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::figures;
using test::hear;
using test::stream_of;

namespace {

const std::string k_start =
    R"({"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"usage":{"input_tokens":4,"cache_read_input_tokens":2455,"output_tokens":1}}})";
const std::string k_stop = R"({"type":"message_stop"})";

std::string begin(int index, const std::string& block) {
  return fmt::format(R"({{"type":"content_block_start","index":{},"content_block":{}}})", index, block);
}
std::string delta(int index, const std::string& piece) {
  return fmt::format(R"({{"type":"content_block_delta","index":{},"delta":{}}})", index, piece);
}
std::string end(int index) { return fmt::format(R"({{"type":"content_block_stop","index":{}}})", index); }
std::string finish(const std::string& reason, const std::string& usage = R"({"output_tokens":23})") {
  return fmt::format(
      R"({{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}},"usage":{}}})", reason,
      usage);
}

test::Heard messages(const std::vector<std::string>& data) {
  return hear(FormatId::messages, stream_of(data, true));
}

}  // namespace

TEST(MessagesStreamTest, AllKindsOfBlocks) {
  const auto heard = messages(
      {k_start, R"({"type":"ping"})", begin(0, R"({"type":"thinking","thinking":"","signature":""})"),
       delta(0, R"({"type":"thinking_delta","thinking":"hm"})"),
       delta(0, R"({"type":"signature_delta","signature":"SIG"})"), end(0),
       begin(1, R"({"type":"redacted_thinking","data":"XYZ"})"), end(1),
       begin(2, R"({"type":"text","text":""})"), delta(2, R"({"type":"text_delta","text":"hel"})"),
       delta(2, R"({"type":"text_delta","text":"lo"})"), end(2),
       begin(3, R"({"type":"tool_use","id":"t1","name":"f","input":{}})"),
       delta(3, R"({"type":"input_json_delta","partial_json":""})"),
       delta(3, R"({"type":"input_json_delta","partial_json":"{\"a\":"})"),
       delta(3, R"({"type":"input_json_delta","partial_json":"1}"})"), end(3), finish("tool_use"), k_stop});
  EXPECT_EQ(heard.parts,
            R"(thinking(hm sealed SIG) thinking(redacted  sealed XYZ) text(hello) call(t1 f {"a":1}))");
  EXPECT_EQ(heard.end, "finished tool_calls");
  EXPECT_EQ(figures(heard.usage), "4 read 2455 write 0/0/0/0/0 out 23 thought 0 provider");
}

TEST(MessagesStreamTest, AnInputWithoutPiecesIsEmptyOrStandsInTheStart) {
  EXPECT_EQ(messages({k_start, begin(0, R"({"type":"tool_use","id":"t","name":"f","input":{}})"), end(0),
                      finish("tool_use"), k_stop})
                .parts,
            "call(t f {})");
  EXPECT_EQ(messages({k_start, begin(0, R"({"type":"tool_use","id":"t","name":"f","input":{"a": 1.50}})"),
                      end(0), finish("tool_use"), k_stop})
                .parts,
            R"(call(t f {"a":1.50}))");
  // Nor does a missing content_block_stop lose it.
  EXPECT_EQ(messages({k_start, begin(0, R"({"type":"tool_use","id":"t","name":"f","input":{"a":1}})"),
                      finish("tool_use"), k_stop})
                .parts,
            R"(call(t f {"a":1}))");
}

TEST(MessagesStreamTest, StopReasonsAreCarriedByName) {
  EXPECT_EQ(messages({k_start, finish("end_turn"), k_stop}).end, "finished end");
  EXPECT_EQ(messages({k_start, finish("max_tokens"), k_stop}).end, "finished length");
  EXPECT_EQ(messages({k_start, finish("refusal"), k_stop}).end, "finished refusal");
  EXPECT_EQ(messages({k_start, finish("pause_turn"), k_stop}).end, "finished pause");
  EXPECT_EQ(messages({k_start, finish("model_context_window_exceeded"), k_stop}).end,
            "finished context_exceeded");
  EXPECT_EQ(messages({k_start, finish("brand_new"), k_stop}).end, "finished unknown brand_new");
  EXPECT_EQ(
      messages(
          {k_start,
           R"({"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"output_tokens":1}})",
           k_stop})
          .end,
      "finished stop_sequence END");
}

TEST(MessagesStreamTest, AnErrorAfterTheHeaderIsAFailure) {
  EXPECT_EQ(
      messages({k_start, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"})
          .end,
      "failed overloaded: Overloaded");
}

TEST(MessagesStreamTest, ACutIsToldAndItsPlaceholderIsNotTheOutput) {
  const auto heard = messages(
      {k_start, begin(0, R"({"type":"text","text":""})"), delta(0, R"({"type":"text_delta","text":"hi"})")});
  EXPECT_EQ(heard.end, "cut: the stream ended before the reply did");
  EXPECT_EQ(heard.parts, "text(hi)");
  EXPECT_EQ(figures(heard.usage), "4 read 2455 write 0/0/0/0/0 out 500 thought 0 cut");
}

TEST(MessagesStreamTest, AStopReasonWithoutMessageStopIsEndEnough) {
  const auto heard = messages({k_start, finish("end_turn")});
  EXPECT_EQ(heard.end, "finished end");
  EXPECT_EQ(heard.usage.source, UsageSource::provider);
}

TEST(MessagesStreamTest, NoUsageAtAllIsEstimated) {
  const auto heard = messages({R"({"type":"message_start","message":{"id":"m","model":"c"}})",
                               R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})", k_stop});
  EXPECT_EQ(heard.end, "finished end");
  EXPECT_EQ(figures(heard.usage), "1000 read 0 write 0/0/0/0/0 out 500 thought 0 estimated");
}

TEST(MessagesStreamTest, UnknownEventsAndPiecesAreIgnoredAndUnknownBlocksKept) {
  const auto heard =
      messages({k_start, R"({"type":"new_event","x":1})",
                begin(0, R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})"),
                delta(0, R"({"type":"input_json_delta","partial_json":"{}"})"), end(0),
                begin(1, R"({"type":"text","text":"a"})"), delta(1, R"({"type":"new_delta","text":"?"})"),
                delta(7, R"({"type":"text_delta","text":"lost"})"), end(1), finish("end_turn"), k_stop});
  EXPECT_EQ(heard.parts, "foreign(messages server_tool_use) text(a)");
  EXPECT_EQ(heard.end, "finished end");
}

TEST(MessagesStreamTest, AnyPiecesGiveTheSameEvents) {
  const std::string body =
      stream_of({k_start, begin(0, R"({"type":"thinking","thinking":"","signature":""})"),
                 delta(0, R"({"type":"thinking_delta","thinking":"é漢"})"),
                 delta(0, R"({"type":"signature_delta","signature":"S"})"), end(0),
                 begin(1, R"({"type":"tool_use","id":"t1","name":"f","input":{}})"),
                 delta(1, R"({"type":"input_json_delta","partial_json":"{\"a\":1}"})"), end(1),
                 finish("tool_use"), k_stop},
                true);
  const std::string whole = test::transcript(hear(FormatId::messages, body).events);
  EXPECT_NE(whole.find("finished tool_calls"), std::string::npos);
  for (std::size_t at = 1; at < body.size(); ++at) {
    ASSERT_EQ(test::transcript(hear(FormatId::messages, body, {at, body.size()}).events), whole) << at;
  }
  EXPECT_EQ(test::transcript(hear(FormatId::messages, body, {1}).events), whole);
}

TEST(MessagesReplyTest, WholeAndStreamedSayTheSame) {
  const std::string text =
      R"({"id":"m1","type":"message","role":"assistant","model":"c","content":[{"type":"thinking","thinking":"hm","signature":"S"},
      {"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"f","input":{"n":12345678901234567890}}],
      "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":4,"cache_read_input_tokens":5,"output_tokens":6}})";
  const Reply reply = test::must(read_messages_reply(text));
  EXPECT_EQ(describe(reply.parts), R"(thinking(hm sealed S) text(hi) call(t f {"n":12345678901234567890}))");
  const auto writer = messages_writer({});
  std::string out;
  for (const Event& event : events_of(reply)) writer->write(event, out);
  const auto heard = hear(FormatId::messages, out);
  EXPECT_EQ(heard.parts, describe(reply.parts));
  EXPECT_EQ(heard.end, "finished tool_calls");
  EXPECT_EQ(figures(heard.usage), figures(reply.usage));
  const Reply again = test::must(read_messages_reply(test::must(write_messages_reply(reply, {}))));
  EXPECT_EQ(describe(again.parts), describe(reply.parts));
}

TEST(MessagesWriterTest, BlocksComeOneAfterTheOther) {
  const auto writer = messages_writer({});
  std::string out;
  ToolCall a{"a", "f"};
  ToolCall b{"b", "g"};
  for (const Event& event : std::vector<Event>{Start{"m", "c", {}}, PartStart{0, {a}}, PartStart{1, {b}},
                                               PartDelta{1, DeltaField::arguments, "{\"y\":"},
                                               PartDelta{0, DeltaField::arguments, "{\"x\":1}"},
                                               PartDelta{1, DeltaField::arguments, "2}"}, PartEnd{0},
                                               PartEnd{1}, Finished{StopReason::tool_calls, "", {}}}) {
    writer->write(event, out);
  }
  const std::size_t first_end = out.find("content_block_stop");
  EXPECT_LT(out.find("{\\\"x\\\":1}"), first_end);
  EXPECT_GT(out.find("\"name\":\"g\""), first_end);
  EXPECT_EQ(hear(FormatId::messages, out).parts, R"(call(a f {"x":1}) call(b g {"y":2}))");
}
