"""Two clones of one campaign that both pull and commit: what git can't merge, and the way out."""

import contextlib
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from support.campaign_cases import IN_GIT, usual
from support.campaign_folder import CampaignFolder, Size

from annotation.answers import deviations, pulling
from annotation.answers.judgments import SortedAnswers
from annotation.assignment.shown import join_shown, read_pairs_to_judge
from annotation.label_studio.connection import Connection
from annotation.roster import roster
from annotation.tasks import pushing
from annotation.votes.campaign_votes import consensus
from pipeline.campaign import design
from pipeline.campaign.campaign import FILE, load_campaign
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import tables
from pipeline.core.files import FileError
from pipeline.core.params import load
from pipeline.core.table import TableError
from pipeline.distribution import versions

TABLES = {table.path: table.read for table in IN_GIT}
OTHERS = {
    FILE: load_campaign,
    roster.PUBLIC: roster.read_people,
    roster.PRIVATE: roster.read_accounts,
    versions.FILE: versions.read_published,
    design.PATH: design.read,
}


def git(*words: str, fails: bool = False) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout


def merge_file(path: Path, base: str, ours: str, theirs: str) -> None:
    """Leave in a file what git makes of two versions of a third."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, text in (("base", base), ("theirs", theirs)):
        Path(name).write_text(text)
    path.write_text(ours)
    git("merge-file", str(path), "base", "theirs", fails=True)


VERSIONS = {
    "rows": ("a,b\n1,2\n", "a,b\n1,2\n3,4\n", "a,b\n1,2\n5,6\n"),
    "the header": ("a,b\n1,2\n", "a,c\n1,2\n", "a,d\n1,2\n"),
    "a cell of two lines": ('a,b\n1,"x\ny"\n', 'a,b\n1,"x\nz"\n', 'a,b\n1,"x\nw"\n'),
    "Windows": ("a,b\r\n1,2\r\n", "a,b\r\n3,4\r\n", "a,b\r\n5,6\r\n"),
}


@pytest.mark.parametrize("kind", VERSIONS)
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_conflict_is_recognised_in_every_table(path, kind, folder):
    merge_file(path, *VERSIONS[kind])
    with pytest.raises(FileError, match=conflict_in(path)):
        TABLES[path]()


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_a_conflict_is_recognised_in_every_other_file(path, folder):
    merge_file(path, "a: 1\nb: 2\n", "a: 1\nb: 3\n", "a: 1\nb: 4\n")
    path.chmod(0o600)
    with pytest.raises(FileError, match=conflict_in(path)):
        OTHERS[path]()


def conflict_in(path: Path) -> str:
    name = re.escape(str(path))
    return rf"{name}, line [1-9]\d*: a merge conflict: .*git checkout --ours {name} && git add"


@pytest.mark.parametrize("half", ["<<<<<<< HEAD\n", ">>>>>>> 1a2b3c4 (Judgments)\n"])
def test_one_mark_that_was_left_is_enough(half, folder):
    path = tables.EXTEND.path
    path.parent.mkdir(parents=True)
    path.write_text(f"query_id,extend\nq1,yes\n{half}")
    with pytest.raises(FileError, match=r"line 3: a merge conflict"):
        tables.EXTEND.read()


@pytest.mark.parametrize("note", ["see <<<<<<< HEAD", "<<<<<<<", " >>>>>>> a", "======="])
def test_what_only_looks_like_a_mark_is_text(note, folder):
    path = tables.SECOND_LOOK.path
    path.parent.mkdir(parents=True)
    row = pd.DataFrame([("q", "m", f"line\n{note}", "lead")], columns=tables.SECOND_LOOK.columns)
    tables.SECOND_LOOK.write(row)
    assert tables.SECOND_LOOK.read()["note"].tolist() == [f"line\n{note}"]


class Server:
    """The one server of all clones: the answers that people gave so far."""

    def __init__(self) -> None:
        self.answers: list[dict[str, object]] = []

    def judge(self, query: str, *people: int, level: int = 3) -> None:
        """Let people judge the pair of a query, as it is shown."""
        candidates, extra = read_pairs_to_judge(load().candidates.batch)
        shown = join_shown(candidates, extra, tables.QUERIES.read(), tables.CLIPS.read())
        [pair] = shown.loc[shown["query_id"] == query].to_dict("records")
        for annotator in people:
            number = len(self.answers)
            when = f"2026-01-02T00:{number:02}:00Z"
            answer = usual(number) | {name: pair[name] for name in SHOWN_KEY}
            answer |= {"annotator": annotator, "level": level, "origin": f"{number}@{when}"}
            times = {"submitted_at": when, "updated_at": when}
            self.answers.append(answer | times | {"state": "stands"})

    def fetch(self, *_: object, **__: object) -> SortedAnswers:
        return SortedAnswers(list(self.answers), [], [], [])


@pytest.fixture
def server(monkeypatch):
    """Return a server to which pulls and pushes of this process go."""
    server = Server()
    monkeypatch.setattr(pulling, "fetch", server.fetch)
    monkeypatch.setattr(deviations, "inspect", lambda *_: {})
    monkeypatch.setattr(pushing, "reconcile", lambda *arguments: arguments[-1]())
    return server


def sync(*queries: str, push: bool = True) -> None:
    """Pull, then push the pairs of these queries, as `dvc repro push` does."""
    studio = SimpleNamespace(now=lambda: datetime.now(UTC), accounts=dict)
    connection = Connection(load_campaign(), studio, None, roster.read_roster())
    pulling.pull(connection)
    wanted = tables.POOL.read()
    wanted = wanted.loc[wanted["query_id"].isin(queries), ["query_id", "moment_id"]]
    assignments = wanted.assign(annotator=1, kind="first")
    if push:
        pushing.push(connection, pushing.describe_pairs(assignments, load()), load())


@pytest.fixture
def clones(tmp_path, repository):
    """Return two clones of a campaign of three queries with a pair each."""
    first, second = tmp_path / "ann", tmp_path / "bo"
    campaign = CampaignFolder.make(first, repository, Size(queries=3, ranks=1))
    campaign.put(tables.OPEN_TASKS, tables.OPEN_TASKS.empty())
    with contextlib.chdir(first):
        git("init", "-q")
        git("add", "-A")
        git("commit", "-qm", "Open")
        git("clone", "-q", str(first), str(second))
    return first, second


def work(clone: Path, *queries: str, push: bool = True) -> None:
    with contextlib.chdir(clone):
        sync(*queries, push=push)
        git("commit", "-qam", "Judgments")


def judge_in_both(server: Server, clones: tuple[Path, Path]) -> None:
    """Let both pull and push at different times, and commit; then merge one into the other.

    Each has shown a pair that the other's ledger lacks, under the same number.
    """
    ann, bo = clones
    with contextlib.chdir(ann):
        work(ann, "q000", "q002")
        server.judge("q000", 1, 2)
        work(ann, push=False)
        work(bo, "q001")
        server.judge("q001", 3, 4, level=1)
        work(bo)
        server.judge("q002", 5, 6, level=0)
        work(ann, push=False)
        git("pull", "-q", "--no-rebase", str(bo), "HEAD", fails=True)


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_the_way_out_that_is_printed_loses_nothing(side, clones, server):
    ann, _ = clones
    judge_in_both(server, clones)
    with contextlib.chdir(ann):
        conflicts = git("diff", "--name-only", "--diff-filter=U").split()
        assert {Path(name).name for name in conflicts} >= {
            "judgments.csv", "judgment_history.csv", "pairs.csv",
        }  # fmt: skip
        for name in conflicts:
            with pytest.raises(FileError) as caught:
                TABLES[Path(name)]()
            [typed] = re.findall(
                r"git checkout --ours \S+ && git add \S+?(?=[, ])", str(caught.value)
            )
            subprocess.run(["sh", "-c", typed.replace("--ours", side)], check=True)
        git("commit", "-qm", "Merge")
        sync()
        judgments = tables.JUDGMENTS.read()
        assert len(judgments) == len(server.answers) == 6
        assert set(tables.JUDGMENT_HISTORY.read()["state"]) == {"stands"}
        outcomes = consensus(judgments, tables.PAIRS.read(), tables.VOIDED.read())
        levels = dict(zip(outcomes["query_id"], outcomes["level"], strict=True))
        assert levels == {"q000": 3, "q001": 1, "q002": 0}
        assert not tables.PAIRS.read()["pair_id"].duplicated().any()
        before = tables.PAIRS.path.read_bytes()
        sync()
        assert tables.PAIRS.path.read_bytes() == before


def test_keeping_both_sides_is_refused(clones, server):
    ann, _ = clones
    judge_in_both(server, clones)
    with contextlib.chdir(ann):
        kept = re.sub(r"(?m)^([<>]{7} .*|={7})\n", "", tables.PAIRS.path.read_text())
        tables.PAIRS.path.write_text(kept)
        with pytest.raises(TableError, match="appears twice"):
            tables.PAIRS.read()
