"""Ranked lists as files: a run of `momentrank`, and TVR-Ranking's prediction JSON."""

from collections.abc import Sequence
from pathlib import Path

import momentrank
from baselines.collection.release import Query
from baselines.inference.ranked import Ranked
from momentrank.segments import Segments, build_run


def segments(ranked: Ranked, names: Sequence[str], queries: Sequence[Query]) -> Segments:
    """Return ranked lists in the scorer's form; a query without moments has an empty list."""
    return build_run(
        [queries[query].query_id for query in ranked.query],
        [names[video] for video in ranked.video],
        ranked.start.round(3),
        ranked.end.round(3),
        ranked.score,
        queries=[query.query_id for query in queries],
    )


def write(folder: Path, name: str, run: Segments, tag: str) -> None:
    """Write NAME.run and NAME.json."""
    folder.mkdir(parents=True, exist_ok=True)
    momentrank.write_run(folder / f"{name}.run", run, tag=tag)
    momentrank.write_run(folder / f"{name}.json", run, "tvr-ranking")
