"""What is remembered of batches, so that a killed run submits nothing twice."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipeline.core import files
from pipeline.llm.cache import on_disk
from pipeline.llm.request import Request


@dataclass
class Job:
    """Requests that go into one batch; `requests` holds what it takes to keep their answers.

    It is open from before a batch is submitted until it is collected; `batch` is the server's
    id where it is known. `done` are batches of the same requests that were collected.
    """

    key: str
    requests: dict[str, dict[str, Any]]
    is_open: bool = False
    batch: str | None = None
    done: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, requests: Sequence[Request]) -> "Job":
        """Return the job for some requests; its key depends on nothing else."""
        told = {
            request.key: {
                "recipe": request.recipe,
                "asked": request.asked,
                "tokens_in": request.likely_in,
            }
            for request in requests
        }
        return cls(hashlib.sha256("\n".join(sorted(told)).encode()).hexdigest(), told)


@dataclass(frozen=True)
class Jobs:
    """The jobs in one folder, a file each; written whole, and synced."""

    folder: Path

    def remembered(self, job: Job) -> Job:
        """Return the job as it was saved, or as it is."""
        return self._load(self._path(job)) or job

    def under_way(self) -> list[Job]:
        """Return the jobs for which a batch was, or may have been, submitted."""
        jobs = [self._load(path) for path in sorted(self.folder.glob("*.json"))]
        return [job for job in jobs if job and job.is_open]

    def save(self, job: Job) -> None:
        """Remember a job as it is now."""
        with on_disk(self.folder):
            files.write_json(self._path(job), asdict(job))

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.key[:32]}.json"

    def _load(self, path: Path) -> Job | None:
        try:
            return Job(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
