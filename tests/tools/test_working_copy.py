"""`make campaign`: a working copy with the settings of the command line, or one clear error."""

import argparse
import subprocess

import pytest
from project import copy_few, make_checkout

from pipeline.core import params
from pipeline.core.params import ParamsError
from tools import campaign, clone, settings
from tools.clone import CloneError
from tools.settings import SettingsError


@pytest.fixture(scope="module")
def checkout(repository, tmp_path_factory):
    """Return a checkout of settings, and beside it a corpus whose folder's name has a space."""
    folder = tmp_path_factory.mktemp("house") / "checkout"
    folder.mkdir()
    copy_few(repository, folder, "params.yaml", "params.paper.yaml", "prompts", ".gitignore")
    (folder / ".venv").symlink_to(repository / ".venv")
    return add_corpus(folder)


def add_corpus(folder):
    corpus = folder.parent / "my corpora" / "tvr val.jsonl"
    corpus.parent.mkdir()
    corpus.write_text("")
    return folder


@pytest.fixture
def here(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    before = sorted(checkout.parent.iterdir())
    yield checkout
    leftovers = {path.name for path in checkout.parent.iterdir()} - {path.name for path in before}
    assert leftovers <= {"copy"}, "something is left behind"
    subprocess.run(["rm", "-rf", checkout.parent / "copy"], check=True)


def make(target="../copy", base="", changes=""):
    campaign.make(campaign.Path(target), base, settings.parse(changes))
    return params.load(campaign.Path(target) / "params.yaml")


def test_paths_are_meant_from_here_and_those_of_the_copy_stay(here):
    (here / "prompts" / "mine.yaml").write_text("")
    (here / "datasets/work/sample").mkdir(parents=True)
    copy_params = make(
        changes="'ingest.source=../my corpora/tvr val.jsonl' ingest.videos=../videos/{video_id}.mp4"
        " rewrite.prompt=prompts/mine.yaml names.model=builtin"
    )
    assert copy_params.ingest.source == str(here.parent / "my corpora/tvr val.jsonl")
    assert copy_params.ingest.videos == str(here.parent / "videos/{video_id}.mp4")
    assert copy_params.rewrite.prompt == str(here / "prompts/mine.yaml")
    assert copy_params.names.model == "builtin"


def test_what_a_clone_holds_and_what_stages_make_is_meant_in_the_copy(here):
    (here / "datasets/work/sample").mkdir(parents=True, exist_ok=True)
    copy_params = make(
        changes="rewrite.prompt=prompts/rewrite-v1.yaml ingest.source=datasets/work/sample"
    )
    assert copy_params.rewrite.prompt == "prompts/rewrite-v1.yaml"
    assert copy_params.ingest.source == "datasets/work/sample"


def test_it_begins_with_other_parameters_and_shares_the_environment(here):
    copy_params = make(base="params.paper.yaml", changes="split.val=3")
    assert (copy_params.split.val, copy_params.split.test) == (3, 2781)
    copy = here.parent / "copy"
    assert (copy / ".venv").readlink() == here / ".venv"
    branch = ["git", "branch", "--show-current"]
    assert subprocess.check_output(branch, cwd=copy, text=True) == "campaign\n"


@pytest.mark.parametrize(
    ("base", "changes", "error", "message"),
    [
        ("", "ingest.source=nowhere.jsonl", CloneError, "ingest.source: .*nowhere.jsonl: no such"),
        ("", "ingest.sorce=x", SettingsError, "did you mean 'source'"),
        ("broken.yaml", "", ParamsError, "broken.yaml: split.val: "),
    ],
)
def test_whatever_is_wrong_nothing_is_left_behind(here, base, changes, error, message):
    (here / "broken.yaml").write_text(
        (here / "params.yaml").read_text().replace("  val: 10", "  val: ten")
    )
    with pytest.raises(error, match=message):
        make(base=base, changes=changes)
    assert not (here.parent / "copy").exists()


def test_a_copy_that_can_not_be_finished_is_taken_away(here, monkeypatch):
    monkeypatch.setattr(clone, "ENVIRONMENTS", (".venv", ".git"))
    with pytest.raises(FileExistsError):
        make()
    assert not (here.parent / "copy").exists()


def test_what_is_there_is_never_overwritten(here):
    copy = here.parent / "copy"
    copy.symlink_to("nowhere")
    with pytest.raises(CloneError, match="already exists"):
        make()
    assert copy.is_symlink()


@pytest.mark.integration
def test_make_passes_every_character_on(repository, tmp_path, monkeypatch):
    here = add_corpus(make_checkout(repository, tmp_path, {}).folder)
    monkeypatch.chdir(here)
    words = [
        "DIR=../copy",
        "SET='ingest.source=../my corpora/tvr val.jsonl' release.name=\"A & b's $HOME $(x)\"",
    ]
    done = subprocess.run(["make", "campaign", *words], capture_output=True, text=True, check=True)
    assert "cd ../copy && . .venv/bin/activate" in done.stderr
    copy_params = params.load(here.parent / "copy/params.yaml")
    assert copy_params.ingest.source.endswith("my corpora/tvr val.jsonl")
    assert copy_params.release.name == "A & b's $HOME $(x)"
    done = subprocess.run(["make", "campaign"], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "DIR is missing: make campaign DIR=path" in done.stderr


def say_after(folder, base="", changes="", capsys=None):
    campaign.main(argparse.Namespace(folder=folder, params=base, settings=changes))
    return capsys.readouterr().err


def test_what_comes_next_can_be_pasted_and_sends_nothing_that_costs(here, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(here.parent))
    output = say_after("~/copy", changes="ingest.source=datasets/work/mine", capsys=capsys)
    assert f"cd {here.parent}/copy && " in output
    assert "    dvc repro ingest " in output
    assert "reads datasets/work/mine (tvr)" in output
    assert "campaign open --name copy " in output
    subprocess.run(["rm", "-rf", here.parent / "copy"], check=True)
    for changes in ("", "ingest.source=datasets/work/mine"):
        output = say_after("../copy", "params.paper.yaml", changes, capsys=capsys)
        commands = [line.split("  #")[0].strip() for line in output.splitlines()]
        estimate = commands.index("python -m pipeline.rewrite --estimate")
        assert commands.index("dvc repro ingest") < estimate < commands.index("dvc repro")
        assert commands.index("python -m pipeline.doctor") < estimate
        assert ("edit params.yaml" in output) == (not changes)
        subprocess.run(["rm", "-rf", here.parent / "copy"], check=True)


def test_changes_that_are_not_committed_are_said_not_to_be_in_it(here, capsys):
    before = (here / "params.yaml").read_text()
    try:
        (here / "params.yaml").write_text(before.replace("  val: 10", "  val: 11"))
        output = say_after("../copy", capsys=capsys)
    finally:
        (here / "params.yaml").write_text(before)
    assert "uncommitted changes" in output
    subprocess.run(["rm", "-rf", here.parent / "copy"], check=True)
    assert "uncommitted" not in say_after("../copy", capsys=capsys)
