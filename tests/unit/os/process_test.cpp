#include "os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "bench/protocol.h"
#include "unit/os/probe.h"

namespace tunesmith::os::test {
namespace {

using Outcome = Finished::Outcome;

/// Every test runs plainly and inside the sandbox: the caller sees no difference.
class ProcessTest : public SandboxTest, public testing::WithParamInterface<bool> {
 protected:
  static Command ask(const std::string& what, const std::string& with = {}) {
    Command made = command(what, with);
    if (!GetParam()) made.policy.reset();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(PlainAndSandboxed, ProcessTest, testing::Values(false, true),
                         [](const auto& way) { return way.param ? "Sandboxed" : "Plain"; });

/// Whether a `sleep SECONDS` runs anywhere; SECONDS is chosen unique by the test.
bool sleeper_lives(const std::string& seconds) {
  for (const std::string& entry : list_folder("/proc")) {
    if (entry.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto line = read_file("/proc/" + entry + "/cmdline");
    if (line && *line == std::string("sleep") + '\0' + seconds + '\0') return true;
  }
  return false;
}

std::string unique_seconds(int which) { return std::to_string(100000 + getpid() % 100000 * 10 + which); }

TEST_P(ProcessTest, ReportsTheExitStatus) {
  EXPECT_EQ(code_of(run(ask("exit", "0"))), 0);
  EXPECT_EQ(code_of(run(ask("exit", "7"))), 7);
  EXPECT_EQ(code_of(run(ask("exit", "255"))), 255);
  EXPECT_EQ(run(ask("exit", "7")).text(), "exit status 7");
}

TEST_P(ProcessTest, ReportsTheSignal) {
  for (const int number : {SIGSEGV, SIGKILL, SIGTERM, SIGFPE, SIGILL, SIGBUS, SIGXCPU}) {
    const Finished finished = run(ask("raise", std::to_string(number)));
    EXPECT_EQ(finished.outcome, Outcome::signaled) << number;
    EXPECT_EQ(finished.code, number);
  }
  const Finished crash = run(ask("segv"));
  EXPECT_EQ(crash.text(), "killed by SIGSEGV");
}

TEST_P(ProcessTest, ShowsAnAbortAsAnAbort) {
  const Finished finished = run(ask("abort"));
  EXPECT_EQ(finished.outcome, Outcome::signaled);
  EXPECT_EQ(finished.code, SIGABRT);
}

TEST_P(ProcessTest, GivesExactlyTheEnvironmentAskedFor) {
  EXPECT_EQ(code_of(run(ask("environment"))), 0);
  Command two = ask("environment");
  two.environment = {"A=1", "B=x y"};
  const Finished finished = run(two);
  EXPECT_EQ(code_of(finished), 2);
  EXPECT_EQ(finished.output, "A=1\nB=x y\n");
}

TEST_P(ProcessTest, CutsOutputAtTheCapAndStopsTheFlood) {
  Command flood = ask("flood");
  flood.output_bytes = 1000;
  const Finished finished = run(flood);
  EXPECT_EQ(finished.outcome, Outcome::output_limit);
  EXPECT_EQ(finished.output.size(), 1000U);
  EXPECT_FALSE(finished.ok());
}

TEST_P(ProcessTest, KillsGrandchildrenInSessionsOfTheirOwnAtTheTimeLimit) {
  const std::string seconds = unique_seconds(GetParam() ? 1 : 2);
  Command daemon = ask("daemon", seconds);
  daemon.wall_seconds = 1;
  const Finished finished = run(daemon);
  EXPECT_EQ(finished.outcome, Outcome::timed_out);
  EXPECT_FALSE(sleeper_lives(seconds));
}

TEST_P(ProcessTest, StopsWhenTold) {
  std::atomic<bool> stop{true};
  Command spin = ask("spin");
  spin.stop = &stop;
  EXPECT_EQ(run(spin).outcome, Outcome::interrupted);
}

TEST_P(ProcessTest, PassesOnlyTheDescriptorsAskedFor) {
  const UniqueFd leak(open("/dev/null", O_RDONLY));  // not close-on-exec, as a careless library would
  ASSERT_GE(fcntl(leak.get(), F_DUPFD, 200), 0);
  EXPECT_EQ(code_of(run(ask("descriptors"))), 0);
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  const UniqueFd reader(pipe_fds[0]);
  const UniqueFd writer(pipe_fds[1]);
  for (const int theirs : {3, 4, 9}) {
    Command say = ask("say", std::to_string(theirs));
    say.descriptors = {{writer.get(), theirs}};
    EXPECT_EQ(code_of(run(say)), 0);
    char text[8] = {};
    EXPECT_EQ(read(reader.get(), text, sizeof text), 5);
    Command count = ask("descriptors");
    count.descriptors = say.descriptors;
    EXPECT_EQ(code_of(run(count)), 1);
  }
}

TEST_P(ProcessTest, SwapsDescriptorsWithoutLosingOne) {
  int first[2];
  int second[2];
  ASSERT_EQ(pipe2(first, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(second, O_CLOEXEC), 0);
  const UniqueFd owners[4] = {UniqueFd(first[0]), UniqueFd(first[1]), UniqueFd(second[0]),
                              UniqueFd(second[1])};
  Command say = ask("say", std::to_string(first[1]));
  say.descriptors = {{first[1], second[1]}, {second[1], first[1]}};
  EXPECT_EQ(code_of(run(say)), 0);
  char text[8] = {};
  ASSERT_EQ(fcntl(second[0], F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(read(second[0], text, sizeof text), 5);
}

TEST_P(ProcessTest, SaysWhyAProgramDidNotStart) {
  Command absent = ask("exit");
  absent.argv = {"no-such-program-anywhere"};
  absent.environment = {"PATH=/usr/bin"};
  Finished finished = run(absent);
  EXPECT_EQ(finished.outcome, Outcome::not_started);
  EXPECT_NE(finished.output.find("no-such-program-anywhere"), std::string::npos);

  absent.argv = {path("probe.c")};
  finished = run(absent);
  EXPECT_EQ(finished.outcome, Outcome::not_started);
  EXPECT_NE(finished.output.find("Permission denied"), std::string::npos) << finished.output;

  absent.argv.clear();
  EXPECT_EQ(run(absent).outcome, Outcome::not_started);
}

TEST_P(ProcessTest, FindsAProgramByThePathGivenToIt) {
  Command found = ask("exit");
  found.argv = {"true"};
  EXPECT_EQ(run(found).outcome, Outcome::not_started);  // there is no PATH in an empty environment
  found.environment = {"PATH=/nowhere:/usr/bin:/bin"};
  EXPECT_TRUE(run(found).ok());
}

TEST_P(ProcessTest, RunsInTheWorkingFolder) {
  Command here = ask("exit");
  here.argv = {"/bin/pwd"};
  here.working_folder = path("work");
  EXPECT_EQ(run(here).output, path("work") + "\n");
}

TEST_P(ProcessTest, AccountsTimeAndMemory) {
  const Finished finished = run(ask("allocate", "64"));
  EXPECT_EQ(code_of(finished), 0);
  EXPECT_GE(finished.peak_rss_bytes, 64U << 20);
  EXPECT_GT(finished.cpu_ms, 0);
  EXPECT_GT(finished.wall_ms, 0);
}

TEST_P(ProcessTest, RunsManyAtOnce) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i, &right] {
      for (int k = 0; k < 5; ++k) {
        const Finished finished = run(ask("exit", std::to_string(10 * i + k)));
        right += finished.outcome == Outcome::exited && finished.code == 10 * i + k ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST_P(ProcessTest, AChildIsWatchedAndEndedFromOutside) {
  auto child = Child::spawn(ask("spin"));
  ASSERT_TRUE(child) << child.error().line();
  EXPECT_TRUE(child->running());
  EXPECT_EQ(child->inner_pid() == child->pid(), !GetParam());
  const std::int64_t before = process_cpu_ns(child->inner_pid());
  ASSERT_GE(before, 0);
  std::int64_t after = before;
  const std::int64_t deadline = monotonic_ns() + 20'000'000'000;
  while (after < before + 1'000'000 && monotonic_ns() < deadline) after = process_cpu_ns(child->inner_pid());
  EXPECT_GE(after, before + 1'000'000);
  EXPECT_GE(run_delay_ns(child->inner_pid()), 0);
  EXPECT_EQ(thread_count(child->inner_pid()), 1);
  EXPECT_GT(peak_rss_bytes(child->inner_pid()), 0U);
  const pid_t inner = child->inner_pid();
  child->kill_group();
  const Finished finished = child->wait(10);
  EXPECT_EQ(finished.outcome, Outcome::signaled);
  EXPECT_EQ(finished.code, SIGKILL);
  EXPECT_EQ(process_cpu_ns(inner), -1);
}

TEST_P(ProcessTest, WaitingForAChildEndsAtItsLimit) {
  auto child = Child::spawn(ask("spin"));
  ASSERT_TRUE(child) << child.error().line();
  EXPECT_EQ(child->wait(0.05).outcome, Outcome::timed_out);
  EXPECT_FALSE(child->running());
  auto quick = Child::spawn(ask("exit", "3"));
  ASSERT_TRUE(quick) << quick.error().line();
  const Finished finished = quick->wait(30);
  EXPECT_EQ(code_of(finished), 3);
}

TEST_P(ProcessTest, DestroyingAChildEndsItsTree) {
  const std::string seconds = unique_seconds(GetParam() ? 3 : 4);
  {
    auto child = Child::spawn(ask("daemon", seconds));
    ASSERT_TRUE(child) << child.error().line();
    const std::int64_t deadline = monotonic_ns() + 20'000'000'000;
    while (!sleeper_lives(seconds) && monotonic_ns() < deadline) usleep(1000);
    ASSERT_TRUE(sleeper_lives(seconds));
    Child moved = std::move(*child);
    EXPECT_TRUE(moved.running());
  }
  EXPECT_FALSE(sleeper_lives(seconds));
}

TEST(WorkerLoopTest, RunsInsideTheSandboxUntilTheSocketCloses) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  UniqueFd ours(sockets[0]);
  UniqueFd theirs(sockets[1]);
  const UniqueFd fault(memfd_create("fault", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(fault.get(), 4096), 0);
  Command loop;
  loop.worker_loop = true;
  loop.descriptors = {{theirs.get(), bench::protocol::k_control_fd},
                      {fault.get(), bench::protocol::k_fault_fd}};
  EXPECT_FALSE(Child::spawn(loop));  // never without a sandbox
  loop.policy.emplace();
  loop.policy->allow_exec = loop.policy->allow_fork = loop.policy->allow_threads = false;
  auto child = Child::spawn(loop);
  ASSERT_TRUE(child) << child.error().line();
  theirs.reset();
  EXPECT_TRUE(child->running());
  EXPECT_TRUE(child->layers().rlimits);
  EXPECT_NE(child->inner_pid(), child->pid());
  EXPECT_EQ(thread_count(child->inner_pid()), 1);
  ours.reset();
  const Finished finished = child->wait(30);
  EXPECT_TRUE(finished.ok()) << finished.text();
}

TEST(FinishedTest, NamesEveryOutcome) {
  Finished finished;
  EXPECT_EQ(finished.text(), "not started");
  finished.outcome = Outcome::signaled;
  finished.code = SIGSEGV;
  EXPECT_EQ(finished.text(), "killed by SIGSEGV");
  finished.code = 64;
  EXPECT_EQ(finished.text(), "killed by signal 64");
  finished.outcome = Outcome::timed_out;
  finished.wall_ms = 60000;
  EXPECT_EQ(finished.text(), "timed out after 60 s");
}

TEST(WorkerProgramTest, IsFoundBesideTheBuild) {
  const auto found = worker_program();
  ASSERT_TRUE(found) << found.error().line();
  EXPECT_EQ(access(found->c_str(), X_OK), 0);
}

TEST(UsageTest, KnowsNothingOfAProcessThatIsGone) {
  Command quick;
  quick.argv = {"/bin/true"};
  auto child = Child::spawn(quick);
  ASSERT_TRUE(child);
  const pid_t pid = child->pid();
  EXPECT_TRUE(child->wait(30).ok());
  EXPECT_EQ(process_cpu_ns(pid), -1);
  EXPECT_EQ(run_delay_ns(pid), -1);
  EXPECT_EQ(thread_count(pid), -1);
  EXPECT_EQ(peak_rss_bytes(pid), 0U);
}

TEST(UsageTest, ReadsItself) {
  EXPECT_GT(process_cpu_ns(getpid()), 0);
  EXPECT_GE(thread_count(getpid()), 1);
  EXPECT_GT(own_cpu_ms(), 0);
}

}  // namespace
}  // namespace tunesmith::os::test
