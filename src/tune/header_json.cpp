#include "tune/header_json.h"

namespace tunesmith::tune {

namespace {

/// A seed takes all 64 bits, which a JSON reader may hold as a double: text keeps every digit.
Result<std::uint64_t> seed_from(const Node& node, std::string_view key) {
  TS_ASSIGN(const Node member, node.get(key));
  TS_ASSIGN(const std::string text, member.as_string());
  if (text.empty() || text.size() > 20 || text.find_first_not_of("0123456789") != std::string::npos) {
    return member.error("must be a whole number in quotes");
  }
  return static_cast<std::uint64_t>(std::strtoull(text.c_str(), nullptr, 10));
}

}  // namespace

json::object header_to_json(const RunHeader& h) {
  return {{"run", h.run},
          {"case", h.case_name},
          {"case_file", h.case_file},
          {"case_sha256", h.case_sha256},
          {"gate_sha256", h.gate_sha256},
          {"objective_sha256", h.objective_sha256},
          {"strategy", h.strategy},
          {"seed", std::to_string(h.seed)},
          {"input_seed", std::to_string(h.input_seed)},
          {"evaluations", h.evaluations},
          {"minutes", h.minutes},
          {"batch", h.batch},
          {"toolchain", h.toolchain},
          {"machine", h.machine},
          {"version", h.version},
          {"started_utc", h.started_utc},
          {"extra", h.extra}};
}

Result<RunHeader> header_from_json(const Node& node) {
  RunHeader h;
  TS_ASSIGN(h.run, node.string_or("run", ""));
  TS_ASSIGN(h.case_name, node.string_or("case", ""));
  TS_ASSIGN(h.case_file, node.string_or("case_file", ""));
  TS_ASSIGN(h.case_sha256, node.string_or("case_sha256", ""));
  TS_ASSIGN(h.gate_sha256, node.string_or("gate_sha256", ""));
  TS_ASSIGN(h.objective_sha256, node.string_or("objective_sha256", ""));
  TS_ASSIGN(h.strategy, node.string_or("strategy", ""));
  TS_ASSIGN(h.seed, seed_from(node, "seed"));
  TS_ASSIGN(h.input_seed, seed_from(node, "input_seed"));
  TS_ASSIGN(const std::int64_t evaluations, node.int_or("evaluations", 0));
  h.evaluations = static_cast<std::uint64_t>(evaluations);
  TS_ASSIGN(h.minutes, node.double_or("minutes", 0));
  TS_ASSIGN(const std::int64_t batch, node.int_or("batch", 0));
  h.batch = static_cast<std::uint64_t>(batch);
  TS_ASSIGN(h.toolchain, node.string_or("toolchain", ""));
  TS_ASSIGN(h.machine, node.string_or("machine", ""));
  TS_ASSIGN(h.version, node.string_or("version", ""));
  TS_ASSIGN(h.started_utc, node.string_or("started_utc", ""));
  if (const auto extra = node.find("extra"); extra && extra->is_object())
    h.extra = extra->value().get_object();
  return h;
}

}  // namespace tunesmith::tune
