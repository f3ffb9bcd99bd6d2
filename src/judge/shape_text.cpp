#include "judge/shape_text.h"

#include <cctype>
#include <charconv>

#include "base/text.h"

namespace tunesmith::judge {

namespace {

using Pairs = std::vector<std::pair<std::string, std::int64_t>>;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Words between commas, semicolons and spaces, with the space around '=' and ':' closed up.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto is_link = [](char c) { return c == '=' || c == ':'; };
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (c == ',' || c == ';') {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else if (space) {
      word += word.empty() || word.back() == ' ' || is_link(word.back()) ? "" : " ";
    } else {
      if (!word.empty() && word.back() == ' ') {
        word.pop_back();
        if (!is_link(c)) {
          words.push_back(std::move(word));
          word.clear();
        }
      }
      word += c;
    }
  }
  const std::string_view rest = trim(word);
  if (!rest.empty()) words.emplace_back(rest);
  return words;
}

std::optional<std::vector<std::int64_t>> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(text, 'x')) {
    const auto number = whole(trim(part));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<Pairs> pairs_of(std::string_view text) {
  Pairs pairs;
  for (const std::string& word : words_of(text)) {
    std::size_t cut_at = word.find_first_of("=:");
    std::size_t skip = 1;
    if (cut_at == std::string::npos) {
      // "batch8": the number is what follows the last letter.
      cut_at = word.size();
      while (cut_at > 0 && std::isdigit(static_cast<unsigned char>(word[cut_at - 1])) != 0) --cut_at;
      skip = 0;
    }
    const auto number = whole(std::string_view(word).substr(cut_at + skip));
    if (cut_at == 0 || !number) return std::nullopt;
    pairs.emplace_back(word.substr(0, cut_at), *number);
  }
  return pairs;
}

std::optional<Pairs> pairs_of(const json::object& object) {
  Pairs pairs;
  for (const auto& member : object) {
    // A weight or name beside the dimensions does not make another shape.
    if (member.key() == "weight" || member.key() == "name") continue;
    if (!member.value().is_int64()) return std::nullopt;
    pairs.emplace_back(std::string(member.key()), member.value().get_int64());
  }
  return pairs;
}

/// In the case's order; nullopt unless every dimension is named once and nothing else is.
std::optional<std::vector<std::int64_t>> ordered(const Case& c, const Pairs& pairs) {
  if (pairs.size() != c.dimension_names.size()) return std::nullopt;
  std::vector<std::int64_t> dimensions;
  for (const std::string& name : c.dimension_names) {
    const auto found = std::find_if(pairs.begin(), pairs.end(),
                                    [&](const auto& p) { return lower(p.first) == lower(name); });
    if (found == pairs.end()) return std::nullopt;
    dimensions.push_back(found->second);
  }
  return dimensions;
}

std::optional<std::vector<std::int64_t>> dimensions_of(const Case& c, const json::value& shape) {
  if (shape.is_object()) {
    const auto pairs = pairs_of(shape.get_object());
    return pairs ? ordered(c, *pairs) : std::nullopt;
  }
  if (shape.is_array()) {
    std::vector<std::int64_t> numbers;
    for (const json::value& item : shape.get_array()) {
      if (!item.is_int64()) return std::nullopt;
      numbers.push_back(item.get_int64());
    }
    return numbers;
  }
  if (!shape.is_string()) return std::nullopt;
  const std::string_view text(shape.get_string().data(), shape.get_string().size());
  if (auto numbers = numbers_of(text)) return numbers;
  const auto pairs = pairs_of(text);
  return pairs ? ordered(c, *pairs) : std::nullopt;
}

}  // namespace

std::vector<const Shape*> shapes_named(const Case& c, const json::value& shape) {
  std::vector<const Shape*> known;
  for (const Shape& s : c.shapes) known.push_back(&s);
  if (shape.is_string() && shape.get_string() == k_all_shapes) return known;
  for (const Shape& s : c.held_out_shapes) known.push_back(&s);
  if (shape.is_string()) {
    for (const Shape* s : known) {
      if (s->name == std::string_view(shape.get_string())) return {s};
    }
  }
  const auto dimensions = dimensions_of(c, shape);
  if (!dimensions) return {};
  for (const Shape* s : known) {
    if (s->dimensions == *dimensions) return {s};
  }
  return {};
}

std::string shape_label(const json::value& shape) {
  if (shape.is_string()) return cut(printable(std::string_view(shape.get_string())), 80);
  return cut(print_json_compact(shape), 80);
}

}  // namespace tunesmith::judge
