#include "app/stop.h"

#include <csignal>

namespace tunesmith::app {

namespace {

std::atomic<bool> g_stop{false};
struct sigaction g_old_int {};
struct sigaction g_old_term {};

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch only lock-free atomics");

void on_signal(int) { g_stop.store(true, std::memory_order_relaxed); }

}  // namespace

StopOnSignal::StopOnSignal() {
  g_stop.store(false);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // After the first signal the default action is back: an impatient second Ctrl-C kills.
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, &g_old_int);
  sigaction(SIGTERM, &action, &g_old_term);
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &g_old_int, nullptr);
  sigaction(SIGTERM, &g_old_term, nullptr);
}

const std::atomic<bool>* StopOnSignal::flag() const { return &g_stop; }
bool StopOnSignal::stopped() const { return g_stop.load(); }

Error StopOnSignal::explain(Error error, const char* doing) const {
  const bool by_stop = error.code == ErrorCode::infra || error.code == ErrorCode::invalid;
  if (!stopped() || !by_stop) return error;
  return Error{ErrorCode::interrupted, std::string("stopped while ") + doing, "", {}};
}

}  // namespace tunesmith::app
