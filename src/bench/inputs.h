// Input sets of a case: made from a secret seed, kept in one memfd that every worker maps read-only, with the
// expected outputs (float64) on our side alone. Each set has its own content; a worker sees a set for the
// first time when it is mapped into one of its slots.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "bench/protocol.h"
#include "case/case.h"

namespace tunesmith::bench {

constexpr std::uint64_t k_page_bytes = 4096;
constexpr std::uint64_t k_alignment = 64;  ///< of every buffer: one cache line, one AVX-512 vector

/// Where the buffers of one shape lie, the same for all its sets.
struct ShapeLayout {
  struct Argument {
    bool is_buffer = false;
    Role role = Role::in;
    Dtype dtype = Dtype::f32;
    std::vector<std::int64_t> extent;
    std::uint64_t elements = 0, bytes = 0, pages = 0;
    std::uint64_t scalar_bits = 0;
    [[nodiscard]] bool read_only() const { return is_buffer && role == Role::in; }
    [[nodiscard]] bool checked() const { return is_buffer && (role == Role::out || role == Role::inout); }
  };
  Shape shape;
  double flops = 0, bytes = 0;
  std::vector<Argument> arguments;
  std::uint64_t input_pages = 0;     ///< of one set, read-only buffers
  std::uint64_t writable_pages = 0;  ///< of one slot
};

/// `widen`: float buffers and scalars become f64 (for a reference that runs in float64).
[[nodiscard]] Result<ShapeLayout> lay_out(const Case& c, const Shape& shape, bool widen = false);

struct InputSet {
  std::vector<std::uint64_t> offset;  ///< per argument, of its first page in the memfd (read-only ones)
  std::vector<std::vector<std::byte>> initial;  ///< per argument: first content of inout buffers
  std::vector<std::vector<double>> expected;    ///< per argument: of checked buffers
  std::vector<std::uint64_t> turned;            ///< per argument: bytes that rearrange() has turned it by
};

struct ShapeInputs {
  ShapeLayout layout;
  std::vector<InputSet> sets;
  std::vector<double> output_scale;  ///< per argument: root mean square of the expected values
};

/// All shapes of one pool. Movable, not copyable.
class InputPool {
 public:
  /// `sets` per shape at most; fewer for large ones (512 MiB of inputs a shape, never below 2). Expected
  /// values are not filled in: see references.h.
  [[nodiscard]] static Result<InputPool> make(const Case& c, const std::vector<Shape>& shapes,
                                              std::uint64_t secret_seed, std::size_t sets);
  /// The same inputs with every float buffer and scalar in f64, for a reference that runs in float64.
  [[nodiscard]] static Result<InputPool> widen(const Case& c, const InputPool& pool);
  [[nodiscard]] int read_only_fd() const { return m_read_only.get(); }
  [[nodiscard]] std::vector<ShapeInputs>& shapes() { return m_shapes; }
  [[nodiscard]] const std::vector<ShapeInputs>& shapes() const { return m_shapes; }
  /// Our view of a read-only buffer.
  [[nodiscard]] const std::byte* input(std::size_t shape, std::size_t set, std::size_t argument) const;
  /// Turns every input of a set (inouts' first contents too) round by a secret distance, in place: values of
  /// the same distribution at the same addresses, in an order that no worker has seen. `expected` does not
  /// hold until restore().
  void rearrange(std::size_t shape, std::size_t set);
  /// Puts all sets of a shape back.
  void restore(std::size_t shape);
  InputPool(InputPool&& other) noexcept;
  InputPool& operator=(InputPool&& other) noexcept;
  InputPool(const InputPool&) = delete;
  InputPool& operator=(const InputPool&) = delete;
  ~InputPool();

 private:
  InputPool() = default;
  [[nodiscard]] std::byte* content(std::size_t shape, std::size_t set, std::size_t argument);
  [[nodiscard]] static Result<InputPool> allocate(std::vector<ShapeLayout> layouts,
                                                  const std::vector<std::size_t>& sets);
  UniqueFd m_fd, m_read_only;
  std::byte* m_view = nullptr;
  std::uint64_t m_size = 0;
  std::vector<ShapeInputs> m_shapes;
  Rng m_order{0};  ///< distances of rearrange(): from the secret seed
};

/// Bytes from the first page to a buffer whose end touches the page end (less alignment).
[[nodiscard]] std::uint64_t end_shift(std::uint64_t bytes, std::uint64_t pages);
/// Fills `elements` values of a dtype. Normal and uniform values are drawn in double and rounded once.
void fill_buffer(std::byte* to, Dtype dtype, std::uint64_t elements, const Fill& fill, Rng& rng);
/// Reads element i of a buffer as double.
[[nodiscard]] double read_element(const std::byte* from, Dtype dtype, std::uint64_t i);
void write_element(std::byte* to, Dtype dtype, std::uint64_t i, double value);

}  // namespace tunesmith::bench
