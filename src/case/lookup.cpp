#include "case/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace tunesmith {

std::vector<std::string> case_folders() {
  std::vector<std::string> folders = {absolute_path("cases")};
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!error) {
    const std::string root = parent_folder(parent_folder(program));
    folders.push_back(root + "/cases");
    folders.push_back(root + "/share/tunesmith/cases");
  }
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    if (is_folder(folder) && std::find(found.begin(), found.end(), folder) == found.end())
      found.push_back(folder);
  }
  return found;
}

std::vector<std::string> case_names() {
  std::set<std::string> names;
  for (const std::string& folder : case_folders()) {
    for (const std::string& file : list_folder(folder)) {
      if (file.ends_with(".json")) names.insert(file.substr(0, file.size() - 5));
    }
  }
  return {names.begin(), names.end()};
}

Result<std::string> find_case_file(const std::string& path_or_name) {
  if (path_or_name.empty())
    return fail(ErrorCode::usage, "no case was named", "give a case file or the name of a ready case");
  const bool is_path = path_or_name.find('/') != std::string::npos || path_or_name.ends_with(".json");
  if (is_path) {
    const std::string path = absolute_path(path_or_name);
    if (exists(path)) return path;
    return fail(ErrorCode::unreadable, "there is no such case file", "check the path", Place{path, 0, 0, {}});
  }
  for (const std::string& folder : case_folders()) {
    const std::string path = folder + "/" + path_or_name + ".json";
    if (exists(path)) return path;
  }
  if (exists(path_or_name) && !is_folder(path_or_name)) return absolute_path(path_or_name);
  const std::vector<std::string> known = case_names();
  const std::string near = nearest(path_or_name, known);
  std::string mend = "give the path of a case file";
  if (!known.empty()) mend = fmt::format("ready cases are {}", join(known, ", "));
  if (!near.empty()) mend = fmt::format("did you mean \"{}\"?", near);
  return fail(ErrorCode::unreadable, fmt::format("there is no case named \"{}\"", printable(path_or_name)),
              mend);
}

}  // namespace tunesmith
