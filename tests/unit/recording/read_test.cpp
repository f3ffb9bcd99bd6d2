#include "files.h"
#include "recording/formats.h"

namespace tunesmith::recording {
namespace {

TEST(ReadRecordingTest, FilesThatAreNoRecordingAreNamedForWhatTheyAre) {
  const auto message = [](std::string_view bytes) {
    const auto r = read_text(bytes);
    return r ? std::string("read") : r.error().line();
  };
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message(std::string(4096, '\0')).find("4096 NUL bytes"), std::string::npos);
  EXPECT_NE(message("hello, world").find("no recording that tunesmith knows"), std::string::npos);
  EXPECT_NE(message("{\"a\": 1}").find("no recording"), std::string::npos);
  EXPECT_NE(message("[1, 2").find("no recording"), std::string::npos);
  EXPECT_NE(message(R"({"ConfigurationSpace": {}, "KernelSpecification": {}})").find("holds no times"),
            std::string::npos);
  EXPECT_NE(message("\x1f\x8b\x08 garbage").find("nothing of it can be unpacked"), std::string::npos);
}

TEST(ReadRecordingTest, AFileThatIsNotThereAndAFolderAreErrors) {
  EXPECT_FALSE(read_recording("/nonexistent/x.json"));
  const auto folder = read_recording("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().line().find("folder"), std::string::npos);
}

TEST(ReadRecordingTest, RandomBytesNeverCrashIt) {
  Rng rng(7);
  const std::string seed =
      R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 2.5}, "2": {"a": 2, "time": 3}}})";
  for (int round = 0; round < 3000; ++round) {
    std::string text = seed;
    for (int i = 0; i < 3; ++i) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    if (rng.chance(0.3)) text.resize(rng.below(text.size()));
    const Outline outline = outline_of(text);
    const Source source{"x.json", text, ""};
    for (const Format& format : format_table()) {
      if (!format.fits(source, outline)) continue;
      auto draft = format.read(source, outline);
      if (draft) (void)finish(std::move(*draft), source.path);
    }
  }
}

}  // namespace
}  // namespace tunesmith::recording
