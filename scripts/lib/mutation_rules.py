# SPDX-License-Identifier: Apache-2.0
"""The rules of core/base/mutation.def, for the scripts that break them one at a time."""
import collections
import datetime
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REPLICATION = "kVsr"  # how the names of the rules of replication begin, which have a simulator of their own

Rule = collections.namedtuple("Rule", "name sentence")


def read_rules(replication):
    """Those of replication, or all others. Each rule has its place in the code."""
    text = open(os.path.join(ROOT, "core/base/mutation.def"), encoding="utf-8").read()
    rules = [Rule(*found) for found in re.findall(r'^SLUICE_MUTATION\((\w+), "(.*)"\)$', text, re.MULTILINE)]
    placed = set()
    for folder, _, names in os.walk(os.path.join(ROOT, "core")):
        for name in names:
            if name.endswith((".cpp", ".hpp")):
                placed.update(re.findall(r"SLUICE_MUTATED\((k\w+)\)", open(os.path.join(folder, name), encoding="utf-8").read()))
    missing = [rule.name for rule in rules if rule.name not in placed]
    if missing:
        sys.exit(f"mutations: nothing in core/ breaks {', '.join(missing)}")
    return [rule for rule in rules if rule.name.startswith(REPLICATION) == replication]


def add_options(parser):
    parser.add_argument("--build", default=os.path.join(ROOT, "build/mutation"))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these rules")
    parser.add_argument("--rotate", type=int, metavar="N", help="N rules, others every day")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rules at a time")


def choose(rules, arguments):
    """What --only and --rotate leave of them."""
    if arguments.only:
        unknown = set(arguments.only) - {rule.name for rule in rules}
        if unknown:
            sys.exit(f"mutations: core/base/mutation.def has no {', '.join(sorted(unknown))} for this script")
        return [rule for rule in rules if rule.name in arguments.only]
    if arguments.rotate:
        first = datetime.date.today().toordinal() * arguments.rotate
        return [rules[(first + i) % len(rules)] for i in range(min(arguments.rotate, len(rules)))]
    return rules


def environment_with(rule):
    """In which a program of the mutation build runs with this rule broken, or with all in force."""
    environment = {name: value for name, value in os.environ.items() if name != "SLUICE_MUTATION"}
    if rule:
        environment["SLUICE_MUTATION"] = rule.name
    return environment
