#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the daemon leaves: drained under load, with a hung back end, and with a sink that ignores cancel."""
import os
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration", "faults"))
from faulty_server import FaultyServer  # noqa: E402
from kill_loop import CONNECTORS, check_file, configure, delivered_lines  # noqa: E402
from world import Daemon, LineWriter, Receiver, wait_for  # noqa: E402

BUILD = os.environ.get("SLUICE_BUILD", "build/dev")
DEADLINE_S = 8


class Stop(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="sluice-stop-")
        self.daemon = Daemon(BUILD, self.root, settings=f'shutdown_deadline = "{DEADLINE_S}s"')

    def tearDown(self):
        if self.daemon.process and self.daemon.process.poll() is None:
            self.daemon.kill()
        shutil.rmtree(self.root)

    def stop_within_deadline(self):
        begin = time.monotonic()
        status = self.daemon.stop(seconds=DEADLINE_S + 20)
        self.assertLess(time.monotonic() - begin, DEADLINE_S + 5)
        return status

    def random_into(self, sink, config):
        self.daemon.write("connectors.d/numbers.toml", """key = "numbers"
type = "source"
plugin = "random_source"
[[streams]]
stream = "stop"
topic = "numbers"
[plugin_config]
count = 500
rate = 0
""")
        self.daemon.write("connectors.d/out.toml", f"""key = "out"
type = "sink"
plugin = "{sink}"
[[streams]]
stream = "stop"
topic = "numbers"
[plugin_config]
{config}
""")

    def test_sigterm_under_load_leaves_drained_and_repeats_nothing(self):
        receiver = Receiver()
        writer = LineWriter(os.path.join(self.root, "in"), ["a", "b", "c"], 1, 2000, rotate_after=2000)
        try:
            os.makedirs(os.path.join(self.root, "out"))
            configure(self.daemon, receiver)
            writer.start()
            for _ in range(3):
                self.daemon.start()
                wait_for(lambda: self.daemon.serving(CONNECTORS), 30, "running connectors")
                seen = len(receiver.seen)
                wait_for(lambda: len(receiver.seen) > seen + 200, 30, "records at the receiver")
                self.assertEqual(self.stop_within_deadline(), 0, self.daemon.log_tail())
                receiver.next_era()
            writer.stop()
            self.daemon.start()
            wait_for(lambda: len(delivered_lines(self.root)) >= writer.total() and len(receiver.seen) >= writer.total(), 60, "delivery of everything")
            self.assertEqual(self.stop_within_deadline(), 0, self.daemon.log_tail())
            check_file(self.root, writer.written)
            self.assertEqual(sum(receiver.duplicates.values()), 0, "an orderly stop repeats nothing")
        finally:
            if writer.is_alive():
                writer.stop()
            receiver.stop()

    def test_hung_back_end_leaves_with_the_records_pending_and_delivers_them_next_time(self):
        server = FaultyServer()
        try:
            server.set_phase("hang")
            self.random_into("http_sink", f'url = "{server.url}"\nmode = "ndjson"\ntimeout = "60s"\nidempotent = true')
            self.daemon.start()
            wait_for(lambda: server.requests > 0, 30, "a request that hangs")
            self.assertEqual(self.stop_within_deadline(), 0, self.daemon.log_tail())
            self.assertEqual(len(server.taken), 0)
            server.set_phase("ok")
            server.records = lambda handler, body: [(line, {}) for line in body.decode().splitlines()]
            self.daemon.start()
            wait_for(lambda: len(server.taken) == 500, 30, "all 500 records after the restart")
            self.assertEqual(self.stop_within_deadline(), 0, self.daemon.log_tail())
        finally:
            server.stop()

    def test_sink_that_ignores_cancel_is_abandoned_by_name(self):
        self.random_into(os.path.join(self.daemon.build, "broken_plugins/ignores_cancel.so"), "")
        self.daemon.start()
        wait_for(lambda: self.daemon.serving(["numbers"]), 30, "the source")
        wait_for(lambda: self.daemon.status("numbers")["source"]["appended"] >= 500, 30, "the source's records")
        wait_for(lambda: self.daemon.status("out")["queue_records"] > 0 or self.daemon.status("out")["state"] == "stalled", 60, "a write that hangs")
        self.assertEqual(self.stop_within_deadline(), 3, self.daemon.log_tail())
        self.assertRegex(self.daemon.log_tail(1000), r"abandoned.*\bout\b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
