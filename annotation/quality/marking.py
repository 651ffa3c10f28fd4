"""Marks of the exam (paper, Appendix B.2), attempt by attempt: pure.

An answer fails if it is more than 1 from the right level, or has no level where there is a right
one. A pair without a right level, because half of the group or more could not judge it, counts for
nobody. The second attempt is the first with the failed answers replaced by those of the feedback.
An attempt that was handed in can't be changed: later answers do not count.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.quality.exam_pairs import by_finish, is_frozen
from annotation.reliability.kappa import WEIGHTS, kappa, summary
from annotation.reliability.scores import Scores, couples, number, sort_scores
from annotation.votes.rule import LEVELS
from annotation.votes.votes import MAX_DIFFERENCE
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

FIRST, SECOND = ATTEMPTS = 1, 2
PERSON = ["annotator", "attempt"]
KEY = list(tables.EXAM_ANSWERS.key)


class Marked(NamedTuple):
    """The exam, all answers to it, and the results: three tables; and its state on the server.

    By annotator and attempt, `left` counts the waiting tasks, and `pages` are the addresses of the
    projects; `refused` counts the answers that were refused, by reason.
    """

    exam: pd.DataFrame
    answers: pd.DataFrame
    results: pd.DataFrame
    left: Counter[tuple[int, int]]
    refused: Counter[str]
    pages: Mapping[tuple[int, int], str]


def record_answers(before: pd.DataFrame, now: pd.DataFrame, exam: pd.DataFrame) -> pd.DataFrame:
    """Return all answers (`tables.EXAM_ANSWERS`): those recorded earlier, and new ones.

    A finished attempt stays as it was; until then a person's newest answer to a pair counts.
    Answers that have disappeared from the server are kept.
    """
    done = pd.MultiIndex.from_tuples(finished(before, exam), names=PERSON)
    late = pd.MultiIndex.from_frame(now[PERSON]).isin(done)
    new = now[~late].merge(exam[PAIR_KEY], on=PAIR_KEY)[before.columns]
    both = pd.concat([before, new]) if len(new) else before
    ordered = both.sort_values("submitted_at", kind="stable").drop_duplicates(KEY, keep="last")
    return tables.EXAM_ANSWERS.check(ordered.sort_values(KEY, ignore_index=True))


def finished(answers: pd.DataFrame, exam: pd.DataFrame) -> list[tuple[int, int]]:
    """Return `(annotator, attempt)` of the attempts that were handed in.

    A second one is handed in once every failed answer of the first was given again.
    """
    people = by_finish(answers, exam)
    first = [(annotator, FIRST) for annotator in people]
    again = answers.loc[answers["attempt"] == SECOND, ["annotator", *PAIR_KEY]]
    if not people or again.empty:
        return first
    wrong = failed_answers(answers, exam)
    left = wrong.merge(again, how="left", indicator="there")
    waiting = left.loc[left["there"] == "left_only", "annotator"]
    second = sorted(set(wrong["annotator"]) - set(waiting))
    return first + [(annotator, SECOND) for annotator in second]


def failed_answers(answers: pd.DataFrame, exam: pd.DataFrame) -> pd.DataFrame:
    """Return the failed answers of the finished first attempts, with the right levels.

    The columns are `annotator, query_id, moment_id, level, reason, truth`. There are none until
    the right levels are frozen.
    """
    first = answers[answers["attempt"] == FIRST]
    first = first[first["annotator"].isin(by_finish(answers, exam) if is_frozen(exam) else [])]
    rows = _join_truth(first, exam)
    columns = ["annotator", *PAIR_KEY, "level", "reason", "truth"]
    return rows.loc[rows["failed"], columns].reset_index(drop=True)


def _join_truth(answers: pd.DataFrame, exam: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to pairs that have a right level, with `truth` and `failed`."""
    truth = exam.loc[exam["level"].notna(), [*PAIR_KEY, "level"]]
    rows = answers.merge(truth.rename(columns={"level": "truth"}), on=PAIR_KEY)
    far = (rows["level"] - rows["truth"]).abs() > MAX_DIFFERENCE
    return rows.assign(failed=far.fillna(True).astype(bool))


def whole_attempt(answers: pd.DataFrame, attempt: int) -> pd.DataFrame:
    """Return everyone's answers as of an attempt, a row for each pair."""
    until = answers[answers["attempt"] <= attempt].sort_values("attempt", kind="stable")
    return until.drop_duplicates(["annotator", *PAIR_KEY], keep="last")


def mark(answers: pd.DataFrame, exam: pd.DataFrame, max_failed: float) -> pd.DataFrame:
    """Return the result of each finished attempt (`tables.QUALIFICATIONS`), sorted.

    `answered` counts the pairs with a right level. Kappa is over those with both levels, and empty
    where chance alone would make the two agree.
    """
    results = []
    done = finished(answers, exam) if is_frozen(exam) else []
    for attempt in ATTEMPTS:
        rows = _join_truth(whole_attempt(answers, attempt), exam)
        people = [annotator for annotator, which in done if which == attempt]
        results += [
            {"annotator": annotator, "attempt": attempt}
            | mark_one(rows[rows["annotator"] == annotator], max_failed)
            for annotator in people
        ]
    frame = pd.DataFrame(results, columns=tables.QUALIFICATIONS.columns)
    checked = tables.QUALIFICATIONS.check(frame)
    return checked.sort_values(PERSON, ignore_index=True)


def mark_one(rows: pd.DataFrame, max_failed: float) -> dict[str, Any]:
    """Return the result of one attempt: its answers with `truth` and `failed`."""
    answered, failed = len(rows), int(rows["failed"].sum())
    judged = rows[rows["level"].notna()]
    cells = judged["level"].astype("int64") * LEVELS + judged["truth"].astype("int64")
    counts = np.bincount(cells, minlength=LEVELS**2).reshape(1, LEVELS, LEVELS)
    passed = answered > 0 and failed / answered <= max_failed
    kappas = {name: number(kappa(counts, weights)[0]) for name, weights in WEIGHTS.items()}
    return {
        "answered": answered,
        "failed": failed,
        **kappas,
        "passed": "yes" if passed else "no",
    }


def between_people(answers: pd.DataFrame, exam: pd.DataFrame, attempt: int) -> dict[str, Any]:
    """Return kappa between people who have finished, with everyone's answers as of an attempt.

    People who were not asked again count with the first attempt.
    """
    complete = answers[answers["annotator"].isin(by_finish(answers, exam))]
    rows = whole_attempt(complete, attempt).merge(
        exam[PAIR_KEY].reset_index(names="pair"), on=PAIR_KEY
    )
    rows = rows[rows["level"].notna()]
    annotator, annotators = pd.factorize(rows["annotator"], sort=True)
    columns = (rows["pair"].to_numpy("int64"), annotator, rows["level"].to_numpy("int64"))
    return summary(couples(sort_scores(Scores(*columns, len(exam), pd.Index(annotators)))))
