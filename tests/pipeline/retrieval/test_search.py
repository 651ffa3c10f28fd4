"""Nearest moments against their definition, for every block size and number of threads."""

import tracemalloc
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lazy import Lazy
from threadpoolctl import threadpool_limits

from pipeline.retrieval import search as module
from pipeline.retrieval import shortlist
from pipeline.retrieval.embeddings import Embeddings, text_ids
from pipeline.retrieval.ranking import Pool, PoolError
from pipeline.retrieval.search import Execution, SearchError, nearest, search
from pipeline.retrieval.shortlist import choose_knn, faiss_knn, import_faiss, torch_knn
from pipeline.retrieval.similarity import GRID, unit_on_grid

torch = Lazy("torch")


def search_by_definition(vectors, queries, moments, rows, k):
    """Return (query, moment position, rank, similarity): docs/exactness.md, word for word."""
    integers = [[int(x) for x in np.rint(row.astype(np.float64) / GRID)] for row in vectors]
    ids = moments["moment_id"].tolist()
    places = list(moments[["video_id", "start", "end"]].itertuples(index=False, name=None))
    result = []
    for number, query in enumerate(queries):
        best = {}
        for position, (row, moment, place) in enumerate(zip(rows, ids, places, strict=True)):
            product = sum(a * b for a, b in zip(integers[query], integers[row], strict=True))
            exact = min(Fraction(1), max(Fraction(-1), Fraction(product, 2**50)))
            own = np.array_equal(vectors[query], vectors[row])
            similarity = 1.0 if own else round(exact * 10**6) / 10**6
            key = (-similarity, moment, position)
            best[place] = min(best.get(place, key), key)
        for rank, (negative, _, position) in enumerate(sorted(best.values())[:k], 1):
            result.append((number, position, rank, -negative))
    return result


def find_nearest(vectors, queries, moments, rows, k, **execution):
    pool = Pool.build(moments, np.asarray(rows, dtype=np.int64), k)
    parts = list(
        nearest(vectors, np.asarray(queries, dtype=np.int64), pool, Execution(**execution))
    )
    return [
        (int(q), int(m), int(r), float(s))
        for part in parts
        for q, m, r, s in zip(*part, strict=True)
    ]


def make_moments(count):
    """Return moments of one video, a second each."""
    start = np.arange(count) * 1.0
    ids = [f"{i:05}" for i in range(count)]
    return pd.DataFrame({"moment_id": ids, "video_id": "v", "start": start, "end": start + 1})


@st.composite
def worlds(draw):
    """Draw vectors with exact ties, near ties and copies; moments that share text and place."""
    seed = draw(st.integers(0, 2**32))
    random = np.random.default_rng(seed)
    texts, dimensions = draw(st.integers(1, 40)), draw(st.integers(2, 24))
    centres = random.standard_normal((draw(st.integers(1, 6)), dimensions))
    noise = draw(st.sampled_from([0.0, 1e-7, 1e-6, 1e-3, 1.0]))
    vectors = centres[random.integers(len(centres), size=texts)]
    vectors = unit_on_grid(vectors + noise * random.standard_normal(vectors.shape))
    count = draw(st.integers(1, 60))
    places = random.integers(0, draw(st.integers(1, 60)), size=count)
    moments = pd.DataFrame(
        {
            "moment_id": [f"m{i:03}" for i in range(count)],
            "video_id": [f"video {place % 3}" for place in places],
            "start": places * 1.0,
            "end": places + 1.5,
        }
    )
    rows = random.integers(0, texts, size=count)
    queries = random.integers(0, texts, size=draw(st.integers(1, 8)))
    return vectors, queries, moments, rows


@settings(max_examples=50)
@given(
    worlds(),
    st.integers(1, 12),
    st.integers(1, 70),
    st.integers(1, 9),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0, 6, 4096]),
)
def test_equals_the_definition_for_every_block_size_and_thread_count(
    world, k, pool_block, query_block, threads, longest
):
    import_faiss().omp_set_num_threads(threads)
    with threadpool_limits(threads), patch.object(module, "LONGEST_SHORTLIST", longest):
        result = find_nearest(*world, k, pool_block=pool_block, query_block=query_block)
    assert result == search_by_definition(*world, k)


def test_a_shortlist_full_of_near_ties_grows_until_the_answer_is_proven():
    # 500 texts closer to each other than a float32 product can tell apart; the best is one
    # of the last, and wins by a millionth.
    dimensions, texts = 64, 500
    random = np.random.default_rng(3)
    centre = random.standard_normal(dimensions)
    vectors = unit_on_grid(centre + 3e-6 * random.standard_normal((texts, dimensions)))
    moments = make_moments(texts)
    rows, queries = np.arange(texts), np.array([7])
    result = find_nearest(vectors, queries, moments, rows, 5)
    assert result == search_by_definition(vectors, queries, moments, rows, 5)
    assert [row[3] for row in result] == [1.0] * 5
    assert [row[1] for row in result] == [0, 1, 2, 3, 4]


def test_a_text_left_out_that_rounds_to_the_same_similarity_is_found():
    # Five texts at 0.5 - 2e-7 fill the shortlist for k = 1. The sixth is farther by less than
    # rounding tells, and has the smallest id: it is the answer.
    cosines = np.array([1.0, *[0.5 - 2e-7] * 5, 0.5 - 4.5e-7])
    vectors = unit_on_grid(np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1))
    moments = make_moments(6)
    assert find_nearest(vectors, [0], moments, [6, 1, 2, 3, 4, 5], 1) == [(0, 0, 1, 0.5)]


def test_thousands_of_equal_vectors_take_no_more_memory_than_a_few():
    def peak(count):
        vectors = np.tile(unit_on_grid(np.ones((1, 384))), (count, 1))
        moments = make_moments(count)
        tracemalloc.start()
        result = find_nearest(vectors, np.arange(16), moments, np.arange(count), 5)
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert result == [(q, m, m + 1, 1.0) for q in range(16) for m in range(5)]
        return memory

    assert peak(8000) < peak(500) + 120e6


def test_a_text_that_thousands_share_costs_no_more_than_k():
    count = 5000
    moments = make_moments(count)
    pool = Pool.build(moments, np.zeros(count, dtype=np.int64), 40)
    assert pool.moments.tolist() == list(range(40))


def test_an_empty_pool_is_a_clear_error():
    embedded = Embeddings(text_ids(["x"]), unit_on_grid(np.ones((1, 2))))
    moments = make_moments(0).assign(caption="")
    with pytest.raises(PoolError, match=r"ingest\.pool_modalities"):
        search(pd.Series(["x"]), moments, embedded, 3)


@pytest.mark.parametrize("threads", [1, 2])
@settings(max_examples=25)
@given(world=worlds(), k=st.integers(1, 12), pool_block=st.integers(1, 70))
def test_a_shortlist_by_torch_gives_the_same_answer(threads, world, k, pool_block):
    with threadpool_limits(threads):
        result = find_nearest(*world, k, pool_block=pool_block, knn=torch_knn("cpu"))
    assert result == search_by_definition(*world, k)


def test_a_device_that_multiplies_with_less_than_float32_is_refused():
    def tf32(queries, texts, size):
        coarse = [
            (operand.view(np.uint32) & 0xFFFFE000).view(np.float32) for operand in (queries, texts)
        ]
        return faiss_knn(*coarse, size)

    vectors = unit_on_grid(np.random.default_rng(0).standard_normal((99, 384)))
    with pytest.raises(SearchError, match="CUDA_VISIBLE_DEVICES"):
        find_nearest(vectors, np.arange(9), make_moments(99), np.arange(99), 3, knn=tf32)


def test_torch_multiplies_without_tf32_whatever_was_set(monkeypatch):
    was = torch.get_float32_matmul_precision()
    multiply, precisions = torch.Tensor.__matmul__, []

    def multiply_and_note(left, right):
        precisions.append(torch.get_float32_matmul_precision())
        return multiply(left, right)

    monkeypatch.setattr(torch.Tensor, "__matmul__", multiply_and_note)
    units = unit_on_grid(np.random.default_rng(0).standard_normal((9, 8)))
    try:
        torch.set_float32_matmul_precision("high")
        torch_knn("cpu")(units, units, 3)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(was)
    assert precisions == ["highest"]


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "mps"])
def test_without_a_gpu_and_for_little_work_faiss_searches(monkeypatch, device):
    assert choose_knn(device, shortlist.FEW - 1) is faiss_knn
    monkeypatch.setattr(shortlist, "DRIVERS", ("libno-such-driver.so",))
    assert choose_knn(device, shortlist.FEW) is faiss_knn


def test_where_torch_sees_a_gpu_it_searches_unless_the_processor_is_asked_for(monkeypatch):
    monkeypatch.setattr(shortlist, "_has_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    asked = []
    monkeypatch.setattr(shortlist, "torch_knn", asked.append)
    for device in ("auto", "cuda:1"):
        choose_knn(device, shortlist.FEW)
    assert asked == ["cuda", "cuda:1"]
    assert choose_knn("cpu", shortlist.FEW) is faiss_knn
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_knn("auto", shortlist.FEW) is faiss_knn
