#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building, testing and running Sluice needs on Debian 12, and only what is missing. Idempotent.
#   scripts/setup.sh          everything (default)
#   scripts/setup.sh --build  only what a release build and a run need
set -euo pipefail

build_packages=(
  clang-19 libclang-rt-19-dev mold ccache cmake ninja-build pkg-config git ca-certificates python3
  g++-12 libstdc++-12-dev libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev libtomlplusplus-dev libfmt-dev libspdlog-dev libcli11-dev
  libcurl4-openssl-dev libssl-dev libvalijson-dev libxxhash-dev prometheus-cpp-dev zlib1g-dev libgtest-dev libgmock-dev libbenchmark-dev
)
test_packages=(
  e2fsprogs mount gcc-12 clang-tidy-19 clang-format-19 llvm-19 strace binutils openssl iproute2 util-linux curl
  redis-server libhiredis-dev sqlite3 libsqlite3-dev
)

packages=("${build_packages[@]}")
[ "${1:-}" = "--build" ] || packages+=("${test_packages[@]}")

. /etc/os-release
if [ "${ID:-}" != debian ] || [ "${VERSION_ID:-}" != 12 ]; then
  echo "setup: this script knows Debian 12 only (here: ${PRETTY_NAME:-unknown}); install the packages it lists by hand: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: everything is installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
echo "setup: done"
