// A small case of its own in a temporary folder: an f32 matrix product whose parameters plant what a test
// needs. ORDER=0 streams through memory and is several times faster than ORDER=1, which walks down columns.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/json.h"
#include "case/candidate.h"
#include "case/case.h"

namespace tunesmith {

inline constexpr const char* k_tiny_kernel = R"(#ifndef ORDER
#define ORDER 1
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef FAULT
#define FAULT 0
#endif
static const int unroll __attribute__((unused)) = UNROLL;
static unsigned calls __attribute__((unused));

static void __attribute__((noinline)) streaming(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}

static void __attribute__((noinline)) walking(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      volatile float sum = 0; /* through memory: latency, whatever the compiler knows */
      for (int p = 0; p < k; ++p) sum = sum + a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}

#ifdef __cplusplus
extern "C"
#endif
void product(const float* a, const float* b, float* c, int m, int n, int k) {
#if FAULT == 5 /* the last row is never written */
  --m;
#endif
#if ORDER == 0
  streaming(a, b, c, m, n, k);
#elif ORDER == 1
  walking(a, b, c, m, n, k);
#else /* fast on wide shapes, three times the work on narrow ones */
  if (n >= 48) streaming(a, b, c, m, n, k);
  else for (int i = 0; i < 3; ++i) { walking(a, b, c, m, n, k); __asm__ volatile("" : : : "memory"); }
#endif
#if FAULT == 1
  c[m * n / 2] += 1.0f;
#elif FAULT == 2 /* right on the scored shapes only */
  if (n % 16 != 0) c[n - 1] = 0;
#elif FAULT == 3 /* within the tolerance, but never the same twice */
  c[0] += 1e-6f * (float)(++calls);
#elif FAULT == 4
  *(volatile int*)0 = 1;
#elif FAULT == 6
  c[3] = __builtin_nanf("");
#endif
}
)";

inline constexpr const char* k_tiny_case = R"json({
  "name": "tiny",
  "description": "a matrix product for tests",
  "backend": "cpu",
  "dtype": "f32",
  "source": {"language": "c++", "files": ["kernel.cpp"], "entry": "product", "editable": ["kernel.cpp"]},
  "flags": ["-O3", "-march=native"],
  "dimensions": ["m", "n", "k"],
  "shapes": [{"m": 48, "n": 48, "k": 48}],
  "held_out_shapes": [{"m": 5, "n": 7, "k": 9}],
  "arguments": [
    {"name": "a", "buffer": "f32", "shape": ["m", "k"], "role": "in"},
    {"name": "b", "buffer": "f32", "shape": ["k", "n"], "role": "in"},
    {"name": "c", "buffer": "f32", "shape": ["m", "n"], "role": "out"},
    {"name": "m", "scalar": "i32", "value": "m"},
    {"name": "n", "scalar": "i32", "value": "n"},
    {"name": "k", "scalar": "i32", "value": "k"}
  ],
  "reference": {"builtin": "gemm", "bind": {"a": "a", "b": "b", "c": "c"}},
  "tolerance": {"absolute": 1e-3},
  "parameters": {"ORDER": [0, 1, 2], "UNROLL": [1, 2], "FAULT": [0, 1, 2, 3, 4, 5, 6]},
  "baseline": {"config": {"ORDER": 1, "UNROLL": 1, "FAULT": 0}},
  "work": {"flops": "2*m*n*k", "bytes": "4*(m*k + k*n + m*n)"
}
, "limits" : {
  "build_seconds" : 60, "call_seconds" : 10, "memory_mib" : 1024, "output_kib" : 64, "threads" : 1
}
})json";

class TinyCase {
 public:
  TinyCase() : m_folder(make_folder()), m_json(json::parse(k_tiny_case)) {
    write("kernel.cpp", k_tiny_kernel);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return m_folder.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_scratch(file(name), text));
  }
  /// Sets one value of the case file: set("/tolerance/absolute", "10").
  TinyCase& set(const std::string& pointer, const std::string& text) {
    // Boost.JSON 1.81 cannot set by pointer: the parent is found, then the last step taken.
    const std::size_t slash = pointer.rfind('/');
    boost::system::error_code error;
    json::value* parent = slash == 0 ? &m_json : m_json.find_pointer(pointer.substr(0, slash), error);
    if (parent == nullptr) std::abort();
    const std::string key = pointer.substr(slash + 1);
    if (parent->is_array()) {
      parent->as_array()[std::stoul(key)] = json::parse(text);
    } else {
      parent->as_object()[key] = json::parse(text);
    }
    return *this;
  }
  TinyCase& remove(const std::string& key) {
    m_json.as_object().erase(key);
    return *this;
  }
  [[nodiscard]] Result<Case> try_load() {
    write("tiny.json", print_json(m_json));
    return load_case(file("tiny.json"));
  }
  /// The case; a refusal fails the test and ends it.
  [[nodiscard]] Case load() {
    auto loaded = try_load();
    if (!loaded) {
      ADD_FAILURE() << loaded.error().line();
      std::abort();
    }
    return std::move(*loaded);
  }

 private:
  static TempDir make_folder() {
    auto made = TempDir::make("tunesmith-tiny-");
    if (!made) std::abort();
    return std::move(*made);
  }
  TempDir m_folder;
  json::value m_json;
};

/// The configuration that a JSON object of the tiny case's parameters names.
inline Candidate config_of(const Case& c, const std::string& text) {
  const auto node = Node::parse(text, "config");
  auto config = c.space.from_json(*node);
  if (!config) {
    ADD_FAILURE() << config.error().line();
    std::abort();
  }
  return Candidate{*config, {}};
}

inline Candidate tiny_config(const Case& c, int order, int unroll = 1, int fault = 0) {
  return config_of(c, "{\"ORDER\": " + std::to_string(order) + ", \"UNROLL\": " + std::to_string(unroll) +
                          ", \"FAULT\": " + std::to_string(fault) + "}");
}

}  // namespace tunesmith
