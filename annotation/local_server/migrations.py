"""Create Label Studio's tables in less time.

Django rebuilds its models of them at each of some 400 migrations. `workers.py` and `embedded.py`
run this file in Label Studio's environment before they start; it imports none of our code.
"""

import gc
from importlib import import_module
from typing import Any

THRESHOLDS = (1_000_000, 2, 2)
"""Garbage collection thresholds meanwhile, for 0.6 GB at the peak: with Python's own, it takes an
eighth longer; without any collection, 1.1 GB."""


def speed_up() -> None:
    """Collect garbage rarely, and rebuild fewer models after each change."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    rebuild_neighbors_only()


def rebuild_neighbors_only() -> None:
    """Rebuild only the neighbors of a changed model, whatever the change.

    Django does this itself unless a relation has changed, and always rebuilds all models before a
    migration reads or moves rows.
    """
    state: Any = import_module("django.db.migrations.state").ProjectState
    reload_model = state.reload_model

    def reload_neighbors(self: object, *model: str, **_: bool) -> None:
        reload_model(self, *model, delay=True)

    state.reload_model = reload_neighbors
