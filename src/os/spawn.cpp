#include "os/spawn.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/text.h"
#include "os/box/launch.h"

namespace tunesmith::os {

namespace {

constexpr int k_high = 256;  // our descriptors are moved up here, so that the numbers asked for are free

/// argv[0] as execvp would find it, by the child's own PATH.
Result<std::string> find_program(const Command& command) {
  const std::string& name = command.argv.front();
  if (name.find('/') != std::string::npos) return name;
  std::string_view path;
  for (const std::string& entry : command.environment) {
    if (entry.rfind("PATH=", 0) == 0) path = std::string_view(entry).substr(5);
  }
  while (!path.empty() && !name.empty()) {
    const std::size_t colon = path.find(':');
    const std::string folder(path.substr(0, colon));
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && !is_folder(candidate)) return candidate;
    if (colon == std::string_view::npos) break;
    path.remove_prefix(colon + 1);
  }
  return fail(ErrorCode::unavailable,
              fmt::format("cannot find the program {} in the PATH given to it", name));
}

Result<UniqueFd> orders_file(const Command& command) {
  box::Orders orders;
  orders.policy = *command.policy;
  orders.parent = getpid();
  for (const auto& [ours, theirs] : command.descriptors) {
    if (theirs > 2) orders.keep.push_back(theirs);
  }
  const std::string text = box::encode(orders);
  UniqueFd fd(memfd_create("orders", MFD_CLOEXEC));
  if (!fd || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return fail(ErrorCode::infra, fmt::format("cannot write orders for the sandbox: {}", errno_text(errno)));
  }
  return fd;
}

/// Which descriptor becomes which, without one overwriting another that is still needed.
class Plan {
 public:
  Plan() { posix_spawn_file_actions_init(&m_actions); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { posix_spawn_file_actions_destroy(&m_actions); }

  Status move(int ours, int theirs) {
    UniqueFd high(fcntl(ours, F_DUPFD_CLOEXEC, k_high));
    if (!high)
      return fail(ErrorCode::infra, fmt::format("cannot pass descriptor {}: {}", ours, errno_text(errno)));
    m_moves.emplace_back(std::move(high), theirs);
    return {};
  }
  [[nodiscard]] bool takes(int theirs) const {
    return std::any_of(m_moves.begin(), m_moves.end(),
                       [theirs](const auto& m) { return m.second == theirs; });
  }
  [[nodiscard]] int free_number() const {
    int number = 3;
    while (takes(number)) ++number;
    return number;
  }
  posix_spawn_file_actions_t* finish(const std::string& working_folder) {
    int last = 2;
    for (const auto& [high, theirs] : m_moves) {
      posix_spawn_file_actions_adddup2(&m_actions, high.get(), theirs);
      last = std::max(last, theirs);
    }
    for (int number = 3; number < last; ++number) {
      if (!takes(number)) posix_spawn_file_actions_addclose(&m_actions, number);
    }
    posix_spawn_file_actions_addclosefrom_np(&m_actions, last + 1);
    if (!working_folder.empty()) posix_spawn_file_actions_addchdir_np(&m_actions, working_folder.c_str());
    return &m_actions;
  }

 private:
  posix_spawn_file_actions_t m_actions;
  std::vector<std::pair<UniqueFd, int>> m_moves;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// A session of its own (so also a group), no blocked or ignored signals.
int start(pid_t& pid, const std::string& program, const std::vector<std::string>& argv,
          const Command& command, Plan& plan) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::vector<char*> arguments = pointers(argv);
  const std::vector<char*> environment = pointers(command.environment);
  const int error = posix_spawn(&pid, program.c_str(), plan.finish(command.working_folder), &attributes,
                                arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  return error;
}

/// Every process whose chain of parents leads to `root`, by /proc.
std::vector<pid_t> descendants(pid_t root) {
  std::vector<std::pair<pid_t, pid_t>> parents;
  if (DIR* folder = opendir("/proc")) {
    while (const dirent* entry = readdir(folder)) {
      const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
      if (pid <= 0) continue;
      const auto stat = read_file(fmt::format("/proc/{}/stat", pid), 4096);
      if (!stat) continue;
      const std::size_t name_end = stat->rfind(')');  // the name may hold anything
      if (name_end == std::string::npos || name_end + 4 >= stat->size()) continue;
      parents.emplace_back(pid, static_cast<pid_t>(std::strtol(stat->c_str() + name_end + 4, nullptr, 10)));
    }
    closedir(folder);
  }
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [pid, parent] : parents) {
      if (parent == found[i] && std::find(found.begin(), found.end(), pid) == found.end())
        found.push_back(pid);
    }
  }
  found.erase(found.begin());
  return found;
}

Result<std::vector<std::string>> launcher_argv(const Command& command, Plan& plan, std::string& program,
                                               UniqueFd& status_ours) {
  TS_ASSIGN(std::string launcher, command.worker_loop ? worker_program() : launch_program());
  TS_ASSIGN(const UniqueFd orders, orders_file(command));
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return fail(ErrorCode::infra, fmt::format("cannot make a pipe: {}", errno_text(errno)));
  }
  status_ours.reset(pipe_fds[0]);
  fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
  const UniqueFd status_theirs(pipe_fds[1]);
  const int orders_number = plan.free_number();
  TS_TRY(plan.move(orders.get(), orders_number));
  const int status_number = plan.free_number();
  TS_TRY(plan.move(status_theirs.get(), status_number));
  std::vector<std::string> argv{launcher, command.worker_loop ? "run" : "exec", std::to_string(orders_number),
                                std::to_string(status_number)};
  if (command.worker_loop) {
    argv.push_back(std::to_string(command.descriptors.empty() ? -1 : command.descriptors.front().second));
  } else {
    argv.emplace_back("--");
    argv.push_back(program);
    argv.insert(argv.end(), command.argv.begin() + 1, command.argv.end());
  }
  program = std::move(launcher);
  return argv;
}

}  // namespace

Result<Spawned> spawn_command(const Command& command, int output_fd) {
  if (command.worker_loop && !command.policy) {
    return fail(ErrorCode::internal, "the worker's loop runs only inside a sandbox");
  }
  std::string program;
  if (!command.worker_loop) {
    if (command.argv.empty()) return fail(ErrorCode::internal, "there is no program to run");
    TS_ASSIGN(program, find_program(command));
  }
  Plan plan;
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return fail(ErrorCode::infra, fmt::format("cannot open /dev/null: {}", errno_text(errno)));
  const int output = output_fd >= 0 ? output_fd : null.get();
  TS_TRY(plan.move(null.get(), 0));
  TS_TRY(plan.move(output, 1));
  TS_TRY(plan.move(output, 2));
  for (const auto& [ours, theirs] : command.descriptors) TS_TRY(plan.move(ours, theirs));
  Spawned spawned;
  std::vector<std::string> argv = command.argv;
  if (command.policy) {
    TS_ASSIGN(argv, launcher_argv(command, plan, program, spawned.status));
  }
  spawned.started_ns = monotonic_ns();
  const int error = start(spawned.pid, program, argv, command, plan);
  if (error != 0) {
    const bool absent = error == ENOENT || error == EACCES || error == ENOTDIR || error == ENOEXEC;
    return fail(absent ? ErrorCode::unavailable : ErrorCode::infra,
                fmt::format("cannot start {}: {}", program, errno_text(error)));
  }
  // Ours until we reap it, so the number cannot have been given to another process.
  spawned.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, spawned.pid, 0)));
  if (!spawned.pidfd) {
    const int number = errno;
    kill(-spawned.pid, SIGKILL);
    while (waitpid(spawned.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail(ErrorCode::infra, fmt::format("cannot watch {}: {}", program, errno_text(number)));
  }
  return spawned;
}

bool AccountReader::take(int status_fd) {
  char bytes[1024];
  while (true) {
    const ssize_t got = read(status_fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    m_pending.append(bytes, static_cast<std::size_t>(got));
    std::size_t end = 0;
    while ((end = m_pending.find('\n')) != std::string::npos) {
      box::take_line(std::string_view(m_pending).substr(0, end), m_account);
      m_pending.erase(0, end + 1);
    }
  }
}

int poll_ms(std::int64_t until_ns) {
  const std::int64_t left = until_ns - monotonic_ns();
  if (left <= 0) return 0;
  return static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 1'000'000));
}

bool wait_readable(int fd, std::int64_t until_ns) {
  while (true) {
    pollfd one{fd, POLLIN, 0};
    const int ready = poll(&one, 1, poll_ms(until_ns));
    if (ready > 0) return true;
    if (ready == 0 && monotonic_ns() >= until_ns) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void kill_tree(pid_t pid, int pidfd, bool sandboxed) {
  // The launcher clears its namespace and ends only when nothing is left in there.
  if (sandboxed && kill(pid, SIGTERM) == 0 && wait_readable(pidfd, monotonic_ns() + 2'000'000'000)) return;
  // A grandchild may have left the group. Those found are killed before their parent, so that the chain
  // holds; a few rounds for the ones born meanwhile.
  for (int round = 0; round < 5; ++round) {
    const std::vector<pid_t> found = descendants(pid);
    kill(-pid, SIGSTOP);
    for (const pid_t child : found) kill(child, SIGKILL);
    if (found.empty()) break;
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
}

void reap(pid_t pid, std::int64_t started_ns, const box::Account* account, Finished& finished) {
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  finished.wall_ms = static_cast<double>(monotonic_ns() - started_ns) / 1e6;
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  finished.cpu_ms = ms(usage.ru_utime) + ms(usage.ru_stime);
  // The kernel counts our own size into a process that we spawned (it shares our memory until it executes),
  // so the launcher's figure for the payload, which it forked, is the right one.
  const bool accounted = account != nullptr && account->peak_rss_kib != 0;
  finished.peak_rss_bytes =
      1024 * (accounted ? account->peak_rss_kib : static_cast<std::uint64_t>(usage.ru_maxrss));
  if (WIFEXITED(status)) {
    finished.outcome = Finished::Outcome::exited;
    finished.code = WEXITSTATUS(status);
  } else {
    finished.outcome = Finished::Outcome::signaled;
    finished.code = WTERMSIG(status);
  }
}

}  // namespace tunesmith::os
