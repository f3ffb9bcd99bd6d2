// What a run may not lose under its feet: case, gate, objective, rollback policy, kernel sources. Hashes are
// taken at the start and compared before every batch.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "judge/gate.h"
#include "judge/objective.h"
#include "tune/journal.h"
#include "tune/loop.h"

namespace tunesmith::tune {

class Guard {
 public:
  Guard(const Case& c, const RunHeader& header, const LoopOptions& options);

  /// What was handed in against what the journal recorded at the start.
  [[nodiscard]] Status check_handed_in(const judge::Gate& gate, const judge::Objective& objective) const;
  /// The files as they are now; names what differs. Nothing when all is as it was.
  [[nodiscard]] std::optional<std::string> changed() const;

  [[nodiscard]] json::object sources_to_json() const;
  /// Compare with the sources of the run's start instead of this session's.
  void expect_sources(const json::object& recorded);

 private:
  const Case& m_case;
  const RunHeader& m_header;
  const LoopOptions& m_options;
  std::map<std::string, std::string> m_sources;  ///< path -> sha256
};

}  // namespace tunesmith::tune
