#include "os/box/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tunesmith::box {

namespace {

// Of our own, since distribution headers lag several ABIs behind the kernels they run on.
constexpr std::uint64_t k_execute = 1U << 0, k_write_file = 1U << 1, k_read_file = 1U << 2,
                        k_read_dir = 1U << 3, k_make_char = 1U << 6, k_make_sock = 1U << 9,
                        k_make_block = 1U << 11, k_refer = 1U << 13, k_truncate = 1U << 14,
                        k_ioctl_dev = 1U << 15;
constexpr std::uint64_t k_all_abi1 = (1U << 13) - 1;
constexpr std::uint64_t k_of_files = k_execute | k_write_file | k_read_file | k_truncate | k_ioctl_dev;
constexpr std::uint64_t k_net_bind_tcp = 1U << 0, k_net_connect_tcp = 1U << 1;
constexpr std::uint64_t k_scope_abstract_socket = 1U << 0, k_scope_signal = 1U << 1;
constexpr int k_version_flag = 1, k_path_beneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0, net = 0, scopes = 0;
};
struct __attribute__((packed)) PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent_fd;
};

std::uint64_t handled_files(int abi) {
  std::uint64_t files = k_all_abi1;
  if (abi >= 2) files |= k_refer;
  if (abi >= 3) files |= k_truncate;
  if (abi >= 5) files |= k_ioctl_dev;
  return files;
}

void allow(int ruleset, const char* path, std::uint64_t rights) {
  const int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info {};
  if (fstat(fd, &info) == 0) {
    if (!S_ISDIR(info.st_mode)) rights &= k_of_files;
    const PathBeneath rule{rights, fd};
    syscall(SYS_landlock_add_rule, ruleset, k_path_beneath, &rule, 0);
  }
  close(fd);
}

}  // namespace

int confine_files(const Policy& policy) {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, k_version_flag);
  if (version < 1) return 0;
  const int abi = static_cast<int>(version);
  RulesetAttributes attributes;
  attributes.files = handled_files(abi);
  if (abi >= 4) attributes.net = k_net_bind_tcp | k_net_connect_tcp;
  if (abi >= 6) attributes.scopes = k_scope_abstract_socket | k_scope_signal;
  // An older kernel knows a shorter structure and refuses unknown bits, but takes zeroes beyond what it
  // knows.
  const int ruleset =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (ruleset < 0) return 0;
  const std::uint64_t read = k_execute | k_read_file | k_read_dir;
  std::uint64_t write = attributes.files & ~(k_make_char | k_make_block | k_make_sock | k_ioctl_dev);
  if (!policy.allow_exec) write &= ~k_execute;
  for (const std::string& path : policy.read_only) allow(ruleset, path.c_str(), read);
  for (const std::string& path : policy.read_write) allow(ruleset, path.c_str(), write);
  for (const char* path : {"/dev/null", "/dev/zero"}) {
    allow(ruleset, path, attributes.files & (k_read_file | k_write_file | k_truncate));
  }
  for (const char* path : {"/dev/urandom", "/dev/random"}) allow(ruleset, path, k_read_file);
  const bool stands = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return stands ? abi : 0;
}

}  // namespace tunesmith::box
