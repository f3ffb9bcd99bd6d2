#include "app/search_plot.h"

#include <gtest/gtest.h>

#include <limits>

namespace tunesmith::app {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SearchPlotTest, DrawsALineForEachStrategyAndForRandomSearch) {
  search::Comparison comparison;
  comparison.random_curve = {2, 1.5, 1.2};
  comparison.standings.resize(2);
  comparison.standings[0].name = "auto";
  comparison.standings[0].curve = {1.5, 1.001, 1};
  comparison.standings[1].name = "a<b&c";
  // Nothing valid yet: the line begins at the upper edge.
  comparison.standings[1].curve = {std::numeric_limits<double>::infinity(), 1.5, 1.2};
  const std::string svg = search_plot(comparison, 13, 100);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<polyline"), 3U);
  EXPECT_NE(svg.find("a&lt;b&amp;c"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(SearchPlotTest, StandsABudgetOfOne) {
  search::Comparison comparison;
  comparison.random_curve = {2};
  const std::string svg = search_plot(comparison, 1, 1);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace tunesmith::app
