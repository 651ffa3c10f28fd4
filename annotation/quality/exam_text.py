"""The exam as a page of text for a terminal: everyone's results, attempt by attempt."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from annotation.quality.exam_pairs import by_finish, is_frozen
from annotation.quality.marking import FIRST, PERSON, SECOND, Marked, between_people
from annotation.quality.standing import Standing
from pipeline.campaign.next_step import exam_steps, format_steps
from pipeline.core.people_sections import Exam

Left = Mapping[tuple[int, int], int]
"""Open tasks by annotator and attempt."""


def text(marked: Marked, params: Exam, standings: Mapping[int, Standing]) -> str:
    """Return everyone's results, the next steps, and where people still answer."""
    exam, answers, results, left, refused, pages = marked
    by_name = {str(number): _at_work(number, name, left) for number, name in standings.items()}
    sections = [
        [_truth(exam, answers, params), *format_steps(list(exam_steps(by_name)))],
        [_people(answers, results, standings, left)],
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
) -> str:
    """Return a row for each attempt: the answers given and left, its result, and who stands how."""
    given = Counter[Any](answers[PERSON].itertuples(index=False, name=None))
    keys = sorted({*given, *left, *((number, FIRST) for number in standings)})
    rows = pd.DataFrame(keys, columns=PERSON).assign(
        given=[given[key] for key in keys],
        left=[left.get(key, 0) for key in keys],
    )
    table = rows.merge(results, how="left", on=PERSON).assign(
        stands=rows["annotator"].map(standings).fillna("not asked")
    )
    counts = dict.fromkeys(("answered", "failed"), "Int64")
    cells = table.astype(counts).astype(object).fillna("-")
    return str(cells.to_string(index=False, float_format="{:.3f}".format))


def _between(exam: pd.DataFrame, answers: pd.DataFrame, results: pd.DataFrame) -> Iterator[str]:
    """Yield kappa between people, once the exam is marked."""
    for attempt in sorted(set(results["attempt"])):
        metrics = between_people(answers, exam, attempt)
        means = [
            f"{weights} {'-' if mean is None else f'{mean:.3f}'}"
            for weights, mean in metrics["mean_over_annotator_pairs"].items()
        ]
        yield (
            f"between people, attempt {attempt}: kappa {', '.join(means)}"
            f" (mean of {metrics['annotator_pairs']} pairs of people)"
        )
