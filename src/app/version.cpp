#include "app/version.h"

#include <fmt/format.h>

#include <boost/version.hpp>

namespace tunesmith::app {

json::object version_facts() {
  json::object facts;
  facts["version"] = TUNESMITH_VERSION;
#ifdef __clang__
  facts["compiler"] = "clang " __clang_version__;
#else
  facts["compiler"] = "gcc " __VERSION__;
#endif
#ifdef __OPTIMIZE__
  facts["optimised"] = true;
#else
  facts["optimised"] = false;
#endif
#ifdef TUNESMITH_SANITIZED
  facts["sanitizers"] = true;
#else
  facts["sanitizers"] = false;
#endif
  facts["cpp_standard"] = static_cast<std::int64_t>(__cplusplus);
#ifdef __x86_64__
  facts["architecture"] = "x86_64";
#elif defined(__aarch64__)
  facts["architecture"] = "aarch64";
#else
  facts["architecture"] = "other";
#endif
  facts["boost"] =
      fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
  facts["fmt"] = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  return facts;
}

std::string version_text() {
  const json::object facts = version_facts();
  const auto word = [&](const char* key) { return std::string(facts.at(key).as_string()); };
  return fmt::format("tunesmith {}\nbuilt by {} for {}, C++{}, {}{}\nboost {}, fmt {}\n", word("version"),
                     word("compiler"), word("architecture"), facts.at("cpp_standard").as_int64() / 100 % 100,
                     facts.at("optimised").as_bool() ? "optimised" : "not optimised",
                     facts.at("sanitizers").as_bool() ? ", with sanitizers" : "", word("boost"), word("fmt"));
}

}  // namespace tunesmith::app
