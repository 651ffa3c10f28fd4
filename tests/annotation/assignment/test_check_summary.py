"""Agreement with gold and with oneself, in figures; what votes never hear of it."""

import numpy as np
import pandas as pd
import pytest
from lazy import Lazy
from support.campaign_cases import START, make_judgments, write_empty

from annotation.assignment import check_inputs
from annotation.assignment.inputs import CheckInputs
from annotation.quality.checks import measure_checks
from annotation.quality.decision import Limits
from annotation.quality.gold import collect_gold, join_gold
from annotation.quality.stopping import Stop, find_stopped
from annotation.roster import roster
from annotation.roster.annotator import Annotator
from annotation.roster.roster import Person
from annotation.simulation import careless
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import tables
from pipeline.core.params import load

metrics = Lazy("sklearn.metrics")

NO_EXAM = tables.EXAM_ANSWERS.empty()


def make_gold(number, level=3):
    rows = [("q", f"m{at:02}", level, None) for at in range(number)]
    lead = tables.GOLD.check(pd.DataFrame(rows, columns=tables.GOLD.columns))
    return collect_gold(lead, tables.EXAM.empty(), tables.ADJUDICATIONS.empty())


def make_answers(levels, kind="gold", annotator=1, query="q"):
    return [
        {"query_id": query, "moment_id": f"m{at:02}", "annotator": annotator}
        | {"level": level, "kind": kind}
        for at, level in enumerate(levels)
    ]


def measure(rows, gold):
    return measure_checks(make_judgments(rows), gold).set_index("annotator")


def test_the_lead_has_decided_on_who_is_asked_nothing_anyway(folder, repository, monkeypatch):
    write_empty()
    stop = Stop("misses known levels", START, START)
    monkeypatch.setattr(check_inputs, "find_stopped", lambda *_: dict.fromkeys(range(1, 5), stop))
    people = [Annotator(1, "annotator", True), Annotator(2, "annotator", False)]
    people += [Annotator(3, "expert", True), Annotator(4, "expert", False)]
    inputs = load(repository / "params.yaml"), people, tables.JUDGMENTS.empty()
    assert set(check_inputs.read_checks(*inputs).stopped) == {1}
    listed = {who.number: Person(role=who.role, active=who.active) for who in people[:2]}
    roster.write(listed, {})
    messages = careless.describe_stopped(inputs[0])
    assert [line.split(":")[0] for line in messages] == [
        "annotator 1 was stopped",
        "annotator 2 was stopped",
    ], "a rehearsal tells also of whom it has parted with"
    figures = {"answered": 10, "plain": None, "quadratic": None}
    results = [
        {"annotator": who, "attempt": attempt, "failed": 9 - who, "passed": passed} | figures
        for who, attempt, passed in [(2, 1, "no"), (2, 2, "no"), (6, 1, "no"), (6, 2, "yes")]
    ]
    tables.QUALIFICATIONS.write(pd.DataFrame(results)[tables.QUALIFICATIONS.columns])
    assert check_inputs.explain_stopped(inputs[0], people, tables.JUDGMENTS.empty()) == {
        1: "misses known levels",
        2: "failed the exam twice (7 of 10 more than 1 off the second time); misses known levels",
    }, "the second time counts, and those who passed then are not stopped"


def test_of_gold_hits_and_equal_levels_are_counted_and_who_cant_judge_has_not_missed():
    row = measure(make_answers([3, 4, 2, 1, 0, None]), make_gold(6)).loc[1]
    assert (row["gold"], row["hits"], row["exact"], row["without_level"]) == (5, 3, 1, 1)
    assert (row["share"], row["low"], row["high"]) == (0.6, 0.230724, 0.882379)  # Wilson's


def test_the_shares_of_each_third_show_a_trend():
    tired = measure(make_answers([3] * 10 + [0] * 20), make_gold(30)).loc[1]
    assert (tired["early"], tired["middle"], tired["late"]) == (1, 0, 0)


def test_a_new_persons_links_are_compared_with_the_old_votes():
    old = [*make_answers([0, 4, None], "first"), *make_answers([1, 4, 2], "first", annotator=2)]
    table = measure([*old, *make_answers([2, None, 1, 3], "link", annotator=3)], make_gold(0))
    assert list(table.index) == [3]
    assert (table.loc[3, "links"], table.loc[3, "apart"]) == (2, 0.25)  # 2 to 0.5, 1 to 2


def test_second_answers_are_compared_with_the_persons_own_first():
    first, again = [0, 1, 2, 3, 4, 4, None, 2], [0, 2, 4, 3, 0, 4, 1, None]
    rows = [
        *make_answers(first, "first"),
        *make_answers(again, "repeat"),
        *make_answers([4] * 8, "first", annotator=2),
    ]
    table = measure(rows, make_gold(0))
    assert list(table.index) == [1]
    row = table.loc[1]
    assert (row["repeats"], row["same"], row["near"]) == (6, 3, 4)
    theirs = metrics.cohen_kappa_score(first[:6], again[:6], weights="quadratic")
    assert row["kappa"] == pytest.approx(theirs, abs=1e-6)


def test_pairs_that_were_adjudicated_are_counted_apart():
    gold = make_gold(20).assign(source="adjudicated")
    row = measure(make_answers([0] * 20), gold).loc[1]
    assert (row["gold"], row["adjudicated"], row["adjudicated_hits"]) == (0, 20, 0)
    assert find_stopped(make_judgments(make_answers([0] * 20)), NO_EXAM, gold, Limits(), {}) == {}


def test_the_leads_levels_come_first_and_the_others_hold_for_what_was_shown():
    shas = {"query_sha": "text", "clip_sha": "clip", "clip": "c.mp4"}
    exam = pd.DataFrame(
        [{"query_id": "q", "moment_id": f"m0{at}", "level": 1, "origin": "median"} for at in (0, 1)]
    ).assign(**shas)
    open_truth = exam.assign(moment_id=["m02", "m03"], level=None, origin=None)
    gold = collect_gold(
        tables.GOLD.check(pd.DataFrame([("q", "m00", 4, None)], columns=tables.GOLD.columns)),
        tables.EXAM.check(pd.concat([exam, open_truth])[tables.EXAM.columns]),
        tables.ADJUDICATIONS.empty(),
    )
    pairs = [("q", "m00", "text", "clip"), ("q", "m01", "text", "clip"), ("q", "m01", "x", "clip")]
    joined = join_gold(
        pd.DataFrame([*pairs, ("q", "m02", "text", "clip")], columns=SHOWN_KEY), gold
    )
    assert joined["truth"].fillna(-1).tolist() == [4, 1, -1, -1]
    assert joined["source"].fillna("").tolist() == ["lead", "exam", "", ""]


def test_who_is_far_off_is_stopped_and_goes_on_from_the_day_that_the_lead_says():
    rows = make_answers([0] * 30)
    gold = make_gold(30)
    stops = find_stopped(make_judgments(rows), NO_EXAM, gold, Limits(), {})
    assert list(stops) == [1]
    assert stops[1].last == START + pd.Timedelta(seconds=29)
    day = START.date()
    assert list(find_stopped(make_judgments(rows), NO_EXAM, gold, Limits(), {1: day})) == [1]
    tomorrow = (START + pd.Timedelta(days=1)).date()
    assert find_stopped(make_judgments(rows), NO_EXAM, gold, Limits(), {1: tomorrow}) == {}
    assert find_stopped(make_judgments(make_answers([3] * 30)), NO_EXAM, gold, Limits(), {}) == {}


def test_an_answer_to_ones_own_repeat_is_no_other_persons_word():
    rows = [*make_answers([2] * 60, "first"), *make_answers([2] * 60, "repeat")]
    assert find_stopped(make_judgments(rows), NO_EXAM, make_gold(0), Limits(), {}) == {}


@pytest.mark.parametrize(("gold", "repeats"), [(0.03, 0.02), (0.0, 0.02), (0.5, 0.0)])
def test_shares_are_of_all_tasks(gold, repeats):
    inputs = CheckInputs(gold=gold, repeats=repeats)
    votes = 1000.0
    checks = votes * np.array([inputs.per_vote(kind) for kind in ("gold", "repeat")])
    assert checks / (votes + checks.sum()) == pytest.approx([gold, repeats])


def test_of_nothing_there_is_an_empty_table():
    table = measure_checks(tables.JUDGMENTS.empty(), make_gold(0))
    assert table.empty
    assert {"annotator", "gold", "kappa"} <= set(table.columns)
