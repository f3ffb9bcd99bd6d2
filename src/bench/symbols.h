// What a built library asks of the outside, read from its ELF file without loading it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith::bench {

struct LibraryFacts {
  std::vector<std::string> imports;  ///< undefined dynamic symbols
  std::vector<std::string> needed;   ///< DT_NEEDED
  std::size_t constructors =
      0;  ///< entries of .init_array and DT_INIT; the builder links without the compiler's own one
  bool search_path = false;      ///< DT_RPATH or DT_RUNPATH is set
  std::uint64_t code_bytes = 0;  ///< executable segments
};

/// `bytes` is the whole file; anything malformed is an error, never a crash.
[[nodiscard]] Result<LibraryFacts> read_library(std::string_view bytes);

/// The first thing that a kernel with `threads` declared threads may not ask for, in words; empty when all is
/// well. Mathematics, memory moves, allocation and the compiler's own helpers are allowed; anything that
/// reaches the clock, files, processes, threads (when one is declared), the loader or another library is not.
[[nodiscard]] std::string forbidden_symbol(const LibraryFacts& facts, int threads);

}  // namespace tunesmith::bench
