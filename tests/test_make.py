"""The Makefile's demo: a clone of its own that takes new commits in, whatever it has made."""

import re
import subprocess

import pytest
from project import copy_few, make_checkout

from pipeline.core import files
from tools import clone, demo

pytestmark = pytest.mark.integration


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def clone_demo(folder):
    subprocess.run(["make", "demo-clone"], cwd=folder, capture_output=True, text=True, check=True)
    return folder / ".demo"


@pytest.fixture
def checkout(repository, tmp_path):
    """Return a copy of the checkout, what is not committed included."""
    return make_checkout(repository, tmp_path, {}).folder


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "x")


def params(folder):
    return files.read_yaml(folder / "params.yaml")


def smaller(key):
    """Return a whole number of the demo's settings."""
    [value] = re.findall(rf"{key}=([0-9]+)", demo.SMALLER)
    return int(value)


VAL, TEST = smaller("split.val"), smaller("split.test")


def test_the_demo_goes_on_with_the_code_of_the_last_commit_and_its_own_campaign(checkout):
    demo = clone_demo(checkout)
    assert (params(demo)["split"]["val"], params(demo)["split"]["test"]) == (VAL, TEST)

    campaign = demo / "datasets/campaign/campaign.yaml"
    campaign.write_text("made: by the demo\n")
    (demo / "dvc.yaml").write_text((demo / "dvc.yaml").read_text().replace("  pull:", "  pulled:"))
    (demo / "dvc.lock").write_text("schema: '2.0'\n")
    (demo / "datasets/campaign/new.csv").write_text("new\n")

    text = (checkout / "params.yaml").read_text()
    text = text.replace("  seed: 2024\n  val: 10\n", "  seed: 7\n  val: 10\n")
    (checkout / "params.yaml").write_text(text)
    (checkout / "dvc.yaml").write_text((checkout / "dvc.yaml").read_text() + "# new\n")
    (checkout / "LICENSE").unlink()
    (checkout / "new.py").write_text("")
    commit(checkout)

    assert clone_demo(checkout) == demo
    split = params(demo)["split"]
    assert (split["seed"], split["val"], split["test"]) == (7, VAL, TEST)
    assert (demo / "dvc.yaml").read_text() == (checkout / "dvc.yaml").read_text()
    assert campaign.read_text() == "made: by the demo\n"
    assert (demo / "datasets/campaign/new.csv").read_text() == "new\n"
    assert (demo / "dvc.lock").read_text() == "schema: '2.0'\n"
    assert (demo / "new.py").exists()
    assert not (demo / "LICENSE").exists()
    assert git(demo, "status", "--porcelain") == ""
    assert (demo / ".venv").is_symlink()

    before = git(demo, "rev-parse", "HEAD")
    clone_demo(checkout)
    assert git(demo, "rev-parse", "HEAD") == before, "with nothing new it makes no commit"


class Kill(BaseException):
    """The process ends here."""


def kill_at_each_step(monkeypatch, work):
    """Do work, killed before its first step, its second, ...; yield after each kill."""

    steps, run = 0, clone.run

    def step(*arguments, **options):
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise Kill
        return run(*arguments, **options)

    for most in range(30):
        steps = most
        with monkeypatch.context() as patch:
            patch.setattr(clone, "run", step)
            patch.setattr(clone.shutil, "rmtree", lambda *_, **__: None)  # a kill leaves all as is
            try:
                work()
            except Kill:
                pass
            else:
                assert most > 3
                return
        yield


@pytest.fixture
def settings_alone(repository, tmp_path, monkeypatch):
    """Be in a checkout of what the demo reads and keeps, which git clones at once."""
    git_files = (".dvc/.gitignore", ".dvc/config")
    read = ("params.yaml", str(demo.SAMPLE_QUERIES))
    copy_few(repository, tmp_path, *git_files, *read, *demo.RESTORED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_killed_demo_clone_leaves_nothing_half_made(settings_alone, monkeypatch):
    for _ in kill_at_each_step(monkeypatch, lambda: demo.create(demo.SMALLER)):
        assert not demo.DEMO.exists()
        subprocess.run(["rm", "-rf", demo.WORKPLACE], check=True)
    assert params(demo.DEMO)["split"]["val"] == VAL
    written = (demo.DEMO / demo.WRITTEN_QUERIES).read_text().splitlines()
    assert len(written) == 1 + demo.BY_PERSON
    assert git(demo.DEMO, "status", "--porcelain") == ""


def test_a_killed_update_is_done_again(settings_alone, monkeypatch):
    demo.create(demo.SMALLER)
    campaign = demo.DEMO / "datasets/campaign/campaign.yaml"
    campaign.write_text("made: by the demo\n")
    (settings_alone / "new.py").write_text("")
    commit(settings_alone)
    for _ in kill_at_each_step(monkeypatch, lambda: demo.update(demo.SMALLER)):
        pass
    assert campaign.read_text() == "made: by the demo\n"
    assert params(demo.DEMO)["split"]["val"] == VAL
    assert (demo.DEMO / "new.py").exists()
    assert git(demo.DEMO, "status", "--porcelain") == ""


def test_other_pins_than_those_of_a_shared_environment_do_not_keep_the_demo(checkout):
    demo = clone_demo(checkout)
    with (checkout / "requirements.lock").open("a") as pins:
        pins.write("# changed\n")
    setup = subprocess.run(["make", "setup"], cwd=checkout, capture_output=True, check=False)
    assert setup.returncode, "an environment that is not ours is not changed"
    for target, is_there in (("stop-demo", True), ("clean-demo", False)):
        done = subprocess.run(["make", target], cwd=checkout, capture_output=True, check=False)
        assert (done.returncode, demo.exists()) == (0, is_there), done.stderr


def test_without_a_demo_there_is_nothing_to_install(checkout):
    (checkout / ".venv").unlink()
    for target in ("stop-demo", "clean-demo"):
        subprocess.run(["make", target], cwd=checkout, check=True)
    assert not (checkout / ".venv").exists()
