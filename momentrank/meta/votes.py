"""Level noise: a campaign's own raw judgments, drawn again before their consensus.

Each pair's votes are drawn with replacement from its own, and the rule of TVR-Ranking (Liang et
al., 2024, section 3.3) decides again: of four votes the highest and the lowest are dropped, and the
mean of the other two, or of two votes, is rounded up if they differ by at most 1; else the pair has
no level. A campaign may round to the nearest level; its release's manifest says so. Two equal votes
can't move, so this is a lower bound on the noise.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats.source import FormatError, Location, abbreviate, read_source, read_table
from momentrank.ids import id_text
from momentrank.meta.noise import COPIES, LabelNoise, summarise
from momentrank.meta.systems import Systems
from momentrank.segments import Bools, Floats, Ints, Segments
from momentrank.significance import SEED

NO_LEVEL, MAX_DIFFERENCE = -1, 1
RAW = ("pair_id", "worker", "relevance")
PAIRS = ("pair_id", "query_id", "video_name", "start", "end")
Moment = tuple[str, str, float, float]
Rounding = Literal["up", "nearest"]
"""How to round a mean between two levels; `nearest` rounds to the even one."""


class Votes(NamedTuple):
    """The votes of some judged segments: `level` (n, 2) or (n, 4), of the rows `row` (n,)."""

    row: Ints
    level: Ints


class Judgments(NamedTuple):
    """What can be drawn again: pairs with two votes and with four; and how many keep their level.

    `without` counts judged segments without two or four votes; `other` those whose level is not
    what the rule makes of their votes, such as adjudicated ones. `rounding` is the rule's.
    """

    votes: tuple[Votes, Votes]
    without: int
    other: int
    rounding: Rounding = "up"


def decide(levels: Ints, rounding: Rounding = "up") -> Ints:
    """Return the consensus of pairs with two or four votes, shape (n, votes), or NO_LEVEL."""
    ranked = np.sort(levels, axis=1)
    low, high = ranked[:, levels.shape[1] // 2 - 1], ranked[:, levels.shape[1] // 2]
    agreed: Bools = high - low <= MAX_DIFFERENCE
    total = low + high
    level = (total + 1) // 2 if rounding == "up" else np.rint(total / 2).astype(np.int64)
    return np.where(agreed, level, NO_LEVEL)


def read_judgments(raw: Path, qrels: Segments, source: Path) -> Judgments:
    """Read the votes on the judged segments of a collection.

    Args:
        raw: `pair_id,worker,relevance`. `pairs.csv` next to it defines the pairs, or else the
            `pair_id` of each moment in `source`; `manifest.json` next to it, the rounding.
        qrels: the judged segments.
        source: the file that they were read from.

    Raises:
        FormatError: a file is malformed, with its line.
        UsageError: nothing defines the pairs, or the votes are on other segments.
    """
    votes: dict[str, list[int]] = {}
    for location, row in read_table(raw, RAW):
        if row["relevance"]:
            if not row["relevance"].isdecimal():
                raise location.error(f"relevance: {abbreviate(row['relevance'])} is not a level")
            votes.setdefault(row["pair_id"], []).append(int(row["relevance"]))
    pairs = _read_pairs(raw, source)
    ids = [qrels.queries[query] for query in qrels.query.tolist()]
    moments = zip(ids, qrels.video, qrels.start.tolist(), qrels.end.tolist(), strict=True)
    levels = [votes.get(pairs.get(moment, ""), []) for moment in moments]
    two, four = (_select(levels, size) for size in (2, 4))
    rounding = _read_rounding(raw)
    wrong = [decide(answers.level, rounding) != qrels.value[answers.row] for answers in (two, four)]
    if not any(len(answers.row) for answers in (two, four)):
        raise UsageError(f"{raw}: no vote is on a moment of {source}: is this the same collection?")
    agreeing = [
        Votes(answers.row[~rows], answers.level[~rows])
        for answers, rows in zip((two, four), wrong, strict=True)
    ]
    drawn = len(two.row) + len(four.row)
    other = int(sum(rows.sum() for rows in wrong))
    return Judgments((agreeing[0], agreeing[1]), len(levels) - drawn, other, rounding)


def _select(by_segment: list[list[int]], size: int) -> Votes:
    rows = [row for row, levels in enumerate(by_segment) if len(levels) == size]
    levels = np.array([by_segment[row] for row in rows], dtype=np.int64).reshape(-1, size)
    return Votes(np.array(rows, dtype=np.int64), levels)


def _read_rounding(raw: Path) -> Rounding:
    """Return how the release next to the votes rounds; by default, as the paper does."""
    path = raw.with_name("manifest.json")
    if not path.is_file():
        return "up"
    try:
        said = json.loads(read_source(path).text)["params"]["consensus"]["rounding"]
    except ValueError as exc:
        raise FormatError(f"{path}: {exc}") from exc
    except (KeyError, TypeError):  # not a release's
        return "up"
    if said not in get_args(Rounding):
        raise FormatError(f"{path}: params.consensus.rounding: unknown value {said!r}")
    return cast("Rounding", said)


def _read_pairs(raw: Path, source: Path) -> dict[Moment, str]:
    path = raw.with_name("pairs.csv")
    if path.is_file():
        return {_moment(location, row): row["pair_id"] for location, row in read_table(path, PAIRS)}
    try:
        content = json.loads(read_source(source).text)
        return dict(_pairs_of(content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise UsageError(
            f"{raw}: {path.name} must be next to it, or {source.name} must be JSON whose moments"
            " have a pair_id, to show which moments were judged"
        ) from None


def _pairs_of(content: list[dict[str, Any]]) -> Iterator[tuple[Moment, str]]:
    for record in content:
        query = id_text(record.get("query_key", record["query_id"])) or ""
        for moment in record["relevant_moment"]:
            start, end = map(float, moment["timestamp"])
            yield (query, str(moment["video_name"]), start, end), str(moment["pair_id"])


def _moment(location: Location, row: dict[str, str]) -> Moment:
    try:
        return row["query_id"], row["video_name"], float(row["start"]), float(row["end"])
    except ValueError:
        raise location.error("start and end must be numbers of seconds") from None


def draw_levels(qrels: Segments, judgments: Judgments, rng: np.random.Generator) -> Floats:
    """Return the level of each judged segment by votes drawn again, or NO_LEVEL."""
    level = qrels.value.copy()
    for row, votes in judgments.votes:
        drawn = rng.integers(0, votes.shape[1], votes.shape)
        level[row] = decide(np.take_along_axis(votes, drawn, axis=1), judgments.rounding)
    return level


def measure_level_noise(
    systems: Systems,
    judgments: Judgments,
    *,
    copies: int = COPIES,
    seed: int = SEED,
    done: Callable[[int], object] = int,
) -> Iterator[LabelNoise]:
    """Yield each measure under level noise; `done` counts noisy truths."""
    qrels, shares = systems.evaluator.qrels, []

    def change(copy: int) -> Segments:
        level = draw_levels(qrels, judgments, np.random.default_rng([seed, copy]))
        shares.append(float((level == qrels.value).mean()))
        return qrels._replace(value=level).select(level != NO_LEVEL)

    means = systems.score_copies(change, copies, done)
    yield from summarise(systems, means, "levels", None, float(np.mean(shares)))
