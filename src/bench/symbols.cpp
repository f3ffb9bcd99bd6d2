#include "bench/symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace tunesmith::bench {

namespace {

/// Copies a struct out of the file when it lies wholly inside.
template <class T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset, 512);
  return std::string(rest.substr(0, rest.find('\0')));
}

tl::unexpected<Error> malformed() {
  return fail(ErrorCode::invalid, "the built library is not a well-formed 64-bit ELF file");
}

constexpr std::array<std::string_view, 44> k_math = {
    "exp",   "exp2", "expm1", "log",    "log2",    "log10", "log1p",    "pow",       "sqrt",
    "cbrt",  "sin",  "cos",   "tan",    "asin",    "acos",  "atan",     "atan2",     "sinh",
    "cosh",  "tanh", "asinh", "acosh",  "atanh",   "erf",   "erfc",     "fmod",      "remainder",
    "floor", "ceil", "round", "lround", "llround", "trunc", "rint",     "nearbyint", "fmax",
    "fmin",  "fabs", "fma",   "ldexp",  "frexp",   "hypot", "copysign", "sincos"};

constexpr std::array<std::string_view, 27> k_plain = {"memcpy",
                                                      "memmove",
                                                      "memset",
                                                      "memcmp",
                                                      "malloc",
                                                      "free",
                                                      "calloc",
                                                      "realloc",
                                                      "aligned_alloc",
                                                      "posix_memalign",
                                                      "abort",
                                                      "__stack_chk_fail",
                                                      "__cxa_finalize",
                                                      "__gmon_start__",
                                                      "_ITM_deregisterTMCloneTable",
                                                      "_ITM_registerTMCloneTable",
                                                      "__cxa_atexit",
                                                      "__cxa_pure_virtual",
                                                      "__gxx_personality_v0",
                                                      "_Unwind_Resume",
                                                      "__memcpy_chk",
                                                      "__memset_chk",
                                                      "__memmove_chk",
                                                      "__assert_fail",
                                                      "bcmp",
                                                      "__errno_location",
                                                      "qsort"};

bool is_math(std::string_view name) {
  // glibc's vector forms, its finite aliases, and the f and l variants.
  if (name.starts_with("_ZGV")) return true;
  if (name.starts_with("__") && name.ends_with("_finite")) return true;
  const auto known = [](std::string_view n) {
    return std::find(k_math.begin(), k_math.end(), n) != k_math.end();
  };
  if (known(name)) return true;
  return !name.empty() && (name.back() == 'f' || name.back() == 'l') &&
         known(name.substr(0, name.size() - 1));
}

bool allowed_symbol(std::string_view name, int threads) {
  if (name.empty() || is_math(name)) return true;
  if (std::find(k_plain.begin(), k_plain.end(), name) != k_plain.end()) return true;
  // operator new and delete; std::__throw_* of containers; libgcc's arithmetic helpers.
  if (name.starts_with("_Zn") || name.starts_with("_Zd") || name.starts_with("_ZSt") ||
      name.starts_with("_ZNSt") || name.starts_with("_ZTV") || name.starts_with("__cxa_throw") ||
      name.starts_with("__cxa_begin") || name.starts_with("__cxa_end") ||
      name.starts_with("__cxa_allocate") || name.starts_with("__cxa_free") ||
      name.starts_with("__cxa_guard") || name.starts_with("__extend") || name.starts_with("__trunc") ||
      name.starts_with("__float") || name.starts_with("__cpu_")) {
    // std::thread, files and clocks live in the same library.
    for (const std::string_view word :
         {"thread", "chrono", "file", "stream", "mutex", "condition", "filesystem"}) {
      if (name.find(word) != std::string_view::npos && threads <= 1) return false;
    }
    return true;
  }
  if (threads > 1)
    return name.starts_with("GOMP_") || name.starts_with("omp_") || name.starts_with("pthread_");
  return false;
}

bool allowed_library(std::string_view name, int threads) {
  for (const std::string_view known :
       {"libc.so", "libm.so", "libmvec.so", "libgcc_s.so", "libstdc++.so", "ld-linux"}) {
    if (name.starts_with(known)) return true;
  }
  return threads > 1 && (name.starts_with("libgomp.so") || name.starts_with("libpthread.so"));
}

}  // namespace

Result<LibraryFacts> read_library(std::string_view bytes) {
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return malformed();
  LibraryFacts facts;
  bool dynamic = false;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = at<Elf64_Phdr>(bytes, header->e_phoff + std::uint64_t{i} * header->e_phentsize);
    if (!segment) return malformed();
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) facts.code_bytes += segment->p_filesz;
  }
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = at<Elf64_Shdr>(bytes, header->e_shoff + std::uint64_t{i} * header->e_shentsize);
    if (!section) return malformed();
    if (section->sh_type == SHT_INIT_ARRAY) {
      facts.constructors += section->sh_size / 8;
    }
    if (section->sh_type != SHT_DYNSYM && section->sh_type != SHT_DYNAMIC) continue;
    const auto strings =
        at<Elf64_Shdr>(bytes, header->e_shoff + std::uint64_t{section->sh_link} * header->e_shentsize);
    if (!strings) return malformed();
    if (section->sh_type == SHT_DYNSYM) {
      for (std::uint64_t j = 1; j < section->sh_size / sizeof(Elf64_Sym); ++j) {
        const auto symbol = at<Elf64_Sym>(bytes, section->sh_offset + j * sizeof(Elf64_Sym));
        if (!symbol) return malformed();
        if (symbol->st_shndx == SHN_UNDEF)
          facts.imports.push_back(text_at(bytes, strings->sh_offset + symbol->st_name));
      }
    } else {
      dynamic = true;
      for (std::uint64_t j = 0; j < section->sh_size / sizeof(Elf64_Dyn); ++j) {
        const auto entry = at<Elf64_Dyn>(bytes, section->sh_offset + j * sizeof(Elf64_Dyn));
        if (!entry) return malformed();
        if (entry->d_tag == DT_NULL) break;
        if (entry->d_tag == DT_NEEDED)
          facts.needed.push_back(text_at(bytes, strings->sh_offset + entry->d_un.d_val));
        if (entry->d_tag == DT_INIT) ++facts.constructors;  // a function called _init, older than .init_array
        if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH) facts.search_path = true;
      }
    }
  }
  // Nothing to read is not the same as nothing asked for.
  if (!dynamic) return malformed();
  return facts;
}

std::string forbidden_symbol(const LibraryFacts& facts, int threads) {
  if (facts.search_path) return "sets a library search path (rpath)";
  if (facts.constructors > 0)
    return fmt::format("runs {} constructor(s) at load, before anything is measured", facts.constructors);
  for (const std::string& library : facts.needed) {
    if (!allowed_library(library, threads)) return fmt::format("needs the library {}", library);
  }
  for (const std::string& symbol : facts.imports) {
    if (!allowed_symbol(symbol, threads)) return fmt::format("calls {}", symbol);
  }
  return {};
}

}  // namespace tunesmith::bench
