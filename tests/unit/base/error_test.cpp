#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

using namespace tunesmith;

namespace {

Result<int> halve(int number) {
  if (number % 2 != 0) return fail(ErrorCode::invalid, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  TS_ASSIGN(const int half, halve(number));
  TS_ASSIGN(const int result, halve(half));
  return result;
}

Status check(int number) {
  TS_TRY(quarter(number));
  return {};
}

}  // namespace

TEST(ErrorTest, LineNamesPlaceKeyMessageAndMend) {
  const Error error{
      ErrorCode::invalid, "unknown unit \"kb\"", "use MiB", {"cases/a.json", 3, 7, "/limits/memory"}};
  EXPECT_EQ(error.line(), "cases/a.json:3:7: /limits/memory: unknown unit \"kb\"; use MiB");
}

TEST(ErrorTest, UnknownPartsAreLeftOut) {
  EXPECT_EQ((Error{ErrorCode::io, "failed", "", {}}).line(), "failed");
  EXPECT_EQ((Error{ErrorCode::io, "failed", "retry", {"f", 0, 5, ""}}).line(), "f: failed; retry");
  EXPECT_EQ((Error{ErrorCode::io, "failed", "", {"f", 2, 0, ""}}).line(), "f:2: failed");
}

TEST(ErrorTest, IsAlwaysOneLineAndCannotMoveTheCursor) {
  const Error error{ErrorCode::invalid, "said \"a\nb\r\x1b[2J\"", "", {}};
  EXPECT_EQ(error.line(), "said \"a\\nb\\r\\x1b[2J\"");
}

TEST(ErrorTest, MacrosPassErrorsOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(check(4));
  EXPECT_EQ(check(3).error().code, ErrorCode::invalid);
}

TEST(ErrorTest, NamesErrno) { EXPECT_EQ(errno_text(ENOSPC), "No space left on device"); }
