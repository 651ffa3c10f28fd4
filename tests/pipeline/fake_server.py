"""A local HTTP server with faults: what the fake hub and the fake Zenodo stand on."""

import re
import socket
import threading
from typing import ClassVar

from werkzeug import Request, Response
from werkzeug.serving import WSGIRequestHandler, make_server


def as_json(value, status=200, **headers) -> Response:
    response = Response(status=status, headers=headers, content_type="application/json")
    response.data = response.json_module.dumps(value)
    return response


class FakeServer:
    """Answers by the first of `routes`, {pattern of "METHOD path": method}, which fits a request.

    `faults` are `[pattern of "METHOD path", what, how often]`: a response or its status, `cut`
    before the request is served, `lost` after it, `wrong` for other bytes in the answer.
    """

    routes: ClassVar = {}

    def __init__(self) -> None:
        self.faults, self.requests, self.lock = [], [], threading.RLock()
        self.gate = None  # called with "METHOD path" before a request is served
        self.server = make_server("127.0.0.1", 0, self.serve, True, request_handler=Quiet)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def fail(self, pattern, what, times=1) -> None:
        self.faults.append([pattern, what, times])

    def count(self, pattern) -> int:
        return sum(bool(re.search(pattern, request)) for request in self.requests)

    @Request.application
    def serve(self, request) -> Response:
        line = f"{request.method} {request.path}"
        request.get_data()  # all of it is read, whatever becomes of it
        self.requests.append(line)
        if self.gate:
            self.gate(line)
        with self.lock:
            fault = self._take_fault(line)
            if isinstance(fault, Response):
                return fault
            if isinstance(fault, int):
                return Response("{}", fault)
            answer = None if fault == "cut" else self._answer(line, request)
        if fault in {"cut", "lost"}:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionError  # nothing is sent
        if fault == "wrong":
            answer.data = answer.data[:-1] + b"?"
        return answer

    def refuse(self, line, request) -> Response | None:
        """Return the answer to a request without a token; None if it has one."""

    def _answer(self, line, request) -> Response:
        if refusal := self.refuse(line, request):
            return refusal
        for pattern, act in self.routes.items():
            if at := re.fullmatch(pattern, line):
                return act(self, at, request)
        return as_json({"message": f"there is no {line}"}, 404)

    def _take_fault(self, line):
        for fault in self.faults:
            if fault[2] > 0 and re.search(fault[0], line):
                fault[2] -= 1
                return fault[1]
        return None


class Quiet(WSGIRequestHandler):
    def log(self, *args) -> None:
        pass
