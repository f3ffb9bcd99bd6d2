#include <gtest/gtest.h>

#include "support/wire_streams.h"
#include "wire/chat.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::complaint;
using test::must;

namespace {

std::string first_complaint(const std::string& body) { return complaint(read_chat_request(body)); }

Written again(const std::string& body, const Target& target = {}) {
  return must(write_chat_request(must(read_chat_request(body)), target));
}

}  // namespace

TEST(ChatRequestTest, WhatIsReadIsWrittenBack) {
  const std::string body =
      R"({"model":"m","messages":[{"role":"system","content":"rules"},{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890.10}"}},)"
      R"({"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"}],)"
      R"("tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"n":{"type":"number","maximum":1e400}}},"strict":true}},)"
      R"({"type":"function","function":{"name":"g"}}],"tool_choice":"required","parallel_tool_calls":false,"max_tokens":7,"temperature":0.20,"top_p":1.0,"stop":["x"],)"
      R"("stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low","response_format":{"type":"json_schema","json_schema":{"name":"r","schema":{"a":1.50},"strict":true}},)"
      R"("user":"u","verbosity":"low","seed":12345678901234567890123})";
  const Written written = again(body);
  EXPECT_EQ(written.body, body);
  EXPECT_TRUE(written.notes.empty());
}

TEST(ChatRequestTest, TheOutputLimitGoesUnderTheModelsKey) {
  Target target;
  target.output_limit_key = "max_completion_tokens";
  EXPECT_EQ(again(R"({"model":"m","messages":[],"max_tokens":9})", target).body,
            R"({"model":"m","messages":[],"max_completion_tokens":9})");
  EXPECT_EQ(again(R"({"model":"m","messages":[],"max_completion_tokens":9})").body,
            R"({"model":"m","messages":[],"max_tokens":9})");
}

TEST(ChatRequestTest, AModelThatRefusesATemperatureGetsNoneAndItIsNoted) {
  Target target;
  target.temperature = false;
  const Written written = again(R"({"model":"m","messages":[],"temperature":0.2})", target);
  EXPECT_EQ(written.body, R"({"model":"m","messages":[]})");
  ASSERT_EQ(written.notes.size(), 1U);
  EXPECT_NE(written.notes[0].find("temperature"), std::string::npos);
}

TEST(ChatRequestTest, UsageIsAskedForInEveryStreamUnlessTheServerIsTooOld) {
  const std::string body = R"({"model":"m","messages":[],"stream":true})";
  EXPECT_NE(again(body).body.find(R"("stream_options":{"include_usage":true})"), std::string::npos);
  Target old;
  old.stream_usage = false;
  EXPECT_EQ(again(body, old).body, body);
  EXPECT_FALSE(must(read_chat_request(body)).stream_usage);
}

TEST(ChatRequestTest, TheModelMayBeReplaced) {
  Target target;
  target.model = "other";
  EXPECT_EQ(again(R"({"model":"m","messages":[]})", target).body, R"({"model":"other","messages":[]})");
}

TEST(ChatRequestTest, BadRequestsGetOneClearLine) {
  EXPECT_EQ(first_complaint("[]"), "request:1:1: a request must be an object, not an array");
  EXPECT_EQ(first_complaint(R"({"messages":[]})"),
            "request:1:1: the key \"model\" is missing; add \"model\"");
  EXPECT_EQ(first_complaint(R"({"model":"m"})"), "request:1:1: \"messages\" must be an array");
  EXPECT_EQ(first_complaint("{\"model\":\"m\",\n\"messages\":[{\"role\":\"robot\"}]}"),
            "request:2:21: /messages/0/role: the role \"robot\" is not known; use system, developer, user, "
            "assistant or tool");
  EXPECT_EQ(first_complaint(R"({"model":"m","messages":[7]})"),
            "request:1:26: /messages/0: must be an object, not a number");
  EXPECT_NE(first_complaint(R"({"model":"m","messages":[{"role":"tool","content":"x"}]})")
                .find("\"tool_call_id\" is missing"),
            std::string::npos);
  EXPECT_NE(first_complaint(R"({"model":"m","messages":[],"max_tokens":0})").find("at least 1"),
            std::string::npos);
  EXPECT_NE(first_complaint(R"({"model":"m","messages":[{"role":"assistant","function_call":{"name":"f"}}]})")
                .find("use tool_calls"),
            std::string::npos);
  EXPECT_NE(first_complaint(R"({"model":"m","model":"n","messages":[]})").find("stands twice"),
            std::string::npos);
}

TEST(ChatRequestTest, ACallWithoutResultOrAResultWithoutCallIsRefusedByItsId) {
  const std::string call =
      R"({"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]})";
  const std::string result = R"({"role":"tool","tool_call_id":"a","content":"1"})";
  const auto write = [&](const std::string& messages) {
    return complaint(
        write_chat_request(must(read_chat_request(R"({"model":"m","messages":[)" + messages + "]}")), {}));
  };
  EXPECT_EQ(write(call + "," + result), "accepted");
  EXPECT_NE(write(call).find("the tool call \"a\" has no result"), std::string::npos);
  EXPECT_NE(write(result).find("answers the call \"a\", which is not in the request"), std::string::npos);
  EXPECT_NE(write(call + "," + result + "," + result).find("more than one result"), std::string::npos);
}

TEST(ChatRequestTest, ResultsMoveBehindTheirCallsAndIdsMayComeAgain) {
  Request request;
  request.model = "m";
  const auto call = [](const char* id, const char* arguments) {
    return Part{ToolCall{id, "f", "", arguments}};
  };
  const auto result = [](const char* id, const char* text) {
    return Part{ToolResult{id, {Part{Text{text}}}}};
  };
  request.messages = {{Role::assistant, {call("a", "{}")}},
                      {Role::user, {Part{Text{"meanwhile"}}}},
                      {Role::user, {result("a", "one")}},
                      {Role::assistant, {call("a", "{}")}},
                      {Role::user, {result("a", "two")}}};
  EXPECT_EQ(
      must(write_chat_request(request, {})).body,
      R"({"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"one"},{"role":"user","content":"meanwhile"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"two"}]})");
}

TEST(ChatRequestTest, CustomToolsAreKeptWhereTheyAreKnown) {
  const std::string body =
      R"({"model":"m","messages":[],"tools":[{"type":"custom","custom":{"name":"p","description":"d","format":{"type":"text"}}}]})";
  Target target;
  target.custom_tools = true;
  EXPECT_EQ(again(body, target).body, body);
  const Written wrapped = again(body);
  EXPECT_NE(
      wrapped.body.find(
          R"("type":"function","function":{"name":"p","description":"d","parameters":{"type":"object")"),
      std::string::npos);
  ASSERT_EQ(wrapped.renamed.size(), 1U);
  EXPECT_TRUE(wrapped.renamed[0].custom);
}
