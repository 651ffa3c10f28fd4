"""A machine beside people: against definitions written as loops, and judges of known kind."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy import Lazy
from scipy import stats
from support.judges import PARAMS, count_answers, judges, people
from support.score_rows import scores_of

from annotation.machine import conclusions, second_looks
from annotation.machine.alternative_test import LEAST_PAIRS, run_both, run_test
from annotation.machine.calibrate import calibrate, slice_pairs
from annotation.machine.confusion import describe, draw_queries, measure, measure_draws, tabulate
from annotation.machine.leave_one_out import Panel, compare_people
from annotation.machine.others import draw_first, find_others, find_references
from annotation.machine.similarity_control import compare_control
from annotation.reliability.alpha import Bootstrap, alphas
from annotation.votes.ordered import level_chances
from annotation.votes.rule import decide
from annotation.votes.votes import NO_LEVEL

metrics = Lazy("sklearn.metrics")

BOOTSTRAP = Bootstrap(resamples=200, confidence=0.95, seed=1)
VOTES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)), max_size=30)


def others_by_definition(scores):
    """Return the places of the votes beside each vote."""
    beside = {}
    first = defaultdict(list)
    for place, pair in enumerate(scores.pair):
        first[pair] = [*first[pair], place][:2]
    for place, pair in enumerate(scores.pair):
        mine = place in first[pair]
        beside[place] = [
            other
            for other in np.flatnonzero(scores.pair == pair).tolist()
            if scores.annotator[other] != scores.annotator[place]
            and (not mine or other in first[pair])
        ]
    return beside


def consensus_by_definition(levels):
    levels = sorted(levels)
    if len(levels) in {3, 4}:
        levels = levels[1:-1]
    elif len(levels) > 4:
        return NO_LEVEL
    if not levels or levels[-1] - levels[0] > 1:
        return NO_LEVEL
    return int(np.ceil(np.mean(levels)))


@given(VOTES)
def test_a_vote_is_held_against_the_others_alone(rows):
    scores = scores_of(rows, timed=True)
    others = find_others(scores, seed=1)
    expected = others_by_definition(scores)
    actual = defaultdict(list)
    for place, other in zip(others.row.tolist(), others.other.tolist(), strict=True):
        actual[place].append(other)
    assert {place: actual[place] for place in expected} == expected
    assert find_references(scores, others).tolist() == [
        consensus_by_definition([int(scores.level[other]) for other in expected[place]])
        for place in range(len(scores.pair))
    ]


def test_without_times_the_first_two_are_two_that_lie_apart():
    rows = [(pair, who, level) for pair in range(60) for who, level in enumerate([0, 0, 3, 4])]
    scores = scores_of([*rows, (60, 1, 2), (60, 2, 2), (60, 3, 2), (60, 4, 2)])
    first = draw_first(scores, seed=1)
    couples = Counter(tuple(scores.level[first & (scores.pair == pair)]) for pair in range(60))
    assert set(couples) == {(0, 3), (0, 4)}
    assert first[scores.pair == 60].sum() == 2


@pytest.mark.filterwarnings("ignore:.*only one label")
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_figures_are_those_of_scikit_learn_and_krippendorff(couples):
    first, second = np.array(couples).T
    figures = {
        name: value[0]
        for name, value in measure(tabulate(np.zeros_like(first), first, second, 1)).items()
    }
    kappa = metrics.cohen_kappa_score(first, second, labels=range(5), weights="quadratic")
    counts = np.array([np.bincount(couple, minlength=5) for couple in couples])
    alpha = alphas(counts, Bootstrap(0, 0.95, 0))["ordinal"]["alpha"]
    assert figures["kappa"] == pytest.approx(kappa, nan_ok=True)
    assert figures["alpha"] == pytest.approx(
        np.nan if alpha is None else alpha, abs=1e-6, nan_ok=True
    )
    assert figures["exact"] == pytest.approx((first == second).mean())
    assert figures["within_1"] == pytest.approx((abs(first - second) <= 1).mean())
    assert figures["bias"] == pytest.approx((second - first).mean())


def test_a_resample_is_whole_queries_again():
    random = np.random.default_rng(2)
    query, first, second = random.integers(0, 6, 80), *random.integers(0, 5, (2, 80))
    draws = draw_queries(6, BOOTSTRAP)
    figures = measure_draws(tabulate(query, first, second, 6), draws)
    for draw in range(5):
        rows = np.repeat(np.arange(80), draws.times[draw].astype(int)[query])
        expected = metrics.cohen_kappa_score(
            first[rows], second[rows], labels=range(5), weights="quadratic"
        )
        assert figures.resampled["kappa"][draw] == pytest.approx(expected)
    figure = describe(figures, draws)["kappa"]
    assert [figure["low"], figure["high"]] == pytest.approx(
        np.quantile(figures.resampled["kappa"], [0.025, 0.975]), abs=1e-6
    )


def simulate(random, pairs=400, biases=(-0.3, -0.1, 0.1, 0.3)):
    """Return a panel whose machine judges as the first person would."""
    truth = random.choice(5, pairs, p=[0.4, 0.2, 0.15, 0.15, 0.1])
    chances = {bias: level_chances(bias, 0.7)[truth].cumsum(axis=1) for bias in biases}

    def draw_levels(who):
        return (random.random((pairs, 1)) > chances[biases[who]]).sum(axis=1).clip(max=4)

    levels = np.stack([draw_levels(who) for who in range(len(biases))])
    order = random.permuted(np.tile(range(len(biases)), (pairs, 1)), axis=1)
    rows = []
    for pair, people_ in enumerate(order.tolist()):
        votes = [(pair, who, levels[who, pair]) for who in people_]
        rows += votes[: 4 if abs(votes[0][2] - votes[1][2]) > 1 else 2]
    machine = draw_levels(0)
    scores = scores_of(rows, pairs, timed=True)
    consensus = decide(scores.pair, scores.level, pairs).level
    return Panel(scores, np.arange(pairs) // 10, pairs // 10, machine, consensus)


def test_a_machine_that_judges_as_people_do_comes_out_as_they_do():
    random, more, inside = np.random.default_rng(5), [], 0
    for _ in range(25):
        panel = simulate(random, biases=(0.0,) * 4)
        draws = draw_queries(panel.queries, BOOTSTRAP)
        comparison = compare_people(panel, find_others(panel.scores, 1), draws, LEAST_PAIRS)
        kappa = comparison["difference"]["kappa"]
        more.append(kappa["value"])
        inside += kappa["low"] <= 0 <= kappa["high"]
    assert abs(np.mean(more)) < 3 * np.std(more) / 5  # no side is favoured
    assert inside >= 21


def alternative_by_definition(panel, epsilon):
    """Return omega and rho as the paper defines them, by loops; all others count."""
    scores, machine = panel.scores, panel.machine
    p_values, shares, others = [], [], others_by_definition(scores)
    for who in np.unique(scores.annotator):
        won, lost = [], []
        for place in np.flatnonzero(scores.annotator == who):
            beside = [int(scores.level[other]) for other in others[place]]
            if not beside or machine[scores.pair[place]] == NO_LEVEL:
                continue
            own, its = (
                -np.sqrt(np.mean([(level - theirs) ** 2 for theirs in beside]))
                for level in (scores.level[place], machine[scores.pair[place]])
            )
            won.append(float(its >= own))
            lost.append(float(own >= its))
        if len(won) >= LEAST_PAIRS:
            difference = np.array(lost) - np.array(won)
            p_values.append(stats.ttest_1samp(difference, epsilon, alternative="less").pvalue)
            shares.append(np.mean(won))
    number = len(p_values)
    harmonic = sum(1 / place for place in range(1, number + 1))
    ordered = sorted(p_values)
    last = max(
        (k for k in range(1, number + 1) if ordered[k - 1] <= k / number * 0.05 / harmonic),
        default=0,
    )
    return last / number, np.mean(shares)


@pytest.mark.parametrize("seed", range(4))
def test_the_alternative_annotator_test_is_as_published(seed):
    random = np.random.default_rng(seed)
    panel = simulate(random, pairs=120)
    panel.machine[random.random(120) < 0.1] = NO_LEVEL
    for epsilon in (0.0, 0.15, 0.3):
        result = run_test(panel, find_others(panel.scores, 1), epsilon)
        omega, rho = alternative_by_definition(panel, epsilon)
        assert (result["winning_rate"], result["advantage"]) == pytest.approx(
            (omega, rho), abs=1e-6
        )
        assert result["passed"] is (omega >= 0.5)


def test_few_annotators_or_pairs_are_not_enough_for_a_verdict():
    random = np.random.default_rng(1)
    two_people = simulate(random, biases=(0.0, 0.1))
    result = run_test(two_people, find_others(two_people.scores, 1), 0.15)
    assert result["passed"] is None
    assert result["why"].startswith("2 annotators")
    few_pairs = simulate(random, pairs=40)
    result = run_test(few_pairs, find_others(few_pairs.scores, 1), 0.15)
    assert (result["passed"], result["winning_rate"], result["left_out"]) == (None, None, 4)


def test_what_a_machine_lacks_is_said_and_is_no_fault_of_its_levels():
    panel, truth = people()
    nothing = np.full(len(truth), NO_LEVEL)
    [none] = calibrate(panel, count_answers(nothing), PARAMS).metrics["verdicts"]
    assert none["code"] == "none"
    few = np.where(np.arange(len(truth)) < 60, truth, NO_LEVEL)
    own = count_answers(few) | {"asked": 60}
    [verdict] = calibrate(panel._replace(machine=few), own, PARAMS).metrics["verdicts"]
    assert verdict["code"] == "few"


def test_a_control_without_levels_accuses_nobody():
    panel, truth = people()
    silent = panel._replace(machine=truth, control=np.full_like(truth, NO_LEVEL))
    [verdict] = calibrate(silent, count_answers(truth), PARAMS).metrics["verdicts"]
    assert verdict["code"] == "good"


def test_a_machine_below_the_control_is_weak():
    panel, truth = people()
    random = np.random.default_rng(8)
    poor = np.where(random.random(len(truth)) < 0.45, truth, random.permutation(truth))
    weak = panel._replace(machine=poor, control=panel.consensus)
    [verdict] = calibrate(weak, count_answers(poor), PARAMS).metrics["verdicts"]
    assert verdict["code"] == "weak"


def test_what_similarity_explains_is_no_look_at_the_video():
    panel, truth = people()
    draws = draw_queries(panel.queries, BOOTSTRAP)
    for name, level in judges(panel, truth, seed=4).items():
        beyond = compare_control(panel._replace(machine=level), draws)["beyond"]
        expected = {"constant": None, "similarity": False}.get(name, True)
        assert (beyond["low"] and beyond["low"] > 0) is expected, name


def test_a_machine_that_similarity_explains_wholly_has_not_looked():
    panel, truth = people()
    by_rank = np.where(np.arange(len(truth)) % 2, 4, 0)
    explained = panel._replace(machine=by_rank, rank=by_rank, control=np.full_like(truth, NO_LEVEL))
    [verdict] = calibrate(explained, count_answers(truth), PARAMS).metrics["verdicts"]
    assert verdict["code"] == "similarity"


def test_without_similarities_it_is_not_known_whether_a_machine_looks():
    panel, truth = people()
    bare = panel._replace(machine=truth, similarity=None, control=None)
    [verdict] = calibrate(bare, count_answers(truth), PARAMS).metrics["verdicts"]
    assert (verdict["code"], "is not known" in verdict["text"]) == ("good", True)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6))
def test_the_largest_swap_is_that_of_all_pairs_of_runs(scores):
    people_, machine = np.array(scores, dtype=float).T
    names = [f"run{number}" for number in range(len(scores))]
    sizes = [
        abs(people_[first] - people_[second]) + abs(machine[first] - machine[second])
        for first in range(len(scores))
        for second in range(first)
        if (people_[first] - people_[second]) * (machine[first] - machine[second]) < 0
    ]
    swap = conclusions.find_swap(names, people_, machine)
    assert (swap is None) == (not sizes)
    if swap:
        assert swap["people"] - swap["machine"] == max(sizes)
        better, worse = (people_[names.index(swap[side])] for side in ("better", "worse"))
        assert better - worse == swap["people"] > 0 > swap["machine"]


def test_only_confident_levels_far_from_voted_ones_are_doubted_and_as_many_are_controls():
    def row(moment, level, levels=1, span=0, expected=np.nan):
        return ("q 1", moment, level, levels, span, expected, "a remark")

    names = ["query_id", "moment_id", "level", "levels", "span", "expected", "remark"]
    machine = pd.DataFrame(
        [
            row("agree", 4, levels=3),
            row("near", 3, expected=2.8),
            row("alone", 4),
            row("unsure", 3, expected=2.4),
            row("differ", 4, levels=3, span=1, expected=4.0),
            row("own doubt", 2, levels=2),
            *(row(f"control {at}", 1 + at % 2) for at in range(30)),
        ],
        columns=names,
    )
    pairs = machine[["query_id", "moment_id"]].assign(
        voted_level=1, query="Who?", video_id="v", start=0.0, end=1.0, clip="c.mp4", decided=None
    )
    pairs["scores"] = [[1, 1]] * len(pairs)
    own = pd.DataFrame({"query_id": ["q 1"], "moment_id": ["own doubt"]})
    table = second_looks.list_second_looks(pairs, machine, own, 2)
    moments = set(table["moment_id"])
    controls = moments - {"agree", "near"}
    assert len(controls) == 2
    assert all(moment.startswith("control") for moment in controls)
    assert table[second_looks.TOLD].isna().all(axis=None)  # blind
    shuffled = second_looks.list_second_looks(pairs.iloc[::-1], machine.iloc[::-1], own, 2)
    pd.testing.assert_frame_equal(shuffled, table)
    decided = pairs["moment_id"].map(dict.fromkeys(["agree", *controls], "3")).astype(object)
    after = second_looks.list_second_looks(pairs.assign(decided=decided), machine, own, 2)
    assert set(after["moment_id"]) == moments
    [told] = after[after["moment_id"] == "agree"].to_dict("records")
    assert [told[name] for name in second_looks.TOLD[:4]] == ["doubted", 1, "1 1", 4]
    assert after[after["moment_id"] == "near"][second_looks.TOLD].isna().all(axis=None)
    assert second_looks.summarize_decided(after) == {
        "doubted": {"decided": 1, "changed": 1, "mean_change": 2.0},
        "control": {"decided": 2, "changed": 2, "mean_change": 2.0},
    }


def test_the_published_test_compares_with_all_others():
    panel = simulate(np.random.default_rng(3), pairs=200)
    scores = panel.scores
    others = find_others(scores, 1, published=True)
    actual = list(zip(others.row.tolist(), others.other.tolist(), strict=True))
    assert actual == [
        (row, other)
        for row in range(len(scores.pair))
        for other in range(len(scores.pair))
        if scores.pair[row] == scores.pair[other] and row != other
    ]
    assert "annotators" not in run_both(panel, find_others(scores, 1), 0.15, 1)["published"]


def test_ranks_are_sliced_in_the_first_batch_alone_and_the_others_stand_apart():
    panel = simulate(np.random.default_rng(3), pairs=200)
    rank = np.arange(200) % 50 + 1
    rows = slice_pairs(panel._replace(rank=rank, first_batch=rank <= 20))
    both = (panel.machine != NO_LEVEL) & (panel.consensus != NO_LEVEL)
    found = {(row["by"], row["low"]): (row["pairs"], row["bias"]) for row in rows}
    bands = {low: (rank >= low) & (rank < low + 5) for low in (1, 6, 11, 16)}
    own = {("rank", low): marks for low, marks in bands.items()}
    own |= {("first_batch", 1): rank <= 20, ("first_batch", 0): rank > 20}
    off = panel.machine - panel.consensus
    assert found == {
        key: ((both & marks).sum(), pytest.approx(off[both & marks].mean(), abs=1e-5))
        for key, marks in own.items()
    }
