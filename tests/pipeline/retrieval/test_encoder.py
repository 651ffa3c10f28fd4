"""The sentence encoder: its pooling against transformers itself, and what it refuses."""

import numpy as np
import pytest
from lazy import Lazy

from pipeline.core.sections import Embed

encoder = Lazy("pipeline.retrieval.encoder")
torch, transformers = Lazy("torch"), Lazy("transformers")

TEXTS = ["a man sits on the sofa", "a woman", "person walks with his letter and coffee"]


def params(**changes):
    values = {"model": "builtin", "revision": None, "pooling": "mean", "precision": "float32"}
    return Embed(**values | {"device": "cpu", "batch_size": 2, "max_tokens": 32} | changes)


def by_transformers(folder, pooling):
    """Return what transformers computes for each text alone, by the definition of a pooling."""
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = []
    for text in TEXTS:
        with torch.no_grad():
            output = model(**tokenizer(text, return_tensors="pt"))
        rows.append(
            {
                "mean": output.last_hidden_state[0].mean(dim=0),
                "cls": output.last_hidden_state[0, 0],
                "pooler": output.pooler_output[0],
            }[pooling].numpy()
        )
    vectors = np.stack(rows)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("pooling", ["mean", "cls", "pooler"])
def test_pooling_is_what_transformers_computes(tiny_bert, pooling):
    model = encoder.load(tiny_bert, params(pooling=pooling))
    np.testing.assert_allclose(model.encode(TEXTS), by_transformers(tiny_bert, pooling), atol=1e-6)


def test_a_model_without_a_trained_pooler_is_refused(tiny_bert, tmp_path):
    bert = transformers.BertModel.from_pretrained(tiny_bert, add_pooling_layer=False)
    bert.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(tmp_path)
    with pytest.raises(encoder.EncoderError, match="no trained pooler"):
        encoder.load(tmp_path, params(pooling="pooler"))
    assert encoder.load(tmp_path, params(pooling="cls")).encode(["a man"]).shape == (1, 32)


def test_an_architecture_without_a_pooler_is_refused(tiny_bert, tmp_path):
    config = transformers.DistilBertConfig(
        vocab_size=24, dim=32, hidden_dim=64, n_layers=1, n_heads=2
    )
    transformers.DistilBertModel(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(tmp_path)
    with pytest.raises(encoder.EncoderError, match="no trained pooler"):
        encoder.load(tmp_path, params(pooling="pooler"))


def test_a_folder_without_a_model_is_a_clear_error(tmp_path):
    with pytest.raises(encoder.EncoderError, match=r"embed\.model"):
        encoder.load(tmp_path, params())


def test_a_device_that_is_not_there_is_a_clear_error(tiny_bert):
    if torch.cuda.is_available():
        pytest.skip("this machine has what the test lacks")
    with pytest.raises(encoder.EncoderError, match=r"embed\.device: .* 'cuda:7'"):
        encoder.load(tiny_bert, params(device="cuda:7"))


@pytest.mark.usefixtures("offline")
def test_a_hub_id_that_cannot_be_had_says_what_to_do():
    with pytest.raises(encoder.EncoderError, match=r"name a folder, or `builtin`"):
        encoder.locate("nobody/no-such-model", None)


@pytest.mark.parametrize("shards", [1, 3, 8])
def test_shards_encode_the_same_batches(tiny_bert, engine, monkeypatch, shards):
    from pipeline.retrieval.sharded_encoder import ShardedEncoder

    monkeypatch.setattr("pipeline.core.engine.text_chunks.BATCHES", 1)
    engine = engine.model_copy(update={"shards": shards, "workers": 1})
    small = params(batch_size=4)
    texts = [f"a man walks {'with his letter ' * (n % 7)}" for n in range(40)]
    sharded = ShardedEncoder(tiny_bert, small, "rewrite", engine)
    whole = encoder.load(tiny_bert, small)
    assert np.array_equal(sharded.encode(texts), whole.encode(texts))


def test_longer_texts_are_counted_not_passed_over(tiny_bert):
    model = encoder.load(tiny_bert, params(max_tokens=8))
    six, seven = "a man sits on the sofa", "a man sits on the sofa with"
    assert encoder.count_cut(tiny_bert, [six, seven, "a"], 8) == 1
    np.testing.assert_allclose(*model.encode([seven, seven + " a letter"]), atol=1e-6)


def test_a_text_of_many_tokens_and_few_characters_is_counted_too():
    folder = encoder.locate("builtin", None)
    assert (
        encoder.count_cut(folder, ["\uac01" * 30], 64) == 1
    )  # a syllable is three tokens to this model


def test_more_tokens_than_the_model_reads_is_a_clear_error(tiny_bert):
    with pytest.raises(encoder.EncoderError, match="reads 64 tokens at most, not 65"):
        encoder.load(tiny_bert, params(max_tokens=65))


@pytest.mark.parametrize("change", [{"pooling": "cls"}, {"precision": "bf16"}, {"max_tokens": 31}])
def test_whatever_decides_a_vector_is_in_the_fingerprint(tiny_bert, change):
    same = encoder.fingerprint(tiny_bert, params())
    assert same == encoder.fingerprint(tiny_bert, params(batch_size=9, device="auto"))
    assert same != encoder.fingerprint(tiny_bert, params(**change))


def test_other_weights_have_another_fingerprint(tiny_bert, tmp_path):
    for path in tiny_bert.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert encoder.fingerprint(tmp_path, params()) == encoder.fingerprint(tiny_bert, params())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    assert encoder.fingerprint(tmp_path, params()) != encoder.fingerprint(tiny_bert, params())


def test_the_packaged_model_knows_what_is_alike():
    model = encoder.load(encoder.locate("builtin", None), params())
    woman, lady, train = model.encode(
        ["A woman drinks coffee.", "A lady has a cup of coffee.", "A train leaves the station."]
    )
    assert woman @ lady > 0.7
    assert woman @ train < 0.3


def test_bf16_gives_nearly_the_same_vectors():
    texts = ["A woman drinks coffee.", "Two men hug in the kitchen."]
    folder = encoder.locate("builtin", None)
    exact, rounded = (
        encoder.load(folder, params(precision=precision)).encode(texts)
        for precision in ("float32", "bf16")
    )
    assert 1e-6 < np.abs(exact - rounded).max() < 0.02


def test_another_machine_with_other_weights_is_told(tiny_bert):
    loaded = encoder.fingerprint(tiny_bert, params(pooling="cls"))
    assert encoder.load(tiny_bert, params(pooling="cls"), loaded)
    with pytest.raises(encoder.EncoderError, match="another model than the stage"):
        encoder.load(tiny_bert, params(pooling="cls"), "other")
