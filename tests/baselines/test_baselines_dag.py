"""The DAG of the baselines: what its stages depend on, and whom they may import."""

from pathlib import Path

import grimp
import pytest
from ruamel.yaml import YAML
from tiny_release import REPOSITORY

from baselines.core.params import load
from baselines.core.sections import MODELS

LISTED = YAML(typ="safe").load(REPOSITORY / "baselines/dvc.yaml")["stages"]
STAGES = {name: stage.get("do", stage) for name, stage in LISTED.items()}
COMMANDS = {"import_weights"}


@pytest.fixture(scope="module")
def imports():
    names = ("momentrank", "pipeline", "annotation", "baselines")
    return grimp.build_graph(*names, cache_dir=None)


def module(stage):
    return STAGES[stage]["cmd"].split()[2]


def test_the_baselines_import_momentrank_alone(imports):
    for package in ("pipeline", "annotation"):
        for importer, imported in (("baselines", package), (package, "baselines")):
            assert not imports.chain_exists(importer, imported, as_packages=True)
    assert not imports.chain_exists("momentrank", "baselines", as_packages=True)


def test_one_ls_shows_the_stages_and_commands():
    modules = {path.stem for path in (REPOSITORY / "baselines").glob("*.py")} - {"__init__"}
    assert modules == {module(stage).split(".")[1] for stage in STAGES} | COMMANDS


@pytest.mark.parametrize("stage", STAGES)
def test_deps_are_exactly_the_folders_that_a_stage_reaches(imports, stage):
    own = module(stage)
    reached = set()
    for name in imports.find_upstream_modules(own) | {own}:
        package, *inner = name.split(".")
        if package == "baselines" and inner:
            is_folder = (REPOSITORY / package / inner[0]).is_dir()
            reached.add(f"baselines/{inner[0]}" + ("" if is_folder else ".py"))
    code = {dep for dep in STAGES[stage]["deps"] if dep.startswith("baselines/")}
    assert code == reached
    assert any(dep.startswith("momentrank") for dep in STAGES[stage]["deps"])


@pytest.mark.parametrize("stage", ["train", "predict"])
def test_every_model_is_trained(stage):
    first = {name: item["input"] for name, item in LISTED[stage]["foreach"].items()}
    assert list(first) == list(MODELS)
    # The folder that train writes: CONQUER is trained after its first stage.
    folder = "datasets/work/baselines/models/${key}"
    assert folder in STAGES["train"]["outs"][0]
    assert first["conquer"] == folder.replace("key", "conquer.first_stage")
    assert "${item.input}" in STAGES[stage]["deps"]


@pytest.mark.parametrize("name", ["params.yaml", "params.paper.yaml"])
def test_both_files_of_parameters_are_sound(name):
    load(Path(REPOSITORY / "baselines" / name))


def test_the_papers_settings_are_those_of_appendix_c_1():
    params = load(REPOSITORY / "baselines/params.paper.yaml")
    train = params.train
    assert {
        top: (train.of_top(top).epochs, train.of_top(top).validate_every) for top in train.top
    } == {1: (4000, 20), 20: (200, 1), 40: (100, 0.5)}
    assert (train.patience, train.learning_rate, train.batch_size) == (10, 1e-4, 512)
    assert params.features.normalize_video
    assert params.predict.nms is None
