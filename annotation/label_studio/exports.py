"""Read Label Studio's exports, JSON and JSON_MIN: their answers, by the key of their task.

JSON says who last changed an answer; JSON_MIN does not, so its author is assumed.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from annotation.label_studio.errors import StudioError
from annotation.label_studio.page import CANT_JUDGE, LEVEL, REASON, result_of
from annotation.label_studio.records import OF_ANSWER

Fields = Mapping[str, Any]
LEVELS = frozenset("01234")


class ExportedTask(NamedTuple):
    """An exported task: its key, what it shows, and its answers by number."""

    pair: object
    query: object
    clip: object
    answers: dict[int, Fields]


def read_exports(folder: Path) -> dict[object, ExportedTask]:
    """Return the tasks of all exports in a folder, by their keys.

    If an answer is in several exports, the most recently changed version counts.

    Raises:
        StudioError: a file is not an export, with its name and place.
    """
    tasks: dict[object, ExportedTask] = {}
    for path in sorted(folder.glob("*.json")):
        for task in _read_file(path):
            former = tasks.get(task.pair)
            if former is None:
                tasks[task.pair] = task
                continue
            for number, answer in task.answers.items():
                older = former.answers.get(number)
                if older is None or instant(older) < instant(answer):
                    former.answers[number] = answer
    return tasks


def instant(answer: Fields) -> datetime:
    """Return when an answer was last changed."""
    return datetime.fromisoformat(str(answer["updated_at"])).astimezone(UTC)


def _read_file(path: Path) -> Iterator[ExportedTask]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise StudioError(f"{path}: not readable as JSON ({exc}); export it again") from exc
    if not isinstance(rows, list):
        raise StudioError(f"{path}: not a Label Studio export: must be a list of tasks")
    for number, row in enumerate(rows, start=1):
        try:
            yield _parse_task(row)
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            raise StudioError(
                f"{path}: task {number}: not in Label Studio's JSON or JSON-MIN format ({exc})"
            ) from exc


def _parse_task(row: Fields) -> ExportedTask:
    if "data" in row:
        data = row["data"]
        answers = {int(one["id"]): _checked(one) for one in row["annotations"]}
    else:
        data = row
        answers = {int(row["annotation_id"]): _checked(_expand(row))}
    return ExportedTask(data.get("pair"), data.get("query"), data.get("clip_html"), answers)


def _checked(answer: Fields) -> Fields:
    """Return the fields that we read; check times now, not later."""
    fields = {name: answer.get(name) for name in OF_ANSWER}
    instant(fields)
    datetime.fromisoformat(str(fields["created_at"]))
    return fields


def _expand(row: Fields) -> Fields:
    """Return the annotation of a JSON_MIN row in the form of JSON."""
    chosen = row.get(LEVEL)
    if chosen in LEVELS:
        result = result_of(int(chosen))
    elif chosen == CANT_JUDGE:
        result = result_of(None, row.get(REASON))
    else:  # not from our page: refused and reported
        result = [] if chosen is None else [{"from_name": LEVEL, "value": chosen}]
    if chosen in LEVELS and row.get(REASON) is not None:
        result = [*result, *result_of(None, row[REASON])[1:]]
    return {
        "id": row["annotation_id"],
        "completed_by": row["annotator"],
        "updated_by": row["annotator"],
        "was_cancelled": False,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "lead_time": row.get("lead_time"),
        "result": result,
    }
