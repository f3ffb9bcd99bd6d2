#include <array>

#include "wire/format.h"

namespace tunesmith::wire {

namespace {

// In the order of FormatId.
const std::array<const Format*, 3> k_rows = {&k_chat, &k_responses, &k_messages};

}  // namespace

std::span<const Format> formats() {
  static const std::array<Format, 3> table = {*k_rows[0], *k_rows[1], *k_rows[2]};
  return table;
}

const Format& format(FormatId id) { return *k_rows[static_cast<std::size_t>(id)]; }

std::string_view format_name(FormatId id) { return format(id).name; }

}  // namespace tunesmith::wire
