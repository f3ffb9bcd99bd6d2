// What every fuzz target shares: its entry point, and the check that ends the process with a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tunesmith::fuzz {

/// A broken promise is a finding, like a crash.
inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "fuzz: broken promise: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace tunesmith::fuzz
