"""A campaign runs on code of its own format, and an error says how to get that code back."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from opened import OPEN

from pipeline.campaign.campaign import (
    FILE,
    FORMAT,
    OLDEST,
    CampaignError,
    load_campaign,
    write_campaign,
)
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
