# SPDX-License-Identifier: Apache-2.0
"""The commands that need no daemon."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from daemon_fixture import BUILD, PROGRAM, SOURCE, Daemon, main, wait_for


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class OfflineTest(unittest.TestCase):
    def make(self, *arguments, **options):
        daemon = Daemon(*arguments, **options)
        self.addCleanup(daemon.remove)
        return daemon

    def test_explain_knows_every_code_of_the_source(self):
        known = {row["code"] for row in json.loads(run("explain", "--json")[1])["errors"]}
        in_source = set()
        for folder in ("core", "runtime"):
            for path, _, files in os.walk(os.path.join(SOURCE, folder)):
                for name in files:
                    if name.endswith(".cpp"):
                        with open(os.path.join(path, name), encoding="utf-8") as file:
                            in_source.update(re.findall(r'\{\s*"([a-z_]+\.[a-z_]+)",\s*(?:sluice::)?ErrorKind::', file.read()))
        self.assertGreater(len(in_source), 40)
        self.assertEqual(in_source - known, set())

    def test_explain_one_and_an_unknown_one(self):
        code, out, _ = run("explain", "log.fenced")
        self.assertEqual(code, 0)
        self.assertIn("log.fenced", out)
        code, _, err = run("explain", "log.fencd")
        self.assertEqual(code, 1)
        self.assertIn("log.fenced", err)

    def test_version(self):
        with open(os.path.join(SOURCE, "VERSION"), encoding="utf-8") as file:
            version = file.read().strip()
        self.assertEqual(run("version")[1], f"sluice {version}\n")
        self.assertEqual(json.loads(run("version", "--json")[1])["version"], version)

    def test_check_prints_every_finding_with_its_place(self):
        daemon = self.make()
        self.assertEqual(daemon.run("check")[0], 0)
        daemon.write("connectors.d/numbers.toml", daemon.read("connectors.d/numbers.toml").replace("seed = 7", "sede = 7"))
        daemon.write("connectors.d/drain.toml", daemon.read("connectors.d/drain.toml").replace('type = "sink"', 'type = "sank"'))
        code, out, _ = daemon.run("check")
        self.assertEqual(code, 5)
        self.assertRegex(out, r"numbers\.toml:\d+:\d+: error: .*sede.*seed")
        self.assertRegex(out, r"drain\.toml:2:\d+: error: ")
        code, out, _ = daemon.run("check", "--json")
        self.assertEqual(code, 5)
        self.assertEqual({finding["severity"] for finding in json.loads(out)["findings"]} & {"error"}, {"error"})

    def test_doctor_measures(self):
        daemon = self.make()
        code, out, err = daemon.run("doctor", "--json")
        self.assertEqual(code, 0, out + err)
        checks = {row["check"]: row for row in json.loads(out)["checks"]}
        for name in ("open files", "data_dir", "space", "sync latency", "port", "plugins"):
            self.assertIn(name, checks)
        self.assertRegex(checks["sync latency"]["detail"], r"p50 \d+\.\d+ ms.*over 100 writes")
        self.assertIn("random_source", checks["plugins"]["detail"])
        self.assertFalse(os.path.exists(daemon.data), "doctor must not make the data directory")
        self.assertIn("sync latency", daemon.run("doctor")[1])

    def test_plugin_list_and_inspect(self):
        code, out, err = run("plugin", "list", "--plugin-path", os.path.join(BUILD, "plugins"), "--json")
        self.assertEqual(code, 0, err)
        self.assertIn("null_sink", [plugin["id"] for plugin in json.loads(out)["plugins"]])
        code, out, _ = run("plugin", "inspect", "random_source", "--plugin-path", os.path.join(BUILD, "plugins"))
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^rate +")
        code, _, err = run("plugin", "inspect", "no_such_plugin", "--plugin-path", os.path.join(BUILD, "plugins"))
        self.assertEqual(code, 1)
        self.assertIn("plugin.not_found", err)

    def test_output_that_does_not_get_out_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "explain"], stdout=full, stderr=subprocess.PIPE, timeout=30, check=False)
        self.assertEqual(done.returncode, 1)

    def test_log_verify_says_what_a_start_would_do(self):
        daemon = self.make().start()
        wait_for(lambda: (daemon.get("/api/v1/connectors/numbers")["source"] or {}).get("appended") == 500, 60, "500 records")
        self.assertEqual(run("log", "verify", daemon.data)[0], 7)  # in use
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        code, out, err = run("log", "verify", daemon.data, "--json")
        self.assertEqual(code, 0, err)
        verdicts = [json.loads(line) for line in out.splitlines()]
        self.assertTrue(all(v["clean"] and not v["refused"] for v in verdicts), verdicts)
        # Nothing in an empty log says yet that its header page is on the device.
        rewrites = [change for v in verdicts for change in v["changes"]]
        self.assertEqual(len(rewrites), sum(v["entries"] == 0 for v in verdicts), verdicts)
        self.assertTrue(all("its header page and 0 bytes" in change and "once more" in change for change in rewrites), rewrites)
        self.assertEqual(sum(v["next_offset"] for v in verdicts), 500)
        damaged = max(verdicts, key=lambda v: v["next_offset"])["directory"]
        segment = os.path.join(damaged, "00000000000000000001.log")
        with open(segment, "r+b") as file:
            file.seek(4096 + 200)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        code, out, _ = run("log", "verify", damaged)
        self.assertEqual(code, 1)
        self.assertRegex(out, r"a start refuses it: .*\[log\.")
        self.assertFalse(os.path.exists(os.path.join(damaged, "refused")))
        code, _, err = run("log", "verify", daemon.root)
        self.assertEqual(code, 1)
        self.assertIn("neither a data directory", err)


    def test_a_refused_log_is_repaired_on_command_and_then_served(self):
        daemon = self.make({}).start()
        self.assertEqual(daemon.run("topic", "create", "demo/t", "--partitions", "1")[0], 0)
        for i in range(10):
            lines = "".join(f"old {i} {k}\n" for k in range(20)).encode()
            self.assertEqual(daemon.run("produce", "demo/t", "--lines", stdin=lines)[0], 0)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        log = next(d for d in (json.loads(line)["directory"] for line in run("log", "verify", daemon.data, "--json")[1].splitlines())
                   if not d.endswith("/0-0"))
        segment = os.path.join(log, "00000000000000000001.log")
        entries = [e for e in map(json.loads, run("log", "dump", segment, "--json")[1].splitlines()) if e.get("kind") == "messages"]
        broken = next(e for e in entries if e["base_offset"] >= 100)
        with open(segment, "r+b") as file:
            file.seek(broken["position"] + 200)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))

        daemon.start()
        self.assertIn("is refused, its bytes are untouched", daemon.read("daemon.log"))
        self.assertNotEqual(daemon.run("produce", "demo/t", "--lines", stdin=b"no\n")[0], 0)
        self.assertEqual(run("log", "repair", log, "--yes")[0], 7)  # in use
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

        files = {name: os.path.getsize(os.path.join(log, name)) for name in os.listdir(log)}
        code, out, err = run("log", "repair", log)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"would do: .* are copied to a file beside it and cut off")
        self.assertIn("nothing was changed", out)
        self.assertEqual({name: os.path.getsize(os.path.join(log, name)) for name in os.listdir(log)}, files)
        self.assertEqual(run("log", "repair", daemon.data, "--yes")[0], 1)  # one log at a time

        code, out, err = run("log", "repair", log, "--yes", "--json")
        self.assertEqual(code, 0, err)
        repaired = json.loads(out)
        self.assertTrue(repaired["done"])
        self.assertEqual(repaired["next_offset"], broken["base_offset"])
        self.assertGreaterEqual(repaired["mint_from"], 200)
        self.assertIn("refused.cut-1", os.listdir(log))
        self.assertNotIn("refused", os.listdir(log))
        self.assertIn("00000000000000000001.log.cut-1", os.listdir(log))
        with open(os.path.join(log, "repairs"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"(?s)refused = log\..*step = .*limit = .*done\n")
        self.assertEqual(run("log", "verify", log)[0], 0)

        daemon.start()
        self.assertEqual(daemon.run("produce", "demo/t", "--lines", stdin=b"new\n")[0], 0)
        records = [json.loads(line) for line in daemon.run("consume", "demo/t", "--json")[1].splitlines()]
        self.assertEqual(len(records), broken["base_offset"] + 1)
        self.assertEqual([r["offset"] for r in records[:-1]], list(range(broken["base_offset"])))
        self.assertGreaterEqual(records[-1]["offset"], 200, "an offset that was given out once is not given out again")
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))
        code, out, _ = run("log", "repair", log)
        self.assertEqual(code, 0)
        self.assertIn("nothing to repair", out)

    def test_log_verify_judges_a_killed_daemons_log_with_its_witness(self):
        place = tempfile.mkdtemp(prefix="sluice-verify-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, place)
        daemon = self.make({}, extra=f'runtime_dir = "{place}"').start()
        self.assertEqual(daemon.run("topic", "create", "demo/t", "--partitions", "1")[0], 0)
        self.assertEqual(daemon.run("produce", "demo/t", "--lines", stdin=b"a\nb\n")[0], 0)
        daemon.process.kill()
        daemon.process.wait()
        before = os.listdir(place)

        def verdict(*arguments):
            code, out, err = run("log", "verify", daemon.data, "--json", *arguments)
            self.assertEqual(code, 0, err)
            return max((json.loads(line) for line in out.splitlines()), key=lambda v: v["next_offset"])

        with_it = verdict("--runtime-dir", place)
        self.assertTrue(with_it["trusted"])
        self.assertIsNone(with_it["mint_from"])
        without = verdict("--runtime-dir", place + "/elsewhere")
        self.assertFalse(without["trusted"])
        self.assertTrue(any("become a gap" in change for change in without["changes"]), without)
        self.assertIn("there is none in", run("log", "verify", daemon.data, "--runtime-dir", place + "/elsewhere")[1])
        self.assertEqual(os.listdir(place), before)


if __name__ == "__main__":
    main()
