"""A campaign in a folder of its own, without a corpus: its tables, its files, its commands.

folder = CampaignFolder.make(path, repository, Size(queries=8, ranks=6, people=6))
folder.configure(url, token)
assert folder.run("plan").code == 0
"""

import contextlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd
from opened import LABELS, OPEN, STANDARD
from support.campaign_cases import SEAT, write_empty

from annotation.label_studio import guideline, keys, settings
from pipeline.campaign.campaign import FILE, Campaign, write_campaign
from pipeline.core import files, tables
from tools import settings as params_file

CAMPAIGN = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b"
SECRET = "of these tests alone: thirty-two bytes"  # noqa: S105
PASSWORD = "a-good-password"  # noqa: S105
CLIPS_URL = "https://clips.example.org"
CAPTION = "Zanzibar"
"""A word of every caption, and of nothing that anybody may see."""


class Size(NamedTuple):
    """How many queries, pairs of each, and people; and how much is written or read at once."""

    queries: int = 8
    ranks: int = 6
    people: int = 6
    push: int = 10
    page: int = 20


class Done(NamedTuple):
    """What came of a command: its exit status, and what it said."""

    code: int
    said: str


class CampaignFolder:
    """A folder in which a campaign runs, and its commands as processes."""

    def __init__(self, path: Path, repository: Path) -> None:
        self.path, self._repository = path, repository

    @classmethod
    def make(cls, path: Path, repository: Path, size: Size, url: str = CLIPS_URL):
        """Return a campaign in `path`: a copy of one that is made once in each worker."""
        shutil.copytree(_whole(repository, size, url).name, path, dirs_exist_ok=True)
        return cls(path, repository)

    def fill(self, size: Size, url: str) -> None:
        """Write everything that a campaign of this size has."""
        own = shutil.copy(self._repository / "params.yaml", self.path)
        changes = dict.fromkeys(["candidates.top", "candidates.batch"], str(size.ranks))
        changes |= {"pull.page": str(size.page), "push.batch": str(size.push), "clips.url": url}
        set_params(changes, Path(own))
        for table, rows in _contents(size):
            self.put(table, pd.DataFrame(rows, columns=table.columns))
        with contextlib.chdir(self.path):
            write_empty()
        self.open()
        self.people({number: {} for number in range(1, size.people + 1)})
        settings.write({keys.SECRET: SECRET}, self.path / settings.ENV)

    @property
    def signer(self):
        return keys.Signer(CAMPAIGN, SECRET)

    def put(self, table, frame):
        table.write(frame, self.path / table.path)

    def get(self, table):
        return table.read(self.path / table.path)

    def read_judgments(self):
        """Return the level of each judgment, by (query, moment, annotator)."""
        rows = self.get(tables.JUDGMENTS)
        return dict(zip(rows[SEAT].itertuples(index=False, name=None), rows["level"], strict=True))

    def open(self, campaign=CAMPAIGN, **changes):
        """Open a campaign, under the guideline of this version."""
        guide, opened_at = guideline.current(STANDARD), "2026-01-01T00:00:00Z"
        first = {"version": guide.version, "sha": guide.sha, "since": opened_at, "reason": None}
        usual = {"id": campaign, "name": "Faults", "commit": None, "rehearsal": True}
        usual |= {"opened_at": opened_at, "guidelines": [first | {"labels": LABELS}]}
        opened = Campaign(**(OPEN.model_dump() | usual | changes))
        write_campaign(opened, self.path / FILE)

    def people(self, changes):
        """Write both lists of people; who is not told otherwise is an active annotator."""
        usual = {"role": "annotator", "active": True}
        public = {number: usual | change for number, change in changes.items()}
        accounts = {n: {"email": email_of(n), "password": PASSWORD} for n in changes}
        folder = self.path / tables.CAMPAIGN
        files.write_yaml(folder / "annotators.yaml", {"annotators": public}, "people")
        files.write_yaml(folder / "annotators.private.yaml", {"accounts": accounts}, "accounts")

    def configure(self, url, token, root="/nowhere"):
        values = {settings.URL: url, settings.TOKEN: token, settings.ROOT: root}
        settings.write(values, self.path / settings.ENV)

    def start(self, module, *options):
        """Start a command of the campaign as a process."""
        process = subprocess.Popen(
            [sys.executable, "-m", f"annotation.{module}", *options],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return Child(process)

    def run(self, module, *options):
        """Run a command of the campaign to its end."""
        return self.start(module, *options).wait()

    @property
    def environment(self):
        ours = {"PYTHONPATH": str(self._repository)}
        away = {settings.URL, settings.TOKEN, settings.ROOT, keys.SECRET}
        return {name: value for name, value in os.environ.items() if name not in away} | ours

    def content(self, *names):
        """Return the bytes of tables, by file: they must not change."""
        paths = [table.path for table in names or [*KEPT, tables.PAIRS]]
        return {str(path): (self.path / path).read_bytes() for path in paths}

    def ledger(self):
        return (self.path / tables.PAIRS.path).read_text()


@cache
def _whole(repository: Path, size: Size, url: str) -> TemporaryDirectory:
    """Return a folder with such a campaign; it is deleted when this process ends."""
    folder = TemporaryDirectory()
    CampaignFolder(Path(folder.name), repository).fill(size, url)
    return folder


KEPT = [tables.JUDGMENTS, tables.JUDGMENT_HISTORY, tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS]


def email_of(number):
    return f"annotator{number}@example.org"


def query_of(query):
    return f"a person does the thing number {query}"


def _ids(size):
    return [(f"q{q:03}", f"q{q:03}-m{r:02}", r) for q in range(size.queries) for r in ranks(size)]


def ranks(size):
    return range(1, size.ranks + 1)


def _contents(size):
    """Yield each table of the pipeline, and its rows."""
    ids = _ids(size)
    moments = [moment for _, moment, _ in ids]
    asked = ("test", None, tables.CAPTION, "corpus")
    yield tables.QUERIES, [(f"q{q:03}", query_of(q), *asked) for q in range(size.queries)]
    yield tables.CANDIDATES, [(*row, 0.5, 1) for row in ids]
    yield tables.POOL, [(*row, 0.5, 1, "similarity", None, None) for row in ids]
    yield tables.VIDEOS, pd.DataFrame({"video_id": ["v"], "duration": [900.0], "path": ""})
    text = f"{CAPTION} as it was described"
    yield (
        tables.MOMENTS,
        [(moment, "v", at, at + 5.0, text, "v") for at, moment in enumerate(moments)],
    )
    rest = ("rules", None, None, 0, 0.9, 0.0, "passed")
    yield tables.CAPTIONS, [(moment, f"{CAPTION} falls into {moment}", *rest) for moment in moments]
    clips = enumerate(moments)
    yield tables.CLIPS, [(moment, f"clip{at}.mp4", f"clip{at}", 5.0) for at, moment in clips]


def set_params(changes, path=Path("params.yaml")):
    """Change settings in a params.yaml, and nothing else of it."""
    path.write_text(params_file.apply(path.read_text(), changes))


class Child:
    """A command that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def kill(self) -> None:
        self.process.kill()

    def wait(self) -> Done:
        output, errors = self.process.communicate()
        return Done(self.process.returncode, output + errors)
