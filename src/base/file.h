// Files: read whole, write atomically, temporary folders. Paths are plain strings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith {

[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit_bytes = 256U << 20);
/// Temporary file in the same folder, fsync, rename, fsync of the folder: a reader sees the old or the new
/// whole. A symlink is replaced, not followed. Devices and pipes (/dev/stdout) are written directly.
[[nodiscard]] Status write_file_atomic(const std::string& path, std::string_view bytes, unsigned mode = 0644);
/// Without flushing, for scratch files that nobody needs after a crash. A new file renamed into place:
/// whoever has the old one mapped keeps it.
[[nodiscard]] Status write_scratch(const std::string& path, std::string_view bytes, unsigned mode = 0644);
[[nodiscard]] Status make_folders(const std::string& path, unsigned mode = 0755);
[[nodiscard]] bool exists(const std::string& path);
[[nodiscard]] bool is_folder(const std::string& path);
/// Names (not paths) in a folder, sorted; empty when it cannot be read.
[[nodiscard]] std::vector<std::string> list_folder(const std::string& path);
/// Points `link` at `target` atomically (a new symlink renamed over the old one).
[[nodiscard]] Status point_symlink(const std::string& link, const std::string& target);
[[nodiscard]] Status remove_tree(const std::string& path);
[[nodiscard]] std::string absolute_path(const std::string& path);  ///< does not resolve symlinks
[[nodiscard]] std::string parent_folder(
    const std::string& path);  ///< "." when there is none; "a/" counts as "a"
[[nodiscard]] std::string base_name(const std::string& path);

/// A private folder (0700) under $TMPDIR or /tmp, removed with all it holds.
class TempDir {
 public:
  [[nodiscard]] static Result<TempDir> make(const std::string& prefix = "tunesmith-");
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  [[nodiscard]] const std::string& path() const { return m_path; }

 private:
  explicit TempDir(std::string path) : m_path(std::move(path)) {}
  std::string m_path;
};

/// Owns one file descriptor.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : m_fd(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : m_fd(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }
  [[nodiscard]] int get() const { return m_fd; }
  [[nodiscard]] explicit operator bool() const { return m_fd >= 0; }
  int release() {
    const int fd = m_fd;
    m_fd = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int m_fd;
};

}  // namespace tunesmith
