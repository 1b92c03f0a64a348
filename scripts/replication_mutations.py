#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the rules of replication one at a time and counts the seeds until the simulator finds each.

    cmake --preset mutation && cmake --build --preset mutation --target sluice-sim
    scripts/replication_mutations.py [--build DIR] [--only NAME...] [--rotate N] [--write]

Per rule it starts at several places, SEEDS_MAX seeds each, and takes the median. A rule that is not found from every place is a survivor,
and so is one whose median is above MEDIAN_MAX: the exit code is 1. --write puts the table into docs/reference/replication-mutations.md.
"""
import argparse
import collections
import concurrent.futures
import datetime
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "docs/reference/replication-mutations.md")
FIRST_SEEDS = [1 + 100_000 * i for i in range(9)]
SEEDS_MAX = 10_000
MEDIAN_MAX = 500
SECONDS_MAX = 900

Rule = collections.namedtuple("Rule", "name sentence")
Found = collections.namedtuple("Found", "seeds invariant")


def read_rules():
    text = open(os.path.join(ROOT, "core/base/mutation.def"), encoding="utf-8").read()
    return [Rule(*found) for found in re.findall(r'^SLUICE_MUTATION\((kVsr\w+), "(.*)"\)$', text, re.MULTILINE)]


def choose(rules, only, rotate):
    if only:
        unknown = set(only) - {rule.name for rule in rules}
        if unknown:
            sys.exit(f"replication_mutations: core/base/mutation.def has no {', '.join(sorted(unknown))}")
        return [rule for rule in rules if rule.name in only]
    if rotate:
        first = datetime.date.today().toordinal() * rotate
        return [rules[(first + i) % len(rules)] for i in range(min(rotate, len(rules)))]
    return rules


def simulate(program, rule, first, seeds):
    environment = {name: value for name, value in os.environ.items() if name != "SLUICE_MUTATION"}
    if rule:
        environment["SLUICE_MUTATION"] = rule.name
    return subprocess.run([program, "--first-seed", str(first), "--seeds", str(seeds)], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, encoding="utf-8", errors="replace")


def search(program, rule, first):
    """None if no seed finds it."""
    try:
        done = simulate(program, rule, first, SEEDS_MAX)
    except subprocess.TimeoutExpired:
        return None
    said = re.search(r"^seed (\d+): (.*)$", done.stdout, re.MULTILINE)
    if done.returncode != 1 or not said:
        return None
    asserted = re.search(r"(\w+\.[ch]pp):\d+: assertion failed: (.*)$", done.stdout, re.MULTILINE)
    invariant = f"assertion in {asserted.group(1)}" if asserted else said.group(2).split(":")[0]
    return Found(int(said.group(1)) - first + 1, invariant)


def search_all(program, rule):
    found = []
    for first in FIRST_SEEDS:
        found.append(search(program, rule, first))
        if found[-1] is None:
            break
    return found


def row(rule, found):
    """The row of the table, and whether the simulator is good enough for this rule."""
    if found[-1] is None:
        return f"| `{rule.name}` | {rule.sentence} | none within {SEEDS_MAX} | | |", False
    seeds = [one.seeds for one in found]
    median = int(statistics.median(seeds))
    fired = ", ".join(name for name, _ in collections.Counter(one.invariant for one in found).most_common())
    return f"| `{rule.name}` | {rule.sentence} | {median} | {max(seeds)} | {fired} |", median <= MEDIAN_MAX


HEAD = """# Broken rules of replication, and the simulator

Made by `scripts/replication_mutations.py --write`. Each row breaks one rule of `core/vsr` (`core/base/mutation.def`); `sluice-sim` then runs
seeds until an invariant fires, from {places} places of at most {seeds} seeds each. The invariants: `tests/simulation/vsr/checks.hpp`.

| broken | the rule | seeds, median | seeds, most | what fired |
|---|---|---|---|---|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/mutation"))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these rules")
    parser.add_argument("--rotate", type=int, metavar="N", help="N rules, others every day")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rules at a time")
    parser.add_argument("--write", action="store_true", help="the table goes to docs/")
    arguments = parser.parse_args()
    program = os.path.join(os.path.abspath(arguments.build), "bin", "sluice-sim")
    chosen = choose(read_rules(), arguments.only, arguments.rotate)
    whole = simulate(program, None, FIRST_SEEDS[0], 100)
    if whole.returncode != 0:
        sys.exit(f"replication_mutations: sluice-sim fails with every rule in force\n{whole.stdout}")
    rows, survivors = [], 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for rule, found in zip(chosen, pool.map(lambda rule: search_all(program, rule), chosen)):
            text, good = row(rule, found)
            survivors += not good
            rows.append(text)
            print(text if good else f"SURVIVES {text}", flush=True)
    if arguments.write:
        if arguments.only or arguments.rotate:
            sys.exit("replication_mutations: a table has all rules")
        with open(TABLE, "w", encoding="utf-8") as table:
            table.write(HEAD.format(places=len(FIRST_SEEDS), seeds=SEEDS_MAX) + "\n".join(rows) + "\n")
    print(f"replication_mutations: {len(chosen)} rules broken, {survivors} survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
