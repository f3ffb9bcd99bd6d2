#include "tune/apply.h"

#include <cctype>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/text.h"
#include "space/value.h"

namespace tunesmith::tune {

namespace {

constexpr const char* k_mark = "Written by Tunesmith";

std::string identifier(std::string_view text, bool upper) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) == 0 ? '_' : static_cast<char>(upper ? std::toupper(byte) : byte);
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out.insert(0, "_");
  return out;
}

/// Text from outside inside a C comment: it must not end the comment or its line.
std::string in_comment(std::string_view text) {
  std::string out = printable(text);
  for (std::size_t at = out.find("*/"); at != std::string::npos; at = out.find("*/"))
    out.replace(at, 2, "* /");
  return out;
}

Result<space::Config> config_of(const Case& c, const Trial& trial) {
  TS_ASSIGN(const Node node,
            Node::parse(print_json_compact(trial.config), fmt::format("trial {}", trial.id)));
  return c.space.from_json(node);
}

std::string provenance(const Case& c, const RunHeader& header, const Trial& trial) {
  std::string out = fmt::format("/* {} {}: case {}, run {}, trial {}.\n", k_mark, in_comment(header.version),
                                in_comment(c.name), in_comment(header.run), trial.id);
  const double speedup = std::exp(-trial.evidence.log_ratio_to_baseline);
  out += fmt::format(" * {:.3f} times as fast as {} on {}{}.\n", speedup, in_comment(c.baseline.label),
                     in_comment(trial.evidence.machine),
                     trial.evidence.confirmed ? ", confirmed in fresh processes" : "");
  out += fmt::format(" * Compiler: {}. Flags: {}. */\n", in_comment(header.toolchain),
                     in_comment(join(c.flags, " ")));
  return out;
}

const char* c_type_of_parameter(const space::Parameter& parameter) {
  bool real = false;
  for (const space::Value& value : parameter.values) {
    if (space::kind_of(value) == space::ValueKind::string) return "const char*";
    real = real || space::kind_of(value) == space::ValueKind::real;
  }
  if (real) return "double";
  return space::kind_of(parameter.values.front()) == space::ValueKind::boolean ? "int" : "long long";
}

std::string c_literal(const space::Value& value) {
  if (space::kind_of(value) != space::ValueKind::string) return space::macro_text(value);
  return json::serialize(json::string(space::value_text(value)));
}

Status write_own(const std::string& path, const std::string& text, std::vector<std::string>& paths) {
  if (exists(path)) {
    const auto before = read_file(path);
    if (!before || (before->find(k_mark) == std::string::npos && *before != text)) {
      return fail(ErrorCode::conflict, "is there already and is not ours",
                  "give another folder, or move the file away", Place{path, 0, 0, {}});
    }
  }
  TS_TRY(write_file_atomic(path, text));
  paths.push_back(path);
  return {};
}

std::string guarded(const std::string& guard, const std::string& body) {
  return fmt::format("#ifndef {0}\n#define {0}\n\n{1}\n#endif /* {0} */\n", guard, body);
}

}  // namespace

Result<std::string> config_header(const Case& c, const RunHeader& header, const Trial& trial) {
  TS_ASSIGN(const space::Config config, config_of(c, trial));
  std::string body;
  const auto& parameters = c.space.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // A -D on the command line still wins, as it did before tuning.
    body += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", parameters[i].name,
                        space::macro_text(c.space.value(config, i)));
  }
  return provenance(c, header, trial) + guarded("TUNESMITH_" + identifier(c.name, true) + "_CONFIG_H", body);
}

json::object config_json(const Case& c, const RunHeader& header, const Trial& trial) {
  return {{"written_by", k_mark},
          {"case", c.name},
          {"config", trial.config},
          {"speedup", std::exp(-trial.evidence.log_ratio_to_baseline)},
          {"baseline", c.baseline.label},
          {"confirmed", trial.evidence.confirmed},
          {"machine", trial.evidence.machine},
          {"compiler", header.toolchain},
          {"run", header.run},
          {"trial", trial.id},
          {"identity", trial.identity}};
}

std::vector<DispatchRow> best_per_shape(const Case& c, const std::vector<Trial>& trials) {
  std::vector<double> incumbent(c.shapes.size(), 0);
  std::vector<double> best(c.shapes.size(), std::numeric_limits<double>::infinity());
  std::vector<const Trial*> winners(c.shapes.size(), nullptr);
  for (const Trial& trial : trials) {
    if (!trial.ended || !trial.decision.valid || trial.evidence.shapes.size() != c.shapes.size()) continue;
    std::vector<double> own(c.shapes.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const TimingEvidence& timing = trial.evidence.shapes[i].timing;
      own[i] = incumbent[i] + timing.log_ratio;
      // What is not surely faster than what stood there is no reason for another branch in the user's code.
      const bool sure = timing.comparison == Comparison::faster && trial.decision.failures.empty();
      if (sure && std::isfinite(own[i]) && own[i] < best[i] && own[i] < 0) {
        best[i] = own[i];
        winners[i] = &trial;
      }
    }
    if (trial.decision.keep) incumbent = own;
  }
  std::vector<DispatchRow> rows;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    if (winners[i] != nullptr) rows.push_back({c.shapes[i], *winners[i]});
  }
  return rows;
}

Result<std::string> dispatch_header(const Case& c, const RunHeader& header,
                                    const std::vector<DispatchRow>& rows) {
  const std::string name = identifier(c.name, false);
  const auto& parameters = c.space.parameters();
  std::string body = fmt::format("struct {}_config {{\n", name);
  for (const space::Parameter& parameter : parameters) {
    // Prefixed, since the parameters' own names are macros wherever the other header is included.
    body += fmt::format("  {} p_{};\n", c_type_of_parameter(parameter), parameter.name);
  }
  body += fmt::format(
      "}};\n\nstruct {0}_row {{\n  long long shape[{1}]; /* {2} */\n  struct {0}_config config;\n}};\n\n",
      name, std::max<std::size_t>(1, c.dimension_names.size()), join(c.dimension_names, ", "));
  body += fmt::format("static const struct {0}_row {0}_table[] = {{\n", name);
  for (const DispatchRow& row : rows) {
    TS_ASSIGN(const space::Config config, config_of(c, row.trial));
    std::vector<std::string> sizes;
    for (const std::int64_t d : row.shape.dimensions) sizes.push_back(std::to_string(d));
    std::vector<std::string> values;
    for (std::size_t i = 0; i < parameters.size(); ++i) values.push_back(c_literal(c.space.value(config, i)));
    body += fmt::format("  {{{{{}}}, {{{}}}}}, /* trial {} */\n", join(sizes, ", "), join(values, ", "),
                        row.trial.id);
  }
  body += "};\n\n";
  std::vector<std::string> arguments;
  for (const std::string& dimension : c.dimension_names)
    arguments.push_back("long long " + identifier(dimension, false));
  std::vector<std::string> equal;
  for (std::size_t i = 0; i < c.dimension_names.size(); ++i) {
    equal.push_back(fmt::format("row->shape[{}] == {}", i, identifier(c.dimension_names[i], false)));
  }
  body += fmt::format(
      "/* The configuration tuned for exactly this shape, or a null pointer: then the caller's default "
      "holds. */\n"
      "static inline const struct {0}_config* {0}_config_for({1}) {{\n"
      "  unsigned long i;\n"
      "  for (i = 0; i < sizeof {0}_table / sizeof {0}_table[0]; ++i) {{\n"
      "    const struct {0}_row* row = &{0}_table[i];\n"
      "    if ({2}) return &row->config;\n  }}\n  return 0;\n}}\n",
      name, join(arguments, ", "), join(equal, " && "));
  return provenance(c, header, rows.front().trial) +
         guarded("TUNESMITH_" + identifier(c.name, true) + "_DISPATCH_H", body);
}

Result<std::vector<std::string>> apply_artefacts(const std::string& folder, const Case& c,
                                                 const RunHeader& header, const Trial& winner,
                                                 const std::vector<DispatchRow>& rows) {
  std::vector<std::string> paths;
  TS_TRY(make_folders(folder));
  const std::string stem = folder + "/" + identifier(c.name, false);
  TS_ASSIGN(const std::string text, config_header(c, header, winner));
  TS_TRY(write_own(stem + "_config.h", text, paths));
  TS_TRY(write_own(stem + "_config.json", print_json(config_json(c, header, winner)), paths));
  if (!winner.diff.empty()) {
    // Text before the first hunk is ignored by patch and git apply.
    TS_TRY(write_own(
        stem + ".patch",
        fmt::format("{}: case {}, run {}, trial {}\n{}", k_mark, c.name, header.run, winner.id, winner.diff),
        paths));
  }
  if (rows.size() > 1) {
    TS_ASSIGN(const std::string table, dispatch_header(c, header, rows));
    TS_TRY(write_own(stem + "_dispatch.h", table, paths));
  }
  return paths;
}

}  // namespace tunesmith::tune
