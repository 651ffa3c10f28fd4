"""The structure: where modules are, who may import whom, and a dvc.yaml that does not lie."""

import ast
import graphlib
import re
from collections import Counter
from pathlib import Path

import grimp
import pytest

from pipeline.captions.rules.rules_rewriter import find_rows
from pipeline.core import cli, files
from pipeline.core.engine.code import DISPATCHER_MODULE, list_sources
from pipeline.retrieval.sharded_search import find_nearest
from pipeline.video.cutting import cut_shard

PACKAGES = ("momentrank", "pipeline", "annotation", "baselines")
REPOSITORY = Path(__file__).parent.parent
DAG = files.read_yaml(REPOSITORY / "dvc.yaml")
STAGES = DAG["stages"]
OUTS = [
    path
    for entry in STAGES.values()
    for out in entry["outs"]
    for path in (out if isinstance(out, dict) else [out])
]
COMMANDS = {
    "pipeline": {"check", "doctor", "show", "recover", "publish", "outside"},
    "annotation": {
        *("campaign", "adjudicate", "people", "exam", "status", "estimate", "audit", "server"),
        *("pilot", "simulate", "rehearsal", "queries"),
    },
}
FLOORS = {
    "momentrank": (
        "errors svg",
        "ids",
        "segments",
        "formats matching paired_tests",
        "collection measures",
        "conventions significance unjudged",
        "mismatches data",
        "query_groups rankings scoring submission",
        "explanation meta prediction_powered reconciliation",
        "board functions",
        "cli provider",
    ),
    "pipeline": (
        "core",
        "corpora language llm machine names retrieval sitcom video",
        "campaign captions",
        "pages",
        "distribution",
        "judges",
        "publication",
        "trials",
    ),
    "annotation": (
        "roster",
        "reliability votes",
        "quality",
        "assignment",
        "label_studio pooling",
        "answers local_server machine simulation tasks workforce writing",
    ),
    "baselines": (
        "core",
        "collection features",
        "models",
        "training",
        "inference",
        "comparison",
    ),
}
"""The folders of each package, from below; stages and commands are on top.

A folder may import those of its own floor and of lower ones.
"""
BUDGET = {
    "momentrank": 17_220,
    "pipeline": 31_900,
    "annotation": 19_280,
    "baselines": 4_780,
    "benchmarks": 2_940,
    "tools": 950,
    "tests": 58_060,
}
"""The lines that a package may have; who raises a budget says in the commit for what."""
MAX_WORDS, MAX_LINES, MAX_CODE_DEPS = 31_000, 500, 150
"""Of all of docs/, of a module, and of dvc.yaml."""


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


def list_reached_code(imports, stage_name: str) -> set[str]:
    """Return the code that a stage's deps name: what its import closure reaches, by folder."""
    module = STAGES[stage_name]["cmd"].split()[-1]
    reached = imports.find_upstream_modules(module) | {module}
    entries = {part for name in reached if (part := entry(name))}
    if "momentrank/scoring.py" in entries:  # who computes scores depends on the whole scorer
        entries = {name for name in entries if not name.startswith("momentrank/")} | {"momentrank"}
    if STAGES[stage_name].get("always_changed"):  # it runs each time, whatever has changed
        entries = {name for name in entries if not name.startswith("annotation/")} | {"annotation"}
    return entries


def list_declared(stage_name: str) -> set[str]:
    """Return the code among a stage's deps: folders and modules."""
    deps = STAGES[stage_name].get("deps", [])
    code = {dep for dep in deps if dep.startswith(PACKAGES) and Path(dep).suffix in {"", ".py"}}
    return code - {"annotation/guideline"}  # texts


@pytest.mark.parametrize(
    ("lower", "upper"),
    [("momentrank", "pipeline"), ("momentrank", "annotation"), ("pipeline", "annotation")],
)
def test_a_lower_floor_does_not_know_the_upper_one(imports, lower, upper):
    assert not imports.chain_exists(importer=lower, imported=upper, as_packages=True)


def sources(*packages: str) -> list[Path]:
    return [path for name in packages for path in sorted((REPOSITORY / name).rglob("*.py"))]


def stages_of(package: str) -> set[str]:
    modules = (entry["cmd"].split()[-1].split(".") for entry in STAGES.values())
    return {name for top, name in modules if top == package}


@pytest.mark.parametrize("package", COMMANDS)
def test_one_ls_shows_the_stages_and_commands(package):
    modules = {path.stem for path in (REPOSITORY / package).glob("*.py")} - {"__init__"}
    assert modules == stages_of(package) | COMMANDS[package]


@pytest.mark.parametrize("package", ["annotation", "baselines", "pipeline", "momentrank"])
def test_the_map_of_the_architecture_names_every_folder_stage_and_command(package):
    page = (REPOSITORY / "docs/architecture.md").read_text()
    part = page.split(f"\n{package}/")[1].split("\n```")[0].split("\nmomentrank/")[0]
    own = part.split("\npipeline/")[0] if package == "annotation" else part
    folders = {f"{path.parent.name}/" for path in (REPOSITORY / package).glob("*/__init__.py")}
    modules = {path.stem for path in (REPOSITORY / package).glob("*.py")} - {"__init__"}
    wanted = folders if package == "momentrank" else folders | modules
    assert sorted(wanted - set(own.split())) == []


def floor(module: str) -> int:
    """Return a module's floor in its package, from below; stages and commands are on top."""
    package, name, *_ = module.split(".")
    for level, names in enumerate(FLOORS[package]):
        if name in names.split():
            return level
    assert (REPOSITORY / package / f"{name}.py").exists(), f"{module} is on no floor"
    return len(FLOORS[package])


@pytest.mark.parametrize("package", FLOORS)
def test_a_folder_imports_only_its_own_floor_and_lower_ones(imports, package):
    inner = {name for name in imports.modules if name.startswith(f"{package}.")}
    assert [
        (module, imported)
        for module in inner
        for imported in imports.find_modules_directly_imported_by(module) & inner
        if floor(module) < floor(imported)
    ] == []


def test_nothing_imports_a_stage_or_a_command(imports):
    tops = {
        f"{package}.{name}"
        for package in FLOORS
        for name in stages_of(package) | COMMANDS.get(package, set())
    }
    assert [
        (module, top) for top in tops for module in imports.find_modules_that_directly_import(top)
    ] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_modules_of_a_package_share_a_name(package):
    names = Counter(path.name for path in sources(package))
    assert {name for name, n in names.items() if n > 1} <= {"__init__.py", "base.py"}


def test_no_modules_import_each_other_in_a_circle(imports):
    edges = {name: imports.find_modules_directly_imported_by(name) for name in imports.modules}
    graphlib.TopologicalSorter(edges).prepare()  # a circle is an error that names its modules


@pytest.mark.parametrize("package", BUDGET)
def test_a_package_keeps_to_its_budget_of_lines(package):
    lines = {path: len(path.read_text().splitlines()) for path in sources(package)}
    assert sum(lines.values()) <= BUDGET[package]
    if package != "tests":
        assert {path: number for path, number in lines.items() if number > MAX_LINES} == {}


def test_docs_keep_to_their_budget_of_words():
    pages = (REPOSITORY / "docs").glob("*.md")
    assert sum(len(page.read_text().split()) for page in pages) <= MAX_WORDS


def test_dvc_yaml_names_code_by_the_folder():
    assert sum(len(list_declared(name)) for name in STAGES) <= MAX_CODE_DEPS


@pytest.mark.parametrize("name", STAGES)
def test_deps_are_exactly_the_folders_that_a_stage_reaches(imports, name):
    reached, deps = list_reached_code(imports, name), STAGES[name].get("deps", [])
    assert len(deps) == len(set(deps)), "named twice"
    assert list_declared(name) - reached == set(), "named, but not imported"
    assert reached - list_declared(name) == set(), (
        "imported, but not named: DVC would not see a change"
    )


@pytest.mark.parametrize("work", [find_nearest, cut_shard, find_rows])
def test_a_part_depends_on_all_code_that_its_work_reaches(imports, work):
    waiting, reached = {work.__module__}, set[str]()
    while waiting:
        reached.add(name := waiting.pop())
        waiting |= imports.find_modules_directly_imported_by(name) - reached - {DISPATCHER_MODULE}
    names = {name.replace("/", ".").removesuffix(".py") for name in list_sources(work)}
    modules = {name for name in names if not name.endswith(("__init__", ".toml"))}
    assert modules == {name for name in reached if not imports.find_children(name)}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_is_a_module_and_a_section_of_its_name(name):
    assert STAGES[name]["cmd"].endswith(f".{name}")
    assert STAGES[name]["desc"]
    section = files.read_yaml(REPOSITORY / "params.yaml").keys()
    assert name in section
    assert name in STAGES[name]["params"]


def test_metrics_stand_at_the_top_level_and_are_written_by_a_stage():
    assert set(DAG["metrics"]) == {path for path in OUTS if path.startswith(str(cli.METRICS))}
    # A plot inside another out would be looked up in the cache, which a fresh clone lacks.
    assert {path for plot in DAG["plots"] for path in plot} <= set(OUTS)


def test_no_stage_owns_a_folder_that_another_writes_into():
    owned = [Path(out) for out in OUTS]
    assert not [(a, b) for a in owned for b in owned if a in b.parents]


def test_the_folder_datasets_is_no_package():
    # `import datasets` must find the library of that name.
    assert not list((REPOSITORY / "datasets").rglob("__init__.py"))


def test_progress_is_shown_in_one_way():
    # A bare tqdm that is silent without a terminal leaves no line in a log of long work.
    own = REPOSITORY / "pipeline/core/progress.py"
    texts = {path: path.read_text() for path in sources("pipeline", "annotation") if path != own}
    assert [path for path, text in texts.items() if re.search(r"\btqdm\(", text)] == []


def test_no_two_test_modules_have_one_name():
    # pytest imports them by name alone: the second would end the collection of all
    # (those of tests/support have a package)
    names = Counter(path.name for path in sources("tests") if "support" not in path.parts)
    names.subtract({"conftest.py": names["conftest.py"] - 1})
    assert [name for name, number in names.items() if number > 1] == []


def test_tests_of_annotation_lie_as_its_modules_do():
    folders = {path.parent.name for path in (REPOSITORY / "tests/annotation").glob("*/*.py")}
    packages = {path.parent.name for path in (REPOSITORY / "annotation").glob("*/__init__.py")}
    assert folders - packages == {"campaigns"}


PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")])
TEXTS = [
    *PAGES,
    *(REPOSITORY / name for name in ("Makefile", "dvc.yaml", "params.yaml", "params.paper.yaml")),
    *sources(*PACKAGES, "tools", "benchmarks"),
]
CITED = re.compile(r"paper|TVR-Ranking|et al\.|Higham", re.IGNORECASE)
FOLDERS = ("benchmarks", "docs", "prompts", "tests", "tools", *PACKAGES)


def docstrings(path: Path) -> str:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds))
    return "\n".join(filter(None, map(ast.get_docstring, nodes)))


def exists(name: str) -> bool:
    """Tell whether the project holds a file of this name, or of this path's end."""
    roots = [REPOSITORY / folder for folder in FOLDERS]
    return (REPOSITORY / name).exists() or any(any(root.rglob(name)) for root in roots)


def test_every_page_that_is_named_is_in_the_project():
    texts = {path: path.read_text() for path in TEXTS}
    texts |= {path: docstrings(path) for path in sources("tests")}
    assert [
        (str(path), name)
        for path, text in texts.items()
        for name in re.findall(r"(?<![\w./:-])\.?\w[\w./-]*\.md\b", text)
        if not name.startswith("datasets/") and not exists(name)
    ] == []


def test_a_numbered_section_is_one_of_a_published_paper():
    for path in TEXTS:
        text = " ".join(path.read_text().split())
        for at in re.finditer(r"\b[Ss]ections? \d", text):
            before = text[max(0, at.start() - 100) : at.start()]
            assert CITED.search(before), f"{path}: {text[at.start() - 40 : at.end() + 20]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_in_a_page_lead_somewhere(page):
    text = page.read_text()
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}
            assert anchor in slugs, f"{target}#{anchor}"
    for span in re.findall(r"`((?:" + "|".join(FOLDERS) + r")/[\w./-]+|[\w/]*test_\w+\.py)`", text):
        assert "NAME" in span or exists(span), span
