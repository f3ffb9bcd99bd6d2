#include "os/box/launch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/box/identity.h"
#include "os/box/landlock.h"
#include "os/box/seccomp.h"
#include "os/box/wire.h"

extern char** environ;

namespace tunesmith::box {

namespace {

void tell(int status_fd, const std::string& line) {
  // A line is shorter than PIPE_BUF, so it arrives whole or not at all.
  while (write(status_fd, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void give_up(int status_fd, const std::string& what) {
  const int number = errno;
  tell(status_fd, error_line(number == 0 ? what : what + ": " + std::strerror(number)));
  _exit(k_launch_failed);
}

bool read_orders(int fd, Orders& orders) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return false;
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  close(fd);
  return got == info.st_size && decode(text, orders);
}

void close_all_but(std::vector<int> keep, int status_fd) {
  keep.push_back(status_fd);
  std::sort(keep.begin(), keep.end());
  unsigned from = 3;
  for (const int fd : keep) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > from) syscall(SYS_close_range, from, kept - 1, 0);
    from = std::max(from, kept + 1);
  }
  syscall(SYS_close_range, from, ~0U, 0);
}

bool set_limit(int what, std::uint64_t soft, std::uint64_t hard) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(what), &limit) != 0) return false;
  // Root here may lack the right to raise a hard limit, and must not need it.
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, hard);
  limit.rlim_cur = std::min<rlim_t>(soft, limit.rlim_max);
  return setrlimit(static_cast<__rlimit_resource_t>(what), &limit) == 0;
}

bool set_limits(const Policy& policy, const Layers& layers) {
  bool all = set_limit(RLIMIT_CORE, 0, 0) && set_limit(RLIMIT_MEMLOCK, 0, 0);
  if (policy.open_files != 0) all &= set_limit(RLIMIT_NOFILE, policy.open_files, policy.open_files);
  if (policy.file_size_bytes != 0)
    all &= set_limit(RLIMIT_FSIZE, policy.file_size_bytes, policy.file_size_bytes);
  // Soft below hard: the first sends SIGXCPU, which names the cause; the second kills.
  if (policy.cpu_seconds != 0) all &= set_limit(RLIMIT_CPU, policy.cpu_seconds, policy.cpu_seconds + 2);
  // The kernel counts processes by user and user namespace: ours holds launcher and keeper besides. In the
  // namespace of everybody the count would include what the user runs elsewhere, so there it is set for our
  // own id only.
  if (policy.processes != 0 && (layers.user_namespace || layers.own_uid)) {
    const std::uint64_t limit = policy.processes + 2;
    all &= set_limit(RLIMIT_NPROC, limit, limit);
  }
#ifndef TUNESMITH_SANITIZED  // a sanitizer reserves terabytes of address space
  if (policy.address_space_bytes != 0) {
    all &= set_limit(RLIMIT_AS, policy.address_space_bytes, policy.address_space_bytes);
  }
#endif
  return all;
}

/// A copy of the path at an address nobody can guess: the one that the filter lets through (see
/// confine_calls).
char* hide(const char* path) {
  const std::size_t length = std::strlen(path) + 1;
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return nullptr;
  const std::uintptr_t address = random & 0x3fffffffffff;  // 46 bits, user space of both architectures
  const std::size_t offset = address & 4095;
  void* page = mmap(reinterpret_cast<void*>(address - offset), length + offset, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  char* hidden = static_cast<char*>(page) + offset;
  std::memcpy(hidden, path, length);
  return hidden;
}

/// A system call that leaves errno alone.
long raw_call(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
  register long r10 asm("r10") = d;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "the launcher knows x86_64 and aarch64"
#endif
}

void signals_as_at_start() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

struct Start {
  const Orders& orders;
  Layers layers;
  int status_fd;
  const Payload& payload;
};

int run_payload(void* argument) {
  const Start& start = *static_cast<const Start*>(argument);
  const Policy& policy = start.orders.policy;
  const Payload& payload = start.payload;
  const int status_fd = start.status_fd;
  Layers layers = start.layers;
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (policy.cpu >= 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(policy.cpu), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) give_up(status_fd, "cannot pin to the core");
  }
  if (layers.user_namespace) drop_capabilities();
  char* path = nullptr;
  if (payload.argv != nullptr) {
    path = policy.allow_exec ? payload.argv[0] : hide(payload.argv[0]);
    if (path == nullptr) give_up(status_fd, "cannot place the path of the program");
  }
  layers.rlimits = set_limits(policy, layers);
  if (!policy.no_landlock) layers.landlock_abi = confine_files(policy);
  if (!policy.no_seccomp) layers.seccomp = confine_calls(policy, layers.pid_namespace, path);
  tell(status_fd, layers_line(layers));
  signals_as_at_start();
  if (payload.argv == nullptr) {
    close(status_fd);
    _exit(payload.loop(payload.control_fd));
  }
  execve(path, payload.argv, environ);
  give_up(status_fd, std::string("cannot execute ") + path);
}

/// Pid 1 of the namespace: collects orphans and dies with the launcher. It shares the launcher's memory
/// (errno too), so it calls the kernel directly and touches nothing but its own stack.
int keep_namespace(void* /*unused*/) {
  raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
  raw_call(SYS_close_range, 0, ~0U, 0, 0);
  const unsigned long child = 1UL << (SIGCHLD - 1);
  while (true) {
    raw_call(SYS_rt_sigtimedwait, reinterpret_cast<long>(&child), 0, 0, sizeof child);
    while (raw_call(SYS_wait4, -1, 0, WNOHANG, 0) > 0) {
    }
  }
}

/// Kills every child, and what they leave behind to us, until there is none. Only needed without a pid
/// namespace.
void sweep_children() {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  while (true) {
    if (FILE* list = std::fopen(path, "re")) {
      int pid = 0;
      while (std::fscanf(list, "%d", &pid) == 1) kill(pid, SIGKILL);
      std::fclose(list);
    }
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 && errno == ECHILD) return;
    // Dying, or handed to us just now: look again.
    usleep(200);
  }
}

/// A fork copies page tables and costs more than all layers together. The keeper never needs memory of its
/// own, and a program to be executed needs it only from then on; the examiner's loop does, since it loads
/// foreign code.
pid_t start_keeper() {
  alignas(16) static char stack[16384];
  return clone(keep_namespace, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr);
}

pid_t start_payload(Start& start) {
  if (start.payload.argv == nullptr) {
    const pid_t pid = fork();
    if (pid == 0) run_payload(&start);
    return pid;
  }
  alignas(16) static char stack[256 << 10];
  return clone(run_payload, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
}

class Watch {
 public:
  Watch(pid_t keeper, pid_t payload) : m_keeper(keeper), m_payload(payload) {}

  /// Until the payload has ended; SIGTERM from the caller ends it.
  int wait(const sigset_t& signals, rusage& usage) const {
    while (true) {
      int status = 0;
      pid_t ended = 0;
      while ((ended = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (ended == m_payload) return status;
      }
      siginfo_t info;
      if (sigwaitinfo(&signals, &info) == SIGTERM) kill_all();
    }
  }
  void kill_all() const {
    if (m_keeper > 0) kill(m_keeper, SIGKILL);
    kill(-m_payload, SIGKILL);
    kill(m_payload, SIGKILL);
  }
  /// Nothing of the tree is left when this returns.
  void clear() const {
    if (m_keeper > 0) {
      kill(m_keeper, SIGKILL);
      while (waitpid(m_keeper, nullptr, 0) < 0 && errno == EINTR) {
      }
      return;
    }
    kill(-m_payload, SIGKILL);
    sweep_children();
  }

 private:
  pid_t m_keeper;
  pid_t m_payload;
};

[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  set_limit(RLIMIT_CORE, 0, 0);
  signal(number, SIG_DFL);
  signals_as_at_start();
  kill(getpid(), number);
  _exit(128 + number);
}

}  // namespace

void launch(int orders_fd, int status_fd, const Payload& payload) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  fcntl(status_fd, F_SETFD, FD_CLOEXEC);
  Orders orders;
  if (!read_orders(orders_fd, orders)) {
    errno = 0;
    give_up(status_fd, "the orders are not readable");
  }
  close_all_but(orders.keep, status_fd);
  const Policy& policy = orders.policy;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(status_fd, "cannot set no_new_privs");
  Layers layers;
  // A net namespace costs as much as all the rest together; a filter that refuses every socket does the same
  // work.
  change_identity(policy, policy.no_seccomp || !has_seccomp(), layers);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (orders.parent != 0 && getppid() != orders.parent) _exit(k_launch_failed);
  pid_t keeper = -1;
  if (layers.pid_namespace) {
    keeper = start_keeper();
    if (keeper < 0) give_up(status_fd, "cannot start the first process of the namespace");
  } else {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
  Start start{orders, layers, status_fd, payload};
  const pid_t inner = start_payload(start);
  if (inner < 0) give_up(status_fd, "cannot start the payload");
  // Nothing of the same user may look into the launcher, which stands outside.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  tell(status_fd, number_line("inner", static_cast<std::uint64_t>(inner)));
  for (const int fd : orders.keep) close(fd);
  const Watch watch(keeper, inner);
  rusage usage{};
  const int status = watch.wait(signals, usage);
  watch.clear();
  tell(status_fd, number_line("peak", static_cast<std::uint64_t>(usage.ru_maxrss)));
  end_as(status);
}

}  // namespace tunesmith::box
