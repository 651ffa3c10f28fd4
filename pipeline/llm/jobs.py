"""Jobs: the requests of one batch, saved before it is submitted."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipeline.core import files
from pipeline.llm.cache import disk_errors
from pipeline.llm.outcomes import Purpose
from pipeline.llm.request import Request


@dataclass
class Job:
    """The requests of one batch; `requests` has what is needed to store their answers.

    A job is open from just before its batch is submitted until it is collected; `batch` is the
    server's id, if known. `done` are earlier batches of the same requests that were collected.
    """

    key: str
    requests: dict[str, dict[str, Any]]
    is_open: bool = False
    batch: str | None = None
    done: list[str] = field(default_factory=list)

    @classmethod
    def from_requests(cls, requests: Sequence[Request]) -> "Job":
        """Return the job of some requests; its key depends on nothing else."""
        rows = {
            one.key: {"recipe": one.recipe, "asked": one.asked, "tokens_in": one.likely_in}
            for one in requests
        }
        return cls(hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest(), rows)


@dataclass(frozen=True)
class Jobs:
    """The jobs in one folder, one file each, written atomically and synced."""

    folder: Path
    purpose: Purpose

    def restore(self, job: Job) -> Job:
        """Return the saved job, or else this one."""
        return _load(self._path(job)) or job

    def open_jobs(self) -> list[Job]:
        """Return the jobs whose batch was, or may have been, submitted."""
        jobs = map(_load, sorted(self.folder.glob("*.json")))
        return [job for job in jobs if job and job.is_open]

    def save(self, job: Job) -> None:
        """Save a job as it is now."""
        with disk_errors(self.folder, self.purpose):
            files.write_json(self._path(job), asdict(job))

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.key[:32]}.json"


def _load(path: Path) -> Job | None:
    try:
        return Job(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
