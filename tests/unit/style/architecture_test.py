#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the table *question → file → symbol* of docs/ARCHITECTURE.md: each file exists and each symbol stands in it."""
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..", ".."))
ROWS_MIN = 15


def main():
    text = open(os.path.join(ROOT, "docs/ARCHITECTURE.md"), encoding="utf-8").read()
    rows = re.findall(r"^\| ([^|]*\?) \| `([^`|]+)` \| `([^`|]+)` \|$", text, re.MULTILINE)
    findings = []
    for question, path, symbol in rows:
        full = os.path.join(ROOT, path)
        if not os.path.isfile(full):
            findings.append(f"{question} {path} does not exist")
        elif not re.search(rf"\b{re.escape(symbol.split('::')[-1])}\b", open(full, encoding="utf-8").read()):
            findings.append(f"{question} {path} has no {symbol}")
    if len(rows) < ROWS_MIN:
        findings.append(f"only {len(rows)} rows, at least {ROWS_MIN} are expected")
    for finding in findings:
        print(f"docs/ARCHITECTURE.md: {finding}")
    print(f"architecture: {len(rows)} rows, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
