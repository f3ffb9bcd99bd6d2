#include "os/process.h"

#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "os/spawn.h"

namespace tunesmith::os {

namespace {

constexpr std::int64_t k_stop_check_ns = 50'000'000;

/// Reads what is there, up to the cap. False when the other side is closed or the cap is passed.
bool drain(int fd, std::string& output, std::uint64_t cap, bool& over) {
  char bytes[16384];
  while (true) {
    const ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const std::uint64_t room = cap - output.size();
    output.append(bytes,
                  static_cast<std::size_t>(std::min<std::uint64_t>(room, static_cast<std::uint64_t>(got))));
    if (static_cast<std::uint64_t>(got) > room) {
      over = true;
      return false;
    }
  }
}

/// Until the command ends by itself (exited) or must be ended (anything else).
Finished::Outcome watch(const Command& command, const Spawned& spawned, int output_fd, AccountReader& reader,
                        std::string& output) {
  const std::int64_t deadline = spawned.started_ns + static_cast<std::int64_t>(command.wall_seconds * 1e9);
  bool output_open = true;
  bool status_open = static_cast<bool>(spawned.status);
  while (true) {
    if (command.stop != nullptr && command.stop->load()) return Finished::Outcome::interrupted;
    if (monotonic_ns() >= deadline) return Finished::Outcome::timed_out;
    pollfd fds[3] = {{spawned.pidfd.get(), POLLIN, 0},
                     {output_open ? output_fd : -1, POLLIN, 0},
                     {status_open ? spawned.status.get() : -1, POLLIN, 0}};
    std::int64_t until = deadline;
    if (command.stop != nullptr) until = std::min(until, monotonic_ns() + k_stop_check_ns);
    if (poll(fds, 3, poll_ms(until)) < 0 && errno != EINTR) return Finished::Outcome::not_started;
    if (status_open && fds[2].revents != 0) status_open = reader.take(spawned.status.get());
    if (output_open && fds[1].revents != 0) {
      bool over = false;
      output_open = drain(output_fd, output, command.output_bytes, over);
      if (over) return Finished::Outcome::output_limit;
    }
    if (fds[0].revents != 0) return Finished::Outcome::exited;
  }
}

Finished not_started(std::string why) {
  Finished finished;
  finished.output = std::move(why);
  return finished;
}

}  // namespace

std::string Finished::text() const {
  switch (outcome) {
    case Outcome::exited:
      return fmt::format("exit status {}", code);
    case Outcome::signaled: {
      const char* name = sigabbrev_np(code);
      return name != nullptr ? fmt::format("killed by SIG{}", name)
                             : fmt::format("killed by signal {}", code);
    }
    case Outcome::timed_out:
      return fmt::format("timed out after {:.3g} s", wall_ms / 1e3);
    case Outcome::output_limit:
      return fmt::format("stopped: wrote more than {} bytes of output", output.size());
    case Outcome::interrupted:
      return "interrupted";
    case Outcome::not_started:
      break;
  }
  return output.empty() ? "not started" : fmt::format("not started: {}", output);
}

Finished run(const Command& command) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0)
    return not_started(fmt::format("cannot make a pipe: {}", errno_text(errno)));
  const UniqueFd output_ours(pipe_fds[0]);
  UniqueFd output_theirs(pipe_fds[1]);
  fcntl(output_ours.get(), F_SETFL, O_NONBLOCK);
  auto spawned = spawn_command(command, output_theirs.get());
  output_theirs.reset();
  if (!spawned) return not_started(spawned.error().message);

  const bool sandboxed = command.policy.has_value();
  Finished finished;
  AccountReader reader;
  const Finished::Outcome outcome = watch(command, *spawned, output_ours.get(), reader, finished.output);
  if (outcome == Finished::Outcome::exited) {
    // Not yet reaped, so the group is still ours to name; a plain command may have left children behind.
    if (!sandboxed) kill(-spawned->pid, SIGKILL);
    bool over = false;
    (void)drain(output_ours.get(), finished.output, command.output_bytes, over);
    if (sandboxed) (void)reader.take(spawned->status.get());
    reap(spawned->pid, spawned->started_ns, &reader.account(), finished);
    if (over) finished.outcome = Finished::Outcome::output_limit;
  } else {
    kill_tree(spawned->pid, spawned->pidfd.get(), sandboxed);
    bool over = false;
    (void)drain(output_ours.get(), finished.output, command.output_bytes, over);
    if (sandboxed) (void)reader.take(spawned->status.get());
    reap(spawned->pid, spawned->started_ns, &reader.account(), finished);
    finished.outcome = outcome;
  }
  finished.layers = reader.account().layers;
  if (sandboxed && (!reader.account().error.empty() || !reader.account().ready) &&
      finished.outcome != Finished::Outcome::timed_out &&
      finished.outcome != Finished::Outcome::interrupted) {
    const std::string how = finished.text();
    finished.outcome = Finished::Outcome::not_started;
    finished.output = reader.account().error.empty()
                          ? fmt::format("the sandbox launcher ended early: {}", how)
                          : reader.account().error;
  }
  return finished;
}

Status give_to_sandbox(const std::string& path) {
  if (geteuid() != 0) return {};
  char* const roots[] = {const_cast<char*>(path.c_str()), nullptr};
  FTS* tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr);
  if (tree == nullptr)
    return fail(ErrorCode::io, fmt::format("cannot list: {}", errno_text(errno)), "", Place{path});
  Status status;
  while (const FTSENT* entry = fts_read(tree)) {
    if (entry->fts_info == FTS_DP) continue;
    // Links are given away themselves, never what they point to.
    if (lchown(entry->fts_path, box::k_sandbox_id, box::k_sandbox_id) != 0 && errno != ENOENT) {
      status = fail(ErrorCode::io, fmt::format("cannot give to the sandbox: {}", errno_text(errno)), "",
                    Place{entry->fts_path});
      break;
    }
  }
  fts_close(tree);
  return status;
}

namespace {

Result<std::string> beside_us(const char* name) {
  std::string self(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string folder = parent_folder(self);
  for (const char* place : {"", "/../libexec/tunesmith", "/.."}) {
    std::string path = folder + place + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(ErrorCode::unavailable,
              fmt::format("cannot find {} beside {} or in ../libexec/tunesmith", name, self),
              "build or install it again as a whole");
}

}  // namespace

Result<std::string> worker_program() { return beside_us("tunesmith-worker"); }

Result<std::string> launch_program() {
  auto path = beside_us("tunesmith-launch");
  return path ? path : worker_program();
}

}  // namespace tunesmith::os
