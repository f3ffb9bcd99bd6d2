#include "bench/lint.h"

#include <fmt/format.h>

#include <limits>

#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

struct Impostor {
  std::string what;
  std::vector<double> values;
};

std::vector<Impostor> impostors(const InputPool& pool, std::size_t shape, std::size_t argument) {
  const ShapeInputs& inputs = pool.shapes()[shape];
  const auto& a = inputs.layout.arguments[argument];
  const std::vector<double>& want = inputs.sets[0].expected[argument];
  std::vector<Impostor> out;
  out.push_back({"all zeros", std::vector<double>(want.size(), 0.0)});
  out.push_back({"all ones", std::vector<double>(want.size(), 1.0)});
  if (is_float(a.dtype)) {
    out.push_back({"all NaN", std::vector<double>(want.size(), std::numeric_limits<double>::quiet_NaN())});
  }
  out.push_back(
      {"the mean of the reference everywhere", std::vector<double>(want.size(), stats::mean(want))});
  if (inputs.sets.size() > 1)
    out.push_back({"the result for other inputs", inputs.sets[1].expected[argument]});
  for (std::size_t i = 0; i < inputs.layout.arguments.size(); ++i) {
    const auto& input = inputs.layout.arguments[i];
    if (!input.is_buffer || input.elements != want.size() ||
        (input.role != Role::in && input.role != Role::inout))
      continue;
    std::vector<double> copy(want.size());
    for (std::size_t j = 0; j < copy.size(); ++j)
      copy[j] = read_element(pool.input(shape, 0, i), input.dtype, j);
    out.push_back({"a copy of an input", std::move(copy)});
  }
  return out;
}

}  // namespace

Status lint_tolerance(const Case& c, const InputPool& pool, const CompareRules& rules) {
  bool any = false;
  for (std::size_t shape = 0; shape < pool.shapes().size(); ++shape) {
    const ShapeInputs& inputs = pool.shapes()[shape];
    for (std::size_t argument = 0; argument < inputs.layout.arguments.size(); ++argument) {
      const auto& a = inputs.layout.arguments[argument];
      if (!a.checked()) continue;
      any = true;
      std::vector<std::byte> encoded(a.bytes);
      for (const Impostor& impostor : impostors(pool, shape, argument)) {
        for (std::size_t i = 0; i < impostor.values.size(); ++i)
          write_element(encoded.data(), a.dtype, i, impostor.values[i]);
        const Difference d = compare(encoded.data(), a.dtype, inputs.sets[0].expected[argument],
                                     a.extent.empty() ? 1 : a.extent.back(), rules, 0);
        if (d.reason != Reason::none) continue;
        return fail(ErrorCode::invalid,
                    fmt::format("the tolerance is worthless: for shape {} {} passes as the buffer \"{}\"",
                                inputs.layout.shape.name, impostor.what,
                                std::get<Buffer>(c.arguments[argument]).name),
                    "make \"tolerance\" smaller, or the fill of the inputs such that results differ",
                    Place{c.file, 0, 0, "/tolerance"});
      }
    }
  }
  if (!any)
    return fail(ErrorCode::invalid, "no output is checked", "give one buffer the role \"out\" or \"inout\"",
                Place{c.file, 0, 0, "/arguments"});
  return {};
}

}  // namespace tunesmith::bench
