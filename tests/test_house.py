"""The structure: who may import whom, and a dvc.yaml that does not lie."""

import re
from collections import Counter
from pathlib import Path

import grimp
import pytest

from pipeline.core import cli, files

PACKAGES = ("momentrank", "pipeline", "annotation")
REPOSITORY = Path(__file__).parent.parent
DAG = files.read_yaml(REPOSITORY / "dvc.yaml")
STAGES = DAG["stages"]


@pytest.fixture(scope="module")
def imports():
    """Return who imports whom among the first-party modules."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def entry(module: str) -> str | None:
    """Return what deps name for a module: its folder, or itself where it is in none."""
    package, *inner = module.split(".")
    if not inner or (len(inner) == 1 and (REPOSITORY / package / inner[0]).is_dir()):
        return None  # a package is its modules
    return f"{package}/{inner[0]}" + (".py" if len(inner) == 1 else "")


def expected(imports, stage_name: str) -> set[str]:
    """Return the code that a stage's deps name: what its import closure reaches, by folder."""
    module = STAGES[stage_name]["cmd"].split()[-1]
    reached = imports.find_upstream_modules(module) | {module}
    entries = {found for name in reached if (found := entry(name))}
    if "momentrank/scoring.py" in entries:  # who computes scores depends on the whole scorer
        entries = {name for name in entries if not name.startswith("momentrank/")} | {"momentrank"}
    return entries


def declared(stage_name: str) -> set[str]:
    """Return the code among a stage's deps: folders and modules."""
    deps = STAGES[stage_name].get("deps", [])
    return {dep for dep in deps if dep.startswith(PACKAGES) and Path(dep).suffix in {"", ".py"}}


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("momentrank", "pipeline"),
        ("momentrank", "annotation"),
        ("pipeline", "annotation"),
    ],
)
def test_a_lower_floor_does_not_know_the_upper_one(imports, lower, upper):
    assert not imports.chain_exists(importer=lower, imported=upper, as_packages=True)


@pytest.mark.parametrize("name", STAGES)
def test_deps_are_exactly_the_folders_that_a_stage_reaches(imports, name):
    reached = expected(imports, name)
    assert declared(name) - reached == set(), "named, but not imported"
    assert reached - declared(name) == set(), "imported, but not named: DVC would not see a change"


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_is_a_module_and_a_section_of_its_name(name):
    assert STAGES[name]["cmd"].endswith(f".{name}")
    assert STAGES[name]["desc"]
    section = files.read_yaml(REPOSITORY / "params.yaml").keys()
    assert name in section
    assert name in STAGES[name]["params"]


def test_metrics_stand_at_the_top_level_and_are_written_by_a_stage():
    outs = [out for entry in STAGES.values() for out in entry["outs"] if isinstance(out, dict)]
    written = {path for out in outs for path in out if path.startswith(str(cli.METRICS))}
    assert set(DAG["metrics"]) == written
    # A plot inside another out would be looked up in the cache, which a fresh clone lacks.
    assert {path for plot in DAG["plots"] for path in plot} <= {
        path for out in outs for path in out
    }


def test_no_stage_owns_a_folder_that_another_writes_into():
    owned = [
        Path(next(iter(out)) if isinstance(out, dict) else out)
        for entry in STAGES.values()
        for out in entry["outs"]
    ]
    assert not [(a, b) for a in owned for b in owned if a in b.parents]


def test_the_folder_datasets_is_no_package():
    # `import datasets` must find the library of that name.
    assert not list((REPOSITORY / "datasets").rglob("__init__.py"))


def test_progress_is_shown_in_one_way():
    # A bare tqdm that is silent without a terminal leaves no line in a log of long work.
    paths = [
        path for name in ("pipeline", "annotation") for path in (REPOSITORY / name).rglob("*.py")
    ]
    own = REPOSITORY / "pipeline/core/progress.py"
    bare = [path for path in paths if path != own and re.search(r"\btqdm\(", path.read_text())]
    assert bare == []


def test_no_two_test_modules_have_one_name():
    # pytest imports them by name alone: the second would end the collection of all
    names = Counter(path.name for path in (REPOSITORY / "tests").rglob("*.py"))
    names.subtract({"conftest.py": names["conftest.py"] - 1})
    assert [name for name, number in names.items() if number > 1] == []
