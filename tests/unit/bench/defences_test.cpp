#include "bench/defences.h"

#include <gtest/gtest.h>

namespace tunesmith::bench {
namespace {

TEST(DefencesTest, AllStandUnlessSwitchedOff) {
  const auto all = Defences::without({});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->check_results && all->poison && all->sandbox && all->nonce);
}

TEST(DefencesTest, SwitchesOffOneByItsNameAndNoOther) {
  const auto some = Defences::without({"poison", "nonce"});
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->poison);
  EXPECT_FALSE(some->nonce);
  EXPECT_TRUE(some->guard_bytes && some->sandbox && some->determinism);
}

TEST(DefencesTest, EveryNameIsKnown) {
  EXPECT_GE(defence_names().size(), 20U);
  EXPECT_TRUE(Defences::without(defence_names()));
}

TEST(DefencesTest, AnUnknownNameGetsTheNearestOne) {
  const auto none = Defences::without({"poisson"});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().line().find("poison"), std::string::npos) << none.error().line();
}

}  // namespace
}  // namespace tunesmith::bench
