"""Channels of the pool: their features, samples and admission, against definitions by hand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from annotation.pooling.channels import (
    SIZE,
    compare_yields,
    draw_queries,
    draw_sample,
    match_channel,
    score_ranks,
)
from annotation.pooling.copied import LEAST, SHARE, find_copied
from pipeline.core import tables
from pipeline.retrieval.embeddings import Embeddings, text_ids
from pipeline.retrieval.similarity import unit_on_grid

MACHINE = ["query_id", "moment_id", "level", "expected"]


def test_a_feature_falls_with_the_rank_from_1_to_above_0():
    score = score_ranks(np.arange(1, 1001), 1000)
    assert score[0] == 1
    assert (np.diff(score) < 0).all()
    assert 0 < score[-1] < 0.001
    np.testing.assert_allclose(score[0] - score[9], score[9] - score[99])


def embed(*texts):
    """Return embeddings in which similarity to the first text falls from text to text."""
    angle = np.arange(len(texts)) / 10
    vectors = unit_on_grid(np.column_stack([np.cos(angle), np.sin(angle)]))
    ids = text_ids(texts)
    order = np.argsort(ids)
    return Embeddings(ids[order], vectors[order])


def test_results_are_the_moments_that_they_overlap_the_best_described_of_each_place():
    moments = pd.DataFrame(
        [
            ("m1", "v", 0.0, 10.0, "far"),
            ("m2", "v", 0.0, 10.0, "near"),
            ("m3", "v", 20.0, 30.0, "other"),
            ("m4", "w", 0.0, 10.0, "other"),
        ],
        columns=["moment_id", "video_id", "start", "end", "caption"],
    )
    run = pd.DataFrame(
        [
            ("q1", "v", 100.0, 110.0, 1),
            ("q1", "v", 21.0, 30.0, 2),
            ("q1", "v", 0.0, 9.0, 3),
            ("q1", "v", 1.0, 10.0, 4),
            ("q1", "w", 0.0, 10.0, 5),
            ("q2", "w", 0.0, 10.0, 1),
        ],
        columns=["query_id", "video_id", "start", "end", "rank"],
    )
    queries = pd.DataFrame({"query_id": ["q1"], "query": ["asked"]})
    embedded = embed("asked", "near", "other", "far")
    channel = match_channel(run, queries, moments, embedded)
    assert channel["moment_id"].tolist() == ["m3", "m2", "m4"]
    assert channel["rank"].tolist() == [1, 2, 3]
    assert channel["similarity"].tolist() == pytest.approx(np.cos([0.2, 0.1, 0.2]), abs=1e-5)


def rank_moments(seed, queries=30, moments=40):
    rng = np.random.default_rng(seed)
    names = [f"m{number:02}" for number in range(moments)]
    rows = [
        (f"q{query:02}", names[at], rank, 0.5)
        for query in range(queries)
        for rank, at in enumerate(rng.permutation(moments), 1)
    ]
    return pd.DataFrame(rows, columns=tables.CHANNEL.columns)


def test_queries_are_drawn_by_hash_from_those_with_enough_to_ask():
    channel = rank_moments(1)
    poor = channel[(channel["query_id"] != "q03") | (channel["rank"] < SIZE)]
    inside = channel.iloc[:0]
    drawn = draw_queries(poor, inside, "a campaign", 10)
    assert len(drawn) == 10
    assert set(drawn) < set(draw_queries(poor, inside, "a campaign", 20))
    assert drawn == draw_queries(poor.sample(frac=1, random_state=1), inside, "a campaign", 10)
    assert drawn != draw_queries(poor, inside, "another", 10)
    assert "q03" not in draw_queries(poor, inside, "a campaign", 100)


def test_a_sample_are_the_first_of_both_that_are_not_in_the_pool():
    channel, captions = rank_moments(2, 3), rank_moments(3, 3)
    inside = captions[captions["rank"] <= 20]
    own = {(row.query_id, row.moment_id) for row in inside.itertuples()}
    rankings = ((str(query), rows.drop(columns="query_id")) for query, rows in
                captions.groupby("query_id"))  # fmt: skip
    sample = draw_sample(channel, rankings, inside)
    for query in ("q00", "q01", "q02"):
        for by, order in (("channel", channel), ("captions", captions)):
            ranked = order[order["query_id"] == query].sort_values("rank")["moment_id"]
            first = [moment for moment in ranked if (query, moment) not in own][:SIZE]
            mine = sample[(sample["query_id"] == query) & (sample["by"] == by)]
            assert sorted(mine["moment_id"]) == sorted(first)
    ranks = captions.set_index(["query_id", "moment_id"])["rank"]
    assert (sample.set_index(["query_id", "moment_id"])["rank"] - ranks).dropna().eq(0).all()


def judge_sample(channel, captions):
    """Return a sample with these levels (queries, `SIZE`) of each side."""
    rows = [
        (f"q{query}", by, level)
        for by, levels in (("channel", channel), ("captions", captions))
        for query, some in enumerate(levels)
        for level in some
    ]
    sample = pd.DataFrame(rows, columns=["query_id", "by", "level"])
    return sample.astype({"level": "Int64"})


def test_a_verdict_is_students_interval_of_the_difference_by_query():
    rng = np.random.default_rng(4)
    levels = rng.integers(0, 5, (2, 40, SIZE))
    verdict = compare_yields(judge_sample(*levels))
    shares = (levels >= 2).mean(axis=2)
    test = stats.ttest_1samp(shares[0] - shares[1], 0).confidence_interval()
    assert (verdict.low, verdict.high) == pytest.approx((test.low, test.high))
    assert verdict[:4] == (40, 200, (levels[0] >= 2).sum(), (levels[1] >= 2).sum())


def test_the_better_one_is_admitted_and_no_level_is_no_find():
    rng = np.random.default_rng(5)
    good, weak = rng.choice([0, 3], (2, 40, SIZE), p=[0.3, 0.7])
    weak = np.where(rng.random(weak.shape) < 0.5, 0, weak)
    assert compare_yields(judge_sample(good, weak)).admitted
    assert not compare_yields(judge_sample(weak, good)).admitted
    lost = judge_sample(good, weak)
    lost.loc[lost["by"] == "channel", "level"] = pd.NA
    verdict = compare_yields(lost)
    assert verdict.found == 0
    assert not verdict.admitted


def see(noise, seed, queries=20, moments=30):
    """Return a machine's numbers, and a system's ranking, of the same true levels."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 5, (queries, moments))
    expected = np.clip(true + rng.normal(0, 0.5, true.shape), 0, 4)
    seen = true + rng.normal(0, noise, true.shape)
    names = [(f"q{q:02}", f"m{m:02}") for q in range(queries) for m in range(moments)]
    ranks = np.argsort(np.argsort(-seen, axis=1), axis=1) + 1
    machine = pd.DataFrame(names, columns=MACHINE[:2])
    machine = machine.assign(level=np.rint(expected).ravel(), expected=expected.ravel())
    return machine, machine[MACHINE[:2]].assign(rank=ranks.ravel())


def follow(machine, name):
    by = machine.sample(frac=1, random_state=1).sort_values(name, ascending=False, kind="stable")
    return by.assign(rank=by.groupby("query_id").cumcount() + 1)[[*MACHINE[:2], "rank"]]


@pytest.mark.parametrize("name", ["level", "expected"])
def test_a_ranking_made_of_a_machines_numbers_is_found(name):
    machine, _ = see(0, 6)
    if name == "expected":  # whose levels say something else
        machine = machine.assign(level=np.random.default_rng(8).permutation(machine["level"]))
    own = follow(machine, name)
    assert find_copied(own, machine) == name
    assert find_copied(own[own["rank"] <= 10], machine) == name, "cut, as runs are"
    twice = pd.concat([machine.assign(repeat=0), machine.assign(repeat=1)])
    assert find_copied(own, twice) == name
    few = machine[machine["query_id"] == "q00"].head(12)
    assert find_copied(follow(few, name), few) is None, "too little to tell"


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_an_honest_system_is_not_refused_however_good_it_is(noise):
    machine, ranking = see(noise, 7)
    assert find_copied(ranking, machine) is None
    assert find_copied(ranking, machine.assign(expected=np.nan)) is None


@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.002, 0.02]))
def test_copies_are_counted_pair_by_pair(seed, share):
    machine, _ = see(0, seed, queries=4, moments=40)
    own, rng = follow(machine, "level"), np.random.default_rng(seed)
    order = own["rank"] + np.where(rng.random(len(own)) < share, 20, 0)
    own = own.assign(rank=order)[rng.random(len(own)) < 0.8]
    rank = own.set_index(MACHINE[:2])["rank"].to_dict()
    agree = ordered = 0
    for query, rows in machine.groupby("query_id"):
        for one, two in combinations(rows.itertuples(), 2):
            a, b = (rank.get((query, row.moment_id), np.inf) for row in (one, two))
            if a != b and one.level != two.level:
                ordered += 1
                agree += (a < b) == (one.level > two.level)
    copied = ordered >= LEAST and agree >= SHARE * ordered
    assert (find_copied(own, machine.assign(expected=np.nan)) == "level") == copied
