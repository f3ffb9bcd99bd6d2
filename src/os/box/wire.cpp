#include "os/box/wire.h"

#include <cstdlib>

namespace tunesmith::box {

namespace {

void put(std::string& out, const char* name, std::string_view bytes) {
  out += name;
  out += ' ';
  out += std::to_string(bytes.size());
  out += ':';
  out += bytes;
  out += '\n';
}

void put(std::string& out, const char* name, std::int64_t number) {
  put(out, name, std::string_view(std::to_string(number)));
}

bool take_number(std::string_view bytes, std::int64_t& number) {
  const std::string text(bytes);
  char* end = nullptr;
  number = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0';
}

// One table for both directions, so that a field cannot be written and then not read.
struct NumberField {
  const char* name;
  std::int64_t (*get)(const Orders&);
  void (*set)(Orders&, std::int64_t);
};

#define TS_FIELD(NAME, PLACE, TYPE)                                                 \
  NumberField {                                                                     \
    NAME, [](const Orders& o) { return static_cast<std::int64_t>(o.PLACE); },       \
        [](Orders& o, std::int64_t number) { o.PLACE = static_cast<TYPE>(number); } \
  }
constexpr NumberField k_fields[] = {
    TS_FIELD("parent", parent, int),
    TS_FIELD("exec", policy.allow_exec, bool),
    TS_FIELD("fork", policy.allow_fork, bool),
    TS_FIELD("threads", policy.allow_threads, bool),
    TS_FIELD("cpu", policy.cpu, int),
    TS_FIELD("address-space", policy.address_space_bytes, std::uint64_t),
    TS_FIELD("cpu-seconds", policy.cpu_seconds, std::uint64_t),
    TS_FIELD("file-size", policy.file_size_bytes, std::uint64_t),
    TS_FIELD("processes", policy.processes, std::uint64_t),
    TS_FIELD("open-files", policy.open_files, std::uint64_t),
    TS_FIELD("no-namespaces", policy.no_namespaces, bool),
    TS_FIELD("no-landlock", policy.no_landlock, bool),
    TS_FIELD("no-seccomp", policy.no_seccomp, bool),
};
#undef TS_FIELD

bool take_field(std::string_view name, std::string_view bytes, Orders& orders) {
  if (name == "read") {
    orders.policy.read_only.emplace_back(bytes);
    return true;
  }
  if (name == "write") {
    orders.policy.read_write.emplace_back(bytes);
    return true;
  }
  std::int64_t number = 0;
  if (!take_number(bytes, number)) return false;
  if (name == "keep") {
    orders.keep.push_back(static_cast<int>(number));
    return true;
  }
  for (const NumberField& field : k_fields) {
    if (name != field.name) continue;
    field.set(orders, number);
    return true;
  }
  return false;
}

}  // namespace

std::string encode(const Orders& orders) {
  std::string out;
  for (const NumberField& field : k_fields) put(out, field.name, field.get(orders));
  for (const std::string& path : orders.policy.read_only) put(out, "read", path);
  for (const std::string& path : orders.policy.read_write) put(out, "write", path);
  for (const int fd : orders.keep) put(out, "keep", fd);
  out += "end 0:\n";
  return out;
}

bool decode(std::string_view text, Orders& orders) {
  while (true) {
    const std::size_t space = text.find(' ');
    const std::size_t colon = text.find(':');
    if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) return false;
    const std::string_view name = text.substr(0, space);
    std::int64_t size = 0;
    if (!take_number(text.substr(space + 1, colon - space - 1), size) || size < 0) return false;
    const auto length = static_cast<std::size_t>(size);
    const std::size_t left = text.size() - colon - 1;
    if (length >= left || text[colon + 1 + length] != '\n') return false;
    if (name == "end") return length + 1 == left;
    if (!take_field(name, text.substr(colon + 1, length), orders)) return false;
    text.remove_prefix(colon + 1 + length + 1);
  }
}

std::string layers_line(const Layers& layers) {
  const bool flags[] = {layers.own_uid,       layers.user_namespace, layers.pid_namespace,
                        layers.net_namespace, layers.ipc_namespace,  layers.mount_namespace,
                        layers.seccomp,       layers.rlimits};
  std::string line = "layers ";
  for (const bool flag : flags) line += flag ? '1' : '0';
  return line + " " + std::to_string(layers.landlock_abi) + "\n";
}

std::string number_line(const char* name, std::uint64_t value) {
  return std::string(name) + " " + std::to_string(value) + "\n";
}

std::string error_line(std::string_view text) {
  std::string line = "error ";
  for (const char c : text) line += c == '\n' ? ' ' : c;
  return line + "\n";
}

void take_line(std::string_view line, Account& account) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view name = line.substr(0, space);
  const std::string_view rest = line.substr(space + 1);
  std::int64_t number = 0;
  if (name == "error") {
    account.error = rest;
  } else if (name == "inner" && take_number(rest, number)) {
    account.inner_pid = static_cast<int>(number);
  } else if (name == "peak" && take_number(rest, number)) {
    account.peak_rss_kib = static_cast<std::uint64_t>(number);
  } else if (name == "layers" && rest.size() >= 10 && take_number(rest.substr(9), number)) {
    Layers& l = account.layers;
    bool* const flags[] = {&l.own_uid,       &l.user_namespace,  &l.pid_namespace, &l.net_namespace,
                           &l.ipc_namespace, &l.mount_namespace, &l.seccomp,       &l.rlimits};
    for (std::size_t i = 0; i < 8; ++i) *flags[i] = rest[i] == '1';
    l.landlock_abi = static_cast<int>(number);
    account.ready = true;
  }
}

}  // namespace tunesmith::box
