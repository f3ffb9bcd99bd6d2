#include "bench/worker/worker.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/protocol.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

using namespace tunesmith::bench::protocol;

constexpr std::uint64_t k_page = 4096;

struct Mapping {
  char* first = nullptr;  ///< first byte of the reservation (a guard page)
  char* last = nullptr;   ///< one past the closing guard page
  bool writable = false;
};

using Entry = void (*)(void* const*);

// Everything the worker owns; static so that no allocator is involved once candidate code is mapped.
void* g_arguments[k_maximum_shapes][k_maximum_slots][k_maximum_arguments];
std::uint64_t g_scalars[k_maximum_shapes][k_maximum_slots][k_maximum_arguments];
std::uint32_t g_slots[k_maximum_shapes];
std::uint32_t g_argument_count[k_maximum_shapes];
std::uint64_t g_result_bytes[k_maximum_shapes][k_maximum_arguments];
Mapping g_mappings[k_maximum_shapes * k_maximum_slots * k_maximum_arguments];
std::size_t g_mapping_count = 0;
Fault* g_fault = nullptr;
alignas(16) char g_signal_stack[64 << 10];

/// Names the fault for the examiner and lets the default action kill us.
void on_fault(int signal_number, siginfo_t* info, void*) {
  if (g_fault != nullptr) {
    const char* address = static_cast<const char*>(info->si_addr);
    std::uint32_t kind = 3;
    std::uint32_t writable = 0;
    for (std::size_t i = 0; i < g_mapping_count; ++i) {
      const Mapping& m = g_mappings[i];
      if (address < m.first || address >= m.last) continue;
      const bool guard = address < m.first + k_page || address >= m.last - k_page;
      kind = guard ? 2 : 1;
      writable = m.writable ? 1 : 0;
    }
    g_fault->address = reinterpret_cast<std::uint64_t>(address);
    g_fault->signal = static_cast<std::uint32_t>(signal_number);
    g_fault->region_writable = writable;
    g_fault->kind = kind;
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

constexpr int k_fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

void install_handlers() {
  stack_t stack{};
  stack.ss_sp = g_signal_stack;
  stack.ss_size = sizeof g_signal_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const int number : k_fault_signals) sigaction(number, &action, nullptr);
}

bool handlers_changed() {
  for (const int number : k_fault_signals) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_sigaction != on_fault) return true;
  }
  return false;
}

unsigned float_mode() {
#if defined(__x86_64__)
  // Control bits only: rounding, masks, flush-to-zero, denormals-are-zero. The sticky flags change with every
  // sum.
  unsigned short x87 = 0;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & 0xFFC0U) | (static_cast<unsigned>(x87) << 16);
#elif defined(__aarch64__)
  std::uint64_t fpcr = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return static_cast<unsigned>(fpcr);
#else
  return 0;
#endif
}

std::uint64_t clock_ns(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Reads a byte of each page (and writes it back): on some hypervisors the first touch of a fresh mapping
/// costs microseconds even when the page is there, and that is not the kernel's time.
void touch(char* first, std::uint64_t pages, bool writable) {
  for (std::uint64_t i = 0; i < pages; ++i) {
    volatile char* byte = first + i * k_page;
    const char value = *byte;
    if (writable) *byte = value;
  }
}

/// Reserves guard + pages + guard and maps outputs in the middle; inputs come later, when they are needed.
char* map_region(const Region& region) {
  const std::uint64_t size = (region.pages + 2) * k_page;
  char* base =
      static_cast<char*>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (base == MAP_FAILED) return nullptr;
  const bool writable = region.writable != 0;
  if (writable) {
    void* pages = mmap(base + k_page, region.pages * k_page, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED | MAP_POPULATE, k_output_fd, static_cast<off_t>(region.offset));
    if (pages == MAP_FAILED) return nullptr;
    touch(base + k_page, region.pages, true);
  }
  g_mappings[g_mapping_count++] = Mapping{base, base + size, writable};
  return base + k_page + region.shift;
}

ReplyStatus map_shape(const Request& request, const Region* regions, std::size_t count) {
  if (request.shape >= k_maximum_shapes || request.slots > k_maximum_slots ||
      request.arguments > k_maximum_arguments ||
      count != static_cast<std::size_t>(request.slots) * request.arguments) {
    return ReplyStatus::bad_request;
  }
  for (std::uint32_t slot = 0; slot < request.slots; ++slot) {
    for (std::uint32_t i = 0; i < request.arguments; ++i) {
      const Region& region = regions[slot * request.arguments + i];
      g_result_bytes[request.shape][i] = region.result_bytes;
      if (region.pages == 0) {
        g_scalars[request.shape][slot][i] = region.scalar;
        g_arguments[request.shape][slot][i] = &g_scalars[request.shape][slot][i];
        continue;
      }
      if (region.alias != 0) {
        if (region.alias > slot) return ReplyStatus::bad_request;
        g_arguments[request.shape][slot][i] = g_arguments[request.shape][region.alias - 1][i];
        continue;
      }
      char* address = map_region(region);
      if (address == nullptr) return ReplyStatus::map_failed;
      g_arguments[request.shape][slot][i] = address;
    }
  }
  g_slots[request.shape] = request.slots;
  g_argument_count[request.shape] = request.arguments;
  return ReplyStatus::ok;
}

/// The same addresses, new content: a result remembered by pointer is worth nothing.
ReplyStatus map_slot(const Request& request, const Region* regions, std::size_t count) {
  if (request.shape >= k_maximum_shapes || request.slot >= g_slots[request.shape] ||
      count != request.arguments || count > k_maximum_arguments) {
    return ReplyStatus::bad_request;
  }
  for (std::uint32_t i = 0; i < request.arguments; ++i) {
    const Region& region = regions[i];
    if (region.pages == 0 || region.writable != 0) continue;
    char* first = static_cast<char*>(g_arguments[request.shape][request.slot][i]) - region.shift;
    if (mmap(first, region.pages * k_page, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, k_input_fd,
             static_cast<off_t>(region.offset)) == MAP_FAILED) {
      return ReplyStatus::map_failed;
    }
    touch(first, region.pages, false);
  }
  return ReplyStatus::ok;
}

ReplyStatus load(const Request& request, Entry& entry, Reply& reply) {
  void* library = dlopen(request.path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    snprintf(reply.text, sizeof reply.text, "%s", dlerror());
    return ReplyStatus::no_library;
  }
  if (request.glue[0] != '\0') {
    void* target = dlsym(library, request.entry);
    void* glue = dlopen(request.glue, RTLD_NOW | RTLD_LOCAL);
    if (target == nullptr || glue == nullptr) {
      snprintf(reply.text, sizeof reply.text, "%s", dlerror());
      return target == nullptr ? ReplyStatus::no_symbol : ReplyStatus::no_library;
    }
    using Bind = void (*)(void*);
    const auto bind = reinterpret_cast<Bind>(dlsym(glue, "tunesmith_bind"));
    if (bind == nullptr) return ReplyStatus::no_symbol;
    bind(target);
    library = glue;
  }
  void* symbol = dlsym(library, "tunesmith_call");
  if (symbol == nullptr) return ReplyStatus::no_symbol;
  entry = reinterpret_cast<Entry>(symbol);
  return ReplyStatus::ok;
}

/// A few bytes of the poison that each result holds before a run: put back before a call that uses the same
/// output again, so that a call which finds its result standing there has to write it all the same.
struct Spot {
  char* at;
  std::uint64_t bytes, poison;
};

std::size_t choose_spots(const Request& request, std::uint32_t slot, Spot* spots) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < g_argument_count[request.shape]; ++i) {
    const std::uint64_t bytes = g_result_bytes[request.shape][i];
    if (bytes == 0) continue;
    Spot& spot = spots[count++];
    spot.bytes = bytes < sizeof spot.poison ? bytes : sizeof spot.poison;
    const std::uint64_t mixed = (request.nonce + slot * 32 + i) * 0x9E3779B97F4A7C15ULL;
    spot.at = static_cast<char*>(g_arguments[request.shape][slot][i]) +
              (mixed >> 20) % (bytes / spot.bytes) * spot.bytes;
    memcpy(&spot.poison, spot.at, spot.bytes);
  }
  return count;
}

ReplyStatus run(const Request& request, Entry entry, Reply& reply) {
  if (entry == nullptr || request.shape >= k_maximum_shapes || g_slots[request.shape] == 0)
    return ReplyStatus::bad_request;
  const std::uint32_t slots = g_slots[request.shape];
  const std::uint32_t turns = request.slots == 0 ? 1 : request.slots;
  // Static: k_maximum_slots * k_maximum_arguments of them would be much for a stack that the kernel uses too.
  static Spot spots[k_maximum_slots][k_maximum_arguments];
  std::size_t spot_count = 0;
  if (turns > k_maximum_slots) return ReplyStatus::bad_request;
  for (std::uint32_t i = 0; i < turns && request.calls > turns && request.spoil != 0; ++i)
    spot_count = choose_spots(request, (request.slot + i) % slots, spots[i]);
  const unsigned mode = float_mode();
  const std::uint64_t wall = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (std::uint32_t i = 0; i < request.calls; ++i) {
    if (i >= turns) {
      for (std::size_t k = 0; k < spot_count; ++k) {
        const Spot& spot = spots[i % turns][k];
        memcpy(spot.at, &spot.poison, spot.bytes);
      }
    }
    entry(g_arguments[request.shape][(request.slot + i % turns) % slots]);
  }
  reply.self_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  reply.self_wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
  reply.float_mode_changed = float_mode() != mode ? 1 : 0;
  return ReplyStatus::ok;
}

}  // namespace

int worker_main(int control_fd) {
  g_fault = static_cast<Fault*>(mmap(nullptr, k_page, PROT_READ | PROT_WRITE, MAP_SHARED, k_fault_fd, 0));
  if (g_fault == MAP_FAILED) return 12;
  install_handlers();
  // Room for the largest map_shape packet.
  static char packet[sizeof(Request) + sizeof(Region) * k_maximum_slots * k_maximum_arguments];
  Entry entry = nullptr;
  while (true) {
    const ssize_t got = recv(control_fd, packet, sizeof packet, 0);
    if (got <= 0) return 0;  // the examiner is gone
    if (static_cast<std::size_t>(got) < sizeof(Request)) return 13;
    Request request;
    memcpy(&request, packet, sizeof request);
    Reply reply;
    reply.nonce = request.nonce;
    switch (request.op) {
      case Op::map_shape:
        reply.status = map_shape(request, reinterpret_cast<const Region*>(packet + sizeof request),
                                 (static_cast<std::size_t>(got) - sizeof request) / sizeof(Region));
        break;
      case Op::map_slot:
        reply.status = map_slot(request, reinterpret_cast<const Region*>(packet + sizeof request),
                                (static_cast<std::size_t>(got) - sizeof request) / sizeof(Region));
        break;
      case Op::load:
        reply.status = load(request, entry, reply);
        break;
      case Op::run:
        reply.status = run(request, entry, reply);
        break;
      case Op::empty:
        break;
      case Op::quit:
        return 0;
    }
    if (request.op == Op::run) reply.handlers_changed = handlers_changed() ? 1 : 0;
    if (send(control_fd, &reply, sizeof reply, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof reply)) return 0;
  }
}
