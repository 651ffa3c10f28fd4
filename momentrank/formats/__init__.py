"""File formats of qrels and runs: reading, writing and validation."""

from momentrank.formats.read import load_qrels, load_run, read_qrels, read_run
from momentrank.formats.registry import QRELS_FORMATS, RUN_FORMATS
from momentrank.formats.source import FormatError
from momentrank.formats.text import TIMES
from momentrank.formats.validate import Description, describe
from momentrank.formats.write import QRELS_WRITTEN, RUNS_WRITTEN, write_qrels, write_run

__all__ = [
    "QRELS_FORMATS",
    "QRELS_WRITTEN",
    "RUNS_WRITTEN",
    "RUN_FORMATS",
    "TIMES",
    "Description",
    "FormatError",
    "describe",
    "load_qrels",
    "load_run",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]
