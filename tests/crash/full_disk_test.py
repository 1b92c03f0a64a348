#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file system of 64 MiB, mounted from a file, fills up under the daemon: admission stops in time, nothing is lost, a SIGKILL and a start on
the full disk change nothing, a stop waits for no room, and with room again everything goes on by itself. Needs root, for mount.

    tests/crash/full_disk_test.py [--build build/release]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from world import Daemon, wait_for

FILE_SYSTEM_BYTES = 64 << 20
BALLAST_BYTES = 26 << 20
LINES = 30_000
LINE_BYTES = 1000


def mount(image, place):
    with open(image, "wb") as file:
        file.truncate(FILE_SYSTEM_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
    os.mkdir(place)
    subprocess.run(["mount", "-o", "loop", image, place], check=True)


def configure(daemon, root):
    topic = '[[streams]]\nstream = "full"\ntopic = "lines"\nsegment_bytes = "4MiB"\n'
    daemon.write("connectors.d/lines_in.toml",
                 f'key = "lines_in"\ntype = "source"\nplugin = "file_source"\n{topic}[plugin_config]\npaths = ["{root}/in.log"]\n')
    daemon.write("connectors.d/file_out.toml",
                 f'key = "file_out"\ntype = "sink"\nplugin = "file_sink"\n{topic}[plugin_config]\npath = "{root}/out/lines.ndjson"\nformat = "ndjson"\n')


def line(number):
    return f"{number}:".ljust(LINE_BYTES - 1, "x")


def delivered(root):
    path = os.path.join(root, "out/lines.ndjson")
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        return [json.loads(raw)["payload"] for raw in file.read().split(b"\n")[:-1]]  # not one that is being written


def told(daemon, *words):
    """A warning of the daemon has these words."""
    if daemon.process.poll() is not None:
        raise AssertionError(f"the daemon left with {daemon.process.returncode}")
    with open(daemon.log_path, encoding="utf-8", errors="replace") as file:
        return any("warn" in line and all(word in line for word in words) for line in file)


def metric(daemon, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{daemon.port()}/metrics", timeout=20) as answer:
        return next(float(line.split()[-1]) for line in answer.read().decode().splitlines() if line.startswith(name + " "))


def fill(path):
    """To the last byte: others use the disk too."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


class Producer(threading.Thread):
    """Sends records to a topic without a sync, one request at a time, until told to end; keeps what it is told and how long that takes."""

    def __init__(self, daemon, topic):
        super().__init__(name="producer")
        self.daemon_world, self.topic = daemon, topic
        self.statuses, self.slowest = [], 0.0
        self.ending = threading.Event()

    def run(self):
        body = (json.dumps({"payload": "y" * 100_000}) + "\n").encode()
        while not self.ending.is_set():
            request = urllib.request.Request(f"http://127.0.0.1:{self.daemon_world.port()}/api/v1/topics/{self.topic}/records", method="POST",
                                             data=body, headers={"Content-Type": "application/x-ndjson", "X-Sluice-Request": "1"})
            began = time.monotonic()
            try:
                with urllib.request.urlopen(request, timeout=40) as answer:
                    self.statuses.append(answer.status)
            except urllib.error.HTTPError as error:
                self.statuses.append(error.code)
            except (OSError, urllib.error.URLError):
                self.statuses.append(0)  # the daemon is leaving
            self.slowest = max(self.slowest, time.monotonic() - began)
            if self.statuses[-1] != 200:
                self.ending.wait(0.05)

    def end(self):
        self.ending.set()
        self.join()


def stop_on_a_disk_that_others_fill(daemon, disk):
    """An append that is under way meets it and waits; who comes behind it is refused soon, and a stop waits for no room."""
    daemon.call("topics", "POST", {"name": "full/waiting", "enforce_fsync": False})
    producers = [Producer(daemon, "full/waiting") for _ in range(2)]
    for producer in producers:
        producer.start()
    wait_for(lambda: all(producer.statuses.count(200) > 5 for producer in producers), 20, "answers to the producers")
    ballast = os.path.join(disk, "others")
    fill(ballast)
    wait_for(lambda: any(503 in producer.statuses for producer in producers), 10, "refused record")
    waits = told(daemon, "log.storage_full", "full/waiting/0")
    began = time.monotonic()
    status = daemon.stop()
    took = time.monotonic() - began
    for producer in producers:
        producer.end()
    slowest = max(producer.slowest for producer in producers)
    print(f"full disk: a stop{' with an append that waits' if waits else ''} took {took:.1f} s, exit {status}; "
          f"the slowest answer to a producer {slowest:.1f} s", flush=True)
    if status not in (0, 1) or took > 15 or slowest > 20:
        raise AssertionError(f"a stop on the full disk: exit {status} after {took:.1f} s, an answer after {slowest:.1f} s")
    os.unlink(ballast)


def run(build, root):
    image, disk = os.path.join(root, "disk.img"), os.path.join(root, "disk")
    mount(image, disk)
    daemon = Daemon(build, root)
    try:
        ballast = os.path.join(disk, "ballast")
        with open(ballast, "wb") as file:
            file.write(bytes(BALLAST_BYTES))
        with open(os.path.join(root, "in.log"), "w", encoding="ascii") as file:
            for number in range(LINES):
                file.write(line(number) + "\n")
        os.mkdir(os.path.join(root, "out"))
        daemon.write("sluice.toml", f"""data_dir = "{disk}/data"
connectors_dir = "connectors.d"
[http]
address = "127.0.0.1:0"
[plugins]
path = ["{os.path.abspath(build)}/plugins"]
""")
        os.symlink(os.path.join(disk, "data"), os.path.join(root, "data"))
        configure(daemon, root)
        daemon.start()
        wait_for(lambda: told(daemon, "log.storage_full"), 120, "log.storage_full in the daemon's log")
        before = len(delivered(root))
        print(f"full disk: admission stopped after {before} delivered lines; {shutil.disk_usage(disk).free} bytes are free", flush=True)
        if metric(daemon, "sluice_storage_low") == 0:
            raise AssertionError("sluice_storage_low is 0")
        if not 0 < before < LINES:
            raise AssertionError(f"{before} of {LINES} lines before the disk was full")

        daemon.kill()
        daemon.start()
        # The log of the partition has no room for the sink's claim of it either: until there is some, the sink may be at its next attempt.
        wait_for(lambda: daemon.serving(["lines_in", "file_out"], also=("retrying",)), 60, "connectors at work after a start on the full disk")
        if len(delivered(root)) < before:
            raise AssertionError("lines are gone after SIGKILL and start on the full disk")

        os.unlink(ballast)
        wait_for(lambda: len(delivered(root)) >= LINES, 120, "the remaining lines once there is room")
        if delivered(root) != [line(number) for number in range(LINES)]:
            raise AssertionError("the lines that came out are not those that went in, each once and in order")
        audit = daemon.call("connectors/file_out/audit")["partitions"]
        if not all(partition["consistent"] for partition in audit):
            raise AssertionError(f"audit: {audit}")
        wait_for(lambda: os.path.exists(os.path.join(disk, "data/reserve")), 20, "reserve")
        stop_on_a_disk_that_others_fill(daemon, disk)
        daemon.start()
        wait_for(lambda: daemon.serving(["lines_in", "file_out"]), 60, "connectors at work after the stop on the full disk")
        status = daemon.stop()
        if status != 0:
            raise AssertionError(f"SIGTERM: exit {status}\n{daemon.log_tail()}")
        if delivered(root) != [line(number) for number in range(LINES)]:
            raise AssertionError("the lines are not the same after the stop on the full disk")
        print(f"full disk: all {LINES} lines came out once, in order, by themselves once there was room")
    except BaseException:
        log = os.path.join(root, "daemon.log")
        if os.path.exists(log):
            with open(log, "rb") as file:
                sys.stderr.write(file.read()[-6000:].decode("utf-8", "replace"))
        raise
    finally:
        if daemon.process and daemon.process.poll() is None:
            daemon.kill()
        subprocess.run(["umount", disk], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    arguments = parser.parse_args()
    root = tempfile.mkdtemp(prefix="sluice-full-")
    try:
        run(arguments.build, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
