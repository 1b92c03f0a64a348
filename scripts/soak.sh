#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hours of crashes against the release build: kill loops and fault loops with new seeds until KILLS random kills were done.
#   scripts/soak.sh [KILLS]   default 2000; stops at the first failure, whose seed and directory are printed
set -euo pipefail
cd "$(dirname "$0")/.."
kills=${1:-2000}
per_loop=200
done_kills=0
while [ "$done_kills" -lt "$kills" ]; do
  python3 tests/crash/kill_loop.py --build build/release --kills "$per_loop" --seed "$RANDOM$RANDOM"
  python3 tests/crash/fault_loop.py --build build/release --rounds 2 --seed "$RANDOM$RANDOM"
  done_kills=$((done_kills + per_loop))
  echo "soak: $done_kills of $kills random kills"
done
