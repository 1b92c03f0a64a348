# SPDX-License-Identifier: Apache-2.0
"""A daemon in a directory of its own, with what surrounds it in the crash tests: a writer of lines and an HTTP receiver."""
import collections
import fcntl
import json
import os
import random
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

from quiet_server import QuietHandler, QuietServer


def wait_for(condition, seconds, what):
    """Polls until condition() is true; a named failure after the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"no {what} within {seconds} s")
        time.sleep(0.01)


class Daemon:
    """One data directory and its configuration; start() and kill() any number of times."""

    def __init__(self, build, root, settings=""):
        self.build = os.path.abspath(build)
        self.root = os.path.abspath(root)
        self.program = os.path.join(self.build, "bin/sluice")
        self.config = os.path.join(self.root, "sluice.toml")
        self.log_path = os.path.join(self.root, "daemon.log")
        self.process = None
        os.makedirs(os.path.join(self.root, "connectors.d"), exist_ok=True)
        self.write("sluice.toml", f"""data_dir = "data"
connectors_dir = "connectors.d"
{settings}
[http]
address = "127.0.0.1:0"
[plugins]
path = ["{self.build}/plugins"]
""")

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, wrapper=(), wait=True):
        port_file = os.path.join(self.root, "data/http.port")
        if os.path.exists(port_file):
            os.unlink(port_file)
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen([*wrapper, self.program, "run", "--config", self.config], stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log, start_new_session=True)
        log.close()
        if wait:
            wait_for(lambda: self.log_is_open() or self.process.poll() is not None, 30, "daemon with an open log")
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon left with {self.process.returncode}:\n{self.log_tail()}")

    def port(self):
        try:
            with open(os.path.join(self.root, "data/http.port"), encoding="utf-8") as file:
                return int(file.read().strip() or 0)
        except (FileNotFoundError, ValueError):
            return 0

    def log_is_open(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port()}/ready", timeout=20) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as refusal:
            return "recovery" not in json.loads(refusal.read())
        except (urllib.error.URLError, ConnectionError):
            return False

    def log_tail(self, size=4000):
        with open(self.log_path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - size))
            return file.read().decode("utf-8", "replace")

    def kill(self):
        """SIGKILL to the whole session, as an out-of-memory kill would be; waits for the end."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        status = self.process.wait()
        wait_for(self.unlocked, 20, "end of the killed daemon")
        return status

    def terminate_traced(self):
        """SIGTERM to the daemon itself when it runs under strace: its lock file names it."""
        with open(os.path.join(self.root, "data/LOCK"), encoding="utf-8") as file:
            os.kill(int(file.read().split()[0]), signal.SIGTERM)

    def unlocked(self):
        """True if no process holds the data directory."""
        try:
            with open(os.path.join(self.root, "data/LOCK"), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return True
        except BlockingIOError:
            return False
        return True

    def stop(self, seconds=40):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=seconds)

    def call(self, path, method="GET", body=None, seconds=20):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port()}/api/v1/{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json", "X-Sluice-Request": "1"})
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            text = answer.read().decode()
        return json.loads(text) if text else None

    def status(self, key):
        return self.call(f"connectors/{key}")

    def serving(self, keys, also=()):
        """True once all these connectors are up and running, or in one of the states `also`."""
        try:
            return all(self.status(key)["state"] in ("running", "stalled", *also) for key in keys)
        except (urllib.error.URLError, ConnectionError):
            return False


class LineWriter(threading.Thread):
    """Appends numbered lines to `names` and rotates the files by rename. Line: <name>.<generation>:<sequence>:<filler>."""

    def __init__(self, directory, names, seed, lines_per_second, rotate_after):
        super().__init__(name="line-writer")
        self.directory, self.names, self.random = directory, names, random.Random(seed)
        self.pause = 1.0 / lines_per_second
        self.rotate_after = rotate_after
        self.generation = dict.fromkeys(names, 0)
        self.written = collections.Counter()  # (name, generation) -> whole lines written
        self.stopping = threading.Event()
        self.hold = lambda: False  # true while enough is in flight: the load stays ahead of the sinks, but not without bound
        os.makedirs(directory, exist_ok=True)
        self.files = {name: self._open(name) for name in names}

    def _open(self, name):
        return open(os.path.join(self.directory, name + ".log"), "ab", buffering=0)

    def total(self):
        return sum(self.written.values())

    def run(self):
        while not self.stopping.is_set():
            if self.hold():
                self.stopping.wait(0.005)
                continue
            name = self.random.choice(self.names)
            for _ in range(self.random.randint(1, 40)):
                self._line(name)
            if self.written[(name, self.generation[name])] >= self.rotate_after:
                self._rotate(name)
            self.stopping.wait(self.pause * self.random.randint(1, 40))

    def _line(self, name):
        key = (name, self.generation[name])
        filler = "x" * self.random.randint(0, 120)
        line = f"{name}.{key[1]}:{self.written[key]}:{filler}\n".encode()
        cut = self.random.randint(1, len(line) - 1) if self.random.random() < 0.1 else len(line)
        self.files[name].write(line[:cut])  # now and then in two parts: the reader must wait for the newline
        if cut < len(line):
            self.files[name].write(line[cut:])
        self.written[key] += 1

    def _rotate(self, name):
        path = os.path.join(self.directory, name + ".log")
        os.rename(path, f"{path}.{self.generation[name]}")
        self.files[name].close()
        self.generation[name] += 1
        self.files[name] = self._open(name)

    def stop(self):
        self.stopping.set()
        self.join()
        for file in self.files.values():
            file.close()


class Receiver:
    """An HTTP server that takes records one by one and remembers key, payload and the era (number of kills so far) of each."""

    def __init__(self):
        self.lock = threading.Lock()
        self.era = 0
        self.seen = {}  # idempotency key -> payload
        self.duplicates = collections.Counter()  # (era, partition) -> count
        self.faults = []
        receiver = self

        class Handler(QuietHandler):
            wbufsize = -1

            def do_POST(self):
                body = self.read_body()
                receiver.take(self.headers.get("Idempotency-Key"), body)
                self.answer(200)

        self.server = QuietServer(Handler)
        self.url = self.server.url

    def take(self, key, body):
        with self.lock:
            if key is None:
                self.faults.append("a request without Idempotency-Key")
            elif key not in self.seen:
                self.seen[key] = body
            elif self.seen[key] != body:
                self.faults.append(f"key {key} came with two different bodies")
            else:
                self.duplicates[(self.era, key.split(":")[3])] += 1

    def next_era(self):
        with self.lock:
            self.era += 1

    def stop(self):
        self.server.stop()
