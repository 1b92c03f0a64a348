#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs many seeds of the simulator of replication and sums what they exercised.

    cmake --preset mutation && cmake --build --preset mutation --target sluice-sim
    scripts/replication_fleet.py [--build DIR] [--first-seed N] [--seeds K] [--jobs J] [--write]
    scripts/replication_fleet.py --same DIR...

The first form ends with exit code 1 if anything is wrong in a seed, or too little happens in a range. --write puts the sums into
docs/reference/replication-fleet.md. The second one compares the hashes of a few seeds between builds: same seed, same run.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs/reference/replication-fleet.md")
RANGE = 10_000  # seeds of one process
SAME_SEEDS = 20
MOST = re.compile(r"(of one step at most)$")
LEAST = re.compile(r"(of one seed at least)$")


def program(build):
    return os.path.join(os.path.abspath(build), "bin", "sluice-sim")


def simulate(build, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "SLUICE_MUTATION"}
    return subprocess.run([program(build), *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")


def run_range(build, first, seeds):
    """What happened, by its name; the exit code is 0 and nothing else."""
    done = simulate(build, "--first-seed", first, "--seeds", seeds)
    said = re.search(rf"^{seeds} seeds: (.*)$", done.stdout, re.MULTILINE)
    print(f"{first}..{first + seeds - 1}: exit code {done.returncode}: {done.stdout.strip()}", flush=True)
    if done.returncode != 0 or not said:
        sys.exit(f"replication_fleet: seeds {first} to {first + seeds - 1} are not well")
    return {name: int(number) for number, name in re.findall(r"(\d+) ([^,]+)", said.group(1))}


def sum_up(ranges):
    sums = collections.OrderedDict()
    for one in ranges:
        for name, number in one.items():
            join = max if MOST.search(name) else min if LEAST.search(name) else int.__add__
            sums[name] = join(sums[name], number) if name in sums else number
    return sums


HEAD = """# Many seeds of replication

Made by `scripts/replication_fleet.py --write`: `sluice-sim` with every rule in force, in ranges of {range} seeds. Nothing was wrong in any of
them. Each range also had to reach the floors of `tests/simulation/vsr/sluice_sim.cpp`, below which a run means nothing.

Seeds {first} to {last}, {seeds} in all:

| what happened | in all | per seed |
|---|---|---|
"""


def row(name, number, seeds):
    if MOST.search(name) or LEAST.search(name):
        return f"| {name} | {number} | |\n"
    return f"| {name} | {number:,} | {number / seeds:.2f} |\n".replace(",", " ")


def same(builds):
    hashes = {build: re.findall(r"^\d+ [0-9a-f]{16}$", simulate(build, "--first-seed", 1, "--seeds", SAME_SEEDS, "--hashes").stdout,
                                re.MULTILINE) for build in builds}
    for build, found in hashes.items():
        if len(found) != SAME_SEEDS or found != hashes[builds[0]]:
            sys.exit(f"replication_fleet: {build} does not run seeds 1 to {SAME_SEEDS} as {builds[0]} does")
    print(f"replication_fleet: seeds 1 to {SAME_SEEDS} are the same in {len(builds)} builds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/mutation"))
    parser.add_argument("--first-seed", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=RANGE)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="ranges at a time")
    parser.add_argument("--write", action="store_true", help="the sums go to docs/")
    parser.add_argument("--same", nargs="+", metavar="DIR", help="compare these builds, and run nothing else")
    arguments = parser.parse_args()
    if arguments.same:
        same(arguments.same)
        return
    if arguments.seeds % RANGE != 0:
        sys.exit(f"replication_fleet: --seeds is a multiple of {RANGE}")
    last = arguments.first_seed + arguments.seeds
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        sums = sum_up(pool.map(lambda first: run_range(arguments.build, first, RANGE), range(arguments.first_seed, last, RANGE)))
    rows = [row(name, number, arguments.seeds) for name, number in sums.items()]
    print("".join(rows), end="")
    if arguments.write:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(HEAD.format(range=RANGE, first=arguments.first_seed, last=last - 1, seeds=arguments.seeds) + "".join(rows))


if __name__ == "__main__":
    main()
