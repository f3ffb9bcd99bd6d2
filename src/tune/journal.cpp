#include "tune/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "store/sqlite.h"
#include "tune/header_json.h"
#include "tune/run_lock.h"

namespace tunesmith::tune {

namespace {

/// Raise it with every change of the tables, and add the step that brings an older journal up to it.
constexpr std::int64_t k_schema = 1;

/// The triggers make "append-only" a rule of the file and not of good manners.
constexpr const char* k_tables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE trial(id INTEGER PRIMARY KEY, batch INTEGER NOT NULL, config TEXT NOT NULL, diff TEXT NOT NULL,
  identity TEXT NOT NULL, utc TEXT NOT NULL) STRICT;
CREATE TABLE start(seq INTEGER PRIMARY KEY, trial INTEGER NOT NULL REFERENCES trial(id), utc TEXT NOT NULL,
  boot TEXT NOT NULL, session TEXT NOT NULL, spent REAL NOT NULL) STRICT;
CREATE TABLE finish(trial INTEGER PRIMARY KEY REFERENCES trial(id), utc TEXT NOT NULL, evidence TEXT NOT NULL,
  decision TEXT NOT NULL, spent REAL NOT NULL) STRICT;
CREATE TABLE event(seq INTEGER PRIMARY KEY, utc TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL, spent REAL NOT NULL) STRICT;
)sql";

std::string append_only_triggers() {
  std::string sql;
  for (const char* table : {"meta", "trial", "start", "finish", "event"}) {
    for (const char* deed : {"UPDATE", "DELETE"}) {
      sql += fmt::format(
          "CREATE TRIGGER {0}_no_{1} BEFORE {1} ON {0} BEGIN SELECT RAISE(ABORT, 'the journal is "
          "append-only'); END;\n",
          table, deed);
    }
  }
  return sql;
}

std::string journal_file(const std::string& folder) { return folder + "/journal.sqlite"; }

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id", 1024);
  return text ? std::string(trim(*text)) : std::string("unknown");
}

std::string random_hex(int words) {
  std::string out;
  for (int i = 0; i < words; ++i) out += fmt::format("{:016x}", secret_seed());
  return out;
}

Result<json::object> object_from(const std::string& text, const std::string& file) {
  TS_ASSIGN(json::value value, parse_json(text, file));
  if (!value.is_object())
    return fail(ErrorCode::unreadable, "a row of the journal is no JSON object", "", Place{file, 0, 0, {}});
  return std::move(value.get_object());
}

}  // namespace

struct Journal::Impl {
  std::string folder;
  std::optional<RunLock> lock;
  std::optional<store::Database> database;
  RunHeader header;
  std::string boot = boot_id();
  std::string session = random_hex(1);
  bool writable = false;
  std::vector<Trial> trials;
  std::vector<std::pair<std::string, json::object>> events;
  double spent = 0;

  [[nodiscard]] Status create_tables();
  [[nodiscard]] Status check_schema();
  [[nodiscard]] Status read_header();
  [[nodiscard]] Status read_trials();
  [[nodiscard]] Status read_starts();
  [[nodiscard]] Status read_ends();
  [[nodiscard]] Status read_events();
  [[nodiscard]] Status read_all();
  [[nodiscard]] Status put_meta(const std::string& key, const std::string& value);
  [[nodiscard]] Result<Trial*> trial_at(std::int64_t id);
  [[nodiscard]] Result<Trial*> open_trial(std::int64_t id);
};

Status Journal::Impl::put_meta(const std::string& key, const std::string& value) {
  TS_ASSIGN(auto row, database->prepare("INSERT INTO meta(key, value) VALUES(?, ?)"));
  row.bind(1, std::string_view(key)).bind(2, std::string_view(value));
  return row.run();
}

Status Journal::Impl::create_tables() {
  TS_ASSIGN(auto transaction, store::Transaction::begin(*database));
  TS_TRY(database->execute(k_tables));
  TS_TRY(put_meta("header", print_json_compact(header_to_json(header))));
  TS_TRY(put_meta("seal_key", header.seal_key));
  TS_TRY(database->execute(append_only_triggers()));
  TS_TRY(database->set_schema_version(k_schema));
  return transaction.commit();
}

Status Journal::Impl::check_schema() {
  TS_ASSIGN(const std::int64_t version, database->schema_version());
  if (version == k_schema) return {};
  const Place place{journal_file(folder), 0, 0, {}};
  if (version > k_schema) {
    return fail(ErrorCode::unreadable,
                fmt::format("was written by a newer version of the program (format {}; this one reads {})",
                            version, k_schema),
                "read it with that version; nothing was changed", place);
  }
  TS_ASSIGN(auto count, database->prepare("SELECT count(*) FROM sqlite_master WHERE name = 'trial'"));
  TS_TRY(count.step());
  if (count.integer(0) == 0) {
    return fail(ErrorCode::unreadable, "holds no run: its first process ended before the start was on disk",
                "remove the folder and start a new run", place);
  }
  return fail(ErrorCode::unreadable,
              fmt::format("was written by an older version of the program (format {}; this one reads {})",
                          version, k_schema),
              "read it with that version, or start a new run; nothing was changed", place);
}

Status Journal::Impl::read_header() {
  TS_ASSIGN(auto rows, database->prepare("SELECT key, value FROM meta"));
  bool found = false;
  while (true) {
    TS_ASSIGN(const bool more, rows.step());
    if (!more) break;
    if (rows.text(0) == "seal_key") header.seal_key = rows.text(1);
    if (rows.text(0) != "header") continue;
    TS_ASSIGN(const Node node, Node::parse(rows.text(1), journal_file(folder)));
    std::string key = std::move(header.seal_key);
    TS_ASSIGN(header, header_from_json(node));
    header.seal_key = std::move(key);
    found = true;
  }
  if (!found)
    return fail(ErrorCode::unreadable, "the run's header is missing", "",
                Place{journal_file(folder), 0, 0, {}});
  return {};
}

Status Journal::Impl::read_trials() {
  trials.clear();
  TS_ASSIGN(auto rows, database->prepare("SELECT id, batch, config, diff, identity FROM trial ORDER BY id"));
  while (true) {
    TS_ASSIGN(const bool more, rows.step());
    if (!more) break;
    Trial trial;
    trial.id = rows.integer(0);
    trial.batch = rows.integer(1);
    TS_ASSIGN(trial.config, object_from(rows.text(2), journal_file(folder)));
    trial.diff = rows.text(3);
    trial.identity = rows.text(4);
    if (trial.id != static_cast<std::int64_t>(trials.size()) + 1) {
      return fail(ErrorCode::unreadable, fmt::format("trial {} is missing", trials.size() + 1),
                  "the journal is damaged: restore it from a copy", Place{journal_file(folder), 0, 0, {}});
    }
    trials.push_back(std::move(trial));
  }
  return {};
}

Status Journal::Impl::read_starts() {
  TS_ASSIGN(auto rows, database->prepare("SELECT trial, utc, boot, session, spent FROM start ORDER BY seq"));
  while (true) {
    TS_ASSIGN(const bool more, rows.step());
    if (!more) return {};
    TS_ASSIGN(Trial * found, trial_at(rows.integer(0)));
    Trial& trial = *found;
    if (trial.starts.empty()) trial.started_utc = rows.text(1);
    trial.starts.push_back({rows.text(1), rows.text(2), rows.text(3)});
    spent = std::max(spent, rows.real(4));
  }
}

Status Journal::Impl::read_ends() {
  TS_ASSIGN(auto rows,
            database->prepare("SELECT trial, utc, evidence, decision, spent FROM finish ORDER BY trial"));
  while (true) {
    TS_ASSIGN(const bool more, rows.step());
    if (!more) return {};
    TS_ASSIGN(Trial * found, trial_at(rows.integer(0)));
    Trial& trial = *found;
    trial.ended_utc = rows.text(1);
    TS_ASSIGN(const Node evidence, Node::parse(rows.text(2), journal_file(folder)));
    TS_ASSIGN(trial.evidence, evidence_from_json(evidence));
    TS_ASSIGN(const Node decision, Node::parse(rows.text(3), journal_file(folder)));
    TS_ASSIGN(trial.decision, decision_from_json(decision));
    trial.ended = true;
    spent = std::max(spent, rows.real(4));
  }
}

Status Journal::Impl::read_events() {
  events.clear();
  TS_ASSIGN(auto rows, database->prepare("SELECT kind, detail, spent FROM event ORDER BY seq"));
  while (true) {
    TS_ASSIGN(const bool more, rows.step());
    if (!more) return {};
    TS_ASSIGN(json::object detail, object_from(rows.text(1), journal_file(folder)));
    events.emplace_back(rows.text(0), std::move(detail));
    spent = std::max(spent, rows.real(2));
  }
}

Status Journal::Impl::read_all() {
  // One transaction: a reader beside a writer sees one moment, not four. Deferred, since it never writes.
  TS_TRY(database->execute("BEGIN"));
  Status done = read_trials();
  if (done) done = read_starts();
  if (done) done = read_ends();
  if (done) done = read_events();
  const Status closed = database->execute("COMMIT");
  return done ? closed : done;
}

Result<Trial*> Journal::Impl::trial_at(std::int64_t id) {
  if (id < 1 || id > static_cast<std::int64_t>(trials.size())) {
    return fail(ErrorCode::unreadable, fmt::format("trial {} was never proposed", id),
                "the journal is damaged: restore it from a copy", Place{journal_file(folder), 0, 0, {}});
  }
  return &trials[static_cast<std::size_t>(id - 1)];
}

Result<Trial*> Journal::Impl::open_trial(std::int64_t id) {
  TS_ASSIGN(Trial * trial, trial_at(id));
  if (trial->ended) return fail(ErrorCode::internal, fmt::format("trial {} has ended already", id));
  return trial;
}

Journal::Journal(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::create(const std::string& run_folder, const RunHeader& header) {
  auto impl = std::make_unique<Impl>();
  impl->folder = run_folder;
  impl->writable = true;
  impl->header = header;
  if (impl->header.run.empty()) impl->header.run = base_name(run_folder);
  if (impl->header.seal_key.empty()) impl->header.seal_key = random_hex(4);
  if (impl->header.started_utc.empty()) impl->header.started_utc = utc_now();
  TS_TRY(make_folders(run_folder, 0700));
  TS_ASSIGN(auto lock, RunLock::take(run_folder));
  impl->lock.emplace(std::move(lock));
  const std::string file = journal_file(run_folder);
  const Place place{file, 0, 0, {}};
  // SQLite would make it readable for everyone; it gives its side files the mode of this one.
  const UniqueFd fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd)
    return fail(ErrorCode::io, fmt::format("cannot create the journal: {}", errno_text(errno)), "", place);
  TS_ASSIGN(auto database, store::Database::open(file, store::OpenMode::create, store::Durability::full));
  impl->database.emplace(std::move(database));
  TS_ASSIGN(auto tables, impl->database->prepare("SELECT count(*) FROM sqlite_master"));
  TS_TRY(tables.step());
  if (tables.integer(0) != 0) {
    return fail(ErrorCode::conflict, "the folder holds a run already",
                "resume it, or give the new run another folder", place);
  }
  tables.reset();
  TS_TRY(impl->create_tables());
  TS_TRY(make_folders(run_folder + "/logs", 0700));
  return Journal(std::move(impl));
}

Result<Journal> Journal::resume(const std::string& run_folder) {
  auto impl = std::make_unique<Impl>();
  impl->folder = run_folder;
  impl->writable = true;
  const std::string file = journal_file(run_folder);
  if (!exists(file)) {
    return fail(ErrorCode::unreadable, "there is no journal here", "check the run's name; `runs` lists them",
                Place{run_folder, 0, 0, {}});
  }
  TS_ASSIGN(auto lock, RunLock::take(run_folder));
  impl->lock.emplace(std::move(lock));
  TS_ASSIGN(auto database, store::Database::open(file, store::OpenMode::existing, store::Durability::full));
  impl->database.emplace(std::move(database));
  TS_TRY(impl->check_schema());
  TS_TRY(impl->read_header());
  TS_TRY(impl->read_all());
  return Journal(std::move(impl));
}

Result<Journal> Journal::read_only(const std::string& run_folder) {
  auto impl = std::make_unique<Impl>();
  impl->folder = run_folder;
  const std::string file = journal_file(run_folder);
  if (!exists(file)) {
    return fail(ErrorCode::unreadable, "there is no journal here", "check the run's name; `runs` lists them",
                Place{run_folder, 0, 0, {}});
  }
  TS_ASSIGN(auto database, store::Database::open(file, store::OpenMode::read_only));
  impl->database.emplace(std::move(database));
  TS_TRY(impl->check_schema());
  TS_TRY(impl->read_header());
  TS_TRY(impl->read_all());
  return Journal(std::move(impl));
}

const RunHeader& Journal::header() const { return m_impl->header; }
const std::string& Journal::folder() const { return m_impl->folder; }
double Journal::spent_seconds() const { return m_impl->spent; }
const std::string& Journal::boot() const { return m_impl->boot; }
const std::string& Journal::session() const { return m_impl->session; }
void Journal::set_boot(std::string boot) { m_impl->boot = std::move(boot); }

std::vector<Trial> Journal::trials() const {
  // The writer's copy is what it has committed. A reader looks again, and keeps its last whole view when the
  // file cannot be read at this moment.
  if (!m_impl->writable) {
    auto before = m_impl->trials;
    if (!m_impl->read_all()) m_impl->trials = std::move(before);
  }
  return m_impl->trials;
}

std::vector<std::pair<std::string, json::object>> Journal::events() const {
  if (!m_impl->writable) {
    auto before = m_impl->events;
    if (!m_impl->read_events()) m_impl->events = std::move(before);
  }
  return m_impl->events;
}

Result<std::int64_t> Journal::propose(std::int64_t batch, const json::object& config, const std::string& diff,
                                      const std::string& identity) {
  const std::int64_t id = static_cast<std::int64_t>(m_impl->trials.size()) + 1;
  TS_ASSIGN(auto row,
            m_impl->database->prepare(
                "INSERT INTO trial(id, batch, config, diff, identity, utc) VALUES(?, ?, ?, ?, ?, ?)"));
  const std::string text = print_json_compact(config);
  const std::string utc = utc_now();
  row.bind(1, id).bind(2, batch).bind(3, std::string_view(text)).bind(4, std::string_view(diff));
  row.bind(5, std::string_view(identity)).bind(6, std::string_view(utc));
  TS_TRY(row.run());
  Trial trial;
  trial.id = id;
  trial.batch = batch;
  trial.config = config;
  trial.diff = diff;
  trial.identity = identity;
  m_impl->trials.push_back(std::move(trial));
  return id;
}

Status Journal::start(std::int64_t id, double spent_seconds) {
  TS_ASSIGN(Trial * trial, m_impl->open_trial(id));
  const Start start{utc_now(), m_impl->boot, m_impl->session};
  TS_ASSIGN(auto row, m_impl->database->prepare(
                          "INSERT INTO start(trial, utc, boot, session, spent) VALUES(?, ?, ?, ?, ?)"));
  row.bind(1, id).bind(2, std::string_view(start.utc)).bind(3, std::string_view(start.boot));
  row.bind(4, std::string_view(start.session)).bind(5, spent_seconds);
  TS_TRY(row.run());
  if (trial->starts.empty()) trial->started_utc = start.utc;
  trial->starts.push_back(start);
  m_impl->spent = std::max(m_impl->spent, spent_seconds);
  return {};
}

Status Journal::end(std::int64_t id, const Evidence& evidence, const judge::Decision& decision,
                    double spent_seconds) {
  TS_ASSIGN(Trial * trial, m_impl->open_trial(id));
  const std::string evidence_text = print_json_compact(evidence_to_json(evidence));
  const std::string decision_text = print_json_compact(decision_to_json(decision));
  const std::string utc = utc_now();
  TS_ASSIGN(auto row, m_impl->database->prepare(
                          "INSERT INTO finish(trial, utc, evidence, decision, spent) VALUES(?, ?, ?, ?, ?)"));
  row.bind(1, id).bind(2, std::string_view(utc)).bind(3, std::string_view(evidence_text));
  row.bind(4, std::string_view(decision_text)).bind(5, spent_seconds);
  TS_TRY(row.run());
  trial->ended = true;
  trial->ended_utc = utc;
  trial->evidence = evidence;
  trial->decision = decision;
  m_impl->spent = std::max(m_impl->spent, spent_seconds);
  return {};
}

Status Journal::event(const std::string& kind, const json::object& detail, double spent_seconds) {
  const std::string text = print_json_compact(detail);
  const std::string utc = utc_now();
  TS_ASSIGN(auto row,
            m_impl->database->prepare("INSERT INTO event(utc, kind, detail, spent) VALUES(?, ?, ?, ?)"));
  row.bind(1, std::string_view(utc))
      .bind(2, std::string_view(kind))
      .bind(3, std::string_view(text))
      .bind(4, spent_seconds);
  TS_TRY(row.run());
  m_impl->events.emplace_back(kind, detail);
  m_impl->spent = std::max(m_impl->spent, spent_seconds);
  return {};
}

bool run_in_use(const std::string& run_folder) { return RunLock::held(run_folder); }

}  // namespace tunesmith::tune
