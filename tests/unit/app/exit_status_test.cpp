#include "app/exit_status.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"

namespace tunesmith::app {
namespace {

TEST(ExitStatusTest, TheDocumentHoldsTheTableWordForWord) {
  const auto text = read_file(std::string(TUNESMITH_SOURCE_DIR) + "/docs/exit-statuses.md");
  ASSERT_TRUE(text) << text.error().line();
  EXPECT_NE(text->find(exit_table_markdown()), std::string::npos) << "docs/exit-statuses.md must contain:\n"
                                                                  << exit_table_markdown();
}

TEST(ExitStatusTest, EveryStatusIsThereOnce) {
  std::set<int> seen;
  for (const ExitInfo& info : exit_table()) EXPECT_TRUE(seen.insert(static_cast<int>(info.status)).second);
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 4, 5, 6, 130}));
}

TEST(ExitStatusTest, ErrorsMapToTheirStatus) {
  EXPECT_EQ(exit_of(ErrorCode::usage), Exit::usage);
  EXPECT_EQ(exit_of(ErrorCode::unreadable), Exit::usage);
  EXPECT_EQ(exit_of(ErrorCode::invalid), Exit::usage);
  EXPECT_EQ(exit_of(ErrorCode::conflict), Exit::conflict);
  EXPECT_EQ(exit_of(ErrorCode::unavailable), Exit::unavailable);
  EXPECT_EQ(exit_of(ErrorCode::io), Exit::infrastructure);
  EXPECT_EQ(exit_of(ErrorCode::interrupted), Exit::interrupted);
}

}  // namespace
}  // namespace tunesmith::app
