#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "app/guess.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

struct Dimension {
  std::string name;
  std::int64_t size = 0;
};

/// Sizes that keep a plain loop nest around milliseconds.
std::int64_t size_for(std::size_t dimensions) {
  if (dimensions <= 1) return 65536;
  if (dimensions == 2) return 512;
  if (dimensions == 3) return 192;
  return 32;
}

std::optional<std::int64_t> whole(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Values around the default; the default is always among them.
std::optional<json::array> values_around(std::int64_t value, bool is_switch) {
  if (value == 0 || (value == 1 && is_switch)) return json::array{value, 1 - value};
  if (value < 0) return std::nullopt;
  std::vector<std::int64_t> values = {value};
  for (const int factor : {2, 4}) {
    if (value % factor == 0 || value / factor >= 1)
      values.push_back(std::max<std::int64_t>(1, value / factor));
    values.push_back(value * factor);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  json::array out;
  for (const std::int64_t one : values) out.push_back(one);
  return out;
}

std::size_t bytes_of_type(const std::string& type) {
  return static_cast<std::size_t>(*whole(type.substr(type.front() == 'b' ? 2 : 1)) / 8);
}

std::string product(const std::vector<std::string>& sides) { return sides.empty() ? "1" : join(sides, "*"); }

json::array strings(const std::vector<std::string>& words) {
  json::array out;
  for (const std::string& word : words) out.push_back(json::string(word));
  return out;
}

}  // namespace

GuessedCase guess_case(const GuessedKernel& kernel, const std::string& name, const std::string& source_file,
                       const std::string& reference_file) {
  GuessedCase out;
  std::vector<std::string> dimensions;
  for (const GuessedArgument& argument : kernel.arguments) {
    if (!argument.pointer && (argument.type.front() == 'i' || argument.type.front() == 'u'))
      dimensions.push_back(argument.name);
  }
  if (dimensions.empty()) dimensions = {"n"};
  const std::int64_t size = size_for(dimensions.size());
  // One and a half times and then some: shapes that no tile divides are where kernels break.
  const std::int64_t odd = size + size / 2 + 7;

  json::array arguments;
  std::string bytes;
  std::string dtype = "f32";
  bool integers_only = true;
  for (const GuessedArgument& argument : kernel.arguments) {
    json::object one;
    one["name"] = argument.name;
    if (!argument.pointer) {
      one["scalar"] = argument.type;
      const bool dimension =
          std::find(dimensions.begin(), dimensions.end(), argument.name) != dimensions.end();
      one["value"] = dimension ? argument.name : std::string("1.5");
      if (!dimension) out.guesses.push_back(fmt::format("{} is passed as 1.5", argument.name));
      arguments.push_back(std::move(one));
      continue;
    }
    std::vector<std::string> sides = argument.sides;
    if (sides.empty()) {
      sides = dimensions;
      out.guesses.push_back(fmt::format("{} [{}]: no subscript told its size, so it has every dimension",
                                        argument.name, join(sides, ", ")));
    } else {
      out.guesses.push_back(fmt::format("{} [{}], {}", argument.name, join(sides, ", "),
                                        argument.role == "in"    ? "an input"
                                        : argument.role == "out" ? "an output"
                                                                 : "read and written"));
    }
    one["buffer"] = argument.type;
    one["shape"] = strings(sides);
    one["role"] = argument.role;
    if (argument.role != "in") {
      dtype = argument.type;
      integers_only = integers_only && argument.type.find('f') == std::string::npos;
    }
    bytes += fmt::format("{}{}*{}", bytes.empty() ? "" : " + ",
                         bytes_of_type(argument.type) * (argument.role == "inout" ? 2 : 1), product(sides));
    arguments.push_back(std::move(one));
  }

  json::object parameters;
  json::object defaults;
  for (const GuessedParameter& parameter : kernel.parameters) {
    const auto value = whole(parameter.fallback);
    const auto values = value ? values_around(*value, parameter.is_switch) : std::nullopt;
    if (!values) {
      out.guesses.push_back(
          fmt::format("the macro {} (line {}) is left alone: {} is no whole number of 0 or more",
                      parameter.name, parameter.line, parameter.fallback));
      continue;
    }
    parameters[parameter.name] = *values;
    defaults[parameter.name] = *value;
    out.guesses.push_back(
        fmt::format("{} may be {}; now {}", parameter.name, print_json_compact(*values), *value));
  }
  if (parameters.empty()) {
    out.guesses.push_back(
        "no parameters: give the source macros with defaults (#ifndef TILE / #define TILE 8 / #endif) "
        "and list their values");
  }

  json::object shape;
  json::object held_out;
  for (const std::string& dimension : dimensions) {
    shape[dimension] = size;
    held_out[dimension] = odd;
  }
  json::object& c = out.json;
  c["name"] = name;
  c["description"] = fmt::format("{} from {}", kernel.entry, source_file);
  c["backend"] = "cpu";
  c["dtype"] = dtype;
  c["source"] = json::object{{"language", kernel.language},
                             {"files", json::array{json::string(source_file)}},
                             {"entry", kernel.entry},
                             {"editable", json::array{json::string(source_file)}}};
  c["flags"] = json::array{"-O2", "-march=native"};
  c["dimensions"] = strings(dimensions);
  c["shapes"] = json::array{std::move(shape)};
  c["held_out_shapes"] = json::array{std::move(held_out)};
  c["arguments"] = std::move(arguments);
  c["reference"] = json::object{{"source", json::object{{"language", kernel.language},
                                                        {"files", json::array{json::string(reference_file)}},
                                                        {"entry", kernel.entry}}}};
  if (integers_only) {
    c["tolerance"] = json::object{{"bit_exact", true}};
  } else {
    c["tolerance"] =
        json::object{{"absolute", dtype == "f64" ? 1e-9 : 1e-3}, {"relative", dtype == "f64" ? 1e-9 : 1e-4}};
  }
  c["parameters"] = std::move(parameters);
  c["constraints"] = json::array{};
  c["baseline"] = json::object{{"config", std::move(defaults)}, {"label", "as it is now"}};
  const std::string flops = "2*" + product(dimensions);
  c["work"] = json::object{{"flops", flops}, {"bytes", bytes}};
  c["clock"] = "warm";
  out.guesses.push_back(fmt::format("sizes {} (and {} held out)", size, odd));
  out.guesses.push_back(
      fmt::format("{} operations and {} bytes a call: the speed of light follows from them", flops, bytes));
  return out;
}

}  // namespace tunesmith::app
