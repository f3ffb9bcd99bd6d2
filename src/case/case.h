// A case: what to tune. Read from cases/*.json (schemas/case.schema.json); everything is checked at load.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "recording/recording.h"
#include "space/expression.h"
#include "space/space.h"

namespace tunesmith {

enum class Dtype { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8 };
[[nodiscard]] std::size_t size_of(Dtype dtype);
[[nodiscard]] const char* name_of(Dtype dtype);
[[nodiscard]] const char* c_type_of(Dtype dtype);  ///< "float"; f16 is "_Float16", bf16 is "unsigned short"
[[nodiscard]] std::optional<Dtype> dtype_from_name(std::string_view name);
[[nodiscard]] bool is_float(Dtype dtype);

enum class Role { in, out, inout, workspace };

/// How an input is made at every check, from the run's secret seed.
struct Fill {
  enum class Kind { uniform, normal, integers, constant } kind = Kind::uniform;
  double low = -1, high = 1;       ///< uniform: [low, high); integers: both ends included
  double mean = 0, deviation = 1;  ///< normal
  double constant = 0;
};

struct Buffer {
  std::string name;
  Dtype dtype = Dtype::f32;
  Role role = Role::in;
  std::vector<space::Expression>
      shape;  ///< row-major, over shape dimensions and parameters' names is not allowed
  Fill fill;
};

struct Scalar {
  std::string name;
  Dtype dtype = Dtype::i32;
  space::Expression value;  ///< over shape dimensions
};

using Argument = std::variant<Buffer, Scalar>;

struct Shape {
  std::string name;                      ///< "m=8 n=2048 k=2048" unless given
  std::vector<std::int64_t> dimensions;  ///< in the order of Case::dimension_names
  double weight = 1;
};

struct SourceSet {
  std::string language = "c++";       ///< "c" or "c++"
  std::vector<std::string> files;     ///< absolute; the first one holds the entry
  std::string entry;                  ///< C function or extern "C" name
  std::vector<std::string> editable;  ///< absolute; the only files that a diff may touch
  std::vector<std::string> flags;  ///< of this source set alone, e.g. {"-lopenblas"} for a library baseline
};

struct Reference {
  std::string builtin;                      ///< "gemm", "attention", …; empty when a source is given
  std::map<std::string, std::string> bind;  ///< builtin's role -> argument or dimension name, e.g. {"a": "A"}
  /// Compiled apart with -Dreal=double and all float buffers as double; runs in float64.
  std::optional<SourceSet> source;
};

struct Tolerance {
  double absolute = 1e-3;  ///< |got - want| <= absolute + relative * |want|, element by element
  double relative = 0;
  bool bit_exact = false;  ///< integers, or outputs that must agree to the last bit
  /// Errors may be at most this many times the baseline's own, however wide the tolerance is; 0 = no such
  /// rule.
  double baseline_factor = 32;
};

struct Baseline {
  enum class Kind { config, source } kind = Kind::config;
  std::optional<space::Config> config;  ///< kind config
  std::optional<SourceSet>
      source;         ///< kind source: another implementation or a library call behind the same entry
  std::string label;  ///< "OpenBLAS sgemm", shown to people
};

struct WorkFormula {
  std::optional<space::Expression> flops;  ///< over shape dimensions
  std::optional<space::Expression> bytes;  ///< compulsory traffic
};

struct CaseLimits {
  double build_seconds = 60;
  double call_seconds = 10;  ///< one kernel call
  std::uint64_t memory_bytes = 4ULL << 30;
  std::uint64_t output_bytes = 1ULL << 20;  ///< of compiler or worker text
  int threads = 1;                          ///< declared threads of one call
};

enum class ClockMode { warm, cold };

/// The user's own build and run lines (backend "command").
struct CommandLines {
  std::vector<std::string>
      build;  ///< argv; {param} is replaced by its value, {out} by the shared library or folder
  std::vector<std::string>
      run;              ///< argv; prints or writes (to {result}) a result JSON; empty when `library` is used
  std::string library;  ///< path of the built shared library that offers the C entry; empty: self-reported
};

struct Case {
  std::string name;
  std::string description;
  std::string file;             ///< absolute path of the case file
  std::string text_sha256;      ///< of the file's bytes: recorded at the run's start
  std::string backend = "cpu";  ///< "cpu", "command", "replay"; later ones add themselves
  std::string dtype;            ///< for the result JSON, e.g. "f32"
  SourceSet source;
  std::vector<std::string> flags;  ///< compiler flags for candidate and baseline alike
  std::vector<std::string> dimension_names;
  std::vector<Shape> shapes;
  std::vector<Shape> held_out_shapes;
  std::vector<Argument> arguments;  ///< in the order of the entry's parameters
  Reference reference;
  Tolerance tolerance;
  space::Space space;
  Baseline baseline;
  WorkFormula work;
  CaseLimits limits;
  ClockMode clock = ClockMode::warm;
  std::optional<CommandLines> command;
  /// Backend "replay": what was measured once. The space is the recorded one, and the only part of it that a
  /// strategy sees.
  std::shared_ptr<const recording::Recording> recording;
  std::optional<Node> objective;  ///< the case's own "objective", read by judge/
  std::optional<Node> gate;       ///< the case's own "gate", read by judge/
};

/// Reads and checks a case file. A bare name ("cpu-gemm-skinny") is looked up in cases/ beside the program
/// and the data folder. A recorded space is a case as well, and so is a T1 file that names one (backend
/// "replay").
[[nodiscard]] Result<Case> load_case(const std::string& path_or_name);

/// Bytes, elements and scalars of a shape.
[[nodiscard]] Result<std::vector<std::int64_t>> buffer_extent(const Case& c, const Buffer& buffer,
                                                              const Shape& shape);
[[nodiscard]] Result<double> scalar_value(const Case& c, const Scalar& scalar, const Shape& shape);
[[nodiscard]] Result<double> flops_of(const Case& c,
                                      const Shape& shape);  ///< 0 when the case gives no formula
[[nodiscard]] Result<double> bytes_of(const Case& c, const Shape& shape);

}  // namespace tunesmith
