// Compiles sources into a loadable library, in the sandbox, from argv without a shell.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/defences.h"
#include "bench/glue.h"
#include "case/candidate.h"

namespace tunesmith::bench {

/// One thing to build.
struct BuildJob {
  const SourceSet* source = nullptr;
  std::vector<std::string> flags;  ///< checked by case/flags.h before
  std::vector<std::pair<std::string, std::string>> macros;
  std::map<std::string, std::string> patched;  ///< texts that replace files of the source set
  GlueKind glue = GlueKind::plain;
  bool widen = false;
  /// Compile this text alone instead of glue and sources (the glue of a library that somebody else built).
  std::string text;
  bool trusted = false;  ///< the engineer's own (baseline, reference): symbols are not checked
  std::string identity;  ///< names the library and its log
};

class Builder {
 public:
  /// `folder`: private, must let the sandbox's user pass (0711); `log_folder`: "" keeps no logs.
  Builder(const Case& c, std::string folder, std::string log_folder, const Defences& defences,
          const std::atomic<bool>* stop);
  /// The compiler's version line; part of every identity. Error when there is no compiler.
  [[nodiscard]] Result<std::string> toolchain(const std::string& language);
  [[nodiscard]] Built build(const BuildJob& job);
  /// As build(), `jobs` at a time, results in order.
  [[nodiscard]] std::vector<Built> build_all(const std::vector<BuildJob>& jobs, int parallel);

 private:
  const Case& m_case;
  std::string m_folder;
  std::string m_log_folder;
  Defences m_defences;
  const std::atomic<bool>* m_stop;
};

/// The first error of a compiler log as one line: candidate's own file, line, message.
[[nodiscard]] std::string first_error(std::string_view log, const std::string& build_folder);

}  // namespace tunesmith::bench
