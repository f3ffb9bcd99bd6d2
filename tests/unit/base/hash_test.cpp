#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>

using namespace tunesmith;

TEST(HashTest, Sha256MatchesThePublishedVectors) {
  // FIPS 180-2, appendix B.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(HashTest, FieldsAreSeparateFromEachOther) {
  EXPECT_NE(Hasher().field("ab").field("c").hex(), Hasher().field("a").field("bc").hex());
  EXPECT_NE(Hasher().field("").hex(), Hasher().field("").field("").hex());
  EXPECT_EQ(Hasher().field("a").hex(), Hasher().field("a").hex());
}

TEST(HashTest, FieldIsItsLengthInEightBytesThenItself) {
  EXPECT_EQ(Hasher().field("abc").hex(), sha256_hex(std::string("\x03\0\0\0\0\0\0\0abc", 11)));
}

TEST(Hash64Test, EveryByteAndTheLengthCount) {
  for (const std::size_t size : {1U, 7U, 8U, 31U, 32U, 33U, 100U}) {
    std::string bytes(size, 'x');
    std::set<std::uint64_t> seen{hash64(bytes.data(), bytes.size())};
    for (char& byte : bytes) {
      byte = 'y';
      seen.insert(hash64(bytes.data(), bytes.size()));
      byte = 'x';
    }
    EXPECT_EQ(seen.size(), size + 1) << size;
  }
  const std::string zeros(64, '\0');
  EXPECT_NE(hash64(zeros.data(), 32), hash64(zeros.data(), 64));
  EXPECT_NE(hash64(zeros.data(), 0), hash64(zeros.data(), 1));
}

TEST(Hash64Test, SeedChangesIt) { EXPECT_NE(hash64("abc", 3, 1), hash64("abc", 3, 2)); }

TEST(Hash64Test, SwappedWordsDiffer) {
  const std::uint64_t one[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::uint64_t two[8] = {2, 1, 3, 4, 5, 6, 7, 8};
  const std::uint64_t three[8] = {5, 6, 7, 8, 1, 2, 3, 4};
  EXPECT_NE(hash64(one, sizeof one), hash64(two, sizeof two));
  EXPECT_NE(hash64(one, sizeof one), hash64(three, sizeof three));
}
