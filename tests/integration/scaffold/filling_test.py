#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many lines a back end costs: fills a new sink with http_filling/, builds and tests it, and counts what was added or changed in src/.

Usage: filling_test.py BUILD, or --prefix PREFIX, as scaffold_test.py.
"""
import difflib
import glob
import os
import re
import sys
import tempfile

import scaffold_test

HERE = os.path.dirname(os.path.abspath(__file__))
LINES_MAX = 59
NAME, TYPE_NAME = "acme_http", "AcmeHttp"


def renamed(text):
    return text.replace("sink_template", NAME).replace("SinkTemplate", TYPE_NAME)


def fill(folder):
    """Puts the filling's files over the new connector's; answers the lines of src/ that were added or changed."""
    lines = 0
    for path in sorted(glob.glob(os.path.join(HERE, "http_filling", "*", "*.cpp"))):
        target = os.path.join(folder, os.path.relpath(path, os.path.join(HERE, "http_filling")))
        filled = renamed(open(path, encoding="utf-8").read())
        before = open(target, encoding="utf-8").read() if os.path.exists(target) else ""
        if os.path.basename(os.path.dirname(target)) == "src":
            diff = difflib.unified_diff(before.splitlines(), filled.splitlines(), lineterm="", n=0)
            added = [line for line in diff if line.startswith("+") and not line.startswith("+++")]
            lines += len(added)
        with open(target, "w", encoding="utf-8") as file:
            file.write(filled)
    # The test that push is not written yet goes with it.
    test = os.path.join(folder, "tests", f"{NAME}_test.cpp")
    text = open(test, encoding="utf-8").read()
    less = re.sub(r"// Goes when BackEnd::push is written.*?\n}\n\n", "", text, flags=re.DOTALL)
    scaffold_test.check(less != text, "the template has no test that goes")
    with open(test, "w", encoding="utf-8") as file:
        file.write(less)
    return lines


def main():
    with tempfile.TemporaryDirectory(prefix="sluice-filling-") as scratch:
        prefix, compilers = scaffold_test.installed(sys.argv[1:], scratch)
        world = scaffold_test.World(os.path.join(scratch, "world"), prefix, compilers[0])
        try:
            configure, build, test, _ = world.scaffold("sink", NAME)
            lines = fill(os.path.join(world.folder, NAME))
            scaffold_test.check(lines <= LINES_MAX, f"an HTTP back end costs {lines} lines, fewer than {LINES_MAX + 1} are promised")
            for command in (configure, build):
                world.run(command)
            count = scaffold_test.tests_passed(world.run(test))
        except scaffold_test.Failed as failed:
            print(f"filling: FAILED: {failed}")
            return 1
    print(f"filling: an HTTP back end is {lines} lines in src/ (at most {LINES_MAX}), {count} tests pass")
    return 0


if __name__ == "__main__":
    sys.exit(main())
