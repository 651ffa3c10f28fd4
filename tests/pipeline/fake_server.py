"""A local HTTP server with faults: what fake hubs and archives stand on."""

import contextlib
import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Answer(NamedTuple):
    """What a server says: status, body, headers."""

    status: int
    body: bytes = b""
    headers: dict = {}  # noqa: RUF012  (never changed)


def as_json(value, status=200, **headers) -> Answer:
    return Answer(
        status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers}
    )


class FakeServer:
    """Answers requests by `answer(method, path, query, body, headers)` of a subclass.

    `faults` are `[pattern of "METHOD path", what, how often]`: a status, `cut` before the request
    is served, `lost` after it, `wrong` for other bytes in the answer.
    """

    def __init__(self) -> None:
        self.faults, self.requests, self.lock = [], [], threading.RLock()
        self.gate = None  # called with "METHOD path" before a request is served
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Handler,), {"fake": self}))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def fail(self, pattern, what, times=1) -> None:
        self.faults.append([pattern, what, times])

    def take_fault(self, request):
        with self.lock:
            for fault in self.faults:
                if fault[2] > 0 and re.search(fault[0], request):
                    fault[2] -= 1
                    return fault[1]
        return None

    def count(self, pattern) -> int:
        return sum(bool(re.search(pattern, request)) for request in self.requests)


class Handler(BaseHTTPRequestHandler):
    fake: FakeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm, wbufsize = True, -1  # an answer is one packet

    def serve(self) -> None:
        body = self._body()
        path, _, query = self.path.partition("?")
        request = f"{self.command} {path}"
        self.fake.requests.append(request)
        if self.fake.gate:
            self.fake.gate(request)
        fault = self.fake.take_fault(request)
        if fault == "cut":
            return self._cut()
        if isinstance(fault, Answer):
            return self._send(fault)
        with self.fake.lock:
            answer = self.fake.answer(self.command, path, query, body, self.headers)
        if fault == "lost":
            return self._cut()
        if fault == "wrong":
            answer = answer._replace(body=answer.body[:-1] + b"?")
        return self._send(answer)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _cut(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, answer) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, *args) -> None:
        pass

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            super().handle()


for _method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
    setattr(Handler, f"do_{_method}", Handler.serve)
