"""Candidates and training files, from tables to the bytes that others read."""

import hashlib
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from lazy import Lazy

from momentrank import ids
from momentrank.errors import MomentRankError, UsageError
from pipeline import pseudo
from pipeline.candidates import candidates, rank
from pipeline.core import captions, files, tables
from pipeline.core.machine_pool import read_machine_pool
from pipeline.core.params import load
from pipeline.core.sections import Candidates
from pipeline.distribution import training_sets
from pipeline.distribution.training_sets import Training, training_path, write_training_sets
from pipeline.retrieval import embeddings, search
from pipeline.retrieval.ranking import Pool
from pipeline.retrieval.similarity import unit_on_grid

torch = Lazy("torch")

HOW = {"further": "similarity", "min_yield": 0.5}
FOUR = Candidates(top=4, batch=2, depth=4, **HOW)
CAPTIONS = ["He waves.", "She waves.", "She sits.", "He sits.", "He waves."]
ANGLES = {"He waves.": 0, "She waves.": 10, "She sits.": 60, "He sits.": 70}


@pytest.fixture
def moments():
    """Return five described moments of two videos; two of them say the same."""
    return pd.DataFrame(
        {
            "moment_id": ["10", "11", "12", "13", "14"],
            "caption": CAPTIONS,
            "video_id": ["b", "a", "a", "b", "b"],
            "start": [0.0, 1.0, 2.0, 3.0, 4.0],
            "end": [1.5, 2.5, 3.5, 4.5, 5.5],
        }
    )


@pytest.fixture
def vectors():
    """Return embeddings in which two captions are as alike as their angles are near."""
    rows, texts = embeddings.distinct(list(ANGLES))
    angles = np.radians([ANGLES[text] for text in texts])
    return embeddings.Embeddings(rows, unit_on_grid(np.stack([np.cos(angles), np.sin(angles)], 1)))


def test_candidates_are_ranked_by_similarity_then_id_in_two_batches(moments, vectors):
    queries = pd.DataFrame({"query_id": ["14", "12"], "query": ["He waves.", "She sits."]})
    table = candidates(rank(queries, moments, vectors, 4), FOUR)
    assert table.values.tolist() == [
        ["14", "10", 1, 1.0, 1],
        ["14", "14", 2, 1.0, 1],
        ["14", "11", 3, 0.984808, 2],
        ["14", "12", 4, 0.5, 2],
        ["12", "12", 1, 1.0, 1],
        ["12", "13", 2, 0.984808, 1],
        ["12", "11", 3, 0.642788, 2],
        ["12", "10", 4, 0.5, 2],
    ]


@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_pool_for_a_machine_begins_below_the_candidates_whatever_the_depth(
    more, moments, vectors, tmp_path, monkeypatch, repository
):
    queries = pd.DataFrame({"query_id": ["14", "12"], "query": ["He waves.", "She sits."]})
    whole, alone = (rank(queries, moments, vectors, depth) for depth in (5, 2))
    tables_of = [
        candidates(ranked, Candidates(top=2, batch=1, depth=5, **HOW)) for ranked in (whole, alone)
    ]
    pd.testing.assert_frame_equal(*tables_of)
    monkeypatch.chdir(tmp_path)
    tables.NEIGHBOURS.write(whole)
    params = load(repository / "params.yaml")
    changes = {
        "candidates": params.candidates.model_copy(update={"top": 2}),
        "judge": params.judge.model_copy(update={"pool_top": more}),
    }
    below = read_machine_pool(params.model_copy(update=changes))
    own = whole[whole["rank"].between(3, 2 + more)]
    assert below.values.tolist() == own.values.tolist()


def test_no_queries_no_candidates(moments, vectors):
    queries = pd.DataFrame({"query_id": [], "query": []}, dtype="str")
    assert candidates(rank(queries, moments, vectors, 4), FOUR).empty


@pytest.fixture
def write_sets(tmp_path, monkeypatch, moments, vectors):
    """Return a function that writes training sets of the given queries into a folder."""
    monkeypatch.chdir(tmp_path)

    def write(queries: dict[str, str], sizes: list[int]) -> dict[int, object]:
        table = pd.DataFrame({"query_id": queries.keys(), "query": queries.values()}, dtype="str")
        neighbours = search.search(table["query"], moments, vectors, max(sizes))
        training = Training.from_frames(table, moments, pd.Series({"a": 30.0, "b": 40.0}))
        counts = []
        assert (
            write_training_sets(training, neighbours, sizes, counts.append)
            == len(queries)
            == sum(counts)
        )
        return {size: json.loads(training_path(size).read_text()) for size in sizes}

    return write


def test_training_files_have_the_shape_that_the_published_code_reads(write_sets):
    sets = write_sets({"13": "He sits.", "11": "She waves."}, [1, 3])
    moment = {
        "video_name": "b",
        "timestamp": [3.0, 4.5],
        "duration": 40.0,
        "caption": "He sits.",
        "similarity": 1.0,
    }
    assert sets[1][0] == {"query_id": 13, "query": "He sits.", "relevant_moment": [moment]}
    assert [len(query["relevant_moment"]) for query in sets[3]] == [3, 3]
    similarities = [moment["similarity"] for moment in sets[3][0]["relevant_moment"]]
    assert similarities == [1.0, 0.984808, 0.5]


def test_a_smaller_set_is_the_head_of_a_larger_one(write_sets):
    sets = write_sets({"13": "He sits.", "10": "He waves."}, [2, 5])
    for small, large in zip(sets[2], sets[5], strict=True):
        assert small["relevant_moment"] == large["relevant_moment"][:2]


def test_a_query_has_an_integer_and_beside_it_its_own_id_where_that_is_none(write_sets):
    """The published trainer makes a tensor of it, and a text stops that."""
    sets = write_sets({"13": "He sits.", "qid_0": "He waves.", "0013": "She sits."}, [1])[1]
    assert torch.tensor([query["query_id"] for query in sets]).dtype == torch.int64
    assert [query.get("query_key") for query in sets] == [None, "qid_0", "0013"]
    assert sets[0]["query_id"] == 13
    alone = write_sets({"qid_0": "He waves."}, [1])[1]
    assert alone == [sets[1]], "its number does not depend on other queries"


def test_two_ids_of_one_number_are_refused(write_sets, monkeypatch):
    for module in (ids, training_sets):
        monkeypatch.setattr(module, "query_number", len)
    with pytest.raises(MomentRankError, match="'qid_0' and 'qid_1' have the same number, 5"):
        write_sets({"qid_0": "He sits.", "qid_1": "He waves."}, [1])


@pytest.mark.parametrize("block", [1, 2, 3, 8192])
def test_parquet_holds_what_the_json_holds_however_the_search_came(
    tmp_path, monkeypatch, moments, vectors, block
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training_sets, "GROUP", 2)
    monkeypatch.setattr(training_sets.group_queries, "__defaults__", (2,))
    texts = ["He sits.", "He waves.", "She sits.", "She waves.", "He sits."]
    queries = pd.DataFrame({"query_id": ["13", "qid_0", "7", "b", "9"], "query": texts})
    searched = Pool.build(moments, vectors.rows(moments["caption"]), 3)
    neighbours = search.nearest(
        vectors.vectors, vectors.rows(queries["query"]), searched, search.Execution(block)
    )
    training = Training.from_frames(queries, moments, pd.Series({"a": 30.0, "b": 40.0}))
    assert write_training_sets(training, neighbours, [1, 3]) == 5
    for size in (1, 3):
        read = pq.ParquetFile(training_path(size, "parquet"))
        assert [read.metadata.row_group(n).num_rows for n in range(3)] == [2, 2, 1]
        rows = read.read().to_pylist()
        assert [row.pop("query_key") for row in rows] == queries["query_id"].tolist()
        json_rows = json.loads(training_path(size).read_text())
        assert rows == [
            {k: v for k, v in json_row.items() if k != "query_key"} for json_row in json_rows
        ]


def test_no_training_queries_is_an_empty_list(write_sets):
    assert write_sets({}, [1, 2]) == {1: [], 2: []}
    assert pq.read_table(training_path(2, "parquet")).num_rows == 0


def test_a_failure_in_the_middle_leaves_no_half_file(tmp_path, monkeypatch, moments, vectors):
    monkeypatch.chdir(tmp_path)
    queries = pd.DataFrame({"query_id": ["1"], "query": ["He sits."]})

    def search_and_fail():
        yield from search.search(queries["query"], moments, vectors, 2)
        raise RuntimeError("the disk is gone")

    training = Training.from_frames(queries, moments, pd.Series({"a": 30.0, "b": 40.0}))
    with pytest.raises(RuntimeError, match="the disk is gone"):
        write_training_sets(training, search_and_fail(), [1, 20])
    assert list(tmp_path.rglob("*train*")) == []


def test_video_corpus_is_name_to_duration_and_index_in_the_order_of_names():
    videos = tables.VIDEOS.check(
        pd.DataFrame({"video_id": ["b", "a"], "duration": [40.0, 30.5], "path": [None, "a.mp4"]})
    )
    assert list(pseudo.video_corpus(videos).items()) == [("a", (30.5, 0)), ("b", (40.0, 1))]


def test_sizes_that_dvc_does_not_expect_are_told_before_the_work(repository, tmp_path):
    dag = repository / "dvc.yaml"
    pseudo.refuse_undeclared([1, 20, 40], dag)
    with pytest.raises(UsageError, match=r"train_top05\.json: add it to the outs of `pseudo`"):
        pseudo.refuse_undeclared([1, 5, 20, 40], dag)
    with pytest.raises(UsageError, match=r"train_top40\.json: remove it from the outs"):
        pseudo.refuse_undeclared([1, 20], dag)
    assert files.read_yaml(dag)["stages"]["pseudo"]["outs"]


def test_the_manifest_of_the_training_files_tells_hash_and_rows(write_sets):
    write_sets({"13": "He sits.", "11": "She waves."}, [1])
    path = training_path(1)
    entry = pseudo.manifest({path: 2})["files"]["train_top01.json"]
    assert entry["rows"] == 2
    assert entry["bytes"] == path.stat().st_size
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("split", ["val", "test"])
def test_a_training_text_that_is_tested_on_is_refused(split):
    queries = pd.DataFrame(
        [("1", "He waves.", "train"), ("2", "HE WAVES. ", split), ("3", "He waves.", "train")],
        columns=["query_id", "query", "split"],
    )
    with pytest.raises(captions.SharedError, match=rf"1 \(train\) and 2 \({split}\)"):
        captions.refuse_shared_texts(queries, tables.QUERIES.path)
    captions.refuse_shared_texts(queries.drop(index=1), tables.QUERIES.path)
