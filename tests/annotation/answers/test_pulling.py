"""What pull makes of answers: which are judgments, every version of them, and what went away."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, get_args

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import LABELS, OPEN
from support.campaign_cases import NONE_VOIDED, ledger_of

from annotation.answers import pulling, reader
from annotation.answers.departures import find_left
from annotation.answers.history import first_pairs
from annotation.answers.judgments import (
    Owner,
    Rules,
    SortedAnswers,
    sort_answers,
    trust_all,
    trust_none,
)
from annotation.label_studio import page
from annotation.label_studio.errors import StudioError
from annotation.label_studio.keys import Key, Signer
from annotation.label_studio.records import AnsweredTask, Project
from annotation.votes.votes import last_shown, select_counting
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.guideline import CANT_JUDGE
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables

SIGNER = Signer("6f1c2a34-0000-0000-0000-000000000001", "a secret of thirty-two bytes, or so")
QUERY, CLIP = "a person sings", page.clip_html("/data/local-files/?d=clips/ab12.mp4")
SHA = query_sha(QUERY)
KEY = Key("q", "m", 3, "first", SHA, "ab12", "1")
DIGEST = page.digest(QUERY, CLIP)
OLD = page.clip_html("/data/local-files/?d=clips/old.mp4")
OURS, OTHER = 30, 40
OWNER = Owner(3, OURS, people={OURS: 3, OTHER: 4})
START = datetime(2026, 1, 1, tzinfo=UTC)


def at(second):
    """Return a moment of the campaign as the server writes it."""
    return (START + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def level(number):
    return page.result_of(LABELS, number)[0]


def reason(name):
    return page.result_of(LABELS | {"tired": "I am tired"}, None, name)


THREE = (level(3),)


def answer(number=1, made=0, changed=None, said=THREE, **fields):
    usual = {"completed_by": OURS, "updated_by": OURS, "was_cancelled": False, "lead_time": 4.5}
    times = {"created_at": at(made), "updated_at": at(made if changed is None else changed)}
    return {"id": number, **usual, **times, "result": list(said), **fields}


def task(*answers, key=KEY, number=1, closed=False, drafts=(), pair=None, query=QUERY, clip=CLIP):
    text = SIGNER.sign(key, page.digest(query, clip)) if pair is None else pair
    return AnsweredTask(number, text, closed, START, list(answers), list(drafts), query, clip)


def sort_tasks(*tasks, owner=OWNER, trust=trust_none, before=None):
    pairs = first_pairs(tables.JUDGMENT_HISTORY.empty() if before is None else before.versions)
    return sort_answers(tasks, owner, Rules(SIGNER, OPEN.guidelines_shown, trust, pairs))


SHOWN = ledger_of([("q", "m")], sha="ab12").assign(query_sha=SHA)


# What is a judgment


def test_what_was_given_before_a_release_and_pulled_after_it_is_too_late():
    """Such as a vote that nobody pulled before `close --offline`; what was pulled stays."""
    tasks = [task(answer(n, made=made), number=n) for n, made in ((1, 5), (2, 9), (3, 10), (4, 11))]
    rules = Rules(SIGNER, OPEN.guidelines_shown, first_pairs={f"2@{at(9)}": KEY.pair})
    rows = sort_answers(tasks, OWNER, rules._replace(released=START + timedelta(seconds=10)))
    assert {row["origin"]: row["reason"] for row in rows.rejected} == {f"1@{at(5)}": "unreleased"}
    assert len(rows.judgments) == 3
    assert len(sort_answers(tasks, OWNER, rules).judgments) == 4


def test_a_task_of_the_exam_that_was_carried_into_the_campaigns_project_is_none_of_its_own():
    exam = KEY._replace(kind="exam")
    assert [row["reason"] for row in sort_tasks(task(answer(), key=exam)).rejected] == ["bad-key"]
    assert sort_tasks(task(key=exam)).open_tasks == []
    rows = sort_tasks(task(answer(), key=exam), owner=OWNER._replace(kinds=("exam",)))
    assert [row["kind"] for row in rows.judgments] == ["exam"]
    voted = sort_tasks(task(answer()), owner=OWNER._replace(kinds=("exam",)))
    assert [row["reason"] for row in voted.rejected] == ["bad-key"]


def test_an_answer_becomes_a_judgment_of_its_pair():
    [row] = sort_tasks(task(answer(7, made=5, changed=9))).judgments
    assert row == {
        "query_id": "q",
        "moment_id": "m",
        "annotator": 3,
        "kind": "first",
        "query_sha": SHA,
        "clip_sha": "ab12",
        "guideline": "1",
        "level": 3,
        "reason": None,
        "submitted_at": at(5),
        "updated_at": at(9),
        "seconds": 4.5,
        "origin": f"7@{at(5)}",
        "state": "stands",
    }


REVISED = LABELS | {"0": LABELS["4"], "4": "All of it", "cant-judge": "No idea"}
SECOND = OPEN.guidelines[0].model_copy(
    update={"version": "2", "sha": "b" * 12, "since": at(60), "labels": REVISED}
)


@pytest.mark.parametrize(
    ("labels", "submitted", "sha", "made", "read"),
    [
        (LABELS, 4, None, 59, (4, "1")),
        (LABELS, 1, None, 61, (1, "2")),
        (REVISED, 4, None, 61, (4, "2")),
        (LABELS, None, None, 61, (None, "1")),
        (LABELS, 4, None, 61, (0, "2")),
        (LABELS, 4, "a" * 12, 61, (4, "1")),
        (REVISED, 0, "b" * 12, 61, (0, "2")),
        (REVISED, 0, "b" * 12, 59, (0, "2")),
        (LABELS, 4, "a hash of no version", 59, (4, "1")),
    ],
)
def test_an_answer_is_read_by_the_guideline_that_its_page_showed(
    labels, submitted, sha, made, read
):
    """A browser keeps its page when the guideline is revised; the page sends its hash."""
    revised = OPEN.model_copy(update={"guidelines": [*OPEN.guidelines, SECOND]})
    said = page.result_of(labels, submitted, None if submitted is not None else "broken-clip")
    if sha:
        sent = {"from_name": "guideline_sha", "to_name": "clip", "type": "choices"}
        said.append(sent | {"value": {"choices": [sha]}})
    rules = Rules(SIGNER, revised.guidelines_shown)
    [row] = sort_answers([task(answer(made=made, said=said))], OWNER, rules).judgments
    assert (row["level"], row["guideline"]) == read


@pytest.mark.parametrize("name", get_args(page.ReasonName))
def test_who_cant_judge_gives_a_reason_and_no_level(name):
    result = sort_tasks(task(answer(said=reason(name))))
    assert [(row["level"], row["reason"]) for row in result.judgments] == [(None, name)]
    assert result.rejected == []


@pytest.mark.parametrize("closed", [False, True])
def test_a_late_answer_to_a_task_that_was_taken_back_is_a_judgment_like_any_other(closed):
    assert len(sort_tasks(task(answer(), closed=closed)).judgments) == 1


TAMPERED = SIGNER.sign(KEY, DIGEST)[:-4] + "AAA="
LEAVING = {"annotator": [3], "since": [at(5)], "returned": [at(9)]}
AWAY = tables.DEPARTURES.check(pd.DataFrame(LEAVING))


def owner_who_left(before=None, away=AWAY, until=None):
    """Return the annotator, who is away from minute 5 to minute 9, or stays until a day."""
    versions = tables.JUDGMENT_HISTORY.empty() if before is None else before.versions
    left = find_left(away, {3: until}, versions)(3)
    return OWNER._replace(left=left, set_aside=lambda _, changed: changed == at(20))


REFUSED = {
    "prefilled": task(answer(parent_prediction=5)),
    "not-as-configured": task(answer(made=20)),
    "left": task(answer(made=6)),
    "bad-key": task(answer(), pair=TAMPERED),
    "not-the-annotator": task(answer(completed_by=OTHER)),
    "imported": task(answer(updated_by=None)),
    "changed-by-another": task(answer(updated_by=OTHER)),
    "not-what-was-shown": task(answer(), query="a dog barks", pair=SIGNER.sign(KEY, DIGEST)),
    "skipped": task(answer(was_cancelled=True)),
    "draft": task(drafts=[answer(annotation=None)]),
    "empty": task(answer(said=())),
    "malformed": task(answer(result=None)),
    "foreign": task(answer(said=[level(3) | {"from_name": "other"}])),
    "twice": task(answer(said=[level(3), level(3)])),
    "bad-level": task(answer(said=[level(3) | {"value": {"choices": ["3"]}}])),
    "bad-reason": task(answer(said=reason("tired"))),
    "no-reason": task(answer(said=[level(CANT_JUDGE)])),
    "reason-alone": task(answer(said=reason("broken-clip")[1:])),
    "both": task(answer(said=[level(3), reason("broken-clip")[1]])),
}


def test_no_reason_to_refuse_is_left_out_here():
    assert {*REFUSED, "unreleased"} == set(tables.REJECTIONS.split())


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_no_judgment_is_refused_with_the_reason_and_never_a_level(why):
    result = sort_tasks(REFUSED[why], owner=owner_who_left())
    assert result.judgments == []
    [row] = result.rejected
    assert row["reason"] == why
    assert row["annotator"] == 3
    assert row["origin"] == f"1@{at({'left': 6, 'not-as-configured': 20}.get(why, 0))}"
    senders = {"changed-by-another": "annotator 4", "imported": None}
    assert row["sent_by"] == senders.get(why, "annotator 3")
    assert (row["query_id"], row["moment_id"]) == ((None, None) if why == "bad-key" else ("q", "m"))
    pulling.other_tables(result)


STRANGER = Signer("6f1c2a34-0000-0000-0000-000000000002", "a secret of thirty-two bytes, or so")


@pytest.mark.parametrize(
    "pair", [SIGNER.sign(KEY._replace(annotator=4), DIGEST), STRANGER.sign(KEY, DIGEST)]
)
def test_a_task_that_was_copied_here_is_nobodys(pair):
    result = sort_tasks(task(answer(), pair=pair), task(pair=pair))
    assert [row["reason"] for row in result.rejected] == ["bad-key"]
    assert (result.judgments, result.open_tasks) == ([], [])


def test_an_answer_stays_prefilled_when_its_prediction_was_deleted():
    deleted = task(answer(parent_prediction=None))
    rules = Rules(SIGNER, OPEN.guidelines_shown, prefilled={f"1@{at(0)}"})
    assert [row["reason"] for row in sort_answers([deleted], OWNER, rules).rejected] == [
        "prefilled"
    ]


@pytest.mark.parametrize("region", [{"origin": "prediction"}, {"origin": "prediction-changed"}])
def test_a_choice_that_a_prediction_made_is_prefilled_and_one_made_by_hand_is_not(region):
    [row] = sort_tasks(task(answer(said=[level(3) | region]))).rejected
    assert row["reason"] == "prefilled"
    assert len(sort_tasks(task(answer(said=[level(3) | {"origin": "manual"}]))).judgments) == 1


@pytest.mark.parametrize(("sender", "name"), [(OTHER, "annotator 4"), (77, "account 77")])
@pytest.mark.parametrize("whose", [OURS, OTHER, 77])
def test_a_refused_answer_says_who_sent_it_whosever_name_it_bears(sender, name, whose):
    forged = answer(completed_by=whose, updated_by={"id": sender})
    [row] = sort_tasks(task(forged)).rejected
    assert (row["annotator"], row["sent_by"]) == (3, name)


@pytest.mark.parametrize("who", [{"id": OURS}, OURS])
def test_the_author_is_a_number_or_an_object(who):
    both = {"completed_by": who, "updated_by": who}
    assert len(sort_tasks(task(answer(**both))).judgments) == 1
    assert sort_tasks(task(answer(completed_by={"id": OTHER}))).judgments == []


def test_without_an_account_on_the_server_no_answer_is_anybodys():
    result = sort_tasks(task(answer(completed_by=None)), owner=Owner(3, None))
    assert [row["reason"] for row in result.rejected] == ["not-the-annotator"]


def test_a_draft_of_an_answer_that_was_submitted_is_nothing_of_its_own():
    result = sort_tasks(task(answer(), drafts=[answer(9, annotation=1)]))
    assert (len(result.judgments), result.rejected) == (1, [])


@pytest.mark.parametrize("seconds", [-3.0, None, float("nan"), float("inf"), "4", True, 10**400])
def test_a_time_that_no_clock_can_have_measured_is_unknown_and_costs_nobody_the_judgment(seconds):
    result = sort_tasks(task(answer(lead_time=seconds)))
    [row] = merge(result).judgments.to_dict("records")
    assert row["level"] == 3
    assert pd.isna(row["seconds"])


@pytest.mark.parametrize(
    ("record", "is_open"),
    [
        (task(), True),
        (task(drafts=[answer(annotation=None)]), True),
        (task(closed=True), False),
        (task(answer()), False),
        (task(answer(was_cancelled=True)), False),
        (task(pair=TAMPERED), False),
        (task(pair={"no": "text"}), False),
    ],
)
def test_a_task_waits_if_it_is_ours_and_neither_answered_nor_taken_back(record, is_open):
    waiting = {name: value for name, value in KEY._asdict().items() if name != "guideline"}
    waiting |= {"opened_at": record.updated_at, "task": record.id}
    assert sort_tasks(record).open_tasks == ([waiting] if is_open else [])


# Every version, and which of them counts


def merge(result):
    """Return the history of what was found the first time."""
    return pulling.merge_history(tables.JUDGMENT_HISTORY.empty(), result)


def then(before, *tasks, trust=trust_none):
    """Return the history after another pull."""
    return pulling.merge_history(before.versions, sort_tasks(*tasks, trust=trust, before=before))


NOTHING = merge(SortedAnswers([], [], [], []))


def levels(history):
    return history.judgments["level"].tolist()


def versions(history):
    rows = history.versions.sort_values(["submitted_at", "updated_at"])
    return list(zip(rows["level"], rows["state"], strict=True))


STORIES = {
    "the newest counts": ([[(1, 0, 0, 1), (2, 5, 5, 4)]], 4, "1 stands, 4 stands", 0),
    "that is the one submitted last, not the one changed last": (
        [[(1, 0, 0, 1), (2, 5, 5, 4)], [(1, 0, 9, 2), (2, 5, 5, 4)]],
        *(4, "1 replaced, 2 stands, 4 stands", 0),
    ),
    "an update replaces": ([[(1, 0, 0, 3)], [(1, 0, 5, 1)]], 1, "3 replaced, 1 stands", 0),
    "changed and changed back": (
        [[(1, 0, 0, 3)], [(1, 0, 5, 1)], [(1, 0, 9, 3)]],
        *(3, "3 replaced, 1 replaced, 3 stands", 0),
    ),
    "what went away counts": ([[(1, 0, 0, 3)], []], 3, "3 lost", 1),
    "it vanishes once": ([[(1, 0, 0, 3)], [], []], 3, "3 lost", 0),
    "what came back stands again": ([[(1, 0, 0, 3)], [], [(1, 0, 0, 3)]], 3, "3 stands", 0),
    "restored to before an update": (
        [[(1, 0, 0, 1)], [(1, 0, 5, 4)], [(1, 0, 0, 1)]],
        *(4, "1 stands, 4 lost", 1),
    ),
    "restored and changed again": (
        [[(1, 0, 0, 1)], [(1, 0, 5, 4)], [(1, 0, 0, 1)], [(1, 0, 9, 2)]],
        *(2, "1 replaced, 4 replaced, 2 stands", 0),
    ),
    "after a wipe the number is another's": (
        [[(1, 0, 0, 3)], [(1, 60, 60, 0)]],
        *(0, "3 lost, 0 stands", 1),
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_every_version_is_kept_and_the_last_word_counts(name):
    """Of pulls of answers, each a number, when it was made and changed, and its level."""
    pulls, counts, states, vanished = STORIES[name]
    history = NOTHING
    for rows in pulls:
        answers = [answer(*when, [level(number)]) for *when, number in rows]
        history = then(history, *([task(*answers)] if answers else []))
    assert (levels(history), len(history.vanished)) == ([counts], vanished)
    assert ", ".join(f"{number} {state}" for number, state in versions(history)) == states
    assert (
        "1 judgments disappeared from the server (1 by annotator 3)" in read_remarks(history)
    ) == vanished


def read_remarks(history, *tasks):
    """Return what the lead reads besides the numbers."""
    return " ".join(pulling.remarks(sort_tasks(*tasks), history))


def many(number):
    """Return tasks of as many pairs, all answered."""
    keys = [KEY._replace(moment_id=f"m{at}") for at in range(number)]
    return [task(answer(at, at), key=key, number=at) for at, key in enumerate(keys)]


@pytest.mark.parametrize(
    ("judged", "gone", "stops"),
    [(10, 2, False), (10, 3, True), (2999, 3, True), (3000, 3, False), (3000, 4, True)],
)
def test_few_deleted_answers_are_told_and_many_stop_the_pull(judged, gone, stops):
    all_ = many(judged)
    history = then(then(NOTHING, *all_), *all_[gone:])
    assert len(history.judgments) == judged, "nothing is lost either way"
    with pytest.raises(CampaignError) if stops else nullcontext() as caught:
        pulling.refuse_loss(history)
    if stops:
        assert "--accept-loss" in str(caught.value)
        assert f"{gone} by annotator 3" in str(caught.value)


LATER = answer(1, 0, 5, said=[level(0)])
MOVED, RECUT = KEY._replace(moment_id="m2"), KEY._replace(clip_sha="old")
BY_OTHERS = {
    "another changed it": task(LATER | {"updated_by": OTHER}),
    "another changed it, and the server says the old time": task(answer(updated_by=OTHER)),
    "another skipped it": task(LATER | {"updated_by": OTHER, "was_cancelled": True}),
    "another took it for their own": task(LATER | {"completed_by": OTHER, "updated_by": OTHER}),
    "another put it into another's name": task(LATER | {"completed_by": 50, "updated_by": OTHER}),
    "another changed the query": task(answer(), query="a dog barks", pair=SIGNER.sign(KEY, DIGEST)),
    "the annotator answered another query": task(
        LATER, query="barks", pair=SIGNER.sign(KEY, DIGEST)
    ),
    "another changed the key": task(answer(), pair=TAMPERED),
    "another moved it to the task of another pair": task(answer(updated_by=OTHER), key=MOVED),
    "another made its task that of another pair": task(answer(), key=MOVED),
    "another made its task show another clip": task(answer(), key=RECUT, clip=OLD),
    "all answers' labels were exchanged": task(answer(said=[level(0)])),
    "all answers' labels were renamed": task(
        answer(said=[level(3) | {"value": {"choices": ["Else"]}}])
    ),
    "the account was deleted": task(answer(completed_by=None, updated_by=None)),
}


@pytest.mark.parametrize("name", BY_OTHERS)
def test_what_somebody_said_counts_whatever_somebody_else_does_to_it_afterwards(name):
    history = then(NOTHING, task(answer(1, 0)))
    for _ in range(2):
        history = then(history, BY_OTHERS[name])
        assert levels(history) == [3]
        assert versions(history) == [(3, "tampered")]
        assert not len(history.vanished)
        assert "1 judgments, or their tasks, were changed by someone else" in read_remarks(history)
    assert then(history, task(answer(1, 0))).versions["state"].tolist() == ["stands"], "put right"
    assert levels(then(history, task(answer(1, 0, 9, said=[level(2)])))) == [2], "said again"
    gone = then(history)
    assert (levels(gone), versions(gone), len(gone.vanished)) == ([3], [(3, "lost")], 1)
    assert levels(then(gone, BY_OTHERS[name])) == [3]


@pytest.mark.parametrize("taken_back", [{"was_cancelled": True}, {"result": []}])
def test_what_its_annotator_took_back_counts_no_more_whoever_changes_it_then(taken_back):
    history = then(then(NOTHING, task(answer(1, 0))), task(LATER | taken_back))
    assert (levels(history), versions(history)) == ([], [(3, "rejected")])
    assert not len(history.vanished)
    history = then(history, task(answer(1, 0, 9, updated_by=OTHER)))
    assert (levels(history), versions(history)) == ([], [(3, "rejected")])


def test_an_account_that_was_put_right_takes_the_wrong_ones_answers_along():
    wrong = then(NOTHING, task(answer(1, 0)))
    right, absent = (
        pulling.merge_history(
            wrong.versions, sort_tasks(task(answer(1, 0)), owner=Owner(3, account))
        )
        for account in (OTHER, None)
    )
    assert (levels(right), versions(right)) == ([], [(3, "rejected")])
    assert levels(absent) == [3], "who is not on the server any more has judged all the same"


# Imported answers


IMPORTED = answer(2, 5, said=[level(0)], updated_by=None)


def test_an_imported_answer_never_wins_over_the_true_one():
    twin = task(IMPORTED, number=2)
    history = then(NOTHING, task(answer(1, 0)), twin)
    assert levels(history) == [3]
    assert [row["reason"] for row in sort_tasks(twin).rejected] == ["imported"]
    assert "1 answers were imported" in read_remarks(history, twin)
    assert "--trust-imported" in read_remarks(history, twin)


def test_imported_answers_that_the_lead_trusts_count_from_then_on_and_later_ones_do_not():
    history = then(NOTHING, task(IMPORTED), trust=trust_all)
    assert (levels(history), versions(history)) == ([0], [(0, "trusted")])
    trusted = set(history.versions["origin"]).__contains__
    later = task(IMPORTED | {"id": 9, "created_at": at(9)}, key=KEY._replace(moment_id="m2"))
    result = sort_tasks(task(IMPORTED), later, trust=trusted)
    again = pulling.merge_history(history.versions, result)
    assert versions(again) == [(0, "trusted")]
    assert [row["reason"] for row in result.rejected] == ["imported"]


def test_an_imported_answer_that_counted_before_they_were_told_apart_counts_no_more():
    before = then(NOTHING, task(IMPORTED), trust=trust_all).versions.assign(state="stands")
    history = pulling.merge_history(before, sort_tasks(task(IMPORTED)))
    assert (levels(history), versions(history)) == ([], [(0, "rejected")])


def test_an_imported_answer_that_its_annotator_submits_is_theirs():
    history = then(NOTHING, task(IMPORTED | {"updated_by": OURS, "updated_at": at(9)}))
    assert levels(history) == [0]


# Tasks that are there more than once


def test_a_task_that_is_there_twice_waits_once():
    twins = [task(number=number, key=KEY._replace(kind=kind))
             for number, kind in ((5, "first"), (2, "first"), (9, "escalated"))]  # fmt: skip
    for order in (twins, twins[::-1]):
        result = sort_tasks(*order)
        assert len(result.open_tasks) == 1
        assert result.duplicates == [5, 9], "the oldest is kept"
        assert pulling.other_tables(result)[0]["kind"].tolist() == ["first"]
        assert "2 tasks exist more than once" in read_remarks(NOTHING, *order)


def test_an_answer_to_either_is_the_answer_to_the_pair():
    for answered, twin in ((1, 2), (2, 1)):
        result = sort_tasks(task(answer(7), number=answered), task(number=twin))
        assert (len(result.judgments), result.open_tasks) == (1, [])
        assert result.duplicates == [twin]
    both = (task(answer(1, 0, said=[level(1)]), number=1),
            task(answer(2, 5, said=[level(4)]), number=2))  # fmt: skip
    assert levels(then(NOTHING, *both)) == levels(then(NOTHING, *both[::-1])) == [4]
    assert sort_tasks(*both).duplicates == [], "they wait no more"


def test_a_task_whose_answer_was_to_another_pair_takes_no_task_away():
    history = then(NOTHING, task(answer(7)))
    copied, own = task(answer(7), key=MOVED), task(key=MOVED, number=2)
    result = sort_tasks(copied, own, before=history)
    assert [row["reason"] for row in result.rejected] == ["not-what-was-shown"]
    assert (result.judgments, len(result.open_tasks), result.duplicates) == ([], 1, [])


@pytest.mark.parametrize("by", [{"completed_by": OTHER}, {"updated_by": None},
                                {"updated_by": OTHER}])  # fmt: skip
def test_who_answers_a_twin_in_anothers_name_takes_no_task_away(by):
    result = sort_tasks(task(answer(7, **by), number=1, closed=True), task(number=2))
    assert len(result.open_tasks) == 1
    assert result.duplicates == []


def test_a_twin_that_shows_something_else_is_none():
    swapped = task(number=1, query="a dog barks", pair=SIGNER.sign(KEY, DIGEST))
    result = sort_tasks(swapped, task(number=2))
    assert (len(result.open_tasks), result.duplicates) == (1, [])
    assert sort_tasks(swapped).open_tasks == []


def test_gold_and_a_vote_on_one_pair_are_two_judgments():
    gold = task(answer(2, 1, said=[level(0)]), key=KEY._replace(kind="gold"), number=2)
    assert levels(then(NOTHING, task(answer(1, 0)), gold)) == [3, 0]


def counting(judgments):
    return select_counting(judgments, last_shown(SHOWN), NONE_VOIDED)


def test_what_was_judged_of_another_clip_is_kept_and_does_not_count():
    history = then(NOTHING, task(answer(1, 0), key=KEY._replace(clip_sha="old"), clip=OLD))
    assert levels(history) == [3]
    assert not len(counting(history.judgments))
    newly = task(answer(2, 5, said=[level(1)]), number=2)
    both = then(history, task(answer(1, 0), key=KEY._replace(clip_sha="old"), clip=OLD), newly)
    assert levels(both) == [1, 3]
    assert counting(both.judgments)["level"].tolist() == [1]


def test_a_late_answer_about_another_clip_takes_nothing_from_that_about_this_one():
    newly = task(answer(2, 0, said=[level(1)]), number=2)
    both = then(NOTHING, newly, task(answer(1, 5), key=KEY._replace(clip_sha="old"), clip=OLD))
    assert counting(both.judgments)["level"].tolist() == [1]


class Version(NamedTuple):
    """An answer on the server: which pair it is to, when it was last changed, what it says."""

    pair: int
    created: int
    changed: int
    level: int


class Server:
    """A model of a server whose people answer, change answers and lose them."""

    def __init__(self):
        self.now, self.answers, self.ever = 0, {}, {}

    def answer(self, pair, number):
        self.now += 1
        self._put(len(self.ever) + 1, Version(pair, self.now, self.now, number))

    def change(self, which, number):
        if self.answers:
            self.now += 1
            chosen = sorted(self.answers)[which % len(self.answers)]
            self._put(chosen, self.answers[chosen]._replace(changed=self.now, level=number))

    def lose(self, which):
        if self.answers:
            del self.answers[sorted(self.answers)[which % len(self.answers)]]

    def _put(self, number, version):
        self.answers[number] = self.ever[number] = version

    def tasks(self):
        return [
            task(
                answer(number, version.created, version.changed, [level(version.level)]),
                key=KEY._replace(moment_id=f"m{version.pair}"),
                number=number,
            )
            for number, version in self.answers.items()
        ]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 2), st.integers(0, 4)),
        st.tuples(st.just("change"), st.integers(0, 9), st.integers(0, 4)),
        st.tuples(st.just("lose"), st.integers(0, 9)),
    ),
    max_size=4,
)


@settings(max_examples=12)
@given(st.lists(steps, max_size=4))
def test_whatever_happens_what_was_seen_is_kept_and_each_persons_last_word_counts(pulls):
    server, history, latest, ever = Server(), NOTHING, {}, set()
    for happens in pulls:
        for name, *values in happens:
            getattr(server, name)(*values)
        gone = {number for number in latest if number not in server.answers}
        before = set(history.versions.loc[history.versions["state"] == "lost", "origin"])
        history = then(history, *server.tasks())
        latest |= server.answers
        ever |= {(number, version.changed) for number, version in server.answers.items()}
        assert len(history.versions) == len(ever), "every version that was seen, once"
        assert len(history.vanished) == len(gone) - len(before)
        newest = {}
        for version in sorted(latest.values(), key=lambda version: version.created):
            newest[f"m{version.pair}"] = version.level
        counted = history.judgments
        assert dict(zip(counted["moment_id"], counted["level"], strict=True)) == newest
    again = then(history, *server.tasks())
    pd.testing.assert_frame_equal(again.versions, history.versions)
    assert not len(again.vanished)


# Reading what was changed since


class Studio:
    """A model of the server behind the client: it tells what was changed after a moment."""

    def __init__(self, *tasks):
        self.tasks = {record.id: record for record in tasks}
        self.asked = []
        self.fails = False

    def answers(self, project, since):
        self.asked.append(since)
        for record in list(self.tasks.values()):
            if self.fails:
                raise StudioError("http://127.0.0.1:1: answered 502; try again")
            if since is None or record.updated_at > since:
                yield record

    def project(self, number):
        answers = sum(len(record.answers) for record in self.tasks.values())
        return PROJECT._replace(tasks=len(self.tasks), answers=answers)

    def put(self, record, minutes):
        self.tasks[record.id] = record._replace(updated_at=START + timedelta(minutes=minutes))


PROJECT = Project(5, "", "", "", "", "2026-01-01T00:00:00", 0, 0)


@pytest.fixture
def studio(folder):
    return Studio(*(task(number=number) for number in range(1, 6)))


def check_read(studio, read):
    assert dict(read) == studio.tasks
    return [since is None for since in studio.asked]


def test_all_is_read_once_and_then_what_was_changed(studio):
    assert check_read(studio, reader.read(studio, PROJECT)) == [True]
    studio.put(task(answer(), number=2), minutes=10)
    assert check_read(studio, reader.read(studio, PROJECT)) == [True, False]
    assert studio.asked[1] == START - reader.OVERLAP
    for project, full in ((PROJECT, True), (PROJECT._replace(created_at="2026-02-01"), False)):
        assert check_read(studio, reader.read(studio, project, full=full))[-1], (
            "wiped, or on demand"
        )


@pytest.mark.parametrize("gone", [1, 5])
@pytest.mark.parametrize("whole", [True, False])
def test_what_went_away_unseen_is_found_out_by_the_numbers(studio, gone, whole):
    studio.put(task(answer(), number=gone), minutes=10)
    studio.put(task(answer(), number=4), minutes=30)
    reader.read(studio, PROJECT)
    record = studio.tasks.pop(gone)
    if not whole:
        studio.tasks[gone] = record._replace(answers=[])
    assert check_read(studio, reader.read(studio, PROJECT))[-1]


@pytest.mark.parametrize(
    "broken",
    [
        *("", "[]", '{"made": 1', '{"made": "2026-01-01T00:00:00"}', "\0"),
        '{"made": "2026-01-01T00:00:00", "tasks": [[1, "k", false, "yesterday", [], []]]}',
        '{"made": "2026-01-01T00:00:00", "tasks": [[1, "k", false, "2026-01-01", [], []]]}',
    ],
)
def test_a_broken_memory_is_no_memory(studio, broken):
    reader.read(studio, PROJECT)
    [file] = reader.CACHE.iterdir()
    file.write_text(broken)
    assert check_read(studio, reader.read(studio, PROJECT)) == [True, True]


def test_a_failure_in_the_middle_leaves_what_was_remembered(studio):
    reader.read(studio, PROJECT)
    [file] = reader.CACHE.iterdir()
    before = file.read_bytes()
    studio.put(task(answer(), number=2), minutes=10)
    studio.fails = True
    with pytest.raises(StudioError):
        reader.read(studio, PROJECT)
    assert file.read_bytes() == before
    studio.fails = False
    check_read(studio, reader.read(studio, PROJECT))


def test_after_the_servers_clock_was_set_back_new_answers_come_and_anew_brings_changed_ones(folder):
    studio = Studio(task(answer()), task(number=2))
    for number in (1, 2):
        studio.put(studio.tasks[number], minutes=120)
    reader.read(studio, PROJECT)
    studio.put(task(answer(2), number=2), minutes=1)  # two hours earlier, says its clock
    check_read(studio, reader.read(studio, PROJECT))
    studio.put(task(answer(said=[level(4)])), minutes=1)
    assert dict(reader.read(studio, PROJECT)) != studio.tasks, "a changed one is not seen"
    check_read(studio, reader.read(studio, PROJECT, full=True))


@settings(max_examples=40)
@given(st.lists(st.lists(st.tuples(st.integers(1, 4), st.sampled_from("atd")), max_size=4)))
def test_read_piece_by_piece_it_is_what_is_there(tmp_path_factory, pulls):
    """a: somebody answers or changes an answer, t: a task is added, d: one is deleted."""
    studio, now = Studio(), 0
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CACHE", folder)
        for happens in pulls:
            for number, what in happens:
                now += 1
                if what == "a" and number in studio.tasks:
                    studio.put(task(answer(now, now), number=number), now)
                elif what == "t" and number not in studio.tasks:
                    studio.put(task(number=number), now)
                elif what == "d":
                    studio.tasks.pop(number, None)
            check_read(studio, reader.read(studio, PROJECT))


# What somebody can put into Label Studio without our page


def nest(depth):
    return [nest(depth - 1)] if depth else []


HOSTILE = {
    "half a character": [level(3) | {"value": {"choices": ["\ud800"]}}],
    "a deep list": [level(3) | {"value": {"choices": nest(400)}}],
    "a key that is half a character": [level(3) | {"\udfff": 1}],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_read_and_refused_and_the_next_pull_reads_it_again(folder, name):
    studio = Studio(task(answer(result=HOSTILE[name])))
    for _ in range(2):
        result = sort_tasks(*reader.read(studio, PROJECT).values())
        if name == "a key that is half a character":  # beside a level that is one
            assert [row["level"] for row in result.judgments] == [3]
        else:
            assert (result.judgments, len(result.rejected)) == ([], 1)
    if "half a character" in name:
        assert studio.asked == [None, None], "what can't be remembered makes all be read again"
        studio.put(task(answer()), minutes=1)
        reader.read(studio, PROJECT)
        assert check_read(studio, reader.read(studio, PROJECT))[2:] == [True, False]
