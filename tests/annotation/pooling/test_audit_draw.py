"""Drawing an audit and topping up: which pairs, against the definition, and the same always."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pooling import draw, topup
from annotation.pooling.draw import Sizes
from annotation.pooling.inside import find_inside
from annotation.pooling.topup import NOWHERE, Pool, match_results, top_up
from pipeline.campaign import design
from pipeline.campaign.design import AuditError, Design
from pipeline.candidates import rank
from pipeline.core import tables
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


def make_frame(world, depth=12, inside=4):
    """Return a frame whose pool are the first ranks of each query."""
    ranked = all_ranked(world)
    near, pool = (ranked[ranked["rank"] <= last] for last in (depth, inside))
    return draw.Frame(world.moments, world.embedded, near, pool)


def test_an_audit_is_drawn_from_outside_the_pool_near_and_deep(world):
    sizes = Sizes(7, queries=3, near=5, deep=4)
    chosen = draw.choose(world.queries["query_id"], sizes)
    order = sorted(world.queries["query_id"], key=lambda query: digest(7, "", query))
    assert chosen == sorted(order[:3])
    queries, ranked = world.queries[world.queries["query_id"].isin(chosen)], all_ranked(world)
    audit = draw.draw(queries, make_frame(world), sizes)
    expected = []
    for query, own in ranked[ranked["query_id"].isin(chosen)].groupby("query_id"):
        for origin, low, high, number in (("near", 5, 12, 5), ("deep", 13, 28, 4)):
            part = own[own["rank"].between(low, high)]
            first = sorted(part["moment_id"], key=lambda moment: digest(7, query, moment))[:number]
            rows = part[part["moment_id"].isin(first)].assign(origin=origin)
            expected += [(*row, high - low + 1) for row in rows.values.tolist()]
    got = audit.table.merge(audit.strata, on=["query_id", "moment_id"], validate="one_to_one")
    columns = [*tables.AUDIT.columns, "size"]
    assert got[columns].values.tolist() == [list(row) for row in expected]
    assert set(got["stratum"]) == {"unjudged"}
    assert audit.pool == 28


def test_the_whole_of_a_small_frame_is_drawn_and_no_pair_of_the_pool(world):
    audit = draw.draw(world.queries, make_frame(world), Sizes(1, queries=6, near=40, deep=40))
    ranked = all_ranked(world)
    outside = ranked[ranked["rank"] > 4]
    both = audit.table.merge(outside, on=["query_id", "moment_id", "rank", "similarity"])
    assert len(both) == len(audit.table) == len(outside) == 6 * 24


def test_the_order_of_queries_does_not_matter_nor_which_are_drawn_together(world):
    sizes, frame = Sizes(1, queries=6, near=3, deep=3), make_frame(world)
    whole = draw.draw(world.queries, frame, sizes).table
    parts = [draw.draw(world.queries[at], frame, sizes).table for at in (slice(2), slice(2, None))]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)
    turned = world._replace(queries=world.queries[::-1].reset_index(drop=True))
    assert draw.choose(turned.queries["query_id"], sizes) == sorted(world.queries["query_id"])


def test_all_queries_are_drawn_if_more_are_asked_for_and_never_fewer_than_two(world):
    ids = world.queries["query_id"]
    assert draw.choose(ids, Sizes(1, queries=7)) == sorted(ids)
    for queries, number in ((ids, 1), (ids[:1], 7)):
        with pytest.raises(
            AuditError, match=rf"{len(queries)} are judged, and --queries is {number}"
        ):
            draw.choose(queries, Sizes(1, queries=number))


def test_where_all_is_judged_nothing_is_drawn(world):
    frame = make_frame(world, inside=28)
    everything = draw.draw(world.queries, frame, Sizes(1, queries=6))
    assert everything.table.empty
    assert everything.whole == sorted(world.queries["query_id"])
    some = frame._replace(inside=frame.inside[frame.inside["query_id"] == "q0"])
    one = draw.draw(world.queries, some, Sizes(1, queries=6))
    assert one.whole == ["q0"]
    assert set(one.table["query_id"]) == {*world.queries["query_id"]} - {"q0"}


def make_pairs(*names):
    """Return pairs of one query: `a1` is in batch 1, `b1` in batch 2, `l1` learned, `x` in none."""
    frame = pd.DataFrame({"query_id": "q", "moment_id": list(names)}, dtype="str")
    batch = [{"a": 1, "b": 2, "l": 3}.get(name[0], 0) for name in names]
    channel = ["learned" if name[0] == "l" else "similarity" for name in names]
    return frame.assign(batch=batch, channel=channel)


POOL = make_pairs("a1", "a2", "b1", "b2", "b3", "b4")


@pytest.mark.parametrize(
    ("audit", "topup", "shown", "inside"),
    [
        ([], [], [], "a1 a2"),
        ([], ["x"], ["a1", "y"], "a1 a2 x y"),
        (["x", "b1"], [], ["a1", "a2", "x", "b1"], "a1 a2"),  # for the audit alone
        (["x", "b1"], ["x"], ["a1", "a2", "x", "b1"], "a1 a2 x"),  # a run found it later
        (["x", "b1"], [], ["x", "b1", "b2", "b3", "b4"], "a1 a2 b1 b2 b3 b4"),  # extended later
        ([], [], ["b1"], "a1 a2 b1"),  # a replaced audit's
        (["b2"], [], ["b1", "b2"], "a1 a2 b1"),
        (["b1"], ["b2", "b3"], ["b1", "b2", "b3"], "a1 a2 b2 b3"),  # what a run finds begins none
        (["b1", "old b2", "old b3"], [], ["b1", "b2", "b3"], "a1 a2 b2 b3"),  # nor what one found
        (["b1"], ["b2", "b3"], ["b1", "b2", "b3", "b4"], "a1 a2 b1 b2 b3 b4"),
    ],
)
def test_inside_is_what_anything_but_the_audit_asked_for(audit, topup, shown, inside):
    drawn = make_pairs(*(name.removeprefix("old ") for name in audit))
    drawn["origin"] = ["replaced" if name.startswith("old ") else "near" for name in audit]
    got = find_inside(POOL, drawn, make_pairs(*topup), make_pairs(*shown))
    assert " ".join(sorted(got["moment_id"])) == inside
    assert not got.duplicated().any()


def test_what_was_learned_is_inside_once_it_was_shown():
    pool = make_pairs("a1", "b1", "l1", "l2")
    drawn = make_pairs("l1", "x").assign(origin="near")
    inside = find_inside(pool, drawn, make_pairs(), make_pairs("a1", "l1", "l2", "x"))
    assert sorted(inside["moment_id"]) == ["a1", "l1", "l2"]
    nobody_saw_it = find_inside(pool, drawn, make_pairs(), make_pairs("a1", "l1", "x"))
    assert sorted(nobody_saw_it["moment_id"]) == ["a1"]


def test_the_design_is_read_as_it_was_written_and_refused_otherwise(tmp_path):
    audit_design = Design(seed=1, queries=9, drawn=2, pool=28, depth=12, near=5, deep=4)
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
