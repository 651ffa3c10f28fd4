"""What a board may show while the levels are kept secret.

A mean over n queries changes by at most 1/n with one query. Each value is shifted by up to half a
step and then rounded to the step. Without the shift, a team whose value is at a rounding boundary
reads one pair's level from each run (Blum and Hardt, The Ladder, ICML 2015). The shift is drawn by
a hash of run and qrels: the same run always has the same value, and only who has the levels can
compute the shift. Order and letters follow from the values shown alone: a test's p, which is exact,
has a boundary too.
"""

import hashlib
import hmac
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from momentrank.board.rows import CAPTIONS, Board, Row, Values
from momentrank.board.standings import cover
from momentrank.errors import UsageError
from momentrank.formats.source import sha256_of
from momentrank.measures import Judged, Measure
from momentrank.measures.parse import parse_measures
from momentrank.significance import iterate_letters

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
SHARE = 10
"""A step is at least what so many queries can change a mean by."""
FEW = 50
"""A stratum is shown if so many queries are in it, and as many are not."""
APART = 3
"""Runs are told apart if so many steps are between them: rounding makes up to two."""
LIMIT = 20
"""The runs of a team; benchmarks/hidden_board.py measures what they tell."""
MOST = 2
"""Measures: each is another equation in the same levels."""
MEANS, DEEP = ("nDCG", "AP"), 10
"""Means between 0 and 1 over the queries with a relevant moment, and the least cutoff: one result
must not decide a query's value, as it does that of P@1, of AxIoU, and of silence."""
ANSWERED = 0.9
"""The share of the queries that a run must answer."""
PUBLIC = ("momentrank", "convention", "release")
"""What may be said of the source: the hash of the qrels would verify a guess of them."""


def find_step(queries: int) -> float:
    """Return the step to which a mean over so many queries is rounded.

    Raises:
        UsageError: there are too few queries.
    """
    for step in STEPS:
        if queries and step * queries >= SHARE - 1e-9:
            return step
    raise UsageError(f"a hidden board needs {FEW} queries or more, not {queries}")


def blur(value: float, queries: int, key: str, name: str) -> float:
    """Return a mean between 0 and 1 as it is shown; NaN stays.

    The shift depends on `key`, which is secret, and on `name`: run, measure and stratum. It doesn't
    depend on the value: P@1 has so few values that their shifts could be learned.
    """
    if math.isnan(value):
        return value
    step = find_step(queries)
    digest = hmac.digest(key.encode(), name.encode(), "sha256")
    draw = int.from_bytes(digest[:8]) / 2**64
    shown = round(value / step + draw - 0.5) * step
    return round(min(max(shown, 0.0), 1.0), 2)


def make_key(qrels: Path) -> str:
    """Return the key of shifts: no SHA-256 of the file itself, which a release's manifest has."""
    return hashlib.sha256(b"shift\0" + qrels.read_bytes()).hexdigest()


def conceal(board: Board, key: str) -> Board:
    """Return what may be shown of a board: it has nothing that isn't listed here.

    The files of its runs are read again, for their hashes; `key` is that of the shifts.

    Raises:
        UsageError: a measure, a run or a team is not allowed, or there are too few queries.
    """
    asked = [each for each in parse_measures(board.measures) if each.NAME != Judged.NAME]
    measures = tuple(map(repr, asked))  # Judged tells which pairs were judged
    if problems := list(_find_problems(board, asked)):
        raise UsageError("--hidden: " + "; ".join(problems))
    strata = {
        name: queries
        for name, queries in board.strata.items()
        if min(queries, board.queries - queries) >= FEW
    }
    step = find_step(board.queries)
    gap = APART * step

    def show(values: Values, queries: int, run: str, stratum: str = "") -> dict[str, float]:
        """Return the values of a run, by its hash, as they are shown."""
        name = f"{run} {{}} {stratum}"
        return {each: blur(values[each], queries, key, name.format(each)) for each in measures}

    rows = []
    for row in board.rows:
        run = sha256_of(row.entry.run)
        own = {
            name: show(row.strata[name], strata[name], run, name)
            for name in strata
            if name in row.strata
        }
        values = show(row.values, board.queries, run)
        rows.append(Row(row.entry, values, row.answered, row.shortest, strata=own))
    rows.sort(key=lambda row: (-row.values[measures[0]], row.entry.name))
    note = (
        f"The levels are secret. Values are rounded to {step:g}, strata to coarser steps, after a"
        " shift of up to half a step that depends on run and levels."
    )
    return Board(
        rows=tuple(_group(rows, measures[0], gap)),
        measures=measures,
        queries=board.queries,
        test=f"their values are less than {gap:g} apart",
        source={name: board.source[name] for name in PUBLIC if name in board.source},
        strata=strata,
        by=board.by,
        notes=(note,),
        digits=2,
        hidden=True,
    )


def _find_problems(board: Board, measures: Sequence[Measure]) -> Iterator[str]:
    if len(measures) > MOST:
        yield f"at most {MOST} measures, not {len(measures)}"
    for measure in measures:
        has_few = measure.params.get("cutoff", DEEP) < DEEP
        if measure.NAME not in MEANS or has_few or measure.params.get("silence"):
            allowed = f"{', '.join(MEANS)} at {DEEP} or more"
            yield f"{measure!r} tells too much of single results; choose from {allowed}"
    if board.queries < FEW:
        yield f"needs {FEW} queries or more with a relevant moment, not {board.queries}"
    for row in board.rows:
        if row.answered < ANSWERED * board.queries:
            yield f"{row.entry.run}: answers {row.answered} of {board.queries} queries"
    for authors, runs in Counter(row.entry.authors.casefold() for row in board.rows).items():
        if runs > LIMIT:
            yield f"{authors}: {runs} runs, but a team may have {LIMIT}"


def _group(rows: Sequence[Row], measure: str, gap: float) -> Iterator[Row]:
    """Yield the rows with their letters: those nearer than `gap` share one."""
    values = np.array([row.values[measure] for row in rows])
    reads = np.array([CAPTIONS in row.entry.reads for row in rows])
    near = np.abs(values[:, None] - values) < gap - 1e-9
    groups = list(zip(iterate_letters(), cover(near & (reads[:, None] == reads)), strict=False))
    for n, row in enumerate(rows):
        yield replace(row, letters=",".join(name for name, group in groups if group[n]))
