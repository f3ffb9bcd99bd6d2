#!/usr/bin/env bash
# Tunes cases from nothing for some minutes each and compares what was found with OpenBLAS and oneDNN:
#
#   benchmarks/peers/tune.sh [--minutes M] [--seed K] [--pairs N] [--out FOLDER] NAME...
#
# NAME as in run.sh (gemm-256, attention, ...): the case is cases/cpu-NAME.json. Nothing but the product's default
# strategy looks for the configuration; the confirmation at the end is not counted in the minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
minutes=3 seed=1 pairs=400 out=""
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --minutes) minutes=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --pairs) pairs=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --help | -h) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "tune.sh: unknown option $1: see --help" >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done
[ "${#names[@]}" -gt 0 ] || { echo "tune.sh: name a case: see --help" >&2; exit 2; }
program=$root/build/tunesmith
[ -x "$program" ] || { echo "tune.sh: $program is not there: build it with ./test or ./quickstart" >&2; exit 4; }
[ -n "$out" ] || out=$(mktemp -d)
mkdir -p "$out/configs"
export TUNESMITH_RUNS=$out/runs
for name in "${names[@]}"; do
  echo "== $name: tuned for $minutes minutes"
  "$program" tune "$root/cases/cpu-$name.json" --minutes "$minutes" --seed "$seed" --json >"$out/$name.summary.json"
  grep -E '"(evaluations|speedup|of_speed_of_light|best_so_far_at_s)":' "$out/$name.summary.json" || true
  "$program" apply latest --out "$out/$name" --quiet
  cp "$out/$name"/*.tuned.json "$out/configs/$name.json"
  "$here/run.sh" --pairs "$pairs" --configs "$out/configs" "$name"
done
echo "everything is in $out"
