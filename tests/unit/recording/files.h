// Recordings written into a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "recording/gzip.h"
#include "recording/recording.h"

namespace tunesmith::recording {

class Files {
 public:
  Files() : m_folder(*TempDir::make()) {}
  [[nodiscard]] std::string path(const std::string& name) const { return m_folder.path() + "/" + name; }
  std::string put(const std::string& name, std::string_view bytes) const {
    EXPECT_TRUE(write_scratch(path(name), bytes));
    return path(name);
  }

 private:
  TempDir m_folder;
};

inline Result<Recording> read_text(std::string_view bytes, const std::string& name = "x.json") {
  const Files files;
  return read_recording(files.put(name, bytes));
}

inline bool noted(const Recording& recording, std::string_view part) {
  return std::any_of(recording.notes.begin(), recording.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// The entry of {"a": …} spelled as the space prints it: "a=1 b=2".
inline const Entry* entry_of(const Recording& recording, std::string_view text) {
  for (const Entry& entry : recording.entries)
    if (recording.space.text(entry.config) == text) return &entry;
  return nullptr;
}

/// Recorded spaces of others, where a person has some: a folder with spaces/, kernel_tuner_cache/,
/// ktt_counters/.
inline std::string data_folder() {
  const char* folder = std::getenv("TUNESMITH_DATA");
  if (folder == nullptr) folder = std::getenv("TUNESMITH_SHARED_DATA");
  return folder != nullptr ? folder : "";
}

}  // namespace tunesmith::recording
