#include "bench/inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1; absent from this libc's headers in strict mode
#endif

namespace tunesmith::bench {

namespace {

constexpr std::uint64_t k_input_budget_bytes = 512ULL
                                               << 20;  // per shape: leaves room for two workers' outputs

std::uint16_t to_bf16(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  bits += 0x7FFFU + ((bits >> 16) & 1U);  // round to nearest even
  return static_cast<std::uint16_t>(bits >> 16);
}

/// A double as f32 by round-to-odd: what is rounded to half precision afterwards is as if rounded once.
float narrow_to_odd(double value) {
  const auto near = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(near) == value) return near;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  if (std::fabs(static_cast<double>(near)) > std::fabs(value)) --bits;  // towards zero
  return std::bit_cast<float>(bits | 1U);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x1p-14F) {  // subnormal: a multiple of 2^-24
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F)));
  }
  std::uint32_t rounded = std::bit_cast<std::uint32_t>(magnitude);
  rounded += 0xFFFU + ((rounded >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

float from_f16(std::uint16_t bits) {
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa | 1024), exponent - 25);
}

template <class T>
T load(const std::byte* from, std::uint64_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* to, std::uint64_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

/// Fast paths: a weight matrix has tens of millions of elements.
void fill_f32_uniform(std::byte* to, std::uint64_t elements, double low, double high, Rng& rng) {
  const float scale = static_cast<float>((high - low) * 0x1p-24);
  const auto base = static_cast<float>(low);
  for (std::uint64_t i = 0; i < elements; i += 2) {
    const std::uint64_t bits = rng.next();
    store(to, i, base + scale * static_cast<float>(bits >> 40));
    if (i + 1 < elements) store(to, i + 1, base + scale * static_cast<float>((bits >> 8) & 0xFFFFFFU));
  }
}

/// Turns a buffer round to the left. By a copy of the shorter part: std::rotate goes element by element.
void turn(std::byte* buffer, std::uint64_t bytes, std::uint64_t by) {
  std::vector<std::byte> kept;
  if (by <= bytes - by) {
    kept.assign(buffer, buffer + by);
    std::memmove(buffer, buffer + by, bytes - by);
    std::memcpy(buffer + bytes - by, kept.data(), by);
  } else {
    kept.assign(buffer + by, buffer + bytes);
    std::memmove(buffer + bytes - by, buffer, by);
    std::memcpy(buffer, kept.data(), bytes - by);
  }
}

}  // namespace

double read_element(const std::byte* from, Dtype dtype, std::uint64_t i) {
  switch (dtype) {
    case Dtype::f64:
      return load<double>(from, i);
    case Dtype::f32:
      return load<float>(from, i);
    case Dtype::f16:
      return from_f16(load<std::uint16_t>(from, i));
    case Dtype::bf16:
      return from_bf16(load<std::uint16_t>(from, i));
    case Dtype::i64:
      return static_cast<double>(load<std::int64_t>(from, i));
    case Dtype::i32:
      return load<std::int32_t>(from, i);
    case Dtype::i16:
      return load<std::int16_t>(from, i);
    case Dtype::i8:
      return load<std::int8_t>(from, i);
    case Dtype::u64:
      return static_cast<double>(load<std::uint64_t>(from, i));
    case Dtype::u32:
      return load<std::uint32_t>(from, i);
    case Dtype::u16:
      return load<std::uint16_t>(from, i);
    case Dtype::u8:
      return load<std::uint8_t>(from, i);
  }
  return 0;
}

void write_element(std::byte* to, Dtype dtype, std::uint64_t i, double value) {
  switch (dtype) {
    case Dtype::f64:
      store(to, i, value);
      break;
    case Dtype::f32:
      store(to, i, static_cast<float>(value));
      break;
    case Dtype::f16:
      store(to, i, to_f16(narrow_to_odd(value)));
      break;
    case Dtype::bf16:
      store(to, i, to_bf16(narrow_to_odd(value)));
      break;
    case Dtype::i64:
      store(to, i, static_cast<std::int64_t>(value));
      break;
    case Dtype::i32:
      store(to, i, static_cast<std::int32_t>(value));
      break;
    case Dtype::i16:
      store(to, i, static_cast<std::int16_t>(value));
      break;
    case Dtype::i8:
      store(to, i, static_cast<std::int8_t>(value));
      break;
    case Dtype::u64:
      store(to, i, static_cast<std::uint64_t>(value));
      break;
    case Dtype::u32:
      store(to, i, static_cast<std::uint32_t>(value));
      break;
    case Dtype::u16:
      store(to, i, static_cast<std::uint16_t>(value));
      break;
    case Dtype::u8:
      store(to, i, static_cast<std::uint8_t>(value));
      break;
  }
}

void fill_buffer(std::byte* to, Dtype dtype, std::uint64_t elements, const Fill& fill, Rng& rng) {
  if (dtype == Dtype::f32 && fill.kind == Fill::Kind::uniform) {
    fill_f32_uniform(to, elements, fill.low, fill.high, rng);
    return;
  }
  const auto span =
      static_cast<std::uint64_t>(std::max(0.0, std::floor(fill.high) - std::ceil(fill.low))) + 1;
  for (std::uint64_t i = 0; i < elements; ++i) {
    double value = fill.constant;
    switch (fill.kind) {
      case Fill::Kind::uniform:
        value = fill.low + (fill.high - fill.low) * rng.uniform();
        break;
      case Fill::Kind::normal:
        value = fill.mean + fill.deviation * rng.normal();
        break;
      case Fill::Kind::integers:
        value = std::ceil(fill.low) + static_cast<double>(rng.below(span));
        break;
      case Fill::Kind::constant:
        break;
    }
    write_element(to, dtype, i, value);
  }
}

std::uint64_t end_shift(std::uint64_t bytes, std::uint64_t pages) {
  return (pages * k_page_bytes - bytes) / k_alignment * k_alignment;
}

Result<ShapeLayout> lay_out(const Case& c, const Shape& shape, bool widen) {
  ShapeLayout layout;
  layout.shape = shape;
  TS_ASSIGN(layout.flops, flops_of(c, shape));
  TS_ASSIGN(layout.bytes, bytes_of(c, shape));
  for (const tunesmith::Argument& argument : c.arguments) {
    ShapeLayout::Argument out;
    if (const auto* scalar = std::get_if<Scalar>(&argument)) {
      TS_ASSIGN(const double value, scalar_value(c, *scalar, shape));
      out.dtype = widen && is_float(scalar->dtype) ? Dtype::f64 : scalar->dtype;
      write_element(reinterpret_cast<std::byte*>(&out.scalar_bits), out.dtype, 0, value);
    } else {
      const auto& buffer = std::get<Buffer>(argument);
      out.is_buffer = true;
      out.role = buffer.role;
      out.dtype = widen && is_float(buffer.dtype) ? Dtype::f64 : buffer.dtype;
      TS_ASSIGN(out.extent, buffer_extent(c, buffer, shape));
      out.elements = 1;
      for (const std::int64_t n : out.extent) out.elements *= static_cast<std::uint64_t>(n);
      out.bytes = out.elements * size_of(out.dtype);
      out.pages = std::max<std::uint64_t>(1, (out.bytes + k_page_bytes - 1) / k_page_bytes);
      (out.read_only() ? layout.input_pages : layout.writable_pages) += out.pages;
    }
    layout.arguments.push_back(std::move(out));
  }
  return layout;
}

Result<InputPool> InputPool::allocate(std::vector<ShapeLayout> layouts,
                                      const std::vector<std::size_t>& sets) {
  InputPool pool;
  for (std::size_t s = 0; s < layouts.size(); ++s) {
    ShapeInputs inputs;
    inputs.layout = std::move(layouts[s]);
    for (std::size_t i = 0; i < sets[s]; ++i) {
      InputSet set;
      for (const auto& argument : inputs.layout.arguments) {
        set.offset.push_back(pool.m_size);
        if (argument.read_only()) pool.m_size += argument.pages * k_page_bytes;
      }
      set.initial.resize(inputs.layout.arguments.size());
      set.expected.resize(inputs.layout.arguments.size());
      set.turned.resize(inputs.layout.arguments.size());
      inputs.sets.push_back(std::move(set));
    }
    inputs.output_scale.assign(inputs.layout.arguments.size(), 0);
    pool.m_shapes.push_back(std::move(inputs));
  }
  pool.m_size = std::max<std::uint64_t>(pool.m_size, k_page_bytes);
  pool.m_fd.reset(memfd_create("inputs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!pool.m_fd || ftruncate(pool.m_fd.get(), static_cast<off_t>(pool.m_size)) != 0) {
    return fail(ErrorCode::infra, fmt::format("cannot make shared memory of {} MiB for inputs: {}",
                                              pool.m_size >> 20, errno_text(errno)));
  }
  void* view = mmap(nullptr, pool.m_size, PROT_READ | PROT_WRITE, MAP_SHARED, pool.m_fd.get(), 0);
  if (view == MAP_FAILED)
    return fail(ErrorCode::infra, fmt::format("cannot map the inputs: {}", errno_text(errno)));
  pool.m_view = static_cast<std::byte*>(view);
  // From here on only this mapping can write, whoever gets hold of the file.
  fcntl(pool.m_fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
  pool.m_read_only.reset(
      open(fmt::format("/proc/self/fd/{}", pool.m_fd.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!pool.m_read_only)
    return fail(ErrorCode::infra, fmt::format("cannot reopen the inputs read-only: {}", errno_text(errno)));
  return pool;
}

Result<InputPool> InputPool::make(const Case& c, const std::vector<Shape>& shapes, std::uint64_t secret_seed,
                                  std::size_t sets) {
  std::vector<ShapeLayout> layouts;
  std::vector<std::size_t> counts;
  for (const Shape& shape : shapes) {
    TS_ASSIGN(ShapeLayout layout, lay_out(c, shape));
    const std::uint64_t set_bytes = std::max<std::uint64_t>(1, layout.input_pages) * k_page_bytes;
    counts.push_back(
        std::min<std::size_t>(sets, std::max<std::uint64_t>(2, k_input_budget_bytes / set_bytes)));
    layouts.push_back(std::move(layout));
  }
  TS_ASSIGN(InputPool pool, allocate(std::move(layouts), counts));
  pool.m_order = Rng(derive_seed(secret_seed, "order"));
  for (std::size_t s = 0; s < pool.m_shapes.size(); ++s) {
    ShapeInputs& inputs = pool.m_shapes[s];
    for (std::size_t p = 0; p < inputs.sets.size(); ++p) {
      Rng rng(derive_seed(secret_seed, fmt::format("inputs/{}/{}", inputs.layout.shape.name, p)));
      for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
        const auto& argument = inputs.layout.arguments[a];
        if (!argument.is_buffer || (argument.role != Role::in && argument.role != Role::inout)) continue;
        const Fill& fill = std::get<Buffer>(c.arguments[a]).fill;
        if (argument.role == Role::in) {
          std::byte* to = pool.m_view + inputs.sets[p].offset[a] + end_shift(argument.bytes, argument.pages);
          fill_buffer(to, argument.dtype, argument.elements, fill, rng);
        } else {
          inputs.sets[p].initial[a].resize(argument.bytes);
          fill_buffer(inputs.sets[p].initial[a].data(), argument.dtype, argument.elements, fill, rng);
        }
      }
    }
  }
  return pool;
}

Result<InputPool> InputPool::widen(const Case& c, const InputPool& pool) {
  std::vector<ShapeLayout> layouts;
  std::vector<std::size_t> counts;
  for (const ShapeInputs& inputs : pool.m_shapes) {
    TS_ASSIGN(ShapeLayout layout, lay_out(c, inputs.layout.shape, true));
    layouts.push_back(std::move(layout));
    counts.push_back(inputs.sets.size());
  }
  TS_ASSIGN(InputPool wide, allocate(std::move(layouts), counts));
  for (std::size_t s = 0; s < pool.m_shapes.size(); ++s) {
    for (std::size_t p = 0; p < pool.m_shapes[s].sets.size(); ++p) {
      for (std::size_t a = 0; a < c.arguments.size(); ++a) {
        const auto& from = pool.m_shapes[s].layout.arguments[a];
        const auto& to = wide.m_shapes[s].layout.arguments[a];
        if (!from.is_buffer || (from.role != Role::in && from.role != Role::inout)) continue;
        std::byte* place = nullptr;
        if (from.read_only()) {
          place = wide.m_view + wide.m_shapes[s].sets[p].offset[a] + end_shift(to.bytes, to.pages);
        } else {
          wide.m_shapes[s].sets[p].initial[a].resize(to.bytes);
          place = wide.m_shapes[s].sets[p].initial[a].data();
        }
        const std::byte* source = pool.input(s, p, a);
        if (from.dtype == to.dtype) {
          std::memcpy(place, source, from.bytes);
        } else {
          for (std::uint64_t i = 0; i < from.elements; ++i)
            write_element(place, to.dtype, i, read_element(source, from.dtype, i));
        }
      }
    }
  }
  return wide;
}

std::byte* InputPool::content(std::size_t shape, std::size_t set, std::size_t argument) {
  ShapeInputs& inputs = m_shapes[shape];
  const auto& a = inputs.layout.arguments[argument];
  if (!a.read_only()) return inputs.sets[set].initial[argument].data();
  return m_view + inputs.sets[set].offset[argument] + end_shift(a.bytes, a.pages);
}

const std::byte* InputPool::input(std::size_t shape, std::size_t set, std::size_t argument) const {
  const ShapeInputs& inputs = m_shapes[shape];
  const auto& a = inputs.layout.arguments[argument];
  if (!a.read_only()) return inputs.sets[set].initial[argument].data();
  return m_view + inputs.sets[set].offset[argument] + end_shift(a.bytes, a.pages);
}

void InputPool::rearrange(std::size_t shape, std::size_t set) {
  InputSet& one = m_shapes[shape].sets[set];
  for (std::size_t a = 0; a < one.turned.size(); ++a) {
    const auto& argument = m_shapes[shape].layout.arguments[a];
    const bool has_content =
        argument.is_buffer && (argument.role == Role::in || argument.role == Role::inout);
    if (!has_content || argument.elements < 2) continue;
    const std::uint64_t by = (1 + m_order.below(argument.elements - 1)) * size_of(argument.dtype);
    turn(content(shape, set, a), argument.bytes, by);
    one.turned[a] = (one.turned[a] + by) % argument.bytes;
  }
}

void InputPool::restore(std::size_t shape) {
  for (std::size_t set = 0; set < m_shapes[shape].sets.size(); ++set) {
    InputSet& one = m_shapes[shape].sets[set];
    for (std::size_t a = 0; a < one.turned.size(); ++a) {
      if (one.turned[a] == 0) continue;
      const std::uint64_t bytes = m_shapes[shape].layout.arguments[a].bytes;
      turn(content(shape, set, a), bytes, bytes - one.turned[a]);
      one.turned[a] = 0;
    }
  }
}

InputPool::InputPool(InputPool&& other) noexcept
    : m_fd(std::move(other.m_fd)),
      m_read_only(std::move(other.m_read_only)),
      m_view(std::exchange(other.m_view, nullptr)),
      m_size(other.m_size),
      m_shapes(std::move(other.m_shapes)),
      m_order(other.m_order) {}

InputPool& InputPool::operator=(InputPool&& other) noexcept {
  std::swap(m_fd, other.m_fd);
  std::swap(m_read_only, other.m_read_only);
  std::swap(m_view, other.m_view);
  std::swap(m_size, other.m_size);
  std::swap(m_shapes, other.m_shapes);
  std::swap(m_order, other.m_order);
  return *this;
}

InputPool::~InputPool() {
  if (m_view != nullptr) munmap(m_view, m_size);
}

}  // namespace tunesmith::bench
