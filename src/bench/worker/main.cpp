// tunesmith-worker MODE ORDERS_FD STATUS_FD ...: enters the sandbox, then
//   exec … -- PROGRAM ARGUMENTS   becomes a program (compilers, reference builds)
//   run …  CONTROL_FD             serves the examiner (worker.h)
// Started by the os room only; a person has no use for it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/worker/worker.h"
#include "os/box/launch.h"

int main(int argc, char** argv) {
  const bool exec = argc > 5 && std::strcmp(argv[1], "exec") == 0 && std::strcmp(argv[4], "--") == 0;
  const bool run = argc == 5 && std::strcmp(argv[1], "run") == 0;
  if (!exec && !run) {
    std::fputs("tunesmith-worker is started by tunesmith and of no use alone\n", stderr);
    return 2;
  }
  tunesmith::box::Payload payload;
  if (exec) {
    payload.argv = argv + 5;
  } else {
    payload.loop = worker_main;
    payload.control_fd = std::atoi(argv[4]);
  }
  tunesmith::box::launch(std::atoi(argv[2]), std::atoi(argv[3]), payload);
}
