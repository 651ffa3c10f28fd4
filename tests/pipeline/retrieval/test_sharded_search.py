"""The law of shards: merged answers are those of the whole pool, and why shards are by video."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_search import find_nearest, make_moments, search_by_definition, worlds

from pipeline.core.engine.parts import Input
from pipeline.core.files import file_sha256
from pipeline.retrieval import sharded_search
from pipeline.retrieval.embeddings import Embeddings, distinct
from pipeline.retrieval.ranking import PoolError, places
from pipeline.retrieval.sharded_search import ShardedSearch, ShardSearch
from pipeline.retrieval.sharded_search import find_nearest as find_part
from pipeline.retrieval.similarity import unit_on_grid


def search_partition(folder, world, k, shard, steps=(2**16, 2**21)):
    """Return the merged answer of any partition: `shard` numbers each moment's."""
    vectors, queries, moments, rows = world
    np.save(folder / "vectors.npy", vectors)
    every = np.stack([np.arange(len(moments)), rows, places(moments)])
    blocks = [queries[at : at + steps[0]] for at in range(0, len(queries), steps[0])]
    paths = []
    for number, block in enumerate(blocks):
        np.save(folder / "queries.npy", block)
        paths.append([])
        for shard_number in np.unique(shard):
            np.save(folder / "moments.npy", every[:, shard == shard_number])
            files = [folder / f"{name}.npy" for name in ("vectors", "moments", "queries")]
            path = folder / f"{number}-{shard_number}.part"
            inputs = [Input(file, file_sha256(file)) for file in files]
            find_part(ShardSearch(*inputs, k, "cpu"), path)
            paths[-1].append(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharded_search, "MERGED", steps[1])
        merged = list(sharded_search.merge(paths, k))
    return [
        (int(q), int(m), int(r), float(s))
        for part in merged
        for q, m, r, s in zip(*part, strict=True)
    ]


@settings(max_examples=30)
@given(
    worlds(),
    st.integers(1, 12),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.integers(1, 9),
    st.integers(1, 200),
)
def test_any_partition_by_video_is_exact(tmp_path_factory, world, k, shard_of, block, merged):
    folder = tmp_path_factory.mktemp("parts")
    video = world[2]["video_id"].str.removeprefix("video ").astype(int)
    shard = np.array(shard_of)[video]
    result = search_partition(folder, world, k, shard, (block, merged))
    assert result == find_nearest(*world, k)
    assert result == search_by_definition(*world, k)


def test_a_split_that_is_not_by_video_can_be_wrong(tmp_path):
    """Moments 0 and 1 are one place, described twice; apart, both are answers."""
    vectors = unit_on_grid(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
    moments = make_moments(3).assign(start=[1.0, 1.0, 5.0], end=[2.0, 2.0, 6.0])
    world = vectors, np.array([0]), moments, np.array([0, 1, 2])
    right = [(0, 0, 1, 1.0), (0, 2, 2, 0.0)]
    assert search_by_definition(*world, 2) == right
    assert search_partition(tmp_path, world, 2, np.array([0, 0, 0])) == right
    assert search_partition(tmp_path, world, 2, np.array([0, 1, 0])) != right


@pytest.fixture
def world():
    """Return texts, moments of ten videos that have them for captions, and embeddings."""
    texts = pd.Series([f"text {number}" for number in range(30)])
    ids, _ = distinct(texts)
    vectors = unit_on_grid(np.random.default_rng(5).standard_normal((30, 16)))
    videos = [f"video {number % 10}" for number in range(30)]
    return texts, make_moments(30).assign(caption=texts, video_id=videos), Embeddings(ids, vectors)


def test_other_vectors_are_other_parts_and_finished_ones_are_found_again(engine, world):
    engine = engine.model_copy(update={"shards": 3, "workers": 1})
    sharded = ShardedSearch("candidates", engine)
    texts, moments, embedded = world
    list(sharded.search(texts, moments, embedded, 3))
    folder = Path(engine.folder) / "candidates"
    first = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}
    list(sharded.search(texts, moments, embedded, 3))
    assert {path: path.stat().st_mtime_ns for path in first} == first
    turned = Embeddings(embedded.ids, np.ascontiguousarray(embedded.vectors[:, ::-1]))
    list(sharded.search(texts, moments, turned, 3))
    assert len([path for path in folder.iterdir() if path.is_file()]) == 2 * len(first)
    sharded.clear()
    assert not folder.exists()


def test_no_queries_no_answer_and_no_moments_a_clear_error(engine, world):
    texts, moments, embedded = world
    sharded = ShardedSearch("candidates", engine.model_copy(update={"shards": 3, "workers": 1}))
    assert list(sharded.search(texts[:0], moments, embedded, 3)) == []
    with pytest.raises(PoolError, match=r"ingest\.pool_modalities"):
        sharded.search(texts, moments[:0], embedded, 3)
