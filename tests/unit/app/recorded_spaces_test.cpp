#include "app/recorded_spaces.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"

namespace tunesmith::app {
namespace {

/// A Kernel Tuner cache of one parameter; a time of "" is a failure.
std::string cache(const std::string& kernel, const std::string& device,
                  const std::vector<std::string>& times) {
  std::string values;
  std::string records;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string value = std::to_string(1U << i);
    const std::string time = times[i].empty() ? "\"CompilationFailedConfig\"" : times[i];
    values += (i > 0 ? "," : "") + value;
    records += (i > 0 ? "," : "") + ("\"" + value + "\":{\"tile\":" + value + ",\"time\":" + time + "}");
  }
  return "{\"device_name\":\"" + device + "\",\"kernel_name\":\"" + kernel +
         "\",\"tune_params_keys\":[\"tile\"],\"tune_params\":{\"tile\":[" + values + "]},\"cache\":{" +
         records + "}}";
}

class RecordedSpacesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make();
    ASSERT_TRUE(made);
    m_folder.emplace(std::move(*made));
  }
  std::string put(const std::string& name, const std::string& text) {
    const std::string path = m_folder->path() + "/" + name;
    EXPECT_TRUE(write_file_atomic(path, text));
    return path;
  }
  std::optional<TempDir> m_folder;
};

TEST_F(RecordedSpacesTest, ReadsWhatItCanAndNamesTheRest) {
  put("a.json", cache("k", "one", {"3.0", "", "2.0", "5.0"}));
  put("b.json", cache("k", "two", {"", "", ""}));
  put("c.json", std::string(100, '\0'));
  put("notes.txt", "nothing");
  const auto read = read_recorded_spaces(m_folder->path());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->spaces.size(), 1U);
  EXPECT_EQ(read->spaces[0].name, "a");
  EXPECT_EQ(read->spaces[0].optimum, 2.0);
  EXPECT_EQ(read->spaces[0].valid.size(), 3U);
  ASSERT_EQ(read->left_out.size(), 2U);
  EXPECT_NE(read->left_out[0].find("b.json"), std::string::npos);
  EXPECT_NE(read->left_out[1].find("c.json"), std::string::npos);
}

TEST_F(RecordedSpacesTest, AFolderThatIsNotThereIsAnErrorThatNamesTheFlag) {
  const auto read = read_recorded_spaces(m_folder->path() + "/absent");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().place.key, "--spaces");
}

TEST_F(RecordedSpacesTest, MakesAPriorOfARecordingThatSharesTheSpace) {
  const std::string here = put("here.json", cache("k", "one", {"3.0", "1.0", "2.0"}));
  const std::string there = put("there.json", cache("k", "two", {"30.0", "", "10.0", "5.0"}));
  const auto space = recording::read_recording(here);
  ASSERT_TRUE(space);
  const auto prior = read_prior(there, space->space);
  ASSERT_TRUE(prior) << prior.error().line();
  ASSERT_EQ(prior->sources.size(), 1U);
  ASSERT_EQ(prior->sources[0].size(), 3U);  // tile=8 is not in this space
  EXPECT_FALSE(prior->sources[0][1].valid);
  EXPECT_NEAR(prior->sources[0][0].objective - prior->sources[0][2].objective, std::log(3), 1e-12);
}

TEST_F(RecordedSpacesTest, APriorOfAnotherKernelIsRefused) {
  const std::string here = put("here.json", cache("k", "one", {"3.0", "1.0", "2.0"}));
  const auto other =
      space::Space::create({{"unroll", {space::Value(std::int64_t{1}), space::Value(std::int64_t{2})}}}, {});
  ASSERT_TRUE(other);
  const auto prior = read_prior(here, *other);
  ASSERT_FALSE(prior);
  EXPECT_EQ(prior.error().place.key, "--prior");
}

}  // namespace
}  // namespace tunesmith::app
