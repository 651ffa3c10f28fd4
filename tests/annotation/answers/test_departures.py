"""Departures: what somebody answers after they left does not count; what was pulled before does."""

from datetime import timedelta

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import OPEN
from test_pulling import (
    KEY,
    NOTHING,
    OURS,
    SIGNER,
    START,
    answer,
    at,
    level,
    levels,
    owner_who_left,
    read_remarks,
    task,
    versions,
)

from annotation.answers import pulling
from annotation.answers.departures import find_left, update_departures
from annotation.answers.history import first_pairs
from annotation.answers.judgments import Owner, Rules, sort_answers
from pipeline.core import tables

NEVER = tables.DEPARTURES.empty()
DAY = START.date()
LEFT = "left"


def then(before, *tasks, owner):
    """Return the history after another pull, and what was refused in it."""
    rules = Rules(SIGNER, OPEN.guidelines_shown, first_pairs=first_pairs(before.versions))
    rows = sort_answers(tasks, owner, rules)
    return pulling.merge_history(before.versions, rows), [row["reason"] for row in rows.rejected]


def instant(minute):
    return START + timedelta(seconds=minute)


def table(*rows):
    times = [
        (who, *(None if minute is None else instant(minute) for minute in span))
        for who, *span in rows
    ]
    return tables.DEPARTURES.check(pd.DataFrame(times, columns=tables.DEPARTURES.columns))


def test_who_leaves_and_returns_is_remembered_and_nobody_else():
    assert update_departures(NEVER, [], instant(1)).empty
    gone = update_departures(NEVER, {4, 3}, instant(1))
    pd.testing.assert_frame_equal(gone, table((3, 1, None), (4, 1, None)))
    same = update_departures(gone, {4, 3}, instant(2))
    pd.testing.assert_frame_equal(same, gone)
    back = update_departures(gone, {4}, instant(3))
    pd.testing.assert_frame_equal(back, table((3, 1, 3), (4, 1, None)))
    again = update_departures(back, {3, 4}, instant(5))
    pd.testing.assert_frame_equal(again, table((3, 1, 3), (3, 5, None), (4, 1, None)))


def test_until_is_a_day_and_belongs_to_it():
    last_second = 24 * 3600 - 1
    for second, expected in ((last_second, []), (last_second + 1, [LEFT])):
        owner = owner_who_left(away=NEVER, until=DAY)
        assert then(NOTHING, task(answer(made=second)), owner=owner)[1] == expected


def test_a_later_day_takes_back_the_refusal_and_an_earlier_one_takes_nothing_back():
    late = task(answer(made=30 * 3600))
    history, reasons = then(NOTHING, late, owner=owner_who_left(away=NEVER, until=DAY))
    assert (levels(history), reasons) == ([], [LEFT])
    longer = owner_who_left(history, NEVER, DAY + timedelta(days=1))
    history, reasons = then(history, late, owner=longer)
    assert (levels(history), reasons) == ([3], [])
    again, reasons = then(history, late, owner=owner_who_left(history, NEVER, DAY))
    assert (levels(again), reasons) == ([3], [])


@pytest.mark.parametrize(
    "change",
    [
        answer(changed=6, said=[level(0)]),
        answer(changed=6, was_cancelled=True),
        answer(changed=6, said=()),
    ],
)
def test_who_has_left_neither_changes_nor_withdraws_what_was_pulled(change):
    history, _ = then(NOTHING, task(answer()), owner=owner_who_left())
    after, reasons = then(history, task(change), owner=owner_who_left(history))
    assert (versions(after), reasons) == ([(3, "stands")], [LEFT])
    assert not len(after.vanished)
    assert "changed by someone else" not in read_remarks(after)


def test_an_answer_of_another_is_refused_as_such_whoever_has_left():
    forged = task(answer(made=6, completed_by=OURS + 1))
    assert then(NOTHING, forged, owner=owner_who_left())[1] == ["not-the-annotator"]


pairs, numbers = st.integers(0, 2), st.integers(0, 4)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), pairs, numbers | st.none()),
        st.just(("leave",)),
        st.just(("return",)),
        st.just(("pull",)),
    ),
    max_size=14,
)


@settings(max_examples=40)
@given(steps)
def test_what_counts_is_what_was_said_while_the_last_pull_saw_somebody_active(happens):
    """A level of None withdraws an answer. The oracle knows no intervals, and no history."""
    active, seen_active = True, True
    server, counted, refused = {}, {}, set()
    history, departed = NOTHING, NEVER
    for now, (what, *values) in enumerate([*happens, ("pull",)], 1):
        if what == "say":
            pair, number = values
            created = server[pair][0] if pair in server else now
            server[pair] = (created, now, number, seen_active)
        elif what == "pull":
            departed = update_departures(departed, [] if active else [3], instant(now))
            owner = Owner(3, OURS, left=find_left(departed, {}, history.versions)(3))
            history, reasons = then(history, *map(on_server, server.items()), owner=owner)
            for pair, (_, _, number, accepted) in server.items():
                refused = refused - {pair} if accepted else refused | {pair}
                if accepted:
                    counted[pair] = number
            assert reasons.count(LEFT) == len(refused)
            seen_active = active
        else:
            active = what == "return"
    expected = {f"m{pair}": number for pair, number in counted.items() if number is not None}
    judgments = history.judgments
    assert dict(zip(judgments["moment_id"], judgments["level"], strict=True)) == expected
    assert not len(history.vanished)


def on_server(entry):
    pair, (created, changed, number, _) = entry
    rest = {"was_cancelled": number is None}
    submission = answer(pair, created, changed, [level(number or 0)], **rest)
    return task(submission, key=KEY._replace(moment_id=f"m{pair}"), number=pair)


def test_a_day_and_an_absence_both_count():
    has_left = find_left(table((3, 5, 9)), {3: DAY}, tables.JUDGMENT_HISTORY.empty())(3)
    spans = {4: False, 5: True, 8: True, 9: False, 24 * 3600: True}
    assert {second: has_left(f"1@{at(second)}", at(second)) for second in spans} == spans
