"""Label Studio's API in the few calls that a campaign needs; its failures as one clear line.

Seen on label-studio 1.23 (Community). Reading is tried again where that may help; writing never
is: a request whose answer was lost may have been done.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import httpx
from label_studio_sdk import LabelStudio as Sdk
from label_studio_sdk.core.api_error import ApiError
from label_studio_sdk.core.request_options import RequestOptions

from annotation.env import TOKEN, URL, Endpoint
from momentrank.errors import MomentRankError

PAGE = 1000
TIMEOUT_SECONDS = 600
ONCE = RequestOptions(max_retries=0, timeout_in_seconds=TIMEOUT_SECONDS)
SOMETIMES = RequestOptions(max_retries=2, timeout_in_seconds=TIMEOUT_SECONDS)
BARE = ("id", "data", "is_labeled", "total_annotations", "cancelled_annotations")
OF_ANSWER = ("id", "completed_by", "updated_by", "was_cancelled", "created_at", "updated_at",
             "lead_time", "result")  # fmt: skip
OF_DRAFT = ("id", "user", "annotation", "created_at")
# Label Studio takes these names at every level: of a task, its answers and its drafts.
FULL = {"id", "data", "is_labeled", "updated_at", "annotations", "drafts", *OF_ANSWER, *OF_DRAFT}
CHANGED = "%Y-%m-%dT%H:%M:%S.%fZ"


class StudioError(MomentRankError):
    """Label Studio can't be reached, does not let us in, or does not do as it should."""


class Project(NamedTuple):
    """A project, and how many tasks and submitted or skipped answers it holds."""

    id: int
    title: str
    description: str
    label_config: str
    expert_instruction: str
    created_at: str
    tasks: int
    answers: int


class Task(NamedTuple):
    """A task: its key, whether it is out of the stream of tasks, and how many answers it has."""

    id: int
    pair: object
    closed: bool
    answers: int

    @property
    def waits(self) -> bool:
        """Whether its annotator is offered it."""
        return not self.closed and not self.answers


class Answered(NamedTuple):
    """A task with what people have made of it, as Label Studio's API gives it.

    `answers` are its annotations, `drafts` what was not submitted: the token's owner's alone,
    Label Studio shows nobody another's.
    """

    id: int
    pair: object
    closed: bool
    updated_at: datetime
    answers: Sequence[Mapping[str, Any]]
    drafts: Sequence[Mapping[str, Any]]


class LabelStudio:
    """A server of Label Studio, through its SDK.

    Every call raises StudioError where the server can't be reached, refuses or fails.
    """

    def __init__(self, endpoint: Endpoint, page: int = PAGE) -> None:
        """Take the server's address and a token of either kind, and how much to ask for at once."""
        self.url, self._page = endpoint.url, page
        with self._told():
            self._sdk: Any = Sdk(  # type: ignore[no-untyped-call]
                base_url=endpoint.url, api_key=endpoint.token
            )

    def projects(self) -> Iterator[Project]:
        """Yield all projects that the token's owner can see."""
        for found in self._pages(self._sdk.projects.list, "count", page_size=PAGE):
            yield _project(found)

    def project(self, number: int) -> Project:
        """Return one project as it is now."""
        with self._told():
            return _project(self._sdk.projects.get(number, request_options=SOMETIMES))

    def create(self, settings: Mapping[str, Any]) -> Project:
        """Make a project."""
        with self._told():
            return _project(self._sdk.projects.create(**settings, request_options=ONCE))

    def change(self, project: Project, settings: Mapping[str, Any]) -> None:
        """Change a project's settings."""
        with self._told():
            self._sdk.projects.update(project.id, **settings, request_options=ONCE)

    def serve_local(self, project: Project, folder: str) -> None:
        """Let the people of a project see the files under `folder`, as the server knows it."""
        with self._told():
            storages = self._sdk.import_storage.local
            known = storages.list(project=project.id, request_options=SOMETIMES)
            if folder not in {storage.path for storage in known}:
                storages.create(
                    project=project.id,
                    title="clips",
                    path=folder,
                    use_blob_urls=True,
                    request_options=ONCE,
                )

    def serve_s3(self, project: Project, bucket: str, prefix: str) -> None:
        """Let the server sign the addresses of a bucket's files, with its own credentials."""
        with self._told():
            storages = self._sdk.import_storage.s3
            known = storages.list(project=project.id, request_options=SOMETIMES)
            if (bucket, prefix) not in {(found.bucket, found.prefix or "") for found in known}:
                storages.create(
                    project=project.id,
                    title="clips",
                    bucket=bucket,
                    prefix=prefix,
                    presign=True,
                    use_blob_urls=True,
                    request_options=ONCE,
                )

    def tasks(self, project: Project) -> Iterator[Task]:
        """Yield every task, without its answers."""
        for task in self._tasks(project, fields="task_only", include=",".join(BARE)):
            answers = (task.total_annotations or 0) + (task.cancelled_annotations or 0)
            yield Task(task.id, task.data.get("pair"), bool(task.is_labeled), answers)

    def answers(self, project: Project, since: datetime | None) -> Iterator[Answered]:
        """Yield the tasks with a draft or changed after `since` (None: all), with their answers."""
        changed = {} if since is None else {"query": _changed_after(since)}
        for task in self._tasks(project, fields="all", include=",".join(sorted(FULL)), **changed):
            yield _answered(task)

    def add(self, project: Project, data: Sequence[Mapping[str, Any]]) -> list[int]:
        """Add tasks, all or none; return their numbers in the same order."""
        with self._told():
            done = self._sdk.projects.import_tasks(
                project.id,
                request=[{"data": dict(one)} for one in data],
                return_task_ids=True,
                request_options=ONCE,
            )
        numbers = list(done.task_ids or [])
        if len(numbers) != len(data):
            raise StudioError(f"{self.url}: took {len(numbers)} of {len(data)} tasks; push again")
        return numbers

    def set_closed(self, task: int, closed: bool) -> None:
        """Take a task out of the stream, or give it out again; it can still be answered."""
        with self._told():
            self._sdk.tasks.update(str(task), is_labeled=closed, request_options=ONCE)

    def answer(self, task: int, result: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """Answer a task as the token's owner."""
        with self._told():
            self._sdk.annotations.create(
                task, result=list(result), lead_time=seconds, request_options=ONCE
            )

    def users(self) -> dict[str, int]:
        """Return the number of every account by its address, in lower case."""
        with self._told():
            found = self._sdk.users.list(request_options=SOMETIMES)
            return {str(user.email).lower(): int(user.id) for user in found if user.email}

    def invite_path(self) -> str:
        """Return the path with which somebody can sign up."""
        with self._told():
            return str(
                self._sdk.organizations.invites.get_invite_link(
                    request_options=SOMETIMES
                ).invite_url
            )

    def _tasks(self, project: Project, **wanted: str) -> Iterator[Any]:
        ask = self._sdk.tasks.list
        return self._pages(ask, "total", project=project.id, page_size=self._page, **wanted)

    def _pages(self, ask: Callable[..., Any], size: str, **wanted: object) -> Iterator[Any]:
        # Page by page ourselves: the SDK takes any 404 on the way for the end of the list.
        number, seen, total = 0, 0, 1
        while seen < total:
            number += 1
            with self._told():
                page = ask(page=number, request_options=SOMETIMES, **wanted)
                items, total = list(page.items or []), int(getattr(page.response, size))
            if not items and seen < total:
                raise StudioError(f"{self.url}: a list got shorter while it was read; try again")
            seen += len(items)
            yield from items

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the failures of the SDK and of the network into one line without any secret."""
        try:
            yield
        except ApiError as exc:
            raise StudioError(_refusal(self.url, exc)) from None
        except (httpx.TimeoutException, TimeoutError) as exc:
            raise StudioError(f"{self.url}: no answer in time; try again") from exc
        except httpx.ConnectError as exc:
            raise StudioError(
                f"{self.url}: nobody answers there; start it (`python -m annotation.server start`"
                f" where it is your own) or mend {URL}"
            ) from exc
        except (httpx.HTTPError, httpx.InvalidURL, json.JSONDecodeError) as exc:
            raise StudioError(f"{self.url}: the connection broke off; try again ({exc})") from exc
        except (AttributeError, TypeError) as exc:  # the SDK checks nothing that it is sent
            raise StudioError(_strange(self.url)) from exc


def _project(found: Any) -> Project:  # noqa: ANN401  (the SDK has several types for it)
    return Project(
        found.id,
        found.title or "",
        found.description or "",
        found.label_config or "",
        found.expert_instruction or "",
        str(found.created_at),
        found.task_number or 0,
        (found.total_annotations_number or 0) + (found.skipped_annotations_number or 0),
    )


def _answered(task: Any) -> Answered:  # noqa: ANN401  (the SDK has several types for it)
    return Answered(
        task.id,
        task.data.get("pair"),
        bool(task.is_labeled),
        task.updated_at.astimezone(UTC),
        [{name: one.get(name) for name in OF_ANSWER} for one in task.annotations],
        [{name: one.get(name) for name in OF_DRAFT} for one in map(_fields, task.drafts or ())],
    )


def _fields(draft: Any) -> Mapping[str, Any]:  # noqa: ANN401  (the SDK has several types for it)
    return draft if isinstance(draft, Mapping) else draft.model_dump(mode="json")


def _changed_after(since: datetime) -> str:
    """Return Label Studio's own filter of tasks; a draft does not change its task."""
    changed = {
        "filter": "filter:tasks:updated_at",
        "operator": "greater",
        "type": "Datetime",
        "value": since.astimezone(UTC).strftime(CHANGED),
    }
    draft = {
        "filter": "filter:tasks:draft_exists",
        "operator": "equal",
        "type": "Boolean",
        "value": True,
    }
    return json.dumps({"filters": {"conjunction": "or", "items": [changed, draft]}})


def _refusal(url: str, exc: ApiError) -> str:
    if exc.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"{url}: does not accept the token; mend {TOKEN} (in the environment or in .env)"
    if exc.status_code == HTTPStatus.NOT_FOUND:
        return f"{url}: what was asked for is not there (404); is it a Label Studio?"
    if exc.status_code is not None and httpx.codes.is_success(exc.status_code):
        return _strange(url)
    detail = exc.body.get("detail", "") if isinstance(exc.body, Mapping) else ""
    invalid = exc.body.get("validation_errors", "") if isinstance(exc.body, Mapping) else ""
    return f"{url}: answered {exc.status_code} {detail} {invalid}".rstrip() + "; try again"


def _strange(url: str) -> str:
    return f"{url}: what it sent is no answer of a Label Studio; mend {URL}, or try again"
