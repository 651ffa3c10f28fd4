"""Inference: against definitions in loops, one query and one video at a time."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy import Lazy
from slow_formulas import iou, randomize

from momentrank.formats import read_run

torch, blocks = Lazy("torch"), Lazy("baselines.models.blocks")
registry, batches = Lazy("baselines.models.registry"), Lazy("baselines.training.batches")
corpora, search = Lazy("baselines.inference.corpus"), Lazy("baselines.inference.search")
output = Lazy("baselines.inference.output")
ranked_lists = Lazy("baselines.inference.ranked")

NAMES = ["reloclnet", "xml"]


@given(
    rows=st.integers(1, 9),
    videos=st.integers(1, 4),
    least=st.integers(1, 3),
    width=st.integers(1, 4),
    count=st.integers(1, 12),
    seed=st.integers(0, 9),
)
def test_the_band_has_the_best_of_all_pairs(rows, videos, least, width, count, seed):
    rng = np.random.default_rng(seed)
    start, end = rng.random((2, 2, videos, rows)).astype(np.float32)
    weight = rng.random((2, videos)).astype(np.float32)
    band = (least, least + width)
    columns = search.best_spans(*map(torch.from_numpy, (start, end, weight)), band, count)
    for query in range(2):
        every = {
            (v, i, j): start[query, v, i] * weight[query, v] * end[query, v, j]
            for v, i, j in itertools.product(range(videos), range(rows), range(rows))
            if least <= j - i < least + width
        }
        ours = [
            (int(v), int(i), int(j), float(s))
            for s, v, i, j in zip(*(column[query] for column in columns), strict=True)
            if s > 0
        ]
        best = sorted(every.values(), reverse=True)[:count]
        np.testing.assert_allclose([span[3] for span in ours], best, rtol=1e-5)
        for v, i, j, score in ours:
            assert score == pytest.approx(every[v, i, j])


def random_model(name, params, inputs, mode="as_paper"):
    return randomize(registry.build(name, inputs.widths, params, mode), 0.3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", ["as_paper", "as_published"])
def test_a_search_is_the_published_loop_over_queries(name, mode, val_inputs):
    params, inputs, queries = val_inputs
    model = random_model(name, params, inputs, mode)
    ranked = search.Searcher(model, inputs, params.predict).search(queries)
    with torch.no_grad():
        streams, mask = batches.pad_videos(inputs, range(8))
        context = model.encode_context(streams, mask)
        for place, query in enumerate(queries):
            expected = one_query(model, context, mask, batches.pad_queries(inputs, [query]), params)
            mine = ranked.query == place
            ours = list(zip(ranked.video[mine], ranked.start[mine], ranked.end[mine], strict=True))
            assert ours[:10] == [span[:3] for span in expected[:10]]
            np.testing.assert_allclose(
                ranked.score[mine][:10], [span[3] for span in expected[:10]], rtol=2e-4
            )


def one_query(model, context, mask, tokens, params):
    """Every span of the best videos, by score, as the published inference makes them."""
    vectors = model.encode_query(*tokens)
    unit = torch.nn.functional.normalize
    scores = [
        sum(
            float((unit(v[0], dim=0) @ unit(rows[number], dim=-1).T)[mask[number]].max())
            for v, rows in zip(vectors, context.retrieval, strict=True)
        )
        / 2
        for number in range(8)
    ]
    best = sorted(range(8), key=lambda number: (-scores[number], number))[: params.predict.videos]
    spans = []
    for number in best:
        video_rows = [rows[number : number + 1] for rows in context.spans]
        similarity = blocks.pair_similarity(model.span_queries(vectors), video_rows)
        logits = model.detect(similarity, mask[number : number + 1])
        start, end = (side[0].softmax(-1).tolist() for side in logits)
        weight = math.exp(model.settings.alpha * scores[number])
        for i, j in itertools.product(range(12), range(12)):
            if params.predict.min_rows <= j - i < params.predict.max_rows:
                spans.append((number, i * 0.5, j * 0.5, weight * start[i] * end[j]))
    return sorted(spans, key=lambda span: (-span[3], *span[:3]))


def test_blocks_do_not_change_the_lists(val_inputs):
    params, inputs, queries = val_inputs
    model = random_model("reloclnet", params, inputs)
    lists = []
    for row_block, query_block in ((1, 1), (30, 3), (10**6, 10**6)):
        own = params.predict.model_copy(update={"row_block": row_block, "query_block": query_block})
        lists.append(search.Searcher(model, inputs, own).search(queries))
    for ranking in lists[1:]:
        assert (ranking.video == lists[0].video).all()
        assert (ranking.start == lists[0].start).all()
        np.testing.assert_allclose(ranking.score, lists[0].score, rtol=1e-4)


def test_a_model_with_one_kind_of_rows_is_kept_once(val_inputs):
    params, inputs, _ = val_inputs
    sizes = {}
    for name in NAMES:
        corpus = corpora.encode_corpus(
            random_model(name, params, inputs), inputs, torch.device("cpu"), 30
        )
        sizes[name] = corpus._file.seek(0, 2)
        assert sorted(np.concatenate([block.videos for block in corpus]).tolist()) == list(range(8))
    assert sizes["xml"] == 2 * sizes["reloclnet"]


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 9), st.integers(1, 5)),
        min_size=1,
    ),
    st.sampled_from([0.3, 0.5, 1.0]),
    st.integers(1, 4),
)
def test_suppression_is_that_of_the_definition(moments, threshold, count):
    """One moment after another: it stays if no better one of its video is too near."""
    survivors = {0: [], 1: []}
    moments = [(query, video, start, start + length) for query, video, start, length in moments]
    moments.sort(key=lambda moment: moment[0])
    for query, *moment in moments:
        rivals = [rival for rival in survivors[query] if rival[0] == moment[0]]
        if all(iou(moment[1:], rival[1:]) <= threshold for rival in rivals):
            survivors[query].append(moment)
    query, video, start, end = (np.array(column) for column in zip(*moments, strict=True))
    score = np.arange(len(video), 0, -1.0)
    ranked = ranked_lists.Ranked(query, video, start * 1.0, end * 1.0, score)
    result = ranked_lists.suppress(ranked, threshold, count)
    for number, best in survivors.items():
        own = result.query == number
        ours = zip(result.video[own], result.start[own], result.end[own], strict=True)
        assert list(map(list, ours)) == best[:count]


def test_both_files_are_read_by_the_scorer(val_inputs, tmp_path):
    params, inputs, queries = val_inputs
    model = random_model("xml", params, inputs)
    ranked = search.Searcher(model, inputs, params.predict).search(queries)
    run = output.segments(ranked, inputs.names, queries)
    output.write(tmp_path / "runs", "one", run, "xml:top02:seed-1")
    frames = [read_run(tmp_path / f"runs/one.{kind}") for kind in ("run", "json")]
    for frame in frames:
        assert len(frame) == len(ranked.query)
        assert set(frame["query_id"].astype(str)) == {query.query_id for query in queries}
    assert (frames[0]["start"].to_numpy() == frames[1]["start"].to_numpy()).all()
