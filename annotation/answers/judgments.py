"""Judgments, separated from everything else that a project contains: pure.

An answer is a judgment if its task's key is ours and of this project, the task shows what the key
says, its author is the project's annotator, who submitted it before they left, nobody else has
changed it, and it says one level or one reason. Everything else is refused, with the reason:
nothing unreadable ever becomes a level.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from annotation.answers.departures import Left, never
from annotation.label_studio.keys import Key, Pair, Signer
from annotation.label_studio.page import UNKNOWN_TEXT, Answer, read_answer, read_guideline_sha
from annotation.label_studio.records import AnsweredTask
from annotation.roster.senders import name_sender
from pipeline.campaign.campaign import GuidelineVersion
from pipeline.core import tables

Row = dict[str, Any]
LONGEST_SECONDS = 1e9
NOT_THEIRS = ("not-the-annotator", "imported")
"""Reasons about an answer's author: they apply to one version of it, not to earlier ones."""
IN_DOUBT = ("prefilled", "not-as-configured")
"""Reasons about what somebody did to the page: an answer may not be what its annotator meant."""
SOMEBODY_ELSES = (*NOT_THEIRS, "changed-by-another", "not-what-was-shown", "bad-key", *IN_DOUBT)
"""Reasons that are someone else's doing: the annotator's earlier answer still counts."""
BY_HAND = "manual"
"""What Label Studio's page says of a choice that nobody made in advance."""


class SortedAnswers(NamedTuple):
    """Rows of judgments, of refused answers, and of tasks that wait for an answer.

    Those in `open_tasks` have the number of their `task` on the server. `duplicates` are tasks that
    wait although another with the same key is open or answered.
    """

    judgments: list[Row]
    rejected: list[Row]
    open_tasks: list[Row]
    duplicates: list[int]


class Owner(NamedTuple):
    """The owner of a project: an annotator and the number of their account.

    `kinds` are the kinds of task it may contain; `left` tests whether an answer came after they
    had left, `set_aside` whether its project was not as push made it. `people` are all annotators
    by account.
    """

    annotator: int
    account: int | None
    kinds: Collection[str] = tables.KINDS
    left: Left = never
    set_aside: Left = never
    people: Mapping[int, int] = MappingProxyType({})


class Origin(NamedTuple):
    """The task's key, if it is ours, and whether the task shows what it says."""

    key: Key | None
    shown: bool


class Reading(NamedTuple):
    """What an answer says, and the version of the guideline that its page showed."""

    content: Answer
    guideline: str


FirstPairs = Mapping[str, Pair]
"""The pairs of answers, by origin, as of when they were first pulled."""
GuidelinesShown = Callable[[str | None, datetime], Sequence[GuidelineVersion]]
"""The versions of the guideline that a page may have shown (`Campaign.guidelines_shown`)."""
Trust = Callable[[str], bool]
"""Whether an imported answer counts, by its origin."""


def trust_none(_origin: str) -> bool:
    """Trust no imported answer."""
    return False


def trust_all(_origin: str) -> bool:
    """Trust every imported answer."""
    return True


class Rules(NamedTuple):
    """How a campaign's answers are read: its keys, and the guidelines with their choices' texts.

    `trust` says which imported answers count. An answer that `first_pairs` lists for another pair
    was given to what its task showed then. `prefilled` are origins that were refused as such: their
    prediction may have been deleted since. What was given before `released`, and pulled by nobody
    then, is too late: its pair may have a level that is final.
    """

    signer: Signer
    guidelines_shown: GuidelinesShown
    trust: Trust = trust_none
    first_pairs: FirstPairs = MappingProxyType({})
    prefilled: Collection[str] = ()
    released: datetime | None = None


def sort_answers(tasks: Iterable[AnsweredTask], owner: Owner, rules: Rules) -> SortedAnswers:
    """Sort the answers in one project's tasks."""
    signer, guidelines_shown, first_pairs = rules.signer, rules.guidelines_shown, rules.first_pairs
    rows = SortedAnswers([], [], [], [])
    twins_of: dict[object, list[AnsweredTask]] = defaultdict(list)
    for task in tasks:
        key = signer.read(task.pair)
        ours = key and key.annotator == owner.annotator and key.kind in owner.kinds
        valid_key = key if ours else None
        shown = valid_key is not None and signer.shows(task)
        for answer in task.answers:
            origin = Origin(
                valid_key, shown and not _is_of_another_pair(answer, valid_key, first_pairs)
            )
            fault = _fault(answer, owner, origin, rules)
            reading = read_shown(answer, guidelines_shown)
            if fault:
                reading = reading._replace(content=Answer(problem=fault))
            _sort_answer(rows, answer, owner, valid_key, reading)
        rows.rejected.extend(
            _refusal(draft, owner, valid_key, "draft")
            for draft in task.drafts
            if not draft["annotation"]
        )
        if valid_key is not None and shown:
            twins_of[valid_key.identity].append(task)
    for twins in twins_of.values():
        _sort_twins(rows, sorted(twins, key=lambda task: task.id), owner, signer, first_pairs)
    return rows


def is_owners(
    answer: Mapping[str, Any], owner: Owner, key: Key | None, first_pairs: FirstPairs
) -> bool:
    """Return whether an answer is the annotator's own, unchanged, and for this key's pair."""
    is_theirs = _foreign_reason(answer, owner, trust_none) is None
    return is_theirs and not _is_of_another_pair(answer, key, first_pairs)


def _is_of_another_pair(
    answer: Mapping[str, Any], key: Key | None, first_pairs: FirstPairs
) -> bool:
    """Return whether an answer was for another pair: it, or what its task shows, was swapped."""
    return key is not None and first_pairs.get(_origin(answer), key.pair) != key.pair


def _sort_twins(
    rows: SortedAnswers,
    twins: Sequence[AnsweredTask],
    owner: Owner,
    signer: Signer,
    first_pairs: FirstPairs,
) -> None:
    """Add the waiting task of one key: the oldest, unless its annotator has answered one."""
    waiting = [task for task in twins if not task.answers and not task.closed]
    answered = any(
        is_owners(answer, owner, signer.read(task.pair), first_pairs)
        for task in twins
        for answer in task.answers
    )
    open_tasks = [] if answered else waiting[:1]
    rows.open_tasks.extend(
        _pair(key) | {"opened_at": task.updated_at, "task": task.id}
        for task in open_tasks
        if (key := signer.read(task.pair))
    )
    rows.duplicates.extend(task.id for task in waiting[len(open_tasks) :])


def read_shown(answer: Mapping[str, Any], guidelines_shown: GuidelinesShown) -> Reading:
    """Read an answer as the API returns it, by the guideline that its page showed.

    If some text is none of that version's choices, the first version that has all of them is used.
    """
    result, instant = answer["result"], datetime.fromisoformat(answer["updated_at"])
    readings = [
        Reading(read_answer(result, guide.labels), guide.version)
        for guide in guidelines_shown(read_guideline_sha(result), instant)
    ]
    known = (read for read in readings if read.content.problem not in UNKNOWN_TEXT)
    return next(known, readings[0])


def _sort_answer(
    rows: SortedAnswers,
    answer: Mapping[str, Any],
    owner: Owner,
    key: Key | None,
    reading: Reading,
) -> None:
    content, guideline = reading
    if key is None or content.problem is not None:
        rows.rejected.append(_refusal(answer, owner, key, content.problem or "bad-key", guideline))
    else:
        judged = {
            "level": content.level,
            "reason": content.reason,
            "submitted_at": answer["created_at"],
            "updated_at": answer["updated_at"],
            "seconds": _seconds(answer["lead_time"]),
            "origin": _origin(answer),
            "guideline": guideline,
            "state": "trusted" if _account(answer["updated_by"]) is None else "stands",
        }
        rows.judgments.append(_pair(key) | judged)


def _fault(answer: Mapping[str, Any], owner: Owner, origin: Origin, rules: Rules) -> str | None:
    if origin.key is None:
        return "bad-key"
    if foreign := _foreign_reason(answer, owner, rules.trust):
        return foreign
    if not origin.shown:
        return "not-what-was-shown"
    version = _origin(answer), answer["updated_at"]
    given, released = datetime.fromisoformat(answer["created_at"]), rules.released
    faults = {
        "unreleased": released and given < released and version[0] not in rules.first_pairs,
        "left": owner.left(*version),
        "prefilled": _origin(answer) in rules.prefilled or _is_prefilled(answer),
        "not-as-configured": owner.set_aside(*version),
        "skipped": answer["was_cancelled"],
    }
    return next((reason for reason, applies in faults.items() if applies), None)


def _is_prefilled(answer: Mapping[str, Any]) -> bool:
    """Return whether the page opened with a choice already made: from a prediction, or a copy."""
    result = answer["result"] if isinstance(answer["result"], list) else []
    origins = {region.get("origin", BY_HAND) for region in result if isinstance(region, Mapping)}
    copied = answer.get("parent_prediction") or answer.get("parent_annotation")
    return copied is not None or bool(origins - {BY_HAND, None})


def _foreign_reason(answer: Mapping[str, Any], owner: Owner, trust: Trust) -> str | None:
    """Return why an answer is not from the project's annotator.

    The person who submits an answer also counts as having updated it last; an imported one carries
    whatever name its importer chose, and nobody has updated it.
    """
    if _account(answer["completed_by"]) != owner.account or owner.account is None:
        return "not-the-annotator"
    last = _account(answer["updated_by"])
    if last is None:
        return None if trust(_origin(answer)) else "imported"
    return None if last == owner.account else "changed-by-another"


def _account(user: object) -> object:
    return user["id"] if isinstance(user, Mapping) else user


def _seconds(measured: object) -> float | None:
    """Return the time an answer took; None if the annotator's clock was changed meanwhile."""
    if isinstance(measured, bool) or not isinstance(measured, int | float):
        return None
    return float(measured) if 0 <= measured <= LONGEST_SECONDS else None


def _origin(answer: Mapping[str, Any]) -> str:
    """Return an answer's identity: a wiped server reuses its numbers, but not its times."""
    return f"{answer['id']}@{answer['created_at']}"


def _pair(key: Key) -> Row:
    row = key._asdict()
    del row["guideline"]
    return row


def _refusal(
    answer: Mapping[str, Any],
    owner: Owner,
    key: Key | None,
    reason: str,
    guideline: str | None = None,
) -> Row:
    """Return a row for a refused answer, including what the history needs."""
    return {
        "query_id": key.query_id if key else None,
        "moment_id": key.moment_id if key else None,
        "annotator": owner.annotator,
        "reason": reason,
        "origin": _origin(answer),
        "submitted_at": answer["created_at"],
        "updated_at": answer.get("updated_at"),
        "seconds": _seconds(answer.get("lead_time")),
        "guideline": guideline,
        "sent_by": _sender(answer, owner),
        "takes_back": _takes_back(answer, owner, reason),
    }


def _sender(answer: Mapping[str, Any], owner: Owner) -> str | None:
    """Return who last sent an answer or draft; None if nobody was recorded, as for an import."""
    account = _account(answer.get("updated_by", answer.get("user")))
    if account is None:
        return None
    if account == owner.account:
        return name_sender(owner.annotator)
    annotator = owner.people.get(account) if isinstance(account, int) else None
    return f"account {account}" if annotator is None else name_sender(annotator)


def _takes_back(answer: Mapping[str, Any], owner: Owner, reason: str) -> str:
    """Return which older versions a refused answer withdraws: all, this very one, or none.

    `none` means that someone tampered with them; people who have left keep their earlier answers,
    as do those whose page somebody changed.

    An annotator withdraws their own earlier answers. It may become clear later that an answer was
    never theirs (their account was corrected); if it became another's, someone changed it.
    """
    if reason in NOT_THEIRS and None not in {owner.account, _account(answer["completed_by"])}:
        return "version"
    if reason in {"left", *IN_DOUBT}:
        return "kept"
    return "none" if reason in {*SOMEBODY_ELSES, "draft"} else "all"
