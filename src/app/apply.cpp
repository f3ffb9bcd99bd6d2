#include "app/apply.h"

#include <fmt/format.h>

#include <cctype>

#include "app/numbers.h"

namespace tunesmith::app {

namespace {

/// "cpu-gemm-skinny" -> "CPU_GEMM_SKINNY"
std::string macro_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out.insert(0, "_");
  return out;
}

/// A parameter's value as its macro: the space knows its kind; the journal keeps plain JSON.
Result<std::string> value_macro(const Case& c, const std::string& name, const json::value& value) {
  const auto index = c.space.parameter_index(name);
  if (!index) {
    return fail(ErrorCode::conflict, fmt::format("the case has no parameter {} any more", name),
                "apply it with the case file as it was when the run began");
  }
  for (const space::Value& known : c.space.parameters()[*index].values) {
    if (space::value_to_json(known) == value) return space::macro_text(known);
  }
  return fail(ErrorCode::conflict, fmt::format("{} may not be {} any more", name, print_json_compact(value)),
              "apply it with the case file as it was when the run began");
}

std::string in_comment(std::string text) {
  for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at))
    text.replace(at, 2, "* ");
  return text;
}

}  // namespace

std::vector<Choice> choose_per_shape(const Case& c, const std::vector<tune::Trial>& trials,
                                     const tune::Trial& winner, double margin) {
  const std::vector<Standing> table = standings(trials);
  const Standing* leader = nullptr;
  for (const Standing& standing : table) {
    if (standing.trial->id == winner.id) leader = &standing;
  }
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    Choice choice{c.shapes[i].name, c.shapes[i].dimensions, &winner, 0};
    if (leader != nullptr && i < leader->log_ratio.size()) {
      choice.log_ratio = leader->log_ratio[i];
      for (const Standing& other : table) {
        if (i >= other.log_ratio.size() || other.trial->diff != winner.diff) continue;
        if (other.log_ratio_high[i] < leader->log_ratio[i] - margin &&
            other.log_ratio[i] < choice.log_ratio) {
          choice.trial = other.trial;
          choice.log_ratio = other.log_ratio[i];
        }
      }
    }
    choices.push_back(choice);
  }
  return choices;
}

Result<std::string> defines_header(const Case& c, const tune::RunHeader& header, const Winner& best,
                                   const std::vector<Choice>& choices) {
  const tune::Trial& winner = *best.trial;
  const std::string guard = "TUNED_" + macro_name(c.name) + "_H";
  std::string out = fmt::format(
      "/* {}: candidate {} of run {}, {} the baseline ({}) on {}.\n"
      "   Include it before the kernel's source, or pass the same values as -D flags. */\n#ifndef "
      "{}\n#define {}\n\n",
      in_comment(c.name), winner.id, in_comment(header.run), times_text(speedup_of(best.log_ratio)),
      in_comment(c.baseline.label), in_comment(header.machine), guard, guard);
  for (const auto& [name, value] : winner.config) {
    TS_ASSIGN(const std::string text, value_macro(c, std::string(name), value));
    out += fmt::format("#define {} {}\n", std::string_view(name), text);
  }
  if (choices.size() > 1) {
    std::string columns;
    for (const std::string& dimension : c.dimension_names)
      columns += (columns.empty() ? "" : ", ") + dimension;
    for (const auto& [name, value] : winner.config) columns += fmt::format(", {}", std::string_view(name));
    out += fmt::format("\n/* Best configuration by shape: X({}). */\n#define {}_DISPATCH(X)", columns,
                       macro_name(c.name));
    for (const Choice& choice : choices) {
      std::string row;
      for (const std::int64_t size : choice.dimensions)
        row += fmt::format("{}{}", row.empty() ? "" : ", ", size);
      for (const auto& [name, value] : choice.trial->config) {
        TS_ASSIGN(const std::string text, value_macro(c, std::string(name), value));
        row += ", " + text;
      }
      out += fmt::format(" \\\n  X({})", row);
    }
    out += "\n";
  }
  return out + "\n#endif\n";
}

json::object dispatch_json(const Case& c, const tune::RunHeader& header, const Winner& best,
                           const std::vector<Choice>& choices) {
  const tune::Trial& winner = *best.trial;
  json::object out;
  out["case"] = c.name;
  out["run"] = header.run;
  out["candidate"] = winner.id;
  out["machine"] = header.machine;
  out["toolchain"] = header.toolchain;
  out["baseline"] = c.baseline.label;
  out["speedup"] = speedup_of(best.log_ratio);
  out["confirmed"] = best.confirmed;
  out["config"] = winner.config;
  out["patched"] = !winner.diff.empty();
  json::array rows;
  for (const Choice& choice : choices) {
    json::object dimensions;
    for (std::size_t i = 0; i < c.dimension_names.size() && i < choice.dimensions.size(); ++i) {
      dimensions[c.dimension_names[i]] = choice.dimensions[i];
    }
    rows.push_back(json::object{{"shape", choice.shape},
                                {"dimensions", std::move(dimensions)},
                                {"candidate", choice.trial->id},
                                {"config", choice.trial->config},
                                {"speedup", speedup_of(choice.log_ratio)}});
  }
  out["shapes"] = std::move(rows);
  return out;
}

}  // namespace tunesmith::app
