"""The code that makes a part: its work's module, all that this imports, and the packages installed.

A part that older code has made is not what today's would make. What only hands out the work is
left out: it changes no part, and a run that it has ended goes on once it is mended.
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

HANDS_OUT = "pipeline.core.engine.shards"
"""Neither this module is followed nor, through it, the engines."""
DATA = {".json", ".toml", ".yaml"}
INSTALLED = tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "purelib", "platlib"))
"""Folders of Python's own library and of packages: these count by name and version."""


def code_digest(work: Callable[..., object]) -> str:
    """Return the hash of the code behind a function, and behind those that a partial gives it.

    Imports inside functions count, and so do files of data beside a module. It is the same
    wherever the working copy is.
    """
    sources = (f"{name} {file_sha256(path)}" for name, path in sorted(list_sources(work).items()))
    return rng.draw(platform.python_version(), *sources, *_list_packages())


def list_sources(work: Callable[..., object]) -> dict[str, Path]:
    """Return the files of that code, by their paths below the folder that they are imported from.

    Packages that are installed are not among them.
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
    root, left, seen, found = Path(file).parents[name.count(".")], {name}, {HANDS_OUT}, set[Path]()
    while left:
        seen.add(name := left.pop())
        if path := _locate(root, name):
            found |= {path, *_list_data(path.parent)}
            left |= _list_imports(path.read_bytes()) - seen
    return {path.relative_to(root).as_posix(): path for path in found}


def _locate(root: Path, name: str) -> Path | None:
    """Return the file of a module below `root`, if it is there."""
    path = root.joinpath(*name.split("."))
    places = (path.with_suffix(".py"), path / "__init__.py")
    return next((place for place in places if place.is_file()), None)


@cache  # by content: a stage hands out work many times, and parsing took most of that
def _list_imports(source: bytes) -> frozenset[str]:
    """Return the names of what a module imports: modules, and what is in them."""
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
    """Return name and version of every package installed."""
    places = (place for folder in sys.path for place in Path(folder).glob("*.dist-info"))
    return sorted({place.name for place in places})
