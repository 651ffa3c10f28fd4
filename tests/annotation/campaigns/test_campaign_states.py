"""Every command in every state of a campaign: what it may change, and what it says where not."""

import argparse
import json
import re
import runpy
import shutil
import sys
from pathlib import Path
from typing import get_args

import pytest
from project import name_collection
from support.campaign_folder import CampaignFolder, Size

from annotation.simulation import commands
from pipeline.campaign import phases
from pipeline.campaign.campaign import FILE, Pilot, Reopening, load_campaign
from pipeline.campaign.freezing import freeze
from pipeline.campaign.next_step import MANIFEST
from pipeline.campaign.reopening import BASES
from pipeline.core import cli, files, git, tables
from pipeline.core.params import PARAMS, load
from pipeline.distribution.facts import find_missing

STATES = get_args(phases.State)
REOPENING = Reopening(
    at="2026-03-01T00:00:00Z", reason="more", closed_at="2026-02-01T00:00:00Z", version="1.0.0"
)
CHANGES = {
    "annotation.adjudicate": "--pair q000 q000-m01",
    "annotation.audit plan": "plan --queries 1",
    "annotation.campaign close": "close",
    "annotation.campaign open": "open --name Spring",
    "annotation.campaign open --end-pilot": "open --end-pilot",
    "annotation.campaign open --revise": "open --revise clearer",
    "annotation.campaign reopen": "reopen --reason later",
    "annotation.exam feedback": "feedback",
    "annotation.exam mark": "mark",
    "annotation.exam push": "push",
    "annotation.exam status": "status",
    "annotation.people invite": "invite",
    "annotation.people list": "list",
    "annotation.people void": "void 1 --from 2026-01-01",
    "annotation.pool admit": "admit splade.run",
    "annotation.pool top-up": "top-up splade.run --depth 1 --yes",
    "annotation.pull --accept-loss": "--accept-loss",
    "annotation.pull --take-set-aside": "--take-set-aside",
    "annotation.pull --trust-imported": "--trust-imported",
    "annotation.push --beside-others": "--beside-others",
    "annotation.queries accept": "accept --all",
    "annotation.queries add": "add mine.csv",
    "annotation.queries ask": "ask",
    "annotation.queries check": "check",
    "annotation.queries pull": "pull",
    "annotation.queries refuse": "refuse --all",
    "annotation.simulate": "",
    "pipeline.publish": "--to folder public",
    "pipeline.publish --incomplete": "--to folder public --incomplete",
}
"""What to type after the module, for each command that the table of states has."""
READS = {
    "annotation.audit published": "published raw.csv val.json",
    "annotation.audit report": "report",
    "annotation.campaign migrate": "migrate",
    "annotation.estimate": "",
    "annotation.people hours": "hours",
    "annotation.pilot": "",
    "annotation.pool check": "check",
    "annotation.pool late": "late",
    "annotation.rehearsal": "",
    "annotation.server check": "check",
    "annotation.server start": "start",
    "annotation.server status": "status",
    "annotation.server stop": "stop",
    "annotation.status": "",
    "pipeline.check": "",
    "pipeline.doctor": "",
    "pipeline.outside": "",
    "pipeline.recover": "",
    "pipeline.show": "--queries 1",
}
"""The same for all others: they change nothing that a campaign is made of."""


@pytest.fixture
def state(request, folder, repository):
    """Be in the folder of a campaign that is in this state."""
    campaign = CampaignFolder.make(folder, repository, Size(queries=2, ranks=1))
    shutil.copy(repository / "dvc.yaml", cli.DAG)
    changes = {"rehearsal": False}
    if request.param == "pilot":
        changes["pilot"] = Pilot(queries=["q000"]).model_dump()
    if request.param == "reopened":
        changes["reopenings"] = [REOPENING.model_dump()]
        folder_of_base = BASES / REOPENING.version
        folder_of_base.mkdir(parents=True)
        (folder_of_base / "consensus.csv").write_text("pair_id,level\n")
    if request.param in {"closed", "released"}:
        changes["closed_at"] = "2026-02-01T00:00:00Z"
        freeze()
    campaign.open(**changes)
    if request.param == "none":
        FILE.write_text("null\n")
    if request.param == "released":
        released = {"campaign": load_campaign().model_dump(), "files": {}}
        files.write_json(MANIFEST, released)
    return request.param


def list_commands(package: str) -> set[str]:
    """Return the commands of a package's folder, by their modules and verbs."""
    stages = {entry["cmd"].split()[-1] for entry in files.read_yaml(cli.DAG)["stages"].values()}
    names = {f"{package}.{path.stem}" for path in Path(package).glob("[!_]*.py")}
    names -= stages - {"annotation.pool"}  # a stage that has commands, too
    return {command for name in names for command in list_verbs(name)}


class ParsedError(Exception):
    """The command line was about to be read, with this parser."""


def list_verbs(module: str) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:

        def stop(parser, *_):
            raise ParsedError(parser)

        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        patch.setattr(sys, "argv", [module])
        with pytest.raises(ParsedError) as caught:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    [parser] = caught.value.args
    verbs = [
        verb
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for verb in action.choices
    ]
    return [f"{module} {verb}" for verb in verbs] or [module]


@pytest.mark.parametrize("package", ["annotation", "pipeline"])
def test_each_command_of_the_folder_has_an_entry(package, repository, monkeypatch):
    monkeypatch.chdir(repository)
    known = {name.partition(" --")[0] for name in CHANGES | READS}
    stages = {name.partition(" --")[0] for name in CHANGES if "annotation.pu" in name}
    assert list_commands(package) == {name for name in known - stages if name.startswith(package)}


def test_each_entry_of_the_table_is_tried_here():
    assert phases.ALLOWED.keys() == CHANGES.keys()
    assert {state for states in phases.ALLOWED.values() for state in states.split()} <= {*STATES}


def snapshot() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in tables.CAMPAIGN.rglob("*") if path.is_file()}


@pytest.mark.parametrize("state", STATES, indirect=True)
@pytest.mark.parametrize("name", CHANGES)
def test_a_command_that_changes_inputs_asks_the_state(name, state, command):
    before = snapshot()
    code, _, errors = command(name.split()[0], *CHANGES[name].split())
    refused = f"error: {FILE}: " in errors
    assert refused == (state not in phases.ALLOWED[name].split()), errors
    if refused:
        assert code == 1
        assert re.search(r"python -m [a-z]|dvc repro|make campaign", errors), errors
        assert snapshot() == before


@pytest.mark.parametrize("state", STATES, indirect=True)
@pytest.mark.parametrize("name", READS)
def test_every_other_command_changes_no_inputs(name, state, command, monkeypatch):
    monkeypatch.setattr(commands, "run", lambda *_: 1)  # what a rehearsal would type
    monkeypatch.setattr(commands, "command", lambda *_: ["true"])
    before = snapshot()
    command(name.split()[0], *READS[name].split())
    assert snapshot() == before


@pytest.mark.parametrize("state", ["closed"], indirect=True)
def test_a_closed_campaign_says_what_to_type_to_go_on(state, command):
    code, _, errors = command("annotation.audit", "plan", "--queries", 1)
    assert code == 1
    assert "dvc repro release report, then python -m annotation.campaign reopen" in errors


@pytest.mark.parametrize("state", ["none"], indirect=True)
def test_opening_commits_how_the_queries_were_made_and_names_what_a_release_needs(state, command):
    Path("dvc.lock").write_text("before\n")
    for words in ("init -q", "add -A", "commit -qm next"):
        assert git.run(*words.split()).returncode == 0
    Path("dvc.lock").write_text("of these queries\n")
    name_collection(PARAMS, citation=None)
    code, _, errors = command("annotation.campaign", "open", "--name", "Spring")
    assert code == 0, errors
    assert git.run("status", "--porcelain", str(PARAMS), "dvc.lock").stdout == ""
    assert find_missing(load()) == ["release.citation"]
    assert "release.citation" in errors
    assert "release.license" not in errors


def test_released_means_as_it_is_now(folder, repository):
    campaign = CampaignFolder.make(folder, repository, Size(queries=2, ranks=1))
    campaign.open(closed_at="2026-02-01T00:00:00Z")
    MANIFEST.parent.mkdir(parents=True)
    closed = load_campaign()
    MANIFEST.write_text(json.dumps({"campaign": closed.model_dump() | {"given_up": 3}}))
    assert phases.find_state(closed) == "closed"
    MANIFEST.write_text(json.dumps({"campaign": closed.model_dump()}))
    assert phases.find_state(closed) == "released"
