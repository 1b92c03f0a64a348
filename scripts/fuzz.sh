#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer of build/fuzz for SECONDS (default 15) from its committed corpus. New inputs go to build/fuzz/corpus, not into the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-15}
found=0
for program in build/fuzz/bin/*_fuzz; do
  [ -x "$program" ] || continue
  found=$((found + 1))
  name=$(basename "$program")
  mkdir -p "build/fuzz/corpus/$name" "build/fuzz/artifacts"
  seeds=()
  [ -d "tests/fuzz/corpus/$name" ] && seeds=("tests/fuzz/corpus/$name")
  echo "fuzz: $name for $seconds s"
  log=build/fuzz/artifacts/$name.log
  if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
      -artifact_prefix=build/fuzz/artifacts/ "build/fuzz/corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "fuzz: $name found a fault, see build/fuzz/artifacts" >&2
    exit 1
  fi
  grep number_of_executed_units "$log"
done
[ "$found" -gt 0 ] || { echo "fuzz: no fuzzers in build/fuzz/bin" >&2; exit 1; }
