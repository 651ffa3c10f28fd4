"""Importing a published checkpoint: tensors alone, whatever settings stand beside them."""

import sys
import types

import pytest
from lazy import Lazy

from baselines.core import paths
from baselines.core.params import load
from baselines.features.inputs import open_inputs

torch, import_weights = Lazy("torch"), Lazy("baselines.import_weights")
published, registry = Lazy("baselines.models.published"), Lazy("baselines.models.registry")
checkpoint = Lazy("baselines.training.checkpoint")


class EasyDict(dict):
    """As the published code has its settings."""


def all_names(name):
    attention = ["self.query", "self.key", "self.value", "output.dense", "output.LayerNorm"]
    encoders = ["query_encoder", *(f"{s}_encoder{n}" for s in ("video", "sub") for n in (1, 2))]
    if name == "reloclnet":
        encoders += ["query_encoder1", "video_encoder3", "sub_encoder3"]
    both = [f"{encoder}.{part}" for encoder in encoders for part in attention]
    both += ["query_pos_embed.LayerNorm", "ctx_pos_embed.LayerNorm"]
    for stream in ("video", "sub"):
        both += [f"{stream}_cross_att.{part}" for part in ("query", "key", "value")]
        both += [f"{stream}_cross_layernorm", f"{stream}_query_linear"]
    for source in ("query", "video", "sub"):
        both += [f"{source}_input_proj.{part}" for part in ("LayerNorm", "net.1")]
    alone = ["query_pos_embed.position_embeddings", "ctx_pos_embed.position_embeddings"]
    alone += ["modular_vector_mapping", "merged_st_predictor", "merged_ed_predictor"]
    names = [f"{layer}.{kind}" for layer in both for kind in ("weight", "bias")]
    return names + [f"{layer}.weight" for layer in alone]


def weights(name):
    params = load()
    widths = open_inputs(params, []).widths
    return registry.build(name, widths, params, "as_published").state_dict()


@pytest.mark.parametrize("name", ["reloclnet", "xml"])
def test_published_names_are_one_to_one_with_ours(name, tiny):
    assert sorted(published.rename(name, all_names(name)).values()) == sorted(weights(name))


def test_a_published_checkpoint_is_imported(tiny, monkeypatch):
    module = types.ModuleType("easydict")
    EasyDict.__module__, module.EasyDict = "easydict", EasyDict
    monkeypatch.setitem(sys.modules, "easydict", module)
    ours = weights("xml")
    renamed = published.rename("xml", all_names("xml"))
    theirs = {name: ours[own] for name, own in renamed.items()}
    settings = EasyDict(hidden_size=16)
    settings.hidden_size = 16  # which is in its __dict__ too
    torch.save({"model": theirs, "model_cfg": settings, "epoch": 3}, tiny / "model.ckpt")
    import_weights.main("xml", tiny / "model.ckpt", 2, 2024)
    state, progress = checkpoint.read_best(paths.checkpoint("xml", 2, 2024))
    assert progress.finished
    assert all(torch.equal(state[name], ours[name]) for name in ours)


def test_a_checkpoint_that_does_not_fit_is_named(tiny):
    with pytest.raises(published.CheckpointError, match="which xml does not have"):
        published.rename("xml", ["video_encoder3.output.dense.weight"])
    ours = weights("xml")
    with pytest.raises(published.CheckpointError, match="lacks"):
        published.convert("xml", {}, ours)
    theirs = {name: torch.zeros(1) for name in all_names("xml")}
    with pytest.raises(published.CheckpointError, match="set the sizes"):
        published.convert("xml", theirs, ours)


class Trap:
    """Would run code when it is unpickled."""

    def __reduce__(self):
        return print, ("sprung",)


def test_nothing_of_a_checkpoint_is_run(tiny, capsys):
    torch.save({"model": Trap()}, tiny / "trap.ckpt")
    with pytest.raises(published.CheckpointError, match="not a checkpoint"):
        import_weights.read_published(tiny / "trap.ckpt")
    assert "sprung" not in capsys.readouterr().out
