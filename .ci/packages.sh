# Sourced by quickstart, test and .ci/run: installs Debian packages, only those that are missing.
# shellcheck shell=bash

TS_BUILD_PACKAGES=(g++ cmake ninja-build pkg-config ccache lld libboost-json1.81-dev libboost1.81-dev libssl-dev
  libfmt-dev libexpected-dev libcli11-dev libsqlite3-dev zlib1g-dev)
TS_TEST_PACKAGES=(libgtest-dev libgmock-dev libopenblas-dev libdnnl-dev)
TS_CI_PACKAGES=(clang-tidy-19 clang-format clang-19 libclang-rt-19-dev)

# ts_ensure PACKAGE…: exits 4 with the one apt line when something is missing and nobody may install it.
ts_ensure() {
  if ! command -v dpkg-query >/dev/null; then
    echo "$0: no dpkg here, so nothing is installed; what Debian calls it: $*" >&2
    return 0
  fi
  local missing=() package
  for package in "$@"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      missing+=("$package")
    fi
  done
  if [ "${#missing[@]}" -eq 0 ]; then return 0; fi
  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    echo "$0: packages are missing; install them and run this again:" >&2
    echo "sudo $line" >&2
    exit 4
  fi
  echo "$0: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # The package lists of a fresh container are empty; try with what is there first.
  if ! $line >/tmp/tunesmith-apt.$$.log 2>&1; then
    if ! { apt-get update && $line; } >>/tmp/tunesmith-apt.$$.log 2>&1; then
      tail -n 20 /tmp/tunesmith-apt.$$.log >&2
      echo "$0: apt could not install them; the line was: $line" >&2
      exit 4
    fi
  fi
  rm -f /tmp/tunesmith-apt.$$.log
}
