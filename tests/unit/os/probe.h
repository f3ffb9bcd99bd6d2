// A small program that tries what a hostile payload would try, one attempt a run: exit status 0 = it
// succeeded, 10 = it was refused. Compiled once; every test of the sandbox runs it through the real launcher.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "os/process.h"

namespace tunesmith::os::test {

inline constexpr int k_refused = 10;

inline constexpr const char* k_probe_source = R"(
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char** environ;
static int verdict(long result) { return result < 0 ? 10 : 0; }
static void* nothing(void* p) { return p; }
int main(int argc, char** argv) {
  const char* what = argv[1];
  const char* with = argc > 2 ? argv[2] : "";
  if (!strcmp(what, "exit")) return atoi(with);
  if (!strcmp(what, "abort")) abort();
  if (!strcmp(what, "segv")) { *(volatile int*)8 = 1; return 0; }
  if (!strcmp(what, "raise")) { raise(atoi(with)); return 0; }
  if (!strcmp(what, "environment")) { int n = 0; while (environ[n]) puts(environ[n++]); return n; }
  if (!strcmp(what, "socket")) return verdict(socket(atoi(with), SOCK_STREAM, 0));
  if (!strcmp(what, "read")) return verdict(open(with, O_RDONLY));
  if (!strcmp(what, "write")) return verdict(open(with, O_WRONLY | O_CREAT, 0644));
  if (!strcmp(what, "chmod")) return verdict(chmod(with, 0600));
  if (!strcmp(what, "fork")) {
    pid_t p = fork();
    if (p == 0) _exit(0);
    return verdict(p);
  }
  if (!strcmp(what, "vfork")) {
    pid_t p = vfork();
    if (p == 0) _exit(0);
    return verdict(p);
  }
  if (!strcmp(what, "thread")) {
    pthread_t t;
    return pthread_create(&t, NULL, nothing, NULL) ? 10 : 0;
  }
  if (!strcmp(what, "exec")) { execl("/bin/true", "true", NULL); return 10; }
  if (!strcmp(what, "exec-itself")) { if (argc > 3) return 0; execl(argv[0], argv[0], what, "x", "again", NULL); return 10; }
  if (!strcmp(what, "ptrace")) return verdict(ptrace(PTRACE_TRACEME, 0, 0, 0));
  if (!strcmp(what, "kill")) return verdict(kill(atoi(with), 0));
  if (!strcmp(what, "namespace")) return verdict(unshare(CLONE_NEWUSER));
  if (!strcmp(what, "clone-namespace")) {
    pid_t p = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (p == 0) _exit(0);
    return verdict(p);
  }
  if (!strcmp(what, "affinity")) { cpu_set_t all; memset(&all, 255, sizeof all); return verdict(sched_setaffinity(0, sizeof all, &all)); }
  if (!strcmp(what, "timer")) { timer_t t; return verdict(timer_create(CLOCK_MONOTONIC, NULL, &t)); }
  if (!strcmp(what, "memfd")) return verdict(memfd_create("x", 0));
  if (!strcmp(what, "core")) return sched_getcpu();
  if (!strcmp(what, "allocate")) {
    size_t n = (size_t)atoi(with) << 20;
    char* p = malloc(n);
    if (!p) return 10;
    memset(p, 1, n);
    return p[n - 1] - 1;
  }
  if (!strcmp(what, "spin")) for (;;) {}
  if (!strcmp(what, "fill")) {
    int fd = open(with, O_WRONLY | O_CREAT, 0644);
    static char block[1 << 16];
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 64; ++i) if (write(fd, block, sizeof block) < 0) return 10;
    return 0;
  }
  if (!strcmp(what, "descriptors")) {
    int n = 0;
    for (int fd = 3; fd < 1024; ++fd) if (fcntl(fd, F_GETFD) >= 0) ++n;
    return n;
  }
  if (!strcmp(what, "say")) return write(atoi(with), "hello", 5) == 5 ? 0 : 10;
  if (!strcmp(what, "flood")) for (;;) puts("a line of output that goes on and on");
  if (!strcmp(what, "bomb")) {
    for (int i = 0; i < 10000; ++i) {
      pid_t p = fork();
      if (p < 0) { puts("contained"); return 10; }
      if (p == 0) { for (;;) pause(); }
    }
    return 0;
  }
  if (!strcmp(what, "daemon")) {  /* a grandchild in a session of its own, naming itself by its arguments */
    if (fork() == 0) {
      setsid();
      if (fork() == 0) { execl("/bin/sleep", "sleep", with, NULL); _exit(1); }
      for (;;) pause();
    }
    for (;;) pause();
  }
  if (!strcmp(what, "orphan")) {
    if (fork() == 0) { setsid(); execl("/bin/sleep", "sleep", with, NULL); _exit(1); }
    usleep(50000);
    return 0;
  }
  return 99;
}
)";

/// Where the toolchain lives, for a sandbox that runs ordinary programs.
inline std::vector<std::string> system_folders() {
  return {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"};
}

class SandboxTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = TempDir::make("tunesmith-os-test-");
    ASSERT_TRUE(made) << made.error().line();
    s_folder = new TempDir(std::move(*made));
    // The sandbox's own user must be able to pass through.
    ASSERT_EQ(chmod(s_folder->path().c_str(), 0755), 0);
    ASSERT_TRUE(write_file_atomic(path("probe.c"), k_probe_source));
    Command build;
    build.argv = {"cc", "-O1", "-w", "-o", path("probe"), path("probe.c"), "-pthread"};
    build.environment = {"PATH=/usr/bin:/bin"};
    const Finished built = run(build);
    ASSERT_TRUE(built.ok()) << built.text() << built.output;
    ASSERT_TRUE(make_folders(path("work")));
    ASSERT_TRUE(give_to_sandbox(path("work")));
  }
  static void TearDownTestSuite() {
    delete s_folder;
    s_folder = nullptr;
  }
  static std::string path(const std::string& name) { return s_folder->path() + "/" + name; }

  /// A sandbox in which the probe starts, may read the system and write in work/.
  static box::Policy policy() {
    box::Policy made;
    made.read_only = system_folders();
    made.read_only.push_back(path("probe"));
    made.read_write = {path("work")};
    return made;
  }
  static Command command(const std::string& what, const std::string& with = {}) {
    Command made;
    made.argv = {path("probe"), what};
    if (!with.empty()) made.argv.push_back(with);
    made.wall_seconds = 30;
    made.policy = policy();
    return made;
  }
  static Finished probe(const std::string& what, const std::string& with = {}) {
    return run(command(what, with));
  }

 private:
  static inline TempDir* s_folder = nullptr;
};

/// Exit status; fails the test when the probe did not exit.
inline int code_of(const Finished& finished) {
  EXPECT_EQ(finished.outcome, Finished::Outcome::exited) << finished.text() << "\n" << finished.output;
  return finished.outcome == Finished::Outcome::exited ? finished.code : -1;
}

}  // namespace tunesmith::os::test
