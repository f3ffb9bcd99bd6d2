// What a process has used, read from outside: the payload has no say in these numbers.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "os/process.h"

namespace tunesmith::os {

namespace {

/// The number after `key` in /proc/PID/status; -1 when there is none.
std::int64_t status_number(pid_t pid, std::string_view key) {
  const auto text = read_file(fmt::format("/proc/{}/status", pid), 1U << 16);
  if (!text) return -1;
  // At the start of a line: the first line is the name, which a process chooses itself.
  const std::size_t at = text->find(fmt::format("\n{}:", key));
  if (at == std::string::npos) return -1;
  return std::strtoll(text->c_str() + at + key.size() + 2, nullptr, 10);
}

}  // namespace

std::int64_t process_cpu_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t run_delay_ns(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/schedstat", pid), 4096);
  if (!text) return -1;
  const std::size_t space = text->find(' ');
  if (space == std::string::npos) return -1;
  return std::strtoll(text->c_str() + space + 1, nullptr, 10);
}

RunDelay::RunDelay(pid_t pid)
    : m_file(open(fmt::format("/proc/{}/schedstat", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

std::int64_t RunDelay::ns() const {
  char text[96];
  const ssize_t got = pread(m_file.get(), text, sizeof text - 1, 0);
  if (got <= 0) return -1;
  text[got] = '\0';
  const char* space = std::strchr(text, ' ');
  return space == nullptr ? -1 : std::strtoll(space + 1, nullptr, 10);
}

int thread_count(pid_t pid) { return static_cast<int>(status_number(pid, "Threads")); }

std::uint64_t peak_rss_bytes(pid_t pid) {
  const std::int64_t kib = status_number(pid, "VmHWM");
  return kib < 0 ? 0 : static_cast<std::uint64_t>(kib) * 1024;
}

double own_cpu_ms() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(static_cast<__rusage_who_t>(who), &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime}) {
      total += static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
    }
  }
  return total;
}

}  // namespace tunesmith::os
