#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file system of 64 MiB, mounted from a file, fills up under the daemon: admission stops by name, nothing is lost, a SIGKILL and a start on
the full disk change nothing, and with room again everything goes on by itself. Needs root, for mount.

    tests/crash/full_disk_test.py [--build build/release]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from world import Daemon, wait_for

FILE_SYSTEM_BYTES = 64 << 20
BALLAST_BYTES = 26 << 20
LINES = 40_000
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
        return [json.loads(raw)["payload"] for raw in file.read().split(b"\n") if raw]


def told_of_the_full_disk(daemon):
    """The partition's log says so, in the daemon's log; the source's append waits, a sink's commit is told."""
    if daemon.process.poll() is not None:
        raise AssertionError(f"the daemon left with {daemon.process.returncode}")
    with open(daemon.log_path, encoding="utf-8", errors="replace") as file:
        return any("warn" in line and "log.storage_full" in line and "full/lines/0" in line for line in file)


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
        wait_for(lambda: told_of_the_full_disk(daemon), 120, "log.storage_full with the name of the partition in the daemon's log")
        before = len(delivered(root))
        print(f"full disk: admission stopped after {before} delivered lines; {shutil.disk_usage(disk).free} bytes are free", flush=True)
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
        status = daemon.stop()
        if status != 0:
            raise AssertionError(f"SIGTERM: exit {status}\n{daemon.log_tail()}")
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
