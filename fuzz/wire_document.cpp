// The JSON reader: never crashes, and what it reads it can copy exactly.
#include <string>

#include "target.h"
#include "wire/document.h"

using namespace tunesmith;
using namespace tunesmith::wire;

namespace {

std::size_t walk(const View& view) {
  std::size_t sum =
      view.raw().size() + view.str().size() + static_cast<std::size_t>(view.integer().value_or(0) & 1);
  const auto items = view.items();
  for (const View& item : items) sum += walk(item);
  const auto members = view.members();
  for (const View& member : members) sum += member.key().size() + walk(member);
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  (void)Document::parse(text, "fuzz", Duplicates::refused);
  const auto document = Document::parse(text, "fuzz");
  if (!document) return 0;
  (void)walk(document->root());
  std::string once;
  Writer(once).raw(document->root().raw());
  const auto again = Document::parse(once, "fuzz");
  fuzz::promise(again.has_value(), "a copy of valid JSON is valid");
  std::string twice;
  Writer(twice).raw(again->root().raw());
  fuzz::promise(once == twice, "a copy of a copy is the copy");
  const auto string = Document::parse(json_string(text), "fuzz");
  fuzz::promise(string.has_value() && string->root().is_string(), "any bytes can be written as a string");
  return 0;
}
