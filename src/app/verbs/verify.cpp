#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "app/command.h"
#include "app/inputs.h"
#include "base/text.h"
#include "bench/machine.h"
#include "judge/judge.h"
#include "tune/compare.h"
#include "tune/runs.h"

namespace tunesmith::app {

namespace {

Result<std::string> one_of(const Arguments& arguments, const std::string& positional,
                           const std::string& flag) {
  if (arguments.has(positional) && arguments.has(flag)) {
    return fail(ErrorCode::usage, fmt::format("given as {} and as {}", positional, flag), "keep one of them");
  }
  return arguments.has(flag) ? arguments.text(flag) : arguments.text(positional);
}

Result<std::optional<double>> tolerance_of(const Arguments& arguments) {
  TS_ASSIGN(const std::string text, one_of(arguments, "TOL", "--tol"));
  if (text.empty()) return std::optional<double>();
  Arguments one;
  one.add("TOL", text);
  const auto number = one.number("TOL");
  if (!number || !std::isfinite(*number) || *number < 0) {
    return fail(ErrorCode::usage,
                fmt::format("the tolerance \"{}\" is not a number of 0 or more", printable(text)),
                "write it as in 1e-3");
  }
  return number;
}

/// Least possible times of the case's shapes, when the result is of this machine; nothing when it is of
/// another one.
Result<std::function<double(const Shape&)>> floors_for(const Case& c, const json::object& result) {
  TS_ASSIGN(bench::Machine machine, bench::machine_facts());
  const json::value* made_on = result.if_contains("machine");
  if (made_on != nullptr && made_on->is_string() &&
      std::string_view(made_on->as_string()) != machine.cpu_model) {
    return std::function<double(const Shape&)>();
  }
  return std::function<double(const Shape&)>([&c, machine](const Shape& shape) {
    const auto flops = flops_of(c, shape);
    const auto bytes = bytes_of(c, shape);
    if (!flops || !bytes) return 0.0;
    return bench::speed_of_light_ms(machine, c.dtype, *flops, *bytes, c.limits.threads);
  });
}

Result<Exit> run(Context& context) {
  const Arguments& arguments = context.arguments;
  TS_ASSIGN(const std::string file, one_of(arguments, "RESULT", "--result"));
  if (file.empty()) {
    return fail(ErrorCode::usage, "verify needs a result: verify RESULT [TOL]",
                "see tunesmith verify --help");
  }
  judge::VerifyOptions options;
  TS_ASSIGN(options.tol, tolerance_of(arguments));
  TS_ASSIGN(const Node result, Node::read(file));
  if (!result.is_object())
    return result.error("a result is a JSON object", "give a file that bench or tune wrote");
  TS_ASSIGN(const Rules rules, read_rules(context));
  if (rules.of) {
    options.c = &*rules.of;
    TS_ASSIGN(options.floor_of, floors_for(*rules.of, result.value().as_object()));
  }
  if (const json::value* machine = result.value().as_object().if_contains("machine")) {
    if (machine->is_string()) options.device = std::string(machine->as_string());
  }
  const judge::VerifyAnswer answer = judge::verify(result, rules.gate, options);
  json::object out = answer.to_json();
  bool ok = answer.ok;
  // Whoever made it: a file of another program's is judged by its figures, one that was changed after it was
  // sealed is not.
  const tune::SealAnswer seal = tune::verify_seal(result.value().as_object(), tune::runs_root());
  out["seal"] = seal.message;
  if (seal.state == tune::Seal::broken) {
    ok = false;
    out["ok"] = false;
    out["message"] = seal.message;
    out["reasons"] = json::array{code_of(Reason::unsealed)};
  }
  if (arguments.has("--against")) {
    TS_ASSIGN(const Node base, Node::read(arguments.text("--against")));
    if (!base.is_object())
      return base.error("a result is a JSON object", "give a file that bench or tune wrote");
    const double allowed = arguments.number("--slower-by").value_or(5);
    const tune::ResultComparison regression =
        tune::compare_results(result.value().as_object(), base.value().as_object(), allowed);
    out["against"] = regression.to_json();
    if (ok && (!regression.comparable || regression.regressed)) {
      ok = false;
      out["ok"] = false;
      out["message"] = regression.message;
      out["reasons"] = json::array{regression.comparable ? "NOT_FASTER" : "MISSING_EVIDENCE"};
    }
  }
  if (!context.quiet) context.print(print_json_compact(out));
  return ok ? Exit::success : Exit::failed;
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .summary = "Check a result against the acceptance gate; for CI and pre-commit hooks",
      .text =
          "Prints one line of JSON: ok, message, reasons (codes) and failures. Alone it checks that the "
          "fields are "
          "there, that nothing failed to compile, the tolerance and the throughput floor; a missing field is "
          "a "
          "failure, never a pass. With --case it also works out the throughput from the case's work formula: "
          "a "
          "result that disagrees with itself, or that is faster than this machine can be, is refused.\n"
          "With --against it fails when the kernel has become slower than a result you keep.",
      .options =
          {
              {.name = "RESULT", .kind = Kind::file, .value = "RESULT", .help = "result JSON"},
              {.name = "TOL",
               .kind = Kind::text,
               .value = "TOL",
               .help = "largest max_abs_error that passes",
               .fallback = "the gate's, 1e-3 without one"},
              {.name = "--result", .kind = Kind::file, .value = "RESULT", .help = "the same as RESULT"},
              {.name = "--tol", .kind = Kind::text, .value = "TOL", .help = "the same as TOL"},
              {.name = "--case",
               .kind = Kind::file,
               .value = "CASE",
               .help = "recompute tflops from this case and use its gate"},
              {.name = "--gate",
               .kind = Kind::file,
               .value = "FILE",
               .help = "gate file instead of the standard gate"},
              {.name = "--against",
               .kind = Kind::file,
               .value = "BASE",
               .help = "fail on a regression against BASE"},
              {.name = "--slower-by",
               .kind = Kind::number,
               .value = "PERCENT",
               .help = "how much slower than BASE is still no regression",
               .fallback = "5"},
          },
      .examples =
          {
              {"tunesmith verify runs/latest/result.json 1e-3", "status 0 when it passes, 1 when it fails"},
              {"tunesmith verify --result new.json --against kept.json", "fail a CI job on a regression"},
          },
      .exits = {Exit::failed},
      .run = run,
  };
}

}  // namespace tunesmith::app
