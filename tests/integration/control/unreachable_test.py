#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Back ends that cannot be reached, each in its own way, beside connectors that work: state, cause and fix in the daemon, and the same cause
and fix from `sluice doctor` before the daemon starts."""
import json
import os
import socket
import ssl
import subprocess
import sys
import unittest

from daemon_fixture import Daemon, main, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crash"))
from quiet_server import QuietHandler, QuietServer  # noqa: E402

CONNECT_TIMEOUT = "1s"

# What is wrong → what the cause and the fix must say.
CASES = {
    "wrong_host": (r"could not be sent: Could not resolve host: no-such-host\.invalid", r"check the host in the URL.*name server"),
    "refused_port": (r"could not be sent: .*Connection refused", r"nothing listens there: check host and port"),
    "hanging_port": (r"could not be sent: .*(Timeout was reached|timed out)", r"check host and port in the URL, a firewall that drops packets"),
    "silent_server": (r"no answer to the request: .*timed out", r"whether the server hangs"),
    "unauthorized": (r"the server answered 401", r"check the credentials in the configuration"),
    "not_found": (r"the server answered 404", r"check the path of the URL.*set probe to"),
    "self_signed": (r"could not be sent: .*self[- ]signed certificate", r"name the file of .* in ca_file"),
}


class Server(QuietServer):
    """Answers every request with `status`."""

    def __init__(self, status, context=None):
        self.status = status
        owner = self

        class Handler(QuietHandler):
            def do_HEAD(self):
                self.answer(owner.status)

            def do_POST(self):
                self.read_body()
                self.answer(owner.status)

        super().__init__(Handler, context)


def listener(backlog):
    out = socket.socket()
    out.bind(("127.0.0.1", 0))
    if backlog is not None:
        out.listen(backlog)
    return out, f"http://127.0.0.1:{out.getsockname()[1]}/records"


def self_signed(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"], check=True,
                   capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
    return context


def http_sink(key, url, more=""):
    return f"""key = "{key}"
type = "sink"
plugin = "http_sink"
[[streams]]
stream = "demo"
topic = "random"
partitions = 2
[plugin_config]
url = "{url}"
connect_timeout = "{CONNECT_TIMEOUT}"
timeout = "2s"
{more}
"""


class Unreachable(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.remove)
        self.servers = {"unauthorized": Server(401), "not_found": Server(404), "self_signed": Server(200, self_signed(self.daemon.root))}
        for server in self.servers.values():
            self.addCleanup(server.stop)
        # Bound and not listening: refused, and nobody else gets the port.
        refused, refused_url = listener(None)
        silent, silent_url = listener(16)
        hanging, hanging_url = listener(0)
        # Its queue is full, so the next one's first packet is dropped.
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(hanging.getsockname())
        for one in (refused, silent, hanging, *waiting):
            self.addCleanup(one.close)
        urls = {"wrong_host": "http://no-such-host.invalid/records", "refused_port": refused_url, "hanging_port": hanging_url,
                "silent_server": silent_url, **{key: server.url for key, server in self.servers.items()}}
        for key in CASES:
            self.daemon.write(f"connectors.d/{key}.toml", http_sink(key, urls[key]))

    def assert_told(self, key, text, hint, who):
        cause, fix = CASES[key]
        self.assertRegex(text, cause, f"{who}: cause of {key}")
        self.assertRegex(hint, fix, f"{who}: fix of {key}")

    def delivered(self, key):
        return sum(p["accounting"]["delivered"] for p in self.daemon.get(f"/api/v1/connectors/{key}")["partitions"])

    def problem(self, key):
        status = self.daemon.get(f"/api/v1/connectors/{key}")
        return status["last_error"] if status["state"] in ("connecting", "retrying") and status["last_error"] else None

    def test_each_says_state_cause_and_fix_and_doctor_says_the_same(self):
        code, out, err = self.daemon.run("doctor", "--json")
        self.assertEqual(code, 1, out + err)
        self.assertFalse(os.path.exists(self.daemon.data), "doctor must not make the data directory")
        findings = {row["check"]: row for row in json.loads(out)["checks"]}
        for key in ("numbers", "drain"):
            self.assertEqual(findings[f"connector {key}"]["result"], "ok", findings[f"connector {key}"])
        for key in CASES:
            row = findings[f"connector {key}"]
            self.assertEqual(row["result"], "failed", row)
            self.assert_told(key, row["detail"], row["hint"], "doctor --json")

        self.daemon.start()
        wait_for(lambda: self.delivered("drain") == 500, 60, "500 records of the connectors that work")
        for key in CASES:
            problem = wait_for(lambda key=key: self.problem(key), 60, f"problem of {key}")
            self.assert_told(key, problem["text"], problem["hint"], "status")
            why = self.daemon.run("connector", "why", key)[1]
            self.assertRegex(why, rf"^{key} \(sink\) is (connecting|retrying) for ")
            self.assert_told(key, why, why.split("what to do: ")[1], "why")
            # The causes are the same too, but for milliseconds.
            self.assertEqual(findings[f"connector {key}"]["hint"], problem["hint"])
        status = self.daemon.run("connector", "status", "self_signed")[1]
        self.assert_told("self_signed", status, status.split("what to do: ")[1], "status, as text")
        self.assertIn("the running daemon has them", self.daemon.run("doctor")[1])
        self.assertEqual({self.delivered(key) for key in CASES}, {0})

        # What was wrong is mended at the other end: nothing has been lost meanwhile.
        for key in ("unauthorized", "not_found"):
            self.servers[key].status = 200
            self.assertEqual(self.daemon.run("connector", "restart", key)[0], 0)
            wait_for(lambda key=key: self.delivered(key) == 500, 60, f"500 records of {key}")
            self.assertEqual(self.daemon.get(f"/api/v1/connectors/{key}")["state"], "running")
        self.assertEqual(self.daemon.stop(), 0, self.daemon.read("daemon.log"))

    def test_the_fix_of_a_self_signed_certificate_holds(self):
        for key in set(CASES) - {"self_signed"}:
            os.unlink(os.path.join(self.daemon.root, f"connectors.d/{key}.toml"))
        shown = self.daemon.run("doctor")[1]
        self.assertRegex(shown, r"connector self_signed +FAILED +HEAD https://127\.0\.0\.1:\d+/records: .*self[- ]signed certificate")
        self.assertRegex(shown, r"\nconnector self_signed: what to do: .* in ca_file")
        self.daemon.write("connectors.d/self_signed.toml",
                          http_sink("self_signed", self.servers["self_signed"].url, f'ca_file = "{self.daemon.root}/cert.pem"'))
        findings = {row["check"]: row for row in json.loads(self.daemon.run("doctor", "--json")[1])["checks"]}
        self.assertEqual(findings["connector self_signed"]["result"], "ok", findings)


if __name__ == "__main__":
    main()
