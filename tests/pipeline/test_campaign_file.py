"""A campaign's file: the code of its format, its pilot, its guideline's versions."""

import re
import shlex
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from opened import LABELS, OPEN

from pipeline.campaign.campaign import (
    FILE,
    FORMAT,
    OLDEST,
    CampaignError,
    Pilot,
    load_campaign,
    write_campaign,
)
from pipeline.campaign.phases import GuidelineFile, draw_pilot, end_pilot, revise_guideline
from pipeline.core import git, tables

CODE = {"annotation/plan.py": "1", "annotation/gone.py": "1", "dvc.yaml": "1"}
NEWER = {"annotation/plan.py": "2", "annotation/new.py": "2", "dvc.yaml": "2"}
MADE = {
    "annotation/guideline/en.md": "revised",
    "params.yaml": "changed",
    "dvc.lock": "2",
    "datasets/campaign/judgments.csv": "judged",
}


def commit(contents):
    for name, text in contents.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    for words in ("add -A", "-c user.name=A -c user.email=a@example.org commit -qm next"):
        assert git.run(*words.split()).returncode == 0


@pytest.mark.parametrize("form", [FORMAT + 1, OLDEST - 1, "null", "one"])
def test_a_campaign_of_another_format_is_refused_with_the_commit_that_finishes_it(folder, form):
    FILE.parent.mkdir(parents=True)
    write_campaign(OPEN)
    assert load_campaign() == OPEN
    FILE.write_text(FILE.read_text().replace(f"format: {FORMAT}\n", f"format: {form}\nnew: 1\n"))
    with pytest.raises(
        CampaignError, match=rf"format {FORMAT}; .* git restore --source {OPEN.commit} "
    ):
        load_campaign()


def test_a_campaign_without_a_format_is_refused(folder, repository, command):
    shutil.copy(repository / "params.yaml", folder)
    FILE.parent.mkdir(parents=True)
    FILE.write_text("id: 348075d9-cac8-4995-ad38-d2f981dd1cde\nname: Spring\n")
    for module in ("annotation.pull", "annotation.push"):
        code, _, errors = command(module)
        assert (code, "the campaign has format none" in errors) == (1, True), errors


def test_the_command_brings_back_the_code_and_keeps_what_people_made(folder):
    assert git.run("init", "-q").returncode == 0
    commit(CODE | dict.fromkeys(MADE, "as opened"))
    FILE.parent.mkdir(parents=True, exist_ok=True)
    write_campaign(OPEN.model_copy(update={"format": FORMAT + 1, "commit": git.read_head()}))
    Path("annotation/gone.py").unlink()
    commit(NEWER | MADE)
    with pytest.raises(CampaignError) as caught:
        load_campaign()
    [typed] = re.findall(r"git restore .*", str(caught.value))
    subprocess.run(shlex.split(typed), check=True)
    for name, text in (CODE | MADE).items():
        assert Path(name).read_text() == text, name
    assert not Path("annotation/new.py").exists()
    assert FILE.exists()


@pytest.mark.parametrize("form", range(OLDEST, FORMAT))
def test_an_older_campaign_is_migrated_and_nothing_else_changes(folder, form, command):
    assert git.run("init", "-q").returncode == 0
    rows = {"query_id": "q1", "moment_id": ["a", "b"], "rank": [1, 2], "similarity": [0.9, 0.8]}
    tables.CANDIDATES.write(pd.DataFrame(rows | {"batch": 1}))
    FILE.parent.mkdir(parents=True)
    write_campaign(OPEN)
    now = FILE.read_text()
    older = re.sub(r"^(further|reopenings): .*\n", "", now, flags=re.MULTILINE)
    FILE.write_text(older.replace(f"format: {FORMAT}\n", f"format: {form}\n"))
    with pytest.raises(CampaignError, match=r"python -m annotation\.campaign migrate"):
        load_campaign()
    commit({})
    code, _, errors = command("annotation.campaign", "migrate")
    assert code == 0, errors
    assert FILE.read_text() == now
    assert load_campaign() == OPEN
    assert tables.POOL.read()["moment_id"].tolist() == ["a", "b"]
    assert git.run("status", "--porcelain", "datasets/campaign").stdout == ""
    pool = tables.POOL.read().assign(expected=1.0)
    tables.POOL.write(pool)
    assert command("annotation.campaign", "migrate")[0] == 0, "once more does nothing"
    pd.testing.assert_frame_equal(tables.POOL.read(), pool)


# Its pilot, and the versions of its guideline

GUIDELINE = Path("annotation/guideline/en.md")
OPENED = datetime(2024, 5, 1, 7, tzinfo=UTC)
QUERIES = pd.DataFrame({"query_id": [f"q{n}" for n in range(9)], "query": list("abcdefghA")})


def guideline(version, sha=None):
    return GuidelineFile(version, sha or version, GUIDELINE, LABELS)


def start_campaign(version="1"):
    first = guideline(version).since(OPEN.opened_at)
    return OPEN.model_copy(update={"guideline": version, "guidelines": [first]})


def test_what_is_judged_after_a_revision_is_judged_by_the_new_version():
    revised = revise_guideline(start_campaign(), guideline("2"), "colours", "2024-05-02T07:00:00Z")
    again = revise_guideline(revised, guideline("3"), "sounds", "2024-05-03T07:00:00Z")
    hours = (-1, 0, 23, 24, 48)
    shown = [again.guidelines_shown(None, OPENED + timedelta(hours=hour)) for hour in hours]
    versions = ["".join(guide.version for guide in guides) for guides in shown]
    assert versions == ["1", "1", "1", "21", "321"]
    sent = again.guidelines_shown(again.guidelines[1].sha, OPENED)
    assert [guide.version for guide in sent] == ["2", "1"], "what the page says comes first"
    assert [revision.reason for revision in again.guidelines] == [None, "colours", "sounds"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (guideline("1"), r"is unchanged; change it first"),
        (guideline("1", "changed"), r"version 1 was used before; raise `version`"),
    ],
)
def test_a_version_is_recorded_once(file, message):
    with pytest.raises(CampaignError, match=message):
        revise_guideline(start_campaign(), file, "because", "2024-05-02T07:00:00Z")


def run_pilot(take_over):
    pilot = draw_pilot(QUERIES, OPEN.id, 3)
    running = OPEN.model_copy(update={"pilot": Pilot(queries=pilot)})
    return running, end_pilot(running, take_over=take_over, now="2024-05-02T07:00:00Z")


@pytest.mark.parametrize("take_over", [True, False])
def test_a_pilot_is_asked_alone_and_then_all_others(take_over):
    running, ended = run_pilot(take_over)
    pilot = set(running.pilot.queries)
    others = set(QUERIES["query_id"]) - pilot
    assert len(pilot) == 3
    assert "q8" not in pilot, "it is judged as the query of the same text"
    assert set(running.select_asked(QUERIES)["query_id"]) == pilot
    assert set(running.select_kept(QUERIES)["query_id"]) == pilot | others
    wanted = pilot | others if take_over else others
    assert set(ended.select_asked(QUERIES)["query_id"]) == wanted
    assert set(ended.select_kept(QUERIES)["query_id"]) == wanted
    with pytest.raises(CampaignError, match="has no pilot running"):
        end_pilot(ended, take_over=take_over, now="2024-05-03T07:00:00Z")


def test_a_pilot_leaves_queries_for_the_campaign():
    with pytest.raises(CampaignError, match=r"--pilot 8: there are only 8 distinct queries"):
        draw_pilot(QUERIES, OPEN.id, 8)


def test_phases_are_kept_in_the_campaigns_file(tmp_path):
    _, ended = run_pilot(take_over=False)
    revised = revise_guideline(ended, guideline("2"), 'it\'s "so": #1', "2024-05-02T07:00:00Z")
    write_campaign(revised, tmp_path / "campaign.yaml")
    assert load_campaign(tmp_path / "campaign.yaml") == revised
