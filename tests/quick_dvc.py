"""DVC, which does the same in less time; forked commands have it (prefork.py, test_dvc.py).

After each stage DVC writes all of dvc.lock anew, having read it for comments to keep, of which a
lock has none, and for each output it reads git's whole index: most of its own time. The parser of
its command line and our dvc.yaml are the same in each command.
"""

import io
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, TextIO

HEAD = "schema: '2.0'\nstages:\n"
PIPELINE = Path(__file__).parents[1] / "dvc.yaml"
ENTRIES = re.compile(r"(?m)^(?=  \S)")

Parse = Callable[..., object]
Dump = Callable[[object, TextIO], object]


def install() -> None:
    """Let DVC do so in this process, and in those that are forked from it."""
    from dulwich.repo import Repo
    from dvc.cli import parser
    from dvc.utils import strictyaml
    from dvc.utils.serialize import _yaml

    parse, dump = by_entry(_yaml.parse_yaml, _yaml._dump)
    _yaml._dump, _yaml.parse_yaml_for_update = dump, parse
    for module in (_yaml, strictyaml):
        module.parse_yaml = parse
    Repo.open_index = once(Repo.open_index)
    parser.get_main_parser = cache(parser.get_main_parser)
    parser.get_main_parser()
    parse(PIPELINE.read_text(), PIPELINE)


def by_entry(parse: Parse, dump: Dump) -> tuple[Parse, Dump]:
    """Return functions that do what DVC's do with YAML, a lock's entries and nothing twice."""
    texts: dict[str, str] = {}
    """Of each entry that was read or written, by what it says."""
    load = by_text(parse)

    def quick_parse(text: str, path: object, typ: str = "safe") -> object:
        if typ != "safe":
            return parse(text, path, typ)
        head, *entries = ENTRIES.split(text)
        if head != HEAD:
            return load(text, path)
        stages = {}
        for entry in entries:
            stage = load(entry, path)
            texts[repr(stage)] = entry
            stages |= stage
        return {"schema": "2.0", "stages": stages or None}

    def quick_dump(data: dict, stream: TextIO) -> None:
        if list(data) != ["schema", "stages"] or not data["stages"]:
            dump(data, stream)
            return
        stream.write(HEAD)
        for stage in ({name: entry} for name, entry in data["stages"].items()):
            if repr(stage) not in texts:
                alone = io.StringIO()
                dump({"stages": stage}, alone)
                texts[repr(stage)] = alone.getvalue().removeprefix("stages:\n")
            stream.write(texts[repr(stage)])

    return quick_parse, quick_dump


def by_text(parse: Parse) -> Parse:
    """Return a function that parses the same text only once, wherever it stands."""
    parsed: dict[str, object] = {}

    def load(text: str, path: object) -> object:
        if text not in parsed:
            parsed[text] = parse(text, path)
        return deepcopy(parsed[text])

    return load


def once(open_index: Callable) -> Callable:
    """Return a function that reads git's index again only where git has written it again."""
    indexes: dict[tuple, Any] = {}

    def quick_open(repo: Any, **options: object) -> Any:
        if options or not repo.has_index():
            return open_index(repo, **options)
        path = repo.index_path()
        there = Path(path).stat()
        key = path, there.st_ino, there.st_mtime_ns, there.st_size
        if key not in indexes:
            indexes[key] = open_index(repo)
        return indexes[key]

    return quick_open
