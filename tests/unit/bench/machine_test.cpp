#include "bench/machine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "bench/peaks.h"
#include "bench/pinning.h"

namespace tunesmith::bench {
namespace {

/// $XDG_CACHE_HOME points into a fresh folder while it lives.
class FreshCache {
 public:
  FreshCache() : m_folder(std::move(*TempDir::make())) {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) m_before = before;
    setenv("XDG_CACHE_HOME", m_folder.path().c_str(), 1);
  }
  ~FreshCache() {
    m_before.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", m_before.c_str(), 1);
  }
  [[nodiscard]] std::string file() const { return m_folder.path() + "/tunesmith/machine.json"; }

 private:
  TempDir m_folder;
  std::string m_before;
};

TEST(MachineTest, IsMeasuredOnceAndReadBack) {
  const FreshCache cache;
  const auto first = machine_facts();
  ASSERT_TRUE(first) << first.error().line();
  EXPECT_FALSE(first->cpu_model.empty());
  EXPECT_GE(first->cores, 1);
  EXPECT_GT(first->memory_bytes, 1U << 20);
  EXPECT_GT(first->fma_f32_gflops, 0.1);
  EXPECT_GT(first->read_gbytes, 0.01);
  EXPECT_GE(first->fma_f32_gflops, first->fma_f64_gflops * 0.9);
  ASSERT_TRUE(exists(cache.file()));

  // What the file says is what comes back.
  auto text = read_file(cache.file());
  ASSERT_TRUE(text);
  auto edited = parse_json(*text, "machine.json");
  ASSERT_TRUE(edited);
  edited->as_object()["read_gbytes"] = 4321.5;
  ASSERT_TRUE(write_scratch(cache.file(), print_json(*edited)));
  const auto second = machine_facts();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->read_gbytes, 4321.5);
  EXPECT_EQ(second->cpu_model, first->cpu_model);
  EXPECT_EQ(second->fma_f32_gflops, first->fma_f32_gflops);

  // Measured again, the better reading stays.
  const auto third = machine_facts(true);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->read_gbytes, 4321.5);
  EXPECT_GE(third->fma_f32_gflops, first->fma_f32_gflops);

  // A cache of another machine, of another version, or torn is none.
  for (const std::string& damage :
       {std::string("{\"version\": 1, \"cpu_model\": \"another\", \"read_gbytes\": 1}"),
        text->substr(0, text->size() / 2), std::string("[]"), std::string("\x00\xff garbage", 10),
        std::string("{\"version\": 99}")}) {
    ASSERT_TRUE(write_scratch(cache.file(), damage));
    const auto again = machine_facts();
    ASSERT_TRUE(again) << damage;
    EXPECT_EQ(again->cpu_model, first->cpu_model);
    EXPECT_GT(again->read_gbytes, 0.01);
    EXPECT_NE(again->read_gbytes, 4321.5);
  }
}

TEST(MachineTest, ACacheThatCannotBeWrittenCostsOnlyTime) {
  const FreshCache cache;
  ASSERT_TRUE(write_scratch(parent_folder(parent_folder(cache.file())) + "/tunesmith",
                            "a file where the folder should be"));
  const auto machine = machine_facts();
  ASSERT_TRUE(machine) << machine.error().line();
  EXPECT_GT(machine->fma_f32_gflops, 0);
}

Machine sample() {
  Machine m;
  m.l1d_bytes = 32 << 10;
  m.l2_bytes = 1 << 20;
  m.llc_bytes = 32 << 20;
  m.fma_f32_gflops = 100;
  m.fma_f64_gflops = 50;
  m.int8_gops = 800;
  m.read_gbytes = 10;
  m.read_llc_gbytes = 20;
  m.read_l2_gbytes = 40;
  return m;
}

TEST(SpeedOfLightTest, IsTheLaterOfArithmeticAndTraffic) {
  const Machine m = sample();
  EXPECT_NEAR(speed_of_light_ms(m, "f32", 1e9, 0, 1), 10 / 1.1, 1e-9);
  EXPECT_NEAR(speed_of_light_ms(m, "f64", 1e9, 0, 1), 20 / 1.1, 1e-9);
  EXPECT_NEAR(speed_of_light_ms(m, "i8", 1e9, 0, 1), 1.25 / 1.1, 1e-9);
  EXPECT_NEAR(speed_of_light_ms(m, "bf16", 1e9, 0, 1), 2.5 / 1.1, 1e-9);  // four times as generous
  EXPECT_NEAR(speed_of_light_ms(m, "f32", 1e9, 1e9, 1), 100 / 1.1, 1e-9);
  EXPECT_NEAR(speed_of_light_ms(m, "f32", 1e9, 1e9, 4), 25 / 1.1, 1e-9);
}

TEST(SpeedOfLightTest, TakesTheBandwidthOfTheLevelThatHoldsTheBytes) {
  const Machine m = sample();
  EXPECT_EQ(speed_of_light_ms(m, "f32", 0, 32 << 10, 1), 0);  // the first level is not measured
  EXPECT_NEAR(speed_of_light_ms(m, "f32", 0, 1 << 20, 1), (1 << 20) / 40e6 / 1.1, 1e-9);
  EXPECT_NEAR(speed_of_light_ms(m, "f32", 0, 32 << 20, 1), (32 << 20) / 20e6 / 1.1, 1e-9);
  EXPECT_NEAR(speed_of_light_ms(m, "f32", 0, 33e6 + (1 << 20), 1), (33e6 + (1 << 20)) / 10e6 / 1.1, 1e-6);
}

TEST(SpeedOfLightTest, IsNoBoundWhenNothingIsKnown) {
  EXPECT_EQ(speed_of_light_ms(Machine{}, "f32", 1e12, 1e12, 1), 0);
  EXPECT_EQ(speed_of_light_ms(sample(), "f32", 0, 0, 1), 0);
}

TEST(MachineTest, JsonNamesEveryFigureWithItsUnit) {
  const json::object object = machine_to_json(sample());
  for (const char* key : {"cpu_model", "cores", "memory_bytes", "l2_bytes", "llc_bytes", "fma_f32_gflops",
                          "int8_gops", "read_gbytes", "read_l2_gbytes"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
}

TEST(MeasuringLockTest, ASecondProcessWaitsAndIsToldWhoHoldsIt) {
  auto mine = MeasuringLock::take();
  ASSERT_TRUE(mine) << mine.error().line();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // In a thread of its own: the one that holds the lock may take it again, and a fork inherits that.
    std::string line;
    std::thread([&line] {
      const auto theirs = MeasuringLock::take(0.05);
      line = theirs ? "taken" : theirs.error().line();
    }).join();
    _exit(write(pipe_ends[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  char text[1024] = {};
  EXPECT_GT(read(pipe_ends[0], text, sizeof text - 1), 0);
  close(pipe_ends[0]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_NE(std::string(text).find("process " + std::to_string(getpid())), std::string::npos) << text;
}

TEST(MeasuringLockTest, ItsHolderMayTakeItAgain) {
  const auto outer = MeasuringLock::take();
  ASSERT_TRUE(outer);
  EXPECT_TRUE(MeasuringLock::take(0));
}

TEST(MeasuringLockTest, IsFreeAgainWhenItsHolderDies) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = MeasuringLock::take();
    const char ready = lock ? 'y' : 'n';
    if (write(pipe_ends[1], &ready, 1) != 1) _exit(1);
    pause();
  }
  char ready = 0;
  EXPECT_EQ(read(pipe_ends[0], &ready, 1), 1);
  EXPECT_EQ(ready, 'y');
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  EXPECT_TRUE(MeasuringLock::take());
}

TEST(PinningTest, TiesTheThreadToOneCoreAndLetsItGo) {
  cpu_set_t before, during, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int core = measuring_core();
  ASSERT_GE(core, 0);
  {
    const PinnedThread pinned(core);
    ASSERT_EQ(sched_getaffinity(0, sizeof during, &during), 0);
    EXPECT_EQ(CPU_COUNT(&during), 1);
    EXPECT_TRUE(CPU_ISSET(core, &during));
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  const PinnedThread nothing(-1);
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace tunesmith::bench
