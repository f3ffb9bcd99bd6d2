#include "app/search_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tunesmith::app {

namespace {

constexpr double k_width = 760, k_height = 440;
constexpr double k_left = 70, k_right = 150, k_top = 40, k_bottom = 50;
// Below a thousandth above the optimum no measurement tells two kernels apart.
constexpr double k_least = 0.001, k_most = 3;
// Told apart by people who see few colours (Okabe and Ito 2008).
constexpr std::array<const char*, 8> k_colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#8c6d31", "#555555"};

double across(double count, double most) {
  return k_left + (k_width - k_left - k_right) * (count - 1) / std::max(1.0, most - 1);
}

double upward(double ratio) {
  const double excess = std::clamp(ratio - 1, k_least, k_most);
  const double share = std::log(excess / k_least) / std::log(k_most / k_least);
  return k_height - k_bottom - (k_height - k_top - k_bottom) * share;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

struct Line {
  std::string name;
  const std::vector<double>* curve;
  const char* colour;
  bool dashed;
};

}  // namespace

std::string search_plot(const search::Comparison& comparison, std::size_t spaces, std::uint64_t seeds) {
  std::vector<Line> lines;
  for (std::size_t s = 0; s < comparison.standings.size(); ++s)
    lines.push_back({comparison.standings[s].name, &comparison.standings[s].curve,
                     k_colours[s % (k_colours.size() - 1)], s + 1 >= k_colours.size()});
  lines.push_back({"random, exact", &comparison.random_curve, k_colours.back(), true});
  const auto most = static_cast<double>(comparison.random_curve.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"14\">best / optimum: geometric mean over {3} spaces, median of "
      "{4} "
      "seeds</text>\n",
      k_width, k_height, k_left, spaces, seeds);
  for (const double excess : {0.001, 0.01, 0.1, 1.0}) {
    const double y = upward(1 + excess);
    svg += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        k_left, k_width - k_right, y, y, k_left - 8, y + 4, 1 + excess);
  }
  for (int i = 0; i <= 4; ++i) {
    const double count = std::max(1.0, std::round(most * i / 4));
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n",
                       across(count, most), k_height - k_bottom + 18, count);
  }
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">unique evaluations</text>\n",
                     (k_left + k_width - k_right) / 2, k_height - 12);
  // Labels from the top down, each at its line's end but never over another.
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = lines[a].curve->back();
    const double y = lines[b].curve->back();
    return x != y ? x > y : a < b;
  });
  double below = k_top;
  const double last = k_height - k_bottom;
  std::vector<double> label(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double room = last - 14 * static_cast<double>(order.size() - 1 - i);
    label[order[i]] = std::max(below, std::min(upward(lines[order[i]].curve->back()), room));
    below = label[order[i]] + 14;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    std::string points;
    for (std::size_t count = 1; count <= line.curve->size(); ++count)
      points += fmt::format("{:.1f},{:.1f} ", across(static_cast<double>(count), most),
                            upward((*line.curve)[count - 1]));
    svg += fmt::format(
        "<polyline fill=\"none\" stroke=\"{0}\" stroke-width=\"{1}\"{2} points=\"{3}\"/>\n"
        "<text x=\"{4}\" y=\"{5:.1f}\" fill=\"{0}\">{6}</text>\n",
        line.colour, i == 0 ? 2.5 : 1.5, line.dashed ? " stroke-dasharray=\"5 3\"" : "", points,
        k_width - k_right + 8, label[i] + 4, escaped(line.name));
  }
  return svg + "</svg>\n";
}

}  // namespace tunesmith::app
