// tunesmith-worker MODE ORDERS_FD STATUS_FD ...: enters the sandbox, then
//   exec … -- PROGRAM ARGUMENTS   becomes a program (compilers, reference builds)
//   run …  CONTROL_FD             serves the examiner (worker.h)
// tunesmith-launch is the first mode alone, linked statically: compilers start 2 ms of CPU sooner.
// Started by the os room only; a person has no use for it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/box/launch.h"
#ifndef TUNESMITH_LAUNCH_ONLY
#include "bench/worker/worker.h"
#endif

int main(int argc, char** argv) {
  const bool exec = argc > 5 && std::strcmp(argv[1], "exec") == 0 && std::strcmp(argv[4], "--") == 0;
#ifdef TUNESMITH_LAUNCH_ONLY
  const bool run = false;
#else
  const bool run = argc == 5 && std::strcmp(argv[1], "run") == 0;
#endif
  if (!exec && !run) {
    std::fputs("tunesmith-worker is started by tunesmith and of no use alone\n", stderr);
    return 2;
  }
  tunesmith::box::Payload payload;
  if (exec) {
    payload.argv = argv + 5;
  }
#ifndef TUNESMITH_LAUNCH_ONLY
  if (run) {
    payload.loop = worker_main;
    payload.control_fd = std::atoi(argv[4]);
  }
#endif
  tunesmith::box::launch(std::atoi(argv[2]), std::atoi(argv[3]), payload);
}
