#include "bench/references.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace tunesmith::bench {

namespace {

/// The argument bound to a built-in's role.
Result<std::size_t> bound(const Case& c, const std::string& role) {
  const auto found = c.reference.bind.find(role);
  const std::string name = found == c.reference.bind.end() ? role : found->second;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    const auto* buffer = std::get_if<Buffer>(&c.arguments[i]);
    if (buffer != nullptr && buffer->name == name) return i;
  }
  return fail(ErrorCode::invalid,
              fmt::format("the reference needs a buffer for \"{}\" and none is called \"{}\"", role, name),
              "name it in reference.bind", Place{c.file, 0, 0, "/reference/bind"});
}

std::vector<double> widen(const InputPool& pool, std::size_t shape, std::size_t set, std::size_t argument) {
  const auto& a = pool.shapes()[shape].layout.arguments[argument];
  const std::byte* from = pool.input(shape, set, argument);
  std::vector<double> out(a.elements);
  if (a.dtype == Dtype::f32) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      float value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      out[i] = value;
    }
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = read_element(from, a.dtype, i);
  }
  return out;
}

const std::vector<std::int64_t>& extent(const InputPool& pool, std::size_t shape, std::size_t argument) {
  return pool.shapes()[shape].layout.arguments[argument].extent;
}

Status rank_error(const Case& c, const char* what) {
  return fail(ErrorCode::invalid,
              fmt::format("the built-in reference \"{}\" expects {}", c.reference.builtin, what), "",
              Place{c.file, 0, 0, "/reference"});
}

#if defined(__x86_64__) && !defined(TUNESMITH_SANITIZED)
__attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3")))
#endif
/// c[m,n] = a[m,k] * b[k,n] in float64; four rows of a at a time keep b's row in registers' reach.
void multiply(const double* a, const double* b, double* out, std::size_t m, std::size_t n, std::size_t k) {
  constexpr std::size_t k_columns = 512;  // a strip of b's row and four of c's stay in the first cache
  for (std::size_t j0 = 0; j0 < n; j0 += k_columns) {
    const std::size_t width = std::min(k_columns, n - j0);
    for (std::size_t i0 = 0; i0 < m; i0 += 4) {
      const std::size_t rows = std::min<std::size_t>(4, m - i0);
      for (std::size_t p = 0; p < k; ++p) {
        const double* row = b + p * n + j0;
        for (std::size_t i = i0; i < i0 + rows; ++i) {
          const double factor = a[i * k + p];
          double* to = out + i * n + j0;
          for (std::size_t j = 0; j < width; ++j) to[j] += factor * row[j];
        }
      }
    }
  }
}

Status gemm(const Case& c, InputPool& pool, std::size_t shape, std::size_t set) {
  TS_ASSIGN(const std::size_t ia, bound(c, "a"));
  TS_ASSIGN(const std::size_t ib, bound(c, "b"));
  TS_ASSIGN(const std::size_t ic, bound(c, "c"));
  const auto& ea = extent(pool, shape, ia);
  const auto& eb = extent(pool, shape, ib);
  const auto& ec = extent(pool, shape, ic);
  if (ea.size() != 2 || eb.size() != 2 || ec.size() != 2 || ea[1] != eb[0] || ec[0] != ea[0] ||
      ec[1] != eb[1]) {
    return rank_error(c, "a[m,k], b[k,n], c[m,n]");
  }
  const std::vector<double> a = widen(pool, shape, set, ia);
  const std::vector<double> b = widen(pool, shape, set, ib);
  std::vector<double>& out = pool.shapes()[shape].sets[set].expected[ic];
  out.assign(static_cast<std::size_t>(ec[0] * ec[1]), 0.0);
  multiply(a.data(), b.data(), out.data(), static_cast<std::size_t>(ec[0]), static_cast<std::size_t>(ec[1]),
           static_cast<std::size_t>(ea[1]));
  return {};
}

Status attention(const Case& c, InputPool& pool, std::size_t shape, std::size_t set) {
  TS_ASSIGN(const std::size_t iq, bound(c, "q"));
  TS_ASSIGN(const std::size_t ik, bound(c, "k"));
  TS_ASSIGN(const std::size_t iv, bound(c, "v"));
  TS_ASSIGN(const std::size_t io, bound(c, "o"));
  const auto& eq = extent(pool, shape, iq);
  const auto& ek = extent(pool, shape, ik);
  if (eq.size() != 3 || ek.size() != 3 || eq[0] != ek[0] || eq[2] != ek[2])
    return rank_error(c, "q, k, v, o of [heads, seq, dim]");
  const auto heads = static_cast<std::size_t>(eq[0]);
  const auto queries = static_cast<std::size_t>(eq[1]);
  const auto keys = static_cast<std::size_t>(ek[1]);
  const auto dim = static_cast<std::size_t>(eq[2]);
  const std::vector<double> q = widen(pool, shape, set, iq);
  const std::vector<double> k = widen(pool, shape, set, ik);
  const std::vector<double> v = widen(pool, shape, set, iv);
  std::vector<double>& out = pool.shapes()[shape].sets[set].expected[io];
  out.assign(heads * queries * dim, 0.0);
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  std::vector<double> scores(queries * keys);
  std::vector<double> transposed(dim * keys);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t j = 0; j < keys; ++j) {
      for (std::size_t d = 0; d < dim; ++d) transposed[d * keys + j] = k[(h * keys + j) * dim + d];
    }
    std::fill(scores.begin(), scores.end(), 0.0);
    multiply(q.data() + h * queries * dim, transposed.data(), scores.data(), queries, keys, dim);
    for (std::size_t i = 0; i < queries; ++i) {
      double* row = scores.data() + i * keys;
      const double top = *std::max_element(row, row + keys);
      double sum = 0;
      for (std::size_t j = 0; j < keys; ++j) sum += row[j] = std::exp((row[j] - top) * scale);
      for (std::size_t j = 0; j < keys; ++j) row[j] /= sum;
    }
    multiply(scores.data(), v.data() + h * keys * dim, out.data() + h * queries * dim, queries, dim, keys);
  }
  return {};
}

Status softmax_rows(const Case& c, InputPool& pool, std::size_t shape, std::size_t set) {
  TS_ASSIGN(const std::size_t ix, bound(c, "x"));
  TS_ASSIGN(const std::size_t iy, bound(c, "y"));
  const auto& e = extent(pool, shape, ix);
  if (e.size() != 2) return rank_error(c, "x[rows,cols], y[rows,cols]");
  const auto rows = static_cast<std::size_t>(e[0]);
  const auto columns = static_cast<std::size_t>(e[1]);
  std::vector<double> x = widen(pool, shape, set, ix);
  for (std::size_t r = 0; r < rows; ++r) {
    double* row = x.data() + r * columns;
    const double top = *std::max_element(row, row + columns);
    double sum = 0;
    for (std::size_t j = 0; j < columns; ++j) sum += row[j] = std::exp(row[j] - top);
    for (std::size_t j = 0; j < columns; ++j) row[j] /= sum;
  }
  pool.shapes()[shape].sets[set].expected[iy] = std::move(x);
  return {};
}

Status layer_norm(const Case& c, InputPool& pool, std::size_t shape, std::size_t set) {
  TS_ASSIGN(const std::size_t ix, bound(c, "x"));
  TS_ASSIGN(const std::size_t ig, bound(c, "gamma"));
  TS_ASSIGN(const std::size_t ib, bound(c, "beta"));
  TS_ASSIGN(const std::size_t iy, bound(c, "y"));
  const auto& e = extent(pool, shape, ix);
  if (e.size() != 2) return rank_error(c, "x[rows,cols], gamma[cols], beta[cols], y[rows,cols]");
  const auto rows = static_cast<std::size_t>(e[0]);
  const auto columns = static_cast<std::size_t>(e[1]);
  std::vector<double> x = widen(pool, shape, set, ix);
  const std::vector<double> gamma = widen(pool, shape, set, ig);
  const std::vector<double> beta = widen(pool, shape, set, ib);
  if (gamma.size() != columns || beta.size() != columns) return rank_error(c, "gamma[cols] and beta[cols]");
  for (std::size_t r = 0; r < rows; ++r) {
    double* row = x.data() + r * columns;
    double mean = 0;
    for (std::size_t j = 0; j < columns; ++j) mean += row[j];
    mean /= static_cast<double>(columns);
    double variance = 0;
    for (std::size_t j = 0; j < columns; ++j) variance += (row[j] - mean) * (row[j] - mean);
    variance /= static_cast<double>(columns);
    const double scale = 1.0 / std::sqrt(variance + 1e-5);
    for (std::size_t j = 0; j < columns; ++j) row[j] = (row[j] - mean) * scale * gamma[j] + beta[j];
  }
  pool.shapes()[shape].sets[set].expected[iy] = std::move(x);
  return {};
}

}  // namespace

const std::vector<BuiltinReference>& builtin_references() {
  static const std::vector<BuiltinReference> table = {
      {"gemm", "c[m,n] = a[m,k] b[k,n]", {"a", "b", "c"}, gemm},
      {"attention",
       "o = softmax(q k^T / sqrt(dim)) v, all [heads, seq, dim]",
       {"q", "k", "v", "o"},
       attention},
      {"softmax_rows", "y = softmax(x) by row", {"x", "y"}, softmax_rows},
      {"layer_norm",
       "y = (x - mean) / sqrt(var + 1e-5) gamma + beta by row",
       {"x", "gamma", "beta", "y"},
       layer_norm},
  };
  return table;
}

Status compute_builtin(const Case& c, InputPool& pool) {
  for (const BuiltinReference& builtin : builtin_references()) {
    if (builtin.name != c.reference.builtin) continue;
    for (std::size_t shape = 0; shape < pool.shapes().size(); ++shape) {
      for (std::size_t set = 0; set < pool.shapes()[shape].sets.size(); ++set)
        TS_TRY(builtin.compute(c, pool, shape, set));
    }
    compute_scales(pool);
    return {};
  }
  std::vector<std::string> names;
  for (const BuiltinReference& builtin : builtin_references()) names.emplace_back(builtin.name);
  return fail(ErrorCode::invalid, fmt::format("unknown built-in reference \"{}\"", c.reference.builtin),
              fmt::format("known are {}", join(names, ", ")), Place{c.file, 0, 0, "/reference/builtin"});
}

void compute_scales(InputPool& pool) {
  for (ShapeInputs& inputs : pool.shapes()) {
    for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
      double sum = 0;
      std::size_t count = 0;
      for (const InputSet& set : inputs.sets) {
        for (const double value : set.expected[a]) {
          if (!std::isfinite(value)) continue;
          sum += value * value;
          ++count;
        }
      }
      inputs.output_scale[a] = count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
    }
  }
}

}  // namespace tunesmith::bench
