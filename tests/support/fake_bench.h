// A bench that measures nothing: times, failures and twins follow from a hash of the configuration, so that
// two runs over one space see the same world. Each measurement is appended to a side file before it returns.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "bench/bench.h"
#include "support/judge_samples.h"

namespace tunesmith::test {

class FakeBench : public bench::Bench {
 public:
  explicit FakeBench(const Case& c, std::string side_file = {})
      : m_case(c), m_side_file(std::move(side_file)) {}

  // Knobs of single tests.
  bool fail_everything = false;  ///< every build fails
  int infra_failures = 0;        ///< so many measurements fail by our own fault first
  std::string toolchain = "fake 1.0";
  std::string machine = "Example CPU 9000";
  std::function<void(const Candidate&)> on_measure;  ///< called before each measurement
  std::function<bool(const Candidate&)> confirmation_fails;
  double floor_ms = 0;  ///< speed of light of every shape; 0 = unknown
  int opened = 0, measured = 0, built_count = 0;

  Result<bench::Opening> open() override {
    ++opened;
    m_incumbent = 0;
    bench::Opening opening;
    opening.baseline = good_evidence(m_case, 1.0, Comparison::same);
    opening.baseline.machine = machine;
    opening.toolchain = toolchain;
    opening.isolation = "none";
    return opening;
  }

  Result<std::string> identity(const Candidate& candidate) override {
    // B's values 2i and 2i+1 give the same program: twins.
    space::Config folded = candidate.config;
    if (folded.at.size() > 1) folded.at[1] /= 2;
    return "id-" + sha256_hex(m_case.space.text(folded)).substr(0, 16);
  }

  std::vector<bench::Built> build(std::span<const Candidate> candidates) override {
    std::vector<bench::Built> built;
    for (const Candidate& candidate : candidates) {
      ++built_count;
      bench::Built one;
      one.evidence.identity = *identity(candidate);
      one.evidence.compiler = toolchain;
      const bool fails = fail_everything || hash(candidate) % 7 == 3;
      one.evidence.outcome = fails ? BuildEvidence::Outcome::failed : BuildEvidence::Outcome::ok;
      if (fails) one.evidence.detail = "kernel.cpp:1: error: fake";
      if (!fails) one.library = "/nonexistent.so";
      built.push_back(std::move(one));
    }
    return built;
  }

  Evidence measure(const Candidate& candidate, const bench::Built& built) override {
    ++measured;
    if (on_measure) on_measure(candidate);
    note(built.evidence.identity);
    Evidence e = compare(candidate, log_time(candidate) - m_incumbent);
    e.log_ratio_to_baseline = e.log_ratio + m_incumbent;
    e.build = built.evidence;
    for (ShapeEvidence& shape : e.shapes) shape.timing.floor_ms = floor_ms;
    if (infra_failures > 0) {
      --infra_failures;
      e.infra = true;
      e.rejection = Reason::infra;
      e.rejection_detail = "the lock was lost";
    }
    if (hash(candidate) % 11 == 5) {
      e.rejection = Reason::wrong_result;
      e.rejection_detail = "c[0] is 1, not 2";
    }
    return e;
  }

  Status set_incumbent(const Candidate* candidate, const bench::Built*,
                       double log_ratio_to_baseline) override {
    m_incumbent = candidate == nullptr ? 0 : log_ratio_to_baseline;
    return {};
  }

  Evidence confirm(const Candidate& candidate) override {
    note("confirm-" + *identity(candidate));
    const bool fails = confirmation_fails && confirmation_fails(candidate);
    Evidence e = compare(candidate, fails ? 0.0 : log_time(candidate));
    e.confirmed = true;
    return e;
  }

  /// log(time / baseline's time), a multiple of 2^-10 so that sums are exact.
  [[nodiscard]] double log_time(const Candidate& candidate) const {
    return (static_cast<double>(hash(candidate) / 100 % 1000) - 400) / 1024;
  }

 private:
  [[nodiscard]] std::uint64_t hash(const Candidate& candidate) const {
    space::Config folded = candidate.config;
    if (folded.at.size() > 1) folded.at[1] /= 2;
    return std::stoull(sha256_hex(m_case.space.text(folded)).substr(0, 12), nullptr, 16);
  }

  Evidence compare(const Candidate&, double log_ratio) const {
    const Comparison comparison = log_ratio < -0.01  ? Comparison::faster
                                  : log_ratio > 0.01 ? Comparison::slower
                                                     : Comparison::same;
    Evidence e = good_evidence(m_case, std::exp(log_ratio), comparison);
    e.log_ratio = e.log_ratio_to_baseline = log_ratio;
    e.machine = machine;
    return e;
  }

  void note(const std::string& line) const {
    if (m_side_file.empty()) return;
    const int fd = ::open(m_side_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string text = line + "\n";
    if (fd >= 0) {
      (void)!::write(fd, text.data(), text.size());
      ::close(fd);
    }
  }

  const Case& m_case;
  std::string m_side_file;
  double m_incumbent = 0;
};

}  // namespace tunesmith::test
