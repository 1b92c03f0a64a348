#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format of all sources, and clang-tidy on what changed since BASE (default: the merge base with origin/main, or the parent commit).
# Uses the compile commands of build/dev, or of build/release.
#   scripts/lint.sh [BASE]
#   scripts/lint.sh --format-only
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files -- '*.cpp' '*.hpp' '*.h' ':!sdk/include/sluice/abi/*.h')
clang-format-19 --dry-run --Werror "${sources[@]}"
echo "lint: ${#sources[@]} files are formatted"

if [ "${1:-}" = --format-only ]; then exit 0; fi
base=${1:-}
if [ -z "$base" ]; then
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then base=$(git rev-parse -q --verify HEAD~1 || git hash-object -t tree /dev/null); fi
fi
database=build/dev
[ -f "$database/compile_commands.json" ] || database=build/release
[ -f "$database/compile_commands.json" ] || { echo "lint: configure first: cmake --preset dev" >&2; exit 1; }
mapfile -t changed < <(git diff --name-only --diff-filter=AMR "$base" -- 'core/*.cpp' 'sdk/*.cpp' 'runtime/*.cpp' 'connectors/*.cpp' | head -n "${SLUICE_TIDY_FILES_MAX:-400}")
if [ ${#changed[@]} -eq 0 ]; then
  echo "lint: no source changed since $base"
  exit 0
fi
echo "lint: clang-tidy on ${#changed[@]} files changed since $(git rev-parse --short "$base")"
printf '%s\n' "${changed[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p "$database" --quiet --warnings-as-errors='*' \
  --extra-arg=-Wno-unknown-warning-option 2> >(grep -v -E 'warnings? generated|Suppressed|Use -header-filter|warnings treated as errors$' >&2)
