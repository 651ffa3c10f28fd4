"""Drawing an audit and topping up: which pairs, against the definition, and the same always."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pooling import design, draw, topup
from annotation.pooling.design import AuditError
from annotation.pooling.draw import Sizes
from annotation.pooling.topup import NOWHERE, Pool, judged_or_wanted, match_results, top_up
from pipeline.candidates import candidates, rank
from pipeline.core import tables
from pipeline.core.sections import Candidates
from pipeline.retrieval import embeddings
from pipeline.retrieval.ranking import places
from pipeline.retrieval.similarity import unit_on_grid

MOMENTS, QUERIES = 30, 6


@pytest.fixture(scope="module")
def world() -> Pool:
    """Return a pool of 30 moments at 28 places, and the captions of the first six as queries."""
    random = np.random.default_rng(3)
    texts = [f"Somebody does {number}." for number in range(MOMENTS)]
    ids, distinct = embeddings.distinct(texts)
    vectors = unit_on_grid(random.standard_normal((len(distinct), 8)))
    place = np.array([*range(MOMENTS - 2), 0, 1])
    names = [f"m{number:02}" for number in range(MOMENTS)]
    moments = pd.DataFrame({"moment_id": names, "caption": texts}, dtype="str")
    moments["video_id"] = [f"v{number % 4}" for number in place]
    moments = moments.assign(start=place * 10.0, end=place * 10.0 + 5)
    names = [f"q{number}" for number in range(QUERIES)]
    queries = pd.DataFrame({"query_id": names, "query": texts[:QUERIES]}, dtype="str")
    return Pool(queries, moments, embeddings.Embeddings(ids, vectors))


def all_ranked(world):
    """Return all ranks as the stage `candidates` gives them."""
    return rank(*world, 2 * MOMENTS)


def digest(*parts):
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def test_an_audit_is_the_top_and_others_as_they_are_drawn(world):
    audit = draw.draw(*world, Sizes(7, queries=3, top=5, random=4))
    ranked = all_ranked(world)
    chosen = sorted(world.queries["query_id"], key=lambda query: digest(7, "", query))[:3]
    rows = []
    for query, own in ranked[ranked["query_id"].isin(chosen)].groupby("query_id"):
        rest = sorted(own["moment_id"][5:], key=lambda moment: digest(7, query, moment))[:4]
        rows += own[:5].assign(origin="top").values.tolist()
        rows += own[own["moment_id"].isin(rest)].assign(origin="random").values.tolist()
    assert audit.table.values.tolist() == rows
    fields = audit.design.model_dump()
    assert fields == {
        "seed": 7,
        "queries": 6,
        "drawn": 3,
        "pool": 28,
        "top": 5,
        "random": 4,
        "machine": None,
    }


def test_ranks_and_similarities_are_the_candidates_own(world):
    ranked = all_ranked(world)
    pairs = draw.draw(*world, Sizes(1, queries=6, top=5, random=40)).table
    both = pairs.merge(ranked, on=["query_id", "moment_id", "rank", "similarity"])
    assert len(both) == len(pairs) == len(ranked) == 6 * 28


def test_the_order_of_queries_does_not_matter(world):
    sizes = Sizes(1, queries=4, top=5, random=5)
    turned = world._replace(queries=world.queries[::-1].reset_index(drop=True))
    pd.testing.assert_frame_equal(draw.draw(*turned, sizes).table, draw.draw(*world, sizes).table)


@pytest.mark.parametrize("number", [1, 7])
def test_fewer_than_two_queries_or_more_than_there_are_cannot_be_drawn(world, number):
    with pytest.raises(AuditError, match=rf"6 .* --queries .*{number}"):
        draw.draw(*world, Sizes(1, queries=number))


def test_the_cost_counts_what_is_not_judged_anyway(world):
    table = draw.draw(*world, Sizes(1, queries=2, top=6, random=4)).table
    rows = candidates(rank(*world, 4), Candidates(top=4, batch=2, depth=4))
    votes = {"votes_at_least": 24, "votes_at_most": 32}
    assert draw.cost(table, rows) == {"pairs": 20, "in_batch_1": 4, "in_batch_2": 4, **votes}


def test_the_design_is_read_as_it_was_written_and_refused_otherwise(tmp_path, world):
    audit_design = draw.draw(*world, Sizes(1, queries=2)).design
    path = tmp_path / "audit.json"
    design.write(audit_design, path)
    assert design.read(path) == audit_design
    path.write_text(path.read_text().replace('"pool": 28', '"pool": "28"'))
    with pytest.raises(AuditError, match=r"audit\.json: pool: input should be a valid integer"):
        design.read(path)


# Top-up


def make_run(*rows):
    """Return a run of `(query_id, video_id, start, end)`, ranked as they come."""
    frame = pd.DataFrame(rows, columns=["query_id", "video_id", "start", "end"])
    return frame.assign(rank=frame.groupby("query_id").cumcount() + 1, score=0.0)


def moment(world, number, query="q0", shift=0.0):
    """Return the result that is a moment of the pool, later by `shift` seconds."""
    video, start, end = world.moments.loc[number, ["video_id", "start", "end"]]
    return query, video, start + shift, end + shift


NOTHING = pd.DataFrame({"query_id": [], "moment_id": []}, dtype="str")


def run_top_up(world, excluded=NOTHING, depth=10, min_iou=0.5, **runs):
    return top_up(runs, world, excluded, depth=depth, min_iou=min_iou)


def test_the_first_results_of_a_run_become_pairs_with_their_rank_in_the_pool(world):
    run = make_run(moment(world, 5), moment(world, 9, "q1"), moment(world, 7), moment(world, 8))
    result = run_top_up(world, depth=2, splade=run)
    ranked = all_ranked(world)
    expected = result.table.merge(ranked)
    assert len(expected) == len(result.table) == 3
    pairs = sorted(zip(result.table["query_id"], result.table["moment_id"], strict=True))
    assert pairs == [("q0", "m05"), ("q0", "m07"), ("q1", "m09")]
    assert set(result.table["origin"]) == {"splade"}


def test_a_result_is_the_moment_that_it_meets_best_and_what_meets_none_is_counted(world):
    run = make_run(
        moment(world, 5, shift=1e-7),
        moment(world, 6, shift=1.0),
        moment(world, 7, shift=2.0),
        ("q0", "elsewhere", 70.0, 75.0),
        moment(world, 8, query="q9"),
        moment(world, 5),
    )
    result = run_top_up(world, a=run)
    assert set(result.table["moment_id"]) == {"m05", "m06"}
    names = ["run", "results", "of_other_queries", "unmatched", "judged_or_wanted", "new"]
    assert result.counts[[*names, "repeated"]].to_numpy().tolist() == [["a", 6, 1, 2, 0, 2, 1]]
    assert set(run_top_up(world, min_iou=0.4, a=run).table["moment_id"]) == {"m05", "m06", "m07"}


def test_a_place_that_two_moments_share_is_told_by_the_candidates_one(world):
    result = run_top_up(world, a=make_run(moment(world, 28), moment(world, 29, "q3")))
    assert len(result.table.merge(all_ranked(world))) == 2


def test_a_second_top_up_adds_nothing_and_a_deeper_one_the_rest(world):
    run = make_run(moment(world, 5), moment(world, 7), moment(world, 28))
    first = run_top_up(world, depth=1, a=run).table[["query_id", "moment_id"]]
    again = run_top_up(world, first, depth=1, a=run)
    assert (len(again.table), again.counts["judged_or_wanted"].tolist()) == (0, [1])
    assert len(run_top_up(world, first, depth=3, a=run).table) == 2


def test_what_two_runs_bring_is_named_by_the_first_name(world):
    run = make_run(moment(world, 5))
    result = run_top_up(world, b=run, a=run)
    assert result.table["origin"].tolist() == ["a"]
    assert result.counts[["run", "new", "repeated"]].values.tolist() == [["a", 1, 0], ["b", 0, 1]]
    nothing = run_top_up(world, a=make_run())
    assert (len(nothing.table), nothing.counts["results"].tolist()) == (0, [0])


def test_taken_are_batch_1_audit_top_ups_and_what_is_decided():
    rows = [("q", moment, 1, 0.5, batch) for moment, batch in (("a", 1), ("b", 2), ("c", 2))]
    candidate_rows = pd.DataFrame(rows, columns=tables.CANDIDATES.columns)
    audit = pd.DataFrame({"query_id": ["q"], "moment_id": ["x"]})
    consensus = pd.DataFrame(
        {"query_id": "q", "moment_id": ["b", "c", "d"], "outcome": ["two", "waiting", "discarded"]}
    )
    excluded = judged_or_wanted(candidate_rows, audit, audit, consensus)
    assert sorted(excluded["moment_id"]) == ["a", "b", "d", "x"]


times = st.tuples(st.integers(0, 12), st.integers(0, 6)).map(
    lambda t: (t[0] / 2, (t[0] + t[1]) / 2)
)
segments = st.lists(st.tuples(st.sampled_from("ab"), times), min_size=1, max_size=6)


def by_definition(result, moments, min_iou):
    """Return the id of the moment that a result stands for, or None."""
    best = []
    for name, (video, (start, end)) in moments:
        shared = max(0, min(end, result[1][1]) - max(start, result[1][0]))
        union = end - start + result[1][1] - result[1][0] - shared
        iou = shared / union if union else 0
        same = (start, end) == result[1]
        if video == result[0] and (same or iou >= min_iou):
            best.append((not same, -iou, name))
    return min(best)[2] if best else None


@settings(max_examples=40)
@given(segments, segments, st.sampled_from([0.1, 0.5, 1.0]))
def test_matching_is_as_defined(hits, there, min_iou):
    named = [(f"m{number}", segment) for number, segment in enumerate(there)]
    rows = [(name, video, start, end) for name, (video, (start, end)) in named]
    moments = pd.DataFrame(rows, columns=["moment_id", "video_id", "start", "end"])
    results = make_run(*(("q", video, *segment) for video, segment in hits))
    first = dict(zip(places(moments)[::-1], moments["moment_id"][::-1], strict=True))
    got = [first.get(number) for number in match_results(results, moments, min_iou)]
    assert got == [by_definition(result, named, min_iou) for result in hits]
    assert NOWHERE not in first
    assert topup.SAME < 0.5
