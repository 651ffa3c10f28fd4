"""Importing a published checkpoint: tensors alone, whatever settings stand beside them."""

import argparse
import sys
import types
from collections import OrderedDict

import pytest
from lazy import Lazy
from tiny_release import write_params

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
    assert sorted(published.rename(name, n) for n in all_names(name)) == sorted(weights(name))


def test_a_published_checkpoint_is_imported(tiny, monkeypatch):
    module = types.ModuleType("easydict")
    EasyDict.__module__, module.EasyDict = "easydict", EasyDict
    monkeypatch.setitem(sys.modules, "easydict", module)
    ours = weights("xml")
    renamed = {theirs: published.rename("xml", theirs) for theirs in all_names("xml")}
    theirs = {name: ours[own] for name, own in renamed.items()}
    settings = EasyDict(hidden_size=16)
    settings.hidden_size = 16  # which is in its __dict__ too
    torch.save({"model": theirs, "model_cfg": settings, "epoch": 3}, tiny / "model.ckpt")
    import_weights.main("xml", tiny / "model.ckpt", 2, 2024)
    state = checkpoint.read_best(paths.checkpoint("xml", 2, 2024))
    assert all(torch.equal(state[name], ours[name]) for name in ours)


def test_a_checkpoint_that_does_not_fit_is_named(tiny):
    ours = weights("xml")
    with pytest.raises(published.CheckpointError, match="which xml does not have"):
        published.convert("xml", {"video_encoder3.output.dense.weight": torch.ones(1)}, ours)
    with pytest.raises(published.CheckpointError, match="lacks"):
        published.convert("xml", {}, ours)
    theirs = {name: torch.zeros(1) for name in all_names("xml")}
    with pytest.raises(published.CheckpointError, match="set the sizes"):
        published.convert("xml", theirs, ours)


@pytest.fixture
def schedules(monkeypatch):
    """Be a module of TVR-Ranking's, whose classes refuse to be unpickled."""

    class WarmupLinearSchedule:
        def __init__(self):
            self.warmup, self.t_total = 0.01, 100.0

        def __setstate__(self, state):
            raise AssertionError("the schedule was unpickled")

    module = types.ModuleType("modules.optimization")
    WarmupLinearSchedule.__module__ = module.__name__
    WarmupLinearSchedule.__qualname__ = "WarmupLinearSchedule"
    module.WarmupLinearSchedule = WarmupLinearSchedule
    monkeypatch.setitem(sys.modules, "modules", types.ModuleType("modules"))
    monkeypatch.setitem(sys.modules, "modules.optimization", module)
    return module


def save_as_tvr_ranking(path, name, schedule, **settings):
    """Write a checkpoint as TVR-Ranking's `save_model` does; return its weights by our names."""
    ours = {key: torch.randn_like(tensor) for key, tensor in weights(name).items()}
    renamed = {theirs: published.rename(name, theirs) for theirs in all_names(name)}
    theirs = OrderedDict((key, ours[own]) for key, own in renamed.items())
    config = {"device": torch.device("cpu"), "ndcg_topk": [10, 20, 40], "n_heads": 2}
    config |= {"no_norm_vfeat": True, "no_norm_tfeat": True, **settings}
    group = {"lr": 1e-4, "schedule": schedule, "b1": 0.9, "params": [0]}
    state = {0: {"step": 3, "next_m": torch.ones(2), "next_v": torch.ones(2)}}
    content = {
        "epoch": 3,
        "model_cfg": argparse.Namespace(**config),
        "model_state_dict": theirs,
        "optimizer_state_dict": {"state": state, "param_groups": [group]},
    }
    torch.save(content, path)
    return ours


@pytest.mark.parametrize("is_installed", [True, False])
def test_a_checkpoint_of_tvr_ranking_is_imported_without_its_schedule(
    tiny, schedules, monkeypatch, is_installed
):
    write_params(tiny, normalize_queries="false")
    path = tiny / "best_model.pt"
    ours = save_as_tvr_ranking(path, "reloclnet", schedules.WarmupLinearSchedule())
    if not is_installed:
        monkeypatch.delitem(sys.modules, "modules.optimization")
    import_weights.main("reloclnet", path, 2, 2024)
    state = checkpoint.read_best(paths.checkpoint("reloclnet", 2, 2024))
    assert all(torch.equal(state[name], ours[name]) for name in ours)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_heads": 8}, r"best\.pt: was trained with 8 for reloclnet\.heads, which is 2; set it"),
        ({"no_norm_vfeat": False}, r"with true for features\.normalize_video, which is false"),
        ({"no_norm_tfeat": False}, r"with true for features\.normalize_sub, which is false"),
    ],
)
def test_settings_that_shapes_do_not_show_are_compared(tiny, settings, message):
    write_params(tiny, normalize_queries="false")
    save_as_tvr_ranking(tiny / "best.pt", "reloclnet", None, **settings)
    with pytest.raises(published.CheckpointError, match=message):
        import_weights.main("reloclnet", tiny / "best.pt", 2, 2024)


class Trap:
    """Would run code when it is unpickled."""

    def __reduce__(self):
        return print, ("sprung",)


def test_nothing_of_a_checkpoint_is_run(tiny, capsys):
    torch.save({"model": Trap()}, tiny / "trap.ckpt")
    with pytest.raises(published.CheckpointError, match="no weights under 'model_state_dict' or"):
        import_weights.read_published(tiny / "trap.ckpt")
    path, found = tiny / "optimizer.ckpt", {"a": torch.ones(1)}
    torch.save({"model_state_dict": found, "optimizer_state_dict": Trap()}, path)
    assert import_weights.read_published(path) == (found, {})
    assert "sprung" not in capsys.readouterr().out
