// The whole program as a function, so that tests can run it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace tunesmith::app {

/// Runs `tunesmith WORDS…` and returns the exit status. Errors are one line on `err`.
[[nodiscard]] int run_program(const std::vector<std::string>& words, std::FILE* out, std::FILE* err);

}  // namespace tunesmith::app
