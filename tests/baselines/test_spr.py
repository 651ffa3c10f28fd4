"""SPR: its contrast and windows against definitions in loops, and what its search returns."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy import Lazy
from slow_formulas import iou, randomize

from baselines.collection.release import read_release
from baselines.core.params import load
from baselines.features.inputs import open_inputs
from baselines.inference.proposals import merge, number_segments

torch, registry = Lazy("torch"), Lazy("baselines.models.registry")
segments, batches = Lazy("baselines.inference.segments"), Lazy("baselines.training.batches")
blocks = Lazy("baselines.models.blocks")


@pytest.fixture
def model_inputs(tiny):
    """Return a model with random weights, its inputs and batches; segments of 4 rows."""
    params = load()
    own = params.spr.model_copy(update={"segments": 8, "gap": 0})
    params = params.model_copy(update={"spr": own})
    release = read_release(tiny / "datasets/release")
    inputs = open_inputs(params, release.all_queries([2]))
    model = randomize(registry.build("spr", inputs.widths, params, "as_paper"))
    return model, inputs, batches.BatchMaker(inputs, release.read_pairs(2)), params


def unit(vector):
    return vector / np.linalg.norm(vector)


def project(linear, vector):
    weight, bias = (tensor.detach().double().numpy() for tensor in (linear.weight, linear.bias))
    return unit(weight @ vector + bias)


def rows_of(release, maker, query, video):
    """Return the rows of a video that are in a moment of a query's pairs."""
    pairs = release.read_pairs(2)
    here = (pairs.query == query) & (pairs.video == video)
    return {row for first, last in maker._spans[here] for row in range(first, last + 1)}


PLACES = np.array([0, 1, 3, 5, 6])


def test_the_contrast_is_that_of_the_definition(model_inputs):
    """A segment is no negative of a query that has a moment in it, in any of its pairs."""
    model, inputs, maker, _ = model_inputs
    batch, pairs = maker.make(PLACES), inputs.release.read_pairs(2)
    videos = sorted(set(pairs.video[PLACES].tolist()))
    vectors, positive = {}, {}
    for v, video in enumerate(videos):
        rows = batch.streams[0][v][batch.row_mask[v]].double().numpy()
        for s in range(0, len(rows), 4):
            mean = np.mean([unit(row) for row in rows[s : s + 4]], axis=0)
            vectors[v, s // 4] = project(model.segment_projector, mean)
            for i, place in enumerate(PLACES):
                touched = rows_of(inputs.release, maker, pairs.query[place], video)
                positive[i, v, s // 4] = bool(touched & set(range(s, s + 4)))
    queries = [
        project(model.query_projector, tokens[mask].double().numpy().mean(axis=0))
        for tokens, mask in zip(batch.tokens, batch.token_mask, strict=True)
    ]
    scale, total = math.exp(model.scale.item()), 0.0

    def logit(i, place):
        return scale * float(queries[i] @ vectors[place])

    for i in range(5):
        own, (first, last) = int(batch.video[i]), batch.span[i].tolist()
        shares = {
            (v, s): sum(first <= 4 * s + k <= last for k in range(4)) / 4
            for v, s in vectors
            if v == own
        }
        covered = [place for place, share in shares.items() if share]
        others = [logit(i, place) for place in vectors if not positive[i, *place]]
        row = log_sum(others + [logit(i, place) for place in covered])
        for place in covered:
            column = [logit(j, place) for j in range(5) if j == i or not positive[j, *place]]
            both = 2 * logit(i, place) - row - log_sum(column)
            total -= shares[place] / sum(shares.values()) * both / 2 * float(batch.weight[i]) / 5
    assert model.contrast(batch).item() == pytest.approx(total, rel=1e-4)


def log_sum(values):
    return max(values) + math.log(sum(math.exp(value - max(values)) for value in values))


def test_a_window_is_its_moments_segments_and_context(model_inputs):
    model, _, maker, _ = model_inputs
    batch = maker.make(np.arange(16))
    bounds = set()
    for seed in range(5):
        torch.manual_seed(seed)
        window = model.windows(batch)
        assert window.row_mask.shape[1] == model.window_rows == 12
        for i in range(16):
            first, last = window.span[i].tolist()
            begin, finish = batch.span[i].tolist()
            assert last - first == finish - begin
            assert window.row_mask[i, first : last + 1].all()
            rows, whole = window.streams[0][i], batch.streams[0][batch.video[i]]
            assert torch.equal(rows[first : last + 1], whole[begin : finish + 1])
            assert (rows[~window.row_mask[i]] == 0).all()
            # The first row: of the moment's segment or the one before, less the context.
            assert begin - first in {max(0, begin // 4 * 4 - more - 4) for more in (0, 4)}
            length = int(batch.pair_mask[i].sum())
            end = begin - first + int(window.row_mask[i].sum()) - 1
            assert end in {min(length - 1, -(-finish // 4) * 4 - 1 + more + 4) for more in (0, 4)}
            bounds.add((i, begin - first, end))
    assert len(bounds) > 16


def test_a_window_with_a_moment_of_a_query_is_no_negative_of_it(model_inputs):
    model, inputs, maker, _ = model_inputs
    pairs, places = inputs.release.read_pairs(2), np.arange(16)
    model.context_rows = 0  # else a window has most of these short videos
    window, batch = model.windows(maker.make(places)), maker.make(places)
    for i, j in itertools.product(range(16), range(16)):
        begin = int(batch.span[j, 0] - window.span[j, 0])
        rows = set(range(begin, begin + int(window.row_mask[j].sum())))
        touched = rows_of(inputs.release, maker, pairs.query[i], pairs.video[j])
        assert bool(window.positive[i, j]) == (i == j or bool(rows & touched))
    same_video = pairs.video[:, None] == pairs.video
    assert (same_video & ~window.positive.numpy()).any()  # as it never was by the video alone


def by_proposal(model, inputs, own, tokens):
    """Search for one query: its proposals one after another, every span of each, one by one."""
    size, context, window = model.segment_rows, model.context_rows, model.window_rows
    segment_scores = {}
    for video in range(len(inputs.names)):
        streams, mask = batches.pad_videos(inputs, [video])
        units, inside = model.embed_segments(streams[0], mask)
        for place in range(int(inside.sum())):
            segment_scores[video, place] = float(model.embed_query(*tokens)[0] @ units[0, place])
    best = sorted(segment_scores, key=lambda key: -segment_scores[key])[: model.settings.segments]
    vectors, moments = model.refiner.encode_query(*tokens), []
    for video, first in best:
        if (video, first - 1) in best:
            continue  # of a proposal that begins earlier
        last = first
        while (video, last + 1) in best:
            last += 1
        rows = inputs.video(video)
        begin = max(0, first * size - context)
        finish = min(len(rows[0]), (last + 1) * size + context, begin + window)
        padded = [batches.pad([stream[begin:finish]], window) for stream in rows]
        streams, mask = tuple(stream for stream, _ in padded), padded[0][1]
        encoded = model.refiner.encode_context(streams, mask)
        similarity = blocks.pair_similarity(model.refiner.span_queries(vectors), encoded.spans)
        logits = model.refiner.detect(similarity, mask)
        start, end = (side[0].softmax(-1).tolist() for side in logits)
        cosine = segments.window_scores(vectors, encoded.retrieval, mask).item()
        weight = math.exp(model.settings.alpha * cosine)
        spans = [
            (weight * start[i] * end[j], video, begin + i, begin + j)
            for i, j in itertools.product(range(finish - begin), repeat=2)
            if own.min_rows <= j - i < own.max_rows
        ]
        moments += keep_best(spans, model.settings.moments, own.nms)
    every = len(moments)
    return keep_best(moments, every if own.nms is None else own.moments, own.nms)


def keep_best(spans, count, nms):
    best = []
    for span in sorted(spans, key=lambda span: (-span[0], *span[1:])):
        rivals = [rival for rival in best if rival[1] == span[1]] if nms else []
        if all(iou(span[2:], rival[2:]) <= nms for rival in rivals):
            best.append(span)
    return best[:count]


@pytest.mark.parametrize(("moments", "nms"), [(1, None), (2, None), (3, 0.5)])
def test_a_search_has_the_best_moments_of_each_proposal(model_inputs, moments, nms):
    model, inputs, _, params = model_inputs
    model.settings = model.settings.model_copy(update={"moments": moments})
    own = params.predict.model_copy(update={"nms": nms})
    queries = inputs.release.read_queries("val")
    ranked = segments.SegmentSearcher(model, inputs, own).search(queries)
    for place, query in enumerate(queries):
        with torch.no_grad():
            tokens = batches.pad_queries(inputs, [query])
            expected = by_proposal(model, inputs, own, tokens)
        mine = ranked.query == place
        columns = (ranked.video, ranked.start * 2, ranked.end * 2)
        ours = list(zip(*(column[mine] for column in columns), strict=True))
        assert ours == [span[1:] for span in expected]
        scores = [span[0] for span in expected]
        np.testing.assert_allclose(ranked.score[mine], scores, rtol=1e-4)


def test_the_chunk_of_proposals_changes_nothing(model_inputs, monkeypatch):
    model, inputs, _, params = model_inputs
    queries = inputs.release.read_queries("val")
    lists = []
    for size in (1, 1000):
        monkeypatch.setattr("baselines.inference.segments.ENCODED", size)
        lists.append(segments.SegmentSearcher(model, inputs, params.predict).search(queries))
    assert (lists[0].video == lists[1].video).all()
    assert (lists[0].start == lists[1].start).all()
    np.testing.assert_allclose(lists[0].score, lists[1].score, rtol=1e-4)


def test_a_search_has_no_more_moments_than_are_asked_for(model_inputs):
    model, inputs, _, params = model_inputs
    queries = inputs.release.read_queries("val")
    own = params.predict.model_copy(update={"moments": 2})
    every, few = (
        segments.SegmentSearcher(model, inputs, predict).search(queries)
        for predict in (params.predict, own)
    )
    for place in range(len(queries)):
        assert (
            few.score[few.query == place].tolist() == every.score[every.query == place][:2].tolist()
        )


# Proposals


def by_loop(best, gap):
    """Merge one query's segments one by one."""
    merged = []
    for number in sorted(best):
        rank = list(best).index(number)
        if merged and number - merged[-1][1] - 1 <= gap:
            merged[-1][1] = number
            merged[-1][2] = min(merged[-1][2], rank)
        else:
            merged.append([number, number, rank])
    return sorted(merged, key=lambda span: span[2])


@given(
    st.lists(st.permutations(range(20)), min_size=1, max_size=4),
    st.integers(1, 12),
    st.integers(0, 3),
)
def test_neighbours_are_merged_and_have_the_best_rank(orders, count, gap):
    best = np.array([order[:count] for order in orders])
    proposals = merge(best, gap)
    for query, row in enumerate(best):
        mine = proposals.query == query
        columns = (proposals.first[mine], proposals.last[mine], proposals.rank[mine])
        ours = np.stack(columns, axis=1).tolist()
        assert ours == by_loop(row.tolist(), gap)
        assert ours[0][2] == 0


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 3))
def test_no_proposal_leads_from_one_video_to_the_next(counts, gap):
    first = number_segments(np.array(counts), gap)
    every = np.concatenate([np.arange(n) + f for n, f in zip(counts, first, strict=True)])
    proposals = merge(every[None], gap)
    assert proposals.first.tolist() == first.tolist()
    assert (proposals.last - proposals.first + 1).tolist() == counts
