"""A released folder as people load it: `datasets.load_dataset`, every config of the card, offline.

It runs in a process of its own in another folder, as theirs does: the project has a folder that is
called like the package.
"""

import json
import os
import subprocess
import sys

import pytest
from checkouts import Checkout, write_training

from pipeline.core import files, tables

LOAD = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
told = []
for folder in sys.argv[1:]:
    found = {name: load_dataset(folder, name) for name in get_dataset_config_names(folder)}
    if "qrels" in found:
        found[""] = load_dataset(folder)
    told.append({name: {split: rows.to_list() for split, rows in one.items()}
                 for name, one in found.items()})
json.dump(told, sys.stdout)
"""
SIZES = (1, 20, 40)


def list_configs(folder):
    head = folder / "head.yaml"
    head.write_text((folder / "README.md").read_text().split("\n---\n\n")[0].removeprefix("---\n"))
    return {config["config_name"] for config in files.read_yaml(head)["configs"]}


@pytest.fixture(scope="module")
def releases(tmp_path_factory, repository):
    """Return two released folders, one without anything judged, and what is loaded of each.

    That is the rows of every config by split; of none named as `""`.
    """
    pytest.importorskip("datasets", reason="the test extra is not installed")
    folder = tmp_path_factory.mktemp("released")
    checkouts = [Checkout(folder / name, repository) for name in ("judged", "empty")]
    checkouts[1].campaign({})
    checkouts[1].write(queries=[], pairs=[], votes=[], judgments=tables.JUDGMENTS.empty())
    folders = [checkout.release() for checkout in checkouts]
    for checkout in checkouts:
        write_training(checkout.folder)
    env = os.environ | {"HF_HOME": str(folder), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", LOAD, *map(str, folders)]
    return folders, json.loads(subprocess.check_output(command, cwd=folder, env=env))


@pytest.mark.integration
def test_every_config_of_a_released_folder_is_loaded(releases):
    (folder, _), (configs, _) = releases
    assert configs[""] == configs["qrels"]
    assert set(configs) == list_configs(folder) | {""}
    for size in SIZES:
        rows = configs[f"train_top{size:02}"]["train"]
        training = json.loads((folder / f"train_top{size:02}.json").read_text())
        assert [row.pop("query_key") for row in rows] == ["7", "qid_0"]
        assert rows == [{k: v for k, v in query.items() if k != "query_key"} for query in training]
    assert [row["_id"] for row in configs["captions-corpus"]["corpus"]] == ["m1", "m2", "m3"]
    assert configs["corpus"]["corpus"][1] == {
        "_id": "m9", "title": "v2", "text": "", "start": 1.0, "end": 2.0, "duration": 8.0,
    }  # fmt: skip
    assert not any("text" in row and row["text"] for row in configs["corpus"]["corpus"])
    for name in ("queries", "qrels"):
        assert configs[f"captions-{name}"] == configs[name]
    for split in ("val", "test"):
        judgments = json.loads((folder / f"{split}.json").read_text())
        keys = [query["query_key"] for query in judgments]
        assert [row["_id"] for row in configs["queries"][split]] == keys


@pytest.mark.integration
def test_a_release_without_anything_judged_is_loaded_too(releases):
    _, (_, configs) = releases
    assert set(configs) == {"train_top01", "train_top20", "train_top40"}
