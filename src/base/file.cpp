#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace tunesmith {

namespace {

Place at(const std::string& path) { return Place{path, 0, 0, {}}; }

tl::unexpected<Error> io_error(const std::string& path, const std::string& tried) {
  const int number = errno;
  std::string mend;
  switch (number) {
    case ENOSPC:
      mend = "free some disk space and run it again";
      break;
    case EDQUOT:
    case EFBIG:
      mend = "free some disk space or raise the limit, and run it again";
      break;
    case ENOENT:
    case ENOTDIR:
      mend = "check that the folder exists";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      mend = "check the permissions of the file and its folder";
      break;
    default:
      break;
  }
  return fail(ErrorCode::io, fmt::format("cannot {}: {}", tried, errno_text(number)), mend, at(path));
}

void sync_folder(const std::string& folder) {
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) fsync(fd.get());
}

/// Without a message: errno says what happened.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

std::string without_trailing_slashes(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  return last == std::string::npos ? path.substr(0, 1) : path.substr(0, last + 1);
}

/// Makes every folder of a tree writable again; symlinks are not followed.
void open_up(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return;
  chmod(path.c_str(), 0700);
  for (const std::string& name : list_folder(path)) open_up(path + "/" + name);
}

}  // namespace

void UniqueFd::reset(int fd) {
  if (m_fd >= 0) close(m_fd);
  m_fd = fd;
}

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return fail(ErrorCode::unreadable, fmt::format("cannot read: {}", errno_text(errno)), "", at(path));
  }
  struct stat info {};
  if (fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::unreadable, "is a folder, not a file", "", at(path));
  }
  std::string bytes;
  std::string chunk(64U << 10, '\0');
  while (true) {
    const ssize_t got = read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, "read");
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    if (bytes.size() > limit_bytes) {
      return fail(ErrorCode::unreadable, fmt::format("larger than the limit of {} bytes", limit_bytes), "",
                  at(path));
    }
  }
}

Status write_file_atomic(const std::string& path, std::string_view bytes, unsigned mode) {
  // /dev/stdout, /dev/null or a pipe: renaming would put a file in the place of the device.
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    const UniqueFd device(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!device || !write_all(device.get(), bytes)) return io_error(path, "write");
    return {};
  }
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, getpid(), counter.fetch_add(1));
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd) return io_error(path, "create a temporary file beside it");
  if (!write_all(fd.get(), bytes)) {
    auto error = io_error(path, "write");
    unlink(temporary.c_str());
    return error;
  }
  if (fsync(fd.get()) != 0) {
    auto error = io_error(path, "flush to disk");
    unlink(temporary.c_str());
    return error;
  }
  fd.reset();
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    auto error = io_error(path, "rename the new file into place");
    unlink(temporary.c_str());
    return error;
  }
  sync_folder(parent_folder(path));
  return {};
}

Status write_scratch(const std::string& path, std::string_view bytes, unsigned mode) {
  const std::string fresh = path + ".new";
  UniqueFd fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd) return io_error(path, "create");
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t put = write(fd.get(), bytes.data() + written, bytes.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error(path, "write");
    written += static_cast<std::size_t>(put);
  }
  fd.reset();
  if (rename(fresh.c_str(), path.c_str()) != 0) return io_error(path, "rename the new file into place");
  return {};
}

Status make_folders(const std::string& path, unsigned mode) {
  if (path.empty() || is_folder(path)) return {};
  const std::string parent = parent_folder(path);
  if (parent != path && parent != ".") TS_TRY(make_folders(parent, mode));
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return io_error(path, "make the folder");
  if (!is_folder(path)) return fail(ErrorCode::io, "exists and is no folder", "", at(path));
  return {};
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

Status point_symlink(const std::string& link, const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", link, getpid(), counter.fetch_add(1));
  if (symlink(target.c_str(), temporary.c_str()) != 0) return io_error(link, "make a symlink");
  if (rename(temporary.c_str(), link.c_str()) != 0) {
    auto error = io_error(link, "rename the symlink into place");
    unlink(temporary.c_str());
    return error;
  }
  sync_folder(parent_folder(link));
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) {
    // What a candidate left behind may be closed even to its owner.
    open_up(path);
    std::filesystem::remove_all(path, error);
  }
  if (error) return fail(ErrorCode::io, fmt::format("cannot remove: {}", error.message()), "", at(path));
  return {};
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string parent_folder(const std::string& given) {
  const std::string path = without_trailing_slashes(given);
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return without_trailing_slashes(path.substr(0, slash + 1));
}

std::string base_name(const std::string& given) {
  const std::string path = without_trailing_slashes(given);
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Result<TempDir> TempDir::make(const std::string& prefix) {
  const char* root = std::getenv("TMPDIR");
  std::string path = std::string(root != nullptr && *root != '\0' ? root : "/tmp") + "/" + prefix + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return io_error(path, "make a temporary folder");
  return TempDir(path);
}

TempDir::TempDir(TempDir&& other) noexcept : m_path(std::move(other.m_path)) { other.m_path.clear(); }

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(m_path, other.m_path);
  return *this;
}

TempDir::~TempDir() {
  if (m_path.empty()) return;
  // A failure to tidy up has nobody to report to; the folder is under /tmp.
  (void)remove_tree(m_path);
}

}  // namespace tunesmith
