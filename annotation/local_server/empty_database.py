"""Create Label Studio's tables in a data folder.

    PYTHON -I empty_database.py --data-dir FOLDER

A program of its own, which runs in Label Studio's environment and imports nothing of ours. Django
builds its models again at each of some 260 migrations. To look for garbage among them as often as
Python does takes a quarter of the time; never to look takes a gigabyte.
"""

import gc
import sys
from importlib import import_module

ALLOCATIONS = 1_000_000
"""Between two collections of garbage."""


def main() -> None:
    """Let Label Studio create its tables, as each of its commands does first."""
    server = import_module("label_studio.server")
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, 2, 2)
    sys.argv = ["label-studio", "version", *sys.argv[1:]]
    server.main()


if __name__ == "__main__":
    main()
