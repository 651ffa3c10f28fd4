"""Label Studio's API in the few calls that a campaign needs.

Reads are retried where that may help; writes never
are: a request whose response was lost may have been carried out.
"""

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from annotation.label_studio import settings
from annotation.label_studio.errors import ShorterListError, StudioError, translate_errors
from annotation.label_studio.records import (
    BARE,
    FULL,
    OF_PROJECT,
    AnsweredTask,
    Attachment,
    Project,
    Task,
)
from annotation.label_studio.settings import Endpoint
from pipeline.core import cli

if TYPE_CHECKING:
    import httpx
    from label_studio_sdk.core.request_options import RequestOptions

TESTED = "1.23.2"
"""The version of Label Studio (Community) that requirements-label-studio.lock pins."""
PAGE = 1000
TIMEOUT_SECONDS = 600
ONCE: "RequestOptions" = {"max_retries": 0, "timeout_in_seconds": TIMEOUT_SECONDS}
SOMETIMES: "RequestOptions" = {"max_retries": 2, "timeout_in_seconds": TIMEOUT_SECONDS}
READINGS = 4
"""How often to read a list of projects that gets shorter while it is read."""
EXPORTS, VIEWS = "api/storages/export/", "api/dm/views/"
DATE_PRECISION = timedelta(seconds=1)
"""Of the header `Date`."""
CHANGED = "%Y-%m-%dT%H:%M:%S.%fZ"


class LabelStudio:
    """A Label Studio server, through its SDK.

    Every call raises StudioError if the server can't be reached, refuses or fails.
    """

    def __init__(self, endpoint: Endpoint, page: int = PAGE) -> None:
        """Take the server's address, a token of either kind, and the page size of requests."""
        from label_studio_sdk.base_client import LabelStudioBase as Sdk  # noqa: PLC0415  (--help needs none)

        self.url, self._page = endpoint.url, page
        with translate_errors(self.url):
            self._sdk: Any = Sdk(base_url=endpoint.url, api_key=endpoint.token)

    def version(self) -> str | None:
        """Return the server's version, or None if there is no such answer, whatever the reason."""
        with contextlib.suppress(StudioError), translate_errors(self.url):
            release = self._sdk.versions.get(request_options=ONCE).release
            return release if isinstance(release, str) else None
        return None

    def compare_version(self) -> str | None:
        """Return the server's version; log a warning if it is not the one that was tested."""
        version = self.version()
        if version not in {None, TESTED}:
            cli.log(f"WARNING: {self.url} is Label Studio {version}; only {TESTED} was tested")
        return version

    def projects(self) -> Iterator[Project]:
        """Yield all projects that the token's owner can see.

        If one is deleted meanwhile, as a push does with its ticket, all are read again.
        """
        for _ in range(READINGS - 1):
            with contextlib.suppress(ShorterListError):
                return iter(self._read_projects())
        return iter(self._read_projects())

    def project(self, number: int) -> Project:
        """Return one project as it is now."""
        with translate_errors(self.url):
            return Project.parse(self._sdk.projects.get(number, request_options=SOMETIMES))

    def create(self, settings: Mapping[str, Any]) -> Project:
        """Create a project."""
        with translate_errors(self.url):
            return Project.parse(self._sdk.projects.create(**settings, request_options=ONCE))

    def delete_empty(self, project: Project) -> bool:
        """Delete a project if it has no tasks or answers; return whether it is gone."""
        from label_studio_sdk.core.api_error import ApiError  # noqa: PLC0415  (--help needs none)

        with translate_errors(self.url):
            try:
                item = self._sdk.projects.get(project.id, request_options=SOMETIMES)
                current = Project.parse(item)
                if current.tasks or current.answers:
                    return False
                self._sdk.projects.delete(project.id, request_options=ONCE)
            except ApiError as exc:
                if exc.status_code != HTTPStatus.NOT_FOUND:
                    raise
            return True

    def change(self, project: Project, settings: Mapping[str, Any]) -> None:
        """Change a project's settings."""
        with translate_errors(self.url):
            self._sdk.projects.update(project.id, **settings, request_options=ONCE)

    def delete_predictions(self, project: Project) -> None:
        """Delete the predictions in a project: its page would open with a level chosen."""
        everything = {"all": True, "excluded": []}
        with translate_errors(self.url):
            self._sdk.actions.create(
                id="delete_tasks_predictions",
                project=project.id,
                selected_items=everything,
                request_options=ONCE,
            )

    def attachments(self, project: Project) -> list[Attachment]:
        """Return the storages, webhooks and models of a project, and the views that hide tasks."""
        found = []
        for kind, base in (("import storage", "api/storages/"), ("export storage", EXPORTS)):
            items = self._request("GET", base.rstrip("/") if base == EXPORTS else base, project)
            found += [Attachment.parse_storage(kind, base, item) for item in items.json()]
        for kind, base in (("webhook", "api/webhooks/"), ("model", "api/ml/")):
            items = self._request("GET", base, project)
            found += [Attachment.parse_address(kind, base, item) for item in items.json()]
        items = self._request("GET", VIEWS, project).json()
        views = (Attachment.parse_view("view", VIEWS, item) for item in items)
        return [*found, *filter(None, views)]

    def detach(self, attachment: Attachment) -> None:
        """Delete something attached to a project."""
        end = "/" if attachment.kind in {"webhook", "view"} else ""
        self._request("DELETE", f"{attachment.path}{end}")

    def now(self) -> datetime:
        """Return the server's time, at most two seconds late: what it did before is earlier."""
        date = self._request("GET", "api/current-user/whoami").headers.get("Date")
        return parsedate_to_datetime(date) + DATE_PRECISION

    def _request(self, method: str, path: str, project: Project | None = None) -> "httpx.Response":
        """Send a request for which the SDK has no call that serves every kind of storage."""
        from label_studio_sdk.core.api_error import ApiError  # noqa: PLC0415  (--help needs none)

        with translate_errors(self.url):
            response: httpx.Response = self._sdk._client_wrapper.httpx_client.request(
                path,
                method=method,
                params={} if project is None else {"project": project.id},
                request_options=SOMETIMES if method == "GET" else ONCE,
            )
            if not response.is_success:
                raise ApiError(status_code=response.status_code, body=response.text)
        return response

    def serve_local(self, project: Project, folder: str) -> None:
        """Let the people of a project see the files under `folder`, as the server knows it."""
        with translate_errors(self.url):
            self._serve(self._sdk.import_storage.local, project, {"path": folder})

    def serve_s3(self, project: Project, bucket: str, prefix: str) -> None:
        """Let the server sign the addresses of a bucket's files, with its own credentials."""
        bucket_prefix = {"bucket": bucket, "prefix": prefix}
        with translate_errors(self.url):
            self._serve(self._sdk.import_storage.s3, project, bucket_prefix, presign=True)

    def tasks(self, project: Project) -> Iterator[Task]:
        """Yield every task, without its answers."""
        for task in self._tasks(project, fields="task_only", include=",".join(BARE)):
            yield Task.parse(task)

    def answers(self, project: Project, since: datetime | None) -> Iterator[AnsweredTask]:
        """Yield tasks with a draft or changed after `since` (None: all), with their answers."""
        changed = {} if since is None else {"query": _changed_after(since)}
        for task in self._tasks(project, fields="all", include=",".join(sorted(FULL)), **changed):
            yield AnsweredTask.parse(task)

    def add(self, project: Project, data: Sequence[Mapping[str, Any]]) -> list[int]:
        """Add all tasks or none; return their numbers in the same order."""
        with translate_errors(self.url):
            response = self._sdk.projects.import_tasks(
                project.id,
                request=[{"data": dict(row)} for row in data],
                return_task_ids=True,
                request_options=ONCE,
            )
        numbers = list(response.task_ids or [])
        if len(numbers) != len(data):
            raise StudioError(
                f"{self.url}: accepted {len(numbers)} of {len(data)} tasks; push again"
            )
        return numbers

    def set_closed(self, task: int, closed: bool) -> None:
        """Take a task out of the stream, or put it back; it can still be answered either way."""
        with translate_errors(self.url):
            self._sdk.tasks.update(str(task), is_labeled=closed, request_options=ONCE)

    def page_url(self, project: Project) -> str:
        """Return the address at which its annotator judges, one task after another."""
        return f"{self._data_url(project)}?labeling=1"

    def task_url(self, project: Project, task: int, /) -> str:
        """Return the address that opens one task of a project."""
        return f"{self._data_url(project)}?task={task}"

    def users(self) -> dict[str, int]:
        """Return the number of every account by its email address, in lower case.

        Signing up stores addresses in lower case, but anyone can create an account through the API.

        Raises:
            StudioError: two accounts have the same address.
        """
        numbers: dict[str, int] = {}
        for number, email, _ in self.accounts():
            if numbers.setdefault(email, number) != number:
                raise StudioError(
                    f"{self.url}: accounts {numbers[email]} and {number} have one address"
                    " (ignoring case), so their answers can't be told apart; delete the one that"
                    " its owner did not create (docs/server.md)"
                )
        return numbers

    def accounts(self) -> list[tuple[int, str, datetime]]:
        """Return the number, address and first day of every account."""
        with translate_errors(self.url):
            users = self._sdk.users.list(request_options=SOMETIMES)
            return sorted(
                (int(user.id), str(user.email).lower(), user.date_joined)
                for user in users
                if user.email
            )

    def whoami(self) -> int:
        """Return the account that the token belongs to."""
        with translate_errors(self.url):
            return int(self._sdk.users.whoami(request_options=SOMETIMES).id)

    def invite_path(self) -> str:
        """Return the path of the sign-up link."""
        with translate_errors(self.url):
            invites = self._sdk.organizations.invites
            return str(invites.get_invite_link(request_options=SOMETIMES).invite_url)

    def _read_projects(self) -> list[Project]:
        wanted = {"page_size": PAGE, "include": ",".join(OF_PROJECT)}
        return [*map(Project.parse, self._pages(self._sdk.projects.list, "count", **wanted))]

    def _data_url(self, project: Project) -> str:
        return f"{settings.public_address(self.url)}/projects/{project.id}/data"

    def _serve(
        self,
        storages: Any,  # noqa: ANN401  (a client of its own for each kind of storage)
        project: Project,
        location: Mapping[str, str],
        **how: bool,
    ) -> None:
        existing = storages.list(project=project.id, request_options=SOMETIMES)
        if location not in [
            {name: getattr(storage, name) or "" for name in location} for storage in existing
        ]:
            settings = {"title": "clips", "use_blob_urls": True, **location, **how}
            storages.create(project=project.id, **settings, request_options=ONCE)

    def _tasks(self, project: Project, **wanted: str) -> Iterator[Any]:
        # Request what a task shows as it was pushed, not as a signed address.
        query = {"project": project.id, "page_size": self._page, "resolve_uri": False}
        return self._pages(self._sdk.tasks.list, "total", **query, **wanted)

    def _pages(self, ask: Callable[..., Any], size: str, **wanted: object) -> Iterator[Any]:
        from label_studio_sdk.core.api_error import ApiError  # noqa: PLC0415  (--help needs none)

        # We page ourselves: the SDK takes any 404 on the way for the end of the list.
        seen = most = 0
        for number in itertools.count(1):
            with translate_errors(self.url):
                try:
                    page = ask(page=number, request_options=SOMETIMES, **wanted)
                except ApiError as exc:
                    if number == 1 or exc.status_code != HTTPStatus.NOT_FOUND:
                        raise
                    raise ShorterListError(self.url) from None
                items, total = list(page.items or []), int(getattr(page.response, size))
            # What follows a deleted item moves up, perhaps to a page that was already read.
            if total < most or (not items and seen < total):
                raise ShorterListError(self.url)
            most, seen = total, seen + len(items)
            yield from items
            if seen >= total:
                return


def _changed_after(since: datetime) -> str:
    """Return a Label Studio task filter; drafts are included, as they don't change their task."""
    rows = [
        ("filter:tasks:updated_at", "greater", "Datetime", since.astimezone(UTC).strftime(CHANGED)),
        ("filter:tasks:draft_exists", "equal", "Boolean", True),
    ]
    items = [dict(zip(("filter", "operator", "type", "value"), row, strict=True)) for row in rows]
    return json.dumps({"filters": {"conjunction": "or", "items": items}})
