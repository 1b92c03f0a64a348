#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets system calls of the daemon on its log files fail, one after the other, under load, and then counts every line.

The world is that of the kill loop. strace answers the n-th call of a kind with EIO or ENOSPC. The daemon may go on (a checkpoint that could
not be written is tried again), or it leaves with exit 6 and says which partition, file and errno, or it does not start because of the
catalog's log and says so; anything else fails. Afterwards a start
without faults recovers, the accounting identity holds, and in the end every line has arrived as the kill loop demands. Prints its seed.
"""
import collections
import glob
import os
import re
import time

from kill_loop import Loop, checkpoint_paths, run_loop

EXIT_NOT_STARTED = 1
EXIT_NOT_DURABLE = 6
FAULT_SECONDS = 8  # how long a fault may take to be met
WRITES = "write,pwrite64,writev,pwritev,pwritev2"
SYNCS = "fdatasync,fsync"
TEXTS = {"EIO": "Input/output error", "ENOSPC": "No space left on device"}


def fault_points(root):
    """(name, paths, system calls, n-th calls)"""
    groups = glob.glob(os.path.join(root, "data/groups/*"))
    logs = glob.glob(os.path.join(root, "data/groups/*/*.log"))
    indexes = glob.glob(os.path.join(root, "data/groups/*/*.index"))
    yield "write of a log", logs, WRITES, (1, 3, 40)
    yield "write of an index", indexes, WRITES, (1, 2)
    yield "sync of a log", logs, SYNCS, (1, 8, 60)
    yield "sync of a directory", groups, SYNCS, (1, 4)
    yield "rename of a checkpoint", checkpoint_paths(groups), "rename,renameat,renameat2", (1,)
    yield "truncation", [*logs, *indexes], "ftruncate", (1, 2)


class FaultLoop(Loop):
    def __init__(self, arguments, root):
        super().__init__(arguments, root)
        self.ends = collections.Counter()

    def inject(self, name, paths, calls, error, number):
        trace = os.path.join(self.daemon.root, "strace.log")
        arguments = [a for path in paths for a in ("-P", path)]
        log_before = os.path.getsize(self.daemon.log_path)
        self.daemon.start(wrapper=["strace", "-f", "-qq", "-o", trace, "-e", f"trace={calls}", *arguments,
                                   "-e", f"inject={calls}:error={error}:when={number}"], wait=False)
        deadline = time.monotonic() + FAULT_SECONDS
        met = False
        while self.daemon.process.poll() is None and time.monotonic() < deadline:
            met = met or self.was_injected(trace)
            time.sleep(0.02)
        code = self.daemon.process.poll()
        met = met or self.was_injected(trace)
        with open(self.daemon.log_path, "rb") as file:
            file.seek(log_before)
            text = file.read().decode("utf-8", "replace")
        if code is None:
            end = "went on" if met else "not met"
        elif code == EXIT_NOT_STARTED and f"errno: {error}" in text and "partition: catalog" in text:
            end = "did not start"
        elif code == EXIT_NOT_DURABLE:
            end = "left"
            if not re.search(rf"cannot be kept durable: .*{TEXTS[error]}.*partition=", text):
                raise AssertionError(f"{name}, {error}: exit 6 without partition and errno:\n{text[-3000:]}")
        else:
            raise AssertionError(f"{name}, {error}, call {number}: the daemon left with {code}\n{self.daemon.log_tail()}")
        self.ends[(name, end)] += 1
        self.daemon.kill()
        self.receiver.next_era()
        self.check_identity()
        print(f"{name}, call {number}, {error}: {end}", flush=True)

    @staticmethod
    def was_injected(trace):
        try:
            with open(trace, "rb") as file:
                return b"(INJECTED)" in file.read()
        except FileNotFoundError:
            return False

    def exercise(self):
        self.check_identity()  # makes the topics and their files
        for repeat in range(self.arguments.rounds):
            for name, paths, calls, numbers in fault_points(self.daemon.root):
                for number in numbers:
                    self.inject(name, paths, calls, "EIO" if (number + repeat) % 2 else "ENOSPC", number + repeat)

    def report(self):
        print(f"fault loop: {dict(self.ends)}; audit consistent after each of {self.audited} restarts; {self.writer.total()} lines")
        for name in ("write of a log", "sync of a log"):
            if self.ends[(name, "left")] + self.ends[(name, "went on")] == 0:
                raise AssertionError(f"no fault was met: {name}")


if __name__ == "__main__":
    run_loop("fault", FaultLoop, lambda parser: parser.add_argument("--rounds", type=int, default=1))
