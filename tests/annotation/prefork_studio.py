"""Label Studio's server without the seconds in which each imports its libraries; see prefork.py.

The process has imported Django and other libraries, none of them after a look at the settings: a
forked server makes its own, of the environment that it was started with. Its caller holds the
socket on which it listens, and so is found as the server's process; who kills the caller kills it.
Passwords are hashed with fewer rounds: each of Django's takes a fifth of a second. SQLite does not
wait for the disk: what is killed here is a process, not the machine. YAML is parsed in C, not in
Python: the file of feature flags takes a quarter of a start.

    PYTHON prefork_studio.py SOCKET     # in Label Studio's environment
"""

import array
import importlib
import runpy
import socket
import socketserver
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])
from prefork import Server, serve  # noqa: E402

LIBRARIES = (
    "boto3.resources.factory", "botocore.handlers", "google.cloud.storage", "google.auth", "nltk",
    "pandas", "smart_open", "jsf", "label_studio_sdk.converter", "label_studio_sdk.label_interface",
    "openai", "user_agents", "ldclient", "azure.storage.blob", "redis", "rq", "sentry_sdk",
    "lxml.etree", "requests", "jsonschema", "jinja2", "psycopg", "tldextract",
    "wsgiref.simple_server", "django.db.models", "django.db.migrations.executor",
    "django.db.backends.sqlite3.base", "django.http", "django.core.wsgi", "django.core.management",
    "django.core.servers.basehttp", "django.contrib.admin", "django.contrib.auth.hashers",
    "django.contrib.staticfiles", "rest_framework", "drf_spectacular", "django_filters",
)  # fmt: skip
ROUNDS = 1000


class StudioServer(Server):
    """Forks servers."""

    def run(self, channel: socket.socket, order: dict) -> None:
        """Be Label Studio; its caller gets the socket on which it listens."""
        activate = socketserver.TCPServer.server_activate

        def listen(server: socketserver.TCPServer) -> None:
            activate(server)
            descriptors = array.array("i", [server.fileno()])
            channel.sendmsg([bytes(4)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
            channel.close()

        socketserver.TCPServer.server_activate = listen
        importlib.import_module(
            "django.contrib.auth.hashers"
        ).PBKDF2PasswordHasher.iterations = ROUNDS
        yaml = importlib.import_module("yaml")
        yaml.SafeLoader = yaml.CSafeLoader
        sqlite = importlib.import_module("django.db.backends.sqlite3.base").DatabaseWrapper
        connect = sqlite.get_new_connection

        def connect_without_waiting(wrapper: object, settings: dict) -> object:
            connection = connect(wrapper, settings)
            connection.execute("pragma synchronous = off")
            return connection

        sqlite.get_new_connection = connect_without_waiting
        sys.argv = order["words"][1:]
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    serve(StudioServer, LIBRARIES)
