// A small case and honest evidence for it, made by hand: for tests of judge/ and tune/.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "case/case.h"
#include "case/evidence.h"

namespace tunesmith::test {

/// Dimensions m, n, k; flops 2*m*n*k; two parameters, A and B.
inline Case small_case(int shapes = 1, std::size_t values = 4) {
  Case c;
  c.name = "small";
  c.dtype = "f32";
  c.dimension_names = {"m", "n", "k"};
  for (int i = 0; i < shapes; ++i) {
    const std::int64_t m = 8LL << i;
    c.shapes.push_back({"m=" + std::to_string(m) + " n=2048 k=2048", {m, 2048, 2048}, 1});
  }
  c.held_out_shapes.push_back({"m=3 n=64 k=64", {3, 64, 64}, 1});
  const std::vector<space::Name> names = {
      {"m", space::ValueKind::integer}, {"n", space::ValueKind::integer}, {"k", space::ValueKind::integer}};
  c.work.flops = *space::Expression::parse("2*m*n*k", names);
  std::vector<space::Parameter> parameters(2);
  parameters[0].name = "A";
  parameters[1].name = "B";
  for (std::size_t i = 0; i < values; ++i) {
    parameters[0].values.emplace_back(static_cast<std::int64_t>(1) << i);
    parameters[1].values.emplace_back(static_cast<std::int64_t>(i));
  }
  c.space = *space::Space::create(std::move(parameters), {});
  c.baseline.label = "first guess";
  c.baseline.config = space::Config{{0, 0}};
  c.text_sha256 = std::string(64, 'c');
  return c;
}

/// Correct, measured, `ratio` times the incumbent's time.
inline Evidence good_evidence(const Case& c, double ratio = 0.8, Comparison comparison = Comparison::faster) {
  Evidence e;
  e.build.outcome = BuildEvidence::Outcome::ok;
  e.build.compiler = "g++ 12";
  e.machine = "Example CPU 9000";
  e.peak_memory_bytes = 1 << 20;
  e.log_ratio = e.log_ratio_to_baseline = std::log(ratio);
  e.comparison = comparison;
  for (const Shape& shape : c.shapes) {
    ShapeEvidence s;
    s.shape = shape.name;
    s.weight = shape.weight;
    s.flops = 2.0 * static_cast<double>(shape.dimensions[0] * shape.dimensions[1] * shape.dimensions[2]);
    s.check.planned = s.check.executed = 3;
    s.check.passed = true;
    s.check.max_abs_error = 1e-4;
    s.check.max_rel_error = 1e-5;
    s.timing.pairs = 20;
    s.timing.latency_ms = ratio;
    s.timing.cpu_ms = ratio;
    s.timing.incumbent_latency_ms = 1;
    s.timing.log_ratio = s.timing.log_ratio_low = s.timing.log_ratio_high = std::log(ratio);
    s.timing.comparison = comparison;
    e.shapes.push_back(std::move(s));
  }
  return e;
}

}  // namespace tunesmith::test
