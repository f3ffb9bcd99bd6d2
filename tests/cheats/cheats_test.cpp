// Every cheat of the museum must be caught, its honest twin accepted, and let through without its one
// defence. TUNESMITH_SEED replays a seed that a failure has printed; TUNESMITH_FULL takes three.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "app/museum.h"
#include "bench/defences.h"

namespace tunesmith::app {
namespace {

/// One museum for the whole program: entries share opened benches.
Result<Museum>& museum() {
  static Result<Museum> it = Museum::load(std::string(TUNESMITH_SOURCE_DIR) + "/museum");
  return it;
}

std::vector<MuseumEntry> entries() { return museum() ? museum()->entries() : std::vector<MuseumEntry>(); }

std::vector<std::uint64_t> seeds() {
  if (const char* given = std::getenv("TUNESMITH_SEED")) return {std::strtoull(given, nullptr, 10)};
  if (std::getenv("TUNESMITH_FULL") != nullptr) return {1, 20261, 987654321};
  return {1};
}

std::string name_of_entry(const ::testing::TestParamInfo<MuseumEntry>& info) { return info.param.id; }

class CheatsTest : public ::testing::TestWithParam<MuseumEntry> {};

TEST_P(CheatsTest, IsCaughtItsTwinAcceptedAndItsControlLetThrough) {
  for (const std::uint64_t seed : seeds()) {
    const auto result = museum()->run(GetParam(), seed);
    ASSERT_TRUE(result) << "seed " << seed << ": " << result.error().line();
    ASSERT_GE(result->runs.size(), 4U);
    for (const MuseumRun& run : result->runs) {
      EXPECT_TRUE(run.ok) << fmt::format("{} {}, seed {}: {}: {}", GetParam().id, GetParam().name, seed,
                                         run.what, run.found);
      fmt::print("{:5} {:8} {}  {}\n", GetParam().id, run.what, run.ok ? "ok  " : "FAIL", run.found);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Museum, CheatsTest, ::testing::ValuesIn(entries()), name_of_entry);

TEST(MuseumTest, IsReadWithoutComplaint) { ASSERT_TRUE(museum()) << museum().error().line(); }

TEST(MuseumTest, SwitchesEveryDefenceOffSomewhere) {
  ASSERT_TRUE(museum());
  for (const std::string& name : bench::defence_names()) {
    const auto& all = museum()->entries();
    const bool named = std::any_of(all.begin(), all.end(), [&](const MuseumEntry& e) {
      return e.defence == name || std::find(e.layers.begin(), e.layers.end(), name) != e.layers.end();
    });
    EXPECT_TRUE(named) << name << " is no entry's defence";
  }
}

}  // namespace
}  // namespace tunesmith::app
