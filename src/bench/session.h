// One worker process and the examiner's side of it: prepares inputs and poison, has calls made, keeps its own
// clocks, reads outputs. Nothing that the worker says about itself is believed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/compare.h"
#include "bench/defences.h"
#include "bench/inputs.h"
#include "case/evidence.h"
#include "os/process.h"

namespace tunesmith::bench {

/// Why a candidate is out, or that the fault was ours.
struct Rejection {
  Reason reason = Reason::none;
  std::string detail;
  [[nodiscard]] bool infra() const { return reason == Reason::infra; }
};

/// Shared memory for a worker's outputs. Kept from one worker to the next: fresh pages cost both sides more
/// than everything else about a short evaluation. Whatever a dead worker left in it is poisoned before a new
/// one looks.
class OutputMemory {
 public:
  [[nodiscard]] static Result<std::shared_ptr<OutputMemory>> make(std::uint64_t bytes);
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;
  ~OutputMemory();
  [[nodiscard]] int fd() const { return m_fd.get(); }
  [[nodiscard]] std::byte* view() const { return m_view; }
  [[nodiscard]] std::uint64_t bytes() const { return m_bytes; }

 private:
  OutputMemory() = default;
  UniqueFd m_fd;
  std::byte* m_view = nullptr;
  std::uint64_t m_bytes = 0;
};
/// Those that no session holds at the moment are used again.
using OutputStore = std::vector<std::shared_ptr<OutputMemory>>;

/// A library with tunesmith_call, or one with an entry of its own and the glue that calls it.
struct Loadable {
  std::string library;
  std::string glue;  ///< "" = none
};

struct SessionOptions {
  OutputStore* store = nullptr;  ///< nullptr: memory of its own
  Defences defences;
  int cpu = -1;          ///< core to measure on; -1 = any (several threads)
  std::string log_path;  ///< what the worker prints goes here; "" = nowhere
  bool trusted = false;  ///< baseline or reference: may use libraries and threads of its own
  const std::atomic<bool>* stop = nullptr;
};

/// Times of one request, taken outside the worker.
struct CallTimes {
  double wall_ms = 0;
  double cpu_ms = 0;       ///< whole process, all its threads
  double waited_ms = 0;    ///< for a core (run-queue delay)
  double idle_cpu_ms = 0;  ///< used since the previous reply, while it should have slept
};

class Session {
 public:
  /// Starts a worker, maps every shape of the pool, loads `library`.
  [[nodiscard]] static tl::expected<std::unique_ptr<Session>, Rejection> start(const Case& c,
                                                                               const InputPool& pool,
                                                                               const Loadable& library,
                                                                               const SessionOptions& options);
  ~Session();

  /// One slot a set, so that inputs are mapped once; the outputs of slots that differ by output_places() are
  /// the same memory, so that at most that many slots may be in use at once.
  [[nodiscard]] std::size_t slots(std::size_t shape) const;
  [[nodiscard]] std::size_t output_places(std::size_t shape) const { return m_places[shape]; }
  /// Gives the slot the content of `set` and poisons what the kernel has to write.
  [[nodiscard]] std::optional<Rejection> prepare(std::size_t shape, std::size_t slot, std::size_t set);
  /// Has `calls` calls made, taking turns on `turns` slots from `slot` on. On a rejection the worker is gone.
  [[nodiscard]] tl::expected<CallTimes, Rejection> call(std::size_t shape, std::size_t slot, int calls,
                                                        std::size_t turns = 1);
  /// Compares the checked buffers of a slot with `set`'s expected values and looks at the bytes around them.
  [[nodiscard]] std::optional<Rejection> check(std::size_t shape, std::size_t slot, std::size_t set,
                                               const CompareRules& rules, CheckEvidence& evidence);
  /// 64-bit hash of the checked buffers: same input, same bits.
  [[nodiscard]] std::uint64_t output_hash(std::size_t shape, std::size_t slot) const;
  /// Compares the checked buffers of a slot with those of `other`, which had the same inputs and is trusted
  /// to be right: both may be off by the tolerance.
  [[nodiscard]] std::optional<Rejection> check_against(const Session& other, std::size_t shape,
                                                       std::size_t slot, const CompareRules& rules,
                                                       CheckEvidence& evidence) const;
  /// Copies a checked buffer as float64 (references compiled apart).
  [[nodiscard]] std::vector<double> read_output(std::size_t shape, std::size_t slot,
                                                std::size_t argument) const;

  [[nodiscard]] const box::Layers& layers() const { return m_child->layers(); }
  [[nodiscard]] std::uint64_t memory_bytes() const;  ///< peak RSS, buffers included
  [[nodiscard]] double empty_call_ms() const { return m_empty_cpu_ms; }
  /// CPU of the worker beyond kernel calls: start, mapping, loading, answering.
  [[nodiscard]] double overhead_cpu_ms() const;

 private:
  Session() = default;
  struct SlotState {
    std::vector<std::uint64_t> offset;  ///< per argument: first page in the output file
    std::vector<std::uint64_t> shift;
    std::size_t set = ~std::size_t{0};
    std::uint64_t poison_seed = 0;
  };
  [[nodiscard]] std::optional<Rejection> map_shapes();
  [[nodiscard]] tl::expected<protocol::Reply, Rejection> exchange(const void* packet, std::size_t size,
                                                                  double wall_seconds);
  [[nodiscard]] Rejection death(bool timed_out);
  [[nodiscard]] std::byte* place(std::size_t shape, std::size_t slot, std::size_t argument) const;
  [[nodiscard]] std::vector<protocol::Region> regions(std::size_t shape, std::size_t slot,
                                                      std::size_t set) const;

  const Case* m_case = nullptr;
  const InputPool* m_pool = nullptr;
  SessionOptions m_options;
  [[nodiscard]] std::optional<Rejection> take_output_memory(std::uint64_t bytes);

  UniqueFd m_control, m_fault_fd;
  std::shared_ptr<OutputMemory> m_memory;
  std::byte* m_output = nullptr;  ///< m_memory's view
  protocol::Fault* m_fault = nullptr;
  std::optional<os::Child> m_child;
  std::optional<os::RunDelay> m_run_delay;
  std::vector<std::vector<SlotState>> m_slots;
  std::vector<std::size_t> m_places;
  Rng m_rng{0};
  double m_empty_cpu_ms = 0, m_empty_wall_ms = 0;
  std::int64_t m_last_cpu_ns = -1;
  std::int64_t m_idle_ns = 0;  ///< used between a call and the next new inputs
  bool m_just_called = false;
  bool m_settled = false;  ///< nothing was mapped since the last request
  double m_kernel_cpu_ms = 0;
  std::uint64_t m_calls_made = 0;
};

/// Largest workspace that is poisoned whole before each call; of larger ones a line a page.
constexpr std::uint64_t k_whole_poison_bytes = 64ULL << 10;

}  // namespace tunesmith::bench
