# SPDX-License-Identifier: Apache-2.0
"""What the daemon tells a service manager: a socket of the test in the place of systemd's."""
import os
import socket
import subprocess
import unittest

from daemon_fixture import PROGRAM, SINK_TOML, SOURCE_TOML, Daemon, main


class NotifySocketTest(unittest.TestCase):
    def start(self, address, environment):
        """A daemon and the socket that it talks to."""
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.settimeout(60)
        daemon = Daemon({"numbers": SOURCE_TOML, "drain": SINK_TOML})
        self.addCleanup(daemon.remove)
        address = address or os.path.join(daemon.root, "notify")
        manager.bind(address.replace("@", "\0", 1))
        with open(os.path.join(daemon.root, "daemon.log"), "ab") as log:
            daemon.process = subprocess.Popen([PROGRAM, "run", "--config", daemon.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              env={**os.environ, "NOTIFY_SOCKET": address, **environment})
        return daemon, manager

    def test_it_is_told_of_the_beginning_each_heartbeat_and_the_end(self):
        daemon, manager = self.start("", {"WATCHDOG_USEC": "200000"})
        self.assertEqual(manager.recv(100), b"READY=1", daemon.read("daemon.log"))
        self.assertEqual(daemon.http("GET", "/ready")[0], 200)
        for _ in range(3):
            self.assertEqual(manager.recv(100), b"WATCHDOG=1")
        daemon.process.terminate()
        told = manager.recv(100)
        while told == b"WATCHDOG=1":
            told = manager.recv(100)
        self.assertEqual(told, b"STOPPING=1")
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.read("daemon.log"))

    def test_a_watchdog_of_another_process_is_left_alone_and_an_abstract_name_is_a_name(self):
        daemon, manager = self.start(f"@sluice-test-{os.getpid()}", {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"})
        self.assertEqual(manager.recv(100), b"READY=1", daemon.read("daemon.log"))
        daemon.process.terminate()
        self.assertEqual(manager.recv(100), b"STOPPING=1")
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.read("daemon.log"))

    def test_a_message_that_does_not_arrive_is_a_warning(self):
        daemon = Daemon({"numbers": SOURCE_TOML, "drain": SINK_TOML})
        self.addCleanup(daemon.remove)
        os.environ["NOTIFY_SOCKET"] = os.path.join(daemon.root, "nobody")
        try:
            daemon.start()
        finally:
            del os.environ["NOTIFY_SOCKET"]
        self.assertEqual(daemon.stop(), 0)
        self.assertRegex(daemon.read("daemon.log"), r"warn .*READY=1 is not told: .*/nobody: No such file or directory")


if __name__ == "__main__":
    main()
