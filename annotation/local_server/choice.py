"""The choice of a PostgreSQL database: kept in `.env`, and never changed silently."""

import os
import sys

from annotation.label_studio import settings
from annotation.local_server import database, sqlite
from annotation.local_server.layout import DATABASE, ServerError
from annotation.local_server.process import find


def choose(text: str) -> None:
    """Keep the address of a PostgreSQL database in `.env`, for this start and all later ones.

    Raises:
        ServerError: it is not an address, or this would abandon answers that are kept elsewhere.
    """
    chosen, own = database.parse(text), settings.read().get(database.URL)
    if own and database.parse(own).place != chosen.place:
        raise ServerError(
            f"this folder's server keeps its answers in {database.parse(own).url}, which"
            f" {chosen.url} would abandon; to do so, remove {database.URL} from"
            f" {settings.ENV}"
        )
    if not own:
        _refuse_to_leave_sqlite(chosen)
    database.remember(chosen)


def _refuse_to_leave_sqlite(chosen: database.Database) -> None:
    if DATABASE.is_file() and (answers := sqlite.count_answers(DATABASE, DATABASE)):
        raise ServerError(
            f"this folder's server has {answers:,} answers in {DATABASE}, which {chosen.url} would"
            " abandon; to do so, move that file away"
        )
    if find() is not None:
        raise ServerError(
            "the server runs on SQLite; stop it: python -m annotation.server stop, then try again"
        )


def hide_password(text: str | None) -> None:
    """Run this command again without a password in its arguments.

    Every user of the machine can see a command's arguments, but nobody else its environment.
    """
    if not text or not database.has_password(text):
        return
    typed = database.parse(text)
    words = [word.replace(text, typed.url) for word in sys.orig_argv[1:]]
    environment = {**os.environ, database.PASSWORD: typed.password}
    os.execve(sys.executable, [sys.executable, *words], environment)  # noqa: S606  (ourselves)
