#include "base/hash.h"

#include <openssl/evp.h>

#include <array>
#include <cstring>

namespace tunesmith {

namespace {

EVP_MD_CTX* context(void* pointer) { return static_cast<EVP_MD_CTX*>(pointer); }

std::string finish(EVP_MD_CTX* ctx) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(ctx, digest.data(), &size);
  constexpr char k_hex[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size; ++i) {
    out += k_hex[digest[i] >> 4];
    out += k_hex[digest[i] & 15];
  }
  return out;
}

}  // namespace

Hasher::Hasher() : m_context(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context(m_context), EVP_sha256(), nullptr);
}
Hasher::~Hasher() { EVP_MD_CTX_free(context(m_context)); }

Hasher& Hasher::field(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  EVP_DigestUpdate(context(m_context), &size, sizeof size);
  EVP_DigestUpdate(context(m_context), bytes.data(), bytes.size());
  return *this;
}

std::string Hasher::hex() { return finish(context(m_context)); }

std::string sha256_hex(std::string_view bytes) {
  EVP_MD_CTX* ctx = EVP_MD_CTX_new();
  EVP_DigestInit_ex(ctx, EVP_sha256(), nullptr);
  EVP_DigestUpdate(ctx, bytes.data(), bytes.size());
  std::string out = finish(ctx);
  EVP_MD_CTX_free(ctx);
  return out;
}

std::uint64_t hash64(const void* data, std::size_t size, std::uint64_t seed) {
  // Four lanes, so that large buffers hash at memory speed.
  constexpr std::uint64_t k_prime = 0x9E3779B97F4A7C15ULL;
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::array<std::uint64_t, 4> lane{seed ^ 1, seed ^ 2, seed ^ 3, seed ^ 4};
  std::size_t at = 0;
  for (; at + 32 <= size; at += 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t word;
      std::memcpy(&word, bytes + at + i * 8, 8);
      lane[i] = (lane[i] ^ word) * k_prime;
      lane[i] ^= lane[i] >> 29;
    }
  }
  std::uint64_t hash = size;
  for (const std::uint64_t l : lane) {
    hash = (hash ^ l) * k_prime;
    hash ^= hash >> 32;
  }
  for (; at < size; ++at) hash = (hash ^ bytes[at]) * k_prime;
  hash ^= hash >> 31;
  return hash * k_prime;
}

}  // namespace tunesmith
