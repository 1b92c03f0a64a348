# SPDX-License-Identifier: Apache-2.0
"""Connectors in processes of their own: they deliver, and their deaths end nothing else and lose nothing."""
import os
import signal
import unittest

from daemon_fixture import BUILD, SINK_TOML, SOURCE_TOML, Daemon, main, wait_for

ISOLATED = 'isolation = "process"\nrestart = { base_delay = "50ms", max_delay = "1s" }\n'


def isolated(toml):
    """With keys of the connector before its first table."""
    head, table, rest = toml.partition("[[streams]]")
    return head + ISOLATED + table + rest


def unruly(config):
    return isolated(SINK_TOML).replace('"drain"', '"unruly"').replace('"null_sink"', f'"{BUILD}/broken_plugins/unruly.so"') + f"[plugin_config]\n{config}\n"


class IsolationTest(unittest.TestCase):
    def daemon(self, connectors):
        daemon = Daemon(connectors)
        self.addCleanup(daemon.remove)
        return daemon.start()

    @staticmethod
    def children(daemon):
        """The plugins' processes of this daemon, by plugin."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as stat, open(f"/proc/{pid}/cmdline", "rb") as command:
                    parent = int(stat.read().rpartition(")")[2].split()[1])
                    words = command.read().decode().split("\0")
            except (OSError, ValueError):
                continue
            if parent == daemon.process.pid and "--serve" in words:
                found[os.path.basename(words[words.index("--serve") + 1]).removesuffix(".so")] = int(pid)
        return found

    @staticmethod
    def connector(daemon, key):
        return daemon.get(f"/api/v1/connectors/{key}")

    def delivered(self, daemon, key):
        return sum(p["accounting"]["delivered"] for p in self.connector(daemon, key)["partitions"])

    def test_everything_arrives_through_processes_that_leave_with_the_daemon(self):
        daemon = self.daemon({"numbers": isolated(SOURCE_TOML), "drain": isolated(SINK_TOML)})
        wait_for(lambda: self.delivered(daemon, "drain") == 500, 60, "500 delivered records")
        children = self.children(daemon)
        self.assertEqual(sorted(children), ["null_sink", "random_source"])
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        for pid in children.values():
            self.assertFalse(os.path.exists(f"/proc/{pid}"), "a plugin's process outlives its daemon")

    def test_a_killed_process_is_named_and_replaced_and_nothing_is_lost_or_counted_twice(self):
        # Seven seconds of records: time for a slow machine to replace one process before the other is killed.
        source = isolated(SOURCE_TOML).replace("rate = 100000", "rate = 300").replace("count = 500", "count = 2100")
        daemon = self.daemon({"numbers": source, "drain": isolated(SINK_TOML)})
        for plugin, key in (("null_sink", "drain"), ("random_source", "numbers")):
            wait_for(lambda: 0 < self.delivered(daemon, "drain") < 2000, 60, "records under way")
            victim = wait_for(lambda plugin=plugin: self.children(daemon).get(plugin), 30, f"process of {plugin}")
            os.kill(victim, signal.SIGKILL)
            wait_for(lambda key=key: self.connector(daemon, key)["restarts"] > 0 and self.connector(daemon, key)["state"] == "running", 30, f"second run of {key}")
            error = self.connector(daemon, key)["last_error"]
            self.assertEqual(error["code"], "plugin.process_ended")
            self.assertIn("was killed by SIGKILL (Killed) during ", error["text"])
        wait_for(lambda: self.delivered(daemon, "drain") == 2100, 60, "2100 delivered records")
        code, out, err = daemon.run("connector", "audit", "drain")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_a_sink_that_crashes_again_and_again_holds_up_nobody_else(self):
        daemon = self.daemon({"numbers": SOURCE_TOML, "drain": SINK_TOML, "unruly": unruly('do = "abort"')})
        wait_for(lambda: self.delivered(daemon, "drain") == 500, 60, "500 delivered records")
        status = wait_for(lambda: (c := self.connector(daemon, "unruly"))["restarts"] >= 2 and c["last_error"] and c, 60, "restarts")
        self.assertIn("was killed by SIGABRT (Aborted) during write; the end of its standard error: these are my last words", status["last_error"]["text"])
        self.assertEqual(self.delivered(daemon, "unruly"), 0)
        code, out, _ = daemon.run("connector", "why", "unruly")
        self.assertIn("SIGABRT", out)
        for key in ("numbers", "drain"):
            self.assertEqual((self.connector(daemon, key)["state"], self.connector(daemon, key)["restarts"]), ("running", 0))
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_what_a_crash_left_is_delivered_by_the_next_process(self):
        daemon = Daemon({"numbers": SOURCE_TOML})
        self.addCleanup(daemon.remove)
        daemon.write("connectors.d/unruly.toml", unruly(f'flag = "{daemon.root}/crashed_once"'))
        daemon.start()
        wait_for(lambda: self.delivered(daemon, "unruly") == 500, 60, "500 delivered records")
        self.assertEqual(self.connector(daemon, "unruly")["restarts"], 1)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_a_call_that_never_returns_ends_with_its_process_also_when_the_daemon_stops(self):
        daemon = self.daemon({"numbers": SOURCE_TOML, "unruly": unruly('do = "spin"').replace(ISOLATED, ISOLATED + 'process = { call_timeout = "1s" }\n')})
        status = wait_for(lambda: (c := self.connector(daemon, "unruly"))["last_error"] and c, 60, "error")
        self.assertEqual(status["last_error"]["code"], "plugin.process_hung")
        self.assertIn("write did not return within ", status["last_error"]["text"])
        self.assertEqual(daemon.stop(), 0, "no instance is abandoned: " + daemon.read("daemon.log"))


if __name__ == "__main__":
    main()
