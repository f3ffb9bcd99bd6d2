#include "app/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace tunesmith::app {

std::string Arguments::text(const std::string& name, const std::string& fallback) const {
  const auto found = m_values.find(name);
  return found == m_values.end() ? fallback : found->second.back();
}

std::optional<std::uint64_t> Arguments::count(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  const std::string digits = text(name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<double> Arguments::number(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  const std::string digits = text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

void Context::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), out);
  if (text.empty() || text.back() != '\n') std::fputc('\n', out);
}

void Context::say(std::string_view text) const {
  if (!quiet && !json) print(text);
}

void Context::print_json(const json::value& value) const { print(tunesmith::print_json(value)); }

void Context::remark(std::string_view text) const {
  if (quiet) return;
  std::fflush(out);
  fmt::print(err, "tunesmith: {}\n", text);
}

}  // namespace tunesmith::app
