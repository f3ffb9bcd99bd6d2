#!/bin/sh
# The build system of this project: tunesmith calls it with the values it wants tried.
set -eu
unroll=$1
opt=$2
out=$3
cc -shared -fPIC "-O$opt" -march=native "-DUNROLL=$unroll" scale.c -o "$out"
