"""Embeddings: each text once, resumed after a kill, pruned to what is wanted."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from pipeline.core import tables
from pipeline.core.parallel import one_thread
from pipeline.embed import embed, main
from pipeline.retrieval import embeddings
from pipeline.retrieval.embeddings import Embeddings, EmbeddingsError, Store
from pipeline.retrieval.similarity import unit_on_grid

TEXTS = 192


class CountingEncoder:
    """An encoder whose vector of a text follows from the text; it remembers what it was asked."""

    def __init__(self, fail_after=10**9):
        self.asked = []
        self.fail_after = fail_after

    def encode(self, texts):
        if len(self.asked) >= self.fail_after:
            raise KeyboardInterrupt
        self.asked += texts
        seeds = [int(text_id, 16) % 2**32 for text_id in embeddings.text_ids(texts)]
        return unit_on_grid(
            np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds])
        )

    def count_cut(self, texts):
        return 0


def vectors_of(folder, texts):
    finished = Embeddings.open(folder)
    return finished.vectors[finished.rows(pd.Series(texts))]


def test_a_text_that_occurs_twice_is_encoded_once(tmp_path):
    encoder = CountingEncoder()
    assert embed(["b", "a", "b"], encoder, Store(tmp_path, "x"), chunk=8) == 2
    assert sorted(encoder.asked) == ["a", "b"]
    np.testing.assert_array_equal(
        vectors_of(tmp_path, ["a", "b", "a"]), CountingEncoder().encode(["a", "b", "a"])
    )


def test_only_new_texts_are_encoded_and_unwanted_ones_are_left_out(tmp_path):
    store = Store(tmp_path, "x")
    embed(["a", "b", "c"], CountingEncoder(), store, chunk=8)
    encoder = CountingEncoder()
    assert embed(["b", "c", "d"], encoder, store, chunk=8) == 1
    assert encoder.asked == ["d"]
    assert len(Embeddings.open(tmp_path).vectors) == 3
    with pytest.raises(EmbeddingsError, match=r"no embedding of 'a'; run `dvc repro embed`"):
        vectors_of(tmp_path, ["b", "a"])


def test_another_model_encodes_everything_again(tmp_path):
    embed(["a", "b"], CountingEncoder(), Store(tmp_path, "x"), chunk=8)
    assert embed(["a", "b"], CountingEncoder(), Store(tmp_path, "y"), chunk=8) == 2
    assert len(list(tmp_path.glob("vectors-*.npy"))) == 1


def test_the_same_texts_give_the_same_bytes_whatever_came_before(tmp_path):
    straight, roundabout = tmp_path / "straight", tmp_path / "roundabout"
    embed(["a", "b", "c"], CountingEncoder(), Store(straight, "x"), chunk=8)
    for texts in (["c", "z"], ["b", "z"], ["c", "b", "a"]):
        embed(texts, CountingEncoder(), Store(roundabout, "x"), chunk=1)
    files = [
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (straight, roundabout)
    ]
    assert files[0] == files[1]


def test_an_interrupted_run_goes_on_and_leaves_the_finished_array_alone(tmp_path):
    store = Store(tmp_path, "x")
    embed(["old"], CountingEncoder(), store, chunk=2)
    with pytest.raises(KeyboardInterrupt):
        embed(["old", "aaaa", "bbb", "cc", "d"], CountingEncoder(fail_after=2), store, chunk=2)
    assert len(Embeddings.open(tmp_path).vectors) == 1
    encoder = CountingEncoder()
    embed(["old", "aaaa", "bbb", "cc", "d"], encoder, store, chunk=2)
    assert encoder.asked == ["cc", "d"]
    assert not (tmp_path / "partial").exists()


def test_no_embeddings_says_what_to_do(tmp_path):
    with pytest.raises(EmbeddingsError, match="`dvc repro embed` makes them"):
        Embeddings.open(tmp_path)


def test_nothing_to_embed_is_a_clear_error(tmp_path):
    with pytest.raises(EmbeddingsError, match="no caption is in use"):
        embed([], CountingEncoder(), Store(tmp_path, "x"), chunk=2)


def damaged(path, how):
    content = path.read_bytes()
    path.unlink()
    if how != "gone":
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "other": b"{}"}[how])


@pytest.mark.parametrize("how", ["gone", "empty", "cut", "other"])
@pytest.mark.parametrize("name", ["index.json", "ids-*.npy", "vectors-*.npy"])
def test_damaged_embeddings_say_what_to_do(tmp_path, name, how):
    embed(["a", "b"], CountingEncoder(), Store(tmp_path, "x"), chunk=8)
    damaged(next(tmp_path.glob(name)), how)
    with pytest.raises(EmbeddingsError, match="`dvc repro embed`"):
        Embeddings.open(tmp_path)


@pytest.mark.parametrize("how", ["gone", "empty", "cut", "other"])
def test_a_damaged_chunk_is_encoded_again(tmp_path, how):
    store = Store(tmp_path, "x")
    with pytest.raises(KeyboardInterrupt):
        embed(["aaaa", "bbb", "cc", "d", ""], CountingEncoder(fail_after=4), store, chunk=2)
    chunks = sorted(tmp_path.glob("partial/*/*.npz"))
    damaged(chunks[0], how)
    encoder = CountingEncoder()
    embed(["aaaa", "bbb", "cc", "d"], encoder, store, chunk=2)
    assert len(encoder.asked) == 2
    np.testing.assert_array_equal(vectors_of(tmp_path, ["d"]), CountingEncoder().encode(["d"]))


def test_killed_while_the_array_is_put_together_nothing_is_encoded_again(tmp_path, monkeypatch):
    store, texts = Store(tmp_path, "x"), ["aaaa", "bbb", "cc", "d"]
    with monkeypatch.context() as patched:
        patched.setattr(np.memmap, "flush", lambda self: sys.exit("killed"))
        with pytest.raises(SystemExit):
            embed(texts, CountingEncoder(), store, chunk=2)
    assert not (tmp_path / "index.json").exists()
    encoder = CountingEncoder()
    embed(texts, encoder, store, chunk=2)
    assert encoder.asked == []
    np.testing.assert_array_equal(vectors_of(tmp_path, texts), CountingEncoder().encode(texts))
    assert len(list(tmp_path.iterdir())) == 3


@pytest.fixture
def project(tmp_path, tiny_bert, repository):
    """Return a folder in which the stage `embed` has `TEXTS` to do with a tiny model."""
    text = (repository / "params.yaml").read_text()
    text = re.sub(r"model: builtin.*", f"model: {tiny_bert}", text, count=1)
    text = text.replace("max_tokens: 256", "max_tokens: 64")
    (tmp_path / "params.yaml").write_text(re.sub("batch_size: 64", "batch_size: 2", text))
    captions = pd.DataFrame(
        {
            "moment_id": [f"{i:05}" for i in range(TEXTS)],
            "caption": [f"a man walks {'with ' * (i % 9)}{i}" for i in range(TEXTS)],
        }
    ).assign(source="none", rounds=0, status="passed")
    unknown = dict.fromkeys(["model", "prompt", "similarity", "name_score"])
    captions = captions.assign(**unknown)[tables.CAPTIONS.columns]
    tables.CAPTIONS.write(captions, tmp_path / tables.CAPTIONS.path)
    tables.QUERIES.write(tables.QUERIES.empty(), tmp_path / tables.QUERIES.path)
    return tmp_path


@pytest.mark.integration
def test_killed_in_the_middle_it_does_not_start_over(project, repository, monkeypatch, capsys):
    folder = project / embeddings.FOLDER
    monkeypatch.chdir(project)
    # One thread: two that wait for each other on a busy machine take minutes for small batches.
    env = os.environ | {"PYTHONPATH": str(repository), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-m", "pipeline.embed"], env=env) as killed:
        while len(list(folder.glob("partial/*/*.npz"))) < 2:
            assert killed.poll() is None
            time.sleep(0.005)
        killed.kill()
    done = 32 * len(list(folder.glob("partial/*/*.npz")))
    assert 0 < done < TEXTS, "it was killed in the middle"
    assert not (folder / "index.json").exists()

    with one_thread():
        main()
    assert f"{TEXTS - done} of {TEXTS} texts encoded" in capsys.readouterr().err
    array = next(folder.glob("vectors-*.npy")).read_bytes()
    shutil.rmtree(folder)
    with one_thread():
        main()
    assert next(folder.glob("vectors-*.npy")).read_bytes() == array, "and killed or not, the same"
