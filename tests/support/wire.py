"""A proxy before a server, which lets a chosen request fail: before, while or after it is done."""

import contextlib
import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit

WRITES = {"POST", "PATCH", "PUT", "DELETE"}
LATE_SECONDS = 3.0
DROPPED = ("connection", "keep-alive", "transfer-encoding", "content-length")


class Fault(NamedTuple):
    """What happens to the n-th write (or other request), from 1.

    `before`: the server never sees it; `late`: the victim is killed, and only LATE_SECONDS later
    the server sees it; `during`: the victim is killed as the server works on it;
    `after`: the victim is killed when the server has done it; `drop`: nobody is killed, the
    answer is lost.
    """

    write: int
    kind: str


class Wire:
    """The proxy: its address, the fault to come, and whether that came."""

    def __init__(self, target: str) -> None:
        self.target = urlsplit(target)
        self._writes, self._lock = 0, threading.Lock()
        self._fault, self._kill = None, threading.Event()
        self.victim, self.struck = None, False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.wire = self
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def arm(self, fault: Fault, methods=frozenset(WRITES)) -> None:
        """Let a request to come fail."""
        self._writes, self._fault, self.struck = 0, fault, False
        self._methods = methods
        self._kill.clear()

    def aim(self, child) -> None:
        """Say who is killed."""
        self.victim = child
        self._kill.set()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fault_of(self, method: str) -> str | None:
        if self._fault is None or method not in self._methods:
            return None
        with self._lock:
            self._writes += 1
            struck = self._writes == self._fault.write
        self.struck |= struck
        return self._fault.kind if struck else None

    def kill(self) -> None:
        assert self._kill.wait(10)
        self.victim.kill()

    def forward(self, method, path, body, headers, sent):
        """Return the server's answer; `sent`, if any, is called when the request is on its way."""
        connection = http.client.HTTPConnection(self.target.hostname, self.target.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            if sent:
                sent()
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()


class Handler(BaseHTTPRequestHandler):
    """Passes a request on, or lets it fail."""

    @property
    def wire(self):
        return self.server.wire

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        fault = self.wire.fault_of(self.command)
        self.close_connection = True
        if fault in {"before", "late"}:
            self.wire.kill()
        if fault == "before":
            return
        if fault == "late":
            time.sleep(LATE_SECONDS)
        with contextlib.suppress(OSError, http.client.HTTPException):  # the server is gone
            answer = self._forward(body, self.wire.kill if fault == "during" else None)
            if fault == "after":
                self.wire.kill()
            if fault is None:
                self._send(*answer)

    def _forward(self, body, sent):
        headers = {k: v for k, v in self.headers.items() if k.lower() not in DROPPED}
        return self.wire.forward(self.command, self.path, body, headers, sent)

    def _send(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in DROPPED:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()


for _method in (*WRITES, "GET"):
    setattr(Handler, f"do_{_method}", Handler.pass_on)
