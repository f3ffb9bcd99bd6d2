#!/usr/bin/env bash
# Tuned CPU kernels against OpenBLAS, oneDNN and plain loops: builds both sides with the same flags, runs them in turn in
# one process on one core, and prints the median of the paired ratios (peer's time / ours: above 1 is faster).
#
#   benchmarks/peers/run.sh [--pairs N] [--configs FOLDER] [NAME...]
#
# NAME is a line of the table below, for instance gemm-256; all of them when none is given. FOLDER holds one
# configuration for each, NAME.json, as `tunesmith apply` writes it; the default is what was found on the machine
# named in docs/benchmarks.md. OpenBLAS runs twice: with the kernels that it picks itself, and, where CORES names
# others, with those (CORES="SkylakeX Haswell" benchmarks/peers/run.sh).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../kernels/cpu
configs=$here/configs
pairs=400
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --pairs) pairs=$2; shift 2 ;;
    --configs) configs=$2; shift 2 ;;
    --help | -h) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "run.sh: unknown option $1: see --help" >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done

# name, kernel, dimensions in the order of the entry
table="
gemm-256 gemm 256 256 256
gemm-384 gemm 384 384 384
gemm-512 gemm 512 512 512
gemm-1024 gemm 1024 1024 1024
gemm-4096 gemm 4096 4096 512
gemm-skinny gemm 8 2048 2048
gemm-skinny-4096 gemm 8 4096 4096
gemv gemm 1 2048 2048
attention attention 1 1024 128
gemv-int8 gemv_int8 4096 4096 64
softmax softmax 512 8192 0
"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cxx=${CXX:-g++}
flags=(-std=c++20 -O2 -march=native -w -shared -fPIC)
$cxx -std=c++20 -O2 "$here/duel.cpp" -o "$work/duel" -ldl

# glue KERNEL: the call through an array of pointers
glue() {
  case $1 in
    gemm) echo 'gemm((float*)a[0], (float*)a[1], (float*)a[2], (float*)a[3], (float*)a[4], *(int*)a[5], *(int*)a[6], *(int*)a[7]);' ;;
    attention) echo 'attention((float*)a[0], (float*)a[1], (float*)a[2], (float*)a[3], (float*)a[4], *(int*)a[5], *(int*)a[6], *(int*)a[7]);' ;;
    gemv_int8) echo 'gemv_int8((signed char*)a[0], (unsigned char*)a[1], (signed char*)a[2], (long long*)a[3], (int*)a[4], *(int*)a[5], *(int*)a[6], *(int*)a[7]);' ;;
    softmax) echo 'softmax((float*)a[0], (float*)a[1], *(int*)a[2], *(int*)a[3]);' ;;
  esac
}

# build SOURCE KERNEL OUT FLAG...: false when it does not build (a library that is not installed)
build() {
  local source=$1 kernel=$2 out=$3
  shift 3
  printf '#include "%s"\nextern "C" void tunesmith_call(void* const* a) { %s }\n' "$source" "$(glue "$kernel")" |
    $cxx "${flags[@]}" -x c++ - -o "$out" "$@" 2> "$work/log"
}

# macros FILE: {"MR": 8, "PACK_B": true} -> -DMR=8 -DPACK_B=1
macros() {
  tr ',{}' '\n\n\n' < "$1" | sed -nE 's/^ *"([A-Z0-9_]+)" *: *"?([^" ]+)"? *$/-D\1=\2/p' | sed 's/=true$/=1/; s/=false$/=0/'
}

# duel PEER OURS KERNEL D1 D2 D3
duel() {
  local peer=$1 ours=$2 kernel=$3 x=$4 y=$5 z=$6
  case $kernel in
    gemm) set -- --flops $((2 * x * y * z)) "$peer" "$ours" in:f32:$((x * z)) in:f32:$((y * z)) out:f32:$((x * y)) \
      work:f32:$(((x + 16) * z)) work:f32:$(((y + 128) * z)) i32:"$x" i32:"$y" i32:"$z" ;;
    attention) set -- --flops $((4 * x * y * y * z)) "$peer" "$ours" in:f32:$((x * y * z)) in:f32:$((x * y * z)) \
      in:f32:$((x * y * z)) out:f32:$((x * y * z)) work:f32:$((540 * z + 64 * y + 104000 + y * y)) i32:"$x" i32:"$y" i32:"$z" ;;
    gemv_int8) set -- --bytes $((x * y)) "$peer" "$ours" in:i8:$((x * y)) in:u8:$((x * ((y + z - 1) / z))) in:i8:"$y" \
      out:i64:"$x" work:i32:$((16 * ((y + z - 1) / z))) i32:"$x" i32:"$y" i32:"$z" ;;
    softmax) set -- --bytes $((8 * x * y)) "$peer" "$ours" in:f32:$((x * y)) out:f32:$((x * y)) i32:"$x" i32:"$y" ;;
  esac
  "$work/duel" --pairs "$pairs" "$@"
}

unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $($cxx --version | head -1), $pairs pairs"
while read -r name kernel x y z; do
  [ -n "$name" ] || continue
  if [ ${#names[@]} -gt 0 ] && [[ " ${names[*]} " != *" $name "* ]]; then continue; fi
  if [ ! -f "$configs/$name.json" ]; then echo "$name: no $configs/$name.json"; continue; fi
  mapfile -t ours < <(macros "$configs/$name.json")
  if ! build "$kernels/$kernel.cpp" "$kernel" "$work/$name.so" "${ours[@]}"; then
    echo "$name: does not build: $(head -1 "$work/log")"
    continue
  fi
  case $kernel in
    gemm) peers="openblas_gemm:-lopenblas onednn_gemm:-ldnnl" ;;
    attention) peers="openblas_attention_gemms:-lopenblas plain_attention:-O3" ;;
    *) peers="plain_$kernel:-O3" ;;
  esac
  for peer in $peers; do
    file=${peer%%:*}
    if ! build "$kernels/baseline/$file.cpp" "$kernel" "$work/$file.so" "${peer#*:}"; then
      echo "$name / $file: not installed ($(head -1 "$work/log" | cut -c1-80))"
      continue
    fi
    echo "$name / $file: $(duel "$work/$file.so" "$work/$name.so" "$kernel" "$x" "$y" "$z")"
    if [[ $file == openblas* ]]; then
      for core in ${CORES:-}; do
        echo "$name / $file as $core: $(OPENBLAS_CORETYPE=$core duel "$work/$file.so" "$work/$name.so" "$kernel" "$x" "$y" "$z")"
      done
    fi
  done
done <<< "$table"
