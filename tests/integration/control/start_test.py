# SPDX-License-Identifier: Apache-2.0
"""What the daemon does before its connectors run."""
import json
import os
import shutil
import signal
import subprocess
import unittest

from daemon_fixture import BUILD, PROGRAM, SINK_TOML, SOURCE_TOML, Daemon, main, wait_for

HANGING_TOML = SINK_TOML.replace('"drain"', '"hanging"').replace('"null_sink"', f'"{BUILD}/broken_plugins/hangs_while_loading.so"')


class StartTest(unittest.TestCase):
    def test_a_plugin_that_hangs_keeps_neither_callers_nor_signals_waiting(self):
        daemon = Daemon({"hanging": HANGING_TOML, "numbers": SOURCE_TOML, "drain": SINK_TOML})
        self.addCleanup(daemon.remove)
        with open(os.path.join(daemon.root, "daemon.log"), "ab") as log:
            daemon.process = subprocess.Popen([PROGRAM, "run", "--config", daemon.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: daemon.port() and os.path.exists(os.path.join(daemon.data, "http.port")), 30, "port")
        self.assertEqual(daemon.http("GET", "/health")[0], 200)
        self.assertEqual(daemon.http("GET", "/ready")[0], 503)
        for path in ("/api/v1/connectors", "/api/v1/connectors/drain", "/api/v1/connectors/drain/why", "/ready/drain"):
            status, headers, text = daemon.http("GET", path)
            self.assertEqual(status, 503, path)
            self.assertIn("http.not_ready", text)
        self.assertEqual(daemon.post("/api/v1/connectors/drain/pause")[0], 503)
        # While the log still opens there is nothing to drain, and nothing is said of it.
        wait_for(lambda: "recovery" not in json.loads(daemon.http("GET", "/ready")[2]), 30, "open log")
        daemon.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "SIGTERM: draining" in daemon.read("daemon.log"), 30, "log line about the signal")
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.read("daemon.log"))

    def test_it_starts_the_others_and_names_the_one_whose_plugin_hangs(self):
        daemon = Daemon({"hanging": HANGING_TOML, "numbers": SOURCE_TOML, "drain": SINK_TOML})
        self.addCleanup(daemon.remove)
        daemon.start()
        states = {c["key"]: c["state"] for c in daemon.get("/api/v1/connectors")["connectors"]}
        self.assertEqual(states["hanging"], "error")
        wait_for(lambda: daemon.http("GET", "/ready/drain")[0] == 200, 30, "ready sink")
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def slow_start(self):
        """A daemon with three partitions whose every read takes 0.8 s, while it opens them. Answers the daemon and its first recovery."""
        daemon = Daemon({})
        self.addCleanup(daemon.remove)
        daemon.start()
        self.assertEqual(daemon.run("topic", "create", "demo/t", "--partitions", "3")[0], 0)
        self.assertEqual(daemon.run("produce", "demo/t", "--lines", stdin=b"one\n")[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        with open(os.path.join(daemon.root, "daemon.log"), "ab") as log:
            daemon.process = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pread64", "-e", "inject=pread64:delay_enter=800000",
                                               PROGRAM, "run", "--config", daemon.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def opening():
            try:
                status, _, text = daemon.http("GET", "/ready")
            except OSError:
                return None
            recovery = json.loads(text).get("recovery")
            return recovery if status == 503 and recovery and recovery["partitions"] else None

        return daemon, wait_for(opening, 60, "daemon that opens its partitions")

    @staticmethod
    def signal_traced(daemon, number):
        """To the daemon, not to the strace that started it."""
        with open(os.path.join(daemon.data, "LOCK"), encoding="utf-8") as lock:
            os.kill(int(lock.read().split()[0]), number)

    @unittest.skipUnless(shutil.which("strace"), "strace makes the device slow")
    def test_a_long_start_says_how_far_it_is_and_refuses_the_rest_for_the_time_being(self):
        daemon, recovery = self.slow_start()
        self.assertEqual(recovery["partitions"], 3)
        self.assertLess(recovery["partitions_opened"], 3)
        self.assertGreater(recovery["bytes"], 3 * 4096)
        self.assertLessEqual(recovery["bytes_checked"], recovery["bytes"])
        self.assertEqual(daemon.http("GET", "/health")[0], 200)
        for path in ("/metrics", "/api/v1/topics", "/api/v1/connectors"):
            status, _, text = daemon.http("GET", path)
            self.assertEqual(status, 503, path)
            self.assertIn("http.not_ready", text)
        self.assertEqual(daemon.run("topic", "list")[0], 1, "a daemon that starts is no daemon that is missing")
        wait_for(daemon.is_ready, 60, "ready daemon")
        self.assertIn("opening the log: ", daemon.read("daemon.log"))
        self.assertRegex(daemon.read("daemon.log"), r"opening the log took \d+\.\d s")
        self.signal_traced(daemon, signal.SIGKILL)
        daemon.process.wait(timeout=60)

    @unittest.skipUnless(shutil.which("strace"), "strace makes the device slow")
    def test_a_signal_during_a_long_start_ends_it_and_loses_nothing(self):
        daemon, recovery = self.slow_start()
        self.assertLess(recovery["partitions_opened"], 3)
        self.signal_traced(daemon, signal.SIGTERM)
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.read("daemon.log"))
        self.assertIn("SIGTERM while the log opens: leaving", daemon.read("daemon.log"))
        self.assertFalse(os.path.exists(os.path.join(daemon.data, "http.port")), "it points nobody at a port that is closed")
        daemon.start()
        code, out, err = daemon.run("consume", "demo/t")
        self.assertEqual((code, len(out.splitlines())), (0, 1), err)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))


if __name__ == "__main__":
    main()
