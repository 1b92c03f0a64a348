# SPDX-License-Identifier: Apache-2.0
"""Records that come from a file that cannot be read to its end."""
import unittest

from daemon_fixture import Daemon, main


class ProduceTest(unittest.TestCase):
    def test_a_read_error_is_no_end_of_file(self):
        daemon = Daemon({})
        self.addCleanup(daemon.remove)
        daemon.start()
        self.assertEqual(daemon.run("topic", "create", "demo/lines")[0], 0)
        code, out, err = daemon.run("produce", "demo/lines", daemon.root)
        self.assertEqual(code, 1, out)
        self.assertIn("to its end", err)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))


if __name__ == "__main__":
    main()
