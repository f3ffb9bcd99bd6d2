// How orders reach the launcher (an inherited memfd) and how its account comes back (a pipe): small text
// forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/box/policy.h"

namespace tunesmith::box {

struct Orders {
  Policy policy;
  std::vector<int> keep;  ///< descriptors that the payload gets besides 0, 1 and 2
  int parent = 0;         ///< pid of the caller; the launcher stops when that is no longer its parent
};

/// "name length:bytes\n" for every field.
[[nodiscard]] std::string encode(const Orders& orders);
/// False when the text is torn or names an unknown field.
[[nodiscard]] bool decode(std::string_view text, Orders& orders);

/// The launcher's account: one line each, in any order.
struct Account {
  Layers layers;
  int inner_pid = -1;
  bool ready = false;              ///< the payload was about to start
  std::string error;               ///< why it could not start
  std::uint64_t peak_rss_kib = 0;  ///< of the payload and what it waited for; 0 until it ended
};

[[nodiscard]] std::string layers_line(const Layers& layers);
[[nodiscard]] std::string number_line(const char* name, std::uint64_t value);  ///< name: "inner" or "peak"
[[nodiscard]] std::string error_line(std::string_view text);
/// Takes one line without its newline; an unknown line is ignored.
void take_line(std::string_view line, Account& account);

}  // namespace tunesmith::box
