#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/guides/production-connector.md: every row of a checklist names a test that exists, or says that a person has to look."""
import glob
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..", ".."))
GUIDE = "docs/guides/production-connector.md"
FOLDERS = ("connectors", "templates", "tests")
ROWS_MIN = 25


def cases():
    out = set()
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(ROOT, folder, "**/*_test.cpp"), recursive=True):
            out.update(f"{suite}.{case}" for suite, case in
                       re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", open(path, encoding="utf-8").read(), re.MULTILINE))
    for path in glob.glob(os.path.join(ROOT, "tests/**/CMakeLists.txt"), recursive=True):
        out.update(re.findall(r"add_test\(NAME (\w+\.\w+)", open(path, encoding="utf-8").read()))
    return out


def main():
    text = open(os.path.join(ROOT, GUIDE), encoding="utf-8").read()
    known, rows, findings = cases(), 0, []
    for number, line in enumerate(text.splitlines(), 1):
        named = re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", line)
        findings += [f"{GUIDE}:{number}: there is no test {case}" for case in named if case not in known]
        cells = line.split(" | ")
        if line.startswith("| ") and len(cells) == 3 and not line.startswith("| rule "):
            rows += 1
            if not named and "*review*" not in cells[2]:
                findings.append(f"{GUIDE}:{number}: names no test and no review")
    if rows < ROWS_MIN:
        findings.append(f"{GUIDE}: only {rows} rows, at least {ROWS_MIN} are expected")
    for finding in findings:
        print(finding)
    print(f"guide: {rows} rows, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
