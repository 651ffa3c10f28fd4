"""Candidates and training sets in shards: the same files, byte for byte."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from momentrank.errors import MomentRankError
from pipeline import candidates, pseudo
from pipeline.core import tables
from pipeline.distribution import training_sets
from pipeline.retrieval import embeddings, sharded_search
from pipeline.retrieval.similarity import unit_on_grid

MOMENTS, TEXTS, VIDEOS = 400, 150, 30


@pytest.fixture
def corpus(folder, repository):
    """Write the tables and embeddings of 400 moments, with ties and repeats, into a folder."""
    random = np.random.default_rng(7)
    texts = [f"caption {number}" for number in range(TEXTS)]
    place = random.integers(0, 300, size=MOMENTS)
    frame = pd.DataFrame(
        {
            "moment_id": [f"{number:03}" for number in random.permutation(MOMENTS)],
            "video_id": [f"video {number % VIDEOS}" for number in place],
            "start": place * 0.5,
            "end": place * 0.5 + 3.0,
            "description": "It happens.",
            "modality": "v",
            "caption": [texts[number] for number in random.integers(0, TEXTS, size=MOMENTS)],
        }
    )
    tables.MOMENTS.write(frame[tables.MOMENTS.columns])
    facts = {"source": "none", "model": "", "prompt": "", "rounds": 0, "status": "passed"}
    facts |= {"similarity": None, "name_score": None}
    tables.CAPTIONS.write(frame[["moment_id", "caption"]].assign(**facts)[tables.CAPTIONS.columns])
    names = sorted(set(frame["video_id"]))
    tables.VIDEOS.write(pd.DataFrame({"video_id": names, "duration": 200.0, "path": None}))
    queries = frame.drop_duplicates("caption")[["moment_id", "caption"]]
    queries = queries.set_axis(["query_id", "query"], axis=1)
    split = np.where(np.arange(len(queries)) < 40, "test", "train")
    tables.QUERIES.write(queries.assign(split=split))
    centres = random.standard_normal((12, 24))
    ids, _ = embeddings.distinct(texts)
    noise = random.choice([0, 1e-6, 1e-2], size=(len(ids), 1))
    vectors = centres[random.integers(12, size=len(ids))]
    store = embeddings.Store(embeddings.FOLDER, "made up")
    store.finish(
        ids, [(ids, unit_on_grid(vectors + noise * random.standard_normal(vectors.shape)))]
    )
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(repository / name, name)
    return folder


def set_engine(shards):
    """Change the engine of params.yaml; its tasks run in this process."""
    before, found, engine = Path("params.yaml").read_text().partition("\nengine:")
    engine = re.sub(r"  shards: \d+", f"  shards: {shards}", engine)
    engine = re.sub(r"  workers: \d+", "  workers: 1", engine)
    Path("params.yaml").write_text(before + found + engine)


def run_stages(shards):
    """Run both stages in so many shards; return the bytes of all they write."""
    set_engine(shards)
    for stage in (candidates, pseudo):
        stage.main()
    kept = {path for path in Path(".cache").rglob("*") if path.is_file()}
    assert kept == set(), "parts go when the stage has ended"
    return {path: path.read_bytes() for path in Path("datasets").rglob("*") if path.is_file()}


def test_one_three_and_eight_shards_write_the_same_bytes(corpus, monkeypatch):
    monkeypatch.setattr(sharded_search, "QUERIES", 50)
    monkeypatch.setattr(sharded_search, "MERGED", 1000)
    monkeypatch.setattr(training_sets.group_queries, "__defaults__", (30,))
    whole = run_stages(1)
    names = {path.name for path in whole}
    assert {"candidates.parquet", "similarity_by_rank.csv", "train_top40.parquet"} <= names
    assert {"train_top40.json", "train_manifest.json", "pseudo.json"} <= names
    for shards in (3, 8):
        assert run_stages(shards) == whole


def test_a_run_that_is_killed_goes_on_with_the_parts_that_are_there(corpus, monkeypatch):
    set_engine(4)
    find, calls = sharded_search.find_nearest, []

    def killed(given, path):
        calls.append(given.key)
        if len(calls) == 3:
            raise KeyboardInterrupt
        find(given, path)

    monkeypatch.setattr(sharded_search, "find_nearest", killed)
    with pytest.raises(KeyboardInterrupt):
        candidates.main()
    assert not tables.CANDIDATES.path.exists()
    candidates.main()
    assert len(calls) == 5
    assert calls[2] in calls[3:]
    in_shards = tables.CANDIDATES.path.read_bytes()
    set_engine(1)
    candidates.main()
    assert tables.CANDIDATES.path.read_bytes() == in_shards


def test_a_shard_that_fails_is_the_stages_error_and_leaves_no_table(corpus, monkeypatch):
    set_engine(2)

    def fail(given, path):
        raise MomentRankError("the vectors are gone")

    monkeypatch.setattr(sharded_search, "find_nearest", fail)
    with pytest.raises(MomentRankError, match="the vectors are gone"):
        pseudo.main()
    assert not Path("datasets/release").exists()
