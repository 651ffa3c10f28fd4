"""Couples, kappa, alpha and people's figures: against their definitions."""

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy import Lazy
from support.score_rows import START, scores_of

from annotation.reliability import kappa, statistics, voting
from annotation.reliability.alpha import Bootstrap, alphas
from annotation.reliability.annotators import bursts, measure_annotators
from annotation.reliability.scores import (
    Scores,
    between_people,
    couples,
    nearness,
    within_person,
)
from annotation.votes.votes import select_rows
from pipeline.core.params import load_defaults

DEFAULTS = load_defaults().agreement

metrics = Lazy("sklearn.metrics")

BOOTSTRAP = Bootstrap(resamples=200, confidence=0.95, seed=1)
rows_of_scores = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 4)), max_size=30
)

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers,
# twelve units, values 1 to 5.
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def group_by_pair(rows):
    units = defaultdict(list)
    for pair, annotator, level in rows:
        units[pair].append((annotator, level))
    return units


def distances(values):
    """Return the squared distance of two levels, by name, as Krippendorff writes it."""
    times = [values.count(level) for level in range(5)]

    def _ordinal(first, second):
        low, high = sorted((first, second))
        return (sum(times[low : high + 1]) - (times[low] + times[high]) / 2) ** 2

    return {
        "nominal": lambda first, second: float(first != second),
        "ordinal": _ordinal,
        "interval": lambda first, second: float((first - second) ** 2),
    }


def alpha_by_definition(rows):
    """Return alpha by name: observed over expected disagreement of pairable values."""
    units = [[level for _, level in unit] for unit in group_by_pair(rows).values() if len(unit) > 1]
    values = [level for unit in units for level in unit]
    result = {}
    for name, distance in distances(values).items():
        observed = sum(
            sum(distance(*couple) for couple in permutations(unit, 2)) / (len(unit) - 1)
            for unit in units
        )
        expected = sum(distance(*couple) for couple in permutations(values, 2))
        result[name] = 1 - observed * (len(values) - 1) / expected if expected else None
    return result


def measure_alpha(rows):
    intervals = alphas(scores_of(rows).counts, BOOTSTRAP)
    return {name: figures_["alpha"] for name, figures_ in intervals.items()}


def test_alpha_of_the_published_example():
    observers = [line.split() for line in PUBLISHED.strip().splitlines()]
    rows = [
        (unit, observer, int(value) - 1)
        for observer, values in enumerate(observers)
        for unit, value in enumerate(values)
        if value != "."
    ]
    actual = measure_alpha(rows)
    assert actual == pytest.approx(alpha_by_definition(rows), abs=1e-6)
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}
    assert {name: round(value, 3) for name, value in actual.items()} == published


@given(rows_of_scores)
def test_alpha_is_as_defined(rows):
    assert measure_alpha(rows) == pytest.approx(alpha_by_definition(rows), abs=1e-6)


def test_the_interval_is_that_of_drawing_pairs_with_replacement():
    random = np.random.default_rng(3)
    truth = random.integers(0, 5, 150)
    rows = [
        (pair, person, int(np.clip(truth[pair] + random.integers(-1, 2), 0, 4)))
        for pair in range(150)
        for person in range(2)
    ]
    counts = scores_of(rows).counts
    intervals = alphas(counts, Bootstrap(resamples=2000, confidence=0.9, seed=1))
    draws = (counts[random.integers(0, 150, 150)] for _ in range(1000))
    samples = [alphas(each, Bootstrap(1, 0.9, 1)) for each in draws]
    for name, interval in intervals.items():
        low, high = np.quantile([each[name]["alpha"] for each in samples], [0.05, 0.95])
        assert interval["low"] == pytest.approx(low, abs=0.01)
        assert interval["high"] == pytest.approx(high, abs=0.01)
        assert interval["low"] < interval["alpha"] < interval["high"]


def test_the_interval_depends_on_the_seed_alone():
    rows = [(pair, person, (pair * (person + 1)) % 5) for pair in range(20) for person in (0, 1)]
    counts = scores_of(rows).counts
    assert alphas(counts, BOOTSTRAP) == alphas(counts[::-1], BOOTSTRAP)
    assert alphas(counts, BOOTSTRAP) != alphas(counts, BOOTSTRAP._replace(seed=2))


@pytest.mark.parametrize(
    "rows", [[], [(0, 0, 3)], [(0, 0, 3), (1, 1, 2)], [(0, 0, 3), (0, 1, 3), (1, 0, 3), (1, 2, 3)]]
)
def test_alpha_of_nothing_comparable_or_of_one_level_is_null(rows):
    nothing = {"alpha": None, "low": None, "high": None}
    assert set(map(str, alphas(scores_of(rows).counts, BOOTSTRAP).values())) == {str(nothing)}


@given(rows_of_scores)
def test_couples_are_all_of_two_scores_on_a_pair(rows):
    units = group_by_pair(rows).values()
    expected = sorted(couple for unit in units for couple in combinations(sorted(unit), 2))
    all_couples = couples(scores_of(rows))
    columns = zip(*(column.tolist() for column in all_couples), strict=True)
    assert sorted(((a, x), (b, y)) for a, b, x, y in columns) == expected
    between, within = between_people(all_couples), within_person(all_couples)
    assert len(between.level) + len(within.level) == len(expected)
    assert (within.annotator == within.other).all()


def test_nearness():
    all_couples = couples(
        scores_of([(0, 0, 3), (0, 1, 3), (1, 0, 1), (1, 1, 2), (2, 0, 0), (2, 1, 4)])
    )
    assert nearness(all_couples) == {"couples": 3, "exact": 0.333333, "within_1": 0.666667}


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:A single label:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=60)
@given(rows_of_scores)
def test_kappa_of_each_two_annotators_is_as_scikit_learn_has_it(rows):
    between = between_people(couples(scores_of(rows)))
    for row in kappa.by_annotators(between).itertuples():
        theirs = (between.annotator == row.annotator) & (between.other == row.other)
        first, second = between.level[theirs], between.other_level[theirs]
        assert row.couples == len(first)
        assert row.exact == pytest.approx((first == second).mean())
        for name, weights in (("plain", None), ("quadratic", "quadratic")):
            if len({*first, *second}) == 1:
                assert np.isnan(getattr(row, name))
            else:
                expected = metrics.cohen_kappa_score(
                    first, second, labels=range(5), weights=weights
                )
                assert getattr(row, name) == pytest.approx(expected)


def test_the_mean_of_kappa_is_over_annotator_pairs_not_over_couples():
    agree = [(pair, person, pair % 5) for pair in range(50) for person in (0, 1)]
    apart = [(50, 1, 0), (50, 2, 4), (51, 1, 4), (51, 2, 0)]
    constant = [(60, 2, 3), (60, 3, 3)]
    summary = kappa.summary(between_people(couples(scores_of(agree + apart + constant))))
    assert (summary["annotator_pairs"], summary["undefined"]) == (3, 1)
    assert summary["mean_over_annotator_pairs"] == {"plain": 0.0, "quadratic": 0.0}
    assert summary["all_couples"]["plain"] > 0.9


@settings(max_examples=40)
@given(rows_of_scores, st.permutations(range(4)), st.randoms(use_true_random=False))
def test_no_figure_depends_on_the_order_of_rows_or_on_annotators_numbers(rows, numbers, random):
    renamed = random.sample([(pair, numbers[who], level) for pair, who, level in rows], len(rows))
    quick = DEFAULTS.model_copy(update={"resamples": 20})
    first, second = (
        statistics.agreement(scores_of(each, pairs=7), quick) for each in (rows, renamed)
    )
    assert first == second


def test_groups_are_of_pairs_with_two_and_with_four_scores():
    rows = [(0, 0, 1), (0, 1, 1), *((1, who, who) for who in range(4)), (2, 0, 3)]
    groups = statistics.agreement(scores_of(rows), DEFAULTS)["groups"]
    pairs = {name: group and group["pairs"] for name, group in groups.items()}
    assert pairs == {"all": 2, "two": 1, "four": 1, "first_two": None}
    assert groups["two"]["exact"] == 1.0


def test_the_first_two_scores_of_a_pair_are_free_of_selection():
    rows = [(0, 5, 0), (0, 4, 4), (0, 1, 2), (0, 2, 2), (1, 0, 3), (1, 1, 3)]
    groups = statistics.agreement(scores_of(rows, timed=True), DEFAULTS)["groups"]
    assert (groups["first_two"]["couples"], groups["first_two"]["exact"]) == (2, 0.5)


@settings(max_examples=60)
@given(rows_of_scores)
def test_people_of_each_pair_and_disputes_are_counted_as_defined(rows):
    scores = scores_of(rows, pairs=7)
    units = group_by_pair(rows).values()
    kinds = Counter((len(unit), len({who for who, _ in unit})) for unit in units)
    counts = {
        (row["scores"], row["people"]): row["pairs"] for row in voting.people_per_pair(scores)
    }
    assert counts == kinds
    levels = [sorted(level for _, level in unit) for unit in units]
    apart = [len(unit) for unit in levels if unit[-1] - unit[0] > 1]
    together = [len(unit) for unit in levels if unit[-1] - unit[0] <= 1]
    expected = {"two_apart": apart.count(2), "four_together": together.count(4)}
    assert voting.count_disputes(scores) == expected


def select_first_two(rows, choose):
    """Return what the first two scores can have been, as scores of two people on each pair."""
    chosen = []
    for pair, unit in group_by_pair(rows).items():
        couples_ = list(combinations(sorted(level for _, level in unit), 2))
        apart = [couple for couple in couples_ if couple[1] - couple[0] > 1] or couples_
        if len({who for who, _ in unit}) > 1:
            low, high = choose(apart, key=lambda couple: couple[1] - couple[0])
            chosen += [(pair, 0, low), (pair, 1, high)]
    return chosen


@settings(max_examples=60)
@given(rows_of_scores)
def test_what_the_first_two_scores_can_have_been(rows):
    limits = voting.first_two_limits(scores_of(rows))
    for name, choose in (("closest", min), ("widest", max)):
        two = select_first_two(rows, choose)
        near = nearness(couples(scores_of(two)))
        assert limits["pairs"] == near["couples"]
        assert {key: limits[name][key] for key in ("exact", "within_1")} == pytest.approx(
            {key: near[key] for key in ("exact", "within_1")}
        )
        assert limits[name]["alpha"] == pytest.approx(alpha_by_definition(two), abs=1e-6)


def test_one_person_twice_is_told_by_the_number_of_scores():
    rows = [(0, 0, 1), (0, 0, 1), (1, 0, 0), (1, 0, 4), (1, 1, 1), (1, 2, 2), (2, 0, 3), (2, 1, 3)]
    groups = statistics.agreement(scores_of(rows), DEFAULTS)["groups"]
    twice = {name: group and group["one_person_twice"] for name, group in groups.items()}
    assert twice["two"] == {"couples": 1, "exact": 1.0, "within_1": 1.0}
    assert twice["four"] == {"couples": 1, "exact": 0.0, "within_1": 0.0}
    assert twice["all"]["couples"] == 2


def test_min_and_max_of_each_pair():
    rows = [(0, 0, 1), (0, 1, 2), (1, 0, 4), (1, 1, 0), (1, 2, 2), (1, 3, 2), (2, 0, 3)]
    table = statistics.min_max(scores_of(rows))
    assert len(table) == 15
    some = table[table["pairs"] > 0]
    assert some[["min", "max", "pairs"]].to_numpy().tolist() == [[0, 4, 1], [1, 2, 1]]


def test_final_levels_and_moments_that_read_like_the_query():
    level = pd.Series([4, 4, None, 2, 0], dtype="Int64")
    assert statistics.final_levels(level)["pairs"].tolist() == [1, 0, 1, 0, 2]
    assert statistics.final_levels(level)["share"].tolist() == [0.25, 0, 0.25, 0, 0.5]
    similarity = pd.Series([1.0, 0.999999, 1.0, 1.0, 1.0])
    alike = statistics.alike_below_top(similarity, level)
    assert alike == {"pairs": 3, "below_top": 2, "share": 0.666667}
    nothing = statistics.alike_below_top(similarity, level.mask(level.notna()))
    assert nothing == {"pairs": 0, "below_top": 0, "share": None}


def measure_people(rows, timed=False, seconds=None, **changes):
    scores = scores_of(rows, timed=timed)
    if seconds is not None:
        scores = scores._replace(seconds=np.array(seconds, dtype=float))
    params = DEFAULTS.model_copy(update={"min_judgments": 1, **changes})
    return measure_annotators(scores, params).set_index("annotator")


@settings(max_examples=40)
@given(rows_of_scores)
def test_bias_and_correlation_are_with_the_mean_of_the_others(rows):
    table = measure_people(rows)
    units = group_by_pair(rows)
    for person, row in table.iterrows():
        points = []
        for unit in units.values():
            others = [level for who, level in unit if who != person]
            points += [(level, np.mean(others)) for who, level in unit if who == person and others]
        own, theirs = np.array(points).reshape(-1, 2).T
        if points:
            assert row["bias"] == pytest.approx(np.mean(own - theirs), abs=1e-6)
        else:
            assert np.isnan(row["bias"])
        if len(points) < 2 or np.ptp(own) < 1e-9 or np.ptp(theirs) < 1e-9:
            assert np.isnan(row["correlation"])
        else:
            assert row["correlation"] == pytest.approx(np.corrcoef(own, theirs)[0, 1], abs=1e-5)
        own = [level for _, who, level in rows if who == person]
        assert row["number"] == len(own)
        assert row["mean"] == pytest.approx(np.mean(own), abs=1e-6)
        assert row["spread"] == pytest.approx(np.std(own), abs=1e-6)
        shares = [own.count(level) / len(own) for level in range(5)]
        assert row["most_frequent"] == pytest.approx(max(shares), abs=1e-6)
        assert row["escalated"] == pytest.approx(
            np.mean([len(units[pair]) > 2 for pair, who, _ in rows if who == person]), abs=1e-6
        )


def test_drift_is_how_much_higher_the_later_half_is():
    rows = [(pair, 0, 2) for pair in range(8)] + [(pair, 1, 2 + pair // 4) for pair in range(8)]
    table = measure_people(rows, timed=True)
    assert table["drift"].tolist() == [-1.0, 1.0]
    assert measure_people(rows)["drift"].isna().all()


def test_escalated_is_of_the_pairs_that_one_was_asked_about_first():
    rows = [(0, 0, 0), (0, 1, 4), (0, 2, 2), (0, 3, 2), (1, 0, 1), (1, 1, 1)]
    table = measure_people(rows, timed=True)
    assert table["escalated"].tolist()[:2] == [0.5, 0.5]
    assert table["escalated"].isna().tolist()[2:] == [True, True]
    assert measure_people(rows)["escalated"].tolist() == [0.5, 0.5, 1.0, 1.0]


HONEST = [(pair, 0, pair % 5) for pair in range(20)]


@pytest.mark.parametrize(
    ("theirs", "seconds", "flag"),
    [
        (lambda pair: pair % 5, 1.0, "too fast: the median judgment took 1.0 s"),
        (lambda pair: 3, 9.0, "constant: 100% are one level"),
        (lambda pair: 4 - pair % 5, 9.0, "contrary: correlation with the others is -1.00"),
        (lambda pair: pair % 5, 9.0, ""),
    ],
)
def test_flags_say_why(theirs, seconds, flag):
    rows = HONEST + [(pair, 1, theirs(pair)) for pair in range(20)]
    person = scores_of(rows).annotator
    table = measure_people(rows, seconds=np.where(person == 1, seconds, 9.0))
    assert table["flags"][1] == flag


def make_scores(seconds):
    """Return one annotator's scores, in the order of time, each of a pair of its own."""
    number = len(seconds)
    places = np.arange(number)
    levels, time = places % 5, START + places * np.timedelta64(60, "s")
    annotator, seconds = places * 0, np.array(seconds, dtype=float)
    return Scores(places, annotator, levels, number, pd.Index([7]), time, seconds)


FAST, SLOW = [1.5], [9.0]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (SLOW * 30 + FAST * 12 + SLOW * 30, (12, 12, "08:30")),
        (FAST * 9 + SLOW + FAST * 9, None),
        (SLOW * 30 + FAST * 10 + SLOW + FAST * 11, (21, 11, "08:41")),
        (FAST * 5 + [np.nan] + FAST * 5 + SLOW * 40, None),
        ([2.0] * 60, None),
    ],
)
def test_a_burst_is_a_long_run_of_fast_judgments(seconds, expected):
    scores = make_scores(seconds)
    rows = bursts(scores, 2.0, 10)
    shuffled = select_rows(scores, np.random.default_rng(1).permutation(len(seconds)))
    pd.testing.assert_frame_equal(bursts(shuffled, 2.0, 10), rows)
    actual = [(r.judgments, r.longest, f"{r.begin:%H:%M}") for r in rows.itertuples()]
    assert actual == ([] if expected is None else [expected])
    [row] = measure_annotators(scores, DEFAULTS).to_dict("records")
    assert row["in_bursts"] == (expected[0] if expected else 0)
    assert ("burst: " in row["flags"]) == (expected is not None)


def test_a_burst_is_told_with_its_time_and_unknown_without_times():
    scores = make_scores(SLOW * 50 + FAST * 10)
    flags = measure_annotators(scores, DEFAULTS)["flags"][0]
    assert "burst: 10 in a row took under 2 s each, from 2024-05-01 08:50 UTC" in flags
    for unknown in ({"time": None}, {"seconds": None}):
        table = measure_annotators(scores._replace(**unknown), DEFAULTS)
        assert table["in_bursts"].isna().all()
        assert "burst" not in table["flags"][0]


def test_nobody_is_flagged_by_a_few_judgments():
    rows = HONEST + [(pair, 1, 4 - pair % 5) for pair in range(20)]
    assert (measure_people(rows)["flags"] != "").all()
    assert (measure_people(rows, min_judgments=21)["flags"] == "").all()


def test_one_annotator_alone_and_nobody_at_all():
    alone = measure_people([(0, 3, 1), (1, 3, 2)])
    assert alone.index.tolist() == [3]
    assert alone[["bias", "correlation", "drift", "seconds"]].isna().all(axis=None)
    assert measure_people([]).empty
