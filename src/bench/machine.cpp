#include "bench/machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "bench/peaks.h"
#include "bench/pinning.h"

namespace tunesmith::bench {

namespace {

constexpr double k_margin = 1.10;
constexpr int k_cache_version = 2;
constexpr std::uint64_t k_largest_llc_bytes = 64ULL
                                              << 20;  // of what one core sees, when only the package is told
constexpr std::size_t k_memory_read_bytes = 256U << 20;  // far above any cache that one core sees

std::string cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return std::string(xdg) + "/tunesmith";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/tunesmith";
  return fmt::format("/tmp/tunesmith-cache-{}", geteuid());
}

std::string first_field(const std::string& file, std::string_view key) {
  const auto text = read_file(file);
  if (!text) return {};
  for (const std::string_view line : split_lines(*text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (trim(line.substr(0, colon)) == key) return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

std::uint64_t cache_bytes(int level, std::string_view kind) {
  for (int index = 0; index < 8; ++index) {
    const std::string base = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const auto level_text = read_file(base + "level");
    if (!level_text) break;
    const auto type = read_file(base + "type");
    const auto size = read_file(base + "size");
    if (!type || !size || std::string(trim(*level_text)) != std::to_string(level) || trim(*type) != kind)
      continue;
    const std::uint64_t number = std::strtoull(size->c_str(), nullptr, 10);
    return size->find('M') != std::string::npos ? number << 20 : number << 10;
  }
  // Some guests hide the folder: ask the processor itself.
#if defined(__x86_64__)
  for (const unsigned leaf : {4U, 0x8000001DU}) {  // Intel's and AMD's deterministic cache parameters
    for (unsigned index = 0; index < 8; ++index) {
      unsigned a = 0, b = 0, c = 0, d = 0;
      if (__get_cpuid_count(leaf, index, &a, &b, &c, &d) == 0 || (a & 31U) == 0) break;
      const bool wanted =
          (a & 31U) == (kind == "Data" ? 1U : 3U) && ((a >> 5U) & 7U) == static_cast<unsigned>(level);
      if (!wanted) continue;
      return std::uint64_t{(b >> 22U) + 1} * (((b >> 12U) & 1023U) + 1) * ((b & 4095U) + 1) *
             (std::uint64_t{c} + 1);
    }
  }
#endif
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  // The C library knows older leaves too, but of the last level it may answer the whole package's.
  const int name = level == 1   ? _SC_LEVEL1_DCACHE_SIZE
                   : level == 2 ? _SC_LEVEL2_CACHE_SIZE
                                : _SC_LEVEL3_CACHE_SIZE;
  if (const long bytes = sysconf(name); bytes > 0)
    return std::min(static_cast<std::uint64_t>(bytes), k_largest_llc_bytes);
#endif
  return 0;
}

Machine look_up() {
  Machine machine;
  machine.cpu_model = first_field("/proc/cpuinfo", "model name");
  if (machine.cpu_model.empty()) machine.cpu_model = first_field("/proc/cpuinfo", "CPU part");
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown CPU";
  // Cloud guests often say no more than "AMD EPYC": family and model tell which one.
  const std::string family = first_field("/proc/cpuinfo", "cpu family");
  if (!family.empty())
    machine.cpu_model += fmt::format(" (family {} model {})", family, first_field("/proc/cpuinfo", "model"));
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  machine.memory_bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  machine.l1d_bytes = cache_bytes(1, "Data");
  machine.l2_bytes = cache_bytes(2, "Unified");
  machine.llc_bytes = cache_bytes(3, "Unified");
  if (machine.llc_bytes == 0) machine.llc_bytes = machine.l2_bytes;
  utsname names{};
  if (uname(&names) == 0) machine.kernel = names.release;
  const std::string flags = first_field("/proc/cpuinfo", "flags");
  machine.virtualisation = flags.find("hypervisor") != std::string::npos ? "virtual machine" : "none";
  return machine;
}

bool same_machine(const Machine& a, const Machine& b) {
  return a.cpu_model == b.cpu_model && a.cores == b.cores && a.l2_bytes == b.l2_bytes &&
         a.llc_bytes == b.llc_bytes;
}

Result<Machine> from_cache(const std::string& path) {
  TS_ASSIGN(const Node root, Node::read(path));
  TS_ASSIGN(const auto version, root.int_or("version", 0));
  if (version != k_cache_version) return root.error("written by another version");
  Machine machine;
  TS_ASSIGN(machine.cpu_model, root.string_or("cpu_model", ""));
  TS_ASSIGN(const auto cores, root.int_or("cores", 0));
  machine.cores = static_cast<int>(cores);
  const auto bytes = [&](std::string_view key, std::uint64_t& to) -> Status {
    TS_ASSIGN(const auto number, root.int_or(key, 0));
    to = static_cast<std::uint64_t>(number);
    return {};
  };
  TS_TRY(bytes("memory_bytes", machine.memory_bytes));
  TS_TRY(bytes("l1d_bytes", machine.l1d_bytes));
  TS_TRY(bytes("l2_bytes", machine.l2_bytes));
  TS_TRY(bytes("llc_bytes", machine.llc_bytes));
  TS_ASSIGN(machine.fma_f32_gflops, root.double_or("fma_f32_gflops", 0));
  TS_ASSIGN(machine.fma_f64_gflops, root.double_or("fma_f64_gflops", 0));
  TS_ASSIGN(machine.int8_gops, root.double_or("int8_gops", 0));
  TS_ASSIGN(machine.read_gbytes, root.double_or("read_gbytes", 0));
  TS_ASSIGN(machine.read_l2_gbytes, root.double_or("read_l2_gbytes", 0));
  TS_ASSIGN(machine.read_llc_gbytes, root.double_or("read_llc_gbytes", 0));
  TS_ASSIGN(machine.kernel, root.string_or("kernel", ""));
  TS_ASSIGN(machine.virtualisation, root.string_or("virtualisation", ""));
  return machine;
}

void measure(Machine& machine) {
  const PinnedThread pinned(measuring_core());
  const Peaks peaks = measure_peaks(1.0);
  // Neighbours on a shared host slow us for seconds on end: an earlier, better reading stays true.
  machine.fma_f32_gflops = std::max(machine.fma_f32_gflops, peaks.fma_f32_gflops);
  machine.fma_f64_gflops = std::max(machine.fma_f64_gflops, peaks.fma_f64_gflops);
  machine.int8_gops = std::max(machine.int8_gops, peaks.int8_gops);
  const std::uint64_t l2 = machine.l2_bytes > 0 ? machine.l2_bytes : 256U << 10;
  const std::uint64_t llc = machine.llc_bytes > 0 ? machine.llc_bytes : 8U << 20;
  machine.read_l2_gbytes = std::max(machine.read_l2_gbytes, measure_read_gbytes(l2 / 2, 0.2));
  machine.read_llc_gbytes =
      std::max(machine.read_llc_gbytes, measure_read_gbytes(std::max<std::uint64_t>(2 * l2, llc / 8), 0.3));
  machine.read_gbytes = std::max(
      machine.read_gbytes, measure_read_gbytes(std::max<std::uint64_t>(k_memory_read_bytes, 2 * llc), 0.5));
}

}  // namespace

json::object machine_to_json(const Machine& machine) {
  return json::object{{"version", k_cache_version},
                      {"cpu_model", machine.cpu_model},
                      {"cores", machine.cores},
                      {"memory_bytes", static_cast<std::int64_t>(machine.memory_bytes)},
                      {"l1d_bytes", static_cast<std::int64_t>(machine.l1d_bytes)},
                      {"l2_bytes", static_cast<std::int64_t>(machine.l2_bytes)},
                      {"llc_bytes", static_cast<std::int64_t>(machine.llc_bytes)},
                      {"fma_f32_gflops", machine.fma_f32_gflops},
                      {"fma_f64_gflops", machine.fma_f64_gflops},
                      {"int8_gops", machine.int8_gops},
                      {"read_gbytes", machine.read_gbytes},
                      {"read_l2_gbytes", machine.read_l2_gbytes},
                      {"read_llc_gbytes", machine.read_llc_gbytes},
                      {"kernel", machine.kernel},
                      {"virtualisation", machine.virtualisation}};
}

Result<Machine> machine_facts(bool measure_again) {
  Machine machine = look_up();
  const std::string path = cache_folder() + "/machine.json";
  const auto cached = from_cache(path);
  const bool usable = cached && same_machine(*cached, machine) && cached->fma_f32_gflops > 0;
  if (usable) {
    const std::string kernel = machine.kernel;
    machine = *cached;
    machine.kernel = kernel;
    if (!measure_again) return machine;
  }
  TS_ASSIGN(const MeasuringLock lock, MeasuringLock::take());
  measure(machine);
  // A cache that cannot be written costs two seconds next time and nothing else.
  if (make_folders(cache_folder(), 0700))
    (void)write_file_atomic(path, print_json(machine_to_json(machine)), 0600);
  return machine;
}

double speed_of_light_ms(const Machine& machine, const std::string& dtype, double flops, double bytes,
                         int threads) {
  double gflops = machine.fma_f32_gflops;
  if (dtype == "f64" || dtype == "i64" || dtype == "u64") gflops = machine.fma_f64_gflops;
  if (dtype == "i8" || dtype == "u8") gflops = machine.int8_gops;
  // Half precision may use dot product or tile instructions that were not measured: a bound four times as
  // generous.
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16" || dtype == "u16")
    gflops = 4 * machine.fma_f32_gflops;
  double gbytes = machine.read_gbytes;
  if (bytes <= static_cast<double>(machine.llc_bytes)) gbytes = machine.read_llc_gbytes;
  if (bytes <= static_cast<double>(machine.l2_bytes)) gbytes = machine.read_l2_gbytes;
  if (bytes <= static_cast<double>(machine.l1d_bytes))
    gbytes = 0;  // first-level bandwidth is not measured: no bound
  const double count = std::max(1, threads);
  const double compute_ms = gflops > 0 ? flops / (gflops * count) * 1e-6 : 0;
  const double traffic_ms = gbytes > 0 ? bytes / (gbytes * count) * 1e-6 : 0;
  return std::max(compute_ms, traffic_ms) / k_margin;
}

namespace {

/// One name for all users of the machine: two tuners on one core would spoil each other's samples.
Result<UniqueFd> open_lock(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd) {
    return fail(ErrorCode::infra, fmt::format("cannot open the measuring lock: {}", errno_text(errno)),
                "remove the file if it is another user's leftover", Place{path, 0, 0, {}});
  }
  (void)fchmod(fd.get(), 0666);  // whatever the umask; fails harmlessly for a file that is another user's
  return fd;
}

bool lock_until(int fd, std::int64_t end_ns) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (monotonic_ns() > end_ns) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

// Who measures and doubts the machine's peak measures that too: its own lock must not keep it out.
static thread_local int held_here = 0;

Result<MeasuringLock> MeasuringLock::take(double wait_seconds) {
  if (held_here > 0) return MeasuringLock(-1);
  const std::string path = "/tmp/tunesmith-measuring.lock";
  TS_ASSIGN(UniqueFd lock, open_lock(path));
  // Whoever waits holds the place in the queue: a process that measures again and again cannot overtake it.
  TS_ASSIGN(const UniqueFd queue, open_lock("/tmp/tunesmith-measuring.queue"));
  const std::int64_t end_ns = monotonic_ns() + static_cast<std::int64_t>(wait_seconds * 1e9);
  if (!lock_until(queue.get(), end_ns) || !lock_until(lock.get(), end_ns)) {
    const auto holder = read_file(fmt::format("/proc/self/fd/{}", lock.get()));
    const std::string who = holder ? std::string(trim(*holder)) : std::string();
    return fail(ErrorCode::infra,
                fmt::format("another measurement held this machine for {:.0f} s (process {})", wait_seconds,
                            who.empty() ? "?" : who),
                "wait for it or stop it", Place{path, 0, 0, {}});
  }
  const std::string mine = fmt::format("{}\n", getpid());
  if (ftruncate(lock.get(), 0) != 0 || pwrite(lock.get(), mine.data(), mine.size(), 0) < 0) {
    // The name of the holder is a courtesy; the lock stands without it.
  }
  ++held_here;
  return MeasuringLock(lock.release());
}

MeasuringLock::MeasuringLock(MeasuringLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

MeasuringLock& MeasuringLock::operator=(MeasuringLock&& other) noexcept {
  std::swap(m_fd, other.m_fd);
  return *this;
}

MeasuringLock::~MeasuringLock() {
  if (m_fd < 0) return;
  close(m_fd);
  --held_here;
}

}  // namespace tunesmith::bench
