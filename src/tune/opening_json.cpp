#include "tune/opening_json.h"

namespace tunesmith::tune {

json::object opening_to_json(const bench::Opening& opening) {
  json::array notes;
  for (const std::string& note : opening.notes) notes.emplace_back(note);
  return {{"toolchain", opening.toolchain},
          {"isolation", opening.isolation},
          {"notes", std::move(notes)},
          {"baseline", evidence_to_json(opening.baseline)}};
}

Result<bench::Opening> opening_from_json(const Node& node) {
  bench::Opening opening;
  TS_ASSIGN(opening.toolchain, node.string_or("toolchain", ""));
  TS_ASSIGN(opening.isolation, node.string_or("isolation", ""));
  if (const auto notes = node.find("notes")) {
    TS_ASSIGN(opening.notes, notes->as_strings());
  }
  TS_ASSIGN(const Node baseline, node.get("baseline"));
  TS_ASSIGN(opening.baseline, evidence_from_json(baseline));
  return opening;
}

}  // namespace tunesmith::tune
