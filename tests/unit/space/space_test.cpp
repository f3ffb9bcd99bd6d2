#include "space/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "base/file.h"

namespace tunesmith::space {
namespace {

std::vector<Value> whole(std::initializer_list<std::int64_t> values) {
  std::vector<Value> list;
  for (const std::int64_t value : values) list.emplace_back(value);
  return list;
}

std::vector<Value> range(std::int64_t begin, std::int64_t end) {
  std::vector<Value> list;
  for (std::int64_t value = begin; value < end; ++value) list.emplace_back(value);
  return list;
}

Result<Space> make(std::vector<Parameter> parameters, const std::vector<std::string>& constraints,
                   std::uint64_t limit = Space::k_default_limit) {
  std::vector<Space::Constraint> placed;
  for (std::size_t i = 0; i < constraints.size(); ++i)
    placed.push_back({constraints[i], {"case.json", static_cast<int>(i) + 1, 3, ""}});
  return Space::create(std::move(parameters), std::move(placed), limit);
}

/// The plain way: the whole product, every constraint.
std::vector<Config> brute_force(const Space& space) {
  std::vector<Config> legal;
  Config config;
  config.at.assign(space.parameters().size(), 0);
  while (true) {
    if (!space.broken(config)) legal.push_back(config);
    std::size_t p = config.at.size();
    while (p > 0 && ++config.at[p - 1] == space.parameters()[p - 1].values.size()) config.at[--p] = 0;
    if (p == 0) return legal;
  }
}

std::size_t difference(const Config& a, const Config& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.at.size(); ++i) count += a.at[i] != b.at[i] ? 1 : 0;
  return count;
}

std::string random_constraint(Rng& rng, std::size_t parameters) {
  const auto name = [&] { return "p" + std::to_string(rng.below(parameters)); };
  switch (rng.below(9)) {
    case 0:
      return name() + " * " + name() + " <= " + std::to_string(1 + rng.below(30));
    case 1:
      return name() + " % " + name() + " == 0";  // a zero among the values: division by zero
    case 2:
      return name() + " != " + name();
    case 3:
      return name() + " + " + name() + " + " + name() + " > " + std::to_string(rng.below(12));
    case 4:
      return name() + " == 0 or " + name() + " % (" + name() + " / " + name() + ") == 0";
    case 5:
      return name() + " in [1, 2, " + name() + "]";
    case 6:
      return name() + " > 0 and " + name() + " * " + name() + " < 20 and " + name() + " < 6";
    case 7:
      return "2 <= " + name() + " + " + name() + " <= 9";
    default:
      return "(" + name() + " if " + name() + " > 2 else " + name() + ") < 4";
  }
}

TEST(SpaceTest, AgreesWithTheWholeProductOnRandomSpaces) {
  Rng rng(20240501);
  int built = 0;
  int empty = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Parameter> parameters;
    const std::size_t count = 1 + rng.below(5);
    for (std::size_t p = 0; p < count; ++p) {
      std::vector<Value> values = range(0, 8);
      rng.shuffle(values);
      values.resize(1 + rng.below(6));
      parameters.push_back({"p" + std::to_string(p), values});
    }
    std::vector<std::string> constraints;
    for (std::uint64_t c = rng.below(4); c > 0; --c) constraints.push_back(random_constraint(rng, count));
    const auto space = make(parameters, constraints);
    if (!space) {
      ++empty;
      continue;
    }
    ++built;
    const std::vector<Config> legal = brute_force(*space);
    ASSERT_EQ(space->count(), legal.size()) << "round " << round;
    std::vector<Config> visited;
    space->for_each([&](const Config& config) {
      visited.push_back(config);
      return true;
    });
    ASSERT_EQ(visited, legal) << "round " << round;
    for (std::uint64_t i = 0; i < legal.size(); ++i) {
      ASSERT_EQ(space->at(i), legal[i]);
      ASSERT_EQ(space->index_of(legal[i]), i);
    }
    // Nearest: no legal configuration has fewer changes.
    Config wished;
    for (const Parameter& parameter : space->parameters())
      wished.at.push_back(static_cast<std::uint32_t>(rng.below(parameter.values.size())));
    const Config nearest = space->nearest_legal(wished);
    ASSERT_TRUE(space->legal(nearest));
    std::size_t least = 99;
    for (const Config& config : legal) least = std::min(least, difference(config, wished));
    ASSERT_EQ(difference(nearest, wished), least);
    ASSERT_EQ(space->legal(wished), least == 0);
    // Neighbours: exactly the legal configurations at distance one.
    std::vector<Config> expected;
    for (const Config& config : legal)
      if (difference(config, wished) == 1) expected.push_back(config);
    std::vector<Config> found = space->neighbours(wished, Neighbourhood::hamming);
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected);
  }
  EXPECT_GT(built, 250);
  EXPECT_GT(empty, 5);
}

TEST(SpaceTest, NamesTheFirstConstraintThatLeavesNothing) {
  const auto space =
      make({{"a", whole({1, 2, 3})}, {"b", whole({1, 2})}}, {"a > 1", "a * b > 4", "a < 3", "b < 9"});
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().place.line, 3);
  EXPECT_NE(space.error().message.find("\"a < 3\""), std::string::npos) << space.error().message;
  EXPECT_NE(space.error().message.find("together"), std::string::npos);
  const auto alone = make({{"a", whole({1, 2, 3})}}, {"a > 0", "a > 5"});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().place.line, 2);
  EXPECT_EQ(alone.error().message.find("together"), std::string::npos);
  EXPECT_FALSE(make({{"a", whole({1})}}, {"1 == 2"}));
}

TEST(SpaceTest, HoldsOnePointWithoutParametersOrChoices) {
  const auto none = make({}, {});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->count(), 1U);
  EXPECT_TRUE(none->legal(none->at(0)));
  const auto one = make({{"a", whole({4})}, {"b", whole({2})}}, {"a == 2 * b"});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->count(), 1U);
  EXPECT_TRUE(one->neighbours(one->at(0), Neighbourhood::hamming).empty());
  Rng rng(1);
  EXPECT_EQ(one->sample(rng), one->at(0));
}

TEST(SpaceTest, RefusesParametersThatCannotBecomeMacros) {
  EXPECT_FALSE(make({{"tile-m", whole({1})}}, {}));
  EXPECT_FALSE(make({{"1a", whole({1})}}, {}));
  EXPECT_FALSE(make({{"", whole({1})}}, {}));
  EXPECT_FALSE(make({{"in", whole({1})}}, {}));
  EXPECT_FALSE(make({{"int", whole({1})}}, {}));
  EXPECT_FALSE(make({{"a", whole({1})}, {"a", whole({2})}}, {}));
  EXPECT_FALSE(make({{"a", {}}}, {}));
  EXPECT_FALSE(make({{"a", whole({1, 2, 1})}}, {}));
  EXPECT_FALSE(make({{"a", {Value(std::int64_t{1}), Value(1.0)}}}, {}));
  EXPECT_FALSE(make({{"a", {Value(std::int64_t{1}), Value(std::string("x"))}}}, {}));
  EXPECT_FALSE(make({{"a", {Value(true), Value(std::int64_t{0})}}}, {}));
  EXPECT_FALSE(make({{"a", {Value(std::numeric_limits<double>::infinity())}}}, {}));
  const auto twice = make({{"tile", whole({1, 2, 1})}}, {});
  EXPECT_NE(twice.error().line().find("tile"), std::string::npos);
}

TEST(SpaceTest, PassesOnThePlaceOfAWrongConstraint) {
  const auto space = make({{"tile_m", whole({1, 2})}}, {"tile_m > 0", "tile_n > 0"});
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().place.line, 2);
  EXPECT_EQ(space.error().place.column, 4);
}

TEST(SpaceTest, CountsAConfigurationThatCannotBeEvaluatedAsIllegalAndTells) {
  const auto space = make({{"a", whole({4, 6})}, {"b", whole({0, 2, 3})}}, {"a % b == 0"});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->count(), 3U);
  EXPECT_NE(space->note().find("division by zero"), std::string::npos) << space->note();
  EXPECT_NE(space->note().find("a=4 b=0"), std::string::npos) << space->note();
  const auto guarded = make({{"a", whole({4, 6})}, {"b", whole({0, 2, 3})}}, {"b != 0 and a % b == 0"});
  EXPECT_EQ(guarded->count(), 3U);
  EXPECT_TRUE(guarded->note().empty());
  const auto empty = make({{"a", whole({4, 6})}, {"b", whole({0})}}, {"a % b == 0"});
  EXPECT_NE(empty.error().message.find("division by zero"), std::string::npos);
}

TEST(SpaceTest, SaysWhichConstraintIsBroken) {
  const auto space = make({{"mr", whole({4, 8})}, {"nr", whole({2, 8})}}, {"mr * nr <= 32"});
  EXPECT_EQ(space->broken({{1, 1}}), "\"mr * nr <= 32\" does not hold for mr=8 nr=8");
  EXPECT_EQ(space->broken({{0, 1}}), std::nullopt);
  EXPECT_TRUE(space->broken({{0}}));
  EXPECT_TRUE(space->broken({{0, 7}}));
  EXPECT_FALSE(space->legal({{0, 7}}));
  EXPECT_EQ(space->index_of({{1, 1}}), std::nullopt);
}

TEST(SpaceTest, SamplesUniformly) {
  const auto space = make({{"a", range(0, 4)}, {"b", range(0, 5)}}, {"a * b <= 4", "a + b > 0"});
  std::vector<int> hits(space->count(), 0);
  Rng rng(7);
  const int draws = 2000 * static_cast<int>(hits.size());
  for (int i = 0; i < draws; ++i) ++hits[*space->index_of(space->sample(rng))];
  double chi = 0;
  for (const int hit : hits) chi += (hit - 2000.0) * (hit - 2000.0) / 2000.0;
  EXPECT_LT(chi, 3.0 * static_cast<double>(hits.size()));  // mean: size - 1; the seed is fixed
}

TEST(SpaceTest, StepsToTheNextValueBySizeNotByPosition) {
  const auto space =
      make({{"a", whole({16, 1, 4, 8})},
            {"mode", {Value(std::string("x")), Value(std::string("y")), Value(std::string("z"))}}},
           {});
  const Config from{{2, 0}};  // a = 4
  std::set<std::string> texts;
  for (const Config& config : space->neighbours(from, Neighbourhood::adjacent))
    texts.insert(space->text(config));
  EXPECT_EQ(texts, (std::set<std::string>{"a=1 mode=x", "a=8 mode=x", "a=4 mode=y", "a=4 mode=z"}));
  EXPECT_EQ(space->neighbours(from, Neighbourhood::strictly_adjacent).size(), 3U * 3U - 1U);
  EXPECT_EQ(space->neighbours(from, Neighbourhood::hamming).size(), 5U);
}

TEST(SpaceTest, PrefersSmallStepsAmongEquallyNearConfigurations) {
  const auto space =
      make({{"a", whole({1, 2, 4, 8, 16})}, {"b", whole({8})}}, {"a * b <= 16 or a * b > 100"});
  // From a = 8 both 2 (two steps) and 16 (one step) mend it.
  EXPECT_EQ(space->text(space->nearest_legal({{3, 0}})), "a=16 b=8");
  EXPECT_TRUE(space->legal(space->nearest_legal({{}})));
  EXPECT_TRUE(space->legal(space->nearest_legal({{99, 99, 99}})));
}

TEST(SpaceTest, CountsATrillionPointsWithLocalConstraints) {
  std::vector<Parameter> parameters;
  std::vector<std::string> constraints;
  for (int p = 0; p < 12; ++p) {
    parameters.push_back({"p" + std::to_string(p), range(1, 11)});
    if (p > 0) constraints.push_back("p" + std::to_string(p) + " >= p" + std::to_string(p - 1));
  }
  const auto space = make(parameters, constraints, 2000);  // so few parts are enough
  ASSERT_TRUE(space) << space.error().line();
  EXPECT_EQ(space->cartesian(), 1e12);
  EXPECT_EQ(space->count(), 293930U);  // non-decreasing sequences: C(21, 12)
  EXPECT_EQ(space->index_of(space->at(123456)), 123456U);
}

TEST(SpaceTest, MergesPastsWithTheSameRest) {
  std::vector<Parameter> parameters;
  std::string product = "1";
  for (int p = 0; p < 10; ++p) {
    parameters.push_back({"p" + std::to_string(p), whole({1, 2, 4, 8, 16})});
    product += " * p" + std::to_string(p);
  }
  const auto space = make(parameters, {product + " == 1024"}, 3000);
  ASSERT_TRUE(space) << space.error().line();
  // Coefficient of x^10 in (1 + x + x^2 + x^3 + x^4)^10.
  EXPECT_EQ(space->count(), 72403U);
}

TEST(SpaceTest, KeepsIndicesAndSamplesRightBeyond64Bits) {
  std::vector<Parameter> parameters;
  for (int p = 0; p < 30; ++p) parameters.push_back({"p" + std::to_string(p), range(0, 10)});
  const auto space = make(parameters, {"p0 + p1 > 0"});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(space->index_of(space->at(1'000'000'007)), 1'000'000'007U);
  Rng rng(3);
  std::map<std::uint32_t, int> first;
  std::map<std::uint32_t, int> last;
  for (int i = 0; i < 20000; ++i) {
    const Config config = space->sample(rng);
    ASSERT_TRUE(space->legal(config));
    ++first[config.at[0]];
    ++last[config.at[29]];
  }
  EXPECT_NEAR(first[0], 20000 * 9 / 99.0, 200);
  EXPECT_NEAR(first[5], 20000 * 10 / 99.0, 200);
  EXPECT_NEAR(last[0], 2000, 200);
}

TEST(SpaceTest, GivesUpClearlyWhenTheDiagramGrowsTooLarge) {
  std::vector<Parameter> parameters;
  std::string sum = "0";
  for (int p = 0; p < 12; ++p) {
    parameters.push_back({"p" + std::to_string(p), range(1, 9)});
    sum += " + p" + std::to_string(p) + " ** " + std::to_string(p + 1);
  }
  const auto space = make(parameters, {sum + " > 77"}, 10000);
  ASSERT_FALSE(space);
  EXPECT_NE(space.error().message.find("10000"), std::string::npos);
}

TEST(SpaceTest, ReadsAndWritesConfigurations) {
  const auto space = make({{"mr", whole({4, 8})}, {"pack", {Value(true), Value(false)}}}, {});
  const auto read = [&](const char* text) { return space->from_json(*Node::parse(text, "config.json")); };
  const auto config = read(R"({"pack": false, "mr": 8})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->at, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(print_json_compact(space->to_json(*config)), R"({"mr":8,"pack":false})");
  EXPECT_EQ(space->text(*config), "mr=8 pack=false");
  EXPECT_TRUE(read(R"({"pack": 0, "mr": 8.0})"));  // other tuners write booleans as numbers
  EXPECT_NE(read(R"({"pack": false})").error().message.find("'mr' is missing"), std::string::npos);
  EXPECT_NE(read("{\"pack\": false,\n \"mr\": 16}").error().line().find("config.json:2:"), std::string::npos);
  EXPECT_FALSE(read(R"({"pack": false, "mr": 8, "nr": 1})"));
  EXPECT_FALSE(read("[8, false]"));
}

TEST(SpaceTest, BuildsALargeConstrainedSpaceExactly) {
  // The shape of a public GEMM space, widened to 1.5 million points of the product.
  std::vector<Parameter> parameters = {{"MWG", whole({16, 32, 64, 128})},
                                       {"NWG", whole({16, 32, 64, 128})},
                                       {"KWG", whole({16, 32})},
                                       {"MDIMC", whole({8, 16, 32})},
                                       {"NDIMC", whole({8, 16, 32})},
                                       {"MDIMA", whole({8, 16, 32})},
                                       {"NDIMB", whole({8, 16, 32})},
                                       {"KWI", whole({2, 4, 8, 16})},
                                       {"VWM", whole({1, 2, 4, 8})},
                                       {"VWN", whole({1, 2, 4, 8})},
                                       {"SA", whole({0, 1})},
                                       {"SB", whole({0, 1})},
                                       {"STRM", whole({0, 1})}};
  const std::vector<std::string> constraints = {"KWG % KWI == 0",
                                                "MWG % (MDIMC * VWM) == 0",
                                                "NWG % (NDIMC * VWN) == 0",
                                                "MWG % (MDIMA * VWM) == 0",
                                                "NWG % (NDIMB * VWN) == 0",
                                                "KWG % ((MDIMC * NDIMC)/MDIMA) == 0",
                                                "KWG % ((MDIMC * NDIMC)/NDIMB) == 0",
                                                "SA * KWG * MWG + SB * KWG * NWG <= 8192"};
  const auto space = make(parameters, constraints);
  ASSERT_TRUE(space);
  EXPECT_EQ(space->cartesian(), 1327104.0);
  EXPECT_EQ(space->count(), brute_force(*space).size());
}

std::string recorded_spaces() {
  const char* given = std::getenv("TUNESMITH_SHARED_DATA");
  return (given != nullptr ? std::string(given) : std::string(TUNESMITH_SOURCE_DIR) + "/../shared/data") +
         "/spaces";
}

TEST(SpaceTest, CountsRecordedSpacesExactly) {
  const std::string folder = recorded_spaces();
  if (!is_folder(folder))
    GTEST_SKIP() << "no recorded spaces: set TUNESMITH_SHARED_DATA to the folder that holds spaces/";
  int seen = 0;
  for (const std::string& name : list_folder(folder)) {
    if (!name.ends_with(".json")) continue;
    const auto node = Node::read(folder + "/" + name);
    ASSERT_TRUE(node) << node.error().line();
    std::vector<Parameter> parameters;
    const auto members = node->get("parameters")->members();
    for (const auto& [key, list] : *members) {
      Parameter parameter{key, {}};
      const auto items = list.items();
      for (const Node& item : *items) parameter.values.push_back(*value_from_json(item));
      parameters.push_back(std::move(parameter));
    }
    std::vector<Space::Constraint> constraints;
    const auto texts = node->get("constraints")->items();
    for (const Node& item : *texts) constraints.push_back({*item.as_string(), item.place()});
    const auto space = Space::create(parameters, constraints);
    ASSERT_TRUE(space) << name << ": " << space.error().line();
    EXPECT_EQ(static_cast<std::int64_t>(space->count()), *node->get("configurations")->as_int()) << name;
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace tunesmith::space
