# SPDX-License-Identifier: Apache-2.0
"""An HTTP server of a test: on loopback, a thread per connection, and silent about peers that go away."""
import http.server
import socketserver
import threading


class QuietHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def read_body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status, headers=None):
        """Without a body."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class _Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a killed daemon resets its connections


class QuietServer:
    """Serves from now on until stop(). `context`: an ssl.SSLContext, for https."""

    def __init__(self, handler, context=None):
        self.server = _Threads(("127.0.0.1", 0), handler)
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'http' if context is None else 'https'}://127.0.0.1:{self.server.server_port}/records"
        self.thread = threading.Thread(target=self.server.serve_forever, name="quiet-server")
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
