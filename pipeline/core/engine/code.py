"""The code that makes a part: its work's module, everything it imports, and installed packages.

A part made by older code may differ from what today's code would make. Code that only hands out
work does not count: it changes no part, and a run that it broke resumes once it is fixed.
"""

import ast
import platform
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from pipeline.core import rng
from pipeline.core.files import file_sha256

DISPATCHER_MODULE = "pipeline.core.engine.shards"
"""Its imports, and so the engines, are not followed."""
DATA = {".json", ".toml", ".yaml"}
INSTALLED = tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "purelib", "platlib"))
"""Folders of Python's own library and of packages, which count by name and version."""


def code_digest(work: Callable[..., object]) -> str:
    """Return the hash of the code behind a function, and behind functions bound by a partial.

    Imports inside functions count, and so do data files next to a module. The hash does not
    depend on where the working copy is.
    """
    sources = (f"{name} {file_sha256(path)}" for name, path in sorted(list_sources(work).items()))
    return rng.draw(platform.python_version(), *sources, *_list_packages())


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


def _list_packages() -> list[str]:
    """Return name and version of every installed package."""
    found = (path for folder in sys.path for path in Path(folder).glob("*.dist-info"))
    return sorted({path.name for path in found})
