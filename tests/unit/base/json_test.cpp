#include "base/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/random.h"

using namespace tunesmith;

namespace {

std::string complaint(const std::string& text) {
  const auto parsed = parse_json(text, "f.json");
  return parsed ? "accepted" : parsed.error().line();
}

Node node(const std::string& text) {
  auto parsed = Node::parse(text, "f.json");
  if (!parsed) throw std::runtime_error(parsed.error().line());
  return std::move(*parsed);
}

std::string again(const std::string& text) { return print_json_compact(parse_json(text, "f").value()); }

}  // namespace

TEST(NumberTextTest, PrintsTheShortestTextThatReadsBack) {
  EXPECT_EQ(number_text(1.1), "1.1");
  EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(number_text(412.5), "412.5");
  EXPECT_EQ(number_text(0.00042), "0.00042");
  EXPECT_EQ(number_text(1e-3), "0.001");
  EXPECT_EQ(number_text(1e-5), "1e-05");
  EXPECT_EQ(number_text(1e300), "1e+300");
}

TEST(NumberTextTest, WholeDoublesStayDoubles) {
  EXPECT_EQ(number_text(3.0), "3.0");
  EXPECT_EQ(number_text(-0.0), "-0.0");
  EXPECT_EQ(number_text(1e14), "100000000000000.0");
  EXPECT_EQ(number_text(1e15), "1000000000000000.0");
  EXPECT_EQ(number_text(1e16), "1e+16");
  EXPECT_TRUE(parse_json(number_text(1e17), "f").value().is_double());
}

TEST(NumberTextTest, WhatIsNoNumberIsNull) {
  EXPECT_EQ(number_text(std::nan("")), "null");
  EXPECT_EQ(number_text(HUGE_VAL), "null");
}

TEST(JsonTest, EveryDoubleComesBackBitForBit) {
  Rng rng(4);
  for (int i = 0; i < 20'000; ++i) {
    const double number = std::bit_cast<double>(rng.next());
    if (!std::isfinite(number)) continue;
    const auto parsed = parse_json(number_text(number), "f");
    ASSERT_TRUE(parsed && parsed->is_double()) << number_text(number);
    ASSERT_EQ(parsed->as_double(), number) << number_text(number);
  }
  for (const char* text : {"1.1", "0.1", "123.456", "9007199254740993.0", "2.2250738585072011e-308", "5e-324",
                           "1.7976931348623157e308", "1e-400", "0.30000000000000004"}) {
    EXPECT_EQ(parse_json(text, "f").value().as_double(), std::strtod(text, nullptr)) << text;
  }
}

TEST(JsonTest, KeepsIntegersWhole) {
  EXPECT_EQ(again("[9223372036854775807,-9223372036854775808,18446744073709551615,3,3.0]"),
            "[9223372036854775807,-9223372036854775808,18446744073709551615,3,3.0]");
  EXPECT_TRUE(parse_json("123456789012345678901234567890", "f").value().is_double());
}

TEST(JsonTest, PrintsWithTwoSpacesAndShortArraysOnOneLine) {
  EXPECT_EQ(
      print_json(parse_json(R"({"b":1,"a":[1,2.5,"x",null,true],"o":{},"e":[],"n":[{"k":1}]})", "f").value()),
      "{\n"
      "  \"b\": 1,\n"
      "  \"a\": [1, 2.5, \"x\", null, true],\n"
      "  \"o\": {},\n"
      "  \"e\": [],\n"
      "  \"n\": [\n"
      "    {\n"
      "      \"k\": 1\n"
      "    }\n"
      "  ]\n"
      "}\n");
}

TEST(JsonTest, BreaksArraysThatAreTooLongForALine) {
  json::array numbers;
  for (int i = 0; i < 60; ++i) numbers.emplace_back(i);
  const std::string printed = print_json(numbers);
  EXPECT_EQ(printed.rfind("[\n  0,\n  1,\n", 0), 0U);
  EXPECT_EQ(parse_json(printed, "f").value(), json::value(numbers));
}

TEST(JsonTest, StringsComeBackWhateverTheyHold) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "äöü 内核 🚀 \u2028";
  const json::value value = json::object{{all, all}};
  EXPECT_EQ(parse_json(print_json(value), "f").value(), value);
  EXPECT_EQ(parse_json(print_json_compact(value), "f").value(), value);
}

TEST(JsonTest, BytesThatAreNoUtf8DoNotMakeTheFileUnreadable) {
  const std::string printed = print_json_compact(json::value("log \xff\xfe end"));
  EXPECT_EQ(printed, "\"log \\ufffd\\ufffd end\"");
  EXPECT_TRUE(parse_json(printed, "f"));
}

TEST(JsonTest, ReadsLongStringsAndKeysWithEscapes) {
  const std::string text(100'000, 'x');
  const auto parsed = parse_json("{\"k\\n\\u00e4" + text + "\": \"v\\t" + text + "\"}", "f");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->at("k\nä" + text).as_string(), "v\t" + text);
}

TEST(JsonTest, ErrorsNameLineAndColumn) {
  EXPECT_EQ(complaint("{\n  \"a\": 1,\n  \"b\": x\n}").rfind("f.json:3:8: not valid JSON: ", 0), 0U)
      << complaint("{\n  \"a\": 1,\n  \"b\": x\n}");
  EXPECT_EQ(complaint("{\"a\": 1} x").rfind("f.json:1:10: not valid JSON: ", 0), 0U)
      << complaint("{\"a\": 1} x");
  EXPECT_EQ(complaint("[1,]").rfind("f.json:1:4: ", 0), 0U) << complaint("[1,]");
  EXPECT_EQ(complaint("{\"ä\": x}").rfind("f.json:1:7: ", 0), 0U)
      << "columns count characters: " << complaint("{\"ä\": x}");
}

TEST(JsonTest, RefusesWhatIsNotStrictJson) {
  for (const char* text : {"", "  ", "{", "[1", "\"a", "// c\n1", "{'a':1}", "NaN", "Infinity", "01", "1.",
                           "+1", ".5", "\"\x01\"", "\"\xff\"", "tru", "{\"a\":1,}", "nul", "1 2"}) {
    EXPECT_NE(complaint(text), "accepted") << text;
  }
}

TEST(JsonTest, NumberBeyondDoubleIsRefusedInsteadOfInfinity) {
  EXPECT_EQ(complaint("[1e999]").rfind("f.json:1:", 0), 0U) << complaint("[1e999]");
  EXPECT_NE(complaint("[1e999]").find("a number is too large"), std::string::npos) << complaint("[1e999]");
  EXPECT_NE(complaint("[-1e309]").find("a number is too large"), std::string::npos);
}

TEST(JsonTest, ByteOrderMarkIsNamed) {
  EXPECT_NE(complaint("\xEF\xBB\xBF{}").find("byte order mark"), std::string::npos);
}

TEST(JsonTest, DuplicateKeyIsRefusedAtItsSecondPlace) {
  EXPECT_EQ(complaint("{\n \"a\": 1,\n \"a\": 2}"),
            "f.json:3:2: the key \"a\" stands twice in one object; keep one of them");
  EXPECT_NE(complaint(R"({"x":[{"a":1,"\u0061":2}]})"), "accepted") << "an escape does not hide it";
  EXPECT_EQ(complaint(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})"), "accepted") << "in other objects it is fine";
  EXPECT_EQ(complaint(R"({"a":"{\"b\":1,\"b\":2}"})"), "accepted") << "text in a string is no object";
}

TEST(JsonTest, DepthIsLimited) {
  EXPECT_EQ(complaint(std::string(64, '[') + std::string(64, ']')), "accepted");
  EXPECT_NE(complaint(std::string(65, '[') + std::string(65, ']')).find("nested deeper than 64 levels"),
            std::string::npos)
      << complaint(std::string(65, '['));
  EXPECT_NE(complaint(std::string(1'000'000, '[')), "accepted");
}

TEST(LocateTest, FindsValuesByPointer) {
  const std::string text = "{\n  \"a/b\": [1,\n    {\"c~\": \"}\"}, 2],\n  \"d\": {}\n}";
  const auto place = [&](const char* pointer) {
    const Place found = locate(text, "f", pointer);
    return std::pair(found.line, found.column);
  };
  EXPECT_EQ(place(""), std::pair(1, 1));
  EXPECT_EQ(place("/a~1b"), std::pair(2, 10));
  EXPECT_EQ(place("/a~1b/1"), std::pair(3, 5));
  EXPECT_EQ(place("/a~1b/1/c~0"), std::pair(3, 12));
  EXPECT_EQ(place("/a~1b/2"), std::pair(3, 18));
  EXPECT_EQ(place("/d"), std::pair(4, 8));
  EXPECT_EQ(place("/d/missing"), std::pair(4, 8)) << "the nearest thing that exists";
}

TEST(NodeTest, UnknownKeyGetsASuggestion) {
  const Node root = node("{\n  \"shapes\": [],\n  \"paramters\": {}\n}");
  const Status checked = root.only_keys({"shapes", "parameters"});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::invalid);
  EXPECT_EQ(checked.error().line(),
            "f.json:3:16: /paramters: unknown key \"paramters\"; did you mean \"parameters\"?");
  EXPECT_EQ(root.only_keys({"shapes"}).error().mend, "known keys are shapes");
  EXPECT_TRUE(root.only_keys({"shapes", "paramters"}));
}

TEST(NodeTest, MissingKeyPointsAtTheObject) {
  const Node root = node("{\"a\":\n {\"x\": 1}}");
  const auto missing = root.get("a")->get("y");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().line(), "f.json:2:2: /a: the key \"y\" is missing; add \"y\"");
}

TEST(NodeTest, WrongTypesSayWhatTheyAre) {
  const Node root =
      node(R"({"s": "x", "n": 3.5, "b": true, "z": null, "a": [1], "o": {}, "u": 18446744073709551615})");
  EXPECT_EQ(root.get("s")->as_int().error().message, "must be a whole number, not a string");
  EXPECT_EQ(root.get("n")->as_int().error().message, "must be a whole number, not 3.5");
  EXPECT_FALSE(root.get("u")->as_int());
  EXPECT_EQ(root.get("u")->as_double().value(), 18446744073709551615.0);
  EXPECT_EQ(root.get("b")->as_double().error().message, "must be a number, not true or false");
  EXPECT_EQ(root.get("z")->as_string().error().message, "must be a string, not null");
  EXPECT_EQ(root.get("a")->as_bool().error().message, "must be true or false, not an array");
  EXPECT_EQ(root.get("o")->items().error().message, "must be an array, not an object");
  EXPECT_EQ(root.get("a")->members().error().message, "must be an object, not an array");
  EXPECT_EQ(root.get("a")->as_strings().error().line(), "f.json:1:50: /a/0: must be a string, not a number");
}

TEST(NodeTest, WholeDoublesAreIntegers) {
  EXPECT_EQ(node("3.0").as_int().value(), 3);
  EXPECT_EQ(node("-2e3").as_int().value(), -2000);
  EXPECT_FALSE(node("1e300").as_int());
}

TEST(NodeTest, DefaultsStandInForAbsentKeysOnly) {
  const Node root = node(R"({"i": 5, "s": "x", "d": 2, "b": false, "bad": null})");
  EXPECT_EQ(root.int_or("i", 1).value(), 5);
  EXPECT_EQ(root.int_or("absent", 1).value(), 1);
  EXPECT_EQ(root.string_or("s", "y").value(), "x");
  EXPECT_EQ(root.string_or("absent", "y").value(), "y");
  EXPECT_EQ(root.double_or("d", 0.5).value(), 2.0);
  EXPECT_EQ(root.bool_or("b", true).value(), false);
  EXPECT_FALSE(root.int_or("bad", 1)) << "null is no default";
}

TEST(NodeTest, DefaultsDoNotHideThatItIsNoObject) {
  EXPECT_EQ(node("[1]").int_or("i", 1).error().message, "must be an object, not an array");
  EXPECT_EQ(node("5").string_or("s", "").error().message, "must be an object, not a number");
  EXPECT_FALSE(node("[1]").find("x"));
}

TEST(NodeTest, KeepsTheDocumentAlive) {
  std::optional<Node> child;
  {
    const Node root = node(R"({"a": {"b": [10, 20]}})");
    child = root.get("a")->get("b")->items().value()[1];
  }
  EXPECT_EQ(child->as_int().value(), 20);
  EXPECT_EQ(child->pointer(), "/a/b/1");
  EXPECT_EQ(child->file(), "f.json");
}

TEST(NodeTest, ReadNamesTheFile) {
  auto folder = TempDir::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/x.json";
  EXPECT_EQ(Node::read(path).error().code, ErrorCode::unreadable);
  ASSERT_TRUE(write_file_atomic(path, "[1,\n2"));
  EXPECT_EQ(Node::read(path).error().line().rfind(path + ":2:", 0), 0U);
  ASSERT_TRUE(write_file_atomic(path, "[1]"));
  EXPECT_EQ(Node::read(path)->items()->size(), 1U);
}
