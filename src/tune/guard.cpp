#include "tune/guard.h"

#include <set>

#include "base/file.h"
#include "base/hash.h"

namespace tunesmith::tune {

namespace {

std::string hash_of_file(const std::string& path) {
  const auto bytes = read_file(path);
  return bytes ? sha256_hex(*bytes) : std::string();
}

std::set<std::string> source_files(const Case& c) {
  std::set<std::string> files;
  const auto add = [&](const SourceSet& set) {
    files.insert(set.files.begin(), set.files.end());
    files.insert(set.editable.begin(), set.editable.end());
  };
  add(c.source);
  if (c.reference.source) add(*c.reference.source);
  if (c.baseline.source) add(*c.baseline.source);
  if (c.recording) files.insert(c.recording->files.begin(), c.recording->files.end());
  return files;
}

tl::unexpected<Error> differs(const std::string& what, const std::string& file) {
  return fail(ErrorCode::conflict, fmt::format("the {} is not the one that the run began with", what),
              "put it back and resume, or start a new run", Place{file, 0, 0, {}});
}

}  // namespace

Guard::Guard(const Case& c, const RunHeader& header, const LoopOptions& options)
    : m_case(c), m_header(header), m_options(options) {
  for (const std::string& file : source_files(c)) m_sources[file] = hash_of_file(file);
}

Status Guard::check_handed_in(const judge::Gate& gate, const judge::Objective& objective) const {
  if (m_case.text_sha256 != m_header.case_sha256) return differs("case", m_case.file);
  if (gate.sha256() != m_header.gate_sha256) {
    return differs("gate (tolerance, floors, requirements or rollback policy)",
                   m_options.gate_file.empty() ? m_case.file : m_options.gate_file);
  }
  if (objective.sha256() != m_header.objective_sha256) {
    return differs("objective", m_options.objective_file.empty() ? m_case.file : m_options.objective_file);
  }
  return {};
}

std::optional<std::string> Guard::changed() const {
  if (!m_case.file.empty() && hash_of_file(m_case.file) != m_header.case_sha256) {
    return fmt::format("the case {} changed in mid-run", m_case.file);
  }
  if (!m_options.gate_file.empty()) {
    const auto gate = judge::Gate::of_case(m_case, m_options.gate_file);
    if (!gate || gate->sha256() != m_header.gate_sha256)
      return fmt::format("the gate {} changed in mid-run", m_options.gate_file);
  }
  if (!m_options.objective_file.empty()) {
    const auto objective = judge::Objective::of_case(m_case, m_options.objective_file);
    if (!objective || objective->sha256() != m_header.objective_sha256) {
      return fmt::format("the objective {} changed in mid-run", m_options.objective_file);
    }
  }
  for (const auto& [file, hash] : m_sources) {
    if (hash_of_file(file) != hash) return fmt::format("the source {} changed in mid-run", file);
  }
  return std::nullopt;
}

json::object Guard::sources_to_json() const {
  json::object out;
  for (const auto& [file, hash] : m_sources) out[file] = hash;
  return out;
}

void Guard::expect_sources(const json::object& recorded) {
  for (auto& [file, hash] : m_sources) {
    const json::value* known = recorded.if_contains(file);
    if (known != nullptr && known->is_string()) hash = std::string(known->get_string());
  }
}

}  // namespace tunesmith::tune
