"""Label Studio out of reach: import files carried to the server, exports brought back.

Each project has a folder with its settings, instructions, and import files. An import file is
written once and never changed: its tasks have been handed out. Exports go into `exports/`, in any
number; the newest version of each answer counts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from annotation.label_studio.errors import StudioError
from annotation.label_studio.exports import ExportedTask, instant, read_exports
from annotation.label_studio.records import AnsweredTask, Project, Task
from annotation.label_studio.roster import Account
from pipeline.core import cli, files
from pipeline.core.tables import PRIVATE

TASKS_OF_A_PROJECT = 1_000_000
"""A task's number is its project's, times this, and its place among the project's tasks."""
SETTINGS, CLOSED, HOWTO = "project.json", "closed.json", "README.txt"
REOPENED = "reopened.json"
STEPS = """\
{title}

Once: create a project of this name in Label Studio, with Settings > Labeling Interface > Code from
label_config.xml and Settings > Instructions from instruction.html ("show before labeling"). Under
Settings > Annotation let each task be annotated once. {clips}
Each time: import the files import-*.json that are not there yet, each once, in order.
Back: Export > JSON, and put the file into {exports}/.
"""


class FileExchange:
    """Projects as folders of files, and answers from exports."""

    def __init__(self, folder: Path, accounts: Mapping[int, Account]) -> None:
        """Take the folder to exchange files in, and the accounts of the annotators."""
        self.url, self._folder, self._accounts = str(folder), folder, accounts
        self._imports: dict[Path, list[dict[str, Any]]] = {}

    def projects(self) -> Iterator[Project]:
        """Yield all projects, by number."""
        for path in sorted(self._folder.glob(f"projects/*/{SETTINGS}")):
            yield self._project(path.parent)

    def project(self, number: int) -> Project:
        """Return one project as it is now."""
        return self._project(self._place(number))

    def create(self, settings: Mapping[str, Any]) -> Project:
        """Create a project's folder."""
        numbers = [project.id for project in self.projects()]
        number = max(numbers, default=0) + 1
        name = re.sub(r"[^\w-]+", "-", str(settings["title"])).strip("-").lower()
        made = {"id": number, "created_at": datetime.now(UTC).isoformat(), "clips": ""}
        place = self._folder / "projects" / f"{number:03}-{name}"
        self._write(place, made | dict(settings))
        return self._project(place)

    def delete_empty(self, project: Project) -> bool:
        """Delete a project if it has no tasks; return whether it is gone."""
        place = self._place(project.id)
        if list(place.glob("import-*.json")):
            return False
        for path in place.iterdir():
            path.unlink()
        place.rmdir()
        return True

    def change(self, project: Project, settings: Mapping[str, Any]) -> None:
        """Change a project's settings."""
        place = self._place(project.id)
        self._write(place, files.read_json(place / SETTINGS) | dict(settings))

    def serve_local(self, project: Project, folder: str) -> None:
        """Name the folder of clips to add in the project's steps."""
        clips = f"Settings > Cloud Storage: add Local files, {folder}, as source files; don't sync."
        self.change(project, {"clips": clips})

    def serve_s3(self, project: Project, bucket: str, prefix: str) -> None:
        """Name the bucket to add in the project's steps."""
        clips = f"Settings > Cloud Storage: add s3://{bucket}/{prefix} with presigned addresses."
        self.change(project, {"clips": clips})

    def tasks(self, project: Project) -> Iterator[Task]:
        """Yield every task that was handed out, without its answers."""
        for task in self.answers(project, None):
            yield Task(task.id, task.pair, task.closed, len(task.answers), task.query, task.clip)

    def answers(self, project: Project, since: datetime | None) -> Iterator[AnsweredTask]:  # noqa: ARG002  (see below)
        """Yield every task that was handed out, with its exported answers.

        `since` is ignored: an export may come late, and its old answers are new to us.
        """
        place = self._place(project.id)
        closed, opened_at = self._closed(place), self._opened_at(place)
        first = project.id * TASKS_OF_A_PROJECT
        for number, data in enumerate(self._given_out(place), start=first):
            exported = self._exports.get(data["pair"], ExportedTask(data["pair"], None, None, {}))
            answers = [exported.answers[one] for one in sorted(exported.answers)]
            shown = exported if answers else ExportedTask(
                data["pair"], data["query"], data["clip_html"], {}
            )  # fmt: skip
            yield AnsweredTask(
                number,
                data["pair"],
                number in closed or bool(answers),  # as on a server: an answer closes its task
                max([opened_at[number - first], *map(instant, answers)]),
                answers,
                [],
                shown.query,
                shown.clip,
            )

    def add(self, project: Project, data: Sequence[Mapping[str, Any]]) -> list[int]:
        """Write another import file; return the numbers of its tasks in the same order."""
        place = self._place(project.id)
        before = len(self._given_out(place))
        path = place / f"import-{len(list(place.glob('import-*.json'))) + 1:04}.json"
        files.write_json(path, [{"data": dict(one)} for one in data])
        first = project.id * TASKS_OF_A_PROJECT + before
        return list(range(first, first + len(data)))

    def set_closed(self, task: int, closed: bool) -> None:
        """Note that a task is no longer wanted, or wanted again; the server keeps it either way."""
        place = self._place(task // TASKS_OF_A_PROJECT)
        numbers = self._closed(place) | {task} if closed else self._closed(place) - {task}
        if not closed:
            when = self._reopened(place) | {str(task): datetime.now(UTC).isoformat()}
            files.write_json(place / REOPENED, when)
        files.write_json(place / CLOSED, sorted(numbers))

    def page_url(self, project: Project) -> str:
        """Return the project's folder: only the remote server knows its address."""
        return self._place(project.id).as_posix()

    def task_url(self, project: Project, _task: int, /) -> str:
        """Return the project's folder as well: the server numbers its tasks itself."""
        return self.page_url(project)

    def users(self) -> dict[str, int]:
        """Return the number of every account by its email address, in lower case.

        Exports identify people by account number, so annotators.private.yaml must contain it.
        """
        missing = [one for one, account in self._accounts.items() if account.number is None]
        if missing and self._exports:
            raise StudioError(
                f"{PRIVATE}: accounts.{missing[0]}.number is missing: exports identify people by"
                " account number (`completed_by`), which Label Studio shows its owner under"
                " Organization > People"
            )
        return {
            account.email.lower(): account.number
            for account in self._accounts.values()
            if account.number is not None
        }

    def invite_path(self) -> None:
        """Return None: the server's owner invites people."""

    @cached_property
    def _exports(self) -> Mapping[object, ExportedTask]:
        exports = read_exports(self._folder / "exports")
        places = self._folder.glob("projects/*")
        given_out = {data["pair"] for place in places for data in self._given_out(place)}
        if strange := len(exports.keys() - given_out):
            cli.log(f"{self._folder / 'exports'}: {strange} tasks are in none of our import files")
        return exports

    def _place(self, number: int) -> Path:
        for path in self._folder.glob(f"projects/{number:03}-*"):
            return path
        raise StudioError(f"{self._folder}/projects: project {number:03} is missing; restore it")

    def _project(self, place: Path) -> Project:
        settings = files.read_json(place / SETTINGS)
        keys = [data["pair"] for data in self._given_out(place)]
        return Project(
            settings["id"],
            settings["title"],
            settings.get("description", ""),
            settings.get("label_config", ""),
            settings.get("expert_instruction", ""),
            settings["created_at"],
            len(keys),
            sum(len(self._exports[key].answers) for key in keys if key in self._exports),
        )

    def _given_out(self, place: Path) -> list[dict[str, Any]]:
        """Return the data of all tasks in a project's import files, in order."""
        return [data for path in sorted(place.glob("import-*.json")) for data in self._import(path)]

    def _import(self, path: Path) -> list[dict[str, Any]]:
        if path not in self._imports:
            self._imports[path] = [task["data"] for task in files.read_json(path)]
        return self._imports[path]

    def _opened_at(self, place: Path) -> list[datetime]:
        """Return when each task was last handed out: its file written, or the task reopened."""
        written = [
            datetime.fromtimestamp(path.stat().st_mtime, UTC)
            for path in sorted(place.glob("import-*.json"))
            for _ in self._import(path)
        ]
        for task, when in self._reopened(place).items():
            written[int(task) % TASKS_OF_A_PROJECT] = datetime.fromisoformat(when)
        return written

    def _reopened(self, place: Path) -> dict[str, str]:
        path = place / REOPENED
        return dict(files.read_json(path)) if path.is_file() else {}

    def _closed(self, place: Path) -> set[int]:
        path = place / CLOSED
        return set(files.read_json(path)) if path.is_file() else set()

    def _write(self, place: Path, settings: Mapping[str, Any]) -> None:
        files.write_json(place / SETTINGS, dict(settings))
        texts = {
            "label_config.xml": settings.get("label_config", ""),
            "instruction.html": settings.get("expert_instruction", ""),
            HOWTO: STEPS.format(
                title=settings["title"],
                clips=settings["clips"],
                exports=(self._folder / "exports").as_posix(),
            ),
        }
        for name, text in texts.items():
            with files.unfinished(place / name) as stream:
                stream.write(text)
