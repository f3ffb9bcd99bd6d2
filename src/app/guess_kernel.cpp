#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "app/guess.h"
#include "app/source_text.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

struct Function {
  std::string name;
  std::size_t at = 0;
  std::string_view arguments;
  std::string_view body;
};

/// Definitions `void NAME(…) {` at the top level of a region, static ones left out.
std::vector<Function> functions_in(std::string_view region, std::size_t offset) {
  std::vector<Function> found;
  std::size_t statement = 0;
  for (std::size_t i = 0; i < region.size(); ++i) {
    if (region[i] == ';') statement = i + 1;
    if (region[i] == '#') {  // a directive is no statement; its line may be continued
      while (i < region.size() && !(region[i] == '\n' && region[i - 1] != '\\')) ++i;
      statement = i;
      continue;
    }
    if (region[i] != '{') continue;
    const std::size_t end = closing(region, i);
    if (end == std::string_view::npos) break;
    const std::string_view head = region.substr(statement, i - statement);
    const std::size_t open = head.find('(');
    const std::size_t word = find_word(head, "void");
    if (open != std::string_view::npos && word != std::string_view::npos && word < open &&
        !has_word(head.substr(0, open), "static")) {
      const std::size_t close = closing(head, open);
      const std::vector<std::string> words = words_of(head.substr(word + 4, open - word - 4));
      if (close != std::string_view::npos && !words.empty()) {
        found.push_back({words.back(), offset + statement + open, head.substr(open + 1, close - open - 1),
                         region.substr(i, end - i + 1)});
      }
    }
    i = end;
    statement = end + 1;
  }
  return found;
}

/// Everything with C linkage: a C file as a whole, or what stands under extern "C".
std::vector<Function> linkable(std::string_view text, bool c_language) {
  if (c_language) return functions_in(text, 0);
  std::vector<Function> found;
  for (std::size_t at = text.find("extern"); at != std::string_view::npos; at = text.find("extern", at + 1)) {
    std::size_t next = skip_space(text, at + 6);
    if (text.substr(next, 3) != "\"C\"") continue;
    next = skip_space(text, next + 3);
    std::size_t end = 0;
    if (next < text.size() && text[next] == '{') {
      end = closing(text, next);
      if (end == std::string_view::npos) break;
      for (Function& function : functions_in(text.substr(next + 1, end - next - 1), next + 1))
        found.push_back(function);
      continue;
    }
    const std::size_t body = text.find('{', next);
    const std::size_t semicolon = text.find(';', next);
    if (body == std::string_view::npos || semicolon < body) continue;  // a declaration
    end = closing(text, body);
    if (end == std::string_view::npos) break;
    for (Function& function : functions_in(text.substr(next, end - next + 1), next))
      found.push_back(function);
  }
  return found;
}

std::string dtype_of(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word == "signed") word = "int";
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  static const std::map<std::string, std::string> table = {
      {"float", "f32"},
      {"double", "f64"},
      {"_Float16", "f16"},
      {"int", "i32"},
      {"int32_t", "i32"},
      {"unsigned", "u32"},
      {"int unsigned", "u32"},
      {"uint32_t", "u32"},
      {"long", "i64"},
      {"int long", "i64"},
      {"int64_t", "i64"},
      {"ptrdiff_t", "i64"},
      {"ssize_t", "i64"},
      {"size_t", "u64"},
      {"uint64_t", "u64"},
      {"long unsigned", "u64"},
      {"int long unsigned", "u64"},
      {"short", "i16"},
      {"int short", "i16"},
      {"int16_t", "i16"},
      {"short unsigned", "u16"},
      {"uint16_t", "u16"},
      {"char", "i8"},
      {"char int", "i8"},
      {"int8_t", "i8"},
      {"char unsigned", "u8"},
      {"uint8_t", "u8"},
      {"real", "f32"},
  };
  const auto found = table.find(join(words, " "));
  return found == table.end() ? "" : found->second;
}

Result<GuessedArgument> argument_of(std::string_view text, const Place& place) {
  GuessedArgument out;
  out.pointer = text.find_first_of("*[") != std::string_view::npos;
  std::vector<std::string> words = words_of(text.substr(0, text.find('[')));
  const bool is_const = has_word(text.substr(0, text.find('*')), "const");
  std::erase_if(words, [](const std::string& word) {
    return word == "const" || word == "restrict" || word == "__restrict" || word == "__restrict__" ||
           word == "volatile" || word == "struct" || word == "std";
  });
  if (words.size() < 2) {
    return fail(ErrorCode::invalid, fmt::format("cannot read the argument \"{}\"", trim(text)),
                "give it a type and a name", place);
  }
  out.name = words.back();
  words.pop_back();
  out.type = dtype_of(words);
  if (out.type.empty()) {
    return fail(ErrorCode::invalid,
                fmt::format("the argument {} has the type {}, which is none a case can fill", out.name,
                            join(words, " ")),
                "use plain numbers and pointers to them", place);
  }
  if (out.pointer) out.role = is_const ? "in" : "out";
  return out;
}

bool is_dimension(const GuessedArgument& argument) {
  return !argument.pointer && (argument.type.front() == 'i' || argument.type.front() == 'u');
}

/// Loop variable -> the dimension that bounds it, through one level of blocking.
std::map<std::string, std::string> loop_bounds(std::string_view body,
                                               const std::vector<std::string>& dimensions) {
  std::map<std::string, std::string> bounds;
  for (std::size_t at = find_word(body, "for"); at != std::string_view::npos;
       at = find_word(body, "for", at + 1)) {
    const std::size_t open = skip_space(body, at + 3);
    if (open >= body.size() || body[open] != '(') continue;
    const std::size_t close = closing(body, open);
    if (close == std::string_view::npos) break;
    const auto parts = split(body.substr(open + 1, close - open - 1), ';');
    if (parts.size() != 3) continue;
    const std::size_t less = parts[1].find('<');
    if (less == std::string_view::npos) continue;
    const std::vector<std::string> left = words_of(parts[1].substr(0, less));
    if (left.empty()) continue;
    std::vector<std::string> right = words_of(parts[1].substr(less));
    const std::vector<std::string> start = words_of(parts[0]);
    right.insert(right.end(), start.begin(), start.end());  // for (i = block; …): block is bounded already
    for (const std::string& word : right) {
      if (std::find(dimensions.begin(), dimensions.end(), word) != dimensions.end()) {
        bounds[left.front()] = word;
        break;
      }
      if (word != left.front() && bounds.contains(word)) {
        bounds[left.front()] = bounds[word];
        break;
      }
    }
  }
  return bounds;
}

void read_uses(GuessedArgument& argument, std::string_view body,
               const std::map<std::string, std::string>& bounds) {
  bool written = false;
  bool read_before = false;
  for (std::size_t at = find_word(body, argument.name); at != std::string_view::npos;
       at = find_word(body, argument.name, at + 1)) {
    const std::size_t open = skip_space(body, at + argument.name.size());
    if (open >= body.size() || body[open] != '[') continue;
    const std::size_t close = closing(body, open);
    if (close == std::string_view::npos) break;
    for (const std::string& word : words_of(body.substr(open, close - open))) {
      const auto bound = bounds.find(word);
      if (bound == bounds.end()) continue;
      if (std::find(argument.sides.begin(), argument.sides.end(), bound->second) == argument.sides.end()) {
        argument.sides.push_back(bound->second);
      }
    }
    const std::size_t next = skip_space(body, close + 1);
    const bool plain_write = next + 1 < body.size() && body[next] == '=' && body[next + 1] != '=';
    if (!plain_write) {
      read_before = read_before || !written;
    } else if (!written) {
      written = true;
      // y[i] = a * x[i] + y[i] reads what it writes.
      const std::size_t end = body.find(';', next);
      read_before = read_before || has_word(body.substr(next, end - next), argument.name);
    }
  }
  if (argument.role == "out" && read_before) argument.role = "inout";
  if (argument.role == "out" && !written) argument.role = "inout";  // written in a way we cannot see
}

/// Whether a macro is asked for as a condition. A step or a size of 0 would leave its loop without end.
bool asked_as_switch(std::string_view text, const std::string& name) {
  for (const std::string_view line : split_lines(text)) {
    const std::string_view words = trim(line);
    const bool directive = words.starts_with("#if") && !words.starts_with("#ifndef");
    if (directive && has_word(words, name)) return true;
    std::size_t at = find_word(words, name);
    if (at == std::string_view::npos || words.starts_with("#")) continue;
    const std::string_view before = trim(words.substr(0, at));
    const std::string_view after = trim(words.substr(at + name.size()));
    const bool opens = before.ends_with("if (") || before.ends_with("if(") || before.ends_with("constexpr (");
    if (before.ends_with("!") || after.starts_with("?") || (opens && after.starts_with(")"))) return true;
  }
  return false;
}

std::vector<GuessedParameter> macros_with_defaults(std::string_view text) {
  std::vector<GuessedParameter> out;
  std::string pending;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const std::string_view words = trim(line);
    if (words.empty()) continue;
    if (words.starts_with("#ifndef")) {
      pending = trim(words.substr(7));
      continue;
    }
    if (words.starts_with("#define") && !pending.empty()) {
      const std::string_view rest = trim(words.substr(7));
      const std::string_view value = trim(rest.substr(std::min(rest.size(), pending.size())));
      if (rest.starts_with(pending) && !value.empty() && pending != "real") {
        out.push_back({pending, std::string(value), number, asked_as_switch(text, pending)});
      }
    }
    pending.clear();
  }
  return out;
}

}  // namespace

Result<GuessedKernel> guess_kernel(std::string_view source, const std::string& file,
                                   const std::string& entry) {
  GuessedKernel kernel;
  kernel.language = file.ends_with(".c") ? "c" : "c++";
  const std::string text = without_comments(source);
  const std::vector<Function> functions = linkable(text, kernel.language == "c");
  const Function* chosen = nullptr;
  std::vector<std::string> names;
  for (const Function& function : functions) {
    names.push_back(function.name);
    if (chosen == nullptr && (entry.empty() || function.name == entry)) chosen = &function;
  }
  if (chosen == nullptr) {
    if (!entry.empty()) {
      return fail(ErrorCode::invalid, fmt::format("no function void {}(…) with C linkage", printable(entry)),
                  names.empty() ? "write extern \"C\" before it" : "there is " + join(names, ", "),
                  Place{file, 0, 0, {}});
    }
    return fail(ErrorCode::invalid, "no function void NAME(…) with C linkage",
                kernel.language == "c" ? "the kernel must return void"
                                       : "write extern \"C\" before the kernel, and let it return void",
                Place{file, 0, 0, {}});
  }
  kernel.entry = chosen->name;
  const Place place{file, line_at(text, chosen->at), 0, chosen->name};
  std::vector<std::string> dimensions;
  for (const std::string_view part : split(chosen->arguments, ',')) {
    if (trim(part).empty() || trim(part) == "void") continue;
    TS_ASSIGN(GuessedArgument argument, argument_of(part, place));
    if (is_dimension(argument)) dimensions.push_back(argument.name);
    kernel.arguments.push_back(std::move(argument));
  }
  const auto bounds = loop_bounds(chosen->body, dimensions);
  bool output = false;
  for (GuessedArgument& argument : kernel.arguments) {
    if (!argument.pointer) continue;
    read_uses(argument, chosen->body, bounds);
    output = output || argument.role != "in";
  }
  if (!output) {
    return fail(ErrorCode::invalid,
                fmt::format("{} has no pointer that it could write through", kernel.entry),
                "a kernel returns its result through a pointer that is not const", place);
  }
  kernel.parameters = macros_with_defaults(text);
  kernel.vector_code =
      text.find("_mm") != std::string::npos || text.find("vector_size") != std::string::npos ||
      text.find("arm_neon") != std::string::npos || text.find("sizeof(float") != std::string::npos;
  return kernel;
}

std::string double_twin(std::string_view source) {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"float", "real"}, {"double", "real"}, {"sqrtf", "sqrt"}, {"expf", "exp"},
      {"exp2f", "exp2"}, {"logf", "log"},    {"fabsf", "fabs"}, {"fmaxf", "fmax"},
      {"fminf", "fmin"}, {"fmaf", "fma"},    {"powf", "pow"},   {"tanhf", "tanh"},
      {"sinf", "sin"},   {"cosf", "cos"},    {"erff", "erf"},   {"floorf", "floor"}};
  std::string out = "#ifndef real\n#define real double\n#endif\n";
  for (std::size_t i = 0; i < source.size();) {
    if (!is_word_char(source[i])) {
      out += source[i++];
      continue;
    }
    std::size_t end = i;
    while (end < source.size() && is_word_char(source[end])) ++end;
    const std::string_view word = source.substr(i, end - i);
    const auto found = words.find(word);
    out += found == words.end() ? word : std::string_view(found->second);
    i = end;
  }
  return out;
}

}  // namespace tunesmith::app
