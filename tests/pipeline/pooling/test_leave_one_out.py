"""Leave one out, against its definition: take a run's own finds out, and score again."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from momentrank.functions import evaluator
from momentrank.segments import build_run
from pipeline.campaign.collection import Collection
from pipeline.campaign.leave_one_out import MEASURE, leave_one_out
from pipeline.core import tables

PLACE = ["query_id", "video_id", "start", "end"]


def collect(pairs, runs):
    frame = pd.DataFrame(pairs, columns=["query_id", "moment_id", "rank", "level", "origin"])
    start = frame["moment_id"].str[1:].astype("float64") * 10
    frame = frame.assign(
        video_id="v", start=start, end=start + 5, split="test", level=frame["level"].astype("Int64")
    )
    recorded = [
        (name, query, rank, "v", 10.0 * n, 10.0 * n + 5, *pooled(n, rank, depth))
        for name, (depth, results) in runs.items()
        for query, numbers in results.items()
        for rank, n in enumerate(numbers, start=1)
    ]
    rows = pd.DataFrame(recorded, columns=tables.POOLED_RUNS.columns)
    return Collection(
        None, frame[["query_id"]].drop_duplicates(), frame, frame.iloc[:0],
        tables.POOLED_RUNS.check(rows), 0, None, 0,
    )  # fmt: skip


def pooled(number, rank, depth):
    return (10.0 * number, 10.0 * number + 5) if rank <= depth else (None, None)


def make(seed, queries=6, moments=30, batch=4):
    """Return a collection in which captions, two runs and an audit found what they found."""
    random, pairs, runs = np.random.default_rng(seed), [], {"clip": (3, {}), "splade": (5, {})}
    for query in (f"q{n}" for n in range(queries)):
        order = random.permutation(moments)
        origin = dict.fromkeys(order[:batch], "candidates")
        for name, (depth, results) in runs.items():
            results[query] = random.permutation(moments)[:8].tolist()
            for number in results[query][:depth]:
                origin.setdefault(number, name)
        origin.setdefault(int(order[-1]), "audit")
        rank = {number: at for at, number in enumerate(order, start=1)}
        pairs += [
            (query, f"m{n}", rank[n], random.choice([None, 0, 1, 2, 3, 4]), name)
            for n, name in origin.items()
        ]
    return pairs, runs


def evaluate(judged, lost, run):
    """Return a run's mean by the levels that are left; a query that lost all counts as 0."""
    kept = judged[~judged.index.isin(lost)]
    ids = run["query_id"].tolist(), run["video_id"].tolist()
    numbers = (run[name].to_numpy("float64") for name in ("start", "end"))
    segments = build_run(*ids, *numbers, ranks=run["rank"].to_numpy("int64"))
    scores = evaluator([MEASURE], kept[[*PLACE, "level"]].reset_index(drop=True))
    mean = next(iter(scores.calc_aggregate({"": segments}).values()))
    return mean * kept["query_id"].nunique() / judged["query_id"].nunique()


@pytest.mark.parametrize("seed", range(25))
def test_it_is_the_definition_step_by_step(seed):
    pairs, runs = make(seed)
    collection = collect(pairs, runs)
    judged = collection.judged.reset_index(drop=True)
    found = {"candidates": {(q, m) for q, m, *_, origin in pairs if origin == "candidates"}}
    for name, (depth, results) in runs.items():
        found[name] = {(q, f"m{n}") for q, numbers in results.items() for n in numbers[:depth]}
    found["audit"] = {(q, m) for q, m, *_, origin in pairs if origin == "audit"}
    ranked = collection.pairs[collection.pairs["origin"] == "candidates"]
    systems = {"candidates": ranked} | dict(list(collection.runs.groupby("origin")))
    keys = list(zip(judged["query_id"], judged["moment_id"], strict=True))
    pool = leave_one_out(collection)
    assert [own.run for own in pool.runs] == ["candidates", "clip", "splade"]
    assert pool.relevant == (judged["level"] >= 2).sum()
    for own in pool.runs:
        others = set().union(*(found[name] for name in found if name != own.run))
        lost = [at for at, key in enumerate(keys) if key in found[own.run] - others]
        before = {name: evaluate(judged, [], run) for name, run in systems.items()}
        after = {name: evaluate(judged, lost, run) for name, run in systems.items()}
        assert own.found == sum(
            level >= 2 and key in found[own.run]
            for key, level in zip(keys, judged["level"], strict=True)
        )
        assert own.alone == (judged.loc[lost, "level"] >= 2).sum()
        assert own.score == pytest.approx(before[own.run], abs=1e-6)
        assert own.score_without == pytest.approx(after[own.run], abs=1e-6)
        signs = [
            np.sign(before[a] - before[b]) * np.sign(after[a] - after[b])
            for a, b in combinations(before, 2)
        ]
        if all(signs):
            assert own.tau == pytest.approx(sum(signs) / len(signs), abs=1e-6)
        places = [
            {name: 1 + sum(x > scores[name] + 1e-12 for x in scores.values()) for name in scores}
            for scores in (before, after)
        ]
        assert (own.place, own.place_without) == tuple(place[own.run] for place in places)
        assert own.fall == max(0, *(places[1][name] - places[0][name] for name in before))


def test_captions_alone_leave_nothing_and_no_order():
    collection = collect([("q1", "m1", 1, 4, "candidates"), ("q1", "m2", 3, 0, "candidates")], {})
    [own] = leave_one_out(collection).runs
    assert (own.found, own.alone, own.score, own.score_without) == (1, 1, 1.0, 0.0)
    assert (own.tau, own.fall, own.fallen) == (None, 0, None)


def test_a_candidate_that_nobody_was_shown_keeps_its_rank():
    pairs = [("q1", "m1", 1, 0, "candidates"), ("q1", "m2", 3, 4, "candidates")]
    [own] = leave_one_out(collect(pairs, {})).runs
    assert own.score == pytest.approx(1 / np.log2(1 + 3), abs=1e-6)


def test_a_run_that_was_not_recorded_has_its_finds_and_no_score():
    pairs = [("q1", "m1", 1, 4, "candidates"), ("q1", "m2", 30, 3, "clip")]
    captions, clip = leave_one_out(collect(pairs, {})).runs
    assert (clip.found, clip.alone, clip.score, clip.tau) == (1, 1, None, None)
    assert captions.score is not None


def test_without_a_level_there_is_nothing_to_leave_out():
    assert leave_one_out(collect([("q1", "m1", 1, None, "candidates")], {})) is None
