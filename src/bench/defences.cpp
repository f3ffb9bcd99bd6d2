#include "bench/defences.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tunesmith::bench {

namespace {

struct Entry {
  std::string_view name;
  bool Defences::*field;
};

constexpr Entry k_table[] = {
    {"check_results", &Defences::check_results},
    {"check_nan", &Defences::check_nan},
    {"check_every_element", &Defences::check_every_element},
    {"check_scored_shapes", &Defences::check_scored_shapes},
    {"check_timed_calls", &Defences::check_timed_calls},
    {"baseline_budget", &Defences::baseline_budget},
    {"poison", &Defences::poison},
    {"guard_bytes", &Defences::guard_bytes},
    {"determinism", &Defences::determinism},
    {"fresh_inputs", &Defences::fresh_inputs},
    {"novelty", &Defences::novelty},
    {"outside_clock", &Defences::outside_clock},
    {"clocks_agree", &Defences::clocks_agree},
    {"idle_check", &Defences::idle_check},
    {"one_thread", &Defences::one_thread},
    {"speed_of_light", &Defences::speed_of_light},
    {"float_mode", &Defences::float_mode},
    {"fault_handlers", &Defences::fault_handlers},
    {"symbols", &Defences::symbols},
    {"nonce", &Defences::nonce},
    {"process_limits", &Defences::process_limits},
    {"sandbox", &Defences::sandbox},
    {"time_limit", &Defences::time_limit},
};

}  // namespace

const std::vector<std::string>& defence_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Entry& entry : k_table) out.emplace_back(entry.name);
    return out;
  }();
  return names;
}

Result<Defences> Defences::without(const std::vector<std::string>& off) {
  Defences defences;
  for (const std::string& name : off) {
    const auto* found =
        std::find_if(std::begin(k_table), std::end(k_table), [&](const Entry& e) { return e.name == name; });
    if (found == std::end(k_table)) {
      return fail(ErrorCode::usage, fmt::format("there is no defence \"{}\"", name),
                  fmt::format("did you mean \"{}\"?", nearest(name, defence_names())));
    }
    defences.*(found->field) = false;
  }
  return defences;
}

}  // namespace tunesmith::bench
