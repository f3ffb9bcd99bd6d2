// A small valid case in a temporary folder, changed by one JSON pointer at a time.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/file.h"
#include "case/case.h"

namespace tunesmith::testing {

inline void write(const std::string& path, const std::string& text) {
  ASSERT_TRUE(make_folders(parent_folder(path)));
  std::ofstream(path, std::ios::binary) << text;
}

class CaseFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    write(file("kernels/gemm.cpp"), k_kernel);
    write(file("kernels/gemm.h"), "#define UNROLL 4\n");
    write(file("kernels/reference.cpp"), "extern \"C\" void gemm_reference() {}\n");
    reset();
  }
  std::string file(const std::string& name) const { return m_folder.path() + "/" + name; }
  /// Sets or, with a null pointer, removes one value of the case.
  void set(const std::string& pointer, const char* text) {
    if (text != nullptr) {
      json::value* at = set_pointer(pointer);
      *at = json::parse(text);
      return;
    }
    const std::size_t slash = pointer.rfind('/');
    json::value root = m_case;
    json::value* parent = slash == 0 ? &root : root.find_pointer(pointer.substr(0, slash), m_error);
    ASSERT_NE(parent, nullptr);
    parent->as_object().erase(pointer.substr(slash + 1));
    m_case = root.as_object();
  }
  void reset() { m_case = json::parse(k_case).as_object(); }
  std::string write_case() {
    write(file("cases/gemm.json"), print_json(m_case));
    return file("cases/gemm.json");
  }
  Result<Case> load() { return load_case(write_case()); }
  /// The one line of the refusal; a case that loads fails the test.
  std::string refusal() {
    const auto loaded = load();
    EXPECT_FALSE(loaded) << "the case was accepted";
    return loaded ? "" : loaded.error().line();
  }
  std::string refusal_of(const std::string& pointer, const char* text) {
    const json::object before = m_case;
    set(pointer, text);
    std::string line = refusal();
    m_case = before;
    return line;
  }

  static constexpr const char* k_kernel =
      "#ifndef MR\n#define MR 4\n#endif\n"
      "#include \"gemm.h\"\n"
      "// a small product\n"
      "extern \"C\" void gemm(const float* a, const float* b, float* c, int m, int n, int k) {\n"
      "  for (int i = 0; i < m; ++i)\n"
      "    for (int j = 0; j < n; ++j) {\n"
      "      float sum = 0;\n"
      "      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];\n"
      "      c[i * n + j] = sum;\n"
      "    }\n"
      "}\n";
  static constexpr const char* k_case = R"json({
    "$schema": "../schemas/case.schema.json",
    "name": "gemm",
    "source": {"language": "c++", "files": ["../kernels/gemm.cpp"], "entry": "gemm", "editable": ["../kernels/gemm.cpp"]},
    "flags": ["-O2", "-march=native"],
    "dimensions": ["m", "n", "k"],
    "shapes": [{"m": 8, "n": 64, "k": 32, "weight": 2}, {"m": 1, "n": 64, "k": 32, "name": "decode"}],
    "held_out_shapes": [{"m": 4, "n": 32, "k": 16}],
    "arguments": [
      {"name": "a", "buffer": "f32", "shape": ["m", "k"], "role": "in", "fill": {"kind": "uniform", "low": -2, "high": 2}},
      {"name": "b", "buffer": "f32", "shape": ["k", "n"], "role": "in"},
      {"name": "c", "buffer": "f32", "shape": ["m", "n"], "role": "out"},
      {"name": "pack", "buffer": "f32", "shape": ["k*n"], "role": "workspace"},
      {"name": "m", "scalar": "i32", "value": "m"}
    ],
    "reference": {"builtin": "gemm", "bind": {"a": "a", "b": "b", "c": "c"}},
    "tolerance": {"absolute": 1e-3},
    "parameters": {"MR": [1, 2, 4, 8], "NRV": [1, 2, 4], "PACK_B": [true, false], "LAYOUT": ["row", "col"]},
    "constraints": ["MR * NRV <= 16"],
    "baseline": {"config": {"MR": 4, "NRV": 2, "PACK_B": false, "LAYOUT": "row"}, "label": "first guess"},
    "work": {"flops": "2*m*n*k", "bytes": "4*(m*k + k*n + m*n)"},
    "limits": {"build_seconds": 30, "threads": 1},
    "clock": "cold"
  })json";

 private:
  json::value* set_pointer(const std::string& pointer) {
    // One level at a time, making the last step when it is absent; a number is an array's position.
    json::value* at = nullptr;
    json::object* object = &m_case;
    std::size_t start = 1;
    while (true) {
      const std::size_t end = pointer.find('/', start);
      const std::string step = pointer.substr(start, end == std::string::npos ? end : end - start);
      if (at != nullptr && at->is_array()) {
        const std::size_t index = std::stoul(step);
        if (index == at->get_array().size()) at->get_array().emplace_back(nullptr);
        at = &at->get_array().at(index);
      } else {
        at = &(at != nullptr ? at->as_object() : *object)[step];
      }
      if (end == std::string::npos) return at;
      start = end + 1;
    }
  }
  TempDir m_folder = std::move(*TempDir::make());
  json::object m_case;
  boost::system::error_code m_error;
};

#define EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << (text)

}  // namespace tunesmith::testing
