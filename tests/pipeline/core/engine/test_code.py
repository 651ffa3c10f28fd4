"""The code behind a part: another version finds none that an older one has made."""

import importlib
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pipeline.core.engine import code
from pipeline.core.engine.code import digest, list_facts, list_sources
from pipeline.core.engine.shards import map_shards

MODULES = {
    "making/__init__.py": "",
    "making/work.py": """
from making import helper
def write(given, path):
    from making.late import add
    if given == 2 and not path.parent.with_name("go on").exists():
        raise KeyboardInterrupt
    path.write_text(str(helper.double(add(given))))
""",
    "making/helper.py": "def double(number):\n    return 2 * number\n",
    "making/late.py": "def add(number):\n    return number\n",
    "making/words.toml": "",
    "making/other.py": "",
}


@pytest.fixture
def change_package(tmp_path, monkeypatch):
    """Return a function that changes files of a package, and returns the work of its version."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "making").mkdir()

    def change(**files):
        changed = {f"making/{name}.py": text for name, text in files.items()}
        for name, text in (changed or MODULES).items():
            (tmp_path / name).write_text(text)
        for name in [name for name in sys.modules if name.startswith("making")]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        return importlib.import_module("making.work").write

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"helper": "def double(number):\n    return number + number + 1\n"}, ["3", "5"]),
        ({"late": "def add(number):\n    return number + 10\n"}, ["22", "24"]),
        ({"other": "1 + 1"}, ["2", "4"]),
    ],
)
def test_a_part_that_older_code_has_made_is_not_used(
    engine, change_package, tmp_path, change, expected
):
    engine = engine.model_copy(update={"workers": 1})
    inputs = {"one": 1, "two": 2}
    with pytest.raises(KeyboardInterrupt):
        map_shards("sums", change_package(), inputs, engine)
    (tmp_path / "parts" / "go on").touch()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts/sums").iterdir()}
    assert len(times) == 3  # the part of 1, its hash, and the folder of facts about the code
    paths = map_shards("sums", change_package(**change), inputs, engine)
    assert [path.read_text() for path in paths.values()] == expected
    is_kept = paths["one"] in times
    assert is_kept == ("other" in change)
    assert all(path.stat().st_mtime_ns == time for path, time in times.items() if path.is_file())


def test_data_beside_the_code_and_packages_count(change_package, tmp_path, monkeypatch):
    work = change_package()
    before = digest(list_facts(work))
    assert digest(list_facts(partial(print, work))) == before
    bound = partial(json.dumps, np.dot, work, default=np.sum)
    assert digest(list_facts(bound)) == before
    (tmp_path / "making/words.toml").write_text("a = 1")
    after = digest(list_facts(work))
    monkeypatch.setattr(code, "_list_packages", lambda: {"numpy": "99"})
    assert len({before, after, digest(list_facts(work))}) == 3


def test_it_is_the_same_wherever_the_code_is(change_package, tmp_path, monkeypatch):
    names, here = list_sources(change_package()), list_facts(change_package())
    assert names.keys() == MODULES.keys() - {"making/other.py"}
    monkeypatch.chdir(tmp_path)
    Path("elsewhere").mkdir()
    Path("making").rename("elsewhere/making")
    monkeypatch.setattr(sys.modules["making.work"], "__file__", "elsewhere/making/work.py")
    assert list_facts(sys.modules["making.work"].write) == here
