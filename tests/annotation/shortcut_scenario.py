"""People at Label Studio without our shortcuts and with them, each time from the same database.

    PYTHON -I shortcut_scenario.py FOLDER

A program of its own, which runs in Label Studio's environment. FOLDER has a database without
anybody. They play without shortcuts, with them as on SQLite, where each statement is a transaction,
and as on PostgreSQL, where each request is one. Printed is, for each of the three, what the server
answered, what its tables hold afterwards, which files it wrote, and how many statements of SQL an
answer and a page took.
"""

import io
import json
import os
import re
import runpy
import shutil
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

CONFIG = """<View><HyperText name="clip" value="$clip"/><Choices name="level" toName="clip">
<Choice value="0"/><Choice value="3"/></Choices></View>"""
OTHER_CONFIG = CONFIG.replace("$clip", "$query")
BUCKET = "s3://clips/one.mp4"
LOCKED = 22
TABLES = (
    "task",
    "task_completion",
    "tasks_annotationdraft",
    "tasks_tasklock",
    "projects_projectsummary",
    "projects_labelstreamhistory",
    "io_storages_localfilesexportstoragelink",
)
CHANGING = re.compile(
    r"(?<=duration\W{3})[\d.]+|\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|\d+\xa0\w+"
    r"|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32}"
)
"""Times, random numbers, and how long something took or is ago."""


class Person:
    """Somebody who is logged in."""

    def __init__(self, name):
        self.user = model("users.models", "User").objects.create_user(f"{name}@judges.example", "p")
        organization = model("organizations.models", "Organization").objects.first()
        organization.add_user(self.user)
        self.user.active_organization = organization
        self.user.save()
        self.browser = import_module("django.test").Client()
        self.browser.force_login(self.user)
        session = self.browser.session
        session["last_login"] = 4e9
        session.save()
        self.browser.cookies["sessionid"] = session.session_key

    def ask(self, method, path, body=None):
        """Return what the server answers."""
        sent = {"data": body, "content_type": "application/json"} if body is not None else {}
        answer = getattr(self.browser, method)(path, **sent)
        exchanges.append([method, path, answer.status_code, answer.content.decode()])
        return answer.json()

    def answer(self, task, level="3", **more):
        """Answer a task."""
        choice = {"from_name": "level", "to_name": "clip", "type": "choices"}
        result = [{**choice, "value": {"choices": [level]}}]
        body = {"result": result, "lead_time": 2.0, **more}
        return self.ask("post", f"/api/tasks/{task}/annotations/", body)


exchanges = []


def model(module, name):
    return getattr(import_module(module), name)


def play(folder):
    """Let people judge; return what came of it."""
    exchanges.clear()
    lead, anna, boris = Person("lead"), Person("anna"), Person("boris")
    project = lead.ask("post", "/api/projects/", {"title": "plain", "label_config": CONFIG})["id"]
    own = {"clip": "<b>clip</b>", "query": "a cat", "n": 1}
    lead.ask("post", f"/api/projects/{project}/import?return_task_ids=true", [own] * 4)
    following, page = f"/api/projects/{project}/next", f"/api/tasks/?project={project}&fields=all"

    first = anna.ask("get", following)["id"]
    second = boris.ask("get", following + "/")["id"]
    statements = count(lambda: anna.answer(anna.ask("get", following)["id"]))
    boris.answer(second, "0")
    boris.answer(boris.ask("get", following)["id"], was_cancelled=True)
    third = anna.ask("get", following)["id"]
    anna.ask("post", f"/api/tasks/{third}/drafts", {"result": [], "lead_time": 1.0})
    for person in (lead, anna, boris):
        person.ask("get", page)
    page_statements = count(lambda: anna.ask("get", page))
    anna.ask("get", f"/api/tasks/{first}/annotations/")
    anna.ask("post", f"/api/tasks/{third}/annotations/", {"result": {"no": "list"}})
    lead.ask("patch", f"/api/projects/{project}/", {"label_config": OTHER_CONFIG})
    lead.ask("patch", f"/api/tasks/{third}/", {"data": {**own, "query": "a dog", "more": 2}})
    anna.answer(third)
    boris.ask("get", following)
    boris.ask("get", f"/api/projects/{project}/")

    stored_elsewhere(lead, anna, folder)
    many_locked(lead, anna, boris)
    member = model("organizations.models", "OrganizationMember").objects.get(user=boris.user)
    member.soft_delete()
    boris.ask("get", following)
    boris.answer(first)
    flags = import_module("core.feature_flags.base")
    shown_flags = {who.user.email: flags.all_flags(who.user) for who in (lead, boris)}
    names = sorted(json.loads(Path(flags.get_feature_file_path()).read_text())["flags"])
    shown_flags |= {
        name: [flags.flag_set(name, user=who.user) for who in (lead, boris)] for name in names
    }
    return {
        "said": list(exchanges),
        "tables": {name: rows(name) for name in TABLES},
        "active": rows("htx_user", "email, last_activity is null, activity_at is null"),
        "files": sorted(path.read_text() for path in (folder / "exported").iterdir()),
        "flags": shown_flags,
        "statements": [statements, page_statements],
    }


def stored_elsewhere(lead, anna, folder):
    """Answer a task whose clip is in a bucket, in a project whose answers are written to files."""
    project = lead.ask("post", "/api/projects/", {"title": "stored", "label_config": CONFIG})["id"]
    lead.ask("post", f"/api/projects/{project}/import", [{"clip": BUCKET, "query": "q"}])
    bucket = model("io_storages.models", "S3ImportStorage")
    bucket.objects.create(project_id=project, bucket="clips", presign=False)
    place = model("io_storages.localfiles.models", "LocalFilesExportStorage")
    place.objects.create(project_id=project, path=str(folder / "exported"))
    task = anna.ask("get", f"/api/projects/{project}/next")
    assert task["data"]["clip"] != BUCKET, "resolved"
    anna.answer(task["id"])


def many_locked(lead, anna, boris):
    """Find the next task behind more locked ones than are looked at first."""
    project = lead.ask("post", "/api/projects/", {"title": "many", "label_config": CONFIG})["id"]
    lead.ask("post", f"/api/projects/{project}/import", [{"clip": "c", "query": "q"}] * 24)
    tasks = model("tasks.models", "Task").objects.filter(project=project).order_by("id")
    for task in tasks[:LOCKED]:
        task.set_lock(boris.user)
    next_task = anna.ask("get", f"/api/projects/{project}/next")["id"]
    assert next_task == tasks[LOCKED].id


def count(act):
    """Return how many statements something takes."""
    number = 0

    def pass_on(execute, *arguments):
        nonlocal number
        number += 1
        return execute(*arguments)

    with import_module("django.db").connection.execute_wrapper(pass_on):
        act()
    return number


def rows(table, columns="*"):
    """Return a table's rows, each with its columns' names."""
    with import_module("django.db").connection.cursor() as cursor:
        cursor.execute(f"select {columns} from {table} order by 1")  # noqa: S608  (our own words)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, map(str, row), strict=True)) for row in cursor.fetchall()]


def main():
    folder = Path(sys.argv[1])
    (folder / "exported").mkdir()
    database = Path(os.environ["DATABASE_NAME"])
    results = []
    with redirect_stdout(io.StringIO()):
        sys.argv = ["label-studio", "init", "--quiet", "--data-dir", str(folder)]
        import_module("label_studio.server").main()
        import_module("core.wsgi")
        connection = import_module("django.db").connection
        connection.close()
        shutil.copy(database, folder / "before")
        install = runpy.run_path(os.environ["SHORTCUTS"])["install"]
        for prepare, atomic in ((None, False), (install, False), (None, True)):
            connection.close()
            connection.settings_dict["ATOMIC_REQUESTS"] = atomic
            shutil.copy(folder / "before", database)
            shutil.rmtree(folder / "exported")
            (folder / "exported").mkdir()
            if prepare:
                prepare()
            results.append(play(folder))
    sys.stdout.write(CHANGING.sub("...", json.dumps(results, ensure_ascii=False)))


if __name__ == "__main__":
    main()
