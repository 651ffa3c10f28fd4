"""Each person's exam standing, and who is therefore not asked anything."""

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from annotation.quality.exam_pairs import by_finish, is_frozen
from annotation.quality.marking import FIRST
from annotation.roster.annotator import Annotator, roles_of_voters
from pipeline.core import tables

Standing = Literal["to-begin", "begun", "waits", "failed", "failed-twice", "passed", "admitted"]
"""`waits`: has finished, but too few others have for the right levels to be known."""
MAY_JUDGE: Sequence[Standing] = ("passed", "admitted")


def find_standings(
    annotators: Sequence[Annotator],
    exam: pd.DataFrame,
    answers: pd.DataFrame,
    results: pd.DataFrame,
) -> dict[int, Standing]:
    """Return the standing of everyone who may be asked to judge, by number.

    `answers` are `tables.EXAM_ANSWERS`, `results` `tables.QUALIFICATIONS`. Passing once is enough.
    """
    done, begun = set(by_finish(answers, exam)), set(answers["annotator"])
    passed = set(results.loc[results["passed"] == "yes", "annotator"])
    twice = set(results.loc[results["attempt"] > FIRST, "annotator"])

    def standing(person: Annotator) -> Standing:
        number = person.number
        cases: dict[Standing, bool] = {
            "admitted": person.admitted,
            "passed": number in passed,
            "failed-twice": number in twice,
            "failed": number in done and is_frozen(exam),
            "waits": number in done,
            "begun": number in begun,
        }
        return next((name for name, true in cases.items() if true), "to-begin")

    asked = roles_of_voters(annotators)
    return {person.number: standing(person) for person in annotators if person.number in asked}


def read_standings(annotators: Sequence[Annotator], *, required: bool) -> dict[int, Standing]:
    """Return everyone's standing as last marked; nothing if there is no exam."""
    exam = tables.EXAM.read()
    if exam.empty and not required:
        return {}
    marked = tables.EXAM_ANSWERS.read(), tables.QUALIFICATIONS.read()
    return find_standings(annotators, exam, *marked)


def bar(standings: Mapping[int, Standing], *, required: bool) -> dict[int, str]:
    """Return who gets no tasks because of the exam, with the reason."""
    barred = {number: name for number, name in standings.items() if name not in MAY_JUDGE}
    return {number: f"exam: {name}" for number, name in barred.items()} if required else {}
