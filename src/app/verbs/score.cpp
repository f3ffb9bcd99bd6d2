#include <fmt/format.h>

#include <cmath>

#include "app/command.h"
#include "app/inputs.h"
#include "judge/judge.h"
#include "judge/objective.h"

namespace tunesmith::app {

namespace {

Result<Exit> run(Context& context) {
  TS_ASSIGN(const Node result, Node::read(context.arguments.text("RESULT")));
  if (!result.is_object())
    return result.error("a result is a JSON object", "give a file that bench or tune wrote");
  TS_ASSIGN(const Rules rules, read_rules(context));
  const judge::Figures figures = judge::figures_of(result.value().as_object());
  const double score = rules.objective.score(figures);

  // The gate precedes the score: a number for something that may not be accepted is said to be one.
  judge::VerifyOptions options;
  options.tol = rules.objective.tol();
  const judge::VerifyAnswer gate = judge::verify(result, rules.gate, options);
  if (context.json) {
    json::object answer;
    answer["score"] = std::isfinite(score) ? json::value(score) : json::value(nullptr);
    answer["finite"] = std::isfinite(score);
    answer["objective"] = rules.objective.to_json();
    answer["gate"] = gate.to_json();
    context.print_json(answer);
    return Exit::success;
  }
  context.print(std::isfinite(score) ? number_text(score) : "inf");
  if (!gate.ok)
    context.remark(fmt::format("the gate refuses this result ({}): its score ranks nothing", gate.message));
  return Exit::success;
}

}  // namespace

Command score_command() {
  return {
      .name = "score",
      .summary = "Print the objective's number for a result (lower is better)",
      .text =
          "By default latency_ms - 0.01 * tflops, plus 1000 * (error - tol) / tol when max_abs_error is "
          "above the "
          "tolerance of 1e-3, plus 50 for each failed build. The weights, the tolerance or a whole formula "
          "of yours "
          "come from the case or from --objective. A failed build without a latency scores inf, the worst.",
      .options =
          {
              {.name = "RESULT",
               .kind = Kind::file,
               .value = "RESULT",
               .help = "result JSON",
               .required = true},
              {.name = "--objective",
               .kind = Kind::file,
               .value = "FILE",
               .help = "objective settings or formula"},
              {.name = "--gate",
               .kind = Kind::file,
               .value = "FILE",
               .help = "gate to check beside the score"},
              {.name = "--case",
               .kind = Kind::file,
               .value = "CASE",
               .help = "take objective and gate from this case"},
          },
      .examples = {{"tunesmith score runs/latest/result.json", "one number, for scripts"}},
      .exits = {},
      .run = run,
  };
}

}  // namespace tunesmith::app
