"""Fetch the answers of the exam and its feedback, and mark them.

They pass the same checks as judgments: the annotator's own, changed by nobody else, to what the
task was made to show. Any other answer of theirs (skipped, two levels ...) counts as one without a
level; what someone else did is not an answer.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from annotation.answers import deviations, reader
from annotation.answers.judgments import (
    SOMEBODY_ELSES,
    FirstPairs,
    Rules,
    SortedAnswers,
    sort_answers,
)
from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.label_studio.records import Purpose
from annotation.quality.exam_pairs import freeze_truth
from annotation.quality.marking import FIRST, SECOND, Marked, mark, record_answers
from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY
from pipeline.core import tables
from pipeline.core.people_sections import Exam

ATTEMPT_OF: Mapping[Purpose, int] = {"exam": FIRST, "feedback": SECOND}


def fetch_and_mark(connection: Connection, params: Exam, *, full: bool = False) -> Marked:
    """Return the present state of the exam on the server; nothing is written.

    Without an exam, the server is not contacted.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: it is another campaign's, or a project's annotator has no known account.
    """
    exam, before = tables.EXAM.read(), tables.EXAM_ANSWERS.read()
    left, refused, answered = Counter[tuple[int, int]](), Counter[str](), []
    pages: dict[tuple[int, int], str] = {}
    shown, first_pairs = connection.campaign.guidelines_shown, _first_pairs(before, exam)
    rules = Rules(connection.signer, shown, first_pairs=first_pairs)
    for purpose, attempt in ATTEMPT_OF.items() if len(exam) else ():
        exam_projects = projects.find_projects(connection, purpose)
        set_aside = deviations.find_set_aside(tables.DEVIATIONS.read_or_empty(), purpose)
        for owner in reader.owners(connection, exam_projects):
            tasks = reader.read(connection.studio, exam_projects[owner.annotator], full=full)
            of_exam = owner._replace(kinds=(purpose,), set_aside=set_aside(owner.annotator))
            rows = sort_answers(tasks.values(), of_exam, rules)
            pages[owner.annotator, attempt] = connection.studio.page_url(
                exam_projects[owner.annotator]
            )
            left[owner.annotator, attempt] = len(rows.open_tasks)
            refused.update(row["reason"] for row in rows.rejected if row["reason"] != "draft")
            answered += _answers(rows, attempt)
    answers = record_answers(before, _as_table(answered, exam), exam)
    people = [person.number for person in connection.roster.annotators if person.active]
    exam = freeze_truth(exam, tables.GOLD.read(), answers, params.group, people)
    results = mark(answers, exam, params.max_failed)
    return Marked(exam, answers, results, left, refused, pages)


def _first_pairs(answers: pd.DataFrame, exam: pd.DataFrame) -> FirstPairs:
    """Return the pair that each answer, by its origin, was for when it was first fetched."""
    shown = answers.merge(exam.drop(columns=["level", "origin"]), on=PAIR_KEY)
    pairs = shown[[*PAIR_KEY, "annotator", "query_sha", "clip_sha"]]
    return dict(zip(shown["origin"], pairs.itertuples(index=False, name=None), strict=True))


def _answers(rows: SortedAnswers, attempt: int) -> list[dict[str, Any]]:
    """Return an annotator's answers; unreadable ones have no level."""
    unread = [
        {**row, "reason": None}
        for row in rows.rejected
        if row["reason"] not in {*SOMEBODY_ELSES, "draft"} and row["query_id"] is not None
    ]
    return [{**row, "attempt": attempt} for row in [*unread, *rows.judgments]]


def _as_table(rows: list[dict[str, Any]], exam: pd.DataFrame) -> pd.DataFrame:
    """Return rows as `tables.EXAM_ANSWERS`, without those for another text or clip."""
    columns = [*tables.EXAM_ANSWERS.columns, "query_sha", "clip_sha"]
    frame = pd.DataFrame(rows, columns=columns)
    unread = frame["query_sha"].isna()
    frame = frame.loc[unread | is_in(frame, exam, SHOWN_KEY), tables.EXAM_ANSWERS.columns]
    ordered = reader.date_answers(frame).sort_values("submitted_at")
    newest = ordered.drop_duplicates(list(tables.EXAM_ANSWERS.key), keep="last")
    return tables.EXAM_ANSWERS.check(newest)


def write(marked: Marked) -> None:
    """Write the three tables."""
    tables.EXAM_ANSWERS.write(marked.answers)  # first: the rest follows from them
    tables.EXAM.write(marked.exam)
    tables.QUALIFICATIONS.write(marked.results)


def log_line(marked: Marked) -> str:
    """Return the progress of the exam in one line."""
    passed = marked.results.loc[marked.results["passed"] == "yes", "annotator"].nunique()
    refused = ", ".join(f"{number} {reason}" for reason, number in sorted(marked.refused.items()))
    return (
        f"exam: {len(marked.answers)} answers, {marked.left.total()} tasks open, {passed} people"
        f" have passed" + (f"; refused: {refused}" if refused else "")
    )
