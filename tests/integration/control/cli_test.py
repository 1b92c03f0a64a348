# SPDX-License-Identifier: Apache-2.0
"""Every online command against a running daemon, as tables and as JSON."""
import json

from daemon_fixture import DaemonTest, main, wait_for


class OnlineTest(DaemonTest):
    def ok(self, *arguments, stdin=None):
        code, out, err = self.daemon.run(*arguments, stdin=stdin)
        self.assertEqual(code, 0, f"{arguments}: {err}")
        return out

    def test_connector_list_and_status(self):
        listed = {row["key"]: row for row in self.daemon.run_json("connector", "list")["connectors"]}
        self.assertEqual((listed["drain"]["out"], listed["numbers"]["out"]), (500, 500))
        self.assertEqual(listed["drain"]["lag_records"], 0)
        self.assertRegex(self.ok("connector", "list"), r"(?m)^drain +sink +null_sink +running +500 +500")
        status = self.daemon.run_json("connector", "status", "drain")
        self.assertEqual(sum(p["accounting"]["delivered"] for p in status["partitions"]), 500)
        self.assertIn("demo/random", self.ok("connector", "status", "drain"))

    def test_why_is_an_alias(self):
        self.assertIn("nothing waits", self.ok("why", "drain"))
        self.assertEqual(self.daemon.run_json("why", "drain")["waiting"], self.daemon.run_json("connector", "why", "drain")["waiting"])

    def test_audit_and_state(self):
        self.assertTrue(self.daemon.run_json("connector", "audit", "drain")["consistent"])
        self.assertIn("consistent", self.ok("connector", "audit", "drain"))
        self.assertEqual(self.daemon.run_json("state", "show", "numbers")["state"]["in"], 500)
        self.assertIn("sequence", self.ok("state", "show", "numbers"))

    def test_pause_and_resume(self):
        self.ok("connector", "pause", "drain")
        wait_for(lambda: self.daemon.get("/api/v1/connectors/drain")["state"] == "paused", 20, "paused sink")
        code, _, err = self.daemon.run("connector", "pause", "drain")
        self.assertEqual(code, 1)
        self.assertIn("pipeline.already_paused", err)
        self.assertIn("paused", self.ok("why", "drain"))
        self.ok("connector", "resume", "drain")
        wait_for(lambda: self.daemon.get("/api/v1/connectors/drain")["state"] == "running", 20, "running sink")

    def test_restart_keeps_the_accounting(self):
        before = self.daemon.get("/api/v1/connectors/drain")["restarts"]
        self.ok("connector", "restart", "drain")
        wait_for(lambda: self.daemon.get("/api/v1/connectors/drain")["restarts"] == before + 1, 20, "a restart that is counted")
        wait_for(lambda: self.daemon.get("/api/v1/connectors/drain")["state"] == "running", 20, "running sink")
        self.assertEqual(self.daemon.run_json("connector", "audit", "drain")["consistent"], True)

    def test_topics(self):
        made = self.daemon.run_json("topic", "create", "t/made", "--partitions", "3", "--segment-bytes", str(1 << 20), "--retention-bytes", "5000000",
                                    "--retention-age-ms", "604800000")
        self.assertEqual((len(made["partitions"]), made["options"]["segment_bytes"], made["options"]["retention"]["bytes"]), (3, 1 << 20, 5_000_000))
        self.assertEqual(made["options"]["retention"]["age_ms"], 604_800_000)
        self.assertRegex(self.ok("topic", "describe", "t/made"), r"(?m)^for +7d")
        self.assertIn("t/made", [topic["name"] for topic in self.daemon.run_json("topic", "list")["topics"]])
        self.assertRegex(self.ok("topic", "list"), r"(?m)^demo/random +2 +500 ")
        self.assertIn("PARTITION", self.ok("topic", "describe", "demo/random"))
        code, _, err = self.daemon.run("topic", "create", "t/made")
        self.assertEqual(code, 1)
        self.assertIn("topic_exists", err)

    def test_purge_shows_what_would_go_and_takes_it_when_told(self):
        self.ok("topic", "create", "t/full", "--partitions", "2")
        self.ok("produce", "t/full", stdin=b'{"payload":"1","partition":0}\n{"payload":"2","partition":1}\n{"payload":"3","partition":1}\n')
        self.assertIn("has 3 record(s)", self.ok("topic", "purge", "t/full"))
        self.assertEqual(len(self.ok("consume", "t/full").splitlines()), 3)
        self.assertEqual(self.daemon.run_json("topic", "purge", "t/full", "--yes"), {"name": "t/full", "records": 3, "done": True})
        self.assertEqual(self.ok("consume", "t/full"), "")
        self.ok("produce", "t/full", "--lines", "--partition", "1", stdin=b"4\n")
        self.assertEqual([json.loads(line)["offset"] for line in self.ok("consume", "t/full").splitlines()], [2])
        self.assertIn("purged t/full: 1 record(s)", self.ok("topic", "purge", "t/full", "--yes"))
        code, _, err = self.daemon.run("topic", "purge", "t/nowhere", "--yes")
        self.assertEqual(code, 1)
        self.assertIn("topic_not_found", err)

    def test_produce_and_consume(self):
        self.ok("topic", "create", "t/io", "--partitions", "2")
        self.assertIn("appended 2", self.ok("produce", "t/io", stdin=b'{"key":"a","payload":"1"}\n\n{"payload":"2","partition":1}\n'))
        self.assertEqual(self.daemon.run_json("produce", "t/io", "--lines", "--partition", "0", stdin=b"plain\n\xff\n")["appended"], 2)
        records = [json.loads(line) for line in self.ok("consume", "t/io").splitlines()]
        self.assertEqual(len(records), 4)
        self.assertEqual([r["payload_base64"] for r in records if "payload_base64" in r], ["/w=="])
        self.assertEqual(len(self.ok("consume", "t/io", "--limit", "3").splitlines()), 3)
        last = [json.loads(line) for line in self.ok("consume", "t/io", "--partition", "1", "--offset", "0").splitlines()]
        self.assertIn("2", [r["payload"] for r in last])
        self.assertEqual(self.ok("consume", "t/io", "--offset", "latest"), "")

    def test_consume_reads_more_than_a_page(self):
        self.assertEqual(len(self.ok("consume", "demo/random").splitlines()), 500)
        self.ok("topic", "create", "t/many")
        self.ok("produce", "t/many", "--lines", stdin=b"".join(b"%d\n" % n for n in range(2500)))
        payloads = [json.loads(line)["payload"] for line in self.ok("consume", "t/many").splitlines()]
        self.assertEqual(payloads, [str(n) for n in range(2500)])

    def test_dead_letters(self):
        self.assertIn("no dead letters", self.ok("dlq", "list", "drain"))
        self.assertEqual(self.daemon.run_json("dlq", "list", "drain")["dead_letters"], [])
        self.assertEqual(self.daemon.run("dlq", "show", "drain", "0")[0], 1)
        self.assertEqual(self.daemon.run_json("dlq", "retry", "drain")["taken"], 0)

    def test_errors_say_what_and_what_to_do(self):
        code, out, err = self.daemon.run("connector", "status", "nobody")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("pipeline.connector_not_found", err)
        code, _, err = self.daemon.run("connector", "status", "nobody", "--json")
        self.assertEqual(code, 1)
        self.assertTrue(json.loads(err)["error"]["hint"])

    def test_explicit_server(self):
        import subprocess
        from daemon_fixture import PROGRAM
        for server in (f"http://127.0.0.1:{self.daemon.port()}", f"unix:{self.daemon.data}/sluice.sock"):
            done = subprocess.run([PROGRAM, "topic", "list", "--server", server, "--json"], capture_output=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(json.loads(done.stdout)["topics"])

    def test_offline_commands_see_the_running_daemon(self):
        code, _, err = self.daemon.run("doctor")
        self.assertEqual(code, 0, err)
        import subprocess
        from daemon_fixture import PROGRAM
        done = subprocess.run([PROGRAM, "log", "dump", self.daemon.data], capture_output=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertIn(b"storage.locked", done.stderr)
        code, _, err = self.daemon.run("run")
        self.assertEqual(code, 7, err)
        self.assertTrue(self.daemon.port(), "a refused second daemon must not take the first one's files")


if __name__ == "__main__":
    main()
