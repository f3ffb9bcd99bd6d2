#include "bench/builder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "bench/symbols.h"
#include "os/process.h"

namespace tunesmith::bench {

namespace {

constexpr uid_t k_sandbox_uid = 65534;  // the launcher drops root to this user
constexpr std::size_t k_library_limit_bytes = 64U << 20;
constexpr std::size_t k_excerpt_bytes = 4096;

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

std::string compiler_of(const std::string& language) {
  return language == "c" ? "/usr/bin/gcc" : "/usr/bin/g++";
}

bool fast_math(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag == "-ffast-math" || flag == "-Ofast" || flag == "-funsafe-math-optimizations";
  });
}

/// A folder that the sandboxed compiler can write.
Status make_work_folder(const std::string& path) {
  TS_TRY(make_folders(path, 0700));
  if (geteuid() == 0 && chown(path.c_str(), k_sandbox_uid, k_sandbox_uid) != 0) {
    return fail(ErrorCode::infra,
                fmt::format("cannot give the build folder to the sandbox's user: {}", errno_text(errno)));
  }
  return {};
}

/// Copies what the compiler wrote, whatever it is by now, without following links.
Result<std::string> take_library(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid, "the compiler left no regular file behind");
  }
  return read_file(fmt::format("/proc/self/fd/{}", fd.get()), k_library_limit_bytes);
}

}  // namespace

std::string first_error(std::string_view log, const std::string& build_folder) {
  std::string fallback;
  for (const std::string_view raw : split_lines(log)) {
    std::string line = printable(trim(raw));
    if (const std::size_t at = line.find(build_folder + "/");
        at != std::string::npos && !build_folder.empty()) {
      line.erase(at, build_folder.size() + 1);
    }
    if (line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos)
      return cut(line, 300);
    if (fallback.empty() && !line.empty()) fallback = cut(line, 300);
  }
  return fallback.empty() ? "the compiler said nothing" : fallback;
}

Builder::Builder(const Case& c, std::string folder, std::string log_folder, const Defences& defences,
                 const std::atomic<bool>* stop)
    : m_case(c),
      m_folder(std::move(folder)),
      m_log_folder(std::move(log_folder)),
      m_defences(defences),
      m_stop(stop) {}

Result<std::string> Builder::toolchain(const std::string& language) {
  os::Command command;
  command.argv = {compiler_of(language), "--version"};
  command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  const os::Finished finished = os::run(command);
  if (!finished.ok()) {
    return fail(ErrorCode::unavailable,
                fmt::format("no usable compiler at {}: {}", command.argv[0], finished.text()),
                "install it: apt-get install g++");
  }
  const auto lines = split_lines(finished.output);
  return lines.empty() ? std::string("unknown compiler") : std::string(lines.front());
}

Built Builder::build(const BuildJob& job) {
  Built built;
  BuildEvidence& evidence = built.evidence;
  evidence.identity = job.identity;
  evidence.flags = job.flags;
  const std::int64_t started_ns = monotonic_ns();
  const auto infra = [&](const Error& error) {
    evidence.outcome = BuildEvidence::Outcome::infra;
    evidence.reason = Reason::infra;
    evidence.detail = error.line();
    return built;
  };

  const std::string work =
      fmt::format("{}/build-{}-{}", m_folder, job.identity.substr(0, 16), static_cast<int>(job.glue));
  if (auto made = make_work_folder(work); !made) return infra(made.error());
  std::vector<std::string> units;
  for (std::size_t i = 0; job.text.empty() && i < job.source->files.size(); ++i) {
    const std::string& path = job.source->files[i];
    std::string text;
    if (const auto patched = job.patched.find(path); patched != job.patched.end()) {
      text = patched->second;
    } else {
      auto read = read_file(path);
      if (!read) return infra(read.error());
      text = std::move(*read);
    }
    const std::string copy = work + "/" + base_name(path);
    if (auto wrote = write_scratch(copy, text); !wrote) return infra(wrote.error());
    const bool unit =
        path.ends_with(".c") || path.ends_with(".cpp") || path.ends_with(".cc") || path.ends_with(".cxx");
    if (i > 0 && unit) units.push_back(copy);
  }
  const std::string glue = work + (job.source->language == "c" ? "/tunesmith_glue.c" : "/tunesmith_glue.cpp");
  if (auto wrote = write_scratch(
          glue, job.text.empty() ? glue_source(m_case, *job.source, job.glue, job.widen) : job.text);
      !wrote)
    return infra(wrote.error());
  units.insert(units.begin(), glue);

  os::Command command;
  command.argv = {compiler_of(job.source->language), "-shared", "-fPIC", "-fdiagnostics-color=never"};
  std::vector<std::string> libraries;
  for (const std::string& flag : job.flags)
    (flag.starts_with("-l") ? libraries : command.argv).push_back(flag);
  for (const std::string& flag : job.source->flags)
    (flag.starts_with("-l") ? libraries : command.argv).push_back(flag);
  for (const auto& [name, value] : job.macros) command.argv.push_back(fmt::format("-D{}={}", name, value));
  // Without the compiler's start-up files a library has no constructor but the candidate's own, and
  // -ffast-math does not bring one that switches denormals off for the whole process.
  if (!job.trusted || fast_math(job.flags)) command.argv.emplace_back("-nostartfiles");
  command.argv.insert(command.argv.end(), units.begin(), units.end());
  command.argv.insert(command.argv.end(), {"-Wl,-z,relro,-z,now,--build-id=sha1", "-o", work + "/out.so"});
  command.argv.insert(command.argv.end(), libraries.begin(), libraries.end());
  command.argv.emplace_back("-lm");
  command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent", "TMPDIR=" + work};
  command.working_folder = work;
  command.wall_seconds = m_case.limits.build_seconds;
  command.output_bytes = m_case.limits.output_bytes;
  command.stop = m_stop;
  if (m_defences.sandbox) {
    box::Policy policy;
    policy.read_only = {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives"};
    for (const std::string& flag : job.flags) {
      if (flag.starts_with("-I")) policy.read_only.push_back(flag.substr(2));
    }
    policy.read_write = {work};
    policy.cpu_seconds = static_cast<std::uint64_t>(2 * m_case.limits.build_seconds) + 1;
    policy.file_size_bytes = 256ULL << 20;
    policy.address_space_bytes = m_case.limits.memory_bytes;
    policy.processes = 256;
    policy.open_files = 256;
    command.policy = policy;
  }
  const double own_before_ms = thread_cpu_ms();
  const os::Finished finished = os::run(command);
  evidence.wall_ms = static_cast<double>(monotonic_ns() - started_ns) * 1e-6;
  evidence.cpu_ms = finished.cpu_ms;
  evidence.overhead_cpu_ms = thread_cpu_ms() - own_before_ms;

  if (!finished.output.empty()) {
    evidence.log_excerpt = cut(printable(finished.output), k_excerpt_bytes);
    if (!m_log_folder.empty()) {
      evidence.log_path = fmt::format("{}/{}.build.log", m_log_folder, job.identity.substr(0, 16));
      if (auto wrote = write_scratch(evidence.log_path, finished.output, 0600); !wrote)
        return infra(wrote.error());
    }
  }
  switch (finished.outcome) {
    case os::Finished::Outcome::timed_out:
      evidence.outcome = BuildEvidence::Outcome::timed_out;
      evidence.reason = Reason::build_timeout;
      evidence.detail = fmt::format("the compiler was stopped after {} s", m_case.limits.build_seconds);
      break;
    case os::Finished::Outcome::not_started:
    case os::Finished::Outcome::interrupted:
      evidence.outcome = BuildEvidence::Outcome::infra;
      evidence.reason = Reason::infra;
      evidence.detail = finished.text() + ": " + cut(finished.output, 200);
      break;
    default:
      if (!finished.ok()) {
        evidence.outcome = BuildEvidence::Outcome::failed;
        evidence.reason = Reason::build_failed;
        evidence.detail = finished.outcome == os::Finished::Outcome::exited
                              ? first_error(finished.output, work)
                              : finished.text() + ": " + first_error(finished.output, work);
      }
  }
  if (!finished.ok()) {
    (void)remove_tree(work);
    return built;
  }

  auto bytes = take_library(work + "/out.so");
  (void)remove_tree(work);
  if (!bytes) {
    evidence.outcome = BuildEvidence::Outcome::failed;
    evidence.reason = Reason::build_failed;
    evidence.detail = bytes.error().line();
    return built;
  }
  evidence.library_sha256 = sha256_hex(*bytes);
  if (!job.trusted && m_defences.symbols) {
    const auto facts = read_library(*bytes);
    const std::string forbidden =
        facts ? forbidden_symbol(*facts, m_case.limits.threads) : facts.error().line();
    if (!forbidden.empty()) {
      evidence.outcome = BuildEvidence::Outcome::forbidden;
      evidence.reason = Reason::forbidden_symbol;
      evidence.detail = "the built library " + forbidden;
      return built;
    }
  }
  built.library =
      fmt::format("{}/{}-{}.so", m_folder, job.identity.substr(0, 32), static_cast<int>(job.glue));
  // The loader needs no execute bit; nobody but us may write it.
  if (auto wrote = write_scratch(built.library, *bytes, 0644); !wrote) return infra(wrote.error());
  evidence.outcome = BuildEvidence::Outcome::ok;
  return built;
}

std::vector<Built> Builder::build_all(const std::vector<BuildJob>& jobs, int parallel) {
  std::vector<Built> results(jobs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) results[i] = build(jobs[i]);
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < parallel && static_cast<std::size_t>(i) < jobs.size(); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return results;
}

}  // namespace tunesmith::bench
