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
Bug = collections.namedtuple("Bug", "happened rules lacks")

# Faults that another implementation of this protocol had, by the rules here that each broke or comes nearest to.
BUGS = {
    1: Bug("The new primary took the number of the newest op from the reports, not its log, and cut off as lost what it did not have itself: "
           "entries that clients were told of.", ["kVsrKeepsOwnLog", "kVsrDropsWithoutProof"], ""),
    2: Bug("A replica that learned late of its group certified the view of that moment with its empty log, and won.",
           ["kVsrEmptyLogCertifies"], ""),
    3: Bug("A header without its entry was neither a copy nor a denial, so a group with one dead replica stood still for ever; and the cure was "
           "wrong where an acknowledged entry may be lost.", ["kVsrHeaderAbstains", "kVsrDoubtDenied", "kVsrAbsentIsNack"], ""),
    4: Bug("A start of a view without headers: a commit was believed of a log that nobody had compared, beyond its end, and entries that were "
           "voted away were applied.", ["kVsrCommitUncompared", "kVsrCommitBeyondHead", "kVsrCommitOfAnyView"], ""),
    5: Bug("Repair was started by an event that did not come again: a backup stayed one entry short for ever.",
           ["kVsrRepairsOnce", "kVsrBeginsWithoutEntries"], ""),
    6: Bug("An entry that was repaired below the head became the parent of the next one, and the chain of every log broke.",
           ["kVsrRepairByOp"], "nearest form: a log here has no gap below its head; the fault of the rule puts an entry of another chain there"),
    7: Bug("log_view was durable before the tail of the old view was gone; the same op counted as the same entry; the commit jumped over entries "
           "of another view.", ["kVsrCertifiesBeforeTruncation", "kVsrSameByOp", "kVsrCommittedByOp"], ""),
    8: Bug("After a crash, places that had been given away were given away again; a partition that was made anew took what was for the old one.",
           ["kVsrPrimaryGoesOn"], "nearest form of the first half; the simulator has one group that is never deleted, so nothing of the second"),
    9: Bug("A replica whose write had failed went on as primary, and acknowledged; an acknowledgement left before its entry was durable.",
           ["kVsrFencedSpeaks", "kVsrAckBeforeDurable"], "one disk fails at a time, never all in the same moment"),
    10: Bug("A transition was interrupted half-way, and an entry that was no longer there counted.", ["kVsrOldCompletionCounts"],
            "nearest form: a step here is not interrupted, only its completions come late; there are no checkpoints that could race"),
}


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
    of_bugs = ", ".join(str(number) for number, bug in BUGS.items() if rule.name in bug.rules)
    if found[-1] is None:
        return f"| `{rule.name}` | {rule.sentence} | {of_bugs} | none within {SEEDS_MAX} | | |", False
    seeds = [one.seeds for one in found]
    median = int(statistics.median(seeds))
    fired = ", ".join(name for name, _ in collections.Counter(one.invariant for one in found).most_common())
    return f"| `{rule.name}` | {rule.sentence} | {of_bugs} | {median} | {max(seeds)} | {fired} |", median <= MEDIAN_MAX


HEAD = """# Broken rules of replication, and the simulator

Made by `scripts/replication_mutations.py --write`. Each row breaks one rule of `core/vsr` (`core/base/mutation.def`); `sluice-sim` then runs
seeds until an invariant fires, from {places} places of at most {seeds} seeds each. The invariants: `tests/simulation/vsr/checks.hpp`.

| broken | the rule | of the ten | seeds, median | seeds, most | what fired |
|---|---|---|---|---|---|
"""

TEN = """
## The ten

Faults that another implementation of this protocol had, and the rules here that each of them broke, or comes nearest to.

| | what happened | rules | not covered |
|---|---|---|---|
"""


def row_of_bug(number, bug):
    return f"| {number} | {bug.happened} | {', '.join(f'`{name}`' for name in bug.rules)} | {bug.lacks} |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mutation_rules.add_options(parser)
    parser.add_argument("--write", action="store_true", help="the table goes to docs/")
    arguments = parser.parse_args()
    program = os.path.join(os.path.abspath(arguments.build), "bin", "sluice-sim")
    rules = mutation_rules.read_rules(replication=True)
    unknown = {name for bug in BUGS.values() for name in bug.rules} - {rule.name for rule in rules}
    if unknown:
        sys.exit(f"replication_mutations: core/base/mutation.def has no {', '.join(sorted(unknown))}")
    chosen = mutation_rules.choose(rules, arguments)
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
            table.write(TEN + "".join(row_of_bug(number, bug) for number, bug in BUGS.items()))
    print(f"replication_mutations: {len(chosen)} rules broken, {survivors} survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
