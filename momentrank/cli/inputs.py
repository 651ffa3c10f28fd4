"""What several verbs share: arguments, reading qrels and runs, and where numbers come from."""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from momentrank import __version__, formats
from momentrank.conventions import CONVENTIONS, PAPER, SH_EVAL
from momentrank.errors import UsageError
from momentrank.formats.text import Time
from momentrank.ids import IdError
from momentrank.measures import REGISTRY, Measure
from momentrank.scoring import Evaluator
from momentrank.segments import Floats, Segments

MANIFEST = "manifest.json"
PATH_LIKE = re.compile(r".*[/\\].*|[^(@]*\.[A-Za-z]\w*")
MEASURE_LIKE = re.compile(rf"({'|'.join(REGISTRY)})(\(.*\))?(@\d+)?", re.IGNORECASE)
MOST_DIGITS = 15
SHOWN = 3

PerQuery = dict[Measure, tuple[list[str], Floats]]


class Named(NamedTuple):
    """Arguments told apart: files of runs, and names of measures."""

    runs: list[Path]
    measures: list[str]


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add what says how files are read."""
    parser.add_argument("--qrels-format", choices=formats.QRELS_FORMATS, metavar="FORMAT",
                        help=f"insist on one of {', '.join(formats.QRELS_FORMATS)}")  # fmt: skip
    parser.add_argument("--run-format", choices=formats.RUN_FORMATS, metavar="FORMAT",
                        help=f"insist on one of {', '.join(formats.RUN_FORMATS)}")  # fmt: skip
    add_times(parser)


def add_times(parser: argparse.ArgumentParser) -> None:
    """Add what says how times and videos are written."""
    parser.add_argument("--time", choices=formats.TIMES,
                        help="times in text files; mm.ss: MediaEval's minutes.seconds"
                             " (the default of --convention sh-eval)")  # fmt: skip
    parser.add_argument("--corpus", type=Path, metavar="FILE",
                        help="video_corpus.json, for runs that name videos by index")  # fmt: skip


def add_convention(parser: argparse.ArgumentParser) -> None:
    """Add what says how measures are computed."""
    parser.add_argument("--convention", choices=CONVENTIONS, default=PAPER,
                        help="as the papers define (default), as the scorer released with"
                             " TVR-Ranking, or as MediaEval's script")  # fmt: skip


def add_printing(parser: argparse.ArgumentParser, form: str) -> None:
    """Add what says how measures are printed; `form` is that of the JSON."""
    parser.add_argument("--json", action="store_true", help=f"print JSON: {form}")
    parser.add_argument("--digits", type=digits, default=4, help="after the point (4)")
    parser.add_argument("--no-judged", action="store_true", help="no Judged beside nDCG")


def split_names(arguments: Sequence[str]) -> Named:
    """Tell files from measures: a file looks like one, or is there and not called as a measure.

    Raises:
        UsageError: a run is named twice.
    """
    is_run = [
        bool(PATH_LIKE.fullmatch(name))
        or (Path(name).exists() and not MEASURE_LIKE.fullmatch(name))
        for name in arguments
    ]
    runs = [Path(name) for name, yes in zip(arguments, is_run, strict=True) if yes]
    twice = {str(path) for path in runs if runs.count(path) > 1}
    if twice:
        raise UsageError(f"{min(twice)} is given twice")
    return Named(runs, [name for name, yes in zip(arguments, is_run, strict=True) if not yes])


def read_time_option(options: argparse.Namespace) -> Time:
    """Return how times are written."""
    usual: Time = "mm.ss" if getattr(options, "convention", "") == SH_EVAL else "seconds"
    chosen: Time | None = options.time
    return chosen or usual


def load_qrels(options: argparse.Namespace, path: Path) -> Segments:
    """Read qrels as the options say."""
    return formats.load_qrels(
        path, fmt=options.qrels_format, time=read_time_option(options), warn=warn
    )


def load_run(options: argparse.Namespace, path: Path, depth: int | None = None) -> Segments:
    """Read a run as the options say."""
    return formats.load_run(
        path,
        fmt=options.run_format,
        time=read_time_option(options),
        corpus=options.corpus,
        depth=depth,
        warn=warn,
    )


def load_for(options: argparse.Namespace, path: Path, evaluator: Evaluator) -> Segments:
    """Read a run as far as it is scored, and tell which queries are not in both files."""
    run = load_run(options, path, evaluator.depth)
    try:
        find_unmatched = evaluator.find_unmatched(run)
    except IdError as exc:
        raise formats.FormatError(f"{path}: {exc}") from exc
    lacking = zip(find_unmatched, ("run", "qrels"), ("qrels", "run"), strict=True)
    for names, lacks, has in lacking:
        if names:
            more = ", ..." if len(names) > SHOWN else ""
            shown = ", ".join(names[:SHOWN]) + more
            warn(f"{path}: queries of the {has} that the {lacks} lacks: {len(names)} ({shown})")
    return run


def warn(text: str) -> None:
    """Write a remark to standard error."""
    sys.stderr.write(f"momentrank: {text}\n")


def provenance(qrels: Path, convention: str) -> dict[str, str]:
    """Return where numbers come from: version, convention, and which qrels.

    Raises:
        UsageError: the qrels can't be read twice, to be scored and to be named.
    """
    if qrels.exists() and not qrels.is_file():
        raise UsageError(f"{qrels}: qrels must be a file, so that its SHA-256 can be reported")
    sha256 = hashlib.sha256(qrels.read_bytes()).hexdigest() if qrels.exists() else ""
    return {
        "momentrank": __version__,
        "convention": convention,
        "qrels": str(qrels),
        "qrels_sha256": sha256,
        "release": _release(qrels, sha256),
    }


def _release(qrels: Path, sha256: str) -> str:
    """Return the version of the release that qrels belong to, if the manifest names them."""
    for folder in (qrels.resolve().parent, qrels.resolve().parent.parent):
        try:
            text = (folder / MANIFEST).read_text(encoding="utf-8")
            version = json.loads(text)["version"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if sha256 in text:
            return str(version)
    return "unknown"


def header(source: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that tell above a table where its numbers come from."""
    return (f"# {name}: {value}\n" for name, value in source.items())


def digits(text: str) -> int:
    """Return a number of digits after the point."""
    if not text.isdecimal() or int(text) > MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"must be 0 to {MOST_DIGITS}, not {text!r}")
    return int(text)


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, its columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip() + "\n"


def number(value: float, digits: int, measure: Measure) -> str:
    """Return a value as it is shown; counts are whole."""
    counts = measure.NAME.startswith(("Num", "Videos"))
    return f"{value:.0f}" if counts else f"{value:.{digits}f}"
