"""Run Label Studio on SQLite: one process of Django's own server.

    PYTHON -I embedded.py start --no-browser --internal-host HOST -p PORT --data-dir FOLDER
    PYTHON -I embedded.py version --data-dir FOLDER     # create its tables only

It is Label Studio's own command, in its environment, and imports none of our code. Before it
creates its tables, `migrations.py`, next to this file, makes that faster; before it serves,
`shortcuts.py` makes its answers faster. As in plain Label Studio, a request is not one transaction;
those that it begins wait for other writers (`WRITING`).
"""

import gc
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MIGRATIONS = Path(__file__).with_name("migrations.py")
SHORTCUTS = Path(__file__).with_name("shortcuts.py")
SERVING = (10_000, 10, 10)
"""Garbage collection thresholds while it answers: Python's 700 is less than one answer makes."""

CONNECTED_SECONDS = 60
"""How long a thread keeps its connection: a new one reads the whole schema again."""
WRITING = {"transaction_mode": "IMMEDIATE", "timeout": 60}  # seconds
"""A transaction waits for other writers when it begins. By default it begins by reading, and its
first write fails at once ("database is locked") if someone else has written in between."""


def main() -> None:
    """Run Label Studio, and prepare to serve once its tables and first user exist."""
    program: Any = import_module("label_studio.server")
    run = program._app_run

    def prepare_and_run(**where: object) -> None:
        prepare()
        run(**where)

    program._app_run = prepare_and_run
    runpy.run_path(str(MIGRATIONS))["speed_up"]()
    sys.argv[0] = "label-studio"
    program.main()


def prepare() -> None:
    """Install the shortcuts, keep connections, and exempt existing objects from collection."""
    import_module("core.wsgi")
    connections = import_module("django.db").connections
    database = connections.settings["default"]
    database["CONN_MAX_AGE"] = CONNECTED_SECONDS
    database["OPTIONS"] |= WRITING
    runpy.run_path(str(SHORTCUTS))["install"]()
    connections.close_all()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SERVING)


if __name__ == "__main__":
    main()
