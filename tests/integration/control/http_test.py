# SPDX-License-Identifier: Apache-2.0
"""The HTTP endpoint: who is refused and how, and what the routes answer."""
import base64
import http.client
import json
import os
import socket
import stat

from daemon_fixture import DaemonTest, main, parse_metrics, wait_for

PAUSE = "/api/v1/connectors/drain/pause"
JSON = {"Content-Type": "application/json", "X-Sluice-Request": "1"}


class RefusalTest(DaemonTest):
    def problem(self, outcome, status, code):
        self.assertEqual(outcome[0], status, outcome[2])
        self.assertEqual(outcome[1]["Content-Type"], "application/problem+json")
        document = json.loads(outcome[2])
        self.assertEqual((document["status"], document["code"]), (status, code))
        self.assertTrue(document["hint"])
        return document

    def test_unknown_host_is_refused(self):
        for host in ("evil.example", "localhost.evil.example", "169.254.1.1"):
            self.problem(self.daemon.http("GET", "/health", host=host), 421, "http.unknown_host")
        for host in ("localhost", f"127.0.0.1:{self.daemon.port()}", "[::1]", "sluice.test:80"):
            self.assertEqual(self.daemon.http("GET", "/health", host=host)[0], 200)

    def test_mutation_without_request_header_is_refused(self):
        self.problem(self.daemon.http("POST", PAUSE, "{}", {"Content-Type": "application/json"}), 403, "http.header_missing")

    def test_mutation_that_is_not_json_is_refused(self):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/x-ndjson"):
            self.problem(self.daemon.http("POST", PAUSE, "{}", {"Content-Type": kind, "X-Sluice-Request": "1"}), 415, "http.unsupported_media_type")

    def test_refused_mutations_change_nothing(self):
        self.assertEqual(self.daemon.get("/api/v1/connectors/drain")["state"], "running")

    def test_no_cross_origin_grant(self):
        status, headers, _ = self.daemon.http("OPTIONS", PAUSE, headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
        self.assertEqual((status, headers["Allow"]), (405, "POST"))
        self.assertFalse([name for name in headers if name.lower().startswith("access-control")])

    def test_unknown_things_are_404(self):
        self.problem(self.daemon.http("GET", "/api/v1/nothing"), 404, "http.no_such_route")
        for path in ("/api/v1/connectors/nobody", "/api/v1/connectors/nobody/why", "/api/v1/connectors/nobody/audit", "/ready/nobody",
                     "/api/v1/connectors/nobody/dead-letters"):
            self.assertEqual(self.daemon.http("GET", path)[0], 404, path)
        self.assertEqual(self.daemon.http("GET", "/api/v1/topics/no/topic")[0], 404)
        self.assertEqual(self.daemon.post("/api/v1/connectors/nobody/pause")[0], 404)

    def test_wrong_method_is_405(self):
        self.problem(self.daemon.http("GET", PAUSE), 405, "http.method_not_allowed")
        self.problem(self.daemon.http("DELETE", "/api/v1/topics"), 405, "http.method_not_allowed")

    def test_conflicts_are_409(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/twice"}')[0], 201)
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/twice"}')[0], 409)
        self.assertEqual(self.daemon.post("/api/v1/connectors/drain/resume")[0], 409)

    def test_bad_input_is_400(self):
        for body in ("", "[]", "{", '{"name": "no-slash"}', '{"name": "a/b", "partition": 2}', '{"name": "a/b", "partitions": 0}',
                     '{"name": "a/b", "partitions": 5000}', '{"name": "a/b", "enforce_fsync": 1}', '{"name": "../etc/passwd"}'):
            self.assertEqual(self.daemon.post("/api/v1/topics", body)[0], 400, body)
        for query in ("offset=x", "offset=-1", "limit=1000000", "partition=9", "time=yesterday", "offset=1&time=2026-01-01T00:00:00Z", "offset=1&offset=2"):
            self.assertEqual(self.daemon.http("GET", f"/api/v1/topics/demo/random/records?partition=0&{query}")[0], 400, query)
        self.assertEqual(self.daemon.http("GET", "/api/v1/topics/demo/random/records")[0], 400)

    def test_too_large_is_413_and_chunked_is_411(self):
        self.problem(self.daemon.http("POST", PAUSE, "x" * 70_000, JSON), 413, "http.body_too_large")
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port(), timeout=10)
        connection.request("POST", PAUSE, iter([b"{}"]), JSON, encode_chunked=True)
        self.assertEqual(connection.getresponse().status, 411)
        connection.close()

    def test_admin_actions_are_logged(self):
        self.daemon.http("POST", PAUSE, "{}", {"Content-Type": "text/plain", "X-Sluice-Request": "1"})
        self.assertRegex(self.daemon.read("daemon.log"), r"admin: POST /api/v1/connectors/drain/pause by 127\.0\.0\.1:\d+: 415")


class AnswerTest(DaemonTest):
    def test_health_ready_and_version(self):
        self.assertEqual(self.daemon.get("/health")["status"], "ok")
        ready = self.daemon.get("/ready")
        self.assertTrue(ready["ready"])
        self.assertEqual({c["key"]: c["state"] for c in ready["connectors"]}, {"drain": "running", "numbers": "running"})
        self.assertTrue(self.daemon.get("/ready/drain")["ready"])

    def test_unix_socket_is_0660_and_serves(self):
        path = os.path.join(self.daemon.data, "sluice.sock")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o660)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.connect(path)
            peer.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 200"))

    def test_metrics_are_valid_and_account_for_every_record(self):
        status, headers, text = self.daemon.http("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        samples = parse_metrics(text)
        self.assertEqual(samples['sluice_connector_state{connector="drain",type="sink",state="running"}'], 1)
        delivered = [value for name, value in samples.items() if name.startswith('sluice_sink_records_total{connector="drain"') and "delivered" in name]
        self.assertEqual((len(delivered), sum(delivered)), (2, 500))
        self.assertEqual(samples['sluice_source_records_total{connector="numbers",outcome="appended"}'], 500)
        for partition in "01":
            labels = f'connector="drain",topic="demo/random",partition="{partition}"'
            outcomes = sum(value for name, value in samples.items() if name.startswith("sluice_sink_records_total{" + labels))
            self.assertEqual(samples[f"sluice_sink_records_in_total{{{labels}}}"], outcomes)
            self.assertEqual(samples[f"sluice_sink_lag_records{{{labels}}}"], 0)

    def test_records_come_back_whole(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/whole"}')[0], 201)
        sent = [{"key": "k", "payload": "grün\n\u0000", "headers": [{"name": "h", "value": "1"}, {"name": "h", "value_base64": "/w=="}], "format": 2,
                 "schema_id": 9, "id": "0f" * 16, "origin_timestamp_us": 77},
                {"key_base64": base64.b64encode(b"\xff\x00").decode(), "payload": None}, {"key": "", "payload": ""}, {"payload": "no key"}]
        body = "\n".join(json.dumps(record) for record in sent)
        status, _, text = self.daemon.post("/api/v1/topics/t/whole/records", body, "application/x-ndjson")
        self.assertEqual((status, json.loads(text)["appended"]), (200, 4), text)
        status, headers, text = self.daemon.http("GET", "/api/v1/topics/t/whole/records")
        got = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([record["offset"] for record in got], [0, 1, 2, 3])
        self.assertEqual(headers["Sluice-Next-Offset"], "4")
        for name, value in sent[0].items():
            self.assertEqual(got[0][name], value, name)
        self.assertEqual((got[1]["key_base64"], got[1]["payload"]), ("/wA=", None))
        self.assertEqual((got[2]["key"], got[2]["payload"]), ("", ""))
        self.assertIsNone(got[3]["key"])
        self.assertEqual(len({record["id"] for record in got}), 4)

    def test_a_bad_line_appends_nothing_and_is_named(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/none"}')[0], 201)
        status, _, text = self.daemon.post("/api/v1/topics/t/none/records", '{"payload": "a"}\n{"payload": 7}\n')
        self.assertEqual((status, json.loads(text)["context"]["line"]), (400, "2"))
        self.assertEqual(self.daemon.get("/api/v1/topics/t/none")["partitions"][0]["next_offset"], 0)

    def test_equal_keys_share_a_partition(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/keys", "partitions": 8}')[0], 201)
        for _ in range(3):
            body = "\n".join(json.dumps({"key": f"k{n}", "payload": str(n)}) for n in range(40))
            self.assertEqual(self.daemon.post("/api/v1/topics/t/keys/records", body, "application/x-ndjson")[0], 200)
        places = {}
        for partition in range(8):
            for line in self.daemon.http("GET", f"/api/v1/topics/t/keys/records?partition={partition}&limit=1000")[2].splitlines():
                places.setdefault(json.loads(line)["key"], set()).add(partition)
        self.assertEqual(len(places), 40)
        self.assertTrue(all(len(where) == 1 for where in places.values()))
        self.assertGreater(len(set.union(*places.values())), 1)

    def test_reading_by_time_and_from_the_end(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/time"}')[0], 201)
        for n in range(3):
            self.assertEqual(self.daemon.post("/api/v1/topics/t/time/records", json.dumps({"payload": str(n)}))[0], 200)
        records = [json.loads(line) for line in self.daemon.http("GET", "/api/v1/topics/t/time/records")[2].splitlines()]
        later = self.daemon.http("GET", f"/api/v1/topics/t/time/records?time={records[1]['timestamp']}")[2].splitlines()
        self.assertEqual([json.loads(line)["payload"] for line in later], ["1", "2"])
        status, headers, text = self.daemon.http("GET", "/api/v1/topics/t/time/records?offset=latest&wait_ms=50")
        self.assertEqual((status, text, headers["Sluice-Next-Offset"]), (200, "", "3"))

    def test_a_quiet_topic_gives_up_what_has_reached_its_age(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/aging", "retention_age_ms": 999}')[0], 400)
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/aging", "retention_age_ms": 1000}')[0], 201)
        self.assertEqual(self.daemon.post("/api/v1/topics/t/aging/records", '{"payload": "a"}')[0], 200)
        wait_for(lambda: self.daemon.get("/api/v1/topics/t/aging")["partitions"][0]["first_offset"] == 1, 20, "expired record")
        self.assertEqual(json.loads(self.daemon.post("/api/v1/topics/t/aging/records", '{"payload": "b"}')[2])["partitions"][0]["base_offset"], 1)

    def test_a_purge_takes_every_record_and_offsets_go_on(self):
        self.assertEqual(self.daemon.post("/api/v1/topics", '{"name": "t/purged"}')[0], 201)
        self.assertEqual(self.daemon.post("/api/v1/topics/t/purged/records", '{"payload": "a"}\n{"payload": "b"}\n', "application/x-ndjson")[0], 200)
        status, _, text = self.daemon.post("/api/v1/topics/t/purged/purge")
        topic = json.loads(text)
        self.assertEqual((status, topic["purged"], topic["partitions"][0]["first_offset"], topic["partitions"][0]["next_offset"]), (200, 2, 2, 2))
        self.assertEqual(self.daemon.http("GET", "/api/v1/topics/t/purged/records?offset=0")[0], 409)
        self.assertEqual(json.loads(self.daemon.post("/api/v1/topics/t/purged/records", '{"payload": "c"}')[2])["partitions"][0]["base_offset"], 2)
        self.assertEqual(json.loads(self.daemon.post("/api/v1/topics/t/purged/purge")[2])["purged"], 1)
        self.assertEqual(self.daemon.post("/api/v1/topics/t/purged/purge", '{"partition": 0}')[0], 400)
        self.assertEqual(self.daemon.post("/api/v1/topics/t/nowhere/purge")[0], 404)

    def test_audit_state_and_why(self):
        audit = self.daemon.get("/api/v1/connectors/drain/audit")
        self.assertTrue(audit["consistent"])
        self.assertEqual(sum(p["committed"]["delivered"] for p in audit["partitions"]), 500)
        state = self.daemon.get("/api/v1/connectors/numbers/state")["state"]
        self.assertEqual(state["in"], 500)
        why = self.daemon.get("/api/v1/connectors/drain/why")
        self.assertEqual((why["state"], why["waiting"]), ("running", []))

    def test_dead_letters_of_a_healthy_connector_are_none(self):
        self.assertEqual(self.daemon.get("/api/v1/connectors/drain/dead-letters")["dead_letters"], [])
        self.assertEqual(self.daemon.http("GET", "/api/v1/connectors/drain/dead-letters/0")[0], 404)


if __name__ == "__main__":
    main()
