"""A released campaign, reopened on the real server with two new people, late runs and a query.

Each command that reopens, closes or releases is killed on its way, and repeated.
"""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from collections import Counter

import pandas as pd
import pytest
from project import Project
from support.campaign_folder import set_params
from support.studio import studio

from annotation.roster import roster
from annotation.roster.roster import Account, Person
from pipeline.campaign.campaign import FILE, load_campaign
from pipeline.campaign.freezing import is_frozen
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.phases import find_state
from pipeline.campaign.reopening import BASES
from pipeline.core import cli, files, tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]

MOST_ROUNDS = 14
BASE = BASES / "0.1.0"
NEW = (7, 8)
CAMPAIGN = ("annotation.campaign", "reopen", "--reason", "late runs")
CLOSE = ("annotation.campaign", "close", "--unaudited")
KILL = """
import importlib, os, runpy, signal, sys
owner, _, name = sys.argv[1].rpartition(".")
owner = importlib.import_module(owner)
left, whole = int(sys.argv[2]), getattr(owner, name)
def strike(*values, **named):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(*values, **named)
setattr(owner, name, strike)
sys.argv = sys.argv[3:]
runpy.run_module(sys.argv[0], run_name="__main__")
"""
"""Runs a command, and kills it at a call of a function after so many others."""


def kill(project, place, after, *command):
    words = [sys.executable, "-c", KILL, place, str(after), *command]
    where = {"cwd": project.folder, "env": project.env}
    done = subprocess.run(words, capture_output=True, check=False, **where)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def python(project, *command, fails=False):
    return project.run("python", "-m", *command, fails=fails)


def judge_all(project):
    for _ in range(MOST_ROUNDS):
        project.repro("push")
        if pd.read_parquet(project.folder / tables.ASSIGNMENTS.path).empty:
            return
        python(project, "annotation.simulate")
    raise AssertionError("judgments are still missing")


def write_runs(project):
    """Write a run that finds what is least similar, and one that finds some videos' moments."""
    moments = pd.read_parquet(project.folder / tables.MOMENTS.path).sort_values("moment_id")
    queries = pd.read_csv(project.folder / tables.FROZEN_QUERIES.path)
    reversed_ids = moments.iloc[::-1]
    for name, rows in (("baseline", moments[::3]), ("looking", reversed_ids[::4])):
        lines = [
            f"{query} Q0 {row.video_id} {row.start} {row.end} {rank} {100 - rank} {name}\n"
            for query in queries["query_id"]
            for rank, row in enumerate(rows[:8].itertuples(), start=1)
        ]
        (project.folder / f"{name}.run").write_text("".join(lines))


def add_people(project):
    with contextlib.chdir(project.folder):
        people = files.read_yaml(roster.PUBLIC)["annotators"]
        accounts = roster.read_accounts()
        new = {
            number: Account(
                email=f"new{number}@example.org", name=None, password=f"a-new-password-{number}"
            )
            for number in NEW
        }
        listed = {number: Person(**person) for number, person in people.items()}
        listed |= {number: Person(role="annotator", active=True) for number in NEW}
        roster.write(listed, accounts | new)


@pytest.fixture(scope="module")
def released(tmp_path_factory, first_run, label_studio):
    """Return a project whose campaign is closed and released, on its server."""
    folder = tmp_path_factory.mktemp("reopened") / "c"
    shutil.copytree(first_run, folder, symlinks=True)
    project = Project(folder)
    with studio(project.folder, label_studio) as lead:
        python(
            project, "annotation.campaign", "open", "--name", "Test", "--rehearsal", "--people", "6"
        )
        judge_all(project)
        python(project, *CLOSE)
        project.run("dvc", "repro")
        project.run("git", "commit", "-qam", "Release")
        yield project, lead


@pytest.fixture(scope="module")
def reopened(released):
    """Return it reopened, judged by old and new people, closed and released again."""
    project, _ = released
    for place, after in (
        ("pipeline.core.files.unfinished", 3),
        ("pipeline.campaign.freezing.unfreeze", 0),
        ("pipeline.campaign.campaign.write_campaign", 0),
        ("pipeline.core.git.commit", 0),
    ):
        kill(project, place, after, *CAMPAIGN)
    python(project, *CAMPAIGN)
    with contextlib.chdir(project.folder):
        assert find_state(load_campaign()) == "reopened"
    assert project.run("git", "status", "--porcelain", "datasets/campaign", "dvc.yaml") == ""
    set_params({"plan.link": "0.2"}, project.folder / "params.yaml")
    add_people(project)
    write_runs(project)
    (project.folder / "mine.csv").write_text("query\na woman opens a window\n")
    python(project, "annotation.queries", "add", "mine.csv")
    python(project, "annotation.queries", "accept", "--all", "--anyway")
    runs = ("baseline.run", "looking.run", "--depth", "4", "--yes")
    python(project, "annotation.pool", "top-up", *runs)
    judge_all(project)
    project.status = python(project, "annotation.status") + project.errors
    kill(project, "pipeline.campaign.freezing.freeze", 0, *CLOSE)
    kill(project, "pipeline.core.git.commit", 0, *CLOSE)
    python(project, *CLOSE)
    with contextlib.chdir(project.folder):
        assert is_frozen()
    assert project.run("git", "status", "--porcelain", "datasets/campaign", "dvc.yaml") == ""
    project.run("dvc", "repro", fails=True)
    project.too_low = project.errors
    set_params({"release.version": "0.2.0"}, project.folder / "params.yaml")
    project.run("dvc", "repro", "consensus")
    kill(project, "pipeline.core.files.unfinished", 5, "pipeline.release")
    project.run("dvc", "repro")
    project.run("git", "commit", "-qam", "Release")
    return project


def read_both(project, name):
    paths = (project.folder / BASE / name, project.folder / tables.RELEASE / name)
    return [path.read_text().splitlines() for path in paths]


def test_old_pairs_are_the_same_bytes_and_new_ones_are_judged(reopened):
    for name in ("pairs.csv", "consensus.csv", "raw_annotation.csv"):
        before, after = read_both(reopened, name)
        assert after[: len(before)] == before
        assert len(after) > len(before)
    for split in ("val", "test"):
        before, after = read_both(reopened, f"qrels/{split}.qrels")
        assert [line for line in after if line in {*before}] == before
    with contextlib.chdir(reopened.folder):
        judgments, topup = tables.JUDGMENTS.read(), tables.TOPUP.read()
        levels = tables.CONSENSUS.read()
        queries = tables.FROZEN_QUERIES.read()
    assert set(topup["origin"]) == {"baseline", "looking"}
    assert len(topup.merge(levels, on=PAIR_KEY)) == len(topup)
    assert not (levels["outcome"] == "waiting").any()
    [mine] = queries.loc[queries["query"] == "a woman opens a window", "query_id"]
    assert len(levels[levels["query_id"] == mine]) >= 4
    kinds = Counter(judgments.loc[judgments["annotator"].isin(NEW), "kind"])
    assert kinds["first"] > 0
    assert kinds["link"] > 0
    [link] = files.read_json(reopened.folder / cli.METRICS / "consensus.json")["agreement"]["link"]
    assert (link["version"], link["votes"], link["people"]) == ("0.1.0", kinds["link"], 2)
    assert f"link: {kinds['link']} judgments of {link['pairs']} decided pairs" in reopened.status
    assert set(judgments.loc[judgments["kind"] == "link", "annotator"]) <= {*NEW}


def test_version_and_changes_are_told(reopened, capsys):
    assert "release.version is 0.1.0, but 0.1.0 is released" in reopened.too_low
    assert "set it to 0.2.0 (minor) or higher" in reopened.too_low
    release = reopened.folder / tables.RELEASE
    changes = files.read_json(release / "changes.json")
    told = reopened.run("momentrank", "diff", str(BASE), str(tables.RELEASE), "--json")
    assert {**json.loads(told), "scores": None} == {**changes, "scores": None}
    assert (changes["old"], changes["new"], changes["required"]) == ("0.1.0", "0.2.0", "0.2.0")
    assert len(changes["splits"]["test"]["queries_added"]) == 1
    assert all(not split["levels"] for split in changes["splits"].values())
    assert sum(len(split["pairs_added"]) for split in changes["splits"].values()) > 4


def test_a_clone_without_the_corpus_is_reopened_voided_and_released(reopened, tmp_path):
    clone = Project(tmp_path / "clone")
    reopened.run("git", "clone", "-q", ".", str(clone.folder))
    shutil.rmtree(clone.folder / "datasets/sample")
    again = ("dvc", "repro", "--force", "--single-item", "consensus", "release")
    assert "is not released as it is" in clone.run("sh", "-c", f"python -m {' '.join(CAMPAIGN[:2])}"
                                                   " --reason x 2>&1", fails=True)  # fmt: skip
    clone.run(*again)
    python(clone, "annotation.campaign", "reopen", "--reason", "careless")
    assert "datasets/sample" in clone.run("sh", "-c", "dvc repro 2>&1", fails=True)
    python(clone, "annotation.people", "void", "7", "--from", "2020-01-01", "--reason", "careless")
    offline = ("--offline", "--give-up")
    python(clone, *CLOSE, *offline)
    set_params({"release.version": "0.3.0"}, clone.folder / "params.yaml")
    clone.run(*again)
    with contextlib.chdir(clone.folder):
        assert [one.version for one in load_campaign(FILE).reopenings] == ["0.1.0", "0.2.0"]
        changes = files.read_json(tables.RELEASE / "changes.json")
        judgments = tables.JUDGMENTS.read()
        kept = pd.read_csv(tables.RELEASE / "raw_annotation.csv")
    assert changes["old"] == "0.2.0"
    assert 7 in {*judgments["annotator"]}
    assert 7 not in {*kept["worker"]}
    removed = sum(len(split["pairs_removed"]) for split in changes["splits"].values())
    assert removed > 0
