"""What changed between two versions of a collection: queries, judged pairs and levels."""

from collections import Counter
from typing import Any, NamedTuple

from momentrank.collection.release import Collection, Moment
from momentrank.collection.versions import list_changes, required_version

Pair = tuple[str, Moment]
"""A query's id, and a moment."""


class LevelChange(NamedTuple):
    """A pair that is judged in both versions, and its levels there."""

    query_id: str
    moment: Moment
    old: int
    new: int


class SplitChanges(NamedTuple):
    """What changed in a split; `kept` counts the pairs that are judged in both versions."""

    queries_added: list[str]
    queries_removed: list[str]
    queries_reworded: list[str]
    pairs_added: list[Pair]
    pairs_removed: list[Pair]
    levels: list[LevelChange]
    kept: int

    @property
    def steps(self) -> dict[str, int]:
        """The number of changes by old and new level, the most frequent first."""
        steps = Counter(f"{change.old} -> {change.new}" for change in self.levels)
        return dict(sorted(steps.items(), key=lambda item: (-item[1], item[0])))

    def as_json(self) -> dict[str, Any]:
        """Return it for JSON; a moment is a list of video, start and end."""
        return {
            **self._asdict(),
            "levels": [
                [change.query_id, *change.moment, change.old, change.new] for change in self.levels
            ],
            "pairs_added": [[query, *moment] for query, moment in self.pairs_added],
            "pairs_removed": [[query, *moment] for query, moment in self.pairs_removed],
        }


def list_split_changes(old: Collection, new: Collection) -> dict[str, SplitChanges]:
    """Return what changed in each split; a query that moved counts as removed and added."""
    splits = dict.fromkeys([*old.splits, *new.splits])
    return {split: _compare(old, new, split) for split in splits}


def describe_changes(old: Collection, new: Collection) -> dict[str, Any]:
    """Return for JSON what changed: files, splits, and the lowest version that this requires."""
    changes = list_changes(old.manifest, new.manifest)
    splits = list_split_changes(old, new)
    return {
        "old": old.version,
        "new": new.version,
        "required": required_version(old.version, changes),
        "files": [change._asdict() for change in changes],
        "splits": {split: delta.as_json() for split, delta in splits.items()},
    }


def _compare(old: Collection, new: Collection, split: str) -> SplitChanges:
    before, after = (collection.queries_by_split.get(split, {}) for collection in (old, new))
    levels, levels_now = _levels(old, split), _levels(new, split)
    both = sorted(levels.keys() & levels_now.keys())
    return SplitChanges(
        queries_added=sorted(after.keys() - before.keys()),
        queries_removed=sorted(before.keys() - after.keys()),
        queries_reworded=sorted(
            query for query in before.keys() & after.keys() if before[query] != after[query]
        ),
        pairs_added=sorted(levels_now.keys() - levels.keys()),
        pairs_removed=sorted(levels.keys() - levels_now.keys()),
        levels=[
            LevelChange(*pair, levels[pair], levels_now[pair])
            for pair in both
            if levels[pair] != levels_now[pair]
        ],
        kept=len(both),
    )


def _levels(collection: Collection, split: str) -> dict[Pair, int]:
    if split not in collection.splits:
        return {}
    judged = collection[split].qrels_iter()
    return {
        (qrel.query_id, Moment(qrel.video_id, qrel.start, qrel.end)): qrel.level for qrel in judged
    }
