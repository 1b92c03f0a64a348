# SPDX-License-Identifier: Apache-2.0
"""The commands that need no daemon."""
import json
import os
import re
import subprocess
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
        self.assertTrue(all(v["clean"] and not v["refused"] and not v["changes"] for v in verdicts), verdicts)
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


if __name__ == "__main__":
    main()
