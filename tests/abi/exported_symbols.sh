#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: exported_symbols.sh NM LIBRARY: fails unless the library exports exactly sluice_entry_v1.
set -euo pipefail
exported=$("$1" -D --defined-only "$2" | awk '{ print $NF }')
if [ "$exported" != sluice_entry_v1 ]; then
  printf '%s exports more or less than sluice_entry_v1:\n%s\n' "$2" "$exported"
  exit 1
fi
