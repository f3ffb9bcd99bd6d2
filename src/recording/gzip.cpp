#include "recording/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace tunesmith::recording {

namespace {

constexpr int k_gzip_window = 15 + 16;  // the largest window; 16 asks for gzip's header
constexpr std::size_t k_step = std::size_t{1} << 20;

/// zlib counts in unsigned int: larger buffers are handed over in parts.
void feed(z_stream& stream, std::string_view& rest) {
  const std::size_t part = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max() / 2);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  stream.avail_in = static_cast<uInt>(part);
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

Result<Unpacked> gunzip(std::string_view bytes, std::size_t limit_bytes) {
  Unpacked out;
  z_stream stream{};
  if (inflateInit2(&stream, k_gzip_window) != Z_OK)
    return fail(ErrorCode::internal, "zlib cannot be set up", "");
  std::string_view rest = bytes;
  std::string buffer(k_step, '\0');
  int state = Z_OK;
  while (!rest.empty()) {
    feed(stream, rest);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    const uInt offered = stream.avail_in;
    state = inflate(&stream, Z_NO_FLUSH);
    rest.remove_prefix(offered - stream.avail_in);
    out.text.append(buffer, 0, buffer.size() - stream.avail_out);
    if (out.text.size() > limit_bytes) {
      inflateEnd(&stream);
      return fail(ErrorCode::unreadable, fmt::format("unpacks to more than {} MiB", limit_bytes >> 20),
                  "split the recording");
    }
    if (state == Z_STREAM_END) {
      if (!is_gzip(rest)) break;  // padding behind the last member is no member
      inflateReset(&stream);
      state = Z_OK;
    } else if (state != Z_OK) {
      break;
    }
  }
  // What the last call could not hand over for want of room.
  while (state == Z_OK && rest.empty() && stream.avail_out == 0) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.text.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) {
    const std::size_t at = bytes.size() - rest.size();
    out.fault = state == Z_OK || state == Z_BUF_ERROR
                    ? fmt::format("the gzip stream ends too early, after {} bytes", bytes.size())
                    : fmt::format("the gzip stream is damaged near byte {}", at);
  }
  return out;
}

Result<std::string> gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, k_gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::internal, "zlib cannot be set up", "");
  std::string out;
  std::string buffer(k_step, '\0');
  std::string_view rest = text;
  int state = Z_OK;
  do {
    feed(stream, rest);
    const uInt offered = stream.avail_in;
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = deflate(&stream, rest.size() == offered ? Z_FINISH : Z_NO_FLUSH);
    rest.remove_prefix(offered - stream.avail_in);
    out.append(buffer, 0, buffer.size() - stream.avail_out);
  } while (state == Z_OK || state == Z_BUF_ERROR);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return fail(ErrorCode::internal, "zlib could not pack", "");
  return out;
}

}  // namespace tunesmith::recording
