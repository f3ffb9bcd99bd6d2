#!/bin/sh
# A bench script of one's own: measures by its own means and prints a result. Here the figures are made up from the
# parameters, to show the form; tunesmith marks them as self-reported and never calls them faster by themselves.
set -eu
latency=$(awk -v u="$1" 'BEGIN { printf "%.3f", 2.0 / u + 0.5 }')
printf '{"latency_ms": %s, "tflops": 0.1, "max_abs_error": 0.0, "compile_fail": 0}\n' "$latency"
