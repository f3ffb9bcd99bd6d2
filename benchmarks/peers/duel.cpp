// Two shared libraries with the same C entry, run call by call in turn: AB BA AB BA … on the thread's CPU
// clock, in one process that is pinned to one core. What it prints is the median of the paired ratios: on a
// shared machine that figure stays within a percent or two while absolute times move by half.
//
//   duel [--pairs N] [--flops F] [--bytes B] [--json] PEER.so OURS.so ARG…
//
// ARG, in the order of the entry: in:f32:COUNT, in:i8:COUNT, in:u8:COUNT, in:i16:COUNT, out:f32:COUNT,
// out:i32:COUNT, out:i64:COUNT, work:f32:COUNT, i32:VALUE. Each library exports `tunesmith_call(void* const*
// arg)`: arg[i] is a buffer or points to a scalar.
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Call = void (*)(void* const*);

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "duel: %s\n", why.c_str());
  std::exit(2);
}

struct Argument {
  std::string role;  // in, out, work, i32
  std::string type;
  std::size_t count = 0;
  std::int32_t scalar = 0;
};

std::size_t size_of(const std::string& type) {
  if (type == "i64" || type == "f64") return 8;
  if (type == "f32" || type == "i32") return 4;
  if (type == "i16") return 2;
  if (type == "i8" || type == "u8") return 1;
  fail("unknown type '" + type + "': use f32, f64, i8, u8, i16, i32 or i64");
}

Argument parse(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) fail("argument '" + std::string(text) + "' has no ':'");
  Argument a;
  a.role = text.substr(0, colon);
  const std::string rest(text.substr(colon + 1));
  if (a.role == "i32") {
    a.scalar = std::atoi(rest.c_str());
    return a;
  }
  if (a.role != "in" && a.role != "out" && a.role != "work")
    fail("role '" + a.role + "' is not in, out, work or i32");
  const auto second = rest.find(':');
  if (second == std::string::npos) fail("argument '" + std::string(text) + "' has no count");
  a.type = rest.substr(0, second);
  a.count = std::strtoull(rest.c_str() + second + 1, nullptr, 10);
  return a;
}

void* allocate(std::size_t bytes) {
  void* p = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (p == nullptr) fail("out of memory");
  std::memset(p, 0, bytes);
  return p;
}

void fill(void* p, const Argument& a, std::uint64_t& state) {
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  for (std::size_t i = 0; i < a.count; ++i) {
    const std::uint64_t r = next() >> 16;
    if (a.type == "f32") static_cast<float*>(p)[i] = static_cast<float>(r % 20001) / 10000.0F - 1.0F;
    if (a.type == "u8") static_cast<std::uint8_t*>(p)[i] = static_cast<std::uint8_t>(r % 256);
    if (a.type == "i8") static_cast<std::int8_t*>(p)[i] = static_cast<std::int8_t>(r % 256 - 128);
    if (a.type == "i16") static_cast<std::int16_t*>(p)[i] = static_cast<std::int16_t>(r % 255 + 1);
    if (a.type == "i32") static_cast<std::int32_t*>(p)[i] = static_cast<std::int32_t>(r % 255) - 127;
  }
}

double difference(const void* x, const void* y, const Argument& a) {
  double most = 0;
  for (std::size_t i = 0; i < a.count; ++i) {
    double d = 0;
    if (a.type == "f32")
      d = std::fabs(double(static_cast<const float*>(x)[i]) - static_cast<const float*>(y)[i]);
    if (a.type == "i32")
      d = std::fabs(double(static_cast<const std::int32_t*>(x)[i]) - static_cast<const std::int32_t*>(y)[i]);
    if (a.type == "i64")
      d = std::fabs(double(static_cast<const std::int64_t*>(x)[i]) -
                    double(static_cast<const std::int64_t*>(y)[i]));
    if (!(d <= most)) most = d;  // keeps a NaN
  }
  return most;
}

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

Call load(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(dlerror());
  auto* call = reinterpret_cast<Call>(dlsym(handle, "tunesmith_call"));
  if (call == nullptr) fail(std::string(path) + " does not export tunesmith_call");
  return call;
}

/// One side: its own outputs and workspace, the inputs shared.
struct Side {
  Call call = nullptr;
  std::vector<void*> arguments;
  double best = 1e300;
  double sample(int calls) {
    const double begin = cpu_seconds();
    for (int i = 0; i < calls; ++i) call(arguments.data());
    const double took = (cpu_seconds() - begin) / calls;
    best = std::min(best, took);
    return took;
  }
};

}  // namespace

int main(int argc, char** argv) {
  int pairs = 400;
  double flops = 0, bytes = 0;
  bool json = false;
  std::vector<const char*> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view w = argv[i];
    if (w == "--json")
      json = true;
    else if (w == "--pairs" && i + 1 < argc)
      pairs = std::atoi(argv[++i]);
    else if (w == "--flops" && i + 1 < argc)
      flops = std::atof(argv[++i]);
    else if (w == "--bytes" && i + 1 < argc)
      bytes = std::atof(argv[++i]);
    else
      words.push_back(argv[i]);
  }
  if (words.size() < 3 || pairs < 2)
    fail("usage: duel [--pairs N] [--flops F] [--bytes B] [--json] PEER OURS ARG...");

  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(sched_getcpu(), &core);
  sched_setaffinity(0, sizeof core, &core);

  std::vector<Argument> arguments;
  for (std::size_t i = 2; i < words.size(); ++i) arguments.push_back(parse(words[i]));
  Side peer{load(words[0]), {}}, ours{load(words[1]), {}};
  std::uint64_t state = 0x9E3779B97F4A7C15ULL;
  for (auto& a : arguments) {
    if (a.role == "i32") {
      peer.arguments.push_back(&a.scalar);
      ours.arguments.push_back(&a.scalar);
      continue;
    }
    void* first = allocate(a.count * size_of(a.type));
    peer.arguments.push_back(first);
    if (a.role == "in") fill(first, a, state);
    ours.arguments.push_back(a.role == "in" ? first : allocate(a.count * size_of(a.type)));
  }

  // Warm up, and batch short calls so that a sample is far above the clock's cost.
  double one = 1e300;
  for (int i = 0; i < 3; ++i) one = std::min({one, peer.sample(1), ours.sample(1)});
  const int calls = std::clamp(static_cast<int>(1e-4 / std::max(one, 1e-9)), 1, 1000);
  peer.best = ours.best = 1e300;

  double worst = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].role != "out") continue;
    const double d = difference(peer.arguments[i], ours.arguments[i], arguments[i]);
    if (!(d <= worst)) worst = d;
  }

  std::vector<double> ratios;
  for (int i = 0; i < pairs; ++i) {
    double p = 0, o = 0;
    if (i % 2 == 0) {
      p = peer.sample(calls);
      o = ours.sample(calls);
    } else {
      o = ours.sample(calls);
      p = peer.sample(calls);
    }
    ratios.push_back(p / o);
  }
  std::sort(ratios.begin(), ratios.end());
  const double median = quantile(ratios, 0.5), low = quantile(ratios, 0.25), high = quantile(ratios, 0.75);
  using CoreName = const char* (*)();
  auto* core_name = reinterpret_cast<CoreName>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (core_name == nullptr) {
    if (void* blas = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD)) {
      core_name = reinterpret_cast<CoreName>(dlsym(blas, "openblas_get_corename"));
    }
  }
  const char* kernels = core_name != nullptr ? core_name() : "-";
  const double unit = flops > 0 ? flops : bytes;
  if (json) {
    std::printf(
        "{\"ratio\": %.4f, \"q25\": %.4f, \"q75\": %.4f, \"pairs\": %d, \"calls\": %d, \"peer_best_ms\": "
        "%.6f, "
        "\"ours_best_ms\": %.6f, \"peer_g\": %.2f, \"ours_g\": %.2f, \"difference\": %g, \"core\": \"%s\"}\n",
        median, low, high, pairs, calls, peer.best * 1e3, ours.best * 1e3, unit / peer.best / 1e9,
        unit / ours.best / 1e9, worst, kernels);
  } else {
    std::printf("ratio %.3f [%.3f..%.3f] of %d pairs, best %.4f ms against %.4f ms", median, low, high, pairs,
                ours.best * 1e3, peer.best * 1e3);
    if (unit > 0)
      std::printf(", %.1f against %.1f %s", unit / ours.best / 1e9, unit / peer.best / 1e9,
                  flops > 0 ? "GFLOP/s" : "GB/s");
    std::printf(", largest difference %g, OpenBLAS core %s\n", worst, kernels);
  }
  return std::isfinite(worst) ? 0 : 1;
}
