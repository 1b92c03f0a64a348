# SPDX-License-Identifier: Apache-2.0
"""What the command line does when the records cannot be read to their end, and when nobody says whether they were stored."""
import http.client
import http.server
import json
import signal
import subprocess
import threading
import unittest

from daemon_fixture import PROGRAM, Daemon, main


class LossyProxy(http.server.ThreadingHTTPServer):
    """In front of the daemon. Loses the answers of the first POSTs, or answers them itself with `refusals`: a 503 without carrying the request there, a
    504 after it. Carries every other request there and back."""
    daemon_threads = True

    def __init__(self, daemon, losses=0, before_loss=lambda: None, refusals=()):
        self.daemon, self.losses, self.before_loss, self.refusals = daemon, losses, before_loss, list(refusals)
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.shutdown()
        self.server_close()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def refuse(self, status):
            text = json.dumps({"status": status, "code": "node.busy", "detail": "not now", "hint": "later"}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/problem+json")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text)

        def carry(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            refusal = self.server.refusals.pop(0) if self.command == "POST" and self.server.refusals else None
            if refusal == 503:
                self.close_connection = True
                return self.refuse(refusal)
            connection = http.client.HTTPConnection("127.0.0.1", self.server.daemon.port(), timeout=30)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("content-length", "connection")}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            self.close_connection = True
            if refusal:
                return self.refuse(refusal)
            if self.command == "POST" and self.server.losses > 0:
                self.server.losses -= 1
                self.server.before_loss()
                return None
            self.send_response(answer.status)
            for name in ("Content-Type",):
                self.send_header(name, answer.getheader(name))
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text)
            return None

        do_GET = do_POST = carry

        def log_message(self, *_):
            pass


class ProduceTest(unittest.TestCase):
    def start(self):
        daemon = Daemon({})
        self.addCleanup(daemon.remove)
        return daemon.start()

    def produce(self, proxy, *arguments, stdin):
        done = subprocess.run([PROGRAM, "produce", *arguments, "--server", proxy.url()], input=stdin, capture_output=True, timeout=90, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def payloads(self, daemon, topic):
        code, out, err = daemon.run("consume", topic)
        self.assertEqual(code, 0, err)
        return [json.loads(line)["payload"] for line in out.splitlines()]

    def test_a_read_error_is_no_end_of_file(self):
        daemon = self.start()
        self.assertEqual(daemon.run("topic", "create", "demo/lines")[0], 0)
        code, out, err = daemon.run("produce", "demo/lines", daemon.root)
        self.assertEqual(code, 1, out)
        self.assertIn("to its end", err)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_records_whose_answer_is_lost_are_stored_once(self):
        daemon = self.start()
        self.assertEqual(daemon.run("topic", "create", "demo/lossy", "--partitions", "3")[0], 0)
        proxy = LossyProxy(daemon, losses=3)
        self.addCleanup(proxy.close)
        records = "".join(json.dumps({"payload": str(n), **({"key": f"k{n % 7}"} if n % 2 else {})}) + "\n" for n in range(100))
        code, out, err = self.produce(proxy, "demo/lossy", stdin=records.encode())
        self.assertEqual(code, 0, err)
        self.assertIn("appended 100", out)
        self.assertEqual(proxy.losses, 0)
        self.assertEqual(sorted(map(int, self.payloads(daemon, "demo/lossy"))), list(range(100)))
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_records_that_are_refused_for_the_moment_are_sent_again_and_stored_once(self):
        daemon = self.start()
        self.assertEqual(daemon.run("topic", "create", "demo/busy")[0], 0)
        proxy = LossyProxy(daemon, refusals=(503, 504, 503))
        self.addCleanup(proxy.close)
        code, out, err = self.produce(proxy, "demo/busy", "--lines", stdin=b"1\n2\n3\n")
        self.assertEqual((code, proxy.refusals), (0, []), err)
        self.assertIn("appended 3", out)
        self.assertEqual(self.payloads(daemon, "demo/busy"), ["1", "2", "3"])
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_what_is_refused_for_good_is_not_sent_again(self):
        daemon = self.start()
        self.assertEqual(daemon.run("topic", "create", "demo/bad")[0], 0)
        proxy = LossyProxy(daemon, refusals=(409, 409))
        self.addCleanup(proxy.close)
        code, _, err = self.produce(proxy, "demo/bad", "--lines", stdin=b"1\n")
        self.assertEqual((code, proxy.refusals), (1, [409]), err)
        self.assertIn("node.busy", err)
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_records_whose_answer_died_with_the_daemon_are_stored_once(self):
        daemon = self.start()
        self.assertEqual(daemon.run("topic", "create", "demo/killed")[0], 0)

        def kill_and_start():
            daemon.stop(signal.SIGKILL)
            daemon.start()
        proxy = LossyProxy(daemon, losses=1, before_loss=kill_and_start)
        self.addCleanup(proxy.close)
        code, out, err = self.produce(proxy, "demo/killed", "--lines", stdin=b"".join(b"%d\n" % n for n in range(25_000)))
        self.assertEqual(code, 0, err)
        self.assertIn("appended 25000", out)
        self.assertEqual(self.payloads(daemon, "demo/killed"), [str(n) for n in range(25_000)])
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))

    def test_a_numbered_request_says_who_where_and_which(self):
        daemon = self.start()
        self.assertEqual(daemon.run("topic", "create", "demo/numbers", "--partitions", "2")[0], 0)
        path = "/api/v1/topics/demo/numbers/records?"
        for query in ("producer=" + "a" * 32, "request=1&partition=0", "producer=xyz&request=1&partition=0",
                      "producer=" + "0" * 32 + "&request=1&partition=0", "producer=" + "a" * 32 + "&request=1"):
            self.assertEqual(daemon.post(path + query, '{"payload":"a"}')[0], 400, query)
        numbered = path + "producer=" + "a" * 32 + "&partition=0&origin_timestamp_us=5&request="
        for body in ('{"payload":"a"}\n{"payload":"b","partition":1}', '{"payload":"b","partition":1}', "\n"):
            self.assertEqual(daemon.post(numbered + "1", body)[0], 400, body)
        first = daemon.post(numbered + "1", '{"payload":"a"}')
        self.assertEqual(first[0], 200, first[2])
        self.assertEqual(daemon.post(numbered + "1", '{"payload":"a"}')[2], first[2])
        for request, payload, status, code in (("1", "b", 409, "partition.request_reuse"), ("3", "b", 409, "partition.out_of_sequence")):
            answer = daemon.post(numbered + request, json.dumps({"payload": payload}))
            self.assertEqual((answer[0], json.loads(answer[2])["code"]), (status, code))
        stranger = daemon.post(numbered.replace("a" * 32, "b" * 32) + "2", '{"payload":"b"}')
        self.assertEqual((stranger[0], json.loads(stranger[2])["code"]), (404, "partition.producer_unknown"))
        self.assertEqual(self.payloads(daemon, "demo/numbers"), ["a"])
        self.assertEqual(daemon.stop(), 0, daemon.read("daemon.log"))


if __name__ == "__main__":
    main()
