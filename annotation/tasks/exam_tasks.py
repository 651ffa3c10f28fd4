"""The tasks of the exam and of its feedback: their keys, and what they show."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.label_studio.guideline import Guideline
from annotation.label_studio.keys import Key, Signer
from annotation.label_studio.records import Purpose
from annotation.quality.marking import FIRST, SECOND, failed_answers
from annotation.tasks.projects import ProjectSettings
from annotation.tasks.reconcile import reconcile
from annotation.tasks.shown import join_shown
from annotation.tasks.tasks import TaskData, keys_by_annotator
from annotation.votes.votes import is_in
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params
from pipeline.video import store

CLIPS = tables.WORK / "clips"
Answered = tuple[int, str, str]
"""An annotator, a query and a moment."""


def read_candidates() -> pd.DataFrame:
    """Return the candidates of the frozen queries that have a clip, with what is shown of each."""
    shown = join_shown(
        tables.CANDIDATES.read(),
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
    """Return the failed answers of these people that they have not given again.

    To the columns of the exam come `annotator`, and `level`, `reason` as answered, and `truth`.
    """
    wrong = failed_answers(answers, exam)
    wrong = wrong[wrong["annotator"].isin(list(people))]
    wanted = wrong.merge(exam.drop(columns=["level", "origin"]), on=PAIR_KEY)
    return _without(wanted.assign(kind="feedback"), answers[answers["attempt"] == SECOND])


def _without(wanted: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    key = ["annotator", *PAIR_KEY]
    return wanted[~is_in(wanted, answers, key)].reset_index(drop=True)


class FeedbackData(TaskData):
    """The data of feedback: beside the pair, what was expected, and what they answered first."""

    def __init__(
        self, pairs: pd.DataFrame, setting: str, batch: int, remarks: Mapping[Answered, list[str]]
    ) -> None:
        """Take what `TaskData` takes, and the remarks of each task."""
        super().__init__(pairs, setting, batch)
        self._remarks = remarks

    def data(self, key: Key, signer: Signer) -> Mapping[str, str]:
        """Return the data of a key's task."""
        truth, before = self._remarks[key.annotator, key.query_id, key.moment_id]
        return {**super().data(key, signer), "truth": truth, "before": before}


def remarks_of(wanted: pd.DataFrame, guide: Guideline) -> dict[Answered, list[str]]:
    """Return what each task of the feedback says above its clip, in the guideline's words."""
    columns = ["annotator", *PAIR_KEY, "truth", "level", "reason"]
    remarks, names = {}, {name: reason.name for name, reason in guide.reasons.items()}
    for annotator, query, moment, truth, level, reason in wanted[columns].itertuples(
        index=False, name=None
    ):
        right = guide.levels[truth]
        if pd.notna(level):
            first = f"{level} {guide.levels[level].name}"
        else:
            first = f"{guide.page.cant_judge}. {names.get(reason, '')}"
        remarks[annotator, query, moment] = [
            f"{guide.page.expected} {truth} {right.name}. {right.meaning}",
            f"{guide.page.first_answer} {first}",
        ]
    return remarks


def push(
    connection: Connection,
    params: Params,
    purpose: Purpose,
    wanted: pd.DataFrame,
    *,
    beside_others: bool = False,
) -> dict[str, int]:
    """Reconcile the projects of exam or feedback with the tasks that are wanted of people.

    Raises:
        StudioError: the server can't be reached or fails; what is done stays done.
        CampaignError: it is another campaign's, the guideline is not the campaign's, or a clip is
            gone.
    """
    guide = guideline.of_campaign(connection.campaign, params.annotation)
    texts = tables.FROZEN_QUERIES.read()[["query_id", "query"]]
    pairs = wanted.merge(texts, on="query_id")
    refuse_missing_clips(pairs, params.clips.url)
    shown = (pairs, params.clips.url, params.push.batch)
    data = (
        FeedbackData(*shown, remarks_of(pairs, guide))
        if purpose == "feedback"
        else TaskData(*shown)
    )
    common = ProjectSettings(purpose, guide, params.clips.url, beside_others)
    return reconcile(connection, common, keys_by_annotator(pairs, guide.version), data)


def close_all(connection: Connection, params: Params) -> None:
    """Take back what is open of exam and feedback, if there is an exam.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: the guideline is not the campaign's.
    """
    exam, answers = tables.EXAM.read(), tables.EXAM_ANSWERS.read()
    if len(exam):
        push(connection, params, "exam", exam_tasks(exam, answers, []))
        push(connection, params, "feedback", feedback_tasks(exam, answers, []))


def refuse_missing_clips(pairs: pd.DataFrame, setting: str, folder: Path = CLIPS) -> None:
    """Stop where a clip of the exam is not in the folder that Label Studio serves.

    Raises:
        CampaignError: some are gone.
    """
    names = sorted(set(pairs["clip"])) if setting == store.LABEL_STUDIO else []
    gone = [name for name in names if not (folder / name).is_file()]
    if gone:
        raise CampaignError(
            f"{tables.EXAM.path}: {len(gone)} of its clips are not in {folder} (the first:"
            f" {gone[0]}). Everybody is shown the same clips: bring them back (dvc checkout"
            f" {folder}), or take the lines of their pairs out of {tables.EXAM.path}, for all"
        )
