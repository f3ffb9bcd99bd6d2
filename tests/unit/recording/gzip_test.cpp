#include "recording/gzip.h"

#include <gtest/gtest.h>

namespace tunesmith::recording {
namespace {

std::string long_text() {
  std::string text;
  for (int i = 0; i < 150000; ++i) text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

TEST(GzipTest, WhatIsPackedUnpacksToTheSame) {
  for (const std::string& text : {std::string(), std::string("a"), long_text()}) {
    const auto packed = gzip(text);
    ASSERT_TRUE(packed);
    EXPECT_TRUE(is_gzip(*packed));
    const auto unpacked = gunzip(*packed);
    ASSERT_TRUE(unpacked);
    EXPECT_EQ(unpacked->fault, "");
    EXPECT_TRUE(unpacked->text == text);
  }
}

TEST(GzipTest, ATornStreamGivesWhatCameBefore) {
  const std::string text = long_text();
  const std::string packed = *gzip(text);
  const auto unpacked = gunzip(std::string_view(packed).substr(0, packed.size() / 2));
  ASSERT_TRUE(unpacked);
  EXPECT_NE(unpacked->fault.find("ends too early"), std::string::npos);
  EXPECT_GT(unpacked->text.size(), text.size() / 4);
  EXPECT_TRUE(text.starts_with(unpacked->text));
}

TEST(GzipTest, DamageIsNamedAndKeepsWhatCameBefore) {
  std::string packed = *gzip(long_text());
  packed[packed.size() - 6] ^= 0x55;  // the checksum
  const auto unpacked = gunzip(packed);
  ASSERT_TRUE(unpacked);
  EXPECT_NE(unpacked->fault.find("damaged"), std::string::npos);
}

TEST(GzipTest, MembersThatFollowOneAnotherAreJoined) {
  const auto unpacked = gunzip(*gzip("one ") + *gzip("two"));
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(unpacked->text, "one two");
  EXPECT_EQ(unpacked->fault, "");
}

TEST(GzipTest, ATextThatUnpacksToTooMuchIsRefused) {
  const auto unpacked = gunzip(*gzip(std::string(5U << 20, 'x')), 1U << 20);
  ASSERT_FALSE(unpacked);
  EXPECT_NE(unpacked.error().message.find("1 MiB"), std::string::npos);
}

TEST(GzipTest, TheSameTextGivesTheSameBytes) { EXPECT_EQ(*gzip("abc"), *gzip("abc")); }

}  // namespace
}  // namespace tunesmith::recording
