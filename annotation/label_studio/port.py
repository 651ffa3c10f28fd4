"""The port to Label Studio: what a campaign needs from it, whether a server or files."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from annotation.label_studio.records import AnsweredTask, Project, Task


class Studio(Protocol):
    """Projects, tasks and answers. Every call raises StudioError if it can't be done."""

    url: str

    def projects(self) -> Iterator[Project]:
        """Yield all projects."""

    def project(self, number: int) -> Project:
        """Return one project as it is now."""

    def create(self, settings: Mapping[str, Any]) -> Project:
        """Create a project."""

    def delete_empty(self, project: Project) -> bool:
        """Delete a project if it has no tasks; return whether it is gone."""

    def change(self, project: Project, settings: Mapping[str, Any]) -> None:
        """Change a project's settings."""

    def serve_local(self, project: Project, folder: str) -> None:
        """Let the people of a project see the files under `folder`, as the server knows it."""

    def serve_s3(self, project: Project, bucket: str, prefix: str) -> None:
        """Let the server sign the addresses of a bucket's files."""

    def tasks(self, project: Project) -> Iterator[Task]:
        """Yield every task, without its answers."""

    def answers(self, project: Project, since: datetime | None) -> Iterator[AnsweredTask]:
        """Yield at least the tasks changed after `since` (None: all), with their answers."""

    def add(self, project: Project, data: Sequence[Mapping[str, Any]]) -> list[int]:
        """Add all tasks or none; return their numbers in the same order."""

    def set_closed(self, task: int, closed: bool) -> None:
        """Take a task out of the stream, or put it back; it can still be answered either way."""

    def page_url(self, project: Project) -> str:
        """Return where its annotator judges, one task after another."""

    def task_url(self, project: Project, task: int, /) -> str:
        """Return where one task of a project is."""

    def users(self) -> dict[str, int]:
        """Return the number of every account by its email address, in lower case."""

    def invite_path(self) -> str | None:
        """Return the path of the sign-up link; None where we invite nobody."""
