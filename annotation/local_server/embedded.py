"""Run Label Studio on SQLite: one process of Django's own server.

    PYTHON -I embedded.py start --no-browser --internal-host HOST -p PORT --data-dir FOLDER
    PYTHON -I embedded.py version --data-dir FOLDER     # create its tables only

Label Studio's own command, in its environment; imports nothing of ours. Before it serves,
`shortcuts.py`, beside this file, makes its answers shorter. Requests are no transactions, as Label
Studio leaves it: one of SQLite that first reads and then writes would fail where somebody else
wrote in between.
"""

import gc
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

SHORTCUTS = Path(__file__).with_name("shortcuts.py")
SETTING_UP = (1_000_000, 2, 2)
"""Between two collections of garbage as the tables are made: Django builds its models again at each
of some 260 migrations. To look for garbage as often as Python does takes a quarter of the time;
never to look takes a gigabyte."""
SERVING = (10_000, 10, 10)
"""The same as it answers: Python's 700 is less than one answer makes."""

CONNECTED_SECONDS = 60
"""A thread keeps its connection so long: a new one reads the whole schema again."""


def main() -> None:
    """Be Label Studio, and prepare to serve once its tables and its first user are there."""
    program: Any = import_module("label_studio.server")
    run = program._app_run

    def prepare_and_run(**where: object) -> None:
        prepare()
        run(**where)

    program._app_run = prepare_and_run
    gc.freeze()
    gc.set_threshold(*SETTING_UP)
    sys.argv[0] = "label-studio"
    program.main()


def prepare() -> None:
    """Put the shortcuts in place, keep connections, and leave what is there out of collections."""
    import_module("core.wsgi")
    connections = import_module("django.db").connections
    connections.settings["default"]["CONN_MAX_AGE"] = CONNECTED_SECONDS
    runpy.run_path(str(SHORTCUTS))["install"]()
    connections.close_all()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SERVING)


if __name__ == "__main__":
    main()
