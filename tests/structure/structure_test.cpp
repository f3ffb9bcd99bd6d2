// The house keeps its order: rooms include only what their line in CMakeLists.txt names, and heavy headers
// stay in the files that are listed here. CMakeLists.txt is the single source of the dependency table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

struct Room {
  std::string name;
  std::set<std::string> uses;
};

std::vector<Room> rooms_from_cmake() {
  const auto text = read_file(std::string(TUNESMITH_SOURCE_DIR) + "/CMakeLists.txt");
  std::vector<Room> rooms;
  if (!text) return rooms;
  for (std::string_view line : split_lines(*text)) {
    line = trim(line);
    if (!line.starts_with("ts_room(")) continue;
    line.remove_prefix(8);
    line = line.substr(0, line.find(')'));
    Room room;
    std::string part = "NAME";
    for (const std::string_view word : split(line, ' ')) {
      if (word.empty()) continue;
      if (word == "USES" || word == "LIBS") {
        part = word;
      } else if (part == "NAME") {
        room.name = word;
      } else if (part == "USES") {
        room.uses.insert(std::string(word));
      }
    }
    rooms.push_back(room);
  }
  return rooms;
}

struct Include {
  std::string file;  ///< relative to the source folder: "src/bench/x.cpp"
  int line = 0;
  std::string target;
  bool quoted = false;
};

std::vector<std::string> source_files(const std::string& folder) {
  std::vector<std::string> files;
  const fs::path root(TUNESMITH_SOURCE_DIR);
  if (!fs::exists(root / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp" || extension == ".c") {
      files.push_back(fs::relative(entry.path(), root).string());
    }
  }
  return files;
}

std::vector<Include> includes_of_text(const std::string& file, const std::string& text) {
  std::vector<Include> includes;
  int number = 0;
  for (std::string_view line : split_lines(text)) {
    ++number;
    line = trim(line);
    if (!line.starts_with("#")) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim(line.substr(7));
    if (line.size() < 2) continue;
    const char end = line.front() == '<' ? '>' : '"';
    const std::size_t stop = line.find(end, 1);
    if (stop == std::string_view::npos) continue;
    includes.push_back({file, number, std::string(line.substr(1, stop - 1)), end == '"'});
  }
  return includes;
}

std::vector<Include> includes_of(const std::string& folder) {
  std::vector<Include> includes;
  for (const std::string& file : source_files(folder)) {
    const auto text = read_file(std::string(TUNESMITH_SOURCE_DIR) + "/" + file);
    if (!text) continue;
    for (Include& include : includes_of_text(file, *text)) includes.push_back(std::move(include));
  }
  return includes;
}

/// "src/bench/worker/x.cpp" -> "bench"; "" when not in a room.
std::string room_of(const std::string& file) {
  const auto parts = split(file, '/');
  return parts.size() >= 3 && parts[0] == "src" ? std::string(parts[1]) : "";
}

/// Complaints about one include, given the table; empty when it is in order.
std::string complaint(const Include& include, const std::map<std::string, Room>& rooms) {
  const std::string room = room_of(include.file);
  const std::string other(split(include.target, '/').front());
  if (!include.quoted || !rooms.contains(other)) return "";
  const std::string where = fmt::format("{}:{}: includes {}", include.file, include.line, include.target);
  if (!rooms.contains(room)) return where + ", but its own folder is no room of CMakeLists.txt";
  if (room != other && !rooms.at(room).uses.contains(other)) {
    return where + fmt::format(", but the line of {} does not name {}", room, other);
  }
  // The launcher and the worker link nothing but libc.
  const bool bare = include.file.starts_with("src/os/box/") || include.file.starts_with("src/bench/worker/");
  const bool bare_target = include.target.starts_with("os/box/") || include.target.starts_with("bench/");
  if (bare && !bare_target) return where + ", but a program of the sandbox links nothing but libc";
  if (include.file.starts_with("src/os/box/") && !include.target.starts_with("os/box/")) {
    return where + ", but os/box stands alone";
  }
  return "";
}

std::map<std::string, Room> room_map() {
  std::map<std::string, Room> map;
  for (const Room& room : rooms_from_cmake()) map[room.name] = room;
  return map;
}

TEST(StructureTest, TheTableIsReadFromCMake) {
  const auto rooms = room_map();
  ASSERT_TRUE(rooms.contains("base"));
  ASSERT_TRUE(rooms.contains("app"));
  EXPECT_TRUE(rooms.at("base").uses.empty());
  EXPECT_TRUE(rooms.at("tune").uses.contains("bench"));
}

TEST(StructureTest, RoomsUseOnlyRoomsDeclaredBeforeThem) {
  std::set<std::string> below;
  for (const Room& room : rooms_from_cmake()) {
    for (const std::string& used : room.uses) {
      EXPECT_TRUE(below.contains(used)) << room.name << " uses " << used << ", which is not below it";
    }
    below.insert(room.name);
  }
}

TEST(StructureTest, NoRoomIncludesUpwards) {
  const auto rooms = room_map();
  const auto includes = includes_of("src");
  ASSERT_GT(includes.size(), 100U);
  for (const Include& include : includes) {
    const std::string text = complaint(include, rooms);
    EXPECT_TRUE(text.empty()) << text;
  }
}

TEST(StructureTest, EveryFolderOfSrcIsARoom) {
  const auto rooms = room_map();
  for (const std::string& folder : list_folder(std::string(TUNESMITH_SOURCE_DIR) + "/src")) {
    EXPECT_TRUE(rooms.contains(folder)) << "src/" << folder << " has no ts_room line";
  }
}

// What each heavy header costs every file that includes it is seconds; here is who may pay.
TEST(StructureTest, HeavyHeadersStayInTheirFiles) {
  struct Rule {
    std::string prefix;
    std::vector<std::string> allowed;  ///< prefixes of files
  };
  const std::vector<Rule> rules = {
      {"CLI/", {"src/app/parse_options.cpp"}},
      {"sqlite3.h", {"src/store/"}},
      {"zlib.h", {"src/recording/"}},
      {"openssl/", {"src/base/hash.cpp"}},
      {"boost/json", {"src/base/"}},
      {"boost/asio", {"src/net/"}},
      {"boost/beast", {"src/net/"}},
      {"boost/", {"src/base/", "src/net/", "src/app/version.cpp"}},
      {"Eigen/", {}},
      {"regex", {}},
      {"spawn.h", {"src/os/"}},
      {"sys/ptrace.h", {"src/os/", "src/bench/worker/"}},
      {"linux/landlock.h", {"src/os/"}},
      {"linux/seccomp.h", {"src/os/"}},
      {"dlfcn.h", {"src/bench/"}},
      {"gtest/", {}},
  };
  for (const Include& include : includes_of("src")) {
    if (include.quoted) continue;
    for (const Rule& rule : rules) {
      if (!include.target.starts_with(rule.prefix)) continue;
      bool allowed = false;
      for (const std::string& prefix : rule.allowed) allowed = allowed || include.file.starts_with(prefix);
      EXPECT_TRUE(allowed) << include.file << ":" << include.line << ": <" << include.target
                           << "> is not allowed here";
      break;  // the first rule that matches is the narrowest
    }
  }
}

// The check must be able to fail: planted faults are found.
TEST(StructureTest, FindsAPlantedUpwardInclude) {
  const auto rooms = room_map();
  const auto planted =
      includes_of_text("src/space/x.cpp", "int a;\n#  include \"tune/loop.h\"\n#include <vector>\n");
  ASSERT_EQ(planted.size(), 2U);
  EXPECT_EQ(planted[0].line, 2);
  EXPECT_FALSE(complaint(planted[0], rooms).empty());
  EXPECT_TRUE(complaint(planted[1], rooms).empty());
  EXPECT_FALSE(complaint({"src/bench/worker/x.cpp", 1, "base/json.h", true}, rooms).empty());
  EXPECT_TRUE(complaint({"src/tune/x.cpp", 1, "bench/bench.h", true}, rooms).empty());
}

TEST(StructureTest, FilesStayShortEnoughToRead) {
  for (const std::string& file : source_files("src")) {
    const auto text = read_file(std::string(TUNESMITH_SOURCE_DIR) + "/" + file);
    ASSERT_TRUE(text);
    // 400 is where a file is asked what second idea it holds; 600 is where it is told.
    EXPECT_LE(split_lines(*text).size(), 600U) << file;
  }
}

}  // namespace
}  // namespace tunesmith
