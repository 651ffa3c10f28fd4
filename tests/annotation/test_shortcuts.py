"""Label Studio with our shortcuts and without: the same answers by fewer statements."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from annotation.local_server import sqlite, workers
from annotation.local_server.environment import folder_settings
from annotation.local_server.layout import DATA, PROGRAM

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SCENARIO = Path(__file__).with_name("shortcut_scenario.py")
COLUMNS, SUMMARY = "all_data_columns", "projects_projectsummary"


@pytest.fixture
def outcomes(folder, repository):
    """Return what came of the scenario without shortcuts, and twice with them."""
    if not (repository / PROGRAM).is_file():
        pytest.skip("Label Studio is not installed: make label-studio")
    (folder / PROGRAM.parts[0]).symlink_to(repository / PROGRAM.parts[0])
    DATA.mkdir(parents=True)
    sqlite.copy_empty()
    python, data = PROGRAM.with_name("python").absolute(), DATA.resolve()
    environment = {
        **os.environ,
        **folder_settings(data),
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(data),
        "LABEL_STUDIO_USERNAME": "first@example.org",
        "LABEL_STUDIO_PASSWORD": "a-good-password",
        "SHORTCUTS": str(workers.SHORTCUTS),
    }
    command = [python, "-I", SCENARIO, data]
    process = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout)


def test_shortcuts_change_nothing_but_the_number_of_statements(outcomes):
    without, short, atomic = outcomes
    answer, page = without.pop("statements")
    for outcome in (short, atomic):
        short_answer, short_page = outcome.pop("statements")
        assert short_answer < 0.55 * answer
        assert short_page < page - 3, "one look for drafts, not one a task"
    counts = [take_columns(outcome) for outcome in outcomes]
    assert without == short == atomic
    assert {200, 201, 400, 403} <= {status for _, _, status, _ in short["said"]}
    tasks = short["tables"]["task"]
    assert counts[1] == counts[2]
    for project, (before, columns) in enumerate(zip(*counts[:2], strict=True), 1):
        own = [json.loads(task["data"]) for task in tasks if task["project_id"] == str(project)]
        assert columns == {key: sum(key in data for data in own) for data in own for key in data}
        assert before.keys() == columns.keys(), "Label Studio's own counts grow with each answer"


def take_columns(outcome):
    """Take the counts of columns out of a project's summary, and return them."""
    return [json.loads(row.pop(COLUMNS)) for row in outcome["tables"][SUMMARY]]
