"""Candidates and training sets in shards: the same files, byte for byte."""

import os
from pathlib import Path

import pandas as pd
import pytest
from sharded_corpus import ingest_corpus, read_all, run_stages, write_corpus
from support import stand_in_slurm
from support.params_file import set_params

from pipeline import candidates, ingest, pseudo
from pipeline.core import files, tables
from pipeline.core.engine import session
from pipeline.core.params import load
from pipeline.core.storage import database, mapped
from pipeline.distribution import training_sets
from pipeline.retrieval import array_on_disk, sharded_search


@pytest.fixture
def corpus(folder, repository):
    write_corpus(repository)
    return folder


def run_both(shards, memory=4.0):
    """Run candidates and pseudo in so many shards; return the bytes of all they write."""
    set_params("engine", shards=shards, workers=1, table_memory=memory)
    for stage in (candidates, pseudo):
        stage.main()
    parts = {path for path in Path(".cache").rglob("*") if path.is_file()}
    assert parts == set(), "parts go when the stage has ended"
    return read_all("datasets")


def test_any_number_of_shards_writes_the_same_bytes(corpus, monkeypatch):
    monkeypatch.setattr(sharded_search, "QUERIES", 50)
    monkeypatch.setattr(sharded_search, "MERGED", 1000)
    monkeypatch.setattr(training_sets.group_queries, "__defaults__", (30,))
    whole = run_both(1)
    names = {path.name for path in whole}
    assert {"candidates.parquet", "similarity_by_rank.csv", "train_top40.parquet"} <= names
    assert {"train_top40.json", "train_manifest.json", "pseudo.json"} <= names
    for shards in (3, 100):  # more than there are videos
        assert run_both(shards) == whole
    # Tables past memory, mapped in batches of 70 rows; pages of vectors are given back.
    for module in (database, mapped):
        monkeypatch.setattr(module, "ROWS", 70)
    monkeypatch.setattr(array_on_disk, "RELEASED", 0)
    monkeypatch.setattr(array_on_disk, "GATHERED", 30)
    for shards in (1, 3):
        assert run_both(shards, 1e-6) == whole


def test_what_a_system_reads_has_the_whole_pool_and_no_caption_of_a_judged_query(corpus):
    queries, moments = tables.QUERIES.read(), tables.MOMENTS.read().set_index("moment_id")
    queries.loc[queries["moment_id"] == queries["moment_id"].iloc[0], "query"] = "An older text."
    tables.QUERIES.write(queries)
    pseudo.main()

    pool = pd.read_parquet(tables.RELEASE / "corpus/corpus.parquet").set_index("_id")
    assert pool.index.tolist() == sorted(moments.index)
    assert set(pool["text"]) == {""}
    assert pool["title"].tolist() == moments["video_id"].reindex(pool.index).tolist()
    assert set(pool["duration"]) == {200.0}
    entry = files.read_json(pseudo.MANIFEST)["files"]["corpus/corpus.parquet"]
    assert entry["rows"] == len(moments)

    judged = queries[queries["split"] == "test"]
    texts = tables.CAPTIONS.read().set_index("moment_id")["caption"]
    hidden = texts.isin(judged["query"]) | texts.index.isin(judged["moment_id"])
    segments = moments[["video_id", "start", "end"]].itertuples(index=False, name=None)
    expected = set(zip(segments, texts.mask(hidden, "").reindex(moments.index), strict=True))
    in_json = {
        ((moment["video_name"], *moment["timestamp"]), moment["caption"])
        for query in files.read_json(training_sets.training_path(40))
        for moment in query["relevant_moment"]
    }
    lists = pd.read_parquet(training_sets.training_path(40, "parquet"))["relevant_moment"]
    in_parquet = {
        ((moment["video_name"], *moment["timestamp"]), moment["caption"])
        for moments_of_query in lists
        for moment in moments_of_query
    }
    assert in_json == in_parquet
    assert in_json <= expected
    assert "" in {caption for _, caption in in_json}


def test_a_corpus_is_read_alike_in_one_three_and_eight_shards_and_in_none(corpus, monkeypatch):
    whole = ingest_corpus(monkeypatch)
    assert len(whole) == 4
    assert whole[ingest.REJECTED].count(b"\n") == 1 + 10
    for shards in (1, 3, 8):
        set_params("engine", shards=shards, workers=1, table_memory=1e-6)
        assert ingest_corpus(monkeypatch) == whole


@pytest.mark.integration
@pytest.mark.slow
def test_every_stage_writes_the_same_bytes_by_processes_and_by_slurm(
    corpus, repository, numbered, monkeypatch
):
    pytest.importorskip("submitit", reason="make engines")
    monkeypatch.setattr("pipeline.core.engine.on_slurm.POLL_SECONDS", 0.1)
    for name, value in stand_in_slurm.install(corpus / "slurm", kills=1).items():
        monkeypatch.setenv(name, value)
    path = os.pathsep.join([str(repository), str(repository / "tests")])
    monkeypatch.setenv("PYTHONPATH", path)
    engine = load().engine
    whole = run_stages(engine, numbered, monkeypatch)
    assert len(whole["clips"]) == 4
    shared = corpus / "shared"
    # Each job of Slurm is a process of its own: two of them are enough.
    for kind, folder, shards in (("local", engine.folder, 3), ("slurm", str(shared), 2)):
        changes = {"kind": kind, "folder": folder, "shards": shards, "workers": 2}
        with session.keep_open():  # processes import what stages need once
            assert run_stages(engine.model_copy(update=changes), numbered, monkeypatch) == whole
    assert list(shared.iterdir()) == []
