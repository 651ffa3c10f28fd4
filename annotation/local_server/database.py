"""The PostgreSQL database that keeps the server's answers, in place of SQLite.

    LABEL_STUDIO_DATABASE=postgresql://user@host:5432/name?sslmode=require
    LABEL_STUDIO_DATABASE=postgresql://user@/name?host=/var/run/postgresql     # a socket
    LABEL_STUDIO_DATABASE_PASSWORD=...

They are read from the environment, else from `.env`. The password may be part of the address, or in
PGPASSWORD; `.env` keeps it apart, so the address can be printed.
"""

import os
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from annotation.label_studio import settings
from annotation.local_server.layout import ServerError

URL, PASSWORD = "LABEL_STUDIO_DATABASE", "LABEL_STUDIO_DATABASE_PASSWORD"
SCHEMES = {"postgresql", "postgres"}
PORT = 5432
SSL, HOST = "sslmode", "host"
EXPECTED = (
    f"{URL}: expected postgresql://user@host:{PORT}/name, or"
    f" postgresql://user@/name?{HOST}=FOLDER for a socket; besides, only ?{SSL}= is allowed"
)


class Database(NamedTuple):
    """A PostgreSQL database: its address without the password, and Label Studio's settings."""

    address: str
    settings: dict[str, str]

    def __repr__(self) -> str:
        return f"Database({self.address!r})"

    @property
    def password(self) -> str:
        """The password of its user; empty if none is needed."""
        return self.settings["POSTGRE_PASSWORD"]


def parse(text: str) -> Database:
    """Return the database of an address.

    Raises:
        ServerError: it is not a PostgreSQL address; the message repeats none of it.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port or PORT
    except ValueError:
        raise ServerError(EXPECTED) from None
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    user, host, name = parts.username, options.get(HOST) or parts.hostname, parts.path[1:]
    if parts.scheme not in SCHEMES or not (user and host and name) or options.keys() - {SSL, HOST}:
        raise ServerError(EXPECTED)
    password = unquote(parts.password or "") or settings.value(PASSWORD)
    return Database(
        parts._replace(netloc=f"{user}@{parts.netloc.rpartition('@')[2]}").geturl(),
        {
            "DJANGO_DB": "default",
            "POSTGRE_HOST": host,
            "POSTGRE_PORT": str(port),
            "POSTGRE_NAME": unquote(name),
            "POSTGRE_USER": unquote(user),
            "POSTGRE_PASSWORD": password or os.environ.get("PGPASSWORD", ""),
            **({"PGSSLMODE": options[SSL]} if SSL in options else {}),
        },
    )


def configured() -> Database | None:
    """Return the database that the environment or `.env` names; None for SQLite.

    Raises:
        ServerError: the address is not valid.
    """
    text = settings.value(URL)
    return parse(text) if text else None


def remember(database: Database) -> None:
    """Write address and password into `.env`, which only its owner can read."""
    settings.write({URL: database.address, PASSWORD: database.password})
