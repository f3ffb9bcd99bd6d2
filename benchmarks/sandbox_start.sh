#!/bin/sh
# What one start costs, plain and sandboxed: medians of 200 interleaved starts of /bin/true and of the worker loop.
# Usage: benchmarks/sandbox_start.sh [BUILD_FOLDER]
set -eu
build=${1:-$(dirname "$0")/../build}
exec "$build/tests/os_test" --gtest_also_run_disabled_tests --gtest_filter='SandboxCostTest.*' --gtest_brief=1
