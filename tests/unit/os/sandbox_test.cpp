// The sandbox through its real launcher: what is closed, that it opens when the layer is left out (so that
// each test can fail), and what must go on working.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/process.h"
#include "unit/os/probe.h"

namespace tunesmith::os::test {
namespace {

using Outcome = Finished::Outcome;

class LayersTest : public SandboxTest {
 protected:
  template <class Change>
  static int code_with(Change change, const std::string& what, const std::string& argument = {}) {
    Command changed = command(what, argument);
    change(*changed.policy);
    return code_of(run(changed));
  }
  /// Skips where this machine gives no such layer at all.
  static box::Layers layers() { return probe("exit", "0").layers; }
};

#define TS_NEEDS(LAYER) \
  if (!layers().LAYER) GTEST_SKIP() << "this machine gives no " #LAYER

TEST_F(LayersTest, AreReported) {
  const box::Layers all = layers();
  EXPECT_EQ(all.own_uid, geteuid() == 0);
  EXPECT_TRUE(all.rlimits);
  EXPECT_FALSE(all.mount_namespace);
  EXPECT_NE(all.text(), "none");
}

TEST_F(LayersTest, AreLeftOutOneByOne) {
  Command changed = command("exit", "0");
  changed.policy->no_namespaces = true;
  Finished finished = run(changed);
  EXPECT_TRUE(finished.ok()) << finished.text();
  EXPECT_FALSE(finished.layers.pid_namespace || finished.layers.user_namespace ||
               finished.layers.ipc_namespace);

  changed = command("exit", "0");
  changed.policy->no_landlock = true;
  finished = run(changed);
  EXPECT_TRUE(finished.ok()) << finished.text();
  EXPECT_EQ(finished.layers.landlock_abi, 0);

  changed = command("exit", "0");
  changed.policy->no_seccomp = true;
  finished = run(changed);
  EXPECT_TRUE(finished.ok()) << finished.text();
  EXPECT_FALSE(finished.layers.seccomp);
}

TEST_F(LayersTest, WithoutAFilterTheNetworkIsClosedByANamespace) {
  TS_NEEDS(user_namespace);
  Command changed = command("exit", "0");
  changed.policy->no_seccomp = true;
  EXPECT_TRUE(run(changed).layers.net_namespace);
}

TEST_F(LayersTest, SocketsAreRefused) {
  TS_NEEDS(seccomp);
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) {
    EXPECT_EQ(code_of(probe("socket", std::to_string(family))), k_refused) << family;
  }
  EXPECT_EQ(code_with([](box::Policy& p) { p.no_seccomp = true; }, "socket", std::to_string(AF_UNIX)), 0);
}

TEST_F(LayersTest, FilesOutsideThePolicyCannotBeRead) {
  TS_NEEDS(landlock_abi);
  ASSERT_TRUE(write_file_atomic(path("secret"), "seed", 0644));
  for (const std::string& file :
       {path("secret"), std::string("/etc/passwd"), std::string("/proc/self/environ")}) {
    EXPECT_EQ(code_of(probe("read", file)), k_refused) << file;
    EXPECT_EQ(code_with([](box::Policy& p) { p.no_landlock = true; }, "read", file), 0) << file;
  }
  EXPECT_EQ(code_of(probe("read", "/usr/bin/true")), 0);
  EXPECT_EQ(code_of(probe("read", "/dev/urandom")), 0);
}

TEST_F(LayersTest, FilesAreWrittenOnlyWhereAllowed) {
  TS_NEEDS(landlock_abi);
  ASSERT_TRUE(make_folders(path("open")));
  ASSERT_EQ(chmod(path("open").c_str(), 0777), 0);
  EXPECT_EQ(code_of(probe("write", path("open/x"))), k_refused);
  EXPECT_EQ(code_of(probe("write", "/tmp/tunesmith-must-not-exist")), k_refused);
  EXPECT_FALSE(exists("/tmp/tunesmith-must-not-exist"));
  EXPECT_EQ(code_of(probe("write", path("work/x"))), 0);
  EXPECT_TRUE(exists(path("work/x")));
  EXPECT_EQ(code_of(probe("write", "/dev/null")), 0);
  EXPECT_EQ(code_with([](box::Policy& p) { p.no_landlock = true; }, "write", path("open/x")), 0);
}

TEST_F(LayersTest, ForkIsRefusedWhenAsked) {
  TS_NEEDS(seccomp);
  EXPECT_EQ(code_of(probe("fork")), 0);
  for (const char* what : {"fork", "vfork"}) {
    EXPECT_EQ(code_with([](box::Policy& p) { p.allow_fork = false; }, what), k_refused) << what;
  }
  EXPECT_EQ(code_with([](box::Policy& p) { p.allow_fork = false; }, "thread"), 0);
}

TEST_F(LayersTest, ThreadsAreRefusedWhenAsked) {
  TS_NEEDS(seccomp);
  EXPECT_EQ(code_of(probe("thread")), 0);
  EXPECT_EQ(code_with([](box::Policy& p) { p.allow_threads = false; }, "thread"), k_refused);
  EXPECT_EQ(code_with([](box::Policy& p) { p.allow_threads = false; }, "fork"), 0);
}

TEST_F(LayersTest, ExecIsRefusedAfterThePayloadStarted) {
  TS_NEEDS(seccomp);
  const auto no_exec = [](box::Policy& p) { p.allow_exec = false; };
  EXPECT_EQ(code_of(probe("exec")), 0);
  EXPECT_EQ(code_with(no_exec, "exec"), k_refused);
  EXPECT_EQ(code_with(no_exec, "exec-itself", "x"), k_refused);
  EXPECT_EQ(code_with(no_exec, "exit", "5"), 5);
}

TEST_F(LayersTest, KernelsCannotReachForTimersCoresAndModes) {
  TS_NEEDS(seccomp);
  const auto no_exec = [](box::Policy& p) { p.allow_exec = false; };
  for (const char* what : {"affinity", "timer", "memfd"}) {
    EXPECT_EQ(code_of(probe(what)), 0) << what;
    EXPECT_EQ(code_with(no_exec, what), k_refused) << what;
  }
  ASSERT_EQ(code_of(probe("write", path("work/mode"))), 0);
  EXPECT_EQ(code_of(probe("chmod", path("work/mode"))), 0);
  EXPECT_EQ(code_with(no_exec, "chmod", path("work/mode")), k_refused);
}

TEST_F(LayersTest, PtraceAndNewNamespacesAreRefused) {
  TS_NEEDS(seccomp);
  for (const char* what : {"ptrace", "namespace", "clone-namespace"}) {
    EXPECT_EQ(code_of(probe(what)), k_refused) << what;
  }
  EXPECT_EQ(code_with([](box::Policy& p) { p.no_seccomp = true; }, "ptrace"), 0);
}

TEST_F(LayersTest, OtherProcessesCannotBeSignalled) {
  const std::string us = std::to_string(getpid());
  // Our own id, seen from inside: another process or none, never us.
  EXPECT_EQ(code_of(probe("kill", us)), k_refused);
  if (layers().landlock_abi >= 6 && geteuid() != 0) {
    EXPECT_EQ(code_with([](box::Policy& p) { p.no_namespaces = true; }, "kill", us), k_refused);
  }
  const auto bare = [](box::Policy& p) { p.no_namespaces = p.no_landlock = true; };
  if (geteuid() != 0) {
    EXPECT_EQ(code_with(bare, "kill", us), 0);
  }
}

TEST_F(LayersTest, MemoryIsLimited) {
#ifdef TUNESMITH_SANITIZED
  GTEST_SKIP() << "a sanitizer reserves terabytes, so the limit is not set";
#endif
  EXPECT_EQ(code_of(probe("allocate", "200")), 0);
  EXPECT_EQ(code_with([](box::Policy& p) { p.address_space_bytes = 100U << 20; }, "allocate", "200"),
            k_refused);
  EXPECT_EQ(code_with([](box::Policy& p) { p.address_space_bytes = 400U << 20; }, "allocate", "200"), 0);
}

TEST_F(LayersTest, CpuTimeIsLimitedByANamedSignal) {
  Command spin = command("spin");
  spin.policy->cpu_seconds = 1;
  const Finished finished = run(spin);
  EXPECT_EQ(finished.outcome, Outcome::signaled);
  EXPECT_EQ(finished.code, SIGXCPU);
}

TEST_F(LayersTest, FilesAreLimitedInSize) {
  EXPECT_EQ(code_of(probe("fill", path("work/big"))), 0);
  EXPECT_EQ(code_with([](box::Policy& p) { p.file_size_bytes = 1U << 20; }, "fill", path("work/small")),
            k_refused);
}

TEST_F(LayersTest, AForkBombIsContained) {
  if (!layers().user_namespace && !layers().own_uid)
    GTEST_SKIP() << "the kernel counts all processes of this user";
  Command bomb = command("bomb");
  bomb.policy->processes = 20;
  const Finished finished = run(bomb);
  EXPECT_EQ(code_of(finished), k_refused);
  EXPECT_EQ(finished.output, "contained\n");
}

TEST_F(LayersTest, NothingOutlivesThePayload) {
  for (const bool no_namespaces : {false, true}) {
    const std::string seconds = std::to_string(200000 + getpid() % 100000 * 10 + (no_namespaces ? 1 : 0));
    Command orphan = command("orphan", seconds);
    orphan.policy->no_namespaces = no_namespaces;
    EXPECT_TRUE(run(orphan).ok());
    Command look;
    look.argv = {"/usr/bin/pgrep", "-f", "sleep " + seconds};
    EXPECT_EQ(run(look).output, "");
  }
}

TEST_F(LayersTest, TheTimeLimitClearsTheTreeWithoutNamespacesToo) {
  Command daemon = command("daemon", "300000");
  daemon.policy->no_namespaces = true;
  daemon.policy->no_seccomp = true;  // so that the grandchild gets a session of its own
  daemon.wall_seconds = 1;
  EXPECT_EQ(run(daemon).outcome, Outcome::timed_out);
  Command look;
  look.argv = {"/usr/bin/pgrep", "-f", "sleep 300000"};
  EXPECT_EQ(run(look).output, "");
}

TEST_F(LayersTest, ThePayloadIsPinned) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  for (int core = 0; core < std::min(2L, cores); ++core) {
    EXPECT_EQ(code_with([core](box::Policy& p) { p.cpu = core; }, "core"), core);
  }
  Command impossible = command("core");
  impossible.policy->cpu = 1000;
  const Finished finished = run(impossible);
  EXPECT_EQ(finished.outcome, Outcome::not_started);
  EXPECT_NE(finished.output.find("core"), std::string::npos);
}

TEST_F(LayersTest, ACompilerBuildsASharedLibrary) {
  ASSERT_TRUE(write_file_atomic(
      path("work/k.cpp"),
      "#include <vector>\nextern \"C\" int f() { return (int)std::vector<int>(3).size(); }\n"));
  Command build = command("");
  build.argv = {"g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-o", path("work/k.so"), path("work/k.cpp")};
  build.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + path("work"), "LC_ALL=C"};
  build.policy->processes = 32;
  build.policy->address_space_bytes = 4ULL << 30;
  build.policy->cpu_seconds = 60;
  const Finished finished = run(build);
  EXPECT_TRUE(finished.ok()) << finished.text() << finished.output;
  EXPECT_TRUE(exists(path("work/k.so")));
  EXPECT_GT(finished.peak_rss_bytes, 10U << 20);
}

TEST_F(LayersTest, ACompilerCannotReadWhatThePolicyDoesNotName) {
  TS_NEEDS(landlock_abi);
  ASSERT_TRUE(write_file_atomic(path("work/spy.cpp"), "#include \"/etc/passwd\"\n"));
  Command build = command("");
  build.argv = {"g++", "-fsyntax-only", path("work/spy.cpp")};
  build.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + path("work"), "LC_ALL=C"};
  const Finished finished = run(build);
  EXPECT_EQ(code_of(finished), 1);
  EXPECT_EQ(finished.output.find("root:"), std::string::npos) << finished.output;
}

TEST_F(LayersTest, WorksForAnOrdinaryUserToo) {
  if (geteuid() != 0) GTEST_SKIP() << "this run is already by an ordinary user";
  if (access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "needs setpriv";
  if (getenv("TUNESMITH_INNER_TEST") != nullptr) GTEST_SKIP() << "inner run";
  const std::string self = std::string(TUNESMITH_BUILD_DIR) + "/tests/os_test";
  Command inner;
  inner.argv = {"/usr/bin/setpriv",
                "--reuid",
                "12345",
                "--regid",
                "12345",
                "--clear-groups",
                self,
                "--gtest_filter=LayersTest.*:*ProcessTest*Sandboxed*",
                "--gtest_brief=1"};
  inner.environment = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp", "TUNESMITH_INNER_TEST=1"};
  inner.wall_seconds = 200;
  Command reachable = inner;
  // Asked by a program of its own: setpriv itself may still open what that user cannot (a clone under /root).
  reachable.argv = {"/usr/bin/setpriv", "--reuid", "12345",
                    "--regid",          "12345",   "--clear-groups",
                    "/usr/bin/test",    "-x",      std::string(TUNESMITH_BUILD_DIR) + "/tunesmith-worker"};
  if (!run(reachable).ok()) GTEST_SKIP() << "the build folder is closed to other users";
  const Finished finished = run(inner);
  EXPECT_TRUE(finished.ok()) << finished.text() << "\n" << finished.output;
}

}  // namespace
}  // namespace tunesmith::os::test
