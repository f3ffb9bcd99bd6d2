#include "wire/translate.h"

#include <gtest/gtest.h>

#include <map>

#include "support/wire_streams.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::complaint;
using test::figures;
using test::hear;
using test::must;

namespace {

// One conversation in each format: system, image, parallel calls, results, a last question; tools and
// settings.
const std::map<FormatId, std::string> k_requests = {
    {FormatId::chat,
     R"({"model":"m","messages":[{"role":"system","content":"rules"},{"role":"user","content":[{"type":"text","text":"look"},
  {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]},
  {"role":"assistant","content":"calling","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890.10}"}},
  {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"one"},
  {"role":"tool","tool_call_id":"b","content":"two"},{"role":"user","content":"go on 漢字 😀"}],
  "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890123}}}}},
  {"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],
  "tool_choice":"required","parallel_tool_calls":false,"max_tokens":77,"temperature":0.20,"stream":true})"},
    {FormatId::responses,
     R"({"model":"m","instructions":"rules","input":[{"role":"user","content":[{"type":"input_text","text":"look"},
  {"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_image","image_url":"https://x/y.png"}]},
  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"calling"}]},
  {"type":"function_call","call_id":"a","name":"f","arguments":"{\"n\":12345678901234567890.10}"},
  {"type":"function_call","call_id":"b","name":"g","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"one"},
  {"type":"function_call_output","call_id":"b","output":"two"},{"role":"user","content":"go on 漢字 😀"}],
  "tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890123}}}},
  {"type":"function","name":"g","parameters":{"type":"object","properties":{}}}],
  "tool_choice":"required","parallel_tool_calls":false,"max_output_tokens":77,"temperature":0.20,"stream":true})"},
    {FormatId::messages,
     R"({"model":"m","system":[{"type":"text","text":"rules"}],"messages":[{"role":"user","content":[{"type":"text","text":"look"},
  {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]},
  {"role":"assistant","content":[{"type":"text","text":"calling"},{"type":"tool_use","id":"a","name":"f","input":{"n":12345678901234567890.10}},
  {"type":"tool_use","id":"b","name":"g","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"},
  {"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"two"}]},{"type":"text","text":"go on 漢字 😀"}]}],
  "tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890123}}}},
  {"name":"g","input_schema":{"type":"object","properties":{}}}],
  "tool_choice":{"type":"any","disable_parallel_tool_use":true},"max_tokens":77,"temperature":0.20,"stream":true})"},
};

/// What a request says, whatever its format: neighbours of one role count as one message.
std::string said(const Request& request) {
  std::string out = "model " + request.model + "\n";
  const Message* last = nullptr;
  for (const Message& message : request.messages) {
    const bool joins = last != nullptr && last->role == message.role;
    out += (joins ? " " : fmt::format("\n{} ", static_cast<int>(message.role))) + describe(message.parts);
    last = &message;
  }
  out += "\n";
  for (const Tool& tool : request.tools) {
    std::string schema;
    Writer(schema).raw(tool.schema);
    out += fmt::format("tool {} {} {}\n", tool.name, tool.description, schema);
  }
  out += fmt::format("choice {} {} parallel {}\n", static_cast<int>(request.tool_choice), request.tool_name,
                     request.parallel_tools ? static_cast<int>(*request.parallel_tools) : -1);
  out += fmt::format("limit {} temperature {} stream {}\n", request.output_limit.value_or(-1),
                     request.temperature, request.stream);
  return out;
}

Request read(FormatId format_id, const std::string& body) {
  return must(format(format_id).read_request(body));
}

std::string refused(FormatId from, FormatId to, const std::string& body, const Target& target = {}) {
  return complaint(translate_request(from, to, body, target));
}

std::string chat_body(const std::string& fields) {
  return R"({"model":"m","messages":[{"role":"user","content":"q"}])" + fields + "}";
}
std::string messages_body(const std::string& fields,
                          const std::string& messages = R"([{"role":"user","content":"q"}])") {
  return R"({"model":"m","max_tokens":9000,"messages":)" + messages + fields + "}";
}
std::string responses_body(const std::string& fields, const std::string& input = R"("q")") {
  return R"({"model":"m","input":)" + input + fields + "}";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
bool noted(const std::vector<std::string>& notes, std::string_view part) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) { return has(note, part); });
}

Reply rich_reply() {
  Reply reply;
  reply.id = "r1";
  reply.model = "up";
  reply.parts = {Part{Thinking{"hmé", "", false, FormatId::chat, ""}}, Part{Text{"say 漢字 😀 \"q\"\n"}},
                 Part{ToolCall{"a", "f", "", R"({"n":12345678901234567890.10})"}},
                 Part{ToolCall{"b", "g", "", "{}"}}};
  reply.stop = StopReason::tool_calls;
  reply.usage.input_uncached = 40;
  reply.usage.cache_read = 60;
  reply.usage.output = 7;
  reply.usage.reasoning = 2;
  reply.usage.input_told = reply.usage.output_told = true;
  reply.usage.source = UsageSource::provider;
  return reply;
}

std::string written_stream(FormatId id, const Reply& reply) {
  const auto writer = format(id).writer({});
  std::string out;
  for (const Event& event : events_of(reply)) writer->write(event, out);
  return out;
}

const std::string k_parts =
    "thinking(hmé) text(say 漢字 😀 \"q\"\n) call(a f {\"n\":12345678901234567890.10}) call(b g {})";

class EachPair : public testing::TestWithParam<std::tuple<FormatId, FormatId>> {
 protected:
  FormatId m_from = std::get<0>(GetParam());
  FormatId m_to = std::get<1>(GetParam());
};

std::string pair_name(const testing::TestParamInfo<std::tuple<FormatId, FormatId>>& info) {
  return fmt::format("{}_to_{}", format_name(std::get<0>(info.param)), format_name(std::get<1>(info.param)));
}

const auto k_all = testing::Combine(testing::Values(FormatId::chat, FormatId::responses, FormatId::messages),
                                    testing::Values(FormatId::chat, FormatId::responses, FormatId::messages));

}  // namespace

INSTANTIATE_TEST_SUITE_P(Translate, EachPair, k_all, pair_name);

TEST_P(EachPair, ARequestSaysTheSameInTheOtherFormat) {
  const std::string& body = k_requests.at(m_from);
  const TranslatedRequest translated = must(translate_request(m_from, m_to, body, {}));
  EXPECT_EQ(said(read(m_to, translated.body)), said(read(m_from, body)));
  EXPECT_TRUE(translated.notes.empty()) << translated.notes[0];
  // And back again.
  const TranslatedRequest back = must(translate_request(m_to, m_from, translated.body, {}));
  EXPECT_EQ(said(read(m_from, back.body)), said(read(m_from, body)));
}

TEST_P(EachPair, AStreamedReplySaysTheSameInTheOtherFormatWhateverThePieces) {
  const std::string body = written_stream(m_from, rich_reply());
  ReplyContext context;
  context.stream_usage = true;
  std::string whole;
  for (const std::size_t size : {body.size(), std::size_t{1}, std::size_t{7}, std::size_t{100}}) {
    StreamTranslator translator(m_from, m_to, context, {});
    std::string out;
    for (std::size_t at = 0; at < body.size(); at += size)
      translator.feed(std::string_view(body).substr(at, size), out);
    translator.finish(out);
    EXPECT_TRUE(translator.ended());
    if (whole.empty()) whole = out;
    EXPECT_EQ(out, whole) << size;
  }
  const auto heard = hear(m_to, whole);
  EXPECT_EQ(heard.parts, k_parts);
  EXPECT_EQ(heard.end, "finished tool_calls");
  EXPECT_EQ(figures(heard.usage), "40 read 60 write 0/0/0/0/0 out 7 thought 2 provider");
  EXPECT_EQ(heard.reply.id, "r1");
  EXPECT_EQ(heard.reply.model, "up");
}

TEST_P(EachPair, AWholeReplySaysTheSameInTheOtherFormat) {
  const std::string body = must(format(m_from).write_reply(rich_reply(), {}));
  Usage usage;
  const Reply reply =
      must(format(m_to).read_reply(must(translate_reply(m_from, m_to, body, {}, {}, &usage))));
  EXPECT_EQ(describe(reply.parts), k_parts);
  EXPECT_EQ(reply.stop, StopReason::tool_calls);
  EXPECT_EQ(figures(reply.usage), "40 read 60 write 0/0/0/0/0 out 7 thought 2 provider");
  EXPECT_EQ(figures(usage), figures(reply.usage));
}

TEST_P(EachPair, StopReasonsThatBothKnowSurvive) {
  for (const StopReason stop : {StopReason::end, StopReason::length, StopReason::refusal}) {
    Reply reply = rich_reply();
    reply.parts = {Part{Text{"x"}}};
    reply.stop = stop;
    StreamTranslator translator(m_from, m_to, {}, {});
    std::string out;
    translator.feed(written_stream(m_from, reply), out);
    translator.finish(out);
    EXPECT_EQ(hear(m_to, out).end, fmt::format("finished {}", stop_reason_name(stop)));
  }
}

TEST_P(EachPair, FailuresAndCutsReachTheClientAsFailures) {
  std::string failing;
  const auto writer = format(m_from).writer({});
  writer->write(Start{"r", "m", {}}, failing);
  ApiError error;
  error.kind = ErrorKind::rate_limit;
  error.message = "slow down";
  writer->write(Failed{error}, failing);
  StreamTranslator translator(m_from, m_to, {}, {});
  std::string out;
  translator.feed(failing, out);
  translator.finish(out);
  EXPECT_EQ(hear(m_to, out).end, "failed rate_limit: slow down");
  StreamTranslator broken(m_from, m_to, {}, {});
  std::string half;
  const std::string body = written_stream(m_from, rich_reply());
  broken.feed(std::string_view(body).substr(0, body.size() / 2), half);
  broken.finish(half);
  EXPECT_TRUE(hear(m_to, half).end.starts_with("failed server: the stream ended")) << hear(m_to, half).end;
}

TEST_P(EachPair, ABudgetsStopEndsTheStreamInValidForm) {
  const std::string body = written_stream(m_from, rich_reply());
  StreamTranslator translator(m_from, m_to, {}, {});
  std::string out;
  translator.feed(std::string_view(body).substr(0, body.size() / 2), out);
  translator.stop(out);
  const std::string stopped = out;
  translator.feed(std::string_view(body).substr(body.size() / 2), out);
  translator.finish(out);
  EXPECT_EQ(out, stopped);
  EXPECT_EQ(hear(m_to, out).end, "finished length");
  StreamTranslator unstarted(m_from, m_to, {}, {});
  std::string alone;
  unstarted.stop(alone);
  EXPECT_EQ(hear(m_to, alone).end, "finished length");
}

TEST_P(EachPair, FieldsOfOneFormatAloneAreRefusedByNameElsewhere) {
  const std::map<FormatId, std::string> bodies = {
      {FormatId::chat, chat_body(R"(,"brand_new":{"x":1.50})")},
      {FormatId::responses, responses_body(R"(,"brand_new":{"x":1.50})")},
      {FormatId::messages, messages_body(R"(,"brand_new":{"x":1.50})")}};
  const std::string& body = bodies.at(m_from);
  const auto translated = translate_request(m_from, m_to, body, {});
  if (m_from == m_to) {
    EXPECT_TRUE(has(must(translate_request(m_from, m_to, body, {})).body, R"("brand_new":{"x":1.50})"));
    return;
  }
  EXPECT_TRUE(has(complaint(translated), "brand_new cannot be carried in the format"))
      << complaint(translated);
  Target lenient;
  lenient.may_drop = {"brand_new"};
  const TranslatedRequest dropped = must(translate_request(m_from, m_to, body, lenient));
  EXPECT_FALSE(has(dropped.body, "brand_new"));
  EXPECT_TRUE(noted(dropped.notes, "brand_new"));
}

TEST(TranslateTest, ClaudeCodeOverAChatServerKeepsEverySystemMessage) {
  const std::string body = messages_body(
      R"(,"system":[{"type":"text","text":"billing"},{"type":"text","text":"be good","cache_control":{"type":"ephemeral","ttl":"1h"}}],
  "metadata":{"user_id":"u1"},"thinking":{"type":"adaptive","display":"omitted"},"context_management":{"edits":[]},"output_config":{"effort":"high"},"stream":true,
  "tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"},"defer_loading":true}])",
      R"([{"role":"user","content":"q"},{"role":"system","content":"environment"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S"},
  {"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,
  "content":[{"type":"text","text":"no"},{"type":"tool_reference","tool_name":"Read"}],"cache_control":{"type":"ephemeral"}}]}])");
  const TranslatedRequest translated = must(translate_request(FormatId::messages, FormatId::chat, body, {}));
  EXPECT_EQ(
      translated.body,
      R"({"model":"m","messages":[{"role":"system","content":"billing\n\nbe good"},{"role":"user","content":"q"},{"role":"system","content":"environment"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]},)"
      R"({"role":"tool","tool_call_id":"t","content":"[tool failed] no\n\n[tool Read is available]"}],)"
      R"("tools":[{"type":"function","function":{"name":"Bash","description":"d","parameters":{"type":"object"}}}],)"
      R"("max_tokens":9000,"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"high","user":"u1"})");
  for (const char* hint : {"cache marks", "thinking of earlier turns", "context_management", "defer_loading",
                           "references to tools"}) {
    EXPECT_TRUE(noted(translated.notes, hint)) << hint;
  }
}

TEST(TranslateTest, CodexOverAChatServerKeepsItsToolsOfEveryKind) {
  const std::string body = responses_body(
      R"(,"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","client_metadata":{"a":"b"},"reasoning":{"effort":"medium","summary":"auto"},
  "text":{"verbosity":"low"},"tool_choice":"auto","parallel_tool_calls":true,"stream":true,
  "tools":[{"type":"function","name":"exec_command","parameters":{"type":"object"},"strict":false},
  {"type":"custom","name":"apply_patch","description":"patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}])",
      R"([{"type":"additional_tools","tools":[{"type":"namespace","name":"mcp__every","description":"e","tools":[{"type":"function","name":"echo","parameters":{"type":"object"}}]}]},
  {"type":"message","role":"developer","content":[{"type":"input_text","text":"dev"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},
  {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"E"},
  {"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"*** \"x\""},
  {"type":"function_call","call_id":"e","namespace":"mcp__every","name":"echo","arguments":"{}"},
  {"type":"custom_tool_call_output","call_id":"p","output":"ok"},{"type":"function_call_output","call_id":"e","output":[{"type":"input_text","text":"hi"}]}])");
  const TranslatedRequest translated = must(translate_request(FormatId::responses, FormatId::chat, body, {}));
  EXPECT_TRUE(has(
      translated.body,
      R"({"role":"system","content":"dev"},{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"p","type":"function","function":{"name":"apply_patch","arguments":"{\"input\":\"*** \\\"x\\\"\"}"}},)"
      R"({"id":"e","type":"function","function":{"name":"mcp__every__echo","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"p","content":"ok"},{"role":"tool","tool_call_id":"e","content":"hi"}])"))
      << translated.body;
  EXPECT_TRUE(has(translated.body, "must follow this lark grammar"));
  EXPECT_EQ(translated.context.renamed.size(), 2U);
  // The reply's calls get their own names and kinds back, streamed and whole.
  Reply reply;
  reply.id = "c";
  reply.parts = {Part{ToolCall{"1", "apply_patch", "", R"({"input":"*** \"y\""})"}},
                 Part{ToolCall{"2", "mcp__every__echo", "", "{}"}},
                 Part{ToolCall{"3", "exec_command", "", "{}"}}};
  reply.stop = StopReason::tool_calls;
  const std::string expected =
      "custom(1 apply_patch *** \"y\") call(2 mcp__every/echo {}) call(3 exec_command {})";
  StreamTranslator translator(FormatId::chat, FormatId::responses, translated.context, {});
  std::string out;
  translator.feed(written_stream(FormatId::chat, reply), out);
  translator.finish(out);
  EXPECT_EQ(hear(FormatId::responses, out).parts, expected);
  const std::string whole =
      must(translate_reply(FormatId::chat, FormatId::responses,
                           must(format(FormatId::chat).write_reply(reply, {})), translated.context, {}));
  EXPECT_EQ(describe(must(format(FormatId::responses).read_reply(whole)).parts), expected);
}

TEST(TranslateTest, ToolsThatTheProviderRunsAreRefusedByName) {
  EXPECT_TRUE(
      has(refused(FormatId::responses, FormatId::chat, responses_body(R"(,"tools":[{"type":"web_search"}])")),
          "tools.web_search cannot be carried in the format chat"));
  EXPECT_TRUE(has(refused(FormatId::responses, FormatId::messages,
                          responses_body(R"(,"tools":[{"type":"tool_search"}])")),
                  "tools.tool_search cannot"));
  EXPECT_TRUE(has(refused(FormatId::messages, FormatId::chat,
                          messages_body(R"(,"tools":[{"type":"web_search_20250305","name":"web_search"}])")),
                  "tools.web_search_20250305 cannot"));
  Target lenient;
  lenient.may_drop = {"tools.web_search"};
  const TranslatedRequest dropped = must(translate_request(
      FormatId::responses, FormatId::chat, responses_body(R"(,"tools":[{"type":"web_search"}])"), lenient));
  EXPECT_FALSE(has(dropped.body, "tools"));
  EXPECT_TRUE(noted(dropped.notes, "tools.web_search was left out, as allowed"));
}

TEST(TranslateTest, PartsThatOnlyOneFormatKnowsAreRefusedByName) {
  EXPECT_TRUE(
      has(refused(FormatId::messages, FormatId::chat,
                  messages_body("", R"([{"role":"user","content":[{"type":"document","source":{}}]}])")),
          "messages.document cannot"));
  EXPECT_TRUE(has(
      refused(
          FormatId::chat, FormatId::messages,
          R"({"model":"m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}]})"),
      "messages.input_audio cannot"));
  EXPECT_TRUE(
      has(refused(FormatId::chat, FormatId::responses,
                  R"({"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{}}]}]})"),
          "messages.file cannot"));
  EXPECT_TRUE(has(refused(FormatId::responses, FormatId::messages,
                          responses_body("", R"([{"type":"item_reference","id":"x"}])")),
                  "messages.item_reference cannot"));
}

TEST(TranslateTest, SettingsThatTheOtherFormatLacksAreRefusedByName) {
  EXPECT_TRUE(has(refused(FormatId::chat, FormatId::responses, chat_body(R"(,"stop":["x"])")),
                  "stop cannot be carried"));
  EXPECT_TRUE(has(
      refused(FormatId::chat, FormatId::messages, chat_body(R"(,"response_format":{"type":"json_object"})")),
      "response_format.json_object cannot"));
  EXPECT_TRUE(
      has(refused(FormatId::chat, FormatId::messages, chat_body(R"(,"n":2)")), "n cannot be carried"));
  EXPECT_EQ(refused(FormatId::chat, FormatId::messages,
                    chat_body(R"(,"n":1,"presence_penalty":0,"logprobs":false,"seed":null)")),
            "accepted");
  EXPECT_TRUE(
      has(refused(FormatId::responses, FormatId::chat, responses_body(R"(,"previous_response_id":"r")")),
          "previous_response_id cannot"));
  EXPECT_EQ(refused(FormatId::responses, FormatId::chat,
                    responses_body(R"(,"previous_response_id":null,"background":false)")),
            "accepted");
  Target old;
  old.inner_system = false;
  const std::string inner =
      R"({"model":"m","messages":[{"role":"user","content":"q"},{"role":"system","content":"s"}]})";
  EXPECT_TRUE(has(refused(FormatId::chat, FormatId::messages, inner, old), "messages.system cannot"));
  EXPECT_EQ(refused(FormatId::chat, FormatId::messages, inner), "accepted");
}

TEST(TranslateTest, MessagesGetsALimitAndWellFormedToolIds) {
  const std::string body =
      R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"functions.sh:0","type":"function","function":{"name":"sh","arguments":"{oops"}}]},
  {"role":"tool","tool_call_id":"functions.sh:0","content":""}]})";
  const TranslatedRequest translated = must(translate_request(FormatId::chat, FormatId::messages, body, {}));
  EXPECT_EQ(
      translated.body,
      R"({"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"functions_sh_0","name":"sh","input":{"invalid_json":"{oops"}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_sh_0"}]}],"max_tokens":8192})");
  EXPECT_TRUE(noted(translated.notes, "no JSON object"));
}

TEST(TranslateTest, EffortAndBudgetStandForEachOther) {
  Target budget;
  budget.adaptive_thinking = false;
  const auto to_messages = [](const std::string& fields, const Target& target) {
    return must(translate_request(FormatId::chat, FormatId::messages, chat_body(fields), target)).body;
  };
  EXPECT_TRUE(has(to_messages(R"(,"reasoning_effort":"high","temperature":0.2)", {}),
                  R"("thinking":{"type":"adaptive"},"output_config":{"effort":"high"}})"));
  EXPECT_TRUE(has(to_messages(R"(,"reasoning_effort":"low","max_tokens":20000)", budget),
                  R"("thinking":{"type":"enabled","budget_tokens":4096})"));
  EXPECT_TRUE(
      has(to_messages(R"(,"reasoning_effort":"high","max_tokens":6000)", budget), R"("budget_tokens":3000)"));
  EXPECT_FALSE(has(to_messages(R"(,"reasoning_effort":"high","max_tokens":1000)", budget), "thinking"));
  EXPECT_TRUE(
      has(must(translate_request(FormatId::messages, FormatId::chat,
                                 messages_body(R"(,"thinking":{"type":"enabled","budget_tokens":8000})"), {}))
              .body,
          R"("reasoning_effort":"medium")"));
}

TEST(TranslateTest, ImagesOfToolResultsFollowInTheUsersMessage) {
  const std::string body = messages_body(
      "",
      R"([{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}},{"type":"tool_use","id":"u","name":"Read","input":{}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
  {"type":"tool_result","tool_use_id":"u","content":"two"}]}])");
  EXPECT_TRUE(has(
      must(translate_request(FormatId::messages, FormatId::chat, body, {})).body,
      R"({"role":"tool","tool_call_id":"t","content":"[image 1, in the next message]"},{"role":"tool","tool_call_id":"u","content":"two"},)"
      R"({"role":"user","content":[{"type":"text","text":"[image 1]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]})"));
  EXPECT_TRUE(has(
      must(translate_request(FormatId::messages, FormatId::responses, body, {})).body,
      R"({"type":"function_call_output","call_id":"t","output":[{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}]})"));
}

TEST(TranslateTest, TwoToolsThatWouldShareANameAreRefused) {
  EXPECT_TRUE(has(
      refused(
          FormatId::responses, FormatId::chat,
          responses_body(
              R"(,"tools":[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}])")),
      "two tools would both be called \"a__b\""));
}

TEST(TranslateTest, CacheFiguresSurviveABridgeThatStartsBeforeTheyAreKnown) {
  // Messages says its input figures first; over a chat server they are known only at the end.
  StreamTranslator translator(FormatId::chat, FormatId::messages, {}, {});
  std::string out;
  translator.feed(
      test::stream_of(
          {R"({"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]})",
           R"({"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}})",
           "[DONE]"}),
      out);
  EXPECT_EQ(figures(hear(FormatId::messages, out).usage),
            "40 read 60 write 0/0/0/0/0 out 7 thought 0 provider");
}

TEST(TranslateTest, TheFirstWordLeavesAtOnce) {
  StreamTranslator translator(FormatId::chat, FormatId::messages, {}, {});
  std::string out;
  translator.feed(
      test::stream_of({R"({"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"first"}}]})"}),
      out);
  EXPECT_TRUE(has(out, "first"));
}

TEST(TranslateTest, PartsOfAReplyThatCannotBeCarriedEndTheStreamByName) {
  StreamTranslator translator(FormatId::messages, FormatId::chat, {}, {});
  std::string out;
  translator.feed(
      test::stream_of(
          {R"({"type":"message_start","message":{"id":"m","model":"c"}})",
           R"({"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"w","input":{}}})"},
          true),
      out);
  EXPECT_EQ(hear(FormatId::chat, out).end,
            "failed server: the reply holds a part that the format chat cannot carry: server_tool_use");
}

TEST(TranslateTest, HalfAToolCallIsNeverSaidToBeDone) {
  const std::string whole_call =
      R"({"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"w","function":{"name":"ls","arguments":"{}"}}]}}]})";
  const std::string half_call =
      R"({"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"sh","arguments":"{\"command\":\"rm -r /tmp/x"}}]}}]})";
  const std::string limit = R"({"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"length"}]})";
  for (const std::string how : {"stopped", "cut", "limit"}) {
    StreamTranslator translator(FormatId::chat, FormatId::responses, {}, {});
    std::string out;
    translator.feed(test::stream_of({whole_call, half_call}), out);
    if (how == "stopped") translator.stop(out);
    if (how == "limit") translator.feed(test::stream_of({limit, "[DONE]"}), out);
    translator.finish(out);
    const std::size_t done = out.rfind("event: response.output_item.done");
    // The whole call is done, unless the connection broke before anybody could know that it was whole.
    EXPECT_EQ(done != std::string::npos, how != "cut") << how;
    if (done != std::string::npos) {
      EXPECT_FALSE(has(out.substr(done, out.find("\n\n", done) - done), "rm -r")) << how;
    }
    EXPECT_TRUE(has(out, how == "cut" ? "response.failed" : "response.incomplete")) << how;
  }
}

TEST(TranslateTest, RefusalsOfTheUpstreamBecomeTheClientsOwn) {
  const HttpAnswer answer = translate_error(
      FormatId::messages, 429,
      R"({"error":{"message":"quota","type":"insufficient_quota","code":"insufficient_quota"}})");
  EXPECT_EQ(answer.status, 402);
  EXPECT_EQ(answer.body, R"({"type":"error","error":{"type":"billing_error","message":"quota"}})");
  EXPECT_EQ(translate_error(FormatId::responses, 529,
                            R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})")
                .status,
            503);
}
