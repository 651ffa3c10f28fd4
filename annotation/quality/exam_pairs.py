"""The exam (paper, Appendix B.2): its pairs, and their right levels: pure.

Everyone judges the same pairs. They and their clips are chosen once; after that nothing changes
them: no new candidate, no clip that was cut again. The right level of a pair is the lead's (gold),
else the median of the first people to finish. It is frozen as soon as all pairs have one.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables
from pipeline.core.people_sections import Exam


def choose_pairs(
    candidates: pd.DataFrame, gold: pd.DataFrame, campaign: str, params: Exam
) -> pd.DataFrame:
    """Return the pairs of a campaign's exam (`tables.EXAM`), without the right levels.

    `candidates` have a clip each (`rank, query_sha, clip, clip_sha`). If the lead has gold
    (`tables.GOLD`) for as many pairs as the exam needs, they are its pairs, drawn query by query;
    else they are the first candidates of some queries, preferring queries with enough of them.
    """
    size = params.queries * params.top
    golden = candidates.merge(gold[PAIR_KEY], on=PAIR_KEY)
    if len(golden) >= size:
        drawn = _draw(golden, campaign).head(size)
    else:
        ranked = candidates.sort_values(["query_id", "rank", "moment_id"])
        first = ranked.groupby("query_id").head(params.top)
        count = first.groupby("query_id")["rank"].transform("size")
        segments = _draw(first.assign(short=params.top - count), campaign, "short")
        drawn = segments[segments["query_id"].isin(segments["query_id"].unique()[: params.queries])]
    rows = drawn.assign(level=None, origin=None).sort_values(PAIR_KEY, ignore_index=True)
    return tables.EXAM.check(rows[tables.EXAM.columns])


def _draw(pairs: pd.DataFrame, campaign: str, *before: str) -> pd.DataFrame:
    """Return pairs in an order drawn for the campaign, query by query."""
    query = [rng.draw(campaign, "exam", query_id) for query_id in pairs["query_id"]]
    ids = zip(pairs["query_id"], pairs["moment_id"], strict=True)
    pair = [rng.draw(campaign, "exam", *pair_id) for pair_id in ids]
    return pairs.assign(query=query, pair=pair).sort_values([*before, "query", "query_id", "pair"])


def is_frozen(exam: pd.DataFrame) -> bool:
    """Return whether the right levels of an exam are final."""
    return len(exam) > 0 and bool(exam["origin"].notna().all())


def freeze_truth(
    exam: pd.DataFrame,
    gold: pd.DataFrame,
    answers: pd.DataFrame,
    group: int,
    people: Collection[int],
) -> pd.DataFrame:
    """Return the exam with the right levels, if they are known; else as it is.

    They are known as soon as `gold` has them all, or `group` of the `people` have finished: the
    first to finish count. A frozen exam stays as it is.
    """
    if exam.empty or is_frozen(exam):
        return exam
    pairs = pd.MultiIndex.from_frame(exam[PAIR_KEY])
    golden = gold.set_index(PAIR_KEY)["level"].reindex(pairs).astype("Int64").to_numpy()
    first = [annotator for annotator in by_finish(answers, exam) if annotator in set(people)][
        :group
    ]
    has_gold = ~pd.isna(golden)
    if len(first) < group and not has_gold.all():
        return exam
    asked = answers[(answers["attempt"] == 1) & answers["annotator"].isin(first)]
    by_pair = {pair: median(rows["level"], group) for pair, rows in asked.groupby(PAIR_KEY)}
    medians = pd.Series([by_pair.get(pair) for pair in pairs], dtype="Int64")
    level = np.where(has_gold, golden, medians.to_numpy())
    return tables.EXAM.check(exam.assign(level=level, origin=np.where(has_gold, "gold", "median")))


def median(levels: pd.Series, group: int) -> int | None:
    """Return the median of a group's levels; None unless more than half of them gave one.

    Between two levels it is the higher one, as the consensus also rounds up.
    """
    known = levels.dropna().astype("int64")
    return int(np.ceil(known.median())) if 2 * len(known) > group else None


def by_finish(answers: pd.DataFrame, exam: pd.DataFrame) -> list[int]:
    """Return who has answered every pair of the exam, the first to finish first."""
    first_attempt = answers[answers["attempt"] == 1]
    if len(first_attempt) < len(exam):
        return []
    first_attempt = first_attempt[is_in(first_attempt, exam, PAIR_KEY)]
    last = first_attempt.groupby("annotator")["submitted_at"].agg(["size", "max"])
    done = last[last["size"] == len(exam)].reset_index()
    return done.sort_values(["max", "annotator"])["annotator"].tolist()
