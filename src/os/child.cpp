// Child: a process that lives for many requests.
#include <poll.h>
#include <signal.h>

#include <cerrno>

#include "base/clock.h"
#include "os/process.h"
#include "os/spawn.h"

namespace tunesmith::os {

namespace {

constexpr std::int64_t k_start_ns = 30'000'000'000;

/// Until the launcher said that the payload starts, and where. Its words on failure otherwise.
Status wait_until_ready(const Spawned& spawned, AccountReader& reader) {
  const std::int64_t deadline = monotonic_ns() + k_start_ns;
  while (true) {
    const bool open = reader.take(spawned.status.get());
    const box::Account& account = reader.account();
    if (!account.error.empty()) return fail(ErrorCode::infra, account.error);
    if (account.ready && account.inner_pid > 0) return {};
    if (!open) return fail(ErrorCode::infra, "the sandbox launcher ended before its payload started");
    if (!wait_readable(spawned.status.get(), deadline)) {
      return fail(ErrorCode::infra, "the sandbox launcher did not start its payload within 30 s");
    }
  }
}

}  // namespace

Result<Child> Child::spawn(const Command& command, int output_fd) {
  TS_ASSIGN(Spawned spawned, spawn_command(command, output_fd));
  Child child;
  child.m_pid = spawned.pid;
  child.m_inner_pid = spawned.pid;
  child.m_started_ns = spawned.started_ns;
  if (spawned.status) {
    AccountReader reader;
    auto ready = wait_until_ready(spawned, reader);
    child.m_inner_pid = reader.account().inner_pid;
    child.m_layers = reader.account().layers;
    child.m_status = std::move(spawned.status);
    child.m_pidfd = std::move(spawned.pidfd);
    if (!ready) return tl::unexpected<Error>(std::move(ready.error()));
    return child;
  }
  child.m_pidfd = std::move(spawned.pidfd);
  return child;
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  std::swap(m_pid, other.m_pid);
  std::swap(m_inner_pid, other.m_inner_pid);
  std::swap(m_pidfd, other.m_pidfd);
  std::swap(m_status, other.m_status);
  std::swap(m_layers, other.m_layers);
  std::swap(m_started_ns, other.m_started_ns);
  return *this;
}

Child::~Child() {
  if (m_pid <= 0) return;
  kill_group();
  Finished finished;
  reap(m_pid, m_started_ns, nullptr, finished);
}

bool Child::running() {
  if (m_pid <= 0) return false;
  pollfd one{m_pidfd.get(), POLLIN, 0};
  while (true) {
    const int ready = poll(&one, 1, 0);
    if (ready >= 0) return ready == 0;
    if (errno != EINTR) return false;
  }
}

void Child::kill_group() {
  if (m_pid <= 0) return;
  if (running()) {
    kill_tree(m_pid, m_pidfd.get(), static_cast<bool>(m_status));
  } else if (!m_status) {
    kill(-m_pid, SIGKILL);  // what a plain command left behind
  }
}

Finished Child::wait(double wall_seconds) {
  Finished finished;
  if (m_pid <= 0) return finished;
  const std::int64_t deadline = monotonic_ns() + static_cast<std::int64_t>(wall_seconds * 1e9);
  const bool ended = wait_readable(m_pidfd.get(), deadline);
  kill_group();
  AccountReader reader;
  if (m_status) (void)reader.take(m_status.get());
  reap(m_pid, m_started_ns, &reader.account(), finished);
  if (!ended) finished.outcome = Finished::Outcome::timed_out;
  finished.layers = m_layers;
  m_pid = -1;
  m_inner_pid = -1;
  return finished;
}

}  // namespace tunesmith::os
