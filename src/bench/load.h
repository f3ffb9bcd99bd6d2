// How busy the machine is, and what this process has used: recorded with each evidence.
#pragma once

namespace tunesmith::bench {

[[nodiscard]] double load_average();    ///< of the last minute; 0 when unknown
[[nodiscard]] double process_cpu_ms();  ///< of this process alone, its children not counted

}  // namespace tunesmith::bench
