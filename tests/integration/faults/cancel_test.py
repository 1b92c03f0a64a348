#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cancel while a name server hangs, and while a server hangs. Usage: cancel_test.py PROBE"""
import os
import socket
import subprocess
import sys
import tempfile
import unittest

from silent_name_server import SilentNameServer

PROBE = os.path.abspath(sys.argv[1])
AT_ONCE_MS = 500


class CancelTest(unittest.TestCase):
    def cancelled_after(self, url, wait_until_it_hangs, wrapper=()):
        """Milliseconds from the cancel to the end of the request."""
        probe = subprocess.Popen([*wrapper, PROBE, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(probe.stdout.close)
        self.addCleanup(probe.kill)
        wait_until_it_hangs()
        out, _ = probe.communicate("x", timeout=60)
        end, milliseconds = out.rsplit(" ", 1)
        self.assertEqual(end, "cancelled")
        print(f"{url}: cancelled after {float(milliseconds):.1f} ms")
        return float(milliseconds)

    def test_a_hanging_name_server(self):
        with tempfile.TemporaryDirectory(prefix="sluice-cancel-") as folder:
            silent = SilentNameServer("127.0.0.78", folder)
            self.addCleanup(silent.close)
            took = self.cancelled_after("http://collector.hang.invalid:8080/", lambda: self.assertTrue(silent.is_asked_within(60)), silent.wrapper)
        self.assertLess(took, AT_ONCE_MS)

    def test_a_hanging_server(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        server.settimeout(60)

        def request_arrived():
            connection, _ = server.accept()
            self.addCleanup(connection.close)
            connection.recv(1)

        self.assertLess(self.cancelled_after(f"http://127.0.0.1:{server.getsockname()[1]}/", request_arrived), AT_ONCE_MS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
