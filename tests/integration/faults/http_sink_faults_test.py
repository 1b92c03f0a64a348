#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""http_sink in the daemon, against a back end with every fault that the failure policy knows, in all three modes.

Held: the dead letters are exactly the poisoned records; nothing is lost; while the back end refuses as a whole (401, resets, hangs, no DNS) no
offset moves and nothing is skipped; the states and `connector why` say what is the matter.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crash"))
from faulty_server import FaultyServer  # noqa: E402
from silent_name_server import SilentNameServer  # noqa: E402
from world import Daemon, wait_for  # noqa: E402

BUILD = os.environ.get("SLUICE_BUILD", "build/dev")
RECORDS = 120
POISON = {7: 400, 30: 413, 31: 422, 77: 400, 119: 422}


class HttpSinkFaults(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="sluice-faults-")
        self.daemon = Daemon(BUILD, self.root)
        self.server = FaultyServer()

    def tearDown(self):
        if self.daemon.process and self.daemon.process.poll() is None:
            self.daemon.kill()
        self.server.stop()
        shutil.rmtree(self.root)

    def configure(self, mode, url=None, timeout="2s"):
        self.daemon.write("connectors.d/to_http.toml", f"""key = "to_http"
type = "sink"
plugin = "http_sink"
[batching]
max_records = 40
[[streams]]
stream = "faults"
topic = "events"
partitions = 2
[plugin_config]
url = "{url or self.server.url}"
mode = "{mode}"
idempotent = true
timeout = "{timeout}"
connect_timeout = "{timeout}"
""")

    def sluice(self, *words, text=None):
        done = subprocess.run([self.daemon.program, *words, "--config", self.daemon.config], input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"sluice {words}: {done.stderr}\n{self.daemon.log_tail()}")
        return done.stdout

    def produce(self, first, count):
        lines = []
        for n in range(first, first + count):
            payload = {"n": n}
            if n in POISON:
                payload["poison"] = POISON[n]
            lines.append(json.dumps({"key": f"k{n % 5}", "payload": json.dumps(payload)}))
        self.sluice("produce", "faults/events", text="\n".join(lines) + "\n")

    def topic_exists(self):
        return "faults/events" in self.sluice("topic", "list")

    def committed(self):
        return [p["committed_next"] for p in self.daemon.status("to_http")["partitions"]]

    def settled(self, total):
        return sum(sum(p["accounting"].values()) for p in self.daemon.status("to_http")["partitions"]) >= total

    def wait_for_problem(self, check, what):
        """Waits until the connector retries with a problem for which check() holds; returns the problem."""
        def look():
            status = self.daemon.status("to_http")
            problems = [p["problem"] for p in status["partitions"] if p["problem"]] + ([status["last_error"]] if status["last_error"] else [])
            found = [p for p in problems if check(p)]
            return found[0] if status["state"] in ("retrying", "connecting", "stalled") and found else None
        return wait_for(look, 30, what)

    def assert_nothing_moves(self, phase, check, what):
        """Produces into a back end that refuses as a whole: the state and `why` say so and no offset moves. Then heals it."""
        self.server.set_phase(phase)
        before = self.committed()
        self.produce(self.next_number, 10)
        self.next_number += 10
        problem = self.wait_for_problem(check, what)
        why = json.loads(self.sluice("connector", "why", "to_http", "--json"))
        self.assertTrue(why["waiting"], why)
        self.assertEqual(self.committed(), before)
        self.assertEqual(self.dead_letters(), sorted(self.poisoned))
        self.server.set_phase("ok")
        wait_for(lambda: self.settled(self.next_number), 60, f"delivery after {what}")
        wait_for(lambda: self.daemon.status("to_http")["state"] == "running", 30, f"state running after {what}")
        return problem

    def dead_letters(self):
        rows = json.loads(self.sluice("dlq", "list", "to_http", "--limit", "1000", "--json"))["dead_letters"]
        return sorted((row["source"]["partition"], row["source"]["offset"]) for row in rows)

    def find_poisoned(self):
        """(partition, offset) of the poisoned records, as the topic itself says."""
        out = []
        for line in self.sluice("consume", "faults/events", "--limit", "1000", "--offset", "0").splitlines():
            record = json.loads(line)
            if "poison" in json.loads(record["payload"]):
                out.append((record["partition"], record["offset"]))
        return out

    def run_mode(self, mode):
        self.configure(mode)
        self.daemon.start()
        wait_for(lambda: self.daemon.serving(["to_http"]), 30, "state running")
        self.produce(0, RECORDS)
        self.next_number = RECORDS
        wait_for(lambda: self.settled(RECORDS), 60, "all records delivered or dead-lettered")
        self.poisoned = self.find_poisoned()
        self.assertEqual(len(self.poisoned), len(POISON))
        self.assertEqual(self.dead_letters(), sorted(self.poisoned))

        problem = self.assert_nothing_moves("unauthorized", lambda p: p.get("http_status") == 401, "a 401")
        self.assertEqual((problem["class"], problem["scope"]), ("transient", "connector"))
        self.assert_nothing_moves("busy", lambda p: p.get("http_status") == 503, "a 503 with Retry-After")
        self.assert_nothing_moves("reset", lambda p: p["class"] in ("transient", "ambiguous"), "a reset")
        self.assert_nothing_moves("hang", lambda p: "time" in (p["code"] + p["text"]).lower(), "a hanging server")

        self.assertEqual(self.dead_letters(), sorted(self.poisoned))
        taken = set(self.server.taken)
        self.assertEqual(len(taken), self.next_number - len(POISON), "every record that is not poisoned arrived")
        audit = json.loads(self.sluice("connector", "audit", "to_http", "--json"))
        self.assertTrue(audit["consistent"], audit)
        self.assertEqual(self.daemon.stop(), 0, self.daemon.log_tail())

    def test_individual(self):
        self.run_mode("individual")

    def test_ndjson(self):
        self.run_mode("ndjson")

    def test_json_array(self):
        self.run_mode("json_array")

    def test_hanging_dns_moves_nothing_and_stops_cleanly(self):
        silent = SilentNameServer("127.0.0.77", self.root)
        try:
            self.configure("individual", url="http://collector.hang.invalid:8080/records")
            self.daemon.start(wrapper=silent.wrapper)
            wait_for(self.topic_exists, 30, "topic faults/events")
            self.produce(0, 5)
            self.assertTrue(silent.is_asked_within(30), "the name server was asked")
            self.wait_for_problem(lambda p: p["scope"] == "connector", "a DNS time-out")
            self.assertEqual(sum(self.committed()), 0)
            self.assertEqual(self.daemon.stop(), 0, self.daemon.log_tail())
        finally:
            silent.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
