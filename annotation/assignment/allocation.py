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


def fill_slots(
    slots: Sequence[OpenSlot],
    involved: pd.DataFrame,
    asked: Mapping[int, Role],
    waiting: Counter[int],
    done: Counter[int],
) -> pd.DataFrame:
    """Return a person for each open slot, as `pair, annotator, kind`.

    `involved` are those who have seen a pair or are about to, as `pair, group, annotator,
    kind`; `asked` may be asked; `waiting` and `done` count each person's open and finished
    tasks. Where nobody is left to ask, a slot stays open.

    A group's own people are asked first, then the least loaded. Escalated pairs go to the
    `escalation` people first of all. Who is equal in all of it is drawn by a hash, so that
    couples of annotators change from query to query.
    """
    seen: dict[int, set[int]] = defaultdict(set)
    for pair, person in zip(involved["pair"].tolist(), involved["annotator"].tolist(), strict=True):
        seen[pair].add(person)
    engaged = Counter(involved[["group", "kind", "annotator"]].itertuples(index=False, name=None))
    load, rows = waiting.copy(), []
    for (group, kind), members in groupby(sorted(slots), itemgetter(0, 1)):

        def preference(person: int, group: int = group, kind: str = kind) -> tuple[int | str, ...]:
            role, place = asked[person] != ROLE_OF[kind], -engaged[group, kind, person]
            first = (role, place) if kind == "escalated" else (place, role)
            return *first, load[person], done[person], rng.draw(group, kind, person)

        people = sorted(asked, key=preference)
        for slot in members:
            free = (person for person in people if person not in seen[slot.pair])
            takers = list(islice(free, slot.number))
            load.update(takers)
            rows += [(slot.pair, person, kind) for person in takers]
    return pd.DataFrame(rows, columns=ASSIGNMENT)
