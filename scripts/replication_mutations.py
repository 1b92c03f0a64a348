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
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import mutation_rules  # noqa: E402

TABLE = os.path.join(mutation_rules.ROOT, "docs/reference/replication-mutations.md")
FIRST_SEEDS = [1 + 100_000 * i for i in range(9)]
SEEDS_MAX = 10_000
MEDIAN_MAX = 500
SECONDS_MAX = 900

Found = collections.namedtuple("Found", "seeds invariant")


def simulate(program, rule, first, seeds):
    return subprocess.run([program, "--first-seed", str(first), "--seeds", str(seeds)], env=mutation_rules.environment_with(rule),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX,
                          encoding="utf-8", errors="replace")


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
    mutation_rules.add_options(parser)
    parser.add_argument("--write", action="store_true", help="the table goes to docs/")
    arguments = parser.parse_args()
    program = os.path.join(os.path.abspath(arguments.build), "bin", "sluice-sim")
    chosen = mutation_rules.choose(mutation_rules.read_rules(replication=True), arguments)
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
