"""Where the server keeps its answers: SQLite in its folder, or the PostgreSQL that `.env` names.

    LABEL_STUDIO_DATABASE=postgresql://user@host:5432/name?sslmode=require
    LABEL_STUDIO_DATABASE=postgresql://user@/name?host=/var/run/postgresql
    LABEL_STUDIO_DATABASE_PASSWORD=...

The second is PostgreSQL's socket on this machine, in that folder.

The address contains no password, so it can be printed. The password is taken from the address as
typed, else from the environment, else from `.env`, and is stored only in `.env`.
"""

import os
from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from annotation.label_studio import settings
from annotation.local_server.layout import ServerError

URL, PASSWORD = "LABEL_STUDIO_DATABASE", "LABEL_STUDIO_DATABASE_PASSWORD"
SCHEMES = {"postgresql", "postgres"}
PORT = 5432
SSL, HOST = "sslmode", "host"


class Database(NamedTuple):
    """A PostgreSQL database, and the user who opens it."""

    host: str
    port: int
    name: str
    user: str
    password: str
    ssl: str | None = None

    def __repr__(self) -> str:
        return f"Database({self.url!r})"

    @property
    def url(self) -> str:
        """Its address, without the password."""
        socket = {HOST: self.host} if self.host.startswith("/") else {}
        host = "" if socket else f"[{self.host}]" if ":" in self.host else self.host
        options = urlencode({**socket, **({SSL: self.ssl} if self.ssl else {})}, safe="/")
        path = quote(self.name, safe="") + (f"?{options}" if options else "")
        return f"postgresql://{quote(self.user, safe='')}@{host}:{self.port}/{path}"

    @property
    def place(self) -> tuple[str, int, str]:
        """What identifies the database: host, port and name."""
        return self.host, self.port, self.name

    @property
    def label_studio_environment(self) -> dict[str, str]:
        """The settings with which Label Studio opens it."""
        return {
            "DJANGO_DB": "default",
            "POSTGRE_HOST": self.host,
            "POSTGRE_PORT": str(self.port),
            "POSTGRE_NAME": self.name,
            "POSTGRE_USER": self.user,
            "POSTGRE_PASSWORD": self.password,
            **self._ssl,
        }

    @property
    def client_environment(self) -> dict[str, str]:
        """The settings with which PostgreSQL's own programs open it."""
        return {
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGDATABASE": self.name,
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            **self._ssl,
        }

    @property
    def _ssl(self) -> dict[str, str]:
        return {"PGSSLMODE": self.ssl} if self.ssl else {}


def parse(text: str) -> Database:
    """Return the database of an address; its password may come from the environment or `.env`.

    Raises:
        ServerError: it is not a PostgreSQL address; the message repeats none of it.
    """
    try:
        parts = urlsplit(text.strip())
        port, options = parts.port or PORT, parse_qs(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        raise _address_error("is not an address") from None
    if parts.scheme not in SCHEMES:
        raise _address_error("is not a PostgreSQL address")
    name = unquote(parts.path.removeprefix("/"))
    if unknown := options.keys() - {SSL, HOST}:
        raise _address_error(
            f"has unknown options {sorted(unknown)}; only {SSL} and {HOST} are allowed"
        )
    host = parts.hostname or options.get(HOST, [""])[0]
    if HOST in options and (parts.hostname or not host.startswith("/")):
        raise _address_error(f"?{HOST}= must be the folder of a socket, without another host")
    if not (host and parts.username and name) or "/" in name:
        raise _address_error("needs a user, a host and a database name")
    return Database(
        host=host,
        port=port,
        name=name,
        user=unquote(parts.username),
        password=unquote(parts.password or "") or _known_password(),
        ssl=options.get(SSL, [None])[0],
    )


def _known_password() -> str:
    return settings.value(PASSWORD) or os.environ.get("PGPASSWORD", "")


def _address_error(problem: str) -> ServerError:
    return ServerError(f"{URL}: {problem}; expected postgresql://user@host:{PORT}/name")


def has_password(text: str) -> bool:
    """Return whether an address contains a password."""
    try:
        return bool(urlsplit(text).password)
    except ValueError:
        return False


def configured() -> Database | None:
    """Return the database named in the environment or `.env`; None for SQLite.

    Raises:
        ServerError: the address is not valid.
    """
    text = settings.value(URL)
    return parse(text) if text else None


def remember(database: Database) -> None:
    """Write address and password into `.env`, which only its owner can read."""
    settings.write({URL: database.url, PASSWORD: database.password})
