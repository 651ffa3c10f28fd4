"""Ask writers: their projects in Label Studio, a page in each, and a clip's description later.

Before a campaign is opened there is no campaign to sign tasks for. A project is found by the mark
in its description, if the token's owner created it; a task by its kind and subject. So an asking
that was killed is simply done again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from annotation.answers import reader
from annotation.answers.judgments import Owner, is_owners
from annotation.label_studio import storage
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.records import OPTIONS, AnsweredTask, Project, Task
from annotation.roster.roster import PUBLIC, Roster
from annotation.writing import writer_page
from annotation.writing.writer_page import KINDS, Corpus, Kind, Texts
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, rng, tables
from pipeline.core.params import Params
from pipeline.core.tables import PRIVATE
from pipeline.video import store

MARK = re.compile(rf"MomentRank queries ({'|'.join(KINDS)}), writer ([0-9]{{1,9}})\.")
STILLS = 10
DAY = timedelta(hours=24)
"""After which what was seen is asked for."""

Pages = Mapping[tuple[Kind, int], Project]
"""The projects by kind and writer."""


class Desk(NamedTuple):
    """The server, the people who may write, and the page's texts."""

    studio: LabelStudio
    roster: Roster
    texts: Texts


class PageAnswer(NamedTuple):
    """A writer's answer: to which page, when (UTC), and what they submitted."""

    kind: Kind
    writer: int
    subject: str
    at: datetime
    result: object


class Recalls(NamedTuple):
    """How many descriptions were asked for now, how many wait for their day, and until when."""

    asked: int
    waiting: int
    next: datetime | None


def choose_writers(roster: Roster, numbers: Sequence[int]) -> list[int]:
    """Return who writes: these people, active or not; else all active ones but the lead.

    Raises:
        CampaignError: one is not listed or has no account, or there is nobody.
    """
    active = [p.number for p in roster.annotators if p.active and p.role != "lead"]
    chosen = sorted(set(numbers)) or active
    if not chosen:
        raise CampaignError(f"{PUBLIC}: has no active person; add people, or name: --writers N")
    listed = {person.number for person in roster.annotators}
    for number in chosen:
        if number not in listed:
            raise CampaignError(f"--writers {number}: {PUBLIC} has no such person; add them")
        if number not in roster.accounts:
            raise CampaignError(f"{PRIVATE}: has no account for {number}; add their email address")
    return chosen


def find_pages(studio: LabelStudio) -> dict[tuple[Kind, int], Project]:
    """Return the writers' projects that the token's owner created, by kind and writer."""
    owner, found = studio.whoami(), dict[tuple[Kind, int], Project]()
    for project in sorted(studio.projects(), key=lambda project: project.id):
        mark = MARK.match(project.description)
        if mark and project.creator == owner:
            [kind] = [kind for kind in KINDS if kind == mark[1]]
            found.setdefault((kind, int(mark[2])), project)
    return found


def ask(desk: Desk, kind: Kind, writers: Sequence[int], corpus: Corpus, setting: str) -> list[str]:
    """Give each of these writers a page to fill in; return their addresses, one line each.

    Who still has such a page to fill in gets no other. `setting` is `clips.url`.
    """
    pages, lines = find_pages(desk.studio), []
    for writer in writers:
        project = _ensure_page(desk, pages, kind, writer)
        tasks = _list_tasks(desk, project)
        if not any(task.waits for task in tasks):
            drawn = corpus._replace(stills=draw_stills(writer, setting))
            if drawn.stills:
                storage.attach(desk.studio, project, storage.location(setting))
            shown = writer_page.show_corpus(kind, desk.texts, drawn)
            subject = str(len(tasks) + 1)
            data = writer_page.task_data(kind, desk.texts, subject, shown)
            desk.studio.add(project, [data])
        lines.append(f"  writer {writer}: {desk.studio.page_url(project)}")
    return lines


def ask_to_watch(desk: Desk, writers: Sequence[int], params: Params) -> list[str]:
    """Show each of these writers a clip that is asked for later; return their addresses.

    Who has not yet described an earlier one gets no other. The next clip is drawn by a hash of
    writer and moment.

    Raises:
        CampaignError: there are no clips.
    """
    clips = tables.CLIPS.read_or_empty()
    if clips.empty:
        raise CampaignError(f"{tables.CLIPS.path}: no clip to show; make clips: dvc repro clips")
    pages, lines = find_pages(desk.studio), []
    described = {(answer.writer, answer.subject) for answer in read_answers(desk, pages, "recall")}
    for writer in writers:
        project = _ensure_page(desk, pages, "seen", writer)
        storage.attach(desk.studio, project, storage.location(params.clips.url))
        subjects = [_subject(task.pair) for task in _list_tasks(desk, project)]
        if all((writer, subject) in described for subject in subjects):
            left = clips[~clips["moment_id"].isin(subjects)]
            if left.empty:
                raise CampaignError(f"writer {writer} has seen every clip")
            order = [rng.draw("recall", writer, moment) for moment in left["moment_id"]]
            drawn = left.iloc[order.index(min(order))]
            url = store.clip_url(drawn["clip"], params.clips.url)
            shown = writer_page.show_clip(desk.texts, url)
            data = writer_page.task_data("seen", desk.texts, drawn["moment_id"], shown)
            desk.studio.add(project, [data])
        lines.append(f"  writer {writer}: {desk.studio.page_url(project)}")
    return lines


def ask_for_seen(desk: Desk, now: datetime, after: timedelta = DAY) -> Recalls:
    """Ask for a description of each clip that was seen so long before `now` (UTC)."""
    pages = find_pages(desk.studio)
    asked, waiting = 0, list[datetime]()
    for answer in read_answers(desk, pages, "seen"):
        project = _ensure_page(desk, pages, "recall", answer.writer)
        subjects = {_subject(task.pair) for task in _list_tasks(desk, project)}
        if answer.subject in subjects:
            continue
        if answer.at + after > now:
            waiting.append(answer.at + after)
            continue
        shown = writer_page.show_text("recall", desk.texts)
        data = writer_page.task_data("recall", desk.texts, answer.subject, shown)
        desk.studio.add(project, [data])
        cli.log(f"  writer {answer.writer}: {desk.studio.page_url(project)}")
        asked += 1
    return Recalls(asked, len(waiting), min(waiting, default=None))


def read_answers(desk: Desk, pages: Pages, *kinds: Kind) -> Iterator[PageAnswer]:
    """Yield the writers' own answers to pages of these kinds; others' are not theirs, and logged.

    An answer that its writer changed is as of the change: they may have looked again.
    """
    users = desk.studio.users()
    for (kind, writer), project in sorted(pages.items()):
        if kind not in kinds:
            continue
        account = desk.roster.accounts.get(writer)
        owner = Owner(writer, users.get(account.email.lower()) if account else None)
        for task in reader.read(desk.studio, project).values():
            for answer in _own_answers(task, owner, project):
                at = datetime.fromisoformat(str(answer["updated_at"])).astimezone(UTC)
                yield PageAnswer(kind, writer, _subject(task.pair), at, answer["result"])


def _own_answers(task: AnsweredTask, owner: Owner, project: Project) -> Iterator[Mapping[str, Any]]:
    for answer in task.answers:
        if is_owners(answer, owner, None, {}):
            yield answer
        else:
            cli.log(f"{project.title}: task {task.id} has an answer that is not its writer's")


def _ensure_page(
    desk: Desk, pages: dict[tuple[Kind, int], Project], kind: Kind, writer: int
) -> Project:
    """Return a writer's project of a kind; create it, or complete it, where that is left to do."""
    mark = f"MomentRank queries {kind}, writer {writer}."
    config = writer_page.label_config(kind, desk.texts)
    settings = {"title": f"Queries: {kind}, writer {writer}", "description": mark}
    # Label Studio counts a text as an answer only at Enter, or at Submit; which must be possible.
    wanted = {"show_instruction": False, "enable_empty_annotation": True}
    options = OPTIONS | wanted | {"label_config": config}
    project = pages.get((kind, writer))
    if project is None:
        project = pages[kind, writer] = desk.studio.create(settings | options)
    elif project.label_config != config and not project.tasks:
        desk.studio.change(project, settings | options)
    return project


def _list_tasks(desk: Desk, project: Project) -> list[Task]:
    """Return a project's tasks; of those that killed commands have added twice, one stays open."""
    tasks = sorted(desk.studio.tasks(project), key=lambda task: (not task.answers, task.id))
    kept = dict[object, Task]()
    for task in tasks:
        if task.pair in kept and task.waits:
            desk.studio.set_closed(task.id, closed=True)
        kept.setdefault(task.pair, task)
    return list(kept.values())


def _subject(pair: object) -> str:
    return str(pair).partition(" ")[2]


def describe_corpus(params: Params, about: str = "") -> Corpus:
    """Return what writers are told of the corpus, in params.yaml and by the lead, and its size."""
    videos = tables.VIDEOS.read()
    titles = sorted(videos["video_id"], key=lambda video: rng.draw("title", video))[:STILLS]
    return Corpus(
        params.release.name, len(videos), float(videos["duration"].sum()), about, (), titles
    )


def draw_stills(writer: int, setting: str) -> list[tuple[str, float]]:
    """Return the addresses and middles (s) of clips, drawn by a hash of writer and moment.

    `setting` is `clips.url`. Empty without clips, or if they are GIFs, which can't stand still.
    """
    clips = tables.CLIPS.read_or_empty()
    clips = clips[~clips["clip"].str.endswith(".gif")]
    drawn = clips.assign(order=[rng.draw("still", writer, m) for m in clips["moment_id"]])
    rows = drawn.sort_values("order").head(STILLS)[["clip", "seconds"]]
    return [
        (store.clip_url(clip, setting), seconds / 2)
        for clip, seconds in rows.itertuples(index=False)
    ]
