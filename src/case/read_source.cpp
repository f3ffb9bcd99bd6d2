#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "case/reader.h"

namespace tunesmith::reader {

namespace {

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<std::vector<std::string>> read_paths(const Node& node, const Context& context) {
  TS_ASSIGN(const auto items, node.items());
  std::vector<std::string> paths;
  for (const Node& item : items) {
    TS_ASSIGN(const std::string text, item.as_string());
    if (text.empty() || text.find('\0') != std::string::npos) return item.error("must be a file's path");
    const std::string path = resolve(context, text);
    if (!exists(path)) {
      return item.error(fmt::format("the source file {} does not exist", path),
                        "paths are relative to the case file; check the name");
    }
    if (!is_regular_file(path)) return item.error(fmt::format("{} is no regular file", path));
    if (path.find_first_of("\"\\\n\r") != std::string::npos) {
      // The path goes into an #include line.
      return item.error("a source file's path must not hold quotes, backslashes or line ends",
                        "rename the file");
    }
    if (std::find(paths.begin(), paths.end(), path) != paths.end())
      return item.error(fmt::format("{} is listed twice", text), "list it once");
    paths.push_back(path);
  }
  return paths;
}

/// Sources are built as copies side by side in one folder: names must differ there, and only listed files are
/// in it.
Status check_copies(const Node& node, const SourceSet& source) {
  TS_ASSIGN(const Node files, node.get("files"));
  std::set<std::string> names;
  for (const std::string& path : source.files) {
    if (names.insert(base_name(path)).second) continue;
    return files.error(fmt::format("two files have the name {}", base_name(path)),
                       "rename one: they are built in one folder");
  }
  for (std::size_t i = 0; i < source.editable.size(); ++i) {
    const std::string& path = source.editable[i];
    if (std::find(source.files.begin(), source.files.end(), path) != source.files.end()) continue;
    TS_ASSIGN(const Node editable, node.get("editable"));
    TS_ASSIGN(const auto items, editable.items());
    return items[i].error(fmt::format("{} is editable, but not one of the source's files", base_name(path)),
                          "list it under \"files\" as well; headers too");
  }
  return {};
}

/// Positions of all combinations of the named parameters' values, others at their first value.
Status check_with_every_value(const Node& node, const std::string& flag,
                              const std::vector<std::string>& names, const FlagFolders& folders,
                              const space::Space& space) {
  std::vector<std::size_t> parameters;
  double combinations = 1;
  for (const std::string& name : names) {
    const auto parameter = space.parameter_index(name);
    if (!parameter) {
      std::vector<std::string> known;
      for (const space::Parameter& p : space.parameters()) known.push_back(p.name);
      const std::string near = nearest(name, known);
      return node.error(
          fmt::format("{{{}}} names no parameter", name),
          near.empty() ? "name a key of \"parameters\"" : fmt::format("did you mean {{{}}}?", near));
    }
    if (std::find(parameters.begin(), parameters.end(), *parameter) != parameters.end()) continue;
    parameters.push_back(*parameter);
    combinations *= static_cast<double>(space.parameters()[*parameter].values.size());
  }
  constexpr double k_most_combinations = 10000;
  if (combinations > k_most_combinations)
    return node.error("holds too many parameters to check every flag it can become", "split it");
  space::Config config{std::vector<std::uint32_t>(space.parameters().size(), 0)};
  while (true) {
    TS_ASSIGN(const std::string filled, fill_placeholders(flag, space, config));
    if (const auto checked = check_flag(filled, FlagUse::compile, folders); !checked) {
      return node.error(checked.error().message, checked.error().mend);
    }
    std::size_t i = 0;
    for (; i < parameters.size(); ++i) {
      std::uint32_t& at = config.at[parameters[i]];
      if (++at < space.parameters()[parameters[i]].values.size()) break;
      at = 0;
    }
    if (i == parameters.size()) return {};
  }
}

Status check_argv(const Node& node, const std::vector<std::string>& argv, const Case& c,
                  const std::set<std::string>& extra) {
  if (argv.empty())
    return node.error("must hold at least the program",
                      "give the command as a list of words, without a shell");
  TS_ASSIGN(const auto items, node.items());
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i].find('\0') != std::string::npos) return items[i].error("must not hold a NUL character");
    const auto names = placeholders(argv[i]);
    if (!names) return items[i].error(names.error().message);
    for (const std::string& name : *names) {
      if (extra.contains(name) || c.space.parameter_index(name)) continue;
      return items[i].error(fmt::format("{{{}}} names neither a parameter nor {{out}} or {{result}}", name));
    }
  }
  if (argv[0].empty()) return items[0].error("must name a program");
  return {};
}

}  // namespace

std::string resolve(const Context& context, const std::string& path) {
  return absolute_path(path.front() == '/' ? path : context.folder + "/" + path);
}

FlagFolders flag_folders(const Context& context, const std::vector<std::string>& files) {
  FlagFolders folders{context.folder, {context.folder}};
  for (const std::string& file : files) folders.allowed.push_back(parent_folder(file));
  return folders;
}

Result<std::string> word_of(const Node& node, const std::vector<std::string>& words) {
  TS_ASSIGN(std::string word, node.as_string());
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  const std::string near = nearest(word, words);
  return node.error(fmt::format("unknown value \"{}\"", word),
                    near.empty() ? fmt::format("it is one of {}", join(words, ", "))
                                 : fmt::format("did you mean \"{}\"?", near));
}

Result<std::string> identifier(const Node& node, const char* what) {
  TS_ASSIGN(std::string name, node.as_string());
  if (!is_c_identifier(name)) {
    return node.error(fmt::format("{} \"{}\" is no C identifier", what, name),
                      "use letters, digits and _, not beginning with a digit");
  }
  if (is_c_keyword(name))
    return node.error(fmt::format("{} \"{}\" is a word of C or C++", what, name), "choose another name");
  if (name.starts_with("tunesmith_"))
    return node.error(fmt::format("{} \"{}\" is reserved", what, name), "choose a name without tunesmith_");
  return name;
}

Result<SourceSet> read_source(const Node& node, const Context& context, SourceUse use) {
  SourceSet source;
  std::vector<std::string> known = {"language", "files", "entry"};
  known.emplace_back(use == SourceUse::candidate ? "editable" : "flags");
  TS_TRY(node.only_keys(known));
  if (const auto language = node.find("language")) {
    TS_ASSIGN(source.language, word_of(*language, {"c", "c++"}));
  }
  TS_ASSIGN(const Node files, node.get("files"));
  TS_ASSIGN(source.files, read_paths(files, context));
  if (source.files.empty()) return files.error("must list at least one file");
  TS_ASSIGN(const Node entry, node.get("entry"));
  TS_ASSIGN(source.entry, identifier(entry, "the entry"));
  if (source.entry == "main")
    return entry.error("the entry must not be main", "move the kernel into a function of its own");
  if (const auto editable = node.find("editable")) {
    TS_ASSIGN(source.editable, read_paths(*editable, context));
  }
  TS_TRY(check_copies(node, source));
  if (const auto flags = node.find("flags")) {
    const FlagFolders folders = flag_folders(context, source.files);
    TS_ASSIGN(const auto items, flags->items());
    for (const Node& item : items) {
      TS_ASSIGN(const std::string flag, item.as_string());
      auto checked = check_flag(flag, FlagUse::library, folders);
      if (!checked) return item.error(checked.error().message, checked.error().mend);
      source.flags.push_back(std::move(*checked));
    }
  }
  return source;
}

Result<CommandLines> read_command(const Node& node, const Context& context, Case& c) {
  CommandLines command;
  TS_TRY(node.only_keys({"build", "run", "library", "entry"}));
  if (const auto build = node.find("build")) {
    TS_ASSIGN(command.build, build->as_strings());
    TS_TRY(check_argv(*build, command.build, c, {"out", "result"}));
  }
  if (const auto run = node.find("run")) {
    TS_ASSIGN(command.run, run->as_strings());
    TS_TRY(check_argv(*run, command.run, c, {"out", "result"}));
  }
  if (const auto library = node.find("library")) {
    TS_ASSIGN(command.library, library->as_string());
    if (command.library.empty())
      return library->error("must be the path of the built shared library",
                            "leave it out when there is none");
    const auto names = placeholders(command.library);
    if (!names) return library->error(names.error().message);
    for (const std::string& name : *names) {
      if (name != "out" && !c.space.parameter_index(name))
        return library->error(fmt::format("{{{}}} names neither a parameter nor {{out}}", name));
    }
    if (names->empty() || command.library.front() != '{') command.library = resolve(context, command.library);
    const auto entry = node.find("entry");
    if (!entry)
      return node.error("the key \"entry\" is missing", "name the C function that the library offers");
    TS_ASSIGN(c.source.entry, identifier(*entry, "the entry"));
  }
  if (command.library.empty() && command.run.empty()) {
    return node.error(
        "needs \"library\" (a shared library with the C entry) or \"run\" (a command that reports a result)",
        "give \"library\" when you can: only then the examiner measures");
  }
  return command;
}

Status read_flags(const Node& root, const Context& context, Case& c) {
  const auto node = root.find("flags");
  if (!node) return {};
  const FlagFolders folders = flag_folders(context, c.source.files);
  TS_ASSIGN(const auto items, node->items());
  for (const Node& item : items) {
    TS_ASSIGN(const std::string flag, item.as_string());
    const auto names = placeholders(flag);
    if (!names) return item.error(names.error().message);
    if (!names->empty()) {
      if (flag.starts_with("-I")) return item.error("an include folder must not depend on a parameter");
      TS_TRY(check_with_every_value(item, flag, *names, folders, c.space));
      c.flags.push_back(flag);
      continue;
    }
    auto checked = check_flag(flag, FlagUse::compile, folders);
    if (!checked) return item.error(checked.error().message, checked.error().mend);
    const std::string macro = flag.substr(0, flag.find('='));
    if ((macro.starts_with("-D") || macro.starts_with("-U")) && c.space.parameter_index(macro.substr(2))) {
      return item.error(
          fmt::format("{} is a parameter, and its macro is set for each candidate", macro.substr(2)),
          "remove the flag");
    }
    c.flags.push_back(std::move(*checked));
  }
  return {};
}

}  // namespace tunesmith::reader
