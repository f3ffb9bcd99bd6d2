// What a start costs, plain and sandboxed, interleaved. Off by default: a figure, not a test
// (benchmarks/sandbox_start.sh).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "bench/protocol.h"
#include "os/process.h"
#include "unit/os/probe.h"

namespace tunesmith::os::test {
namespace {

constexpr int k_starts = 200;

struct Way {
  const char* name;
  Command command;
  std::vector<double> cpu_ms;
  std::vector<double> wall_ms;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Command start_of_true(bool sandboxed) {
  Command made;
  made.argv = {"/bin/true"};
  if (!sandboxed) return made;
  made.policy.emplace();
  made.policy->read_only = system_folders();
  made.policy->processes = 32;
  made.policy->cpu_seconds = 60;
  made.policy->file_size_bytes = 1U << 30;
  return made;
}

Finished start_worker_loop() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return {};
  UniqueFd ours(sockets[0]);
  UniqueFd theirs(sockets[1]);
  const UniqueFd fault(memfd_create("fault", MFD_CLOEXEC));
  if (ftruncate(fault.get(), 4096) != 0) return {};
  Command made = start_of_true(true);
  made.worker_loop = true;
  made.descriptors = {{theirs.get(), bench::protocol::k_control_fd},
                      {fault.get(), bench::protocol::k_fault_fd}};
  made.policy->allow_exec = made.policy->allow_fork = made.policy->allow_threads = false;
  auto child = Child::spawn(made);
  if (!child) return {};
  theirs.reset();
  ours.reset();
  return child->wait(30);
}

TEST(SandboxCostTest, DISABLED_StartsOfTrue) {
  std::vector<Way> ways;
  const auto add = [&ways](const char* name, bool sandboxed, auto change) {
    ways.push_back({name, start_of_true(sandboxed), {}, {}});
    if (sandboxed) change(*ways.back().command.policy);
  };
  add("plain", false, [](box::Policy&) {});
  add("sandboxed", true, [](box::Policy&) {});
  add("  without namespaces", true, [](box::Policy& p) { p.no_namespaces = true; });
  add("  without Landlock", true, [](box::Policy& p) { p.no_landlock = true; });
  add("  without seccomp, with a net namespace", true, [](box::Policy& p) { p.no_seccomp = true; });
  add("  launcher alone, no layers", true,
      [](box::Policy& p) { p.no_namespaces = p.no_landlock = p.no_seccomp = true; });
  Way loop{"worker loop, sandboxed", {}, {}, {}};
  for (int i = 0; i < k_starts; ++i) {
    const auto note = [](Way& way, const Finished& finished) {
      ASSERT_EQ(finished.outcome, Finished::Outcome::exited) << way.name << ": " << finished.text();
      way.cpu_ms.push_back(finished.cpu_ms);
      way.wall_ms.push_back(finished.wall_ms);
    };
    for (Way& way : ways) note(way, run(way.command));
    note(loop, start_worker_loop());
    if (HasFatalFailure()) return;
  }
  ways.push_back(loop);
  std::printf("%-42s %10s %10s   (medians of %d starts)\n", "start", "CPU ms", "wall ms", k_starts);
  for (const Way& way : ways) {
    std::printf("%-42s %10.2f %10.2f\n", way.name, median(way.cpu_ms), median(way.wall_ms));
  }
}

}  // namespace
}  // namespace tunesmith::os::test
