// The worker's loop: maps what the examiner describes, loads one library, calls it when told. Runs inside the
// sandbox.
#pragma once

/// Serves requests on `control_fd` until told to quit or the examiner is gone. Returns the exit status.
int worker_main(int control_fd);
