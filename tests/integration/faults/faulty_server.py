# SPDX-License-Identifier: Apache-2.0
"""An HTTP back end that misbehaves as told: by phase (down, unauthorized, resetting, hanging) and by record (poison with a status of its own)."""
import json
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crash"))
from quiet_server import QuietHandler, QuietServer  # noqa: E402


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

        class Handler(QuietHandler):
            def do_POST(self):
                owner.answer(self, self.read_body())

        self.server = QuietServer(Handler)
        self.url = self.server.url

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
            return handler.answer(503, {"Retry-After": "1"})
        if phase == "unauthorized":
            return handler.answer(401)
        records = self.records(handler, body)
        for _, payload in records:
            if "poison" in payload:
                return handler.answer(payload["poison"])
        with self.lock:
            for record_id, _ in records:
                self.taken[record_id] = self.taken.get(record_id, 0) + 1
        return handler.answer(200)

    @staticmethod
    def records(handler, body):
        """(id, payload) of each record of the request, whatever the mode."""
        key = handler.headers.get("Idempotency-Key")
        if key is not None:
            return [(key, json.loads(body))]
        text = body.decode()
        envelopes = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]
        return [(e["id"], e["payload"] if isinstance(e["payload"], dict) else json.loads(e["payload"])) for e in envelopes]

    def stop(self):
        self.set_phase("ok")
        self.server.stop()
