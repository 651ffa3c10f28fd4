"""A campaign that runs from cron: the script and the crontab line of docs/campaign.md, as typed."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from opened import LABELS
from support.campaign_folder import PASSWORD, CampaignFolder, Size, email_of
from support.studio import studio

from annotation import server
from annotation.label_studio import page, settings
from pipeline.core import files, tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]

STAGES = ("pull", "plan", "push")
LOG = Path(".cache/campaign/round.log")


class Crontab:
    """The crontab of a person whose home has a campaign's folder, `kitchen`."""

    def __init__(self, home, line, environment):
        self.folder = home / "kitchen"
        self._command = line.split(maxsplit=5)[5]
        self._environment = environment | {"HOME": str(home), "PATH": "/usr/bin:/bin"}

    def run(self):
        """Run the line as cron does; return what it mails, which is nothing if all is well."""
        done = subprocess.run(
            ["/bin/sh", "-c", self._command],
            cwd=self.folder.parent,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout

    def script(self):
        """Return the exit code of the script alone."""
        return subprocess.run(
            ["/bin/sh", "round.sh"], cwd=self.folder, env=self._environment,
            capture_output=True, check=False,
        ).returncode  # fmt: skip

    def git(self, *words):
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=self._environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split("\n")[:-1]

    def commits(self):
        return self.git("log", "--format=%s")


@pytest.fixture
def crontab(tmp_path, repository):
    """Return the crontab of a campaign with the stages that involve people, under git and DVC."""
    camp = CampaignFolder.make(tmp_path / "kitchen", repository, Size(2, 2, 4))
    text = (repository / "docs/campaign.md").read_text().split("## Keep it running")[1]
    script, line = re.findall(r"```(?:sh)?\n(.*?)```", text, re.DOTALL)[:2]
    (camp.path / "round.sh").write_text(script)
    for name in (".dvc/config", ".gitignore"):
        (camp.path / name).parent.mkdir(exist_ok=True)
        shutil.copy(repository / name, camp.path / name)
    (camp.path / ".venv").symlink_to(Path(sys.executable).parents[1])
    stages = files.read_yaml(repository / "dvc.yaml")["stages"]
    for name in STAGES:
        stages[name]["deps"] = [d for d in stages[name]["deps"] if d.startswith("datasets/")]
    files.write_yaml(camp.path / "dvc.yaml", {"stages": {s: stages[s] for s in STAGES}}, "stages")
    (camp.path / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
    crontab = Crontab(tmp_path, line, camp.environment)
    for words in ("init -q", "add -A", "commit -qm begin"):
        crontab.git(*words.split())
    (camp.path / LOG).parent.mkdir(parents=True)
    return crontab


def answer_first(lead, who):
    """Sign a person up, and answer the first of their tasks."""
    person = lead.sign_up(email_of(who), PASSWORD)
    [project] = [p for p in lead.projects() if f", annotator {who}." in p["description"]]
    with contextlib.closing(person):
        person.annotate(lead.tasks(project["id"])[0]["id"], page.result_of(LABELS, 2))


def test_a_campaign_runs_from_cron(crontab, label_studio, monkeypatch):
    for name in (settings.URL, settings.TOKEN):
        monkeypatch.delenv(name, raising=False)
    folder, judged = crontab.folder, tables.JUDGMENTS
    with studio(folder, label_studio) as lead:
        # something new: the pairs that were shown
        assert crontab.run() == "", (folder / LOG).read_text()
        assert crontab.commits() == ["Judgments", "begin"]
        assert str(tables.PAIRS.path) in crontab.git("show", "--name-only", "--format=")

        # nothing new
        assert crontab.run() == ""
        assert crontab.commits() == ["Judgments", "begin"]

        # the server is down: nothing changes, cron mails why, and the next run goes on
        answer_first(lead, 1)
        before = crontab.git("rev-parse", "HEAD"), (folder / judged.path).read_bytes()
        with contextlib.chdir(folder):
            server.stop()
            assert "failed to reproduce 'pull'" in crontab.run()
            assert crontab.script() != 0
            assert "no server answers there" in (folder / LOG).read_text()
            assert before == (crontab.git("rev-parse", "HEAD"), (folder / judged.path).read_bytes())
            server.start(0)

        # a person's own run holds the lock: skipped without a word
        held = ["flock", "round.sh", "sh", "-c", "echo held; read done"]
        with subprocess.Popen(
            held, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
        ) as own:
            assert own.stdout.readline() == b"held\n"
            log = (folder / LOG).read_bytes()
            assert crontab.run() == ""
            assert (folder / LOG).read_bytes() == log
            own.communicate(b"\n")

        # judgments are committed, and nothing else that a person has changed or staged
        (folder / "params.yaml").write_text((folder / "params.yaml").read_text() + "# mine\n")
        crontab.git("add", "params.yaml")
        assert crontab.run() == ""
    assert len(judged.read(folder / judged.path)) == 1
    assert crontab.commits() == ["Judgments", "Judgments", "begin"]
    changed = crontab.git("show", "--name-only", "--format=")
    assert str(judged.path) in changed
    assert {name for name in changed if not name.startswith("datasets/campaign/")} == {"dvc.lock"}
    assert crontab.git("diff", "--cached", "--name-only") == ["params.yaml"]
