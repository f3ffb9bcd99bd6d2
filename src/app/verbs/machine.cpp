#include "bench/machine.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/numbers.h"

namespace tunesmith::app {

namespace {

Result<Exit> run(Context& context) {
  TS_ASSIGN(const bench::Machine machine, bench::machine_facts(context.arguments.has("--again")));
  if (context.json) {
    context.print_json(bench::machine_to_json(machine));
    return Exit::success;
  }
  const auto row = [&](const char* name, const std::string& value) {
    context.print(fmt::format("{:<22}{}", name, value));
  };
  const auto rate = [](double value, const char* unit) {
    return value > 0 ? fmt::format("{:.1f} {}", value, unit) : std::string("unknown");
  };
  row("CPU", machine.cpu_model);
  row("cores", std::to_string(machine.cores));
  row("memory", bytes_text(machine.memory_bytes));
  row("caches", fmt::format("L1d {}, L2 {}, last level {}", bytes_text(machine.l1d_bytes),
                            bytes_text(machine.l2_bytes), bytes_text(machine.llc_bytes)));
  row("kernel", machine.kernel);
  row("virtualisation", machine.virtualisation);
  context.print("speed of light, one core, best seen:");
  row("  f32 FMA", rate(machine.fma_f32_gflops, "GFLOP/s"));
  row("  f64 FMA", rate(machine.fma_f64_gflops, "GFLOP/s"));
  row("  int8 dot product", rate(machine.int8_gops, "GOP/s"));
  row("  read from L2", rate(machine.read_l2_gbytes, "GB/s"));
  row("  read from last level", rate(machine.read_llc_gbytes, "GB/s"));
  row("  read from memory", rate(machine.read_gbytes, "GB/s"));
  return Exit::success;
}

}  // namespace

Command machine_command() {
  return {
      .name = "machine",
      .summary = "Show this machine's facts and its measured speed of light",
      .text =
          "Peaks are measured once (about two seconds) and kept in the cache folder. They bound how fast a "
          "kernel can "
          "be: a result faster than that is refused as impossible, and tune shows how near the best comes.",
      .options = {{.name = "--again", .help = "measure the peaks again"}},
      .examples = {{"tunesmith machine --json", "facts for a bug report or a script"}},
      .exits = {},
      .run = run,
  };
}

}  // namespace tunesmith::app
