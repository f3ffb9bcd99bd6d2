#include "case/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace tunesmith {

namespace {

struct Refusal {
  std::string_view start;
  std::string_view why;
};

// Only for a better message: what is on no allow list is refused anyway. Longer beginnings stand first.
constexpr Refusal k_refusals[] = {
    {"-fplugin", "it loads a program into the compiler"},
    {"-Wl,", "it reaches the linker past this list"},
    {"-Wa,", "it reaches the assembler past this list"},
    {"-Wp,", "it reaches the preprocessor past this list"},
    {"-Xlinker", "it reaches the linker past this list"},
    {"-Xassembler", "it reaches the assembler past this list"},
    {"-Xpreprocessor", "it reaches the preprocessor past this list"},
    {"-Xclang", "it reaches the compiler's inside past this list"},
    {"-mllvm", "it reaches the compiler's inside past this list"},
    {"-B", "it makes the compiler run other programs"},
    {"-wrapper", "it makes the compiler run another program"},
    {"-specs", "it makes the compiler run other programs"},
    {"--specs", "it makes the compiler run other programs"},
    {"-fuse-ld", "it makes the compiler run another linker"},
    {"@", "a response file can hold any flag"},
    {"-include", "it reads a file that the case does not list"},
    {"-imacros", "it reads a file that the case does not list"},
    {"-isystem", "only -I<path> is allowed for include folders"},
    {"-iquote", "only -I<path> is allowed for include folders"},
    {"-idirafter", "only -I<path> is allowed for include folders"},
    {"--sysroot", "it exchanges the system's headers"},
    {"-o", "the builder names the output"},
    {"-x", "the case's source.language says it"},
    {"-L", "a library folder outside the system could bring any library"},
    {"-rpath", "a run path could bring any library"},
    {"-R", "a run path could bring any library"},
    {"-fdump", "it writes files of its own"},
    {"-fprofile", "it reads or writes files of its own"},
    {"-fauto-profile", "it reads a file that the case does not list"},
    {"-fsanitize", "the bench adds sanitizers itself where it checks with them"},
    {"-finstrument", "it changes what is measured"},
    {"-save-temps", "it writes files of its own"},
    {"-M", "it writes files of its own"},
    {"-shared", "the builder decides what is linked"},
    {"-static", "the builder decides what is linked"},
    {"-c", "the builder decides what is compiled"},
    {"-E", "the builder decides what is compiled"},
    {"-S", "the builder decides what is compiled"},
    {"-T", "a linker script is not a kernel's business"},
};

// Optimisation and code-generation switches without effects outside the object file; each also as -fno-….
const std::set<std::string, std::less<>>& safe_f_switches() {
  static const std::set<std::string, std::less<>> names = {"aggressive-loop-optimizations",
                                                           "align-functions",
                                                           "align-jumps",
                                                           "align-labels",
                                                           "align-loops",
                                                           "argument-alias",
                                                           "argument-noalias",
                                                           "associative-math",
                                                           "asynchronous-unwind-tables",
                                                           "auto-inc-dec",
                                                           "branch-count-reg",
                                                           "builtin",
                                                           "caller-saves",
                                                           "code-hoisting",
                                                           "combine-stack-adjustments",
                                                           "common",
                                                           "conserve-stack",
                                                           "cprop-registers",
                                                           "crossjumping",
                                                           "cse-follow-jumps",
                                                           "cx-fortran-rules",
                                                           "cx-limited-range",
                                                           "data-sections",
                                                           "dce",
                                                           "defer-pop",
                                                           "delete-null-pointer-checks",
                                                           "devirtualize",
                                                           "dse",
                                                           "early-inlining",
                                                           "exceptions",
                                                           "expensive-optimizations",
                                                           "fast-math",
                                                           "finite-loops",
                                                           "finite-math-only",
                                                           "float-store",
                                                           "forward-propagate",
                                                           "fp-contract",
                                                           "fp-int-builtin-inexact",
                                                           "function-cse",
                                                           "function-sections",
                                                           "gcse",
                                                           "gcse-after-reload",
                                                           "gcse-las",
                                                           "gcse-lm",
                                                           "gcse-sm",
                                                           "graphite-identity",
                                                           "guess-branch-probability",
                                                           "hoist-adjacent-loads",
                                                           "if-conversion",
                                                           "if-conversion2",
                                                           "indirect-inlining",
                                                           "inline",
                                                           "inline-functions",
                                                           "inline-functions-called-once",
                                                           "inline-limit",
                                                           "inline-small-functions",
                                                           "ipa-bit-cp",
                                                           "ipa-cp",
                                                           "ipa-cp-clone",
                                                           "ipa-icf",
                                                           "ipa-modref",
                                                           "ipa-profile",
                                                           "ipa-pta",
                                                           "ipa-pure-const",
                                                           "ipa-ra",
                                                           "ipa-sra",
                                                           "ipa-vrp",
                                                           "isolate-erroneous-paths-dereference",
                                                           "ivopts",
                                                           "jump-tables",
                                                           "keep-inline-functions",
                                                           "live-range-shrinkage",
                                                           "loop-block",
                                                           "loop-interchange",
                                                           "loop-nest-optimize",
                                                           "loop-parallelize-all",
                                                           "loop-strip-mine",
                                                           "loop-unroll-and-jam",
                                                           "lra-remat",
                                                           "lto",
                                                           "math-errno",
                                                           "merge-all-constants",
                                                           "merge-constants",
                                                           "modulo-sched",
                                                           "modulo-sched-allow-regmoves",
                                                           "move-loop-invariants",
                                                           "move-loop-stores",
                                                           "omit-frame-pointer",
                                                           "openmp",
                                                           "openmp-simd",
                                                           "optimize-sibling-calls",
                                                           "pack-struct",
                                                           "partial-inlining",
                                                           "peel-loops",
                                                           "peephole",
                                                           "peephole2",
                                                           "pic",
                                                           "PIC",
                                                           "predictive-commoning",
                                                           "prefetch-loop-arrays",
                                                           "reciprocal-math",
                                                           "ree",
                                                           "regmove",
                                                           "rename-registers",
                                                           "reorder-blocks",
                                                           "reorder-blocks-algorithm",
                                                           "reorder-blocks-and-partition",
                                                           "reorder-functions",
                                                           "rerun-cse-after-loop",
                                                           "reschedule-modulo-scheduled-loops",
                                                           "rounding-math",
                                                           "rtti",
                                                           "sched-critical-path-heuristic",
                                                           "sched-interblock",
                                                           "sched-last-insn-heuristic",
                                                           "sched-pressure",
                                                           "sched-rank-heuristic",
                                                           "sched-spec",
                                                           "sched-spec-insn-heuristic",
                                                           "sched-spec-load",
                                                           "sched-stalled-insns",
                                                           "sched-stalled-insns-dep",
                                                           "sched2-use-superblocks",
                                                           "schedule-fusion",
                                                           "schedule-insns",
                                                           "schedule-insns2",
                                                           "section-anchors",
                                                           "sel-sched-pipelining",
                                                           "sel-sched-pipelining-outer-loops",
                                                           "selective-scheduling",
                                                           "selective-scheduling2",
                                                           "short-enums",
                                                           "short-wchar",
                                                           "shrink-wrap",
                                                           "shrink-wrap-separate",
                                                           "signaling-nans",
                                                           "signed-char",
                                                           "signed-zeros",
                                                           "simd-cost-model",
                                                           "single-precision-constant",
                                                           "slp-vectorize",
                                                           "split-ivs-in-unroller",
                                                           "split-loops",
                                                           "split-paths",
                                                           "split-wide-types",
                                                           "split-wide-types-early",
                                                           "ssa-backprop",
                                                           "ssa-phiopt",
                                                           "stack-clash-protection",
                                                           "stack-protector",
                                                           "stdarg-opt",
                                                           "store-merging",
                                                           "strict-aliasing",
                                                           "strict-overflow",
                                                           "strict-volatile-bitfields",
                                                           "thread-jumps",
                                                           "threadsafe-statics",
                                                           "tracer",
                                                           "trapping-math",
                                                           "trapv",
                                                           "tree-bit-ccp",
                                                           "tree-builtin-call-dce",
                                                           "tree-ccp",
                                                           "tree-ch",
                                                           "tree-coalesce-vars",
                                                           "tree-copy-prop",
                                                           "tree-dce",
                                                           "tree-dominator-opts",
                                                           "tree-dse",
                                                           "tree-forwprop",
                                                           "tree-fre",
                                                           "tree-loop-distribute-patterns",
                                                           "tree-loop-distribution",
                                                           "tree-loop-if-convert",
                                                           "tree-loop-im",
                                                           "tree-loop-ivcanon",
                                                           "tree-loop-linear",
                                                           "tree-loop-optimize",
                                                           "tree-loop-vectorize",
                                                           "tree-partial-pre",
                                                           "tree-phiprop",
                                                           "tree-pre",
                                                           "tree-pta",
                                                           "tree-reassoc",
                                                           "tree-scev-cprop",
                                                           "tree-sink",
                                                           "tree-slp-vectorize",
                                                           "tree-slsr",
                                                           "tree-sra",
                                                           "tree-switch-conversion",
                                                           "tree-tail-merge",
                                                           "tree-ter",
                                                           "tree-vectorize",
                                                           "tree-vrp",
                                                           "unconstrained-commons",
                                                           "unit-at-a-time",
                                                           "unroll-all-loops",
                                                           "unroll-loops",
                                                           "unsafe-math-optimizations",
                                                           "unsigned-char",
                                                           "unswitch-loops",
                                                           "unwind-tables",
                                                           "variable-expansion-in-unroller",
                                                           "vect-cost-model",
                                                           "vectorize",
                                                           "version-loops-for-strides",
                                                           "visibility",
                                                           "vpt",
                                                           "web",
                                                           "whole-program",
                                                           "wrapv",
                                                           "wrapv-pointer",
                                                           "zero-initialized-in-bss",
                                                           "excess-precision",
                                                           "denormal-fp-math",
                                                           "tls-model",
                                                           "max-errors",
                                                           "diagnostics-color",
                                                           "permissive",
                                                           "char8_t",
                                                           "gnu89-inline",
                                                           "freestanding",
                                                           "hosted",
                                                           "strict-enums",
                                                           "constexpr-loop-limit",
                                                           "constexpr-ops-limit",
                                                           "template-depth",
                                                           "plt",
                                                           "semantic-interposition"};
  return names;
}

bool all_of_set(std::string_view text, std::string_view extra) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || extra.find(c) != std::string_view::npos;
  });
}

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

bool is_f_switch(std::string_view name) {
  if (starts(name, "no-")) name.remove_prefix(3);
  const std::size_t equals = name.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view value = name.substr(equals + 1);
    if (value.empty() || !all_of_set(value, "_.:-")) return false;
    name = name.substr(0, equals);
  }
  return safe_f_switches().contains(name);
}

bool is_machine_flag(std::string_view rest) {
  if (rest.empty() || starts(rest, "llvm")) return false;
  return std::isalnum(static_cast<unsigned char>(rest.front())) != 0 && all_of_set(rest, "_.+=-");
}

bool is_optimisation_level(std::string_view flag) {
  constexpr std::array<std::string_view, 9> levels = {"-O",  "-O0", "-O1", "-O2",   "-O3",
                                                      "-Os", "-Oz", "-Og", "-Ofast"};
  return std::find(levels.begin(), levels.end(), flag) != levels.end();
}

bool is_standard(std::string_view value) {
  constexpr std::array<std::string_view, 4> families = {"gnu++", "c++", "gnu", "c"};
  for (const std::string_view family : families) {
    if (starts(value, family))
      return value.size() > family.size() && value.size() <= family.size() + 3 &&
             all_of_set(value.substr(family.size()), "");
  }
  return false;
}

bool is_param(std::string_view text) {  // NAME=NUMBER
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0 && equals + 1 < text.size() &&
         all_of_set(text.substr(0, equals), "-_") && all_of_set(text.substr(equals + 1), "");
}

bool is_debug(std::string_view flag) {
  constexpr std::array<std::string_view, 6> levels = {"-g", "-g0", "-g1", "-g2", "-g3", "-ggdb"};
  return std::find(levels.begin(), levels.end(), flag) != levels.end();
}

bool is_warning(std::string_view rest) {
  return !rest.empty() && std::islower(static_cast<unsigned char>(rest.front())) != 0 &&
         all_of_set(rest, "+=_-");
}

tl::unexpected<Error> refuse(const std::string& flag, std::string_view why, std::string mend = "remove it") {
  return fail(ErrorCode::invalid, fmt::format("the flag \"{}\" is not allowed: {}", printable(flag), why),
              std::move(mend));
}

Result<std::string> check_define(const std::string& flag) {
  const std::string_view body = std::string_view(flag).substr(2);
  const std::size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  if (!is_c_identifier(name))
    return refuse(flag, "the macro's name must be a C identifier", "write -DNAME=value as one word");
  if (name == "real" || starts(name, "tunesmith") || starts(name, "__")) {
    return refuse(flag, fmt::format("the name {} is reserved", name), "choose another name");
  }
  if (flag[1] == 'U' && equals != std::string_view::npos) return refuse(flag, "-U takes a name alone");
  if (equals != std::string_view::npos && !all_of_set(body.substr(equals + 1), "_.+-")) {
    return refuse(flag, "a macro's value may hold letters, digits and _ . + - only",
                  "put a longer text into the source behind an #ifndef");
  }
  return flag;
}

Result<std::string> check_include(const std::string& flag, const FlagFolders& folders) {
  namespace fs = std::filesystem;
  const std::string path = flag.substr(2);
  if (path.empty()) return refuse(flag, "the folder is missing", "write -Ifolder as one word");
  std::error_code error;
  const fs::path wanted = fs::weakly_canonical(fs::path(folders.base) / path, error);
  for (const std::string& allowed : folders.allowed) {
    std::error_code ignored;
    const fs::path inside = wanted.lexically_relative(fs::weakly_canonical(allowed, ignored));
    if (!error && !inside.empty() && *inside.begin() != "..") {
      if (!is_folder(wanted.string()))
        return refuse(flag, "there is no such folder", "check the path; it starts at the case file");
      return "-I" + wanted.string();
    }
  }
  return refuse(flag, "include folders must lie inside the case's folder or beside one of its sources",
                "move the headers there, or list the folder's file in source.files");
}

}  // namespace

Result<std::string> check_flag(const std::string& flag, FlagUse use, const FlagFolders& folders) {
  if (flag.empty()) return refuse(flag, "it is empty");
  constexpr std::string_view k_meta = " \t\n\r'\"`$&|;<>(){}[]*?!#~\\%^";
  if (const std::size_t at = flag.find_first_of(k_meta); at != std::string::npos) {
    return refuse(
        flag, fmt::format("the character '{}' could be misread by a shell", printable(flag.substr(at, 1))),
        "give one flag a string, without quotes; no shell reads it");
  }
  const std::string_view text = flag;
  if (starts(text, "-I")) return check_include(flag, folders);
  if (starts(text, "-D") || starts(text, "-U")) return check_define(flag);
  if (starts(text, "-l")) {
    const std::string_view name = text.substr(2);
    const bool plain = !name.empty() && name.front() != '-' && is_plain_word(name);
    if (!plain) return refuse(flag, "a library is given by its plain name", "write -lname");
    if (use == FlagUse::library) return flag;
    return refuse(flag, "candidates link no libraries",
                  "give the library to the baseline's or the reference's own source.flags");
  }
  for (const Refusal& refusal : k_refusals) {
    // "-O2" must not be caught by "-o", nor "-msse" by "-M": the comparison is exact in case.
    if (starts(text, refusal.start)) return refuse(flag, refusal.why);
  }
  const bool known = is_optimisation_level(text) || is_debug(text) || text == "-pthread" || text == "-pipe" ||
                     text == "-w" || text == "-pedantic" || text == "-ansi" ||
                     (starts(text, "-std=") && is_standard(text.substr(5))) ||
                     (starts(text, "-m") && is_machine_flag(text.substr(2))) ||
                     (starts(text, "-f") && is_f_switch(text.substr(2))) ||
                     (starts(text, "-W") && is_warning(text.substr(2))) ||
                     (starts(text, "--param=") && is_param(text.substr(8)));
  if (known) return flag;
  if (text == "--param")
    return refuse(flag, "its value must be in the same word", "write --param=name=number");
  return refuse(flag, "it is not on the list of known, harmless flags",
                "allowed are -O -std= -march= -mtune= -m -f<optimisation> -D -U -W -g -I -pthread --param=");
}

Result<std::vector<std::string>> placeholders(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos)
      return fail(ErrorCode::invalid, fmt::format("\"{}\" opens a brace and never closes it", text));
    names.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return names;
}

Result<std::string> fill_placeholders(const std::string& text, const space::Space& space,
                                      const space::Config& config) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = text.find('{', at);
    if (open == std::string::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos)
      return fail(ErrorCode::invalid, fmt::format("\"{}\" opens a brace and never closes it", text));
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto parameter = space.parameter_index(name);
    if (!parameter)
      return fail(ErrorCode::invalid, fmt::format("\"{}\" names {}, which is no parameter", text, name));
    out += text.substr(at, open - at) + space::macro_text(space.value(config, *parameter));
    at = close + 1;
  }
  return out + text.substr(at);
}

Result<std::vector<std::string>> fill_placeholders(const std::vector<std::string>& texts,
                                                   const space::Space& space, const space::Config& config) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    TS_ASSIGN(std::string filled, fill_placeholders(text, space, config));
    out.push_back(std::move(filled));
  }
  return out;
}

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && all_of_set(text, "_.+-");
}

bool is_c_identifier(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         all_of_set(text, "_");
}

bool is_c_keyword(std::string_view text) {
  static const std::set<std::string, std::less<>> words = {
      "alignas",  "alignof", "and",      "asm",       "auto",    "bool",          "break",    "case",
      "catch",    "char",    "class",    "concept",   "const",   "constexpr",     "continue", "decltype",
      "default",  "delete",  "do",       "double",    "else",    "enum",          "explicit", "export",
      "extern",   "false",   "float",    "for",       "friend",  "goto",          "if",       "inline",
      "int",      "long",    "mutable",  "namespace", "new",     "noexcept",      "not",      "nullptr",
      "operator", "or",      "private",  "protected", "public",  "register",      "requires", "restrict",
      "return",   "short",   "signed",   "sizeof",    "static",  "static_assert", "struct",   "switch",
      "template", "this",    "throw",    "true",      "try",     "typedef",       "typeid",   "typename",
      "typeof",   "union",   "unsigned", "using",     "virtual", "void",          "volatile", "while",
      "xor"};
  return words.contains(text);
}

}  // namespace tunesmith
