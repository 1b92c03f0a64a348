# SPDX-License-Identifier: Apache-2.0
"""An HTTP back end that misbehaves as told: by phase (down, unauthorized, resetting, hanging) and by record (poison with a status of its own)."""
import http.server
import json
import socket
import socketserver
import struct
import threading


class FaultyServer:
    """`phase` is one of ok, busy, unauthorized, reset, hang. A record whose payload says {"poison": 4xx} is refused with that status, and so is
    every request that holds one. Everything that was taken is in `taken`: record id -> number of times."""

    def __init__(self):
        self.lock = threading.Lock()
        self.phase = "ok"
        self.taken = {}
        self.requests = 0
        self.released = threading.Event()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.answer(self, body)

            def log_message(self, *arguments):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/records"
        self.thread = threading.Thread(target=self.server.serve_forever, name="faulty-server")
        self.thread.start()

    def set_phase(self, phase):
        with self.lock:
            self.phase = phase
        if phase != "hang":
            self.released.set()
            self.released = threading.Event()

    def answer(self, handler, body):
        with self.lock:
            phase = self.phase
            self.requests += 1
            released = self.released
        if phase == "hang":
            released.wait(60)
            handler.close_connection = True
            return
        if phase == "reset":
            # Linger of zero: the peer sees a reset and not an orderly end.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.close_connection = True
            handler.connection.close()
            return
        if phase == "busy":
            return self.reply(handler, 503, {"Retry-After": "1"})
        if phase == "unauthorized":
            return self.reply(handler, 401)
        records = self.records(handler, body)
        for _, payload in records:
            if "poison" in payload:
                return self.reply(handler, payload["poison"])
        with self.lock:
            for record_id, _ in records:
                self.taken[record_id] = self.taken.get(record_id, 0) + 1
        return self.reply(handler, 200)

    @staticmethod
    def records(handler, body):
        """(id, payload) of each record of the request, whatever the mode."""
        key = handler.headers.get("Idempotency-Key")
        if key is not None:
            return [(key, json.loads(body))]
        text = body.decode()
        envelopes = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]
        return [(e["id"], e["payload"] if isinstance(e["payload"], dict) else json.loads(e["payload"])) for e in envelopes]

    @staticmethod
    def reply(handler, status, headers=()):
        handler.send_response(status)
        for name in headers:
            handler.send_header(name, headers[name])
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def stop(self):
        self.set_phase("ok")
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
