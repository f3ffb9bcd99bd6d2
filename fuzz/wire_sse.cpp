// The event decoder: the same events whatever pieces the bytes come in, and what was decoded survives
// encoding.
#include <string>
#include <vector>

#include "target.h"
#include "wire/sse.h"

using namespace tunesmith;
using namespace tunesmith::wire;

namespace {

std::vector<SseEvent> decode(std::string_view bytes, std::size_t size) {
  std::vector<SseEvent> events;
  SseDecoder decoder;
  const auto sink = [&](const SseEvent& event) { events.push_back(event); };
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    if (!decoder.feed(bytes.substr(at, size), sink)) break;
  }
  decoder.finish(sink);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  const auto whole = decode(bytes, size + 1);
  const std::size_t piece = size == 0 ? 1 : 1 + data[0] % 7;
  fuzz::promise(decode(bytes, 1) == whole, "one byte at a time gives the same events");
  fuzz::promise(decode(bytes, piece) == whole, "small pieces give the same events");
  std::string out;
  for (const SseEvent& event : whole) sse_encode(event.event, event.data, out);
  const auto again = decode(out, out.size() + 1);
  fuzz::promise(again.size() == whole.size(), "as many events come back as were encoded");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    fuzz::promise(again[i].data == whole[i].data && again[i].event == whole[i].event,
                  "an event comes back as it was");
  }
  return 0;
}
