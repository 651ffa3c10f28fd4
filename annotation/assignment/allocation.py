"""Allocation: open tasks stay with their annotator; the first open slots go to people with room.

A query's batch is a group: the people who have already judged in it, or are about to, come
first, so that the same two judge all its pairs, and a newcomer takes over all from a leaver.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import pandas as pd

from annotation.assignment.pair_states import ASSIGNMENT
from annotation.assignment.quotas import Quota
from annotation.roster.annotator import Role
from annotation.votes.votes import Ints, is_in
from pipeline.core import rng

PERSON = ["pair", "annotator"]
ROLE_OF: Mapping[str, Role] = {"first": "annotator", "escalated": "escalation"}


class OpenSlot(NamedTuple):
    """A pair that needs more people: its batch, the kind of votes, and how many."""

    group: int
    kind: str
    pair: int
    number: int


def keep_open_tasks(
    open_tasks: pd.DataFrame, answered: pd.DataFrame, missing: Ints, asked: Collection[int]
) -> pd.DataFrame:
    """Return the open tasks to keep: of people who may be asked, and no more than needed."""
    judged = is_in(open_tasks, answered, PERSON)
    usable = open_tasks[open_tasks["annotator"].isin(list(asked)) & ~judged]
    order = usable.sort_values(["pair", "kind", "annotator"], ascending=[True, False, True])
    order = order.drop_duplicates(PERSON)
    return order[order.groupby("pair").cumcount() < missing[order["pair"]]]


def fill_slots(
    slots: Sequence[OpenSlot],
    involved: pd.DataFrame,
    quotas: Mapping[int, Quota],
    load: Counter[int],
) -> pd.DataFrame:
    """Return people for the open slots, in order, as `pair, annotator, kind`.

    `involved` are the people who have seen a pair or are about to, as `pair, group, annotator,
    kind`; `load` counts each person's open tasks. Where nobody is left, or nobody has room
    now, a slot stays open. A person with room for a batch takes all of it that they have not seen.

    A group's own people are asked first, then the least loaded. Escalated pairs go to the
    `escalation` people above all; these, and people who have done their share, give first votes
    only where too few others are left. Ties are drawn by a hash, so that couples of annotators
    change from query to query.
    """
    filling = _Filling(involved, quotas, load)
    rows: list[tuple[int, int, str]] = []
    for (group, kind), members in groupby(slots, itemgetter(0, 1)):
        numbers = {slot.pair: slot.number for slot in members}
        taken = filling.fill(group, kind, numbers)
        rows += [(pair, person, kind) for pair, person in taken]
    return pd.DataFrame(rows, columns=ASSIGNMENT)


class _Filling:
    """Who has seen what, and how much each person has open so far."""

    def __init__(
        self, involved: pd.DataFrame, quotas: Mapping[int, Quota], load: Counter[int]
    ) -> None:
        self._quotas, self._load = quotas, load.copy()
        self._seen: dict[int, set[int]] = defaultdict(set)
        for pair, person in involved[PERSON].itertuples(index=False, name=None):
            self._seen[pair].add(person)
        keys = involved[["group", "kind", "annotator"]].itertuples(index=False, name=None)
        self._engaged = Counter(keys)
        self._touched = set(involved["group"].tolist())

    def fill(self, group: int, kind: str, numbers: dict[int, int]) -> list[tuple[int, int]]:
        """Return takers for a group's pairs, each of which needs that many people."""
        least = 1 if group in self._touched else len(numbers)
        main = {n for n, quota in self._quotas.items() if not _reserve(quota, kind, idle=True)}
        taken: list[tuple[int, int]] = []
        while people := [person for person in self._quotas if self._room(person, least)]:
            people.sort(key=lambda person: self._preference(group, kind, person))
            before = len(taken)
            for person in people:
                taken += [(pair, person) for pair in self._take(person, kind, numbers, main)]
            if len(taken) == before:
                break
            least = 1  # what is left may be less
        return taken

    def _take(self, person: int, kind: str, numbers: dict[int, int], main: set[int]) -> list[int]:
        """Give a person as much of a group as they have room for, and return it."""
        reserve, seen = _reserve(self._quotas[person], kind), self._seen
        pairs = [
            pair
            for pair, number in numbers.items()
            if number
            and person not in seen[pair]
            and not (reserve and self._others_left(pair, number, main))
        ]
        taken = pairs[: self._room(person, len(pairs))] if pairs else []
        for pair in taken:
            seen[pair].add(person)
            numbers[pair] -= 1
        self._load[person] += len(taken)
        return taken

    def _others_left(self, pair: int, number: int, main: set[int]) -> bool:
        seen = self._seen[pair]
        return len(main) - len(seen) >= number or len(main - seen) >= number

    def _room(self, person: int, size: int) -> int:
        return self._quotas[person].room(self._load[person], size)

    def _preference(self, group: int, kind: str, person: int) -> tuple[float | str, ...]:
        quota = self._quotas[person]
        role, engaged = quota.role != ROLE_OF[kind], -self._engaged[group, kind, person]
        first = (role, engaged) if kind == "escalated" else (engaged, role)
        work = (self._load[person] / quota.share, quota.done / quota.share)
        return quota.idle, *first, *work, rng.draw(group, kind, person)


def _reserve(quota: Quota, kind: str, *, idle: bool = False) -> bool:
    """Return whether a person is asked only if nobody else is left; `idle` includes the idle."""
    apart = kind == "first" and quota.role != ROLE_OF[kind]
    return apart or quota.over or (idle and quota.idle)
