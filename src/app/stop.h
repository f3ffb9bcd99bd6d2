// Ctrl-C and SIGTERM set a flag that long work looks at; a second one ends the process at once (the journal
// is made for that).
#pragma once

#include <atomic>

#include "base/error.h"

namespace tunesmith::app {

/// One at a time: installs handlers while it lives and puts the old ones back.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  [[nodiscard]] const std::atomic<bool>* flag() const;
  [[nodiscard]] bool stopped() const;
  /// What to tell instead of an error met while `doing`: whatever a bench calls it when it is told to stop, a
  /// person stopped it. A full disk or a conflict stays what it is.
  [[nodiscard]] Error explain(Error error, const char* doing) const;
};

}  // namespace tunesmith::app
