"""A copy of the checkout in which DVC runs, with a sample corpus that is quickly drawn."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SMALL = {
    r"videos: \d+": "videos: 4",
    r"fps: \d+": "fps: 4",
    r"height: \d+": "height: 120",
    r"sentences: \d+": "sentences: 200",
    r"epochs: \d+": "epochs: 1",
    r"min_similarity: null ": "min_similarity: 0.0 ",
    r"min_detail: \S+ ": "min_detail: 0.0 ",
    r"max_name_score: 0.8 ": "max_name_score: 1.0 ",
    r"val: \d+": "val: 1",
    r"test: \d+": "test: 3",
    r"top: 40 ": "top: 8 ",
    r"batch: 20 ": "batch: 4 ",
}
ALWAYS = ("pull", "pool", "push")
ENVIRONMENTS = (".venv", ".venv-label-studio")
RAN = Path(".dvc/tmp/first_run.json")


NAMED = {
    "name": "Kitchen moments",
    "license": "cc-by-4.0",
    "url": "https://example.org/kitchen",
    "citation": "A. Cook: Kitchen moments. 2024.",
    "creators": ["Cook, Ada"],
    "rai.annotators": "Six students of the department, paid 15 EUR an hour.",
    "rai.personal_information": "The videos show hands alone.",
    "rai.social_impact": "It may help people who can not see to find a scene.",
    "rai.use_cases": "To compare systems of moment retrieval; not to watch people.",
    "rai.maintenance": "The department keeps it until 2034.",
}
OWNER = """\
name = "Ada Cook"
email = "ada@example.org"
security = "security@example.org"
repository = "https://example.org/momentrank"
issues = "https://example.org/momentrank/issues"
"""
"""What an owner fills in."""


def name_collection(path: Path, **changes) -> None:
    """Say in a params.yaml what a closed campaign is released with."""
    text = path.read_text()
    for key, value in (NAMED | changes).items():
        *_, last = key.split(".")
        text, number = re.subn(rf"(?m)^( +{last}:) null ", rf"\1 {json.dumps(value)} ", text)
        assert number == 1, key
    path.write_text(text)


class Project:
    """A git clone of the checkout with DVC, in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            **{name: value for name, value in os.environ.items() if "LABEL_STUDIO" not in name},
            "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"],
        }

    def run(self, *command: str, fails: bool = False, **env: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.env | env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        self.errors = done.stderr
        return done.stdout

    def code(self, *command: str) -> int:
        """Run a command that may end in any way; return its exit code."""
        return subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, check=False
        ).returncode

    def repro(self, *targets: str) -> list[str]:
        """Run `dvc repro`; return the stages that it ran, but for those that always run."""
        self.output = self.run("dvc", "repro", *targets)
        stages = re.findall(r"Running stage '([^']+)'", self.output)
        assert set(ALWAYS) <= set(stages)
        return [name for name in stages if name not in ALWAYS]

    def change(self, name: str, pattern: str, text: str) -> None:
        path = self.folder / name
        before = path.read_text()
        after = re.sub(pattern, text, before, count=1)
        assert after != before
        path.write_text(after)


def copy_of(repository: Path, folder: Path, small: dict[str, str] = SMALL) -> Project:
    """Copy what git knows or would, change params.yaml by patterns, and commit it."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=repository, capture_output=True, text=True, check=True)
    for name in filter(lambda name: (repository / name).is_file(), names.stdout.split("\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, folder / name)
    project = Project(folder)
    for pattern, text in small.items():
        project.change("params.yaml", pattern, text)
    return _commit(project)


def copy_few(repository: Path, folder: Path, *names: str) -> Project:
    """Copy a few files and folders, and commit what is not ignored: git clones them at once."""
    command = ["cp", "-r", "--parents", ".gitignore", *names, folder]
    subprocess.run(command, cwd=repository, check=True)
    return _commit(Project(folder))


def _commit(project: Project) -> Project:
    for words in ("init -q", "add -A", "commit -qm copy"):
        project.run("git", *words.split())
    return project


def make_checkout(repository: Path, parent: Path, small: dict[str, str] = SMALL) -> Project:
    """Copy the checkout to parent/checkout, with the environments that `make setup` would make."""
    folder = parent / "checkout"
    folder.mkdir()
    project = copy_of(repository, folder, small)
    for name in filter(lambda name: (repository / name).exists(), ENVIRONMENTS):
        (folder / name).symlink_to((repository / name).resolve())
    return project


def run_first(repository: Path, folder: Path) -> None:
    """Make a small project in which everything has run once and is committed; note what ran."""
    project = copy_of(repository, folder)
    (folder / RAN).write_text(json.dumps(project.repro()))
    project.run("git", "add", "-A")
    project.run("git", "commit", "-qm", "dvc.lock", "--allow-empty")
