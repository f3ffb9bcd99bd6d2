// Requests, whole replies and error bodies of the three formats, translated. First byte: from and to.
#include <string>

#include "target.h"
#include "wire/translate.h"

using namespace tunesmith;
using namespace tunesmith::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto from = static_cast<FormatId>(data[0] % 3);
  const auto to = static_cast<FormatId>(data[0] / 3 % 3);
  const std::string body(fuzz::text_of(data + 1, size - 1));
  Target target;
  target.adaptive_thinking = (data[0] & 64) != 0;
  target.custom_tools = (data[0] & 128) != 0;
  if (const auto translated = translate_request(from, to, body, target)) {
    fuzz::promise(Document::parse(translated->body, "fuzz").has_value(),
                  "a translated request is valid JSON");
    const auto again = format(to).read_request(translated->body);
    fuzz::promise(again.has_value(), "a translated request can be read");
  }
  if (const auto reply = translate_reply(from, to, body, {}, {})) {
    fuzz::promise(format(to).read_reply(*reply).has_value(), "a translated reply can be read");
  }
  const HttpAnswer answer = translate_error(to, 400 + data[0], body);
  fuzz::promise(Document::parse(answer.body, "fuzz").has_value(), "a translated error is valid JSON");
  return 0;
}
