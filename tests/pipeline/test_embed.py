"""Embeddings: each text once, resumed after a kill, pruned to what is wanted."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from sharded_corpus import read_all
from support.params_file import set_params

from pipeline.core import tables
from pipeline.core.parallel import one_thread
from pipeline.core.params import load
from pipeline.embed import embed, main
from pipeline.retrieval import embeddings
from pipeline.retrieval.chunks import Encoding
from pipeline.retrieval.embeddings import Embeddings, EmbeddingsError, Store
from pipeline.retrieval.similarity import unit_on_grid

TEXTS = 192


class CountingEncoder:
    """An encoder whose vector of a text follows from the text; it remembers what it was asked."""

    def __init__(self, fail_after=10**9):
        self.asked, self.batches = [], []
        self.fail_after = fail_after

    def encode(self, texts):
        if len(self.asked) >= self.fail_after:
            raise KeyboardInterrupt
        self.asked += texts
        self.batches.append(list(texts))
        seeds = [int(text_id, 16) % 2**32 for text_id in embeddings.text_ids(texts)]
        return unit_on_grid(
            np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds])
        )


@pytest.fixture
def run(engine, tmp_path):
    """Return a function that embeds texts with an encoder, by default into the folder `store`."""

    def run(texts, encoder, chunk=8, name="x", folder=tmp_path / "store"):
        return embed(texts, Encoding(lambda: encoder, name, chunk), Store(folder, name), engine)

    return run


def read_vectors(folder, texts):
    finished = Embeddings.open(folder)
    return finished.vectors[finished.rows(pd.Series(texts))]


def test_a_text_that_occurs_twice_is_encoded_once(run, tmp_path):
    encoder = CountingEncoder()
    assert run(["b", "a", "b"], encoder) == 2
    assert sorted(encoder.asked) == ["a", "b"]
    np.testing.assert_array_equal(
        read_vectors(tmp_path / "store", ["a", "b", "a"]), CountingEncoder().encode(["a", "b", "a"])
    )


def test_only_new_texts_are_encoded_and_unwanted_ones_are_left_out(run, tmp_path):
    run(["a", "b", "c"], CountingEncoder())
    encoder = CountingEncoder()
    assert run(["b", "c", "d"], encoder) == 1
    assert encoder.asked == ["d"]
    assert run(["d", "b"], encoder) == 0
    assert encoder.asked == ["d"]
    assert len(Embeddings.open(tmp_path / "store").vectors) == 2
    with pytest.raises(EmbeddingsError, match=r"no embedding of 'a'; run `dvc repro embed`"):
        read_vectors(tmp_path / "store", ["b", "a"])


def test_another_model_encodes_everything_again(run, tmp_path):
    run(["a", "b"], CountingEncoder())
    assert run(["a", "b"], CountingEncoder(), name="y") == 2
    assert len(list((tmp_path / "store").glob("vectors-*.npy"))) == 1


def test_the_same_texts_give_the_same_bytes_whatever_came_before(run, tmp_path):
    straight, roundabout = tmp_path / "straight", tmp_path / "roundabout"
    run(["a", "b", "c"], CountingEncoder(), folder=straight)
    for texts in (["c", "z"], ["b", "z"], ["c", "b", "a"]):
        run(texts, CountingEncoder(), chunk=1, folder=roundabout)
    files = [
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (straight, roundabout)
    ]
    assert files[0] == files[1]


def test_an_interrupted_run_goes_on_and_leaves_the_finished_array_alone(run, tmp_path):
    texts = ["old", "aaaa", "bbb", "cc", "d"]
    run(["old"], CountingEncoder())
    with pytest.raises(KeyboardInterrupt):
        run(texts, CountingEncoder(fail_after=2), chunk=2)
    assert len(Embeddings.open(tmp_path / "store").vectors) == 1
    encoder = CountingEncoder()
    run(texts, encoder, chunk=2)
    assert encoder.asked == ["cc", "d"]
    assert not (tmp_path / "parts" / "embed").exists()


def test_no_embeddings_says_what_to_do(tmp_path):
    with pytest.raises(EmbeddingsError, match="`dvc repro embed` makes them"):
        Embeddings.open(tmp_path)


@pytest.mark.parametrize("shards", [3, 8])
def test_shards_encode_the_same_chunks(engine, tmp_path, shards):
    texts = [f"text {number}" * (number % 5) for number in range(50)]
    unsharded, sharded = CountingEncoder(), CountingEncoder()
    for encoder, number in ((unsharded, 1), (sharded, shards)):
        embed(
            texts,
            Encoding(lambda encoder=encoder: encoder, "x", 4),
            Store(tmp_path / str(number), "x"),
            engine.model_copy(update={"shards": number, "workers": 1}),
        )
    assert sorted(unsharded.batches) == sorted(sharded.batches)


def test_nothing_to_embed_is_a_clear_error(run):
    with pytest.raises(EmbeddingsError, match="no caption is in use"):
        run([], CountingEncoder())


def damage(path, how):
    content = path.read_bytes()
    path.unlink()
    if how != "gone":
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "other": b"{}"}[how])


@pytest.mark.parametrize("how", ["gone", "empty", "cut", "other"])
@pytest.mark.parametrize("name", ["index.json", "ids-*.npy", "vectors-*.npy"])
def test_damaged_embeddings_say_what_to_do(run, tmp_path, name, how):
    run(["a", "b"], CountingEncoder())
    damage(next((tmp_path / "store").glob(name)), how)
    with pytest.raises(EmbeddingsError, match="`dvc repro embed`"):
        Embeddings.open(tmp_path / "store")


def test_killed_while_the_array_is_put_together_nothing_is_encoded_again(
    run, tmp_path, monkeypatch
):
    texts = ["aaaa", "bbb", "cc", "d"]
    with monkeypatch.context() as patched:
        patched.setattr(np.memmap, "flush", lambda self: sys.exit("killed"))
        with pytest.raises(SystemExit):
            run(texts, CountingEncoder(), chunk=2)
    assert not (tmp_path / "store" / "index.json").exists()
    encoder = CountingEncoder()
    run(texts, encoder, chunk=2)
    assert encoder.asked == []
    np.testing.assert_array_equal(
        read_vectors(tmp_path / "store", texts), CountingEncoder().encode(texts)
    )
    assert len(list((tmp_path / "store").iterdir())) == 3


@pytest.fixture
def project(tmp_path, tiny_bert, repository, monkeypatch):
    """Be in a folder in which the stage `embed` has `TEXTS` to do with a tiny model."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(repository / "params.yaml", tmp_path)
    set_params("embed", model=str(tiny_bert), max_tokens=64, batch_size=2)
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
@pytest.mark.slow  # two processes import torch and what stands on it
def test_the_stage_writes_the_same_bytes_in_processes(project, monkeypatch):
    # One thread: two that wait for each other on a busy machine take minutes for small batches.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    set_params("engine", shards=3, workers=2)
    main()
    by_processes = read_all(embeddings.FOLDER)
    shutil.rmtree(embeddings.FOLDER)
    set_params("engine", shards=1)
    with one_thread():
        main()
    assert read_all(embeddings.FOLDER) == by_processes


def test_the_number_of_threads_changes_no_bit(repository):
    import torch

    from pipeline.retrieval import encoder

    params = load(repository / "params.yaml").embed
    model = encoder.load(encoder.locate("builtin", None), params)
    texts = [f"a man walks {'with a letter ' * (number % 9)}{number}" for number in range(18)]
    before, vectors = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            vectors.append(model.encode(texts))
    finally:
        torch.set_num_threads(before)
    for same in vectors[1:]:
        np.testing.assert_array_equal(vectors[0], same)
