#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the daemon with SIGKILL, again and again, under load, at random instants and at chosen system calls, and then counts every line.

Three files that are rotated by rename → file_source → a topic of four partitions → file_sink and http_sink. Afterwards
  file_sink:  every line once, in order per file, none missing, none twice;
  http_sink:  every line, duplicates at most one batch per partition and kill, each with the key of its first delivery;
  after every restart that came to serve, the accounting identity holds (`connector audit`).
The kills come from outside: a signal, or strace that delivers it at the n-th call of a kind on a path. Prints its seed and takes one.
"""
import argparse
import collections
import glob
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time

from world import Daemon, LineWriter, Receiver, wait_for

CONNECTORS = ("lines_in", "file_out", "http_out")
BATCH_RECORDS = 25
IN_FLIGHT_LINES_MAX = 2000
STOP_POINT = "mid-checkpoint"  # reached for certain when the daemon stops: it is asked to
IN_FLIGHT_SHARE_MIN = 0.6  # of the random kills, how many must have found records in flight


def configure(daemon, receiver):
    root = daemon.root
    topic = f"""[[streams]]
stream = "crash"
topic = "lines"
partitions = 4
segment_bytes = "1MiB"
"""
    daemon.write("connectors.d/lines_in.toml", f"""key = "lines_in"
type = "source"
plugin = "file_source"
[batching]
max_records = {BATCH_RECORDS}
{topic}
[plugin_config]
paths = ["{root}/in/*.log", "{root}/in/*.log.*"]
""")
    daemon.write("connectors.d/file_out.toml", f"""key = "file_out"
type = "sink"
plugin = "file_sink"
[batching]
max_records = {BATCH_RECORDS}
{topic}
[plugin_config]
path = "{root}/out/lines.ndjson"
format = "ndjson"
[plugin_config.rotate]
size = "256KiB"
""")
    daemon.write("connectors.d/http_out.toml", f"""key = "http_out"
type = "sink"
plugin = "http_sink"
[batching]
max_records = {BATCH_RECORDS}
{topic}
[plugin_config]
url = "{receiver.url}"
mode = "individual"
""")


def delivered_lines(root):
    """Payloads of all whole output files in the order in which they were written."""
    active = os.path.join(root, "out/lines.ndjson")
    rotated = [p for p in glob.glob(active + ".*") if p.rsplit(".", 1)[1].isdigit()]
    rotated.sort(key=lambda p: int(p.rsplit(".", 1)[1]))
    lines = []
    for path in [*rotated, active]:
        if os.path.exists(path):
            with open(path, "rb") as file:
                for raw in file.read().split(b"\n"):
                    if raw:
                        lines.append(raw)
    return lines


def check_file(root, written):
    """Every line once, in order per file."""
    next_sequence = collections.Counter()
    for raw in delivered_lines(root):
        record = json.loads(raw)
        name, sequence, _ = record["payload"].split(":", 2)
        if int(sequence) != next_sequence[name]:
            raise AssertionError(f"{name}: line {sequence} where {next_sequence[name]} was due")
        next_sequence[name] += 1
    for (name, generation), count in written.items():
        got = next_sequence[f"{name}.{generation}"]
        if got != count:
            raise AssertionError(f"{name}.{generation}: {got} lines came out, {count} went in")


def check_http(receiver, written):
    if receiver.faults:
        raise AssertionError(f"http: {receiver.faults[:5]}")
    payloads = collections.Counter(body for body in receiver.seen.values())
    twice = [p for p, n in payloads.items() if n > 1]
    if twice:
        raise AssertionError(f"http: {len(twice)} lines came under two keys, for example {twice[0][:80]}")
    if len(payloads) != sum(written.values()):
        raise AssertionError(f"http: {len(payloads)} lines came, {sum(written.values())} went in")
    for (era, partition), count in receiver.duplicates.items():
        if count > BATCH_RECORDS:
            raise AssertionError(f"http: {count} duplicates in partition {partition} after kill {era}, more than one batch")


def audit(daemon):
    for key in ("file_out", "http_out"):
        rows = daemon.call(f"connectors/{key}/audit")["partitions"]
        wrong = [row for row in rows if not row["consistent"]]
        if wrong:
            raise AssertionError(f"audit of {key}: {wrong}")


def in_flight(daemon, lines_before, receiver):
    """Of the lines that were in the files before the kill: how many one of the two sinks does not have after it."""
    return lines_before - min(len(delivered_lines(daemon.root)), len(receiver.seen))


def crash_points(root):
    """(name, strace arguments): the kill is delivered on entry to the n-th such call on that path."""
    data = os.path.join(root, "data")
    logs = glob.glob(os.path.join(data, "groups/*/*.log"))
    groups = glob.glob(os.path.join(data, "groups/*"))
    out = os.path.join(root, "out")
    paths = lambda names: [argument for name in names for argument in ("-P", name)]
    writes = "write,pwrite64,writev,pwritev,pwritev2"
    renames = "rename,renameat,renameat2"
    yield "mid-append", [*paths(logs), "-e", f"inject={writes}:signal=KILL:when={{n}}"], (1, 2, 5, 20)
    yield "after append, before commit", [*paths(logs), "-e", "inject=fdatasync,fsync:signal=KILL:when={n}"], (1, 2, 7, 19)
    yield "mid-write of the sink", [*paths(glob.glob(os.path.join(out, "*"))), "-e", f"inject={writes}:signal=KILL:when={{n}}"], (1, 2, 9)
    yield "sync of the sink", [*paths(glob.glob(os.path.join(out, "*"))), "-e", "inject=fdatasync,fsync:signal=KILL:when={n}"], (1, 4)
    yield "mid-sidecar", [*paths(sidecar_paths(out)), "-e", f"inject={renames}:signal=KILL:when={{n}}"], (1, 2, 6)
    yield "mid-roll", [*paths(groups), "-e", "inject=fsync,fdatasync:signal=KILL:when={n}"], (1, 2, 3)
    yield STOP_POINT, [*paths(checkpoint_paths(groups)), "-e", f"inject={renames}:signal=KILL:when={{n}}"], (1, 2, 3)


def sidecar_paths(out):
    return [os.path.join(out, "lines.ndjson.position"), os.path.join(out, "lines.ndjson.position.tmp")]


def checkpoint_paths(groups):
    return [os.path.join(g, name) for g in groups for name in ("checkpoint", "checkpoint.staging")]


class Loop:
    def __init__(self, arguments, root):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.receiver = Receiver()
        self.daemon = Daemon(arguments.build, root)
        os.makedirs(os.path.join(root, "out"), exist_ok=True)
        configure(self.daemon, self.receiver)
        self.writer = LineWriter(os.path.join(root, "in"), ["a", "b", "c"], arguments.seed, arguments.rate, rotate_after=1000)
        self.writer.hold = lambda: self.writer.total() - len(self.receiver.seen) > IN_FLIGHT_LINES_MAX
        self.found_in_flight = 0
        self.audited = 0  # restarts after which the accounting identity was checked
        self.hit = collections.Counter()

    def random_kills(self):
        for number in range(self.arguments.kills):
            self.daemon.start()
            if self.random.random() < 0.8:  # the others are killed somewhere in their start, before anything could be asked
                self.wait_and_audit()
            time.sleep(self.random.uniform(0.0, 0.5))
            lines_before = self.writer.total()
            self.daemon.kill()
            self.receiver.next_era()
            pending = in_flight(self.daemon, lines_before, self.receiver)
            self.found_in_flight += pending > 0
            if number % 10 == 9:
                print(f"kill {number + 1}: {self.writer.total()} lines written, {pending} in flight", flush=True)

    def wait_and_audit(self):
        wait_for(lambda: self.daemon.serving(CONNECTORS), 30, "running connectors")
        audit(self.daemon)
        self.audited += 1

    def check_identity(self):
        self.daemon.start()
        self.wait_and_audit()
        self.daemon.kill()
        self.receiver.next_era()

    def point_kills(self):
        for name, strace, numbers in crash_points(self.daemon.root):
            for n in numbers:
                arguments = [a.format(n=n) for a in strace]
                self.daemon.start(wrapper=["strace", "-f", "-qq", "-o", "/dev/null", *arguments], wait=False)
                if name == STOP_POINT:
                    wait_for(lambda: self.daemon.serving(CONNECTORS), 60, "running connectors")
                    self.daemon.terminate_traced()
                deadline = time.monotonic() + 8
                while self.daemon.process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.01)
                # strace ends by the signal that ended what it traced; any other end is not a hit.
                self.hit[name] += self.daemon.process.poll() == -signal.SIGKILL
                self.daemon.kill()
                self.receiver.next_era()
                self.check_identity()
            print(f"crash point {name}: {self.hit[name]} of {len(numbers)} delivered", flush=True)

    def finish(self):
        self.writer.stop()
        self.daemon.start()
        self.wait_and_audit()
        total = self.writer.total()
        wait_for(lambda: len(delivered_lines(self.daemon.root)) >= total and len(self.receiver.seen) >= total, 120,
                 f"delivery of all {total} lines (file {len(delivered_lines(self.daemon.root))}, http {len(self.receiver.seen)})")
        audit(self.daemon)
        status = self.daemon.stop()
        if status != 0:
            raise AssertionError(f"SIGTERM: exit {status}\n{self.daemon.log_tail()}")
        check_file(self.daemon.root, self.writer.written)
        check_http(self.receiver, self.writer.written)

    def exercise(self):
        self.random_kills()
        self.point_kills()

    def run(self):
        self.writer.start()
        try:
            self.exercise()
            self.finish()
        finally:
            if self.writer.is_alive():
                self.writer.stop()
            if self.daemon.process and self.daemon.process.poll() is None:
                self.daemon.kill()
            self.receiver.stop()
        self.report()

    def report(self):
        kills = self.arguments.kills
        print(f"kill loop: {kills} random kills, {self.found_in_flight} found records in flight; "
              f"points {dict(self.hit)}; audit consistent after each of {self.audited} restarts; "
              f"{self.writer.total()} lines, {sum(self.receiver.duplicates.values())} HTTP duplicates")
        if self.found_in_flight < IN_FLIGHT_SHARE_MIN * kills:
            raise AssertionError(f"only {self.found_in_flight} of {kills} kills found records in flight: the load is too small to prove anything")
        missed = [name for name, _, _ in crash_points(self.daemon.root) if self.hit[name] == 0]
        if missed:
            raise AssertionError(f"crash points that were never reached: {missed}")


def run_loop(name, loop, add_arguments):
    """The command line of a loop: prints its seed and takes one, keeps the directory of a failure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    add_arguments(parser)
    parser.add_argument("--rate", type=int, default=3000, help="lines per second")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="keep the directory")
    arguments = parser.parse_args()
    print(f"{name} loop: seed {arguments.seed}", flush=True)
    root = tempfile.mkdtemp(prefix=f"sluice-{name}-")
    try:
        loop(arguments, root).run()
    except BaseException:
        print(f"{name} loop: failed with --seed {arguments.seed}; the directory is kept: {root}", file=sys.stderr)
        raise
    if not arguments.keep:
        shutil.rmtree(root)


if __name__ == "__main__":
    run_loop("kill", Loop, lambda parser: parser.add_argument("--kills", type=int, default=100))
