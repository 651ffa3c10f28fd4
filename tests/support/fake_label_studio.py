"""Label Studio's way to a port, in a tenth of a second: it looks, moves on if need be, and listens.

What it should meet on the way is written in the file `fate` of its folder:
`rival before look`, `rival before listen`, or `broken` and what is said then. The rival is another
program on its port.
"""

import json
import os
import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path

RIVAL = """
import socket, sys, time
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
time.sleep(60)
"""


def is_taken(port):
    with socket.socket() as visitor:
        return visitor.connect_ex(("127.0.0.1", port)) == 0


def let_a_rival_in(when, port):
    fate = Path("fate")
    if fate.exists() and fate.read_text() == f"rival before {when}":
        fate.unlink()
        rival = subprocess.Popen([sys.executable, "-c", RIVAL, str(port)], start_new_session=True)
        Path("rival").write_text(str(rival.pid))
        while not is_taken(port):
            time.sleep(0.01)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        authorized = self.headers["Authorization"] == f"Token {TOKEN}"
        self.send_response(200 if authorized else 401)
        self.end_headers()
        if self.path == "/api/version/" and Path("release").exists():
            self.wfile.write(json.dumps({"release": Path("release").read_text()}).encode())


if __name__ == "__main__":
    words = sys.argv[3:]  # without: PYTHON -I embedded.py
    with Path("starts").open("a") as starts:
        starts.write(" ".join(words) + "\n")
    options = dict(pairwise(words))
    if words[0] != "start":
        sys.exit()
    if Path("fate").exists() and Path("fate").read_text().startswith("broken"):
        sys.exit(Path("fate").read_text())
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0.1")))
    token = Path(options["--data-dir"], "token")
    if not token.exists():
        token.write_text(os.environ["LABEL_STUDIO_USER_TOKEN"])
    TOKEN = token.read_text()
    token.with_name("label_studio.sqlite3").touch()
    port = int(options["-p"])
    let_a_rival_in("look", port)
    while is_taken(port):
        port += 1
    let_a_rival_in("listen", port)
    try:
        server = HTTPServer(("127.0.0.1", port), Handler)
    except OSError:
        sys.stderr.write("Error: That port is already in use.\n")
        sys.exit(1)
    server.serve_forever()
