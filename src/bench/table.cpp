#include <fmt/format.h>

#include "base/text.h"
#include "bench/bench.h"
#include "bench/command_bench.h"
#include "bench/cpu_bench.h"
#include "bench/replay_bench.h"

namespace tunesmith::bench {

const std::vector<BackendInfo>& backend_table() {
  static const std::vector<BackendInfo> table = {
      {"cpu", "C and C++ kernels, compiled and timed on this machine's CPU", make_cpu_bench},
      {"command", "your own build and run lines: any language, any build system", make_command_bench},
      {"replay", "a recorded space: what was measured once is what a candidate gets, without the device",
       make_replay_bench},
  };
  return table;
}

Result<std::unique_ptr<Bench>> make_bench(const Case& c, const BenchOptions& options) {
  std::vector<std::string> names;
  for (const BackendInfo& backend : backend_table()) {
    if (backend.name == c.backend) return backend.make(c, options);
    names.emplace_back(backend.name);
  }
  return fail(ErrorCode::invalid, fmt::format("there is no backend \"{}\"", c.backend),
              fmt::format("backends are {}", join(names, ", ")), Place{c.file, 0, 0, "/backend"});
}

}  // namespace tunesmith::bench
