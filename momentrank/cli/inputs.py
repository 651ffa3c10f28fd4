"""Shared by the commands: arguments, reading qrels and runs, and where numbers come from."""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from momentrank import __version__, conventions, formats
from momentrank.cli import arguments, tables
from momentrank.cli.tables import Numbers
from momentrank.collection.declarations import declare_negatives, find_release
from momentrank.conventions import CONVENTIONS, PAPER
from momentrank.errors import UsageError
from momentrank.formats.read import Lists, RunOptions, Warn
from momentrank.formats.source import sha256_of
from momentrank.formats.text import Time
from momentrank.ids import reveal
from momentrank.measures import REGISTRY, Judged, Measure, nDCG
from momentrank.query_groups import Groups, group_queries
from momentrank.scoring import Evaluator, describe_left_out
from momentrank.significance import SEED

if TYPE_CHECKING:
    from momentrank.formats.validation import Description
    from momentrank.meta.votes import Judgments
    from momentrank.submission import Findings

UNKNOWN = "unknown"
"""The version of qrels that are in no release."""


def provenance(qrels: Path, convention: str, negatives: Path | None = None) -> dict[str, str]:
    if qrels.exists() and not qrels.is_file():
        raise UsageError(
            f"{qrels}: qrels must be a regular file, so that their SHA-256 can be reported"
        )
    sha256 = sha256_of(qrels) if qrels.exists() else ""
    release = find_release(qrels, sha256) if sha256 else None
    declared = {}
    if negatives and negatives.is_file():
        declared = {"negatives": str(negatives), "negatives_sha256": sha256_of(negatives)}
    return {
        "momentrank": __version__,
        "convention": convention,
        "qrels": str(qrels),
        "qrels_sha256": sha256,
        "release": release.version if release else UNKNOWN,
        **declared,
    }


def note_left_out(source: dict[str, str], evaluator: Evaluator) -> None:
    """Say in the header how many queries measures of relevance leave out, if any."""
    if evaluator.left_out:
        source["left_out"] = describe_left_out(evaluator)


PATH_LIKE = re.compile(r".*[/\\].*|[^(@]*\.[A-Za-z]\w*")
MEASURE_LIKE = rf"({'|'.join(REGISTRY)})(\(.*\))?(@\d+)?"


class Named(NamedTuple):
    """Arguments by kind: files of runs and names of measures."""

    runs: list[Path]
    measures: list[str]


def warn(text: str) -> None:
    sys.stderr.write(f"momentrank: {reveal(text)}\n")


def add_files(parser: argparse.ArgumentParser) -> None:
    for kind, names in (("qrels", formats.QRELS_FORMATS), ("run", formats.RUN_FORMATS)):
        choices = f"one of {', '.join(names)} (default: detected)"
        parser.add_argument(f"--{kind}-format", choices=names, metavar="FORMAT", help=choices)
    parser.add_argument("--time", choices=formats.TIMES,
                        help="unit of times in text files; mm.ss is MediaEval's minutes.seconds"
                             " (the default with --convention sh-eval)")  # fmt: skip
    parser.add_argument("--columns", metavar="NAMES",
                        help="the columns of a text file, in order: query_id, video_id, start, end,"
                             " and level, or rank and score; '-' is a column to skip")  # fmt: skip
    parser.add_argument("--corpus", type=Path, metavar="FILE",
                        help="video_corpus.json, for runs with video indices")  # fmt: skip
    parser.add_argument("--lenient", action="store_true",
                        help="count malformed results of a run as not relevant, as benchmarks'"
                             " scripts do, leave out judged moments that end before they start"
                             " (a query left without one is missed), and report how many"
                             " (default: an error)")  # fmt: skip


BY = (
    "also print values by group: a file of lines 'query_id group'; length:10,30 (of relevant"
    " moments, in seconds); or stratum or origin, as the release of QRELS has them"
)


def group(options: argparse.Namespace, evaluator: Evaluator) -> Groups:
    """Return the groups of queries that --by asks for; none without it."""
    return group_queries(options.by, evaluator.qrels, warn, options.qrels) if options.by else {}


def add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true",
                        help="first validate each whole run like `momentrank validate"
                             " --like CONVENTION`; no scores if one is invalid")  # fmt: skip


def add_judgments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judgments", type=Path, metavar="FILE",
                        help="level noise: raw_annotation.csv, whose votes are drawn again;"
                             " needs pairs.csv next to it, or pair_id in QRELS")  # fmt: skip


def load_judgments(options: argparse.Namespace, truth: formats.Truth) -> "Judgments | None":
    """Read raw judgments, if named; report what keeps its level."""
    if options.judgments is None:
        return None
    from momentrank.meta.votes import read_judgments

    raw = read_judgments(options.judgments, truth.segments, options.qrels)
    drawn = sum(len(votes.row) for votes in raw.votes)
    warn(
        f"{options.judgments}: judged moments with votes drawn again: {drawn}; with their level"
        f" kept: {raw.without} without two or four votes, {raw.other} with a level that is not"
        " the rule's"
    )
    return raw


def add_negatives(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--negatives", type=Path, metavar="FILE",
                        help="queries that have no relevant moment, one id a line; those that the"
                             " release of QRELS declares are known")  # fmt: skip


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=arguments.parse_non_negative, default=SEED, metavar="N",
                        help=f"random seed, 0 or more (default: {SEED})")  # fmt: skip


def add_convention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--convention", choices=CONVENTIONS, metavar="NAME",
                        help="compute as each measure's paper does (default: paper), or as a"
                             " benchmark's or a paper's own script:"
                             f" {', '.join(CONVENTIONS)}")  # fmt: skip


def convention_of(options: argparse.Namespace) -> str:
    return getattr(options, "convention", None) or PAPER


def add_printing(parser: argparse.ArgumentParser, form: str) -> None:
    parser.add_argument("--format", choices=tables.FORMATS,
                        help="markdown and latex for papers; csv has a row per value")  # fmt: skip
    parser.add_argument("--json", action="store_const", const="json", dest="format",
                        help=f"the same as --format json: {form}")  # fmt: skip
    parser.add_argument("--percent", action="store_true", help="print shares in percent")
    parser.add_argument("--digits", type=arguments.parse_digits, metavar="N",
                        help="decimal places (default: 4, in percent 2)")  # fmt: skip
    parser.add_argument("--no-judged", action="store_true", help="do not add Judged to nDCG")


def numbers(options: argparse.Namespace) -> Numbers:
    usual = 2 if options.percent else 4
    return Numbers(usual if options.digits is None else options.digits, options.percent)


def split_names(arguments: Sequence[str]) -> Named:
    """Separate files from measures: files look like paths, or exist and are not measure names."""
    is_run = [
        bool(PATH_LIKE.fullmatch(name))
        or (Path(name).exists() and not re.fullmatch(MEASURE_LIKE, name, re.IGNORECASE))
        for name in arguments
    ]
    runs = [Path(name) for name, yes in zip(arguments, is_run, strict=True) if yes]
    twice = {str(path) for path in runs if runs.count(path) > 1}
    if twice:
        raise UsageError(f"{min(twice)} is given twice")
    return Named(runs, [name for name, yes in zip(arguments, is_run, strict=True) if not yes])


def add_judged(measures: Sequence[Measure]) -> list[Measure]:
    """Return measures with Judged next to every nDCG with a cutoff."""
    judged = [
        Judged(**{name: m.params[name] for name in ("iou", "strict") if name in m.params}) @ cutoff
        for m in measures
        if m.NAME == nDCG.NAME and (cutoff := m.params.get("cutoff"))
    ]
    return list(dict.fromkeys([*measures, *judged]))


def read_time_option(options: argparse.Namespace) -> Time:
    chosen: Time | None = options.time
    return chosen or conventions.get(convention_of(options)).time


def load_truth(options: argparse.Namespace, path: Path, *, by_people: bool = True) -> formats.Truth:
    """Read qrels as the options say; for a benchmark's, suggest its own convention.

    Those `by_people` agree with the declared negatives.
    """
    columns = options.columns
    truth = formats.load_truth(
        path,
        fmt=options.qrels_format,
        time=read_time_option(options),
        columns=columns if columns and "level" in columns else None,
        lenient=options.lenient,
        warn=warn,
        negative=conventions.get(convention_of(options)).negative,
    )
    given = getattr(options, "negatives", None)
    if by_people:
        negatives = conventions.get(convention_of(options)).check_negatives(given or ())
        truth = truth if negatives is None else declare_negatives(truth, path, negatives, warn)
    if options.corpus:
        lengths = {**truth.durations, **formats.read_corpus(options.corpus).durations}
        truth = replace(truth, read_durations=lambda: lengths)
    options.truth = truth  # in memory until the command ends
    official = formats.official_convention(truth)
    if official and getattr(options, "convention", official) is None:
        warn(f"{path}: for the official numbers of {truth.format} use --convention {official}")
    return truth


def run_options(options: argparse.Namespace, truth: formats.Truth | None) -> RunOptions:
    """Return how a run is read; `truth` is what it refers to."""
    return {
        "time": read_time_option(options),
        "columns": options.columns,
        "corpus": options.corpus,
        "truth": truth,
        "lenient": options.lenient,
        "negative": conventions.get(convention_of(options)).negative,
    }


def load_for(
    options: argparse.Namespace, path: Path, evaluator: Evaluator, truth: formats.Truth
) -> Lists:
    """Read the part of a run that is scored; warn about what it and the qrels don't share."""
    if getattr(options, "check", False):
        lists = _validate(options, path, truth)
        return evaluator.match(lambda *_: lists, str(path), warn)

    def read(depth: int | None, tell: Warn) -> Lists:
        how: RunOptions = {**run_options(options, truth), "fmt": options.run_format}
        how = {**how, "depth": depth, "warn": tell}
        return formats.load_lists(path, tasks=bool(evaluator.convention.tasks), **how)

    return evaluator.match(read, str(path), warn)


def examine(
    options: argparse.Namespace, path: Path, truth: formats.Truth | None
) -> tuple["Description", Lists]:
    """Check a file, read as the options say; --qrels-format is for QRELS, if named."""
    from momentrank.formats import validation

    return validation.examine(
        path,
        qrels_format=None if truth else options.qrels_format,
        run_format=options.run_format,
        tasks=bool(conventions.get(convention_of(options)).tasks),
        **run_options(options, truth),
    )


def find_problems(
    options: argparse.Namespace, lists: Lists, content: "Description", truth: formats.Truth | None
) -> "Findings":
    from momentrank import submission

    durations = formats.read_corpus(options.corpus).durations if options.corpus else {}
    what = (content.format, truth, durations, content.unscored)
    return submission.check(convention_of(options), lists, *what)


def _validate(options: argparse.Namespace, path: Path, truth: formats.Truth) -> Lists:
    """Return the whole run; report anything odd in it."""
    content, lists = examine(options, path, truth)
    if content.kind != "run":
        raise formats.FormatError(f"{path}: {content.kind}, not a run")
    notes = find_problems(options, lists, content, truth)
    content._replace(remarks=[*content.remarks, *notes.remarks, *notes.problems]).warn(path, warn)
    if notes.problems:
        raise formats.FormatError(
            f"{path}: problems: {len(notes.problems)}, see the messages above"
        )
    return lists
