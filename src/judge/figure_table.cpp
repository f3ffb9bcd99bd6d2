#include "judge/figure_table.h"

namespace tunesmith::judge {

const std::vector<FigureInfo>& figure_table() {
  static const std::vector<FigureInfo> table = {
      {"max_abs_error", "numerical", Reason::wrong_result, {}, {}},
      {"max_rel_error", "numerical", Reason::wrong_result, {}, {}},
      {"nan_mismatch", "numerical", Reason::nan_mismatch, 0.0, {}},
      {"latency_ms", "performance", Reason::below_floor, {}, {}},
      {"tflops", "performance", Reason::below_floor, {}, {}},
      {"peak_memory_bytes", "performance", Reason::below_floor, {}, {}},
      {"occupancy", "performance", Reason::below_floor, {}, {}},
      {"dram_throughput", "performance", Reason::below_floor, {}, {}},
      {"compile_fail", "engineering", Reason::build_failed, 0.0, {}},
      {"reproducible", "engineering", Reason::nondeterministic, {}, 1.0, true},
      {"cuda_version_dependent", "engineering", Reason::build_failed, 0.0, {}, true},
      {"rollbacks", "engineering", Reason::below_floor, {}, {}},
  };
  return table;
}

const FigureInfo* find_figure(std::string_view name) {
  for (const FigureInfo& info : figure_table()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FigureInfo& info : figure_table()) names.emplace_back(info.name);
  return names;
}

}  // namespace tunesmith::judge
