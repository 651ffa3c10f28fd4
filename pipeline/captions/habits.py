"""What many captions begin or end with, and their descriptions do not: a model's habit.

`In this video, a man ...` passes every check of a single caption. In a corpus it shows: it is told
once, with its count, since the remedy is another prompt, not another wording of each caption.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from pipeline.captions.details import MASK, Pair, mask_people
from pipeline.captions.form import NO_CAPITAL, NO_MARK, STYLE, list_lost
from pipeline.captions.repair import DIGITS
from pipeline.captions.review import DOUBTS
from pipeline.core.text import words

CHECK = "habit"
FEWEST, SHARE = 5, 0.01
"""A habit is shared by this many captions, and by this share of them."""
LONGEST = 5
"""Words of a habit, at most."""
COVERED = 0.8
"""Words that go on alike in this share of the captions are one habit with what follows."""

Words = tuple[str, ...]


class Habit(NamedTuple):
    """Words that captions begin or `end` with, out of `total` captions, and their moments."""

    end: str
    words: str
    moments: list[str]
    total: int

    def as_metrics(self) -> dict[str, object]:
        """Return the finding as metrics."""
        return {"captions": len(self.moments), "of": self.total, self.end: self.words}

    def __str__(self) -> str:
        """Return the finding as a text."""
        shared = self.words if self.words in STYLE else f'"{self.words}"'
        return f"{len(self.moments):,} of {self.total:,} captions {self.end} with {shared}"


class Ends(NamedTuple):
    """What a caption begins and ends with, and its description does not have."""

    begin: list[Words]
    end: list[Words]


def list_ends(_: None, rows: Sequence[Pair]) -> list[Ends]:
    """Return the beginnings and ends of each caption, people aside, that its description lacks."""
    return [_list_ends(row) for row in rows]


def _list_ends(pair: Pair) -> Ends:
    caption = words(mask_people(pair.caption, pair.named))
    known = words(mask_people(pair.description, pair.described))
    runs = {tuple(known[i : i + n]) for n in range(1, LONGEST + 1) for i in range(len(known))}
    lengths = range(1, min(LONGEST, len(caption)) + 1)
    begins, ends = ([tuple(caption[:n]) for n in lengths], [tuple(caption[-n:]) for n in lengths])
    lost = list_lost(pair.description, pair.caption)
    return Ends(
        *(
            [run for run in some if run not in runs and {*run} != {MASK}]
            + [(fault,) for fault in lost if fault == style]
            for some, style in ((begins, NO_CAPITAL), (ends, NO_MARK))
        )
    )


def find_habits(moment_ids: Iterable[str], ends: Iterable[Ends]) -> list[Habit]:
    """Return the habits in the captions of moments, the most frequent first."""
    shared: dict[tuple[str, Words], list[str]] = defaultdict(list)
    total = 0
    for moment_id, sides in zip(moment_ids, ends, strict=True):
        total += 1
        for name, runs in zip(Ends._fields, sides, strict=True):
            for run in runs:
                shared[name, run].append(moment_id)
    limit = max(FEWEST, SHARE * total)
    frequent = {key: found for key, found in shared.items() if len(found) >= limit}
    habits = [
        Habit(name, " ".join(run), found, total)
        for (name, run), found in frequent.items()
        if _is_whole(name, run, frequent)
    ]
    return sorted(habits, key=lambda habit: (-len(habit.moments), habit))


def _is_whole(name: str, run: Words, frequent: Mapping[tuple[str, Words], list[str]]) -> bool:
    """Tell whether a run is a habit of its own: it seldom goes on alike, and is no continuation."""
    count = len(frequent[name, run])
    rest = slice(-1) if name == "begin" else slice(1, None)
    longer = (
        len(found) for (end, key), found in frequent.items() if (end, key[rest]) == (name, run)
    )
    shorter = len(frequent.get((name, run[rest]), ()))
    return max(longer, default=0) < COVERED * count and count >= COVERED * shorter


def list_examples(habits: Iterable[Habit], free: Collection[str]) -> pd.DataFrame:
    """Return a row for each habit, as `DOUBTS` and `form`: one of the `free` moments that have it.

    Other moments are listed for another reason.
    """
    left, rows = set(free), []
    for habit in habits:
        example = next((moment_id for moment_id in habit.moments if moment_id in left), None)
        if example is not None:
            left.remove(example)
            share = round(len(habit.moments) / habit.total, DIGITS)
            rows.append((example, CHECK, share, None, str(habit)))
    return pd.DataFrame(rows, columns=[*DOUBTS, "form"], dtype=object)
