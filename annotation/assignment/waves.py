"""Waves: of all wanted votes, those that people have open now.

Open tasks stay open; tasks that nobody took in time go to others; then everyone's queue is filled
from the front of the campaign's order. At the very front is what decides pairs and second batches
soonest: disputes, second batches, pairs of audit and top-up, and batches that were begun.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from annotation.assignment.allocation import PERSON, OpenSlot, fill_slots, keep_open_tasks
from annotation.assignment.inputs import PlanInputs, query_sort_key
from annotation.assignment.pair_states import PairStates
from annotation.assignment.quotas import Quota
from annotation.votes.votes import Ints, is_in
from pipeline.core.tables import VOTING


def assign_wave(
    campaign: PlanInputs, states: PairStates, missing: Ints, quotas: Mapping[int, Quota]
) -> pd.DataFrame:
    """Return who should have which pair open now, as `pair, annotator, kind`."""
    assigned = keep_open_tasks(states.open_tasks, states.answered, missing, quotas)
    order = _order(campaign, states)
    assigned = _hand_over(states, assigned.reset_index(drop=True), quotas, order)
    empty = missing - _per_pair(states, assigned)
    slots = _open_slots(states, empty, order)
    return pd.concat([assigned, _fill(states, slots, assigned, quotas)], ignore_index=True)


def _order(campaign: PlanInputs, states: PairStates) -> Ints:
    """Return the rows of pairs in the order in which their open slots are filled."""
    pairs = states.pairs
    sort_keys = {query: query_sort_key(campaign.id, query) for query in pairs["query_id"].unique()}
    voted = states.answered.loc[states.answered["kind"].isin(VOTING), "pair"]
    begun = pairs["group"].isin(pairs["group"].to_numpy()[voted])
    urgent = states.escalated | begun | (pairs["batch"] != 1)
    ranked = pairs["query_id"].map(sort_keys).rank(method="dense")
    order: Ints = np.lexsort((states.escalated, pairs["group"], ranked, ~urgent))
    return order


def _open_slots(states: PairStates, empty: Ints, order: Ints) -> list[OpenSlot]:
    pair = order[empty[order] > 0]
    kind = np.where(states.escalated, "escalated", "first")[pair]
    group = states.pairs["group"].to_numpy()[pair]
    columns = (column.tolist() for column in (group, kind, pair, empty[pair]))
    return [OpenSlot(*slot) for slot in zip(*columns, strict=True)]


def _fill(
    states: PairStates, slots: list[OpenSlot], assigned: pd.DataFrame, quotas: Mapping[int, Quota]
) -> pd.DataFrame:
    group = states.pairs["group"].to_numpy()
    involved = pd.concat([states.answered, assigned, states.overdue]).drop_duplicates(PERSON)
    involved = involved.assign(group=group[involved["pair"]])
    near = involved[involved["group"].isin({slot.group for slot in slots})]
    load = Counter([*assigned["annotator"], *states.open_checks["annotator"]])
    added = fill_slots(slots, near, quotas, load)
    return added.astype(assigned.dtypes.to_dict())


def _hand_over(
    states: PairStates, assigned: pd.DataFrame, quotas: Mapping[int, Quota], order: Ints
) -> pd.DataFrame:
    """Return the open tasks, with overdue ones handed over to others who have room.

    Idle people with overdue tasks get none from others. Tasks that nobody takes stay.
    """
    if states.overdue.empty:
        return assigned
    away = set(states.overdue["annotator"].tolist())
    takers = {n: quota for n, quota in quotas.items() if not (quota.idle and n in away)}
    while True:
        overdue = assigned[is_in(assigned, states.overdue, PERSON)].sort_values(PERSON)
        number = _per_pair(states, overdue)
        added = _fill(states, _open_slots(states, number, order), assigned, takers)
        if added.empty:
            return assigned
        nth, taken = overdue.groupby("pair").cumcount(), _per_pair(states, added)
        handed_over = overdue[nth < taken[overdue["pair"]]]
        assigned = pd.concat([assigned.drop(handed_over.index), added], ignore_index=True)


def _per_pair(states: PairStates, rows: pd.DataFrame) -> Ints:
    return np.bincount(rows["pair"], minlength=len(states.pairs))
