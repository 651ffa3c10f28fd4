"""Allocation: open tasks stay with their annotator, and each missing vote gets a person.

A query's batch is a group: the people who have already judged in it, or are about to, come
first, so that the same two judge all its pairs, and a newcomer takes all that a leaver left.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

import pandas as pd

from annotation.assignment.inputs import Role
from annotation.assignment.pairs import ASSIGNMENT
from annotation.votes.votes import Ints
from pipeline.core import rng

PERSON = ["pair", "annotator"]
ROLE_OF: Mapping[str, Role] = {"first": "annotator", "escalated": "escalation"}


class OpenSlot(NamedTuple):
    """A pair that is short of people: its batch, what kind of votes, and how many."""

    group: int
    kind: str
    pair: int
    number: int


def keep_open_tasks(
    open_tasks: pd.DataFrame, answered: pd.DataFrame, missing: Ints, asked: Mapping[int, Role]
) -> pd.DataFrame:
    """Return the open tasks that stay: of people who may be asked, and no more than are needed."""
    judged = pd.MultiIndex.from_frame(open_tasks[PERSON]).isin(
        pd.MultiIndex.from_frame(answered[PERSON])
    )
    usable = open_tasks[open_tasks["annotator"].isin(list(asked)) & ~judged]
    order = usable.sort_values(["pair", "kind", "annotator"], ascending=[True, False, True])
    order = order.drop_duplicates(PERSON)
    return order[order.groupby("pair").cumcount() < missing[order["pair"]]]


class Allocator:
    """Assigns people to open slots, and counts what everybody has to do."""

    def __init__(
        self, asked: Mapping[int, Role], waiting: Mapping[int, int], done: Mapping[int, int]
    ) -> None:
        """Take who may be asked, and how many tasks each has open and how many done."""
        self._asked = asked
        self._open = Counter(waiting)
        self._done = Counter(done)

    def fill(self, slots: Sequence[OpenSlot], involved: pd.DataFrame) -> pd.DataFrame:
        """Return a person for each open slot, as `pair, annotator, kind`.

        `involved` are those who have seen a pair or are about to, as `pair, group, annotator,
        kind`. Where nobody is left to ask, a slot stays open.
        """
        busy, engaged = _people_of_pairs(involved), _people_of_groups(involved)
        rows: list[tuple[int, int, str]] = []
        for (group, kind), members in groupby(sorted(slots), itemgetter(0, 1)):
            people = self._in_order(group, kind, engaged[group, kind])
            for slot in members:
                free = (person for person in people if person not in busy[slot.pair])
                takers = list(islice(free, slot.number))
                self._open.update(takers)
                rows += [(slot.pair, person, kind) for person in takers]
        return pd.DataFrame(rows, columns=ASSIGNMENT)

    def _in_order(self, group: int, kind: str, engaged: Mapping[int, int]) -> list[int]:
        """Return whom to ask first in a group: its own people, then the least loaded.

        Escalated pairs go to the `escalation` people first of all. Who is equal in all of it
        is drawn by a hash, so that couples of annotators change from query to query.
        """

        def preference(person: int) -> tuple[int | str, ...]:
            role, place = self._asked[person] != ROLE_OF[kind], -engaged.get(person, 0)
            first = (role, place) if kind == "escalated" else (place, role)
            return *first, self._open[person], self._done[person], rng.draw(group, kind, person)

        return sorted(self._asked, key=preference)


def _people_of_pairs(involved: pd.DataFrame) -> dict[int, set[int]]:
    people: dict[int, set[int]] = defaultdict(set)
    for pair, person in zip(involved["pair"].tolist(), involved["annotator"].tolist(), strict=True):
        people[pair].add(person)
    return people


def _people_of_groups(involved: pd.DataFrame) -> dict[tuple[int, str], Counter[int]]:
    """Count each person's slots in a group, first and escalated votes apart."""
    counts: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    columns = (involved[name].tolist() for name in ("group", "kind", "annotator"))
    for (group, kind, person), number in Counter(zip(*columns, strict=True)).items():
        counts[group, kind][person] = number
    return counts
