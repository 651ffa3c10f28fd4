"""A real Label Studio in a folder of its own, for tests: people in it, projects, tasks.

with studio(folder, label_studio) as lead:
    project = lead.project("page", config)
    ann = lead.sign_up("ann@example.org", "a-good-password")
"""

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from annotation import server
from annotation.label_studio import settings
from annotation.local_server import layout

PROJECTS = "select id, title, description from project order by id desc"
TASKS = """
select task.id, task.project_id as project, data, is_labeled,
    json_group_array(answer.id) filter (where answer.id is not null) as annotations
from task left join task_completion as answer on answer.task_id = task.id
group by task.id order by task.id
"""
FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Studio:
    """A server as one person sees it: its address, and that person's token."""

    def __init__(self, url: str, token: str, media: Path) -> None:
        self.url, self.token, self.media = url, token, media
        self.http = httpx.Client(
            base_url=url, headers={"Authorization": f"Token {token}"}, timeout=60
        )

    def api(self, method: str, path: str, body: object = None) -> Any:
        """Return what the API answers, as JSON."""
        response = self.http.request(method, path, json=body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def invite(self) -> str:
        """Return the address at which somebody new signs up."""
        return f"{self.url}{self.api('GET', '/api/invite')['invite_url']}"

    def sign_up(self, email: str, password: str) -> "Studio":
        """Make an account at the invite link, as a browser does; return what they see."""
        with self._visitor() as visitor:
            _submit(visitor, self.invite(), {"email": email, "password": password})
            return Studio(self.url, _token(visitor), self.media)

    def token_of(self, email: str, password: str) -> str:
        """Return the token of an account, by logging in as a browser does."""
        with self._visitor() as visitor:
            _submit(visitor, "/user/login/", {"email": email, "password": password})
            return _token(visitor)

    def project(self, title: str, config: str, **options: object) -> int:
        """Make a project; return its number."""
        created = self.api(
            "POST", "/api/projects/", {"title": title, "label_config": config, **options}
        )
        return int(created["id"])

    def storage(self, project: int, folder: Path) -> int:
        """Let a project's people see the files of a folder inside the media folder."""
        body = {
            "project": project,
            "title": folder.name,
            "path": str(folder),
            "use_blob_urls": False,
        }
        return int(self.api("POST", "/api/storages/localfiles/", body)["id"])

    def add(self, project: int, tasks: list[dict[str, str]]) -> list[int]:
        """Import tasks; return their numbers."""
        path = f"/api/projects/{project}/import?return_task_ids=true"
        done = self.api("POST", path, [{"data": data} for data in tasks])
        return [int(number) for number in done["task_ids"]]

    def tasks(self, project: int) -> list[dict[str, Any]]:
        """Return all tasks of a project, with their annotations."""
        path = f"/api/tasks/?project={project}&fields=all&page_size=1000"
        return list(self.api("GET", path)["tasks"])

    def projects(self) -> list[dict[str, Any]]:
        """Return the number, title and description of each project."""
        path = "/api/projects/?page_size=100&include=id,title,description"
        return list(self.api("GET", path)["results"])

    def annotate(self, task: int, result: list[dict[str, Any]]) -> dict[str, Any]:
        """Answer a task as this person."""
        return dict(self.api("POST", f"/api/tasks/{task}/annotations/", {"result": result}))

    def close(self) -> None:
        """Let the connections go."""
        self.http.close()

    def _visitor(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, follow_redirects=True, timeout=60)


def read_projects() -> list[dict[str, Any]]:
    """Return what `Studio.projects` does, from the database of this folder's server."""
    return [dict(row) for row in _select(PROJECTS)]


def read_tasks(project: int | None = None) -> list[dict[str, Any]]:
    """Return all tasks, or a project's, as `Studio.tasks` does, from the database.

    Of an answer only its number is returned. The API takes 20 ms of CPU for each project.
    """
    return [
        {
            **row,
            "data": json.loads(row["data"]),
            "is_labeled": bool(row["is_labeled"]),
            "annotations": [{"id": number} for number in sorted(json.loads(row["annotations"]))],
        }
        for row in _select(TASKS)
        if project in {None, row["project"]}
    ]


def _select(sql: str) -> list[sqlite3.Row]:
    address = f"{layout.DATABASE.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        database.row_factory = sqlite3.Row
        return database.execute(sql).fetchall()


def _submit(visitor: httpx.Client, path: str, values: dict[str, str]) -> None:
    """Fill in a form of Django's and send it; who stays on the page was refused."""
    page = visitor.get(path).raise_for_status()
    match = FORM_TOKEN.search(page.text)
    assert match, f"{path} shows no form"
    form = {**values, "csrfmiddlewaretoken": match[1]}
    sent = visitor.post(path, data=form, headers={"Referer": str(page.url)}).raise_for_status()
    assert sent.url.path != page.url.path, f"{page.url.path} took nobody in"


def _token(visitor: httpx.Client) -> str:
    return str(visitor.get("/api/current-user/token").raise_for_status().json()["token"])


@contextlib.contextmanager
def studio(folder: Path, environment: Path) -> Iterator[Studio]:
    """Start a server in a folder and stop it afterwards; what its first user sees of it.

    `environment` is what the fixture `label_studio` returns.
    """
    (folder / layout.PROGRAM.parts[0]).symlink_to(environment)
    with contextlib.chdir(folder):
        try:
            running = server.start(0)
            lead = Studio(running.url, settings.read()[settings.TOKEN], folder / layout.MEDIA)
            with contextlib.closing(lead):
                yield lead
        finally:
            server.stop()
