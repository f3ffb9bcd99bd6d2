#include <fmt/format.h>

#include "base/text.h"
#include "case/builtin.h"
#include "case/reader.h"

namespace tunesmith::reader {

namespace {

Status check_parameter_name(const Node& node, const std::string& name, const Case& c) {
  if (!is_c_identifier(name)) {
    return node.error(fmt::format("the parameter \"{}\" is no C identifier, and it becomes a macro", name),
                      "use letters, digits and _");
  }
  if (is_c_keyword(name) || name == "real" || name.starts_with("__") || name.starts_with("tunesmith") ||
      name == "main") {
    return node.error(fmt::format("the parameter name {} would change the meaning of the source", name),
                      "choose another name");
  }
  if (name == "out" || name == "result")
    return node.error(fmt::format("the name {} stands for a path in command lines", name),
                      "choose another name");
  if (name == c.source.entry ||
      std::find(c.dimension_names.begin(), c.dimension_names.end(), name) != c.dimension_names.end()) {
    return node.error(
        fmt::format("{} is also the entry or a dimension, and its macro would replace it", name),
        "rename the parameter");
  }
  return {};
}

Result<space::Parameter> read_parameter(const std::string& name, const Node& node) {
  space::Parameter parameter{name, {}};
  TS_ASSIGN(const auto items, node.items());
  if (items.empty())
    return node.error(fmt::format("the parameter {} has no values", name), "list at least one");
  for (const Node& item : items) {
    TS_ASSIGN(space::Value value, space::value_from_json(item));
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && !is_plain_word(*text)) {
      return item.error(fmt::format("the value \"{}\" cannot be a macro", printable(*text)),
                        "use letters, digits and _ . + - only, at most 64 of them");
    }
    const bool finite = !std::holds_alternative<double>(value) || std::isfinite(std::get<double>(value));
    if (!finite) return item.error("must be a finite number");
    for (const space::Value& other : parameter.values) {
      if (space::equal(other, value))
        return item.error(fmt::format("{} is listed twice", space::value_text(value)),
                          "list each value once");
    }
    const auto kind = [](const space::Value& v) {
      const space::ValueKind k = space::kind_of(v);
      return k == space::ValueKind::real ? space::ValueKind::integer : k;
    };
    if (!parameter.values.empty() && kind(parameter.values.front()) != kind(value)) {
      return item.error(fmt::format("mixes {} with {}", space::kind_name(space::kind_of(value)),
                                    space::kind_name(space::kind_of(parameter.values.front()))),
                        "give all values of a parameter one kind");
    }
    parameter.values.push_back(std::move(value));
  }
  return parameter;
}

}  // namespace

Status read_space(const Node& root, Case& c) {
  std::vector<space::Parameter> parameters;
  std::vector<space::Space::Constraint> constraints;
  if (const auto node = root.find("parameters")) {
    TS_ASSIGN(const auto members, node->members());
    for (const auto& [name, values] : members) {
      TS_TRY(check_parameter_name(values, name, c));
      TS_ASSIGN(space::Parameter parameter, read_parameter(name, values));
      parameters.push_back(std::move(parameter));
    }
  }
  if (const auto node = root.find("constraints")) {
    TS_ASSIGN(const auto items, node->items());
    for (const Node& item : items) {
      TS_ASSIGN(std::string text, item.as_string());
      if (trim(text).empty())
        return item.error("must be an expression over the parameters", "for example \"MR * NRV <= 32\"");
      constraints.push_back({std::move(text), item.place()});
    }
  }
  auto space = space::Space::create(std::move(parameters), std::move(constraints));
  if (!space) {
    Error error = std::move(space.error());
    if (error.place.file.empty())
      error.place = root.find("parameters") ? root.find("parameters")->place() : root.place();
    return tl::unexpected<Error>(std::move(error));
  }
  c.space = std::move(*space);
  return {};
}

Status read_reference(const Node& root, const Context& context, Case& c) {
  const auto node = root.find("reference");
  if (!node) {
    // A command that reports its own figures has nothing that could be compared.
    if (c.command && c.command->library.empty()) return {};
    return root.error("the key \"reference\" is missing",
                      "add {\"builtin\": …, \"bind\": {…}} or {\"source\": {…}}");
  }
  TS_TRY(node->only_keys({"builtin", "bind", "source"}));
  const auto builtin = node->find("builtin");
  const auto source = node->find("source");
  if (builtin.has_value() == source.has_value()) return node->error("needs either \"builtin\" or \"source\"");
  if (source) {
    if (const auto bind = node->find("bind"))
      return bind->error("\"bind\" belongs to a built-in reference",
                         "a source takes the arguments in the entry's order; remove it");
    TS_ASSIGN(c.reference.source, read_source(*source, context, SourceUse::library));
    return {};
  }
  std::vector<std::string> names;
  for (const BuiltinInfo& info : builtin_table()) names.emplace_back(info.name);
  TS_ASSIGN(c.reference.builtin, word_of(*builtin, names));
  TS_ASSIGN(const Node bind, node->get("bind"));
  std::vector<std::string> roles;
  for (const BuiltinRole& role : find_builtin(c.reference.builtin)->roles) roles.emplace_back(role.role);
  TS_TRY(bind.only_keys(roles));
  TS_ASSIGN(const auto members, bind.members());
  for (const auto& [role, name] : members) {
    TS_ASSIGN(c.reference.bind[role], name.as_string());
  }
  return check_builtin(c, *node);
}

Status read_baseline(const Node& root, const Context& context, Case& c) {
  TS_ASSIGN(const Node node, root.get("baseline"));
  TS_TRY(node.only_keys({"config", "source", "label"}));
  TS_ASSIGN(c.baseline.label, node.string_or("label", ""));
  if (printable(c.baseline.label) != c.baseline.label || c.baseline.label.find('\n') != std::string::npos) {
    return node.find("label")->error("must be one line of text");
  }
  const auto config = node.find("config");
  const auto source = node.find("source");
  if (config.has_value() == source.has_value()) return node.error("needs either \"config\" or \"source\"");
  if (source) {
    if (c.command) return source->error("a baseline of backend command is a configuration", "use \"config\"");
    c.baseline.kind = Baseline::Kind::source;
    TS_ASSIGN(c.baseline.source, read_source(*source, context, SourceUse::library));
    if (c.baseline.label.empty()) c.baseline.label = c.baseline.source->entry;
    return {};
  }
  if (c.baseline.label.empty()) c.baseline.label = "baseline";
  TS_ASSIGN(c.baseline.config, c.space.from_json(*config));
  if (const auto broken = c.space.broken(*c.baseline.config)) {
    return config->error(
        fmt::format("the baseline {} is not legal: it breaks {}", c.space.text(*c.baseline.config), *broken),
        "change the baseline or the constraint");
  }
  return {};
}

Status read_tolerance(const Node& root, Case& c) {
  const auto node = root.find("tolerance");
  if (!node) return {};
  TS_TRY(node->only_keys({"absolute", "relative", "bit_exact", "baseline_factor"}));
  TS_ASSIGN(c.tolerance.bit_exact, node->bool_or("bit_exact", false));
  const auto read = [&](const char* key, double& into) -> Status {
    const auto found = node->find(key);
    if (!found) return {};
    TS_ASSIGN(into, found->as_double());
    if (!std::isfinite(into) || into < 0)
      return found->error(fmt::format("is {}, and must be finite and at least 0", into));
    return {};
  };
  if (c.tolerance.bit_exact) c.tolerance.absolute = 0;
  TS_TRY(read("absolute", c.tolerance.absolute));
  TS_TRY(read("relative", c.tolerance.relative));
  TS_TRY(read("baseline_factor", c.tolerance.baseline_factor));
  if (c.tolerance.bit_exact && (c.tolerance.absolute != 0 || c.tolerance.relative != 0)) {
    return node->error("bit_exact leaves no room for an absolute or relative tolerance",
                       "remove one of them");
  }
  return {};
}

Status read_limits(const Node& root, Case& c) {
  const auto node = root.find("limits");
  if (!node) return {};
  TS_TRY(node->only_keys({"build_seconds", "call_seconds", "memory_mib", "output_kib", "threads"}));
  const auto seconds = [&](const char* key, double& into) -> Status {
    constexpr double k_day = 86400;  // a longer wait is a mistake of the unit
    const auto found = node->find(key);
    if (!found) return {};
    TS_ASSIGN(into, found->as_double());
    if (!(into > 0) || into > k_day)
      return found->error(fmt::format("is {}, and must be above 0 and at most {} seconds", into, k_day));
    return {};
  };
  const auto whole = [&](const char* key, std::int64_t most, std::int64_t& into) -> Status {
    const auto found = node->find(key);
    if (!found) return {};
    TS_ASSIGN(into, found->as_int());
    if (into < 1 || into > most) return found->error(fmt::format("is {}, and must be 1 to {}", into, most));
    return {};
  };
  TS_TRY(seconds("build_seconds", c.limits.build_seconds));
  TS_TRY(seconds("call_seconds", c.limits.call_seconds));
  std::int64_t mib = static_cast<std::int64_t>(c.limits.memory_bytes >> 20);
  std::int64_t kib = static_cast<std::int64_t>(c.limits.output_bytes >> 10);
  std::int64_t threads = c.limits.threads;
  TS_TRY(whole("memory_mib", std::int64_t{1} << 24, mib));
  TS_TRY(whole("output_kib", std::int64_t{1} << 20, kib));
  TS_TRY(whole("threads", 4096, threads));
  c.limits.memory_bytes = static_cast<std::uint64_t>(mib) << 20;
  c.limits.output_bytes = static_cast<std::uint64_t>(kib) << 10;
  c.limits.threads = static_cast<int>(threads);
  return {};
}

}  // namespace tunesmith::reader
