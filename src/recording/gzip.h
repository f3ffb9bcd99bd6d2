// gzip through zlib: whole buffers, with torn and damaged streams read as far as they go.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tunesmith::recording {

[[nodiscard]] bool is_gzip(std::string_view bytes);

struct Unpacked {
  std::string text;
  std::string fault;  ///< one line when the stream is torn or damaged; `text` is what came before
};
/// Members that follow one another are joined, as gunzip does. More than `limit_bytes` is an error.
[[nodiscard]] Result<Unpacked> gunzip(std::string_view bytes, std::size_t limit_bytes = std::size_t{2} << 30);
/// The same bytes always give the same file: no name and no time go into its header.
[[nodiscard]] Result<std::string> gzip(std::string_view text);

}  // namespace tunesmith::recording
