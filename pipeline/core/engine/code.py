"""The code that makes a part: its work's module, everything it imports, and installed packages.

A part made by older code may differ from what today's code would make. Code that only hands out
work does not count: it changes no part, and a run that it broke resumes once it is fixed.
"""

import ast
import platform
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from pipeline.core import rng
from pipeline.core.files import file_sha256

DISPATCHER_MODULE = "pipeline.core.engine.shards"
"""Its imports, and so the engines, are not followed."""
DATA = {".json", ".toml", ".yaml"}
PACKAGES = tuple(sysconfig.get_paths()[kind] for kind in ("purelib", "platlib"))
INSTALLED = (sysconfig.get_paths()["stdlib"], *PACKAGES)
"""Folders of Python's own library and of packages, which count by name and version."""
SHOWN = 4
"""Differences that a message names."""
SHA_LENGTH = 64


def digest(facts: Mapping[str, str]) -> str:
    """Return the hash of facts about code."""
    return rng.draw(*(f"{name} {value}" for name, value in sorted(facts.items())))


def list_facts(work: Callable[..., object]) -> dict[str, str]:
    """Return the code behind a function, and behind functions bound by a partial.

    That is Python's version, the hash of each source file and the version of each installed
    package, by name. Imports inside functions count, and so do data files next to a module. It does
    not depend on where the working copy is.
    """
    sources = {name: file_sha256(path) for name, path in list_sources(work).items()}
    return {"Python": platform.python_version()} | _list_packages() | sources


def compare(facts: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Return the first facts that are not as wanted, as text."""
    names = sorted(name for name in {*facts, *wanted} if facts.get(name) != wanted.get(name))
    told = [_describe(name, facts.get(name), wanted.get(name)) for name in names[:SHOWN]]
    return "; ".join(told + [f"and {len(names) - SHOWN} more"] * (len(names) > SHOWN))


def _describe(name: str, value: str | None, wanted: str | None) -> str:
    if not (value and wanted):
        return f"{name} is missing {'there' if wanted else 'here'}"
    return f"{name} differs" if len(value) == SHA_LENGTH else f"{name} {value} there, {wanted} here"


def list_sources(work: Callable[..., object]) -> dict[str, Path]:
    """Return the files of that code, by their paths below the folder that they are imported from.

    Installed packages are not included.
    """
    return {name: path for one in _functions(work) for name, path in _reach(one).items()}


def _functions(work: object) -> Iterator[object]:
    if isinstance(work, partial):
        for part in (work.func, *work.args, *work.keywords.values()):
            yield from _functions(part)
    elif callable(work):
        yield work


def _reach(function: object) -> dict[str, Path]:
    module = sys.modules[function.__module__]
    file = getattr(module, "__file__", None)
    if not file or file.startswith(INSTALLED):
        return {}
    name = module.__spec__.name if module.__spec__ else Path(file).stem  # `__main__` of a script
    root, files = Path(file).parents[name.count(".")], set[Path]()
    left, seen = {name}, {DISPATCHER_MODULE}
    while left:
        seen.add(name := left.pop())
        if path := _locate(root, name):
            files |= {path, *_list_data(path.parent)}
            left |= _list_imports(path.read_bytes()) - seen
    return {path.relative_to(root).as_posix(): path for path in files}


def _locate(root: Path, name: str) -> Path | None:
    """Return the file of a module below `root`, if it exists."""
    path = root.joinpath(*name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


@cache  # by content: a stage hands out work many times, and parsing took most of that
def _list_imports(source: bytes) -> frozenset[str]:
    """Return the names of what a module imports: modules and their members."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def _list_data(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.suffix in DATA)


def _list_packages() -> dict[str, str]:
    """Return the version of every installed package, by name: of the first one on the path.

    A package's own folder of packages counts with it: whether it is on the path depends on what
    was imported.
    """
    own = tuple(f"{folder}/" for folder in PACKAGES)
    folders = (Path(folder) for folder in sys.path if not folder.startswith(own))
    found: dict[str, str] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.dist-info"))):
        name, _, version = path.stem.partition("-")
        found.setdefault(name, version)
    return found
