#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <thread>

#include "app/command.h"
#include "app/recorded_spaces.h"
#include "app/search_plot.h"
#include "base/file.h"
#include "base/text.h"
#include "search/compare.h"
#include "term/live.h"
#include "term/table.h"

namespace tunesmith::app {

namespace {

constexpr const char* k_default_strategies = "auto,random";
constexpr std::uint64_t k_default_seeds = 20;
constexpr std::uint64_t k_most_budget = 1'000'000;

struct Request {
  std::vector<search::Contestant> contestants;
  search::ComparePlan plan;
  RecordedSpaces read;
};

Result<std::vector<std::string>> list_of(const Arguments& arguments, const char* flag, const char* fallback) {
  std::vector<std::string> items;
  const std::string text = arguments.text(flag, fallback);
  for (const std::string_view part : split(text, ',')) {
    const std::string item(trim(part));
    if (item.empty())
      return fail(ErrorCode::usage, "an empty item in the list", "as in a,b,c", Place{"", 0, 0, flag});
    if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
  }
  return items;
}

Result<std::vector<std::uint64_t>> budgets_of(const Arguments& arguments) {
  TS_ASSIGN(const auto items, list_of(arguments, "--budgets", "25,50,100,200"));
  std::vector<std::uint64_t> budgets;
  for (const std::string& item : items) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), count);
    if (error != std::errc() || end != item.data() + item.size() || count == 0 || count > k_most_budget)
      return fail(ErrorCode::usage, fmt::format("'{}' is not a count of evaluations", printable(item)),
                  fmt::format("whole numbers from 1 to {}, as in 25,50,100", k_most_budget),
                  Place{"", 0, 0, "--budgets"});
    budgets.push_back(count);
  }
  std::sort(budgets.begin(), budgets.end());
  return budgets;
}

Status choose_spaces(const Arguments& arguments, RecordedSpaces& read) {
  if (!arguments.has("--only")) return {};
  TS_ASSIGN(const auto wanted, list_of(arguments, "--only", ""));
  std::vector<search::ReplaySpace> chosen;
  for (const std::string& name : wanted) {
    const auto found = std::find_if(read.spaces.begin(), read.spaces.end(),
                                    [&](const search::ReplaySpace& space) { return space.name == name; });
    if (found == read.spaces.end()) {
      std::vector<std::string> known;
      for (const search::ReplaySpace& space : read.spaces) known.push_back(space.name);
      return fail(ErrorCode::usage, fmt::format("no space '{}' in the folder", printable(name)),
                  "there are: " + join(known, ", "), Place{"", 0, 0, "--only"});
    }
  }
  for (search::ReplaySpace& space : read.spaces)
    if (std::find(wanted.begin(), wanted.end(), space.name) != wanted.end())
      chosen.push_back(std::move(space));
  read.spaces = std::move(chosen);
  return {};
}

Status add_priors(const Arguments& arguments, Request& request) {
  const bool others = arguments.has("--prior-from-others");
  if (others && arguments.has("--prior"))
    return fail(ErrorCode::usage, "--prior and --prior-from-others exclude each other", "leave one out");
  // Before --only thins the spaces: a device left out of the comparison may still teach.
  if (others)
    for (std::size_t s = 0; s < request.read.spaces.size(); ++s)
      request.plan.priors.push_back(search::prior_from_others(request.read.spaces, s));
  return {};
}

Result<Request> read_request(const Context& context) {
  const Arguments& arguments = context.arguments;
  Request request;
  if (!arguments.has("--spaces"))
    return fail(ErrorCode::usage, "compare-strategies needs --spaces DIR", "the folder with the recordings");
  TS_ASSIGN(const auto names, list_of(arguments, "--strategies", k_default_strategies));
  for (const std::string& name : names) {
    std::vector<std::string> known;
    for (const search::StrategyInfo& info : search::strategy_table()) known.emplace_back(info.name);
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(ErrorCode::usage, fmt::format("unknown strategy '{}'", printable(name)),
                  "known strategies: " + join(known, ", "), Place{"", 0, 0, "--strategies"});
    request.contestants.push_back({name, [name](const space::Space& space, std::uint64_t seed,
                                                const search::Budget& budget, const search::Prior& prior) {
                                     return std::move(
                                         *search::make_strategy(name, space, seed, budget, prior));
                                   }});
  }
  TS_ASSIGN(request.plan.budgets, budgets_of(arguments));
  request.plan.seeds = arguments.count("--seeds").value_or(k_default_seeds);
  if (request.plan.seeds == 0 || request.plan.seeds > k_most_budget)
    return fail(ErrorCode::usage, "must be at least 1", "", Place{"", 0, 0, "--seeds"});
  const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  request.plan.threads = std::clamp<std::uint64_t>(arguments.count("--threads").value_or(cores), 1, 1024);
  TS_ASSIGN(request.read, read_recorded_spaces(arguments.text("--spaces")));
  for (const std::string& line : request.read.left_out) context.remark("left out: " + line);
  TS_TRY(add_priors(arguments, request));
  std::vector<std::string> all;
  for (const search::ReplaySpace& space : request.read.spaces) all.push_back(space.name);
  TS_TRY(choose_spaces(arguments, request.read));
  if (request.read.spaces.empty())
    return fail(ErrorCode::unreadable,
                fmt::format("no recording with an optimum in {}", printable(arguments.text("--spaces"))),
                "any format that tunesmith record FILE reads will do");
  if (!request.plan.priors.empty()) {
    std::vector<search::Prior> kept;
    for (const search::ReplaySpace& space : request.read.spaces)
      kept.push_back(std::move(request.plan.priors[static_cast<std::size_t>(
          std::find(all.begin(), all.end(), space.name) - all.begin())]));
    request.plan.priors = std::move(kept);
  }
  if (arguments.has("--prior")) {
    for (const search::ReplaySpace& space : request.read.spaces) {
      auto prior = read_prior(arguments.text("--prior"), space.space);
      if (!prior && prior.error().code != ErrorCode::invalid) return tl::unexpected<Error>(prior.error());
      if (!prior)
        context.remark(fmt::format("{}: goes without the prior: {}", space.name, prior.error().message));
      request.plan.priors.push_back(prior ? std::move(*prior) : search::Prior{});
    }
  }
  return request;
}

json::value number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

json::object json_of(const Request& request, const search::Comparison& comparison) {
  const auto key = [&](std::size_t b) { return std::to_string(request.plan.budgets[b]); };
  json::array spaces;
  for (std::size_t s = 0; s < request.read.spaces.size(); ++s) {
    const search::ReplaySpace& space = request.read.spaces[s];
    json::object random;
    for (std::size_t b = 0; b < request.plan.budgets.size(); ++b)
      random[key(b)] = json::object{{"median", comparison.random[s][b].median / space.optimum},
                                    {"mean", comparison.random[s][b].mean / space.optimum}};
    json::object strategies;
    for (const search::Standing& standing : comparison.standings) {
      json::object budgets;
      for (std::size_t b = 0; b < request.plan.budgets.size(); ++b) {
        const search::Cell& cell = standing.cells[s][b];
        budgets[key(b)] = json::object{{"median", number(cell.median)},
                                       {"low_quartile", number(cell.low_quartile)},
                                       {"high_quartile", number(cell.high_quartile)},
                                       {"mean", number(cell.mean)},
                                       {"score", cell.score},
                                       {"within_5_percent", cell.within},
                                       {"ms_per_evaluation", cell.ms_per_ask}};
      }
      strategies[standing.name] = std::move(budgets);
    }
    spaces.push_back(json::object{
        {"name", space.name},
        {"kernel", space.kernel},
        {"device", space.device},
        {"configurations", space.cost.size()},
        {"valid", space.valid.size()},
        {"optimum", space.optimum},
        {"prior_sources", request.plan.priors.empty() ? 0 : request.plan.priors[s].sources.size()},
        {"random_exact", std::move(random)},
        {"strategies", std::move(strategies)}});
  }
  json::object summary;
  json::object interval;
  json::object score;
  json::object curve_score;
  json::object overhead;
  for (const search::Standing& standing : comparison.standings) {
    json::object ratios;
    json::object intervals;
    json::object scores;
    for (std::size_t b = 0; b < request.plan.budgets.size(); ++b) {
      ratios[key(b)] = standing.summary[b];
      intervals[key(b)] = json::array{standing.interval[b][0], standing.interval[b][1]};
      scores[key(b)] = standing.score[b];
    }
    summary[standing.name] = std::move(ratios);
    interval[standing.name] = std::move(intervals);
    score[standing.name] = std::move(scores);
    curve_score[standing.name] = standing.curve_score;
    overhead[standing.name] = standing.ms_per_ask;
  }
  json::object random;
  for (std::size_t b = 0; b < request.plan.budgets.size(); ++b) random[key(b)] = comparison.random_summary[b];
  json::array left_out;
  for (const std::string& line : request.read.left_out) left_out.push_back(json::string(line));
  return {{"seeds", request.plan.seeds},
          {"summary", std::move(summary)},
          {"interval_95", std::move(interval)},
          {"random_exact", std::move(random)},
          {"score", std::move(score)},
          {"curve_score", std::move(curve_score)},
          {"overhead_ms_per_evaluation", std::move(overhead)},
          {"left_out", std::move(left_out)},
          {"spaces", std::move(spaces)}};
}

std::string tables_of(const Context& context, const Request& request, const search::Comparison& comparison) {
  const int fd = fileno(context.out);
  const term::Surroundings around = fd >= 0 ? term::surroundings_of(fd) : term::Surroundings{};
  const term::Lines lines = around.utf8 ? term::Lines::box : term::Lines::ascii;
  std::vector<term::Column> columns = {{"space"}, {"strategy"}};
  for (const std::uint64_t budget : request.plan.budgets)
    columns.push_back({std::to_string(budget), term::Align::right});
  columns.push_back({"ms/evaluation", term::Align::right});
  term::Table spaces(columns);
  spaces.title("median of best / optimum");
  for (std::size_t s = 0; s < request.read.spaces.size(); ++s) {
    if (s > 0) spaces.rule();
    for (std::size_t c = 0; c < comparison.standings.size(); ++c) {
      const search::Standing& standing = comparison.standings[c];
      std::vector<std::string> row = {c == 0 ? request.read.spaces[s].name : "", standing.name};
      for (const search::Cell& cell : standing.cells[s]) row.push_back(fmt::format("{:.4f}", cell.median));
      row.push_back(fmt::format("{:.2f}", standing.cells[s].back().ms_per_ask));
      spaces.row(std::move(row));
    }
  }
  columns.front() = {"over all spaces"};
  columns.push_back({"score", term::Align::right});
  term::Table summary(columns);
  summary.title(fmt::format("geometric mean over {} spaces, {} seeds, 95 % interval",
                            request.read.spaces.size(), request.plan.seeds));
  for (const search::Standing& standing : comparison.standings) {
    std::vector<std::string> means = {"", standing.name};
    std::vector<std::string> intervals = {"", ""};
    for (std::size_t b = 0; b < request.plan.budgets.size(); ++b) {
      means.push_back(fmt::format("{:.4f}", standing.summary[b]));
      intervals.push_back(fmt::format("{:.3f} to {:.3f}", standing.interval[b][0], standing.interval[b][1]));
    }
    means.push_back(fmt::format("{:.2f}", standing.ms_per_ask));
    means.push_back(fmt::format("{:+.3f}", standing.curve_score));
    summary.row(std::move(means));
    summary.row(std::move(intervals));
  }
  std::vector<std::string> exact = {"", "random, exact"};
  for (const double ratio : comparison.random_summary) exact.push_back(fmt::format("{:.4f}", ratio));
  exact.emplace_back();
  exact.emplace_back("+0.000");
  summary.row(std::move(exact));
  return spaces.text(lines) + summary.text(lines);
}

Result<Exit> run(Context& context) {
  TS_ASSIGN(const Request request, read_request(context));
  term::Live live(fileno(context.err));
  const bool shown = !context.quiet && !context.json && live.redraws();
  const search::Comparison comparison = search::compare(
      request.read.spaces, request.contestants, request.plan, [&](std::size_t done, std::size_t all) {
        if (shown && live.due()) live.show({fmt::format("{} of {} searches", done, all)});
      });
  live.finish();
  if (context.arguments.has("--plot")) {
    const std::string picture = search_plot(comparison, request.read.spaces.size(), request.plan.seeds);
    TS_TRY(write_file_atomic(context.arguments.text("--plot"), picture));
  }
  if (context.json) {
    context.print_json(json_of(request, comparison));
  } else {
    context.print(tables_of(context, request, comparison));
  }
  return Exit::success;
}

}  // namespace

Command compare_strategies_command() {
  return {
      .name = "compare-strategies",
      .summary = "Compare search strategies on recorded spaces",
      .text =
          "Replays recordings: no kernel is built, no device is needed. For each budget, every strategy "
          "searches each space once a seed, and the best it found is set against the optimum of the "
          "recording. "
          "A failed configuration costs one evaluation. Random search without replacement is calculated "
          "exactly; the score is 0 for it and 1 for finding the optimum always.\n"
          "Each budget is a search of its own, which knows that budget.",
      .options =
          {
              {.name = "--spaces",
               .kind = Kind::file,
               .value = "DIR",
               .help = "folder of recordings, in any format that replay reads"},
              {.name = "--strategies",
               .kind = Kind::text,
               .value = "A,B",
               .help = "which to compare (tunesmith help strategies)",
               .fallback = k_default_strategies},
              {.name = "--budgets",
               .kind = Kind::text,
               .value = "N,M",
               .help = "unique evaluations of a search",
               .fallback = "25,50,100,200"},
              {.name = "--seeds",
               .kind = Kind::count,
               .value = "N",
               .help = "searches of each space, strategy and budget",
               .fallback = std::to_string(k_default_seeds)},
              {.name = "--threads",
               .kind = Kind::count,
               .value = "T",
               .help = "searches at once; the figures do not depend on it",
               .fallback = "one a core"},
              {.name = "--only",
               .kind = Kind::text,
               .value = "A,B",
               .help = "these spaces of the folder only"},
              {.name = "--prior",
               .kind = Kind::text,
               .value = "FILE|RUN",
               .help = "start from this recording or run where its parameters fit"},
              {.name = "--prior-from-others",
               .help = "start each space from the other devices' recordings of the same kernel"},
              {.name = "--plot", .kind = Kind::file, .value = "FILE", .help = "draw the curves as SVG"},
          },
      .examples = {{"tunesmith compare-strategies --spaces recordings/ --seeds 100 --json",
                    "the figures for a script"},
                   {"tunesmith compare-strategies --spaces recordings/ --strategies auto,genetic,random "
                    "--plot curves.svg",
                    "who is how far after how many evaluations"}},
      .exits = {},
      .run = run,
  };
}

}  // namespace tunesmith::app
