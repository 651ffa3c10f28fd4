"""Noise of labels: the draws, the closed forms of single results, its band, and people's own."""

import math

import numpy as np
import pytest

from momentrank.errors import UsageError
from momentrank.formats.source import FormatError
from momentrank.measures import AxIoU, P, R, mIoU, nDCG
from momentrank.meta import boundaries, noise, votes
from momentrank.meta.band import Band, Noise, measure_bands
from momentrank.meta.systems import Systems, stack
from momentrank.scoring import Evaluator
from momentrank.segments import build_qrels, build_run, iou

rng = np.random.default_rng


def moments(count, start=100.0, length=8.0):
    queries = [f"q{n}" for n in range(count)]
    starts = np.full(count, start)
    return build_qrels(queries, ["v"] * count, starts, starts + length, np.ones(count))


@pytest.mark.parametrize(
    ("kind", "length", "expected"),
    [
        ("ends", 8.0, [0.900, 0.862, 0.833, 0.810]),
        ("ends", 37.0, [0.977, 0.968, 0.961, 0.955]),
        ("written", 8.0, [0.579, 0.567, 0.559, 0.551]),
        ("written", 37.0, [0.605, 0.602, 0.600, 0.598]),
    ],
)
def test_moments_keep_the_mean_ious_that_the_docs_give(kind, length, expected):
    own = moments(40_000, length=length)
    for variance, mean in zip(noise.VARIANCES, expected, strict=True):
        noisy = noise.draw_moments(own, kind, variance, rng(5))
        ious = iou(own.start, own.end, noisy.start, noisy.end)
        assert ious.mean() == pytest.approx(mean, abs=0.004)


def test_a_drawn_moment_is_a_median_of_five_and_never_ends_before_it_starts():
    own = moments(20_000, length=0.2)
    noisy = noise.draw_moments(own, "ends", 4.0, rng(1))
    assert (noisy.end >= noisy.start).all()
    middle = np.median(rng(1).standard_normal((5, 20_000)), axis=0)
    assert noisy.start == pytest.approx(100 + 2 * middle)


def test_the_written_noise_has_the_medians_of_the_starts_and_of_the_ends():
    own, drawn = moments(2_000), rng(1)
    starts = own.start + 3**0.5 * drawn.standard_normal((5, 2_000))
    ends = starts + 8 * drawn.standard_exponential((5, 2_000))
    noisy = noise.draw_moments(own, "written", 3.0, rng(1))
    assert noisy.start == pytest.approx(np.median(starts, axis=0))
    assert noisy.end == pytest.approx(np.maximum(noisy.start, np.median(ends, axis=0)))


def systems(measures, qrels, runs, convention="paper"):
    """Return systems whose runs are lists of (query, video, start, end)."""
    lists = {name: {"": build_run(*zip(*rows, strict=True))} for name, rows in runs.items()}
    return Systems(Evaluator(measures, qrels, convention), lists)


@pytest.mark.parametrize(
    ("true", "gamma", "theta"), [(0.6, 0.08, 0.5), (0.45, 0.05, 0.5), (0.7, 0.06, 0.7)]
)
def test_the_closed_forms_of_one_result_hold_in_simulation(true, gamma, theta):
    """Let the IoU that is seen be x + e, where e is normal with mean 0 and variance gamma^2.

    AxIoU@1 is that IoU: its bias is 0, its variance gamma^2. R@1,theta is 1 where x + e > theta,
    which has the probability p = Phi((x - theta) / gamma): so its bias is p - [x > theta], and its
    variance p (1 - p). (AxIoU paper, supplement.) Here each query is a draw: a result [0, 1)
    against a moment [0, x + e).
    """
    draws = 40_000
    ious = true + gamma * rng(3).standard_normal(draws)
    assert ((ious > 0) & (ious < 1)).all()
    queries = [f"q{n}" for n in range(draws)]
    qrels = build_qrels(queries, ["v"] * draws, np.zeros(draws), ious, np.ones(draws))
    run = [(name, "v", 0.0, 1.0) for name in queries]
    values = systems([AxIoU @ 1, R(iou=theta) @ 1], qrels, {"a": run, "b": run}).values
    axiou, hits = values.table[:, 0]
    close = 5 * gamma / math.sqrt(draws)
    assert axiou.mean() - true == pytest.approx(0, abs=close)
    assert axiou.var() == pytest.approx(gamma**2, rel=0.03)
    p = (1 + math.erf((true - theta) / gamma / math.sqrt(2))) / 2
    assert hits.mean() - (true > theta) == pytest.approx(p - (true > theta), abs=0.0125)
    assert hits.var() == pytest.approx(p * (1 - p), abs=0.0125)


@pytest.fixture
def two():
    """Return two systems on five queries, of which one run lacks one; q4 is asked of nobody."""
    own = [(f"q{n}", "v", 10.0 * n, 10.0 * n + 6) for n in range(5)]
    qrels = build_qrels(*zip(*own, strict=True), [1, 2, 3, 4, 1])
    close = [(name, "v", start + 1, end) for name, _, start, end in own]
    runs = {"good": close, "bad": [*close[1:3], ("other", "v", 0.0, 1.0)]}
    measures = [AxIoU @ 2, mIoU, nDCG(iou=0.5) @ 5]
    return lambda convention="paper": systems(measures, qrels, runs, convention)


@pytest.mark.parametrize("convention", ["paper", "tvr-ranking"])
@pytest.mark.parametrize("held", [1, 12, 10**6])
def test_copies_scored_at_once_are_copies_scored_alone(two, monkeypatch, convention, held):
    monkeypatch.setattr("momentrank.meta.systems.HELD", held)
    pair = two(convention)
    qrels = pair.evaluator.qrels
    truths = [noise.draw_moments(qrels, "ends", 2.0, rng(copy)) for copy in range(7)]
    progress = []
    means = pair.score_copies(truths.__getitem__, 7, progress.append)
    assert sum(progress) == 7
    assert means.shape == (3, 2, 7)
    for copy, truth in enumerate(truths):
        alone = Evaluator(pair.evaluator.measures, truth, convention)
        for at, lists in enumerate(pair.runs.values()):
            expected = list(alone.calc_aggregate(lists).values())
            assert means[:, at, copy] == pytest.approx(expected)


def test_stacked_copies_keep_queries_without_segments():
    single = build_qrels(["a"], ["v"], [0.0], [1.0], [1], queries=["none", "a"])
    both = stack([single, single._replace(start=single.start + 5)])
    assert both.queries == ["0 none", "0 a", "1 none", "1 a"]
    assert both.query.tolist() == [1, 3]
    assert both.start.tolist() == [0, 5]


def test_no_noise_moves_nothing_and_a_seed_gives_the_same_rows(two):
    for row in noise.measure_label_noise(two(), ["ends"], [0.0], copies=3):
        assert (row.kept, row.rmse, row.bias) == (
            pytest.approx(1),
            pytest.approx(0),
            pytest.approx(0),
        )
        assert row.tau == pytest.approx(1)
    rows = list(noise.measure_label_noise(two(), copies=4))
    assert [(row.noise, row.variance) for row in rows[::3]] == [
        (kind, variance) for kind in ("ends", "written") for variance in (1, 2, 3, 4)
    ]
    assert rows == list(noise.measure_label_noise(two(), copies=4))
    assert rows != list(noise.measure_label_noise(two(), copies=4, seed=1))


def test_the_rmse_is_the_mean_of_the_runs_rmses(two):
    pair = two()
    row = next(noise.measure_label_noise(pair, ["ends"], [3.0], copies=5, seed=9))
    qrels = pair.evaluator.qrels
    means = pair.score_copies(
        lambda copy: noise.draw_moments(qrels, "ends", 3.0, rng([9, copy])), 5
    )
    errors = (means - pair.values.means()[:, :, None])[0]
    each = [math.sqrt((of_run**2).mean()) for of_run in errors]
    assert row.rmse == pytest.approx(sum(each) / 2)
    assert row.rmse < 0.99 * math.sqrt((errors**2).mean())
    assert row.bias == pytest.approx(errors.mean())


LEVELS = {0: [1, 2], 1: [0, 4, 3, 3], 2: [2, 2], 3: [4], 9: [4, 4]}
RAW = "pair_id,worker,relevance\n" + "".join(
    f"{pair},{worker},{level}\n" for pair, own in LEVELS.items() for worker, level in enumerate(own)
)
PAIRS = "pair_id,query_id,video_name,start,end\n" + "".join(
    f"{n},q{n},v,{10 * n},{10 * n + 6}\n" for n in range(4)
)


@pytest.fixture
def raw(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "raw_annotation.csv").write_text(RAW)
    return tmp_path / "raw_annotation.csv"


def make_qrels(levels):
    starts = 10.0 * np.arange(len(levels))
    names = [f"q{n}" for n in range(len(levels))]
    return build_qrels(names, ["v"] * len(levels), starts, starts + 6, levels)


def test_votes_are_found_by_their_moments(raw, tmp_path):
    judgments = votes.read_judgments(raw, make_qrels([2, 3, 2, 4, 1]), tmp_path / "test.qrels")
    (two, four) = judgments.votes
    assert (two.row.tolist(), two.level.tolist()) == ([0, 2], [[1, 2], [2, 2]])
    assert (four.row.tolist(), four.level.tolist()) == ([1], [[0, 4, 3, 3]])
    assert (judgments.without, judgments.other) == (2, 0)  # one has one vote, one is no pair
    adjudicated = votes.read_judgments(raw, make_qrels([0, 3, 2, 4, 1]), tmp_path / "test.qrels")
    assert (adjudicated.votes[0].row.tolist(), adjudicated.other) == ([2], 1)


def test_a_campaign_that_rounds_to_the_nearest_level_is_drawn_by_its_own_rule(raw, tmp_path):
    qrels = make_qrels([2, 2, 2, 4, 1])  # by 1 and 2, 2 and 3, ...: 2 is the even one of both
    raw.write_text(RAW.replace("1,0,0\n1,1,4\n1,2,3\n1,3,3\n", "1,0,2\n1,1,3\n"))
    manifest = raw.with_name("manifest.json")
    manifest.write_text('{"params": {"consensus": {"rounding": "nearest"}}}')
    judgments = votes.read_judgments(raw, qrels, tmp_path / "test.qrels")
    assert (judgments.rounding, judgments.other) == ("nearest", 0)
    levels = np.array([votes.draw_levels(qrels, judgments, rng(n)) for n in range(2000)])
    assert (levels[:, 1] == 3).mean() == pytest.approx(0.25, abs=0.04), "3 drawn twice"
    manifest.write_text('{"files": {}}')
    judgments = votes.read_judgments(raw, qrels, tmp_path / "test.qrels")
    assert (judgments.rounding, judgments.other) == ("up", 1), "what says nothing is the paper's"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("{", "Expecting property name"),
        ('{"params": {"consensus": {"rounding": "exact"}}}', "rounding: unknown value 'exact'"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_told(raw, tmp_path, manifest, message):
    raw.with_name("manifest.json").write_text(manifest)
    with pytest.raises(FormatError, match=rf"manifest\.json: .*{message}"):
        votes.read_judgments(raw, make_qrels([2, 3]), tmp_path / "test.qrels")


def test_pairs_may_be_numbered_in_the_json_of_the_qrels(raw, tmp_path):
    raw.with_name("pairs.csv").unlink()
    moment = '{"pair_id": 2, "video_name": "v", "timestamp": [20.0, 26.0]}'
    source = tmp_path / "test.json"
    source.write_text(f'[{{"query_id": 5, "query_key": "q2", "relevant_moment": [{moment}]}}]')
    judgments = votes.read_judgments(raw, make_qrels([0, 0, 2]), source)
    assert judgments.votes[0].row.tolist() == [2]
    source.write_text("q Q0 v 0 1 1\n")
    with pytest.raises(UsageError, match=r"pairs\.csv must be next to it"):
        votes.read_judgments(raw, make_qrels([0, 0, 2]), source)


def test_drawn_levels_are_those_of_drawn_votes(raw, tmp_path):
    qrels = make_qrels([2, 3, 2, 4, 1])
    judgments = votes.read_judgments(raw, qrels, tmp_path / "x")
    levels = np.array([votes.draw_levels(qrels, judgments, rng(n)) for n in range(4000)])
    assert set(levels[:, 2]) == {2}, "two equal votes can't move"
    assert set(levels[:, 3]) == {4}, "one vote is not drawn again"
    # of 1 and 2: both 1 in a quarter of the draws, else 2
    assert (levels[:, 0] == 1).mean() == pytest.approx(0.25, abs=0.03)
    four = [votes.decide(np.array([[a, b, c, d]]))[0] for a in (0, 4, 3, 3) for b in (0, 4, 3, 3)
            for c in (0, 4, 3, 3) for d in (0, 4, 3, 3)]  # fmt: skip
    for level in set(four):
        assert (levels[:, 1] == level).mean() == pytest.approx(four.count(level) / 256, abs=0.03)


def test_what_has_no_level_in_a_copy_is_left_out_of_it(raw, tmp_path):
    qrels = make_qrels([2, 3, 2, 4, 1])
    judgments = votes.read_judgments(raw, qrels, tmp_path / "x")
    run = [(f"q{n}", "v", 10.0 * n, 10.0 * n + 6) for n in range(5)]
    both = systems([AxIoU @ 1], qrels, {"a": run, "b": run[:2]})
    [row] = votes.measure_level_noise(both, judgments, copies=400)
    drawn = [votes.draw_levels(qrels, judgments, rng([2024, n])) for n in range(400)]
    assert row.noise == "levels"
    # a pair that is lost or not relevant is a query that does not count
    means = [np.mean([[1] * 5, [1] * 2 + [0] * 3], axis=0)[each >= 1].mean() for each in drawn]
    assert row.bias == pytest.approx(np.mean(means) - np.mean([1, 0.4]))
    assert 0.8 < row.kept < 1


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("pair_id,worker\n0,1\n", FormatError, "no columns 'relevance'"),
        (
            "pair_id,worker,relevance\n0,1,high\n",
            FormatError,
            "line 2: relevance: 'high' is not a level",
        ),
        ("pair_id,worker,relevance\n0,1\n", FormatError, "line 2: must have 3 cells"),
        ("pair_id,worker,relevance\n77,1,3\n77,2,3\n", UsageError, "no vote is on a moment of"),
    ],
)
def test_bad_judgments_are_told(raw, tmp_path, text, error, message):
    raw.write_text(text)
    with pytest.raises(error, match=message):
        votes.read_judgments(raw, make_qrels([2, 3]), tmp_path / "test.qrels")


# The noise band: the quantiles of differences against noisy truths


def test_a_band_holds_the_differences_of_noisy_truths(two):
    pair = two()
    bands = measure_bands(pair, Noise(2.0, copies=30, seed=4), 0.9)
    differences = []
    for copy in range(30):
        truth = noise.draw_moments(pair.evaluator.qrels, "ends", 2.0, rng([4, copy]))
        scorer = Evaluator([AxIoU @ 2], truth, "paper")
        first, second = (scorer.calc_aggregate(lists)[AxIoU @ 2] for lists in pair.runs.values())
        differences.append(second - first)
    low, high = np.quantile(differences, [0.05, 0.95])
    assert bands["AxIoU@2", "good", "bad"] == (pytest.approx(low), pytest.approx(high))
    assert bands["AxIoU@2", "bad", "good"] == (pytest.approx(-high), pytest.approx(-low))
    assert bands["AxIoU@2", "good", "good"] == (0, 0)


@pytest.mark.parametrize(
    ("band", "difference", "turns"),
    [
        ((0.1, 0.3), 0.2, False),
        ((-0.1, 0.3), 0.2, True),
        ((-0.3, -0.1), 0.2, True),
        ((-0.3, -0.1), -0.05, False),
        ((0.0, 0.1), 0.1, True),
        ((0.1, 0.2), 0.0, True),
        ((0.0, 0.1), 0.0, True),
        ((0.0, 0.0), 0.0, False),
        ((0.0, 1e-17), -1e-17, False),
    ],
)
def test_a_difference_is_within_the_noise_if_it_may_lose_its_sign(band, difference, turns):
    assert Band(*band).can_turn(difference) is turns


def test_boundaries_and_levels_can_both_be_noisy(two):
    qrels = two().evaluator.qrels
    none = np.empty((0, 4), np.int64)
    apart = votes.Votes(np.array([3]), np.array([[0, 4]]))
    judgments = votes.Judgments((apart, votes.Votes(none[:, 0], none)), 4, 0)
    for copy in range(20):
        noisy = Noise(1.0, judgments).change(qrels, copy)
        draw = rng([2024, copy])
        alone = noise.draw_moments(qrels, "ends", 1.0, draw)
        level = votes.draw_levels(qrels, judgments, draw)  # other numbers than the boundaries'
        has_level = level != votes.NO_LEVEL
        assert len(noisy.start) in {4, 5}, "0 and 4 give no level"
        assert noisy.start.tolist() == alone.start[has_level].tolist()
        assert noisy.value.tolist() == level[has_level].tolist()
        assert noisy.queries == qrels.queries
    told = "levels (votes drawn again), 100 noisy truths, seed 2024"
    assert Noise(None, judgments).describe() == told


# Boundary noise at people's agreement: its variance, and what it does to runs

NAMES = [f"q{n}" for n in range(300)]


@pytest.fixture
def many():
    start = rng(5).uniform(0, 50, 300)
    return build_qrels(NAMES, ["v"] * 300, start, start + 4 + start / 5, [3.0] * 300)


@pytest.mark.parametrize("agreement", [0.725, 0.641, 0.95])
def test_the_variance_is_where_moments_agree_as_people_do(many, agreement):
    variance = boundaries.find_variance(many, agreement)
    kept = []
    for seed in range(20):  # other draws
        drawn = noise.draw_moments(many, "ends", variance, rng([9, seed]))
        kept.append(iou(many.start, many.end, drawn.start, drawn.end).mean())
    assert np.mean(kept) == pytest.approx(agreement, abs=0.006)


def test_a_run_that_has_the_moments_loses_what_others_would_have_drawn(many):
    runs = {
        "exact": {"": build_run(NAMES, ["v"] * 300, many.start, many.end)},
        "none": {"": build_run(NAMES, ["w"] * 300, many.start, many.end)},
    }
    exact, none = boundaries.measure_boundary_noise(
        Evaluator([nDCG(iou=0.5) @ 5], many, "paper"), runs
    )
    assert (exact.measure, exact.value, none.value, none.noisy) == ("nDCG(iou=0.7)@5", 1, 0, 0)
    shares = []
    for copy in range(20):
        drawn = noise.draw_moments(many, "ends", exact.variance, rng([7, copy]))
        shares.append((iou(many.start, many.end, drawn.start, drawn.end) >= 0.7).mean())
    assert exact.noisy == pytest.approx(np.mean(shares), abs=0.02)
    assert f"{exact.noisy:.3f} for exact ({exact.noisy - 1:+.3f})" in boundaries.describe(
        [exact, none]
    )


def test_moments_without_length_have_no_boundaries_to_move():
    qrels = build_qrels(["q"], ["v"], [5.0], [5.0], [1.0])
    run = {"a": {"": build_run(["q"], ["v"], [5.0], [5.0])}}
    assert boundaries.measure_boundary_noise(Evaluator([P(iou=0.5) @ 5], qrels, "paper"), run) == []
