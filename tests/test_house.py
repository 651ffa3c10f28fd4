"""The structure: who may import whom, and a dvc.yaml that does not lie."""

import ast
import re
from pathlib import Path

import grimp
import pytest

from pipeline import files, stage

PACKAGES = ("momentrank", "pipeline", "annotation")
REPOSITORY = Path(__file__).parent.parent
DAG = files.read_yaml(REPOSITORY / "dvc.yaml")
STAGES = DAG["stages"]


@pytest.fixture(scope="module")
def imports():
    """Return who imports whom among the first-party modules."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def path_of(module: str) -> str:
    path = Path(*module.split("."))
    return str(path / "__init__.py" if (REPOSITORY / path).is_dir() else path.with_suffix(".py"))


def closure(imports, module: str) -> set[str]:
    reached = imports.find_upstream_modules(module) | {module}
    return {path_of(name) for name in reached}


def declared(stage_name: str) -> set[str]:
    """Return the first-party files that a stage's deps name, folders by their files."""
    deps = [Path(dep) for dep in STAGES[stage_name].get("deps", []) if dep.startswith(PACKAGES)]
    named = {str(path) for path in deps if path.suffix == ".py"}
    folders = [REPOSITORY / path for path in deps if not path.suffix]
    inside = (file for folder in folders for file in folder.rglob("*.py") if has_code(file))
    return named | {str(file.relative_to(REPOSITORY)) for file in inside}


def has_code(path: Path) -> bool:
    """Tell a module from the docstring of a package."""
    return len(ast.parse(path.read_text(encoding="utf-8")).body) > 1


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
def test_deps_are_exactly_the_modules_that_a_stage_reaches(imports, name):
    module = STAGES[name]["cmd"].split()[-1]
    reached = closure(imports, module)
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
    written = {path for out in outs for path in out if path.startswith(str(stage.METRICS))}
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
    own = REPOSITORY / "pipeline/progress.py"
    bare = [path for path in paths if path != own and re.search(r"\btqdm\(", path.read_text())]
    assert bare == []
