"""Tell judgments from all else that a project holds: pure.

An answer is a judgment if its task's key is ours and of this project, its author is the
project's annotator, nobody else has changed it, and it says one level or one reason. Everything
else is refused, with the reason: nothing unreadable ever becomes a level.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from annotation.keys import Key
from annotation.page import read_answer
from annotation.studio.records import Answered

Row = dict[str, Any]
LONGEST_SECONDS = 1e9


class Sorted(NamedTuple):
    """Rows of judgments, of what was refused, and of tasks that wait for an answer."""

    judgments: list[Row]
    rejected: list[Row]
    open_tasks: list[Row]


class Owner(NamedTuple):
    """Whose project it is: an annotator, and the number of their account."""

    annotator: int
    account: int | None


def sort_out(
    tasks: Iterable[Answered], owner: Owner, read: Callable[[object], Key | None]
) -> Sorted:
    """Return what one project's tasks come to."""
    found = Sorted([], [], [])
    for task in tasks:
        key = read(task.pair)
        own = key if key is not None and key.annotator == owner.annotator else None
        for answer in task.answers:
            _sort_answer(found, answer, owner, own)
        found.rejected.extend(
            _refused(draft, owner, own, "draft") for draft in task.drafts if not draft["annotation"]
        )
        if own is not None and not task.answers and not task.closed:
            found.open_tasks.append(_pair(own))
    return found


def _sort_answer(found: Sorted, answer: Mapping[str, Any], owner: Owner, key: Key | None) -> None:
    reason = _fault(answer, owner, key)
    said = None if reason else read_answer(answer["result"])
    if key is None or said is None or said.problem:
        fault = reason or (said.problem if said else None) or "bad-key"
        found.rejected.append(_refused(answer, owner, key, fault))
    else:
        judged = {
            "level": said.level,
            "reason": said.reason,
            "submitted_at": answer["created_at"],
            "updated_at": answer["updated_at"],
            "seconds": _seconds(answer["lead_time"]),
            "origin": _origin(answer),
            "guideline": key.guideline,
        }
        found.judgments.append(_pair(key) | judged)


def _fault(answer: Mapping[str, Any], owner: Owner, key: Key | None) -> str | None:
    """Return why an answer can't be a judgment, whatever it says."""
    if key is None:
        return "bad-key"
    if _account(answer["completed_by"]) != owner.account or owner.account is None:
        return "not-the-annotator"
    if _account(answer["updated_by"]) not in {None, owner.account}:
        return "changed-by-another"
    return "skipped" if answer["was_cancelled"] else None


def _account(who: object) -> object:
    return who["id"] if isinstance(who, Mapping) else who


def _seconds(measured: object) -> float | None:
    """Return the time an answer took; None where the annotator's clock was set meanwhile."""
    if isinstance(measured, bool) or not isinstance(measured, int | float):
        return None
    return float(measured) if 0 <= measured <= LONGEST_SECONDS else None


def _origin(answer: Mapping[str, Any]) -> str:
    """Return what an answer is known by: a wiped server gives its numbers again, not its times."""
    return f"{answer['id']}@{answer['created_at']}"


def _pair(key: Key) -> Row:
    row = key._asdict()
    del row["guideline"]
    return row


def _refused(answer: Mapping[str, Any], owner: Owner, key: Key | None, reason: str) -> Row:
    return {
        "query_id": key.query_id if key else None,
        "moment_id": key.moment_id if key else None,
        "annotator": owner.annotator,
        "reason": reason,
        "origin": _origin(answer),
        "submitted_at": answer["created_at"],
    }
