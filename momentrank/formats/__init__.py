"""File formats of qrels and runs: reading, writing and validation.

Names are imported on first use: who scores does not load what writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from momentrank.formats.lines.reader import TIMES
    from momentrank.formats.read import (
        load_qrels,
        load_run,
        load_tasks,
        load_truth,
        read_qrels,
        read_run,
    )
    from momentrank.formats.registry import CONVENTIONS, QRELS_FORMATS, RUN_FORMATS
    from momentrank.formats.source import FormatError
    from momentrank.formats.truth import Truth
    from momentrank.formats.validate import Description, describe
    from momentrank.formats.videos import read_corpus
    from momentrank.formats.write import (
        QRELS_WRITTEN,
        RUNS_WRITTEN,
        convert,
        write_qrels,
        write_run,
    )

__all__ = [
    "CONVENTIONS",
    "QRELS_FORMATS",
    "QRELS_WRITTEN",
    "RUNS_WRITTEN",
    "RUN_FORMATS",
    "TIMES",
    "Description",
    "FormatError",
    "Truth",
    "convert",
    "describe",
    "load_qrels",
    "load_run",
    "load_tasks",
    "load_truth",
    "read_corpus",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]
_MODULES = {
    **dict.fromkeys(("load_qrels", "load_run", "load_tasks", "load_truth"), "read"),
    **dict.fromkeys(("read_qrels", "read_run"), "read"),
    **dict.fromkeys(("CONVENTIONS", "QRELS_FORMATS", "RUN_FORMATS"), "registry"),
    "FormatError": "source",
    "TIMES": "lines.reader",
    "Truth": "truth",
    "read_corpus": "videos",
    **dict.fromkeys(("Description", "describe"), "validate"),
}


def __getattr__(name: str) -> object:
    """Import a name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'write')}"), name)
