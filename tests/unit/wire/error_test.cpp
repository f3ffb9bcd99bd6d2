#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "support/wire_streams.h"
#include "wire/format.h"

using namespace tunesmith;
using namespace tunesmith::wire;

namespace {

std::string kind(int status, std::string_view body) {
  return std::string(error_kind_name(read_error(status, body).kind));
}

std::string header(const HttpAnswer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace

TEST(ErrorTest, BodiesOfEveryShapeAreRead) {
  const ApiError openai = read_error(
      400,
      R"({"error":{"message":"no","type":"invalid_request_error","code":"budget_exceeded","param":"x"}})");
  EXPECT_EQ(openai.message, "no");
  EXPECT_EQ(openai.code, "budget_exceeded");
  EXPECT_EQ(openai.param, "x");
  EXPECT_EQ(openai.kind, ErrorKind::budget);
  const ApiError anthropic = read_error(
      529,
      R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"})");
  EXPECT_EQ(anthropic.type, "overloaded_error");
  EXPECT_EQ(anthropic.request_id, "req_1");
  EXPECT_EQ(anthropic.kind, ErrorKind::overloaded);
  EXPECT_EQ(read_error(400, R"({"error":"text"})").message, "text");
  EXPECT_EQ(read_error(400, R"({"message":"text"})").message, "text");
  EXPECT_EQ(read_error(422, R"({"detail":[{"loc":["body"],"msg":"bad"}]})").message,
            R"([{"loc":["body"],"msg":"bad"}])");
  EXPECT_EQ(read_error(404, "404 page not found").message, "404 page not found");
  EXPECT_EQ(read_error(502, "<html>Bad Gateway</html>").message,
            "HTTP 502 with an HTML page: this address is no model server, or a proxy answered");
  EXPECT_EQ(read_error(500, "").message, "HTTP 500 with an empty body");
  EXPECT_EQ(read_error(500, "{}").message, "HTTP 500 without a message");
  EXPECT_EQ(read_error(500, "{broken").message, "{broken");
}

TEST(ErrorTest, TheKindComesFromCodeThenStatus) {
  EXPECT_EQ(kind(401, "{}"), "authentication");
  EXPECT_EQ(kind(402, "{}"), "billing");
  EXPECT_EQ(kind(403, "{}"), "permission");
  EXPECT_EQ(kind(404, "{}"), "not_found");
  EXPECT_EQ(kind(408, "{}"), "timeout");
  EXPECT_EQ(kind(413, "{}"), "too_large");
  EXPECT_EQ(kind(422, "{}"), "invalid_request");
  EXPECT_EQ(kind(429, R"({"error":{"message":"m","type":"rate_limit_error"}})"), "rate_limit");
  EXPECT_EQ(kind(429, R"({"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}})"),
            "billing");
  EXPECT_EQ(kind(429, R"({"error":{"message":"m","type":"usage_limit_reached"}})"), "billing");
  EXPECT_EQ(
      kind(
          429,
          R"({"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}})"),
      "billing");
  EXPECT_EQ(kind(401, R"({"error":{"message":"m","type":"invalid_request_error"}})"), "authentication");
  EXPECT_EQ(kind(400, R"({"error":{"message":"m","code":"context_length_exceeded"}})"), "context_too_long");
  EXPECT_EQ(
      kind(
          400,
          R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}})"),
      "context_too_long");
  EXPECT_EQ(
      kind(
          400,
          R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}})"),
      "billing");
  EXPECT_EQ(kind(500, "x"), "server");
  EXPECT_EQ(kind(503, "x"), "overloaded");
  EXPECT_EQ(kind(0, R"({"error":{"code":429,"message":"m"}})"), "rate_limit");
}

TEST(ErrorTest, AStopIsAnsweredInTheWayThatMakesEachClientStop) {
  const HttpAnswer chat = stop_answer(FormatId::chat, "budget of run r1 is spent");
  EXPECT_EQ(chat.status, 402);
  EXPECT_EQ(header(chat, "x-should-retry"), "false");
  EXPECT_EQ(
      chat.body,
      R"({"error":{"message":"budget of run r1 is spent","type":"billing_error","param":null,"code":"budget_exceeded"}})");
  const HttpAnswer responses = stop_answer(FormatId::responses, "spent");
  EXPECT_EQ(responses.status, 400);
  EXPECT_EQ(
      responses.body,
      R"({"error":{"message":"spent","type":"invalid_request_error","param":null,"code":"budget_exceeded"}})");
  const HttpAnswer messages = stop_answer(FormatId::messages, "spent");
  EXPECT_EQ(messages.status, 402);
  EXPECT_EQ(header(messages, "x-should-retry"), "false");
  EXPECT_EQ(messages.body, R"({"type":"error","error":{"type":"billing_error","message":"spent"}})");
  for (const HttpAnswer* answer : {&chat, &responses, &messages}) {
    EXPECT_EQ(header(*answer, "retry-after"), "");
    EXPECT_EQ(header(*answer, "content-type"), "application/json");
  }
}

TEST(ErrorTest, KindsSurviveTheWayThroughEveryFormat) {
  for (const Format& format : formats()) {
    for (const ErrorKind k :
         {ErrorKind::invalid_request, ErrorKind::authentication, ErrorKind::billing, ErrorKind::permission,
          ErrorKind::not_found, ErrorKind::too_large, ErrorKind::context_too_long, ErrorKind::rate_limit,
          ErrorKind::overloaded, ErrorKind::timeout, ErrorKind::server}) {
      ApiError error;
      error.kind = k;
      error.message = "text";
      const HttpAnswer answer = format.write_error(error);
      EXPECT_EQ(error_kind_name(read_error(answer.status, answer.body).kind), error_kind_name(k))
          << format.name;
      EXPECT_EQ(header(answer, "x-should-retry"), "");
    }
  }
}

TEST(ErrorTest, WaitingTimesAreForwardedWhereWaitingHelps) {
  ApiError error;
  error.kind = ErrorKind::rate_limit;
  error.retry_after_ms = 1500;
  EXPECT_EQ(header(format(FormatId::messages).write_error(error), "retry-after"), "2");
  error.kind = ErrorKind::billing;
  EXPECT_EQ(header(format(FormatId::messages).write_error(error), "retry-after"), "");
}

TEST(ErrorTest, ClaudeCodeRecognisesAContextThatIsTooLong) {
  const ApiError chat = read_error(
      400,
      R"({"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.","code":"context_length_exceeded"}})");
  EXPECT_NE(format(FormatId::messages)
                .write_error(chat)
                .body.find("prompt is too long: 130512 tokens > 128000 maximum"),
            std::string::npos);
}

// Answers that real clients were tried with; each must be read without a loss of its message.
TEST(ErrorTest, RecordedRefusalsAreAllUnderstood) {
  const char* data = std::getenv("TUNESMITH_DATA");
  if (data == nullptr) GTEST_SKIP() << "TUNESMITH_DATA names no folder with recorded refusals";
  const std::string folder = std::string(data) + "/refusals";
  int read = 0;
  for (const std::string& name : list_folder(folder)) {
    if (!name.ends_with(".json")) continue;
    const auto text = read_file(folder + "/" + name);
    ASSERT_TRUE(text) << name;
    const Document document = test::must(Document::parse(*text, name));
    const View root = document.root();
    const auto status = root["status"].integer();
    if (!status) continue;
    ++read;
    const View body = root["body"];
    if (*status >= 400) {
      const ApiError error =
          read_error(static_cast<int>(*status), body.is_string() ? body.str() : std::string(body.raw()));
      if (body["error"]["message"].is_string()) {
        EXPECT_EQ(error.message, body["error"]["message"].str()) << name;
      }
      EXPECT_FALSE(error.message.empty()) << name;
      EXPECT_NE(error.kind, *status >= 500 ? ErrorKind::invalid_request : ErrorKind::server) << name;
      continue;
    }
    // A stream: exactly one end, whichever format reads it.
    std::string stream = body.is_string() ? body.str() : std::string(body.raw());
    const std::vector<View> events = root["sse"].items();
    for (const View& event : events) sse_encode(event["type"].str(), event.raw(), stream);
    for (const Format& format : formats()) {
      const std::string end = test::hear(format.id, stream).end;
      EXPECT_NE(end, "nothing") << name;
      EXPECT_NE(end, "more than one end") << name;
    }
  }
  EXPECT_GT(read, 20);
}
