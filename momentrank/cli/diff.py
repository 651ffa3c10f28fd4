"""Compare two versions of a collection: what changed, and what that does to scores.

    momentrank diff release-1.0.0 release my.test.run

OLD and NEW are folders of releases, or hf:owner/name[@revision]. It prints which queries, judged
pairs and levels changed, each run's scores by both versions, and the version that is required: a
changed format is major, a changed level, pair or query is minor. By default, runs are those in
NEW/../work/runs; a run named *.SPLIT.run is scored on that split.

The exit code is 1 if NEW's version is too low.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from momentrank import data
from momentrank.cli import inputs, tables
from momentrank.cli.tables import Numbers, Row, describe
from momentrank.collection.changes import SplitChanges, describe_changes, list_split_changes
from momentrank.collection.release import HUB, Collection, load
from momentrank.collection.versions import Change, list_changes, parse_version, required_version
from momentrank.conventions import get
from momentrank.formats import Lists, load_lists
from momentrank.formats.source import count
from momentrank.ids import reveal
from momentrank.measures import Measure
from momentrank.measures.parse import parse_measures
from momentrank.mismatches import NoOverlapError
from momentrank.scoring import Evaluator

SHOWN, NUMBERS = 10, Numbers(4)
MEASURES = ("nDCG(iou=0.5)@10", "nDCG(iou=0.7)@10", "AxIoU@10")


class Score(NamedTuple):
    """A run's score by both versions; None where none of its queries is judged."""

    run: str
    split: str
    measure: Measure
    old: float | None
    new: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("names", nargs="*", metavar="RUN|MEASURE",
                        help=f"runs and measures (default: {', '.join(MEASURES)})")  # fmt: skip
    parser.add_argument("--all", action="store_true", help=f"list all, not {SHOWN} per kind")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(options: argparse.Namespace) -> int:
    named = inputs.split_names(options.names)
    old, new = (_load(name) for name in (options.old, options.new))
    runs = named.runs or sorted(new.folder.resolve().parent.glob("work/runs/*.run"))
    measures = parse_measures(named.measures or MEASURES)
    changes = list_changes(old.manifest, new.manifest)
    splits = list_split_changes(old, new)
    scores = [score for path in runs for score in _score(path, old, new, measures)]
    least = required_version(old.version, changes)
    if options.json:
        sys.stdout.write(json.dumps(_as_json(old, new, scores), indent=2) + "\n")
    else:
        shown = sys.maxsize if options.all else SHOWN
        sys.stdout.writelines(map(reveal, _show(old, new, changes, splits, shown)))
        sys.stdout.writelines(_show_scores(scores, named.runs))
    if parse_version(new.version) >= parse_version(least):
        return 0
    inputs.warn(f"{options.new}: version {new.version} must be {least} or higher")
    return 1


def _load(name: str) -> Collection:
    if not name.startswith(HUB):
        return load(name)
    repository, _, revision = name.partition("@")
    return load(repository, revision or None)


def _score(
    path: Path, old: Collection, new: Collection, measures: Sequence[Measure]
) -> Iterator[Score]:
    *_, last = path.name.removesuffix(".gz").removesuffix(".run").split(".")
    splits = dict.fromkeys([*old.splits, *new.splits])
    corpus = new.corpus_path or old.corpus_path
    for split in [last] if last in splits else splits:
        before, after = (
            _means(path, corpus, collection, split, measures) for collection in (old, new)
        )
        for measure in measures:
            if measure in before or measure in after:
                values = before.get(measure), after.get(measure)
                yield Score(path.name, split, measure, *values)


def _means(
    path: Path,
    corpus: Path | None,
    collection: Collection,
    split: str,
    measures: Sequence[Measure],
) -> dict[Measure, float]:
    """Return the scores on a split; none if it and the run have no query in common."""
    if split not in collection.splits or not path.stat().st_size:
        return {}
    qrels = collection[split].qrels
    evaluator = Evaluator(measures, qrels, get("paper"))

    def read(depth: int | None, warn: data.Warn) -> Lists:
        return load_lists(path, depth=depth, warn=warn, corpus=corpus)

    try:
        lists = evaluator.match(read, str(path), lambda _: None)
    except NoOverlapError:
        return {}
    return evaluator.calc_aggregate(lists)


def _show(
    old: Collection,
    new: Collection,
    changes: Sequence[Change],
    splits: Mapping[str, SplitChanges],
    shown: int,
) -> Iterator[str]:
    yield f"{old.name} {old.version} -> {new.name} {new.version}\n"
    for split, delta in splits.items():
        steps = ", ".join(f"{step} ({number})" for step, number in delta.steps.items())
        yield (
            f"{split}: queries {len(delta.queries_added)} added,"
            f" {len(delta.queries_removed)} removed, {len(delta.queries_reworded)} reworded;"
            f" judged pairs {len(delta.pairs_added)} added, {len(delta.pairs_removed)} removed;"
            f" levels {len(delta.levels)} of {delta.kept} changed{': ' if steps else ''}{steps}\n"
        )
        yield from _list(split, delta, shown)
    if not changes:
        yield "files: no file changed\n"
        return
    least = required_version(old.version, changes)
    yield f"files: {count(len(changes), 'change')}, {changes[0].part}: version {least} or higher\n"
    yield from _some((f"{change.path} {change.what} ({change.part})" for change in changes), shown)


def _list(split: str, changes: SplitChanges, shown: int) -> Iterator[str]:
    named = {
        "query added": changes.queries_added,
        "query removed": changes.queries_removed,
        "query reworded": changes.queries_reworded,
        "pair added": [f"{query} {_tell(moment)}" for query, moment in changes.pairs_added],
        "pair removed": [f"{query} {_tell(moment)}" for query, moment in changes.pairs_removed],
        "level": [f"{c.query_id} {_tell(c.moment)}: {c.old} -> {c.new}" for c in changes.levels],
    }
    for what, names in named.items():
        yield from _some((f"{split} {what}: {name}" for name in names), shown)


def _tell(moment: tuple[str, float, float]) -> str:
    video, start, end = moment
    return f"{video} {start:.12g}-{end:.12g}"


def _some(lines: Iterable[str], shown: int) -> Iterator[str]:
    listed = list(lines)
    yield from (f"  {line}\n" for line in listed[:shown])
    if len(listed) > shown:
        yield f"  ... and {len(listed) - shown} more (--all)\n"


def _show_scores(scores: Sequence[Score], named: Sequence[Path]) -> Iterator[str]:
    scored = {score.run for score in scores}
    yield from (f"{p.name}: has no query in any split\n" for p in named if p.name not in scored)
    if not scores:
        if not named:
            yield "no runs to score: name some, or put them in NEW/../work/runs\n"
        return
    rows: list[Row] = [("run", "split", "measure", "old", "new", "difference")]
    for score in scores:
        how = describe(score.measure)
        values = ["" if value is None else NUMBERS.text(how, value) for value in score[3:]]
        change = ""
        if score.old is not None and score.new is not None:
            change = NUMBERS.text(how, score.new - score.old, "+")
        rows.append((score.run, score.split, repr(score.measure), *values, change))
    yield "\n"
    yield from tables.write(rows, "table")


def _as_json(old: Collection, new: Collection, scores: Sequence[Score]) -> dict[str, Any]:
    return {
        **describe_changes(old, new),
        "scores": [
            {
                **score._asdict(),
                "measure": repr(score.measure),
                "old": NUMBERS.plain(describe(score.measure), score.old),
                "new": NUMBERS.plain(describe(score.measure), score.new),
            }
            for score in scores
        ],
    }
