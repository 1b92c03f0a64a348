#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the rules of core/base/mutation.def one at a time and prints the test that each one trips.

    cmake --preset mutation && cmake --build --preset mutation --target mutations
    scripts/mutations.py [--build DIR] [--only NAME...] [--rotate N] [--jobs N]

First every test binary runs with all rules in force, the exhaustive ones in full; a failure there ends it. Then, per rule, the binaries run in the order of the time
that they took, and stop at their first failing test. A binary that takes far longer than it did counts as tripped. A rule that no test
misses is a survivor: the exit code is 1, and a test is to be written.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import mutation_rules  # noqa: E402

BINARIES = ["unit_core_*", "simulation_*"]  # in DIR/bin: what the target `mutations` builds
BASELINE_SECONDS_MAX = 600
TIMEOUT_FACTOR = 5
TIMEOUT_SECONDS_MIN = 60
LIMITS = ["prlimit", f"--as={4 << 30}", f"--fsize={2 << 30}"]  # a broken rule may mean a loop without an end

Run = collections.namedtuple("Run", "status test output seconds")  # status: passed, failed, timeout, not started


def run(build, binary, rule, timeout):
    environment = mutation_rules.environment_with(rule)
    directory = tempfile.mkdtemp(prefix="sluice-mutation-")
    environment["TMPDIR"] = directory
    environment["SLUICE_SIMULATION"] = "full"
    began = time.monotonic()
    status = "passed"
    try:
        done = subprocess.run([*LIMITS, os.path.join(build, "bin", binary), "--gtest_fail_fast", "--gtest_print_time=0"], env=environment,
                              cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        output = done.stdout
        if done.returncode != 0:
            status = "failed"
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
        status = "timeout"
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    output = output.decode(errors="replace")
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
    if status != "passed" and not begun:
        status = "not started"
    test = failed[0] if failed else begun[-1] if begun else ""
    return Run(status, test, output, time.monotonic() - began)


def said_by(result):
    """What the test said that failed, or the end of everything."""
    said = re.search(rf"^\[ RUN      \] {re.escape(result.test)}$.*?^\[  FAILED  \]", result.output, re.MULTILINE | re.DOTALL)
    return said.group(0) if said else result.output[-4000:]


def baseline(build):
    """Seconds per binary, shortest first; the processor is theirs alone."""
    seconds = {}
    for binary in sorted(os.path.basename(path) for pattern in BINARIES for path in glob.glob(os.path.join(build, "bin", pattern))):
        result = run(build, binary, None, BASELINE_SECONDS_MAX)
        if result.status != "passed":
            print(said_by(result), file=sys.stderr)
            sys.exit(f"mutations: {binary} fails with every rule in force ({result.status} {result.test})")
        seconds[binary] = result.seconds
    if not seconds:
        sys.exit(f"mutations: no tests in {build}/bin: cmake --preset mutation && cmake --build --preset mutation --target mutations")
    return dict(sorted(seconds.items(), key=lambda item: item[1]))


def trip(build, seconds, rule):
    """The outcome of the first binary that notices, with its name; None for a survivor."""
    for binary, usual in seconds.items():
        result = run(build, binary, rule, max(TIMEOUT_SECONDS_MIN, TIMEOUT_FACTOR * usual))
        if result.status != "passed":
            return binary, result
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mutation_rules.add_options(parser)
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    chosen = mutation_rules.choose(mutation_rules.read_rules(replication=False), arguments)
    seconds = baseline(build)
    print("mutations: all rules in force: " + ", ".join(f"{binary} {took:.1f} s" for binary, took in seconds.items()), flush=True)
    survivors = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for rule, tripped in zip(chosen, pool.map(lambda rule: trip(build, seconds, rule), chosen)):
            if tripped is None:
                survivors.append(rule)
                print(f"SURVIVES {rule.name}: no test notices  ({rule.sentence})", flush=True)
                continue
            binary, result = tripped
            if result.status == "not started":
                print(said_by(result), file=sys.stderr)
                sys.exit(f"mutations: {binary} did not come to its first test with {rule.name}; is {build} up to date?")
            note = ", which did not end" if result.status == "timeout" else ""
            print(f"{rule.name}: {result.test}{note}  ({rule.sentence})", flush=True)
    print(f"mutations: {len(chosen)} rules broken, {len(survivors)} survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
