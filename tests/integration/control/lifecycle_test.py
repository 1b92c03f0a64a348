# SPDX-License-Identifier: Apache-2.0
"""How the daemon starts and ends: exit codes, files it leaves, what a restart remembers."""
import os
import resource
import signal
import socket
import subprocess
import unittest

from daemon_fixture import BUILD, PROGRAM, SINK_TOML, SOURCE_TOML, Daemon, main, wait_for


class LifecycleTest(unittest.TestCase):
    def make(self, *arguments, **options):
        daemon = Daemon(*arguments, **options)
        self.addCleanup(daemon.remove)
        return daemon

    def test_sigterm_drains_and_leaves_0(self):
        daemon = self.make()
        daemon.start("--pid-file", os.path.join(daemon.root, "pid"))
        self.assertEqual(int(daemon.read("pid")), daemon.process.pid)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        for name in ("pid", "data/http.port", "data/sluice.sock"):
            self.assertFalse(os.path.exists(os.path.join(daemon.root, name)), name)

    def test_sigint_does_the_same_and_sighup_nothing(self):
        daemon = self.make().start()
        daemon.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "SIGHUP is ignored" in daemon.read("daemon.log"), 10, "log line about SIGHUP")
        self.assertTrue(daemon.is_ready())
        self.assertEqual(daemon.stop(signal.SIGINT), 0, daemon.read("daemon.log"))

    def test_sigterm_under_load_leaves_0_and_a_restart_goes_on_where_it_was(self):
        daemon = self.make({"numbers": SOURCE_TOML.replace("count = 500", "count = 0").replace("rate = 100000", "rate = 0"), "drain": SINK_TOML}).start()
        for _ in range(2):
            wait_for(lambda: daemon.get("/api/v1/connectors/drain")["bytes_out"] > 1_000_000, 60, "a megabyte through the sink")
            self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
            daemon.start()
            self.assertTrue(daemon.get("/api/v1/connectors/drain/audit")["consistent"])
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_a_log_that_cannot_be_written_is_exit_6_and_named(self):
        daemon = self.make({"numbers": SOURCE_TOML.replace("count = 500", "count = 0").replace("rate = 100000", "rate = 0")})
        # Room for the daemon's own copy of the plugin, so that it is the log which meets the limit.
        limit = os.path.getsize(os.path.join(BUILD, "plugins/random_source.so")) + (1 << 20)
        with open(os.path.join(daemon.root, "daemon.log"), "ab") as log:
            daemon.process = subprocess.Popen([PROGRAM, "run", "--config", daemon.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(daemon.process.wait(timeout=60), 6, daemon.read("daemon.log"))
        self.assertRegex(daemon.read("daemon.log"), r"sluice: acknowledged data cannot be kept durable: .*groups/.*File too large.*partition=demo/random")

    def test_no_daemon_is_exit_4(self):
        daemon = self.make()
        for command in (["connector", "list"], ["topic", "list"], ["why", "drain"], ["consume", "a/b"], ["dlq", "list", "drain"]):
            code, _, err = daemon.run(*command)
            self.assertEqual(code, 4, f"{command}: {err}")
            self.assertIn("sluice run", err)
        done = subprocess.run([PROGRAM, "topic", "list", "--server", "http://127.0.0.1:1"], capture_output=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 4)

    def test_a_killed_daemon_is_no_daemon_and_its_socket_is_replaced(self):
        daemon = self.make().start()
        daemon.process.kill()
        daemon.process.wait()
        self.assertTrue(os.path.exists(os.path.join(daemon.data, "sluice.sock")))
        self.assertEqual(daemon.run("connector", "list")[0], 4)
        daemon.start()
        self.assertEqual(daemon.run("connector", "list")[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_invalid_configuration_is_exit_5_with_the_place(self):
        daemon = self.make()
        daemon.write("sluice.toml", 'data_dir = "data"\ndata_dri = 1\n')
        for command in ("run", "check", "topic list"):
            code, out, err = daemon.run(*command.split())
            self.assertEqual(code, 5, err)
            self.assertRegex(out + err, r"sluice\.toml:2:1: .*data_dri")

    def test_wrong_usage_is_exit_2(self):
        for arguments in (["nonsense"], [], ["topic"], ["run", "--nonsense"], ["consume"], ["topic", "create", "a/b", "--partitions", "x"]):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 2, arguments)
        self.assertEqual(subprocess.run([PROGRAM, "--help"], capture_output=True, timeout=30, check=False).returncode, 0)

    def test_a_taken_port_fails_the_start(self):
        daemon = self.make()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, _, err = daemon.run("run", environment={"SLUICE__HTTP__ADDRESS": f"127.0.0.1:{port}"})
            self.assertEqual(code, 1, err)
            self.assertIn("http.address_in_use", err)

    def test_a_public_address_is_refused(self):
        daemon = self.make()
        code, _, err = daemon.run("run", environment={"SLUICE__HTTP__ADDRESS": "0.0.0.0:0"})
        self.assertEqual(code, 5, err)
        self.assertIn("loopback", err)

    def test_one_bad_connector_leaves_the_others_running(self):
        daemon = self.make()
        daemon.write("connectors.d/bad.toml", SINK_TOML.replace("drain", "bad") + "typo_here = 1\n")
        daemon.start()
        states = {c["key"]: c["state"] for c in daemon.get("/ready")["connectors"]}
        self.assertEqual(states["bad"], "error")
        wait_for(lambda: daemon.get("/api/v1/connectors/drain")["state"] == "running", 20, "running sink")
        self.assertIn("bad.toml:", daemon.run("why", "bad")[1])
        self.assertEqual(daemon.http("GET", "/ready/bad")[0], 503)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_paused_survives_a_restart(self):
        daemon = self.make().start()
        self.assertEqual(daemon.run("connector", "pause", "drain")[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        daemon.start()
        wait_for(lambda: daemon.get("/api/v1/connectors/drain")["state"] == "paused", 20, "paused sink")
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_log_dump_of_a_stopped_daemon(self):
        daemon = self.make().start()
        wait_for(lambda: daemon.get("/api/v1/connectors/drain")["state"] == "running", 20, "running sink")
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        done = subprocess.run([PROGRAM, "log", "dump", daemon.data, "--json"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'"kind"', done.stdout)
        self.assertIn(b'"segment"', done.stdout)
        self.assertEqual(subprocess.run([PROGRAM, "log", "dump", daemon.root + "/nowhere"], capture_output=True, timeout=30, check=False).returncode, 1)


if __name__ == "__main__":
    main()
