# SPDX-License-Identifier: Apache-2.0
"""Waits until everything of the snapshot has been delivered, then compares the payloads that came out with the lines that went in."""
import argparse
import base64
import hashlib
import json
import subprocess
import sys
import time

WAIT_S = 300


def sluice(arguments, *words):
    done = subprocess.run([arguments.sluice, *words, "--config", arguments.config, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"quickstart: sluice {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def payload(line):
    record = json.loads(line)
    if "payload_base64" in record:
        return base64.b64decode(record["payload_base64"])
    return record["payload"].encode()


def main():
    parser = argparse.ArgumentParser()
    for name in ("sluice", "config", "snapshot", "output"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    with open(arguments.snapshot, "rb") as file:
        lines = [line.removesuffix(b"\r") for line in file.read().split(b"\n")[:-1]]  # file_source takes both line ends

    deadline, shown = time.monotonic() + WAIT_S, -1
    while True:
        status = sluice(arguments, "connector", "status", "file_out")
        delivered = sum(p["accounting"]["delivered"] for p in status["partitions"])
        if delivered != shown and sys.stdout.isatty():
            print(f"\rquickstart: {delivered} of {len(lines)} lines delivered", end="", flush=True)
            shown = delivered
        if delivered >= len(lines):
            break
        if status["state"] == "error" or time.monotonic() > deadline:
            sys.exit(f"quickstart: {delivered} of {len(lines)} lines delivered, the sink is {status['state']}; ask: {arguments.sluice} connector why file_out "
                     f"--config {arguments.config}")
        time.sleep(0.1)
    if sys.stdout.isatty():
        print()

    went_in, came_out, count = hashlib.sha256(), hashlib.sha256(), 0
    for line in lines:
        went_in.update(line + b"\n")
    with open(arguments.output, "rb") as file:
        for line in file:
            came_out.update(payload(line) + b"\n")
            count += 1
    print(f"quickstart: {len(lines)} lines went in, sha256 {went_in.hexdigest()}")
    print(f"quickstart: {count} records came out, sha256 {came_out.hexdigest()}")
    if went_in.hexdigest() != came_out.hexdigest():
        sys.exit("quickstart: what came out is not what went in")
    print("quickstart: equal")


if __name__ == "__main__":
    main()
