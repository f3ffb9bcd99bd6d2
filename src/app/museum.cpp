#include "app/museum.h"

#include <fmt/format.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "bench/defences.h"

namespace tunesmith::app {

namespace {

constexpr int k_shared_key =
    0x7455A;  // of the cheat that keeps its answers in shared memory (museum/kernels/memory.h)
constexpr int k_infra_tries = 3;

Result<Control> control_of(const Node& node) {
  TS_ASSIGN(const std::string word, node.as_string());
  if (word == "defence") return Control::defence;
  if (word == "candidate") return Control::candidate;
  if (word == "harness") return Control::harness;
  return node.error(fmt::format("unknown control \"{}\"", word), "it is defence, candidate or harness");
}

Result<std::vector<std::string>> words(const Node& node, std::string_view key) {
  const auto found = node.find(key);
  if (!found) return std::vector<std::string>();
  return found->as_strings();
}

Status check_codes(const Node& node, const std::vector<std::string>& codes) {
  for (const std::string& code : codes) {
    if (!reason_from_code(code)) return node.error(fmt::format("there is no reason code {}", code));
  }
  return {};
}

Result<MuseumEntry> read_entry(const Node& node) {
  TS_TRY(
      node.only_keys({"id", "name", "does", "case", "cheat", "twin", "cheat_insert", "twin_insert", "reasons",
                      "layers", "alone", "defence", "control", "control_says", "sibling", "wins", "primes"}));
  MuseumEntry entry;
  TS_ASSIGN(const Node id, node.get("id"));
  TS_ASSIGN(entry.id, id.as_string());
  TS_ASSIGN(const Node name, node.get("name"));
  TS_ASSIGN(entry.name, name.as_string());
  TS_ASSIGN(const Node does, node.get("does"));
  TS_ASSIGN(entry.does, does.as_string());
  TS_ASSIGN(entry.case_name, node.string_or("case", "product"));
  TS_ASSIGN(entry.cheat, node.string_or("cheat", "fast"));
  TS_ASSIGN(entry.twin, node.string_or("twin", "fast"));
  TS_ASSIGN(entry.cheat_insert, node.string_or("cheat_insert", ""));
  TS_ASSIGN(entry.twin_insert, node.string_or("twin_insert", ""));
  TS_ASSIGN(entry.reasons, words(node, "reasons"));
  TS_ASSIGN(entry.alone, words(node, "alone"));
  TS_TRY(check_codes(node, entry.reasons));
  TS_TRY(check_codes(node, entry.alone));
  TS_ASSIGN(entry.layers, words(node, "layers"));
  TS_ASSIGN(entry.defence, node.string_or("defence", ""));
  std::vector<std::string> all = entry.layers;
  if (!entry.defence.empty()) all.push_back(entry.defence);
  if (auto known = bench::Defences::without(all); !known)
    return node.error(known.error().message, known.error().mend);
  if (const auto control = node.find("control")) {
    TS_ASSIGN(entry.control, control_of(*control));
  }
  if (entry.control == Control::defence && entry.defence.empty())
    return node.error("names no defence", "name one, or another control");
  TS_ASSIGN(entry.control_says, node.string_or("control_says", ""));
  TS_ASSIGN(entry.sibling, node.string_or("sibling", ""));
  TS_ASSIGN(entry.wins, node.bool_or("wins", false));
  TS_ASSIGN(entry.primes, node.bool_or("primes", false));
  return entry;
}

bool among(const std::vector<std::string>& codes, Reason reason) {
  return std::find(codes.begin(), codes.end(), code_of(reason)) != codes.end();
}

void forget_shared_memory() {
  if (const int id = shmget(k_shared_key, 0, 0); id >= 0) shmctl(id, IPC_RMID, nullptr);
}

}  // namespace

bool MuseumResult::ok() const {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const MuseumRun& run) { return run.ok; });
}

std::string MuseumResult::text() const {
  std::vector<std::string> wrong;
  for (const MuseumRun& run : runs) {
    if (!run.ok) wrong.push_back(run.what + ": " + run.found);
  }
  if (!wrong.empty()) return join(wrong, "; ");
  return runs.empty() ? "no run was made" : runs.front().found;
}

Result<Museum> Museum::load(const std::string& folder) {
  Museum museum;
  museum.m_folder = absolute_path(folder);
  TS_ASSIGN(const Node root, Node::read(museum.m_folder + "/museum.json"));
  TS_TRY(root.only_keys({"description", "entries"}));
  TS_ASSIGN(const Node list, root.get("entries"));
  TS_ASSIGN(const auto items, list.items());
  for (const Node& item : items) {
    TS_ASSIGN(MuseumEntry entry, read_entry(item));
    museum.m_entries.push_back(std::move(entry));
  }
  TS_ASSIGN(TempDir logs, TempDir::make("tunesmith-museum-"));
  museum.m_logs = std::make_unique<TempDir>(std::move(logs));
  return museum;
}

Result<std::string> Museum::find() {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const std::string beside = parent_folder(program);
  for (const std::string& folder :
       {beside + "/../share/tunesmith/museum", beside + "/../museum", absolute_path("museum")}) {
    if (exists(folder + "/museum.json")) return absolute_path(folder);
  }
  return fail(ErrorCode::unavailable, "the museum of cheats is not installed beside this program",
              "install Tunesmith whole");
}

Result<Case> Museum::read_case(const std::string& case_name) const {
  return load_case(fmt::format("{}/cases/{}.json", m_folder, case_name));
}

Result<Museum::Hall*> Museum::hall(const std::string& case_name, std::uint64_t seed,
                                   const std::vector<std::string>& off) {
  std::vector<std::string> sorted = off;
  std::sort(sorted.begin(), sorted.end());
  const std::string key = fmt::format("{}/{}/{}", case_name, seed, join(sorted, ","));
  if (const auto found = m_halls.find(key); found != m_halls.end()) return found->second.get();
  auto made = std::make_unique<Hall>();
  TS_ASSIGN(made->c, read_case(case_name));
  bench::BenchOptions options;
  options.run_folder = m_logs->path();
  options.input_seed = seed;
  options.maximum_pairs = 40;
  options.confirm_pairs = 32;
  options.defences_off = sorted;
  options.stop = m_stop;
  TS_ASSIGN(made->bench, bench::make_bench(made->c, options));
  for (int attempt = 1;; ++attempt) {
    auto opening = made->bench->open();
    if (opening) break;
    // The canaries of a disturbed machine: once more.
    if (opening.error().code != ErrorCode::infra || attempt == k_infra_tries)
      return tl::unexpected<Error>(opening.error());
    TS_ASSIGN(made->bench, bench::make_bench(made->c, options));
  }
  return (m_halls[key] = std::move(made)).get();
}

Result<Candidate> Museum::candidate(const Case& c, const std::string& variant,
                                    const std::string& insert) const {
  Candidate candidate;
  json::object config;
  for (const space::Parameter& parameter : c.space.parameters()) {
    config[parameter.name] = parameter.name == "VARIANT" ? json::value(variant) : json::value(false);
  }
  TS_ASSIGN(const Node node, Node::parse(print_json_compact(config), "the museum's configuration"));
  TS_ASSIGN(candidate.config, c.space.from_json(node));
  if (insert.empty()) return candidate;
  TS_ASSIGN(const std::string text, read_file(c.source.files.front()));
  std::string line = insert;
  if (const std::size_t at = line.find("{museum}"); at != std::string::npos) line.replace(at, 8, m_folder);
  candidate.diff = fmt::format("--- a/{0}\n+++ b/{0}\n@@ -1 +1,2 @@\n {1}\n+{2}\n",
                               base_name(c.source.files.front()), text.substr(0, text.find('\n')), line);
  return candidate;
}

Result<Museum::Outcome> Museum::measure(Hall& hall, const Candidate& candidate) const {
  Evidence evidence;
  for (int attempt = 0; attempt < k_infra_tries; ++attempt) {
    const bench::Built built = hall.bench->build(std::span(&candidate, 1)).front();
    evidence = hall.bench->measure(candidate, built);
    if (m_stop != nullptr && *m_stop) return fail(ErrorCode::interrupted, "stopped", "run it again");
    if (!evidence.infra) break;
  }
  Outcome outcome;
  outcome.accepted =
      evidence.rejection == Reason::none && evidence.build.outcome == BuildEvidence::Outcome::ok;
  outcome.comparison = evidence.comparison;
  outcome.reason = evidence.rejection;
  outcome.text = outcome.accepted
                     ? fmt::format("{} ({:.3g} times the baseline's time)", name_of(evidence.comparison),
                                   std::exp(evidence.log_ratio))
                     : fmt::format("{}: {}", code_of(evidence.rejection), evidence.rejection_detail);
  // Accepted is not kept: a cheat that gains nothing is as harmless as one that is caught.
  if (outcome.accepted && evidence.comparison == Comparison::slower) outcome.reason = Reason::not_faster;
  if (outcome.accepted && evidence.comparison == Comparison::same) outcome.reason = Reason::no_effect;
  if (outcome.accepted && evidence.comparison == Comparison::ambiguous) outcome.reason = Reason::ambiguous;
  return outcome;
}

Result<MuseumResult> Museum::run(const MuseumEntry& entry, std::uint64_t seed) {
  if (entry.control == Control::harness) return run_harness(*this, entry, seed);
  MuseumResult result;
  if (entry.primes) forget_shared_memory();
  TS_ASSIGN(Hall* const whole, hall(entry.case_name, seed, {}));
  TS_ASSIGN(const Candidate cheat, candidate(whole->c, entry.cheat, entry.cheat_insert));
  TS_ASSIGN(const Candidate twin, candidate(whole->c, entry.twin, entry.twin_insert));

  TS_ASSIGN(const Outcome caught, measure(*whole, cheat));
  result.runs.push_back({"cheat", among(entry.reasons, caught.reason), caught.text});
  if (!entry.layers.empty()) {
    TS_ASSIGN(Hall* const peeled, hall(entry.case_name, seed, entry.layers));
    TS_ASSIGN(const Outcome alone, measure(*peeled, cheat));
    result.runs.push_back(
        {"alone", among(entry.alone.empty() ? entry.reasons : entry.alone, alone.reason), alone.text});
  }
  TS_ASSIGN(const Outcome honest, measure(*whole, twin));
  result.runs.push_back({"twin", honest.accepted, honest.text});

  if (entry.control == Control::candidate) {
    TS_ASSIGN(const Candidate sibling, candidate(whole->c, entry.sibling, ""));
    TS_ASSIGN(const Outcome passed, measure(*whole, sibling));
    result.runs.push_back({"control", passed.accepted, passed.text});
  } else {
    std::vector<std::string> off = entry.layers;
    off.push_back(entry.defence);
    TS_ASSIGN(Hall* const open, hall(entry.case_name, seed, off));
    if (entry.primes) TS_TRY(measure(*open, cheat));
    TS_ASSIGN(const Outcome passed, measure(*open, cheat));
    const bool won = !entry.wins || passed.comparison == Comparison::faster;
    result.runs.push_back({"control", passed.accepted && won, passed.text});
  }
  TS_ASSIGN(const Outcome again, measure(*whole, cheat));
  result.runs.push_back({"again", among(entry.reasons, again.reason), again.text});
  if (entry.primes) forget_shared_memory();
  return result;
}

}  // namespace tunesmith::app
