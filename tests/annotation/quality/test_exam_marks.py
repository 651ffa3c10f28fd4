"""The exam's pairs, right levels and marks, against definitions written by hand and scikit-learn.

Levels of people are drawn; what they come to is counted again here, pair by pair.
"""

import math
import statistics
from random import Random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy import Lazy
from support.campaign_cases import START
from support.campaign_folder import CampaignFolder, Size

from annotation.quality.exam_pairs import choose_pairs, freeze_truth, is_frozen, median
from annotation.quality.marking import (
    between_people,
    failed_answers,
    finished,
    mark,
    record_answers,
)
from annotation.quality.standing import bar, find_standings
from annotation.roster.annotator import Annotator
from pipeline.campaign.next_step import exam_steps
from pipeline.core import tables
from pipeline.core.people_sections import Exam

metrics = Lazy("sklearn.metrics")

UNSEEN = 0.7
"""The share of answers after which nobody marks."""
OFF = [-2, -1, 0, 0, 1]
LEVEL = st.one_of(st.none(), st.integers(0, 4))
NO_GOLD = tables.GOLD.empty()


def params(**changes):
    usual = {"required": True, "queries": 3, "top": 2, "group": 4, "max_failed": 0.15}
    return Exam(**(usual | changes))


def make_exam(levels, origin="median"):
    """Return an exam of these right levels; without an origin they are not known yet."""
    rows = [
        (f"q{at // 2}", f"m{at}", level, origin, f"c{at}.mp4", "text", f"c{at}")
        for at, level in enumerate(levels)
    ]
    return tables.EXAM.check(pd.DataFrame(rows, columns=tables.EXAM.columns))


def make_answers(rows):
    """Return answers of `(annotator, attempt, pair, level)`, a second apart."""
    columns = tables.EXAM_ANSWERS.columns
    full = []
    for second, (who, attempt, at, level) in enumerate(rows):
        reason = "broken-clip" if level is None else None
        when = START + pd.Timedelta(seconds=second)
        pair = (f"q{at // 2}", f"m{at}")
        full.append((who, attempt, *pair, level, reason, when, 4.0, f"{second}@a", "1"))
    frame = pd.DataFrame(full, columns=columns) if full else tables.EXAM_ANSWERS.empty()
    return tables.EXAM_ANSWERS.check(frame)


def make_attempt(people, attempt=1):
    """Return answers of people, by number: each person's levels of all pairs, one after the other.

    A pair that is left out is not answered.
    """
    return make_answers(
        (who, attempt, at, level) for who, levels in people.items() for at, level in levels.items()
    )


def whole(*levels):
    return dict(enumerate(levels))


# Which pairs


def make_candidates(queries, ranks):
    rows = [
        (f"q{query}", f"m{query}-{rank}", rank, "text", f"c{query}-{rank}.mp4", f"c{query}-{rank}")
        for query in range(queries)
        for rank in range(1, ranks + 1)
    ]
    columns = ["query_id", "moment_id", "rank", "query_sha", "clip", "clip_sha"]
    return pd.DataFrame(rows, columns=columns)


def make_gold(pairs, level=2):
    rows = [(query, moment, level, None) for query, moment in pairs]
    return tables.GOLD.check(pd.DataFrame(rows, columns=tables.GOLD.columns))


def test_it_takes_the_first_candidates_of_as_many_queries_the_same_in_any_order():
    candidates = make_candidates(8, 5)
    chosen = choose_pairs(candidates, NO_GOLD, "campaign", params())
    assert chosen.groupby("query_id").size().tolist() == [2, 2, 2]
    assert {moment.partition("-")[2] for moment in chosen["moment_id"]} == {"1", "2"}
    assert chosen["level"].isna().all()
    assert not is_frozen(chosen)
    shuffled = candidates.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(chosen, choose_pairs(shuffled, NO_GOLD, "campaign", params()))
    others = {
        tuple(choose_pairs(candidates, NO_GOLD, name, params())["query_id"]) for name in "abcd"
    }
    assert len(others) > 1, "another campaign has another exam"


def test_a_query_with_too_few_clips_comes_last_and_too_few_queries_make_a_smaller_exam():
    candidates = make_candidates(3, 2)
    without = candidates[candidates["moment_id"] != "m1-2"]
    two = choose_pairs(without, NO_GOLD, "campaign", params(queries=2))
    assert set(two["query_id"]) == {"q0", "q2"}
    assert len(choose_pairs(without, NO_GOLD, "campaign", params(queries=9))) == 5
    assert choose_pairs(candidates.head(0), NO_GOLD, "campaign", params()).empty


def test_the_leads_gold_is_the_exam_where_there_is_enough_of_it():
    candidates = make_candidates(8, 5)
    pairs = list(zip(candidates["query_id"], candidates["moment_id"], strict=True))
    six = Random(3).sample(pairs, 6)
    chosen = choose_pairs(candidates, make_gold(six), "campaign", params())
    assert set(zip(chosen["query_id"], chosen["moment_id"], strict=True)) == set(six)
    frozen = freeze_truth(chosen, make_gold(six), tables.EXAM_ANSWERS.empty(), 4, [])
    assert set(frozen["origin"]) == {"gold"}
    assert set(frozen["level"]) == {2}
    five = choose_pairs(candidates, make_gold(six[:5]), "campaign", params())
    assert {moment.partition("-")[2] for moment in five["moment_id"]} == {"1", "2"}


# The right levels


@given(st.lists(LEVEL, min_size=3, max_size=6))
def test_the_right_level_is_the_median_rounded_up_if_most_of_the_group_gave_one(levels):
    given_levels = sorted(level for level in levels if level is not None)
    expected = None
    if len(given_levels) > len(levels) / 2:
        middle = statistics.median(given_levels)
        expected = math.floor(middle + 0.5)
    assert median(pd.Series(levels, dtype="Int64"), len(levels)) == expected


@settings(max_examples=12)
@given(st.randoms(use_true_random=False))
def test_the_first_to_finish_make_it_and_nothing_changes_it_afterwards(random):
    size, group = 4, 3
    order = random.sample(range(1, 7), 6)
    rows, done, exam = [], [], make_exam([None] * size, origin=None)
    places = [(who, at) for who in order for at in range(size)]
    random.shuffle(places)
    for who, at in places:
        rows.append((who, 1, at, random.choice([0, 1, 2, 3, 4, None])))
        finish = sum(row[0] == who for row in rows) == size
        if not finish and random.random() < UNSEEN:
            continue
        done += [who] * finish
        before, active = exam, [1, 2, 3, 4, 5]
        exam = freeze_truth(before, NO_GOLD, make_answers(rows), group, active)
        if is_frozen(before):
            pd.testing.assert_frame_equal(exam, before)
            continue
        first = [person for person in done if person in active][:group]
        assert is_frozen(exam) == (len(first) == group), "a person who has left is not asked"
        if is_frozen(exam):
            for pair, level in enumerate(exam["level"]):
                own = [row[3] for row in rows if row[0] in first and row[2] == pair]
                expected = median(pd.Series(own, dtype="Int64"), group)
                assert (None if pd.isna(level) else level) == expected
    assert is_frozen(exam)
    gold = make_gold(zip(exam["query_id"], exam["moment_id"], strict=True), 0)
    pd.testing.assert_frame_equal(freeze_truth(exam, gold, make_answers([]), group, []), exam)


def test_gold_is_the_truth_where_the_lead_has_it_and_the_group_where_not():
    exam = make_exam([None, None], origin=None)
    answers = make_attempt({who: whole(3, 3) for who in (1, 2, 3)})
    gold = make_gold([("q0", "m1")], 1)
    assert not is_frozen(freeze_truth(exam, gold, make_answers([]), 3, [1, 2, 3]))
    frozen = freeze_truth(exam, gold, answers, 3, [1, 2, 3])
    assert frozen["level"].tolist() == [3, 1]
    assert frozen["origin"].tolist() == ["median", "gold"]


# Marks


def test_an_answer_fails_more_than_one_off_or_without_a_level_and_counts_not_without_a_truth():
    exam = make_exam([2, 2, 2, 4, None, None])
    answers = make_attempt({7: whole(1, 3, 0, None, 4, None)})
    wrong = failed_answers(answers, exam)
    assert wrong["moment_id"].tolist() == ["m2", "m3"]
    assert wrong["truth"].tolist() == [2, 4]
    [row] = mark(answers, exam, 0.5).to_dict("records")
    assert (row["answered"], row["failed"], row["passed"]) == (4, 2, "yes")
    assert mark(answers, exam, 0.49)["passed"].tolist() == ["no"]


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_kappa_of_each_attempt_is_scikit_learns(random):
    truth = [0, 4, *(random.randrange(5) for _ in range(30))]
    exam = make_exam(truth)
    people = {
        who: whole(0, 4, *(min(max(level + random.choice(OFF), 0), 4) for level in truth[2:]))
        for who in (1, 2, 3)
    }
    first = make_attempt(people)
    wrong = failed_answers(first, exam)
    again = [(row.annotator, 2, int(row.moment_id[1:]), row.truth) for row in wrong.itertuples()]
    answers = record_answers(first, make_answers(again), exam)
    marks = mark(answers, exam, 0.15).set_index(["annotator", "attempt"])
    asked = sorted(set(wrong["annotator"]))
    assert set(marks.index) == {(who, 1) for who in people} | {(who, 2) for who in asked}
    repaired = {
        who: [
            t if abs(level - t) > 1 else level for level, t in zip(own.values(), truth, strict=True)
        ]
        for who, own in people.items()
    }
    stands = {1: {who: list(own.values()) for who, own in people.items()}, 2: repaired}
    for (who, attempt), row in marks.iterrows():
        own = stands[attempt][who]
        assert row["failed"] == sum(abs(a - b) > 1 for a, b in zip(own, truth, strict=True))
        for name, weights in (("plain", None), ("quadratic", "quadratic")):
            expected = metrics.cohen_kappa_score(own, truth, labels=range(5), weights=weights)
            assert row[name] == pytest.approx(expected, abs=1e-6)
    for attempt, levels in stands.items():
        between = between_people(answers, exam, attempt)["mean_over_annotator_pairs"]
        scores = [
            metrics.cohen_kappa_score(levels[a], levels[b], labels=range(5), weights="quadratic")
            for a, b in ((1, 2), (1, 3), (2, 3))
        ]
        assert between["quadratic"] == pytest.approx(statistics.mean(scores), abs=1e-6)


def test_kappa_is_empty_where_chance_alone_would_make_them_agree():
    [row] = mark(make_attempt({1: whole(2, 2)}), make_exam([2, 2]), 0.15).to_dict("records")
    assert math.isnan(row["plain"])
    assert math.isnan(row["quadratic"])
    assert row["passed"] == "yes"


def test_an_exam_whose_pairs_nobody_could_judge_passes_nobody():
    [row] = mark(make_attempt({1: whole(2, 2)}), make_exam([None, None]), 0.15).to_dict("records")
    assert (row["answered"], row["passed"]) == (0, "no")


# Attempts


def test_until_it_is_handed_in_the_newest_answer_counts_and_nothing_is_lost():
    exam = make_exam([2, 2], origin=None)
    first = record_answers(make_answers([]), make_answers([(1, 1, 0, 4)]), exam)
    changed = record_answers(first, make_answers([(1, 1, 0, 2)]), exam)
    assert changed["level"].tolist() == [2], "the same answer, changed"
    gone = record_answers(changed, make_answers([]), exam)
    pd.testing.assert_frame_equal(gone, changed)
    strange = record_answers(gone, make_answers([(1, 1, 9, 2)]), exam)
    assert len(strange) == 1, "no pair of this exam"
    whole_one = record_answers(gone, make_answers([(1, 1, 1, 0)]), exam)
    assert finished(whole_one, exam) == [(1, 1)]
    late = record_answers(whole_one, make_answers([(1, 1, 0, 4), (1, 1, 1, 4)]), exam)
    pd.testing.assert_frame_equal(late, whole_one)


# Standings


def test_who_may_judge_is_who_has_passed_once_or_is_admitted():
    exam = make_exam([4, 4, 4, 4])
    good, bad = whole(4, 4, 4, 4), whole(0, 0, 4, 4)
    answers = make_attempt({1: good, 2: bad, 3: bad, 4: bad, 5: {0: 4}, 9: good})
    again = [(2, 2, 0, 4), (2, 2, 1, 4), (3, 2, 0, 0), (3, 2, 1, 0)]
    answers = record_answers(answers, make_answers(again), exam)
    people = [Annotator(number, "annotator", active=True) for number in range(1, 8)]
    people[6] = people[6]._replace(admitted=True)
    people += [Annotator(8, "lead", active=True), Annotator(9, "annotator", active=False)]
    standings = find_standings(people, exam, answers, mark(answers, exam, 0.15))
    assert standings == {
        1: "passed",
        2: "passed",
        3: "failed-twice",
        4: "failed",
        5: "begun",
        6: "to-begin",
        7: "admitted",
    }
    assert bar(standings, required=True).keys() == {3, 4, 5, 6}
    assert bar(standings, required=False) == {}
    commands = [
        step.command for step in exam_steps({str(n): standing for n, standing in standings.items()})
    ]
    assert commands == [
        "dvc repro",
        "python -m annotation.exam feedback",
        "python -m annotation.exam push && python -m annotation.people invite",
        "python -m annotation.exam mark",
    ]
    unknown = make_exam([None] * 4, origin=None)
    waiting = find_standings(people, unknown, answers, tables.QUALIFICATIONS.empty())
    assert waiting[1] == "waits", "too few have finished for anybody to be marked"


@pytest.mark.parametrize("verb", ["push", "mark", "feedback", "status"])
def test_without_a_server_it_says_so(folder, command, repository, verb):
    CampaignFolder.make(folder, repository, Size(queries=1, ranks=1))
    code, _, errors = command("annotation.exam", verb)
    assert code == 1
    assert "no Label Studio is configured" in errors
