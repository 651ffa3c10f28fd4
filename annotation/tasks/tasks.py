"""The tasks to add: their keys, what they show, and adding them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

import pandas as pd

from annotation.assignment.inputs import query_sort_key
from annotation.label_studio import page
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import Key, Signer
from annotation.tasks import unfinished
from annotation.tasks.annotator_project import ProjectDiff, Step
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng
from pipeline.core.progress import progress
from pipeline.video import store

REPEAT = "repeat"


def mix_checks(keys: Sequence[Key], campaign: str) -> list[Key]:
    """Return one person's keys in order, with the hidden checks moved among the others.

    People judge a query's pairs one after another; gold is among them like any vote. A repeat of
    such a query is placed somewhere among them; any other between two queries, like a single pair
    on which others could not agree. The place is drawn by a hash: neither beginning nor end, where
    there is a choice.
    """
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


KEY = list(Key._fields)


def keys_by_annotator(pairs: pd.DataFrame, guideline: str) -> dict[int, list[Key]]:
    """Return the keys of assignments by annotator."""
    rows = pairs.assign(guideline=guideline)[KEY]
    return {
        annotator: [Key(*row) for row in rows[rows["annotator"] == annotator].to_numpy().tolist()]
        for annotator in sorted(set(rows["annotator"].tolist()))
    }


Whose = tuple[str, str, int]
"""A query, a moment and an annotator."""
Remarks = Mapping[Whose, Mapping[str, str]]
"""What else tasks show: fields of their data, as in `page.REMARKS`."""


class TaskData:
    """The data of tasks, by key."""

    def __init__(
        self, pairs: pd.DataFrame, setting: str, batch: int, remarks: Remarks = MappingProxyType({})
    ) -> None:
        """Take pairs with what is shown of each, `clips.url`, and the tasks per request."""
        rows = pairs.drop_duplicates(PAIR_KEY)
        ids = zip(rows["query_id"], rows["moment_id"], strict=True)
        self._of = dict(zip(ids, zip(rows["query"], rows["clip"], strict=True), strict=True))
        self._setting, self.batch, self._remarks = setting, batch, remarks

    def data(self, key: Key, signer: Signer) -> Mapping[str, str]:
        """Return the data of a key's task."""
        query, clip = self._of[key.query_id, key.moment_id]
        url = store.clip_url(clip, self._setting)
        signed = signer.sign(key, page.digest(query, page.clip_html(url)))
        whose = (key.query_id, key.moment_id, key.annotator)
        remarks = self._remarks[whose] if self._remarks else {}
        return {**page.task_data(query, url, signed), **remarks}


def add(
    connection: Connection, diffs: Sequence[ProjectDiff], data_of: TaskData, step: Step
) -> None:
    """Add missing tasks, a batch at a time, in the campaign's order."""
    campaign, signer = connection.campaign.id, connection.signer
    total = sum(len(diff.changes.add) for diff in diffs)
    with progress("push", total=total, unit="tasks") as bar:
        for diff in diffs:
            keys = shuffle(diff.changes.add, campaign)
            for begin in range(0, len(keys), data_of.batch):
                batch = keys[begin : begin + data_of.batch]
                data = [data_of.data(key, signer) for key in batch]
                step()
                with unfinished.pending_write(f"{len(data)} tasks into {diff.project.title!r}"):
                    connection.studio.add(diff.project, data)
                bar.update(len(batch))


def shuffle(keys: Iterable[Key], campaign: str) -> list[Key]:
    """Return keys ordered by their queries' place in the campaign, which is the same for all.

    The order of a query's pairs differs from person to person.
    """

    def position(key: Key) -> tuple[str, str, str, str]:
        pair = rng.draw(campaign, key.annotator, key.query_id, key.moment_id)
        return query_sort_key(campaign, key.query_id), key.query_id, pair, key.moment_id

    return mix_checks(sorted(keys, key=position), campaign)
