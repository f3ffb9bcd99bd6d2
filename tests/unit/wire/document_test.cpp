#include "wire/document.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/wire_streams.h"

using namespace tunesmith;
using namespace tunesmith::wire;
using test::complaint;
using test::must;

namespace {

Document doc(const std::string& text) { return must(Document::parse(text, "t")); }

std::string copy(const std::string& text) {
  const Document document = doc(text);
  std::string out;
  Writer(out).raw(document.root().raw());
  return out;
}

}  // namespace

TEST(DocumentTest, EveryValueIsASliceOfTheText) {
  const Document d = doc(R"( {"a": [1, -2.50e+3, "x\ny"], "b": {"c": null, "d": true}} )");
  const View root = d.root();
  EXPECT_EQ(root["a"].items()[1].raw(), "-2.50e+3");
  EXPECT_EQ(root["a"].items()[2].str(), "x\ny");
  EXPECT_TRUE(root["b"]["c"].is_null());
  EXPECT_EQ(root["b"]["d"].boolean(), true);
  EXPECT_EQ(root["b"].members()[1].key(), "d");
  EXPECT_EQ(root.size(), 2U);
}

TEST(DocumentTest, NumbersLoseNoDigit) {
  const std::string text =
      R"({"n":[123456789012345678901234567890,0.1000000000000000000001,1e400,-0.0,1.10]})";
  EXPECT_EQ(copy(text), text);
}

TEST(DocumentTest, AnAbsentValueAnswersNothing) {
  const Document d = doc(R"({"a":1})");
  const View nowhere = d.root()["x"]["y"]["z"];
  EXPECT_FALSE(nowhere);
  EXPECT_FALSE(nowhere.given());
  EXPECT_EQ(nowhere.str(), "");
  EXPECT_EQ(nowhere.integer(), std::nullopt);
  EXPECT_EQ(nowhere.items().size(), 0U);
  EXPECT_STREQ(nowhere.kind_name(), "absent");
  EXPECT_FALSE(d.root()["a"]["b"]);
}

TEST(DocumentTest, WholeNumbersOfAnySpellingAreIntegers) {
  const Document d = doc(R"([7, 7.0, 7e2, 7.5, 9223372036854775807, 9223372036854775808, "7", -3])");
  const auto v = d.root().items();
  EXPECT_EQ(v[0].integer(), 7);
  EXPECT_EQ(v[1].integer(), 7);
  EXPECT_EQ(v[2].integer(), 700);
  EXPECT_EQ(v[3].integer(), std::nullopt);
  EXPECT_EQ(v[4].integer(), 9223372036854775807LL);
  EXPECT_EQ(v[5].integer(), std::nullopt);
  EXPECT_EQ(v[6].integer(), std::nullopt);
  EXPECT_EQ(v[7].integer(), -3);
}

TEST(DocumentTest, SurrogatePairsMakeOneCharacterAndLoneOnesTheReplacement) {
  const Document d = doc(R"(["\ud83d\ude00", "\ud83d", "a\ude00b", "\ud83d\u0041", "\ud83dxx\ude00"])");
  const auto v = d.root().items();
  EXPECT_EQ(v[0].str(), "😀");
  EXPECT_EQ(v[1].str(), "\xEF\xBF\xBD");
  EXPECT_EQ(v[2].str(),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(v[3].str(),
            "\xEF\xBF\xBD"
            "A");
  EXPECT_EQ(v[4].str(), "\xEF\xBF\xBDxx\xEF\xBF\xBD");
}

TEST(DocumentTest, AKeyTwiceIsRefusedInRequestsEvenIfEscaped) {
  const std::string plain = R"({"model":"a","model":"b"})";
  const std::string escaped = R"({"model":"a","mod\u0065l":"b"})";
  EXPECT_EQ(complaint(Document::parse(plain, "request", Duplicates::refused)),
            "request:1:14: the key \"model\" stands twice in one object; keep one of them");
  EXPECT_NE(complaint(Document::parse(escaped, "request", Duplicates::refused)), "accepted");
  EXPECT_EQ(must(Document::parse(plain, "reply")).root()["model"].str(), "b");
  EXPECT_TRUE(Document::parse(R"({"a":{"x":1},"b":{"x":1}})", "request", Duplicates::refused));
}

TEST(DocumentTest, WhatIsNoJsonIsRefusedWithItsPlace) {
  for (const char* text :
       {"",          " ",        "{",         "}",          "[1,]",      "[1 2]",
        "{\"a\"}",   "{\"a\":}", "{a:1}",     "{\"a\":1,}", "[,1]",      "01",
        "1.",        "-",        "+1",        ".5",         "1e",        "1e+",
        "nul",       "truE",     "\"",        "\"\\x\"",    "\"\\u12\"", "\"\\u12g4\"",
        "\"\n\"",    "[1]]",     "{} {}",     "NaN",        "'a'",       "[1}",
        "{\"a\":1]", "\"\\",     "{\"a\" 1}", "[\"a\":1]",  "{1:2}",     "\xEF\xBB\xBF{}"}) {
    EXPECT_FALSE(Document::parse(text, "t")) << text;
  }
  EXPECT_EQ(complaint(Document::parse("{\n  \"é\": x}", "reply")),
            "reply:2:8: not valid JSON: a value is missing");
}

TEST(DocumentTest, DeepNestingIsRefusedAndNotFatal) {
  EXPECT_TRUE(Document::parse(std::string(256, '[') + std::string(256, ']'), "t"));
  EXPECT_NE(complaint(Document::parse(std::string(1'000'000, '['), "t")).find("nested deeper"),
            std::string::npos);
}

TEST(DocumentTest, AComplaintNamesThePointer) {
  const Document d = doc("{\"a/b\":[0,\n{\"c~\":5}]}");
  const auto error = d.root()["a/b"].items()[1]["c~"].error("no", "yes");
  EXPECT_EQ(error.value().line(), "t:2:7: /a~1b/1/c~0: no; yes");
}

TEST(DocumentTest, MutatedTextNeverCrashesAndWhatIsReadCopiesExactly) {
  const std::string seed =
      R"({"a":[1,2.5e-3,"x\u00e9\"y",null,true],"b":{"c":{},"d":[]},"e":"\ud83d\ude00"})";
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = seed;
    for (int k = 0; k < 3; ++k) text[rng.next() % text.size()] = "{}[]\",:\\ue10 n-."[rng.next() % 16];
    const auto parsed = Document::parse(text, "t");
    if (!parsed) continue;
    std::string once;
    Writer(once).raw(parsed->root().raw());
    std::string twice;
    const Document again = doc(once);
    Writer(twice).raw(again.root().raw());
    EXPECT_EQ(once, twice);
    for (const View& member : parsed->root().members()) (void)(member.str() + member.key());
  }
}

TEST(WriterTest, PutsCommasByItself) {
  std::string out;
  Writer w(out);
  w.open('{')
      .field("a", 1)
      .field("b", "x,")
      .key("c")
      .open('[')
      .integer(1)
      .string("[")
      .open('{')
      .close('}')
      .null()
      .close(']');
  w.field_bool("d", true).field_null("e").field_raw("f", "{ \"g\" : [ 1 , \" \" ] }").close('}');
  EXPECT_EQ(out, R"({"a":1,"b":"x,","c":[1,"[",{},null],"d":true,"e":null,"f":{"g":[1," "]}})");
}

TEST(WriterTest, StringsComeBackAsTheyWere) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "é漢😀";
  const std::string text = json_string(all);
  EXPECT_EQ(doc(text).root().str(), all);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(json_string("a\xFFz\xC3"), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
}
