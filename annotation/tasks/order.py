"""The place of repeats among the tasks of a push: only where other pairs could be.

People judge a query's pairs one after another; gold is among them like any vote. A repeat of such
a query is placed somewhere among them; any other between two queries, like a single pair on which
others could not agree. The place is drawn by a hash: neither beginning nor end, where there is a
choice.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from annotation.label_studio.keys import Key
from pipeline.core import rng

REPEAT = "repeat"


def mix_checks(keys: Sequence[Key], campaign: str) -> list[Key]:
    """Return one person's keys in order, with the hidden checks moved among the others."""
    by_query = attrgetter("query_id")
    votes = [key for key in keys if key.kind != REPEAT]
    groups = [list(group) for _, group in groupby(votes, by_query)]
    group_of = {group[0].query_id: group for group in groups}
    checks = sorted((key for key in keys if key.kind == REPEAT), key=by_query)
    strangers: dict[int, list[list[Key]]] = {}
    for query, members in groupby(checks, by_query):
        single = sorted(members, key=lambda key: _draw(campaign, key))
        if query in group_of:
            _insert(group_of[query], single, campaign)
        else:
            seam = _choose(_seams(len(groups)), _draw(campaign, single[0]))
            strangers.setdefault(seam, []).append(single)
    rows: list[Key] = []
    for seam in range(len(groups) + 1):
        among = sorted(strangers.get(seam, []), key=lambda group: _draw(campaign, group[0]))
        rows += [key for group in among for key in group]
        rows += groups[seam] if seam < len(groups) else []
    return rows


def _seams(groups: int) -> range:
    """Return the places between queries: inner ones, if there are any."""
    return range(1, groups) if groups > 1 else range(groups + 1)


def _insert(group: list[Key], checks: Iterable[Key], campaign: str) -> None:
    for key in checks:
        inner = range(1, len(group)) if len(group) > 1 else range(len(group) + 1)
        group.insert(_choose(inner, _draw(campaign, key)), key)


def _choose(positions: range, drawn: str) -> int:
    return positions[int(drawn[:16], 16) % len(positions)]


def _draw(campaign: str, key: Key) -> str:
    return rng.draw(campaign, *key[:4])
