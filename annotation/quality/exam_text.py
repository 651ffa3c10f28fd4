"""The exam as a page of text for a terminal: everyone's results, attempt by attempt."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from annotation.quality.exam_pairs import by_finish, is_frozen
from annotation.quality.marking import ATTEMPTS, FIRST, SECOND, Marked, between_people
from annotation.quality.standing import Standing
from pipeline.campaign.next_step import exam_steps, format_steps
from pipeline.core.people_sections import Exam

HEAD = (
    f"{'annotator':>9}{'attempt':>9}{'answered':>10}{'left':>6}{'failed':>8}{'share':>9}{'plain':>8}"
    f"{'quadratic':>11}  stands"
)
WORDS: Mapping[Standing, str] = {
    "to-begin": "has not begun",
    "begun": "has not finished",
    "waits": "waits for others to finish",
    "failed": "failed",
    "failed-twice": "failed twice",
    "passed": "passed",
    "admitted": "admitted",
}
Left = Mapping[tuple[int, int], int]
"""Open tasks by annotator and attempt."""
Result = Mapping[Hashable, Any]
"""A row of `tables.QUALIFICATIONS`."""


def text(marked: Marked, params: Exam, standings: Mapping[int, Standing]) -> str:
    """Return everyone's results, the next steps, and where people still answer."""
    exam, answers, results, left, refused, pages = marked
    by_name = {str(number): _at_work(number, name, left) for number, name in standings.items()}
    sections = [
        [_truth(exam, answers, params), *format_steps(list(exam_steps(by_name)))],
        [HEAD, *_people(answers, results, standings, left)],
        list(_between(exam, answers, results)),
        [f"answers that don't count: {number} {why}" for why, number in sorted(refused.items())],
        [
            f"annotator {annotator}, attempt {which}: {url}"
            for (annotator, which), url in sorted(pages.items())
            if left[annotator, which]
        ],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _at_work(number: int, standing: Standing, left: Left) -> str:
    """Return a standing as `exam_steps` needs it: whether people have their tasks."""
    if standing == "to-begin" and left.get((number, FIRST)):
        return "given"
    return "told" if standing == "failed" and left.get((number, SECOND)) else standing


def _truth(exam: pd.DataFrame, answers: pd.DataFrame, params: Exam) -> str:
    size = f"exam: {len(exam)} pairs of {exam['query_id'].nunique()} queries"
    if not is_frozen(exam):
        done = len(by_finish(answers, exam))
        return f"{size}; the right levels are known when {params.group} have finished ({done} have)"
    origins = exam["origin"].value_counts().sort_index().to_dict()
    names = ", ".join(f"{number} by {origin}" for origin, number in origins.items())
    nobody = int(exam["level"].isna().sum())
    without = f"; {nobody} could not be judged, and count for nobody" if nobody else ""
    return f"{size}; right levels: {names}{without}; {100 * params.max_failed:g} % may fail"


def _people(
    answers: pd.DataFrame, results: pd.DataFrame, standings: Mapping[int, Standing], left: Left
) -> Iterator[str]:
    """Yield a line with the result of each attempt; a person's last line has their standing."""
    answered = answers.groupby(["annotator", "attempt"]).size().to_dict()
    rows = {(row["annotator"], row["attempt"]): row for row in results.to_dict("records")}
    for number in sorted(standings.keys() | set(answers["annotator"])):
        keys = [(number, attempt) for attempt in ATTEMPTS]
        begun = [key for key in keys if key in answered or key in left] or [(number, FIRST)]
        for key in begun:
            stands = _stands(rows.get(key), standings.get(number), last=key == begun[-1])
            counts = f"{number:>9}{key[1]:>9}{answered.get(key, 0):>10}{left.get(key, 0):>6}"
            yield f"{counts}{_result(rows.get(key))}  {stands}"


def _stands(result: Result | None, standing: Standing | None, *, last: bool) -> str:
    if result is not None and not (last and standing == "failed-twice"):
        mark = "passed" if result["passed"] == "yes" else "failed"
        return "admitted" if standing == "admitted" and last else mark
    if standing is None:
        return "is not asked"
    return "has feedback to answer" if standing == "failed" else WORDS[standing]


def _result(result: Result | None) -> str:
    if result is None:
        return f"{'-':>8}{'-':>9}{'-':>8}{'-':>11}"
    share = f"{100 * result['failed'] / result['answered']:.1f} %" if result["answered"] else "-"
    kappas = f"{_format(result['plain']):>8}{_format(result['quadratic']):>11}"
    return f"{result['failed']:>8}{share:>9}{kappas}"


def _between(exam: pd.DataFrame, answers: pd.DataFrame, results: pd.DataFrame) -> Iterator[str]:
    """Yield kappa between people, once the exam is marked."""
    for attempt in sorted(set(results["attempt"])):
        metrics = between_people(answers, exam, attempt)
        mean = metrics["mean_over_annotator_pairs"]
        yield (
            f"between people, attempt {attempt}: kappa plain {_format(mean['plain'])}, quadratic"
            f" {_format(mean['quadratic'])} (mean of {metrics['annotator_pairs']} pairs of people)"
        )


def _format(value: float | None) -> str:
    return "-" if value is None or pd.isna(value) else f"{value:.3f}"
