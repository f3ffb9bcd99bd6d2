#include "bench/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "stats/descriptive.h"

namespace tunesmith::bench {

namespace {

using protocol::Op;
using protocol::Region;
using protocol::ReplyStatus;
using protocol::Request;

constexpr double k_setup_seconds = 30;  // mapping and loading; far above what a loaded machine needs
constexpr int k_empty_calls = 9;

Rejection infra(const std::string& detail) { return Rejection{Reason::infra, detail}; }

/// Outputs have two addresses; more for small shapes: short kernels are called several times a sample, a slot
/// each.
std::size_t output_places_of(const ShapeLayout& layout, std::size_t slots) {
  const std::uint64_t bytes = (layout.writable_pages + layout.input_pages) * k_page_bytes;
  const std::size_t places = bytes <= (64U << 10) ? 4 : 2;
  return slots % places == 0 ? places : slots % 2 == 0 ? 2 : 1;
}

}  // namespace

tl::expected<std::unique_ptr<Session>, Rejection> Session::start(const Case& c, const InputPool& pool,
                                                                 const Loadable& library,
                                                                 const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session);
  session->m_case = &c;
  session->m_pool = &pool;
  session->m_options = options;
  session->m_rng = Rng(secret_seed());

  // Places of the writable buffers: even slots end at a guard page, odd ones begin at one. A workspace is the
  // same memory in every slot, outputs in every second or fourth one.
  std::uint64_t size = 0;
  for (const ShapeInputs& inputs : pool.shapes()) {
    std::vector<SlotState> slots(std::min<std::size_t>(inputs.sets.size(), protocol::k_maximum_slots));
    const std::size_t places = output_places_of(inputs.layout, slots.size());
    session->m_places.push_back(places);
    for (std::size_t s = 0; s < slots.size(); ++s) {
      for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
        const auto& argument = inputs.layout.arguments[a];
        const bool writable = argument.is_buffer && !argument.read_only();
        const std::size_t owner = argument.role == Role::workspace ? 0 : s % places;
        if (writable && owner != s) {
          slots[s].offset.push_back(slots[owner].offset[a]);
          slots[s].shift.push_back(slots[owner].shift[a]);
          continue;
        }
        slots[s].offset.push_back(size);
        slots[s].shift.push_back(
            argument.is_buffer && (s % 2 == 0 || !writable) ? end_shift(argument.bytes, argument.pages) : 0);
        if (writable) size += argument.pages * k_page_bytes;
      }
    }
    session->m_slots.push_back(std::move(slots));
  }
  if (auto rejection = session->take_output_memory(std::max(size, k_page_bytes)))
    return tl::unexpected(*rejection);
  session->m_fault_fd.reset(memfd_create("fault", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!session->m_fault_fd || ftruncate(session->m_fault_fd.get(), static_cast<off_t>(k_page_bytes)) != 0) {
    return tl::unexpected(infra(fmt::format("cannot make shared memory: {}", errno_text(errno))));
  }
  fcntl(session->m_fault_fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  void* fault = mmap(nullptr, k_page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, session->m_fault_fd.get(), 0);
  if (fault == MAP_FAILED) return tl::unexpected(infra("cannot map the worker's shared memory"));
  session->m_fault = static_cast<protocol::Fault*>(fault);

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return tl::unexpected(infra(fmt::format("cannot make a socket pair: {}", errno_text(errno))));
  }
  session->m_control.reset(pair[0]);
  UniqueFd theirs(pair[1]);

  const Defences& defences = options.defences;
  const int threads = c.limits.threads;
  os::Command command;
  command.argv = {"worker"};
  command.worker_loop = true;
  command.environment = {"LC_ALL=C", fmt::format("OMP_NUM_THREADS={}", threads),
                         fmt::format("OPENBLAS_NUM_THREADS={}", threads)};
  command.descriptors = {{theirs.get(), protocol::k_control_fd},
                         {pool.read_only_fd(), protocol::k_input_fd},
                         {session->m_memory->fd(), protocol::k_output_fd},
                         {session->m_fault_fd.get(), protocol::k_fault_fd}};
  box::Policy policy;
  policy.read_only = {"/usr",         "/lib", "/lib64", "/etc/ld.so.cache", "/sys/devices/system/cpu",
                      library.library};
  if (!library.glue.empty()) policy.read_only.push_back(library.glue);
  policy.allow_exec = false;
  policy.allow_fork = !defences.process_limits;
  policy.allow_threads = options.trusted || threads > 1 || !defences.one_thread;
  policy.cpu = options.cpu;
  // A kernel writes no files, but what it prints may grow to the limit.
  policy.file_size_bytes = options.log_path.empty() ? 1 : c.limits.output_bytes;
  policy.open_files = 32;
  if (defences.process_limits) {
    policy.address_space_bytes = c.limits.memory_bytes + 2 * session->m_memory->bytes() + (4ULL << 30);
    policy.processes = policy.allow_threads ? 256 : 0;
  }
  policy.no_namespaces = policy.no_landlock = policy.no_seccomp = !defences.sandbox;
  command.policy = policy;

  UniqueFd log;
  if (!options.log_path.empty())
    log.reset(open(options.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  auto child = os::Child::spawn(command, log.get());
  if (!child) return tl::unexpected(infra(child.error().line()));
  session->m_child.emplace(std::move(*child));
  theirs.reset();  // the worker's alone now: when it dies, we hear of it
  session->m_run_delay.emplace(session->m_child->inner_pid());

  if (auto rejection = session->map_shapes()) return tl::unexpected(*rejection);
  Request load;
  load.op = Op::load;
  load.nonce = session->m_rng.next();
  if (library.library.size() >= sizeof load.path || library.glue.size() >= sizeof load.glue ||
      c.source.entry.size() >= sizeof load.entry) {
    return tl::unexpected(infra("the library's path or the entry's name is too long"));
  }
  std::memcpy(load.path, library.library.c_str(), library.library.size() + 1);
  std::memcpy(load.glue, library.glue.c_str(), library.glue.size() + 1);
  std::memcpy(load.entry, c.source.entry.c_str(), c.source.entry.size() + 1);
  auto reply = session->exchange(&load, sizeof load, k_setup_seconds);
  if (!reply) return tl::unexpected(reply.error());
  if (reply->status != ReplyStatus::ok) {
    const std::string text =
        printable(std::string_view(reply->text, strnlen(reply->text, sizeof reply->text)));
    return tl::unexpected(Rejection{Reason::crashed, "the library could not be loaded: " + cut(text, 200)});
  }

  // What a request costs without a kernel: subtracted from each sample.
  std::vector<double> cpu, wall;
  for (int i = 0; i < k_empty_calls; ++i) {
    Request empty;
    empty.op = Op::empty;
    empty.nonce = session->m_rng.next();
    const std::int64_t cpu_before = os::process_cpu_ns(session->m_child->inner_pid());
    const std::int64_t before = monotonic_ns();
    if (auto answered = session->exchange(&empty, sizeof empty, k_setup_seconds); !answered)
      return tl::unexpected(answered.error());
    wall.push_back(static_cast<double>(monotonic_ns() - before) * 1e-6);
    cpu.push_back(static_cast<double>(os::process_cpu_ns(session->m_child->inner_pid()) - cpu_before) * 1e-6);
  }
  session->m_empty_cpu_ms = stats::median(cpu);
  // The least, not the median: on a contended core most of these wait for it, and a call that does not would
  // seem to take no time at all.
  session->m_empty_wall_ms = *std::min_element(wall.begin(), wall.end());
  session->m_last_cpu_ns = os::process_cpu_ns(session->m_child->inner_pid());
  return session;
}

Result<std::shared_ptr<OutputMemory>> OutputMemory::make(std::uint64_t bytes) {
  std::shared_ptr<OutputMemory> memory(new OutputMemory);
  memory->m_fd.reset(memfd_create("outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory->m_fd || ftruncate(memory->m_fd.get(), static_cast<off_t>(bytes)) != 0) {
    return fail(ErrorCode::infra, fmt::format("cannot make shared memory of {} MiB for outputs: {}",
                                              bytes >> 20, errno_text(errno)));
  }
  // A worker that shrank the file under us would kill us with SIGBUS.
  fcntl(memory->m_fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  void* view = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->m_fd.get(), 0);
  if (view == MAP_FAILED)
    return fail(ErrorCode::infra, fmt::format("cannot map the outputs: {}", errno_text(errno)));
  memory->m_view = static_cast<std::byte*>(view);
  memory->m_bytes = bytes;
  return memory;
}

OutputMemory::~OutputMemory() {
  if (m_view != nullptr) munmap(m_view, m_bytes);
}

std::optional<Rejection> Session::take_output_memory(std::uint64_t bytes) {
  if (m_options.store != nullptr) {
    for (const auto& memory : *m_options.store) {
      if (memory.use_count() == 1 && memory->bytes() == bytes) m_memory = memory;
    }
  }
  if (!m_memory) {
    auto made = OutputMemory::make(bytes);
    if (!made) return infra(made.error().line());
    m_memory = std::move(*made);
    if (m_options.store != nullptr) m_options.store->push_back(m_memory);
  }
  m_output = m_memory->view();
  return std::nullopt;
}

Session::~Session() {
  if (m_child) m_child->kill_group();
  if (m_fault != nullptr) munmap(m_fault, k_page_bytes);
}

std::size_t Session::slots(std::size_t shape) const { return m_slots[shape].size(); }

std::byte* Session::place(std::size_t shape, std::size_t slot, std::size_t argument) const {
  const SlotState& state = m_slots[shape][slot];
  return m_output + state.offset[argument] + state.shift[argument];
}

std::vector<Region> Session::regions(std::size_t shape, std::size_t slot, std::size_t set) const {
  const ShapeInputs& inputs = m_pool->shapes()[shape];
  std::vector<Region> out;
  for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
    const auto& argument = inputs.layout.arguments[a];
    Region region;
    if (!argument.is_buffer) {
      region.scalar = argument.scalar_bits;
    } else {
      region.pages = argument.pages;
      region.shift = m_slots[shape][slot].shift[a];
      region.writable = argument.read_only() ? 0 : 1;
      region.result_bytes = argument.checked() ? argument.bytes : 0;
      const std::size_t owner = argument.role == Role::workspace ? 0 : slot % m_places[shape];
      if (!argument.read_only() && owner != slot) region.alias = static_cast<std::uint32_t>(owner) + 1;
      region.offset = argument.read_only() ? inputs.sets[set].offset[a] : m_slots[shape][slot].offset[a];
    }
    out.push_back(region);
  }
  return out;
}

std::optional<Rejection> Session::map_shapes() {
  for (std::size_t shape = 0; shape < m_slots.size(); ++shape) {
    Request request;
    request.op = Op::map_shape;
    request.shape = static_cast<std::uint32_t>(shape);
    request.slots = static_cast<std::uint32_t>(m_slots[shape].size());
    request.arguments = static_cast<std::uint32_t>(m_case->arguments.size());
    request.nonce = m_rng.next();
    std::vector<Region> all;
    for (std::size_t slot = 0; slot < m_slots[shape].size(); ++slot) {
      const auto slot_regions =
          regions(shape, slot, 0);  // inputs are not mapped yet, so the set does not matter
      all.insert(all.end(), slot_regions.begin(), slot_regions.end());
    }
    std::string packet(reinterpret_cast<const char*>(&request), sizeof request);
    packet.append(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(Region));
    const auto reply = exchange(packet.data(), packet.size(), k_setup_seconds);
    if (!reply) return reply.error();
    if (reply->status != ReplyStatus::ok) return infra("the worker could not map its buffers");
  }
  return std::nullopt;
}

std::optional<Rejection> Session::prepare(std::size_t shape, std::size_t slot, std::size_t set) {
  const ShapeInputs& inputs = m_pool->shapes()[shape];
  SlotState& state = m_slots[shape][slot];
  if (state.set != set) {
    if (m_just_called)
      m_idle_ns = std::max<std::int64_t>(0, os::process_cpu_ns(m_child->inner_pid()) - m_last_cpu_ns);
    m_just_called = false;
    Request request;
    request.op = Op::map_slot;
    request.shape = static_cast<std::uint32_t>(shape);
    request.slot = static_cast<std::uint32_t>(slot);
    request.arguments = static_cast<std::uint32_t>(m_case->arguments.size());
    request.nonce = m_rng.next();
    const auto slot_regions = regions(shape, slot, set);
    std::string packet(reinterpret_cast<const char*>(&request), sizeof request);
    packet.append(reinterpret_cast<const char*>(slot_regions.data()), slot_regions.size() * sizeof(Region));
    const auto reply = exchange(packet.data(), packet.size(), k_setup_seconds);
    if (!reply) return reply.error();
    if (reply->status != ReplyStatus::ok) return infra("the worker could not map new inputs");
    state.set = set;
    m_settled = false;
    m_last_cpu_ns = os::process_cpu_ns(m_child->inner_pid());
  }
  // With the defence off the poison stays what it was, so a result left over from an earlier call survives.
  if (m_options.defences.poison || state.poison_seed == 0) state.poison_seed = m_rng.next() | 1;
  for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
    const auto& argument = inputs.layout.arguments[a];
    if (!argument.is_buffer || argument.read_only()) continue;
    std::byte* pages = m_output + state.offset[a];
    if (m_options.defences.poison) {
      // The first calls of a process find the whole workspace poisoned, later ones a line a page of a large
      // one.
      const bool sparse = argument.role == Role::workspace && m_calls_made > 3 * m_slots.size();
      const std::uint64_t whole = sparse ? k_whole_poison_bytes : ~0ULL;
      // The slack on both sides carries the same pattern: a byte that changed there is a write out of bounds.
      const std::uint64_t slack_after = argument.pages * k_page_bytes - state.shift[a] - argument.bytes;
      poison(pages, Dtype::u64, state.shift[a], state.poison_seed);
      poison(pages + state.shift[a], argument.dtype, argument.bytes, state.poison_seed, whole);
      for (std::uint64_t i = 0; i < slack_after; ++i) {
        pages[state.shift[a] + argument.bytes + i] =
            static_cast<std::byte>(state.poison_seed >> (8 * (i % 8)));
      }
    }
    if (argument.role == Role::inout) {
      const auto& initial = inputs.sets[set].initial[a];
      std::memcpy(pages + state.shift[a], initial.data(), initial.size());
    }
  }
  return std::nullopt;
}

Rejection Session::death(bool timed_out) {
  if (timed_out) {
    m_child->kill_group();
    return Rejection{Reason::timeout,
                     fmt::format("a call did not return within {} s", m_case->limits.call_seconds)};
  }
  const os::Finished finished = m_child->wait(2.0);
  if (finished.outcome == os::Finished::Outcome::signaled) {
    const auto kind = m_fault->signal == static_cast<std::uint32_t>(finished.code) ? m_fault->kind : 0U;
    if (kind == 1 && m_fault->region_writable == 0) {
      return Rejection{Reason::input_modified, "wrote to a read-only input (" + finished.text() + ")"};
    }
    if (kind == 2)
      return Rejection{Reason::out_of_bounds,
                       "touched a guard page beside a buffer (" + finished.text() + ")"};
    return Rejection{Reason::crashed, finished.text()};
  }
  if (finished.outcome == os::Finished::Outcome::exited) {
    return Rejection{Reason::crashed, fmt::format("left without an answer ({})", finished.text())};
  }
  return Rejection{Reason::crashed, "the worker hung up (" + finished.text() + ")"};
}

tl::expected<protocol::Reply, Rejection> Session::exchange(const void* packet, std::size_t size,
                                                           double wall_seconds) {
  Request request;
  std::memcpy(&request, packet, sizeof request);
  if (send(m_control.get(), packet, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
    return tl::unexpected(death(false));
  const std::int64_t cpu_start_ns = os::process_cpu_ns(m_child->inner_pid());
  const std::int64_t start_ns = monotonic_ns();
  while (true) {
    pollfd waiting{m_control.get(), POLLIN, 0};
    const int ready = poll(&waiting, 1, 100);
    if (m_options.stop != nullptr && *m_options.stop) {
      m_child->kill_group();
      return tl::unexpected(Rejection{Reason::infra, "interrupted"});
    }
    if (ready > 0) break;
    const double wall = static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
    const double cpu = static_cast<double>(os::process_cpu_ns(m_child->inner_pid()) - cpu_start_ns) * 1e-9;
    // On a loaded machine wall time is not the candidate's fault; a sleeper gets three times as long.
    if (m_options.defences.time_limit && (cpu > wall_seconds || wall > 3 * wall_seconds + 1))
      return tl::unexpected(death(true));
    if (!m_options.defences.time_limit && wall > 20 * wall_seconds) return tl::unexpected(death(true));
  }
  protocol::Reply reply;
  const ssize_t got = recv(m_control.get(), &reply, sizeof reply, 0);
  if (got <= 0) return tl::unexpected(death(false));
  if (got != static_cast<ssize_t>(sizeof reply) ||
      (m_options.defences.nonce && reply.nonce != request.nonce)) {
    m_child->kill_group();
    return tl::unexpected(Rejection{Reason::contaminated, "an answer came that was not asked for"});
  }
  return reply;
}

tl::expected<CallTimes, Rejection> Session::call(std::size_t shape, std::size_t slot, int calls,
                                                 std::size_t turns) {
  const pid_t pid = m_child->inner_pid();
  Request request;
  request.op = Op::run;
  request.shape = static_cast<std::uint32_t>(shape);
  request.slot = static_cast<std::uint32_t>(slot);
  request.calls = static_cast<std::uint32_t>(calls);
  request.slots = static_cast<std::uint32_t>(turns);
  request.spoil = m_options.defences.poison ? 1 : 0;
  request.nonce = m_rng.next();
  CallTimes times;
  if (m_last_cpu_ns >= 0) {
    times.idle_cpu_ms =
        std::max(0.0, static_cast<double>(m_idle_ns + os::process_cpu_ns(pid) - m_last_cpu_ns) * 1e-6);
    m_idle_ns = 0;
  }
  if (!m_settled) {
    // The kernel puts off part of the work of mapping new pages until the process runs next (50 us on a
    // nested virtual machine): an empty request takes it, so that it does not look like time of the first
    // call.
    Request empty;
    empty.op = Op::empty;
    empty.nonce = m_rng.next();
    if (const auto answered = exchange(&empty, sizeof empty, k_setup_seconds); !answered)
      return tl::unexpected(answered.error());
    m_settled = true;
  }
  const std::int64_t delay_before = m_run_delay->ns();
  const std::int64_t cpu_before = os::process_cpu_ns(pid);
  const std::int64_t before = monotonic_ns();
  auto reply = exchange(&request, sizeof request, m_case->limits.call_seconds);
  const std::int64_t after = monotonic_ns();
  if (!reply) return tl::unexpected(reply.error());
  const std::int64_t cpu_after = os::process_cpu_ns(pid);
  const std::int64_t delay_after = m_run_delay->ns();
  m_last_cpu_ns = cpu_after;
  m_just_called = true;
  if (reply->status != ReplyStatus::ok) return tl::unexpected(infra("the worker refused a call"));
  if (m_options.defences.float_mode && reply->float_mode_changed != 0) {
    return tl::unexpected(
        Rejection{Reason::contaminated, "left another floating-point rounding or denormal mode behind"});
  }
  if (m_options.defences.fault_handlers && !m_options.trusted && reply->handlers_changed != 0) {
    return tl::unexpected(Rejection{Reason::contaminated, "replaced the fault handlers"});
  }
  const double wall_ms = static_cast<double>(after - before) * 1e-6;
  const double cpu_ms = std::max(0.0, static_cast<double>(cpu_after - cpu_before) * 1e-6 - m_empty_cpu_ms);
  times.cpu_ms = cpu_ms / calls;
  // On a contended core an empty request waits longer than a call may: taking its cost off never leaves less
  // wall time than CPU time, unless there was less to begin with.
  times.wall_ms = std::max(wall_ms - m_empty_wall_ms, std::min(wall_ms, cpu_ms)) / calls;
  ++m_calls_made;
  m_kernel_cpu_ms += times.cpu_ms * calls;
  times.waited_ms = delay_before >= 0 ? static_cast<double>(delay_after - delay_before) * 1e-6 / calls : 0;
  if (!m_options.defences.outside_clock) {
    times.wall_ms = static_cast<double>(reply->self_wall_ns) * 1e-6 / calls;
    times.cpu_ms = static_cast<double>(reply->self_cpu_ns) * 1e-6 / calls;
    times.waited_ms = 0;
  }
  return times;
}

std::optional<Rejection> Session::check(std::size_t shape, std::size_t slot, std::size_t set,
                                        const CompareRules& rules, CheckEvidence& evidence) {
  const ShapeInputs& inputs = m_pool->shapes()[shape];
  const SlotState& state = m_slots[shape][slot];
  std::optional<Rejection> first;
  for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
    const auto& argument = inputs.layout.arguments[a];
    if (!argument.is_buffer || argument.read_only()) continue;
    const std::byte* pages = m_output + state.offset[a];
    const auto& name = std::get<Buffer>(m_case->arguments[a]).name;
    if (m_options.defences.guard_bytes && m_options.defences.poison) {
      const std::uint64_t word = poison_word(Dtype::u64, state.poison_seed);
      bool touched = false;
      for (std::uint64_t i = 0; i + 8 <= state.shift[a]; i += 8) {
        std::uint64_t value;
        std::memcpy(&value, pages + i, 8);
        touched = touched || value != word;
      }
      for (std::uint64_t i = state.shift[a] + argument.bytes, j = 0; i < argument.pages * k_page_bytes;
           ++i, ++j) {
        touched = touched || pages[i] != static_cast<std::byte>(state.poison_seed >> (8 * (j % 8)));
      }
      if (touched && !first)
        first = Rejection{Reason::out_of_bounds, fmt::format("wrote beside the buffer {}", name)};
    }
    if (!argument.checked()) continue;
    const std::vector<double>& want = inputs.sets[set].expected[a];
    const Difference d =
        compare(pages + state.shift[a], argument.dtype, want,
                argument.extent.empty() ? 1 : argument.extent.back(), rules, state.poison_seed);
    ++evidence.executed;
    evidence.max_abs_error = std::max(evidence.max_abs_error, d.max_abs_error);
    evidence.max_rel_error = std::max(evidence.max_rel_error, d.max_rel_error);
    evidence.worst_row_error = std::max(evidence.worst_row_error, d.worst_row);
    evidence.worst_tile_error = std::max(evidence.worst_tile_error, d.worst_tile);
    evidence.bad_elements += d.bad;
    if (d.reason == Reason::none || first) continue;
    std::string detail = fmt::format("{}: {} of {} elements are wrong, first [{}] = {:.6g} instead of {:.6g}",
                                     name, d.bad, want.size(), d.first_bad, d.got, d.want);
    if (d.reason == Reason::stale_output)
      detail = fmt::format("{}: {} of {} elements were never written", name, d.poisoned, want.size());
    first = Rejection{d.reason, detail};
    if (d.reason != Reason::wrong_result) continue;
    // Wrong, but right for other inputs: a result kept from an earlier call.
    for (std::size_t other = 0; other < inputs.sets.size(); ++other) {
      if (other == set) continue;
      const Difference old =
          compare(pages + state.shift[a], argument.dtype, inputs.sets[other].expected[a],
                  argument.extent.empty() ? 1 : argument.extent.back(), rules, state.poison_seed);
      if (old.reason == Reason::none) {
        first =
            Rejection{Reason::stale_output, fmt::format("{}: the result belongs to earlier inputs", name)};
        break;
      }
    }
  }
  return first;
}

std::optional<Rejection> Session::check_against(const Session& other, std::size_t shape, std::size_t slot,
                                                const CompareRules& rules, CheckEvidence& evidence) const {
  CompareRules both = rules;
  both.tolerance.absolute *= 2;
  both.tolerance.relative *= 2;
  both.budget *= 2;
  const ShapeInputs& inputs = m_pool->shapes()[shape];
  for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
    const auto& argument = inputs.layout.arguments[a];
    if (!argument.checked()) continue;
    const std::vector<double> want = other.read_output(shape, slot, a);
    const Difference d =
        compare(place(shape, slot, a), argument.dtype, want,
                argument.extent.empty() ? 1 : argument.extent.back(), both, m_slots[shape][slot].poison_seed);
    ++evidence.executed;
    evidence.bad_elements += d.bad;
    if (d.reason == Reason::none) continue;
    return Rejection{d.reason,
                     fmt::format("{}: {} of {} elements are wrong, first [{}] = {:.6g} instead of {:.6g}",
                                 std::get<Buffer>(m_case->arguments[a]).name, d.bad, want.size(), d.first_bad,
                                 d.got, d.want)};
  }
  return std::nullopt;
}

std::uint64_t Session::output_hash(std::size_t shape, std::size_t slot) const {
  const ShapeInputs& inputs = m_pool->shapes()[shape];
  std::uint64_t hash = 1;
  for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
    const auto& argument = inputs.layout.arguments[a];
    if (argument.checked()) hash = hash64(place(shape, slot, a), argument.bytes, hash);
  }
  return hash;
}

std::vector<double> Session::read_output(std::size_t shape, std::size_t slot, std::size_t argument) const {
  const auto& a = m_pool->shapes()[shape].layout.arguments[argument];
  std::vector<double> out(a.elements);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = read_element(place(shape, slot, argument), a.dtype, i);
  return out;
}

std::uint64_t Session::memory_bytes() const { return os::peak_rss_bytes(m_child->inner_pid()); }

double Session::overhead_cpu_ms() const {
  return std::max(0.0,
                  static_cast<double>(os::process_cpu_ns(m_child->inner_pid())) * 1e-6 - m_kernel_cpu_ms);
}

}  // namespace tunesmith::bench
