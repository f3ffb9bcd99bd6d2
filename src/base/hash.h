// SHA-256 through OpenSSL: identities of candidates, cases, gates and inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tunesmith {

class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  /// Adds one field with its length, so that ("ab","c") and ("a","bc") differ.
  Hasher& field(std::string_view bytes);
  [[nodiscard]] std::string hex();  ///< 64 hex digits; the hasher is spent

 private:
  void* m_context;
};

/// 64 hex digits of the plain bytes, as sha256sum prints them.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// A fast, non-cryptographic 64-bit hash for buffers (FNV-1a over 8-byte words, mixed).
[[nodiscard]] std::uint64_t hash64(const void* data, std::size_t size, std::uint64_t seed = 0);

}  // namespace tunesmith
