# SPDX-License-Identifier: Apache-2.0
"""A daemon with random_source → null_sink in a directory of its own, its command line and its HTTP endpoint."""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
PROGRAM = os.path.join(BUILD, "bin/sluice")

SOURCE_TOML = """key = "numbers"
type = "source"
plugin = "random_source"
[[streams]]
stream = "demo"
topic = "random"
partitions = 2
[plugin_config]
count = 500
rate = 100000
seed = 7
"""
# Whichever of the two starts first makes the topic.
SINK_TOML = """key = "drain"
type = "sink"
plugin = "null_sink"
[[streams]]
stream = "demo"
topic = "random"
partitions = 2
"""


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"no {what} within {seconds} s")
        time.sleep(0.02)


class Daemon:
    def __init__(self, connectors=None, extra=""):
        self.root = tempfile.mkdtemp(prefix="sluice-control-")
        self.config = os.path.join(self.root, "sluice.toml")
        self.data = os.path.join(self.root, "data")
        self.process = None
        os.mkdir(os.path.join(self.root, "connectors.d"))
        self.write("sluice.toml", f"""data_dir = "data"
{extra}
[http]
address = "127.0.0.1:0"
allowed_hosts = ["sluice.test"]
[plugins]
path = ["{BUILD}/plugins"]
""")
        for name, text in (connectors if connectors is not None else {"numbers": SOURCE_TOML, "drain": SINK_TOML}).items():
            self.write(f"connectors.d/{name}.toml", text)

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def start(self, *arguments):
        with open(os.path.join(self.root, "daemon.log"), "ab") as log:
            self.process = subprocess.Popen([PROGRAM, "run", "--config", self.config, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: self.process.poll() is not None or self.is_ready(), 60, "ready daemon")
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon left with {self.process.returncode}:\n{self.read('daemon.log')}")
        return self

    def is_ready(self):
        try:
            return self.http("GET", "/ready")[0] == 200
        except OSError:
            return False

    def port(self):
        try:
            return int(self.read("data/http.port").strip() or 0)
        except (FileNotFoundError, ValueError):
            return 0

    def http(self, method, path, body=None, headers=None, host="localhost"):
        """Status, headers and text; exactly the headers given, and Host."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            payload = None if body is None else body.encode() if isinstance(body, str) else body
            if payload is not None:
                connection.putheader("Content-Length", str(len(payload)))
            connection.endheaders(payload)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def get(self, path):
        status, _, text = self.http("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {text}")
        return json.loads(text)

    def post(self, path, body="{}", content_type="application/json"):
        return self.http("POST", path, body, {"Content-Type": content_type, "X-Sluice-Request": "test"})

    def run(self, *arguments, stdin=None, environment=None):
        """The command line against this daemon: (exit code, stdout, stderr)."""
        done = subprocess.run([PROGRAM, *arguments, "--config", self.config], input=stdin, capture_output=True, timeout=90, check=False,
                              env={**os.environ, **(environment or {})})
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def run_json(self, *arguments, stdin=None):
        code, out, err = self.run(*arguments, "--json", stdin=stdin)
        if code != 0:
            raise AssertionError(f"sluice {' '.join(arguments)}: {code}\n{err}")
        return json.loads(out)

    def stop(self, signal_number=signal.SIGTERM):
        self.process.send_signal(signal_number)
        code = self.process.wait(timeout=60)
        return code

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.root)


class DaemonTest(unittest.TestCase):
    """One daemon for all cases of the class."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        try:
            cls.daemon.start()
            wait_for(lambda: cls.delivered() == 500, 60, "500 delivered records")
        except BaseException:
            print(cls.daemon.read("daemon.log"), file=sys.stderr)
            cls.daemon.remove()
            raise

    @classmethod
    def tearDownClass(cls):
        code = cls.daemon.stop()
        log = cls.daemon.read("daemon.log")
        cls.daemon.remove()
        if code != 0:
            raise AssertionError(f"the daemon left with {code}:\n{log}")

    @classmethod
    def delivered(cls):
        return sum(p["accounting"]["delivered"] for p in cls.daemon.get("/api/v1/connectors/drain")["partitions"])


def parse_metrics(text):
    """Samples by name and labels, after the checks that promtool makes of the shape."""
    samples, declared, family = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            if family in declared:
                raise AssertionError(f"HELP twice: {family}")
            declared[family] = None
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != family or declared[name] is not None:
                raise AssertionError(f"misplaced TYPE: {line}")
            declared[name] = kind
            if kind == "counter" and not (name.endswith("_total") and not name.endswith("_total_total")):
                raise AssertionError(f"counter without one _total: {name}")
        else:
            match = re.fullmatch(r'([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*\})? (\S+)(?: \d+)?', line)
            if match is None or match.group(1) != family:
                raise AssertionError(f"misplaced or malformed sample: {line}")
            if line.rsplit(" ", 1)[0] in samples:
                raise AssertionError(f"sample twice: {line}")
            samples[line.rsplit(" ", 1)[0]] = float(match.group(3))
    return samples


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)
