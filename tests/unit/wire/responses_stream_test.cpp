#include <gtest/gtest.h>

#include "support/wire_streams.h"
#include "wire/responses.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::figures;
using test::hear;
using test::stream_of;

namespace {

const std::string k_created =
    R"({"type":"response.created","response":{"id":"r1","model":"m","status":"in_progress","output":[]}})";
const std::string k_usage =
    R"("usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":107})";

std::string completed(const std::string& output = "[]") {
  return R"({"type":"response.completed","response":{"id":"r1","model":"m","status":"completed","output":)" +
         output + "," + k_usage + "}}";
}
std::string added(int index, const std::string& item) {
  return fmt::format(R"({{"type":"response.output_item.added","output_index":{},"item":{}}})", index, item);
}
std::string done(int index, const std::string& item) {
  return fmt::format(R"({{"type":"response.output_item.done","output_index":{},"item":{}}})", index, item);
}
std::string piece(const std::string& type, int index, const std::string& field, const std::string& text) {
  return fmt::format(R"({{"type":"response.{}","output_index":{},"content_index":0,"{}":{}}})", type, index,
                     field, json_string(text));
}

const std::string k_message =
    R"({"id":"msg","type":"message","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]})";
const std::string k_call =
    R"({"id":"fc","type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"})";
const std::string k_call_begun =
    R"({"id":"fc","type":"function_call","call_id":"a","name":"f","arguments":""})";

test::Heard responses(const std::vector<std::string>& data) {
  return hear(FormatId::responses, stream_of(data, true));
}

}  // namespace

TEST(ResponsesStreamTest, TextReasoningAndCalls) {
  const auto heard = responses(
      {k_created, added(0, R"({"id":"rs","type":"reasoning","summary":[]})"),
       piece("reasoning_summary_text.delta", 0, "delta", "one"),
       R"({"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1})",
       piece("reasoning_summary_text.delta", 0, "delta", "two"),
       done(
           0,
           R"({"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"ENC"})"),
       added(1, R"({"id":"msg","type":"message","role":"assistant","content":[]})"),
       piece("output_text.delta", 1, "delta", "hel"), piece("output_text.delta", 1, "delta", "lo"),
       piece("output_text.done", 1, "text", "hello"), done(1, k_message), added(2, k_call_begun),
       piece("function_call_arguments.delta", 2, "delta", "{\"x\""),
       piece("function_call_arguments.delta", 2, "delta", ":1}"),
       piece("function_call_arguments.done", 2, "arguments", "{\"x\":1}"), done(2, k_call), completed()});
  EXPECT_EQ(heard.parts, "thinking(one\n\ntwo sealed ENC) text(hello) call(a f {\"x\":1})");
  EXPECT_EQ(heard.end, "finished tool_calls");
  EXPECT_EQ(figures(heard.usage), "60 read 40 write 0/0/0/0/0 out 7 thought 2 provider");
}

TEST(ResponsesStreamTest, ArgumentsMayComeOnlyWhenDone) {
  EXPECT_EQ(responses({k_created, added(0, k_call_begun),
                       piece("function_call_arguments.done", 0, "arguments", "{\"x\":1}"), done(0, k_call),
                       completed()})
                .parts,
            R"(call(a f {"x":1}))");
  EXPECT_EQ(responses({k_created, added(0, k_call_begun), done(0, k_call), completed()}).parts,
            R"(call(a f {"x":1}))");
  EXPECT_EQ(responses({k_created, done(0, k_call), completed()}).parts, R"(call(a f {"x":1}))");
  EXPECT_EQ(responses({completed("[" + k_call + "]")}).parts, R"(call(a f {"x":1}))");
  EXPECT_EQ(responses({k_created, added(0, k_call_begun),
                       piece("function_call_arguments.delta", 0, "delta", "{\"x\":1}"),
                       completed("[" + k_call + "]")})
                .parts,
            R"(call(a f {"x":1}))");
}

TEST(ResponsesStreamTest, TextIsNeverToldTwice) {
  EXPECT_EQ(responses({k_created, piece("output_text.delta", 0, "delta", "hello"), completed()}).parts,
            "text(hello)");
  EXPECT_EQ(responses({k_created, piece("output_text.delta", 0, "delta", "hel"), done(0, k_message),
                       completed("[" + k_message + "]")})
                .parts,
            "text(hello)");
  EXPECT_EQ(responses({done(0, k_message), completed("[" + k_message + "]")}).parts, "text(hello)");
}

TEST(ResponsesStreamTest, ItemsWithoutAnIndexAreKnownByTheirId) {
  const auto heard = responses(
      {k_created, R"({"type":"response.output_item.added","item":)" + k_call_begun + "}",
       R"({"type":"response.output_item.added","item":{"id":"fc2","type":"function_call","call_id":"b","name":"g","arguments":""}})",
       R"({"type":"response.function_call_arguments.delta","item_id":"fc","delta":"{\"x\":1}"})",
       R"({"type":"response.function_call_arguments.delta","item_id":"fc2","delta":"{}"})",
       completed("[" + k_call + "]")});
  EXPECT_EQ(heard.parts, R"(call(a f {"x":1}) call(b g {}))");
}

TEST(ResponsesStreamTest, CustomToolsAndNamespacesAreKept) {
  EXPECT_EQ(
      responses(
          {k_created,
           added(0, R"({"id":"c","type":"custom_tool_call","call_id":"a","name":"apply_patch","input":""})"),
           piece("custom_tool_call_input.delta", 0, "delta", "*** Be"),
           piece("custom_tool_call_input.done", 0, "input", "*** Begin"),
           done(
               0,
               R"({"id":"c","type":"custom_tool_call","call_id":"a","name":"apply_patch","input":"*** Begin"})"),
           completed()})
          .parts,
      "custom(a apply_patch *** Begin)");
  EXPECT_EQ(
      responses(
          {done(
               0,
               R"({"type":"function_call","call_id":"a","namespace":"mcp__every","name":"echo","arguments":"{}"})"),
           completed()})
          .parts,
      "call(a mcp__every/echo {})");
}

TEST(ResponsesStreamTest, EndsAreToldApart) {
  EXPECT_EQ(
      responses(
          {k_created,
           R"({"type":"response.incomplete","response":{"id":"r1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}})"})
          .end,
      "finished length");
  EXPECT_EQ(
      responses(
          {k_created,
           R"({"type":"response.incomplete","response":{"id":"r1","status":"incomplete","incomplete_details":{"reason":"content_filter"}}})"})
          .end,
      "finished refusal");
  EXPECT_EQ(
      responses(
          {k_created,
           R"({"type":"response.failed","response":{"id":"r1","status":"failed","error":{"code":"context_length_exceeded","message":"too long"}}})"})
          .end,
      "failed context_too_long: too long");
  EXPECT_EQ(
      responses({k_created, R"({"type":"error","code":"rate_limit_exceeded","message":"slow","param":null})"})
          .end,
      "failed rate_limit: slow");
  EXPECT_EQ(responses({k_created, piece("output_text.delta", 0, "delta", "x")}).end,
            "cut: the stream ended before the reply did");
}

TEST(ResponsesStreamTest, UsageOfAnIncompleteReplyCounts) {
  EXPECT_EQ(
      figures(responses({k_created,
                         R"({"type":"response.incomplete","response":{"id":"r1","status":"incomplete",)" +
                             k_usage + "}}"})
                  .usage),
      "60 read 40 write 0/0/0/0/0 out 7 thought 2 provider");
}

TEST(ResponsesStreamTest, ACutStreamIsNotRefundedWhole) {
  const auto heard = responses({k_created, piece("output_text.delta", 0, "delta", "0123456789")});
  EXPECT_EQ(figures(heard.usage), "1000 read 0 write 0/0/0/0/0 out 500 thought 0 cut");
  EXPECT_EQ(heard.output_bytes, 10);
}

TEST(ResponsesStreamTest, AnyPiecesGiveTheSameEvents) {
  const std::string body =
      stream_of({k_created, piece("output_text.delta", 0, "delta", "é漢😀"),
                 done(0, R"({"type":"message","content":[{"type":"output_text","text":"é漢😀!"}]})"),
                 added(1, k_call_begun), piece("function_call_arguments.delta", 1, "delta", "{\"x\":1}"),
                 done(1, k_call), completed()},
                true);
  const std::string whole = test::transcript(hear(FormatId::responses, body).events);
  EXPECT_NE(whole.find("finished tool_calls"), std::string::npos);
  for (std::size_t at = 1; at < body.size(); ++at) {
    ASSERT_EQ(test::transcript(hear(FormatId::responses, body, {at, body.size()}).events), whole) << at;
  }
  EXPECT_EQ(test::transcript(hear(FormatId::responses, body, {1}).events), whole);
}

TEST(ResponsesWriterTest, SendsTheEventsThatCodexActsOnInTheirOrder) {
  Reply reply;
  reply.id = "r1";
  reply.model = "m";
  reply.parts = {Part{Text{"hi"}}, Part{ToolCall{"a", "f", "", "{}"}}};
  reply.stop = StopReason::tool_calls;
  const auto writer = responses_writer({});
  std::string out;
  for (const Event& event : events_of(reply)) writer->write(event, out);
  std::size_t at = 0;
  for (const char* type :
       {"event: response.created\n", "event: response.output_item.added\n",
        "event: response.content_part.added\n", "event: response.output_text.delta\n",
        "event: response.output_text.done\n", "event: response.output_item.done\n",
        "event: response.output_item.added\n", "event: response.function_call_arguments.delta\n",
        "event: response.function_call_arguments.done\n", "event: response.output_item.done\n",
        "event: response.completed\n"}) {
    const std::size_t found = out.find(type, at);
    ASSERT_NE(found, std::string::npos) << type;
    at = found;
  }
  // Usage without total_tokens makes Codex send again.
  EXPECT_NE(out.find("\"total_tokens\":0", at), std::string::npos);
  EXPECT_EQ(hear(FormatId::responses, out).parts, "text(hi) call(a f {})");
}

TEST(ResponsesReplyTest, WholeAndStreamedSayTheSame) {
  const std::string text =
      R"({"id":"r1","object":"response","model":"m","status":"completed","error":null,"output":[
      {"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"E"},)" +
      k_message + "," + k_call + R"(,{"id":"w","type":"web_search_call","status":"completed"}],)" + k_usage +
      "}";
  const Reply reply = test::must(read_responses_reply(text));
  EXPECT_EQ(describe(reply.parts),
            R"(thinking(hm sealed E) text(hello) call(a f {"x":1}) foreign(responses web_search_call))");
  const auto writer = responses_writer({});
  std::string out;
  for (const Event& event : events_of(reply)) writer->write(event, out);
  EXPECT_EQ(hear(FormatId::responses, out).parts, describe(reply.parts));
  const Reply again = test::must(read_responses_reply(test::must(write_responses_reply(reply, {}))));
  EXPECT_EQ(describe(again.parts), describe(reply.parts));
  EXPECT_EQ(figures(again.usage), figures(reply.usage));
}
