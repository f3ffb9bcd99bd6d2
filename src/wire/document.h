// JSON as it travels: a parsed text whose every value can be read, or taken out byte for byte.
// base/json.h turns numbers into machine numbers and refuses what a person's file must not hold. Traffic is
// different: a 30-digit number inside a tool's arguments must leave with all its digits, an unknown field as
// it came, and half a surrogate pair in a streamed piece is no reason to lose the reply. So values stay
// slices of the text; nothing is converted until somebody asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tunesmith::wire {

/// What two members of one name mean. A request is refused: the upstream might read the other one.
enum class Duplicates { refused, last_wins };

class View;

/// Owns the text and a flat table of its values. Movable; views point into it and die with it.
class Document {
 public:
  /// Strict grammar (RFC 8259) but for two kindnesses: bytes in strings need not be UTF-8, lone surrogates
  /// read as U+FFFD. Nesting at most 256, text below 1 GiB. `what` names the text in errors ("request",
  /// "reply").
  [[nodiscard]] static Result<Document> parse(std::string text, std::string what,
                                              Duplicates duplicates = Duplicates::last_wins);
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] View root() const;
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  friend class View;
  friend class DocumentParser;
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  struct Entry {
    std::uint32_t begin = 0;  ///< offset of the value's first byte
    std::uint32_t end = 0;    ///< one past its last byte
    std::uint32_t next = 0;   ///< index of the entry after the whole value
    std::uint32_t count = 0;  ///< items or members
    Kind kind = Kind::null;
    bool escaped = false;  ///< a string with backslashes
  };
  Document() = default;
  std::string m_text;
  std::string m_what;
  std::vector<Entry> m_entries;  ///< in text order; a member is its key's entry, then its value's
};

/// One value. An absent one (no such key, wrong kind) answers every question with "nothing", so that optional
/// fields read as v["usage"]["prompt_tokens_details"]["cached_tokens"].integer().
class View {
 public:
  View() = default;
  explicit operator bool() const { return m_document != nullptr; }

  [[nodiscard]] bool is_null() const { return is(Document::Kind::null); }
  [[nodiscard]] bool is_bool() const { return is(Document::Kind::boolean); }
  [[nodiscard]] bool is_number() const { return is(Document::Kind::number); }
  [[nodiscard]] bool is_string() const { return is(Document::Kind::string); }
  [[nodiscard]] bool is_array() const { return is(Document::Kind::array); }
  [[nodiscard]] bool is_object() const { return is(Document::Kind::object); }
  /// There, and not null: most formats mean the same by both.
  [[nodiscard]] bool given() const { return m_document != nullptr && !is_null(); }
  [[nodiscard]] const char* kind_name() const;  ///< "a string", "absent"

  [[nodiscard]] View operator[](std::string_view key) const;
  [[nodiscard]] std::vector<View> items() const;    ///< of an array, else empty
  [[nodiscard]] std::vector<View> members() const;  ///< values of an object, each knows its key()
  [[nodiscard]] std::size_t size() const;           ///< items or members
  [[nodiscard]] std::string key() const;            ///< decoded; empty when this is no member

  [[nodiscard]] std::string_view raw() const;                 ///< the bytes as they came
  [[nodiscard]] std::string str() const;                      ///< decoded; "" when this is no string
  [[nodiscard]] bool equals(std::string_view text) const;     ///< a string with this content
  [[nodiscard]] std::optional<std::int64_t> integer() const;  ///< a whole number of int64's range; 3.0 is one
  [[nodiscard]] std::optional<bool> boolean() const;

  /// An `invalid` error with line, column and JSON pointer of this value.
  [[nodiscard]] tl::unexpected<Error> error(std::string message, std::string mend = {}) const;

 private:
  friend class Document;
  View(const Document* document, std::uint32_t index, std::uint32_t key)
      : m_document(document), m_index(index), m_key(key) {}
  [[nodiscard]] bool is(Document::Kind kind) const {
    return m_document != nullptr && m_document->m_entries[m_index].kind == kind;
  }
  [[nodiscard]] const Document::Entry& entry() const { return m_document->m_entries[m_index]; }
  [[nodiscard]] std::string pointer() const;

  static constexpr std::uint32_t k_no_key = 0xFFFFFFFF;
  const Document* m_document = nullptr;
  std::uint32_t m_index = 0;
  std::uint32_t m_key = k_no_key;
};

/// Appends compact JSON. Commas come by themselves; the caller keeps brackets balanced and keys in objects.
class Writer {
 public:
  explicit Writer(std::string& out) : m_out(out) {}

  Writer& open(char bracket);   ///< '{' or '['
  Writer& close(char bracket);  ///< '}' or ']'
  Writer& key(std::string_view name);
  Writer& string(std::string_view text);  ///< what is no UTF-8 becomes U+FFFD
  Writer& integer(std::int64_t number);
  Writer& boolean(bool truth);
  Writer& null();
  Writer& raw(std::string_view json);  ///< valid JSON, digits kept, spaces outside strings removed

  Writer& field(std::string_view name, std::string_view text) { return key(name).string(text); }
  Writer& field(std::string_view name, std::int64_t number) { return key(name).integer(number); }
  Writer& field_bool(std::string_view name, bool truth) { return key(name).boolean(truth); }
  Writer& field_null(std::string_view name) { return key(name).null(); }
  Writer& field_raw(std::string_view name, std::string_view json) { return key(name).raw(json); }

 private:
  void comma();
  std::string& m_out;
};

/// `text` as a JSON string with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace tunesmith::wire
