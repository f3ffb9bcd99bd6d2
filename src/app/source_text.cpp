#include "app/source_text.h"

#include <algorithm>
#include <cctype>

namespace tunesmith::app {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_comments(std::string_view source) {
  std::string out(source);
  std::size_t i = 0;
  const auto blank = [&](std::size_t end) {
    for (; i < std::min(end, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  while (i < out.size()) {
    if (source.substr(i, 2) == "//") {
      blank(source.find('\n', i));
    } else if (source.substr(i, 2) == "/*") {
      const std::size_t end = source.find("*/", i + 2);
      blank(end == std::string_view::npos ? end : end + 2);
    } else if (out[i] == '"' || out[i] == '\'') {
      const char quote = out[i];
      for (++i; i < out.size() && out[i] != quote && out[i] != '\n'; ++i) {
        if (out[i] == '\\') ++i;
      }
      ++i;
    } else {
      ++i;
    }
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word_char(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word_char(text[end])) ++end;
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) words.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool before = at == 0 || !is_word_char(text[at - 1]);
    const bool after = at + word.size() >= text.size() || !is_word_char(text[at + word.size()]);
    if (before && after) return at;
  }
  return std::string_view::npos;
}

bool has_word(std::string_view text, std::string_view word) {
  return find_word(text, word) != std::string_view::npos;
}

std::size_t closing(std::string_view text, std::size_t open) {
  const char left = text[open];
  const char right = left == '(' ? ')' : left == '[' ? ']' : '}';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == left) ++depth;
    if (text[i] == right && --depth == 0) return i;
  }
  return std::string_view::npos;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

int line_at(std::string_view text, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

}  // namespace tunesmith::app
