#include "case/reason.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "base/text.h"

namespace tunesmith {
namespace {

TEST(ReasonTest, EveryCodeIsUniqueAndReadsBack) {
  std::set<std::string_view> codes;
  for (const ReasonInfo& info : reason_table()) {
    EXPECT_TRUE(codes.insert(info.code).second) << info.code;
    EXPECT_EQ(reason_from_code(info.code), info.reason);
    EXPECT_EQ(code_of(info.reason), info.code);
    EXPECT_FALSE(info.meaning.empty());
    for (const char c : info.code) EXPECT_TRUE((c >= 'A' && c <= 'Z') || c == '_') << info.code;
  }
}

TEST(ReasonTest, EveryReasonButNoneStandsInTheTable) {
  // infra is the last enumerator: one row for each, none missing.
  EXPECT_EQ(reason_table().size(), static_cast<std::size_t>(Reason::infra));
  EXPECT_EQ(code_of(Reason::none), "");
}

TEST(ReasonTest, UnknownCodesAreNoReason) {
  EXPECT_EQ(reason_from_code(""), std::nullopt);
  EXPECT_EQ(reason_from_code("wrong_result"), std::nullopt);
  EXPECT_EQ(reason_from_code("WRONG_RESULT "), std::nullopt);
}

TEST(ReasonTest, TheDocumentListsExactlyTheTable) {
  const auto text = read_file(std::string(TUNESMITH_SOURCE_DIR) + "/docs/reason-codes.md");
  ASSERT_TRUE(text) << text.error().line();
  std::vector<std::string> documented;
  for (const std::string_view line : split_lines(*text)) {
    if (line.starts_with("## ")) documented.emplace_back(line.substr(3));
  }
  std::vector<std::string> table;
  for (const ReasonInfo& info : reason_table()) {
    table.emplace_back(info.code);
    EXPECT_NE(text->find("## " + std::string(info.code) + "\n\n" + std::string(info.meaning)),
              std::string::npos)
        << info.code << " does not begin with its meaning";
  }
  EXPECT_EQ(documented, table);
}

}  // namespace
}  // namespace tunesmith
