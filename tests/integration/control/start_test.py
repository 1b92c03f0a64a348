# SPDX-License-Identifier: Apache-2.0
"""What the daemon does before its connectors run."""
import os
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
        daemon.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "SIGTERM: draining" in daemon.read("daemon.log"), 5, "log line about the signal")
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.read("daemon.log"))

    def test_it_starts_the_others_and_names_the_one_whose_plugin_hangs(self):
        daemon = Daemon({"hanging": HANGING_TOML, "numbers": SOURCE_TOML, "drain": SINK_TOML})
        self.addCleanup(daemon.remove)
        daemon.start()
        states = {c["key"]: c["state"] for c in daemon.get("/api/v1/connectors")["connectors"]}
        self.assertEqual(states["hanging"], "error")
        wait_for(lambda: daemon.http("GET", "/ready/drain")[0] == 200, 30, "ready sink")
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))


if __name__ == "__main__":
    main()
