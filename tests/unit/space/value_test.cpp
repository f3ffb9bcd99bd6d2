#include "space/value.h"

#include <gtest/gtest.h>

namespace tunesmith::space {
namespace {

Result<Value> read(const std::string& text) {
  TS_ASSIGN(const Node node, Node::parse("{\"v\": " + text + "}", "x.json"));
  TS_ASSIGN(const Node value, node.get("v"));
  return value_from_json(value);
}

TEST(ValueTest, KeepsTheKindThatTheFileWrites) {
  EXPECT_EQ(read("4").value(), Value(std::int64_t{4}));
  EXPECT_EQ(read("4.0").value(), Value(4.0));
  EXPECT_EQ(read("true").value(), Value(true));
  EXPECT_EQ(read("\"128B\"").value(), Value(std::string("128B")));
}

TEST(ValueTest, RefusesWhatIsNoValueWithItsPlace) {
  for (const char* text : {"null", "[1]", "{}", "18446744073709551615"}) {
    const auto value = read(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().place.line, 1) << text;
  }
}

TEST(ValueTest, BecomesAMacroThatKeepsItsMeaningInC) {
  EXPECT_EQ(macro_text(Value(true)), "1");
  EXPECT_EQ(macro_text(Value(std::int64_t{-3})), "-3");
  EXPECT_EQ(macro_text(Value(4.0)), "4.0");  // 1/4 and 1/4.0 are different programs
  EXPECT_EQ(macro_text(Value(0.1)), "0.1");
  EXPECT_EQ(macro_text(Value(std::string("float4"))), "float4");
}

TEST(ValueTest, ReadsBackFromItsOwnJson) {
  for (const Value& value : {Value(true), Value(std::int64_t{7}), Value(0.1), Value(std::string("x"))})
    EXPECT_EQ(read(print_json_compact(value_to_json(value))).value(), value);
}

TEST(ValueTest, ComparesNumbersAcrossKinds) {
  EXPECT_TRUE(equal(Value(true), Value(std::int64_t{1})));
  EXPECT_TRUE(equal(Value(std::int64_t{2}), Value(2.0)));
  EXPECT_FALSE(equal(Value(std::int64_t{9007199254740993}), Value(9007199254740992.0)));
  EXPECT_FALSE(equal(Value(std::string("1")), Value(std::int64_t{1})));
  EXPECT_FALSE(truthy(Value(std::string())));
  EXPECT_TRUE(truthy(Value(0.5)));
  EXPECT_EQ(number_of(Value(true)).value(), 1.0);
  EXPECT_FALSE(number_of(Value(std::string("1"))));
}

}  // namespace
}  // namespace tunesmith::space
