// What examiner and worker say to each other over one SOCK_SEQPACKET socket. Plain data: the worker links
// only libc. The examiner trusts nothing in a reply but that it arrived: clocks, outputs and faults are
// observed from outside.
#pragma once

#include <cstdint>

namespace tunesmith::bench::protocol {

// Descriptors of the worker. 0-2 are /dev/null or the log.
constexpr int k_control_fd = 5;
constexpr int k_input_fd = 6;   ///< memfd opened read-only: inputs
constexpr int k_output_fd = 7;  ///< memfd: outputs, inouts, workspace
constexpr int k_fault_fd = 8;   ///< memfd of one page: where a fault happened

constexpr std::uint32_t k_maximum_arguments = 32;
constexpr std::uint32_t k_maximum_shapes = 32;
constexpr std::uint32_t k_maximum_slots = 16;

/// map_shape: reserves all slots of a shape and maps their outputs. map_slot: inputs at the addresses of one
/// slot.
enum class Op : std::uint32_t { map_shape = 1, load = 2, run = 3, empty = 4, quit = 5, map_slot = 6 };

/// One argument of one slot.
struct Region {
  std::uint64_t offset = 0;        ///< of the first page in its file
  std::uint64_t pages = 0;         ///< 0: a scalar
  std::uint64_t shift = 0;         ///< bytes from the first page to the buffer
  std::uint64_t scalar = 0;        ///< value bytes, little endian
  std::uint64_t result_bytes = 0;  ///< size of a buffer that the kernel must write; 0 for others
  std::uint32_t writable = 0;
  std::uint32_t alias = 0;  ///< 1 + the slot whose address this argument shares; 0: an address of its own
};

struct Request {
  Op op = Op::quit;
  std::uint32_t shape = 0;
  std::uint32_t slot = 0;       ///< first slot of a run
  std::uint32_t slots = 0;      ///< map_shape: how many slots follow; run: how many the calls take turns on
  std::uint32_t arguments = 0;  ///< map_shape: regions a slot
  std::uint32_t calls = 0;      ///< run: calls, one a slot, round robin over `slots`
  std::uint32_t spoil = 0;      ///< run: put some poison back before an output is used again
  std::uint32_t padding = 0;
  std::uint64_t nonce = 0;  ///< the reply repeats it
  char path[512] = {};      ///< load: shared library
  char glue[512] =
      {};  ///< load: library that calls an entry of `path`; empty when `path` holds tunesmith_call
  char entry[128] = {};  ///< load: with a glue, the symbol that it is bound to
};
// map_shape is followed, in the same packet, by slots * arguments Regions; map_slot by arguments Regions,
// of which only the read-only ones are looked at.

enum class ReplyStatus : std::uint32_t {
  ok = 0,
  no_library = 1,
  no_symbol = 2,
  map_failed = 3,
  bad_request = 4
};

struct Reply {
  std::uint64_t nonce = 0;
  ReplyStatus status = ReplyStatus::ok;
  std::uint32_t float_mode_changed = 0;  ///< the call left another rounding or denormal mode behind
  std::uint32_t handlers_changed = 0;    ///< the candidate replaced our fault handlers
  std::uint32_t padding = 0;
  std::uint64_t self_cpu_ns = 0;  ///< by the worker's own clock: never believed, see defence "outside_clock"
  std::uint64_t self_wall_ns = 0;
  char text[256] = {};  ///< dlerror
};

/// Written by the fault handler, read by the examiner to name a crash. Untrusted, so it only chooses between
/// rejections.
struct Fault {
  std::uint64_t address = 0;
  std::uint32_t signal = 0;
  std::uint32_t region_writable = 0;
  std::uint32_t kind = 0;  ///< 1: in an input region, 2: in a guard page, 3: elsewhere
};

}  // namespace tunesmith::bench::protocol
