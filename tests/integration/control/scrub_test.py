# SPDX-License-Identifier: Apache-2.0
"""Damage in a complete segment: found beside the work, told with what to do, and in nobody's way."""
import json
import os
import subprocess
import unittest

from daemon_fixture import PROGRAM, Daemon, main, parse_metrics, wait_for

RECORDS = 40
RECORD_BYTES = 100_000
TOPIC = "demo/t"


def log(*arguments):
    done = subprocess.run([PROGRAM, "log", *arguments], capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode()


def flip_a_bit(path, position):
    with open(path, "r+b") as file:
        file.seek(position)
        byte = file.read(1)
        file.seek(position)
        file.write(bytes([byte[0] ^ 1]))


class ScrubTest(unittest.TestCase):
    def test_damage_is_found_and_told_and_everything_else_is_served(self):
        daemon = Daemon({})
        self.addCleanup(daemon.remove)
        daemon.start()
        self.assertEqual(daemon.run("topic", "create", TOPIC, "--partitions", "1", "--segment-bytes", str(1 << 20))[0], 0)
        for i in range(RECORDS):
            self.assertEqual(daemon.run("produce", TOPIC, "--lines", stdin=b"%06d" % i * (RECORD_BYTES // 6) + b"\n")[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        directory = next(d for d in (json.loads(line)["directory"] for line in log("verify", daemon.data, "--json")[1].splitlines())
                         if not d.endswith("/0-0"))
        segments = sorted(name for name in os.listdir(directory) if name.endswith(".log"))
        self.assertGreater(len(segments), 3)
        damaged = os.path.join(directory, segments[1])
        flip_a_bit(damaged, 4096 + 5000)

        code, out = log("verify", directory)
        self.assertEqual(code, 1)
        self.assertIn("damaged: " + damaged, out)
        self.assertIn('a start with recovery.verify = "tail", the default, serves it all the same', out)
        code, out = log("verify", directory, "--tail")
        self.assertEqual(code, 0, out)
        self.assertIn("were believed by their seals", out)

        daemon.start()
        name = f'{{topic="{TOPIC}",partition="0"}}'
        wait_for(lambda: parse_metrics(daemon.http("GET", "/metrics")[2])[f"sluice_log_scrub_damaged_segments{name}"] == 1, 60, "damage")
        wait_for(lambda: parse_metrics(daemon.http("GET", "/metrics")[2])[f"sluice_log_scrub_due_segments{name}"] == 0, 60, "whole scrub")
        samples = parse_metrics(daemon.http("GET", "/metrics")[2])
        self.assertEqual(samples[f"sluice_partition_refused{name}"], 0)
        self.assertGreater(samples[f"sluice_log_scrub_bytes_total{name}"], 1 << 20)
        damage = daemon.get("/api/v1/topics/demo/t")["partitions"][0]["scrub"]["damage"]
        self.assertEqual([(d["segment"], d["position"]) for d in damage], [(damaged, 4096)])
        out = daemon.run("topic", "describe", TOPIC)[1]
        self.assertIn(f"partition 0: {damaged} at byte 4096", out)
        self.assertIn("sluice explain log.scrub_damage", out)
        lines = [line for line in daemon.read("daemon.log").splitlines() if "log.scrub_damage" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("sluice log verify", lines[0])

        def consume(offset):
            return daemon.run("consume", TOPIC, "--offset", str(offset), "--limit", "1")

        first = int(segments[1].split(".")[0]) - 1  # one record to an entry
        code, _, err = consume(first)
        self.assertNotEqual(code, 0)
        self.assertIn("log.damaged_entry", err)
        for offset in (0, first - 1, RECORDS - 1):
            self.assertEqual(consume(offset)[0], 0)
        self.assertEqual(daemon.run("produce", TOPIC, "--lines", stdin=b"more\n")[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_a_start_that_checks_everything_refuses_it(self):
        daemon = Daemon({}, extra='[recovery]\nverify = "full"')
        self.addCleanup(daemon.remove)
        daemon.start()
        self.assertEqual(daemon.run("topic", "create", TOPIC, "--partitions", "1", "--segment-bytes", str(1 << 20))[0], 0)
        for i in range(15):
            self.assertEqual(daemon.run("produce", TOPIC, "--lines", stdin=b"%06d" % i * (RECORD_BYTES // 6) + b"\n")[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        directory = next(os.path.join(daemon.data, "groups", name) for name in os.listdir(os.path.join(daemon.data, "groups")) if name != "0-0")
        flip_a_bit(os.path.join(directory, f"{1:020}.log"), 4096 + 5000)
        daemon.start()
        self.assertIn("is refused, its bytes are untouched", daemon.read("daemon.log"))
        self.assertIn("log.damaged_segment", daemon.read("daemon.log"))
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))


if __name__ == "__main__":
    main()
