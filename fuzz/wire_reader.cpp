// The three stream readers and all translations of streams. First byte: which reader; second: which writer
// and pieces.
#include <string>
#include <vector>

#include "support/wire_streams.h"
#include "target.h"
#include "wire/translate.h"

using namespace tunesmith;
using namespace tunesmith::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto from = static_cast<FormatId>(data[0] % 3);
  const auto to = static_cast<FormatId>(data[1] % 3);
  const std::size_t piece = 1 + data[1] / 3 % 16;
  const std::string body(fuzz::text_of(data + 2, size - 2));
  const auto whole = test::hear(from, body);
  fuzz::promise(whole.end != "nothing", "a stream has an end");
  fuzz::promise(whole.end != "more than one end", "a stream has one end");
  const auto pieces = test::hear(from, body, {piece});
  fuzz::promise(test::transcript(pieces.events) == test::transcript(whole.events),
                "pieces give the same events");
  fuzz::promise(whole.usage.source != UsageSource::none, "every reply is settled");
  fuzz::promise(whole.usage.input_total() >= 0 && whole.usage.output >= 0, "figures are not negative");
  std::vector<bool> open;
  for (const Event& event : whole.events) {
    if (const auto* start = std::get_if<PartStart>(&event)) {
      fuzz::promise(static_cast<std::size_t>(start->part) == open.size(), "parts are numbered in order");
      open.push_back(true);
    } else if (const auto* delta = std::get_if<PartDelta>(&event)) {
      fuzz::promise(open.at(static_cast<std::size_t>(delta->part)), "pieces belong to open parts");
    } else if (const auto* end = std::get_if<PartEnd>(&event)) {
      fuzz::promise(open.at(static_cast<std::size_t>(end->part)), "a part ends once");
      open[static_cast<std::size_t>(end->part)] = false;
    } else if (std::holds_alternative<Finished>(event)) {
      for (const bool still : open) fuzz::promise(!still, "parts end before the reply");
    }
  }
  StreamTranslator translator(from, to, {{{"f", "g", "s", true}}, true, true, "m"}, {});
  std::string out;
  for (std::size_t at = 0; at < body.size(); at += piece)
    translator.feed(std::string_view(body).substr(at, piece), out);
  translator.finish(out);
  const auto heard = test::hear(to, out);
  fuzz::promise(!heard.end.starts_with("cut: an event"), "what is written is valid");
  fuzz::promise(heard.end.starts_with("finished") || heard.end.starts_with("failed"),
                "what is written has an end");
  return 0;
}
