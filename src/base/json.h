// JSON with exact positions: every complaint about a file names its line, column and key.
// Values are Boost.JSON's; the printer is ours (stable order, 2 spaces, shortest numbers), since people read
// it.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith {

namespace json = boost::json;

/// Strict JSON. `file` is used in errors only. Depth limit 64; duplicate keys are refused.
[[nodiscard]] Result<json::value> parse_json(std::string_view text, const std::string& file);
/// 2 spaces, insertion order, arrays of scalars on one line when they fit; ends with a newline.
[[nodiscard]] std::string print_json(const json::value& value);
/// One line, no spaces: for journals and hashes.
[[nodiscard]] std::string print_json_compact(const json::value& value);
/// The shortest text that reads back to the same double; "null" when it is not finite.
[[nodiscard]] std::string number_text(double number);
/// Line and column of the value at a JSON pointer ("/parameters/0/name") in the text it was parsed from.
[[nodiscard]] Place locate(std::string_view text, const std::string& file, std::string_view pointer);

/// One value of a parsed file together with where it stands. Cheap to copy; keeps the document alive.
class Node {
 public:
  [[nodiscard]] static Result<Node> read(const std::string& path);
  [[nodiscard]] static Result<Node> parse(std::string text, std::string file);

  [[nodiscard]] const json::value& value() const { return *m_value; }
  [[nodiscard]] const std::string& pointer() const { return m_pointer; }
  [[nodiscard]] const std::string& file() const { return m_document->file; }
  [[nodiscard]] const std::string& text() const { return m_document->text; }
  [[nodiscard]] Place place() const;
  /// An `invalid` error that points here.
  [[nodiscard]] tl::unexpected<Error> error(std::string message, std::string mend = {}) const;

  [[nodiscard]] bool is_object() const { return m_value->is_object(); }
  [[nodiscard]] bool is_array() const { return m_value->is_array(); }
  [[nodiscard]] bool is_string() const { return m_value->is_string(); }
  [[nodiscard]] bool is_number() const { return m_value->is_number(); }
  [[nodiscard]] bool is_bool() const { return m_value->is_bool(); }

  [[nodiscard]] Result<std::string> as_string() const;
  [[nodiscard]] Result<std::int64_t> as_int() const;  ///< 3 and 3.0 are integers, 3.5 is not
  [[nodiscard]] Result<double> as_double() const;
  [[nodiscard]] Result<bool> as_bool() const;
  [[nodiscard]] Result<std::vector<Node>> items() const;                            ///< of an array
  [[nodiscard]] Result<std::vector<std::pair<std::string, Node>>> members() const;  ///< of an object
  [[nodiscard]] Result<std::vector<std::string>> as_strings() const;

  [[nodiscard]] Result<Node> get(std::string_view key) const;  ///< error when absent
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  /// Refuses a key that is not in the list, with the nearest known one.
  [[nodiscard]] Status only_keys(const std::vector<std::string>& known) const;

  // With a default when the key is absent.
  [[nodiscard]] Result<std::string> string_or(std::string_view key, std::string fallback) const;
  [[nodiscard]] Result<std::int64_t> int_or(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] Result<double> double_or(std::string_view key, double fallback) const;
  [[nodiscard]] Result<bool> bool_or(std::string_view key, bool fallback) const;

 private:
  struct Document {
    std::string file;
    std::string text;
    json::value root;
  };
  Node child(std::string_view step, const json::value& value) const;
  std::shared_ptr<const Document> m_document;
  const json::value* m_value = nullptr;
  std::string m_pointer;
};

}  // namespace tunesmith
