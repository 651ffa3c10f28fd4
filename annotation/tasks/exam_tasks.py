"""The tasks of the exam and its feedback: their keys, and what they show."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from annotation.assignment.shown import join_shown
from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.label_studio.guideline import Guideline
from annotation.label_studio.records import Purpose
from annotation.quality.marking import FIRST, SECOND, failed_answers
from annotation.tasks.annotator_project import ProjectSettings
from annotation.tasks.reconcile import reconcile
from annotation.tasks.tasks import Remarks, TaskData, Whose, keys_by_annotator
from annotation.votes.votes import is_in
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params
from pipeline.video import store

CLIPS = tables.WORK / "clips"


def read_candidates() -> pd.DataFrame:
    """Return the candidates of the frozen queries that have a clip, with what is shown of each."""
    shown = join_shown(
        tables.POOL.read(),
        tables.WANTED.empty(),
        tables.FROZEN_QUERIES.read(),
        tables.CLIPS.read(),
    )
    return shown.sort_values(PAIR_KEY, ignore_index=True)


def exam_tasks(exam: pd.DataFrame, answers: pd.DataFrame, people: Collection[int]) -> pd.DataFrame:
    """Return the pairs of the exam that these people have not answered, for each of them."""
    everybody = pd.DataFrame({"annotator": sorted(people)}, dtype="int64")
    wanted = exam.merge(everybody, how="cross").assign(kind="exam")
    return _without(wanted, answers[answers["attempt"] == FIRST])


def feedback_tasks(
    exam: pd.DataFrame, answers: pd.DataFrame, people: Collection[int]
) -> pd.DataFrame:
    """Return these people's failed answers that they have not given again.

    The columns are those of the exam, plus `annotator`, `level` and `reason` as answered, and
    `truth`.
    """
    wrong = failed_answers(answers, exam)
    wrong = wrong[wrong["annotator"].isin(list(people))]
    wanted = wrong.merge(exam.drop(columns=["level", "origin"]), on=PAIR_KEY)
    return _without(wanted.assign(kind="feedback"), answers[answers["attempt"] == SECOND])


def _without(wanted: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    key = ["annotator", *PAIR_KEY]
    return wanted[~is_in(wanted, answers, key)].reset_index(drop=True)


def describe_feedback(wanted: pd.DataFrame, guide: Guideline) -> Remarks:
    """Return what was expected and what was answered first, in the guideline's words.

    `wanted` is as returned by `feedback_tasks`.
    """
    columns = [*PAIR_KEY, "annotator", "truth", "level", "reason"]
    names = {name: reason.name for name, reason in guide.reasons.items()}
    remarks: dict[Whose, Mapping[str, str]] = {}
    for query, moment, annotator, truth, level, reason in wanted[columns].itertuples(index=False):
        right = guide.levels[truth]
        if pd.notna(level):
            first = f"{level} {guide.levels[level].name}"
        else:
            first = f"{guide.page.cant_judge}. {names.get(reason, '')}"
        remarks[query, moment, annotator] = {
            "truth": f"{guide.page.expected} {truth} {right.name}. {right.meaning}",
            "before": f"{guide.page.first_answer} {first}",
        }
    return remarks


def push(
    connection: Connection,
    params: Params,
    purpose: Purpose,
    wanted: pd.DataFrame,
    *,
    beside_others: bool = False,
) -> dict[str, int]:
    """Reconcile the projects of exam or feedback with the tasks that people should have.

    Raises:
        StudioError: the server can't be reached or fails; what was done stays done.
        CampaignError: it is another campaign's, the guideline is not the campaign's, or a clip is
            missing.
    """
    guide = guideline.of_campaign(connection.campaign, params.annotation)
    texts = tables.FROZEN_QUERIES.read()[["query_id", "query"]]
    pairs = wanted.merge(texts, on="query_id")
    refuse_missing_clips(pairs, params.clips.url)
    remarks = describe_feedback(pairs, guide) if purpose == "feedback" else {}
    data = TaskData(pairs, params.clips.url, params.push.batch, remarks)
    common = ProjectSettings(purpose, guide, params.clips.url, beside_others)
    return reconcile(connection, common, keys_by_annotator(pairs, guide.version), data)


def close_all(connection: Connection, params: Params) -> None:
    """Withdraw the open tasks of exam and feedback, if there is an exam.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: the guideline is not the campaign's.
    """
    exam, answers = tables.EXAM.read(), tables.EXAM_ANSWERS.read()
    if len(exam):
        push(connection, params, "exam", exam_tasks(exam, answers, []))
        push(connection, params, "feedback", feedback_tasks(exam, answers, []))


def refuse_missing_clips(pairs: pd.DataFrame, setting: str, folder: Path = CLIPS) -> None:
    """Refuse if a clip of the exam is not in the folder that Label Studio serves.

    Raises:
        CampaignError: some are missing.
    """
    names = sorted(set(pairs["clip"])) if setting == store.LABEL_STUDIO else []
    gone = [name for name in names if not (folder / name).is_file()]
    if gone:
        raise CampaignError(
            f"{tables.EXAM.path}: {len(gone)} of its clips are not in {folder} (the first:"
            f" {gone[0]}). Everyone must see the same clips: restore them (dvc checkout"
            f" {folder}), or delete the lines of their pairs from {tables.EXAM.path}, for all"
        )
