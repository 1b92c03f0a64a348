#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up, builds the dev preset (ASan + UBSan) and runs all tests. Fails if a test is skipped or if there are fewer than the floor.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/stages.sh

stage setup scripts/setup.sh
stage "configure dev" cmake --preset dev -DSLUICE_ALL_CONNECTORS=ON
stage "build dev" cmake --build --preset dev
stage "tests" ctest --preset dev --no-tests=error --output-junit Testing/results.xml

read -r total skipped < <(python3 - <<'PY'
import xml.etree.ElementTree as tree
root = tree.parse("build/dev/Testing/results.xml").getroot()
print(root.get("tests"), int(root.get("skipped", 0)) + int(root.get("disabled", 0)))
PY
)
floor=$(grep -v '^#' tests/count_floor)
echo "tests: $total run, floor $floor, skipped or disabled $skipped"
[ "$skipped" -eq 0 ] || { echo "test.sh: no test may be skipped or disabled" >&2; exit 1; }
[ "$total" -ge "$floor" ] || { echo "test.sh: fewer tests than tests/count_floor says; tests were lost" >&2; exit 1; }
stage_summary
