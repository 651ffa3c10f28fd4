"""A folder of runs, each with a YAML file of the same stem that says whose it is.

    name: Moment Finder
    authors: A. Author, B. Author
    link: https://example.org/paper
    date: 2026-11-27
    reads: [video, subtitles]    # of video, sound, subtitles, captions

The scorer needs numpy alone, so this subset of YAML is read here: `key: value`, quotes, and lists
in brackets or of lines `- item`. What it accepts, YAML reads as the same text.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from momentrank.board.rows import READS, Entry, stem_of
from momentrank.errors import UsageError
from momentrank.formats.source import FormatError, Location, read_source

KEYS = ("name", "authors", "link", "date", "reads")
YAML, OTHER_YAML = ".yaml", ".yml"
_LINE = re.compile(r"([A-Za-z_]\w*):(?:\s+(.*))?$")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?$""")
_PLAIN = re.compile(r"\w((?!: |:$| #)[^\t])*$")
_PLAIN_ITEM = re.compile(r"\w[\w .-]*$")


class Field(NamedTuple):
    """A value and where it is."""

    value: str | list[str]
    location: Location


def read_entries(folder: Path) -> list[Entry]:
    """Return the entries of a folder by stem; files that begin with a dot are left out.

    Raises:
        UsageError: it is not a folder, or has no run.
        FormatError: an entry is wrong; the message lists everything that is.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of runs")
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    described = {path.stem: path for path in files if path.suffix == YAML}
    runs: dict[str, Path] = {}
    for path in files:
        if path.suffix not in {YAML, OTHER_YAML} and path.is_file():
            runs.setdefault(stem_of(path), path)
    problems = list(_find_odd(files, described, runs))
    entries = []
    for stem in sorted(described.keys() & runs.keys()):
        try:
            entries.append(_read_entry(described[stem], runs[stem]))
        except FormatError as exc:
            problems.append(str(exc))
    names = Counter(entry.name for entry in entries)
    for name in (name for name, number in names.items() if number > 1):
        own = [str(entry.run) for entry in entries if entry.name == name]
        problems.append(f"{', '.join(own)}: all have the name {name!r}: rename all but one")
    if problems:
        raise FormatError("\n".join(sorted(problems)))
    if not entries:
        raise UsageError(f"{folder}: no run in it: put NAME.run and NAME{YAML} there")
    return entries


def _find_odd(
    files: list[Path], described: dict[str, Path], runs: dict[str, Path]
) -> Iterator[str]:
    for path in files:
        stem = stem_of(path)
        if path.is_dir():
            yield f"{path}: a folder: runs lie side by side"
        elif path.suffix == OTHER_YAML:
            yield f"{path}: name it {path.stem}{YAML}"
        elif path.suffix == YAML and path.stem not in runs:
            yield f"{path}: no run has this stem"
        elif path.suffix != YAML and runs[stem] != path:
            yield f"{path}: its stem is that of {runs[stem].name} too: rename one"
        elif path.suffix != YAML and stem not in described:
            yield f"{path}: no {stem}{YAML} next to it: write {', '.join(KEYS)}"


def _read_entry(path: Path, run: Path) -> Entry:
    fields = _read_fields(path)
    unknown = [fields[key].location.error("unknown key") for key in fields if key not in KEYS]
    missing = [Location(path).key(key).error("missing") for key in KEYS if key not in fields]
    problems = [str(exc) for exc in [*unknown, *missing]]

    def text(key: str) -> str:
        value = fields[key].value if key in fields else "?"
        if isinstance(value, str) and value and value.isprintable():
            return value
        problems.append(str(fields[key].location.error("must be text in one line")))
        return "?"

    name, authors, link, day = map(text, KEYS[:4])
    if "link" in fields and link != "?" and not _is_web(link):
        problems.append(str(fields["link"].location.error("must begin with https:// or http://")))
    written = _parse_date(day)
    if "date" in fields and day != "?" and written is None:
        problems.append(str(fields["date"].location.error(f"must be YYYY-MM-DD, not {day!r}")))
    reads = fields["reads"].value if "reads" in fields else [READS[0]]
    if not isinstance(reads, list) or not reads or set(reads) - set(READS):
        reason = f"must be a list of {', '.join(READS)}, not {reads!r}"
        problems.append(str(fields["reads"].location.error(reason)))
    if problems:
        raise FormatError("\n".join(problems))
    own = tuple(each for each in READS if each in reads)
    return Entry(run, name, authors, link, written or date.min, own)


def _is_web(link: str) -> bool:
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and " " not in link


def _parse_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
    except ValueError:
        return None


def _read_fields(path: Path) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    opened = ""  # the key whose items follow on lines of their own
    for number, line in enumerate(read_source(path).text.splitlines(), start=1):
        location, text = Location(path, number), line.strip()
        if not text or text.startswith("#") or (text == "---" and not fields):
            continue
        if opened and (item := re.match(r"-\s+(.+)", text)):
            items = fields[opened].value
            assert isinstance(items, list)  # noqa: S101  (for mypy)
            items.append(_parse(item[1], fields[opened].location._replace(line=number)))
            continue
        match = _LINE.match(line.rstrip())
        if not match:
            raise location.error("must be 'key: value', or '- item' below a key")
        key, value = match[1], (match[2] or "").strip()
        if key in fields:
            raise location.key(key).error(f"already in line {fields[key].location.line}")
        is_open = not value or value.startswith("#")
        content = [] if is_open else _parse_value(value, location.key(key))
        fields[key], opened = Field(content, location.key(key)), key if is_open else ""
    return fields


def _parse_value(text: str, location: Location) -> str | list[str]:
    if not text.startswith("["):
        return _parse(text, location)
    match = re.fullmatch(r"\[([^\[\]]*)\]\s*(?:#.*)?", text)
    if not match:
        raise location.error("must be [one, another] in one line")
    items = match[1].split(",") if match[1].strip() else ()
    return [_parse(item.strip(), location, _PLAIN_ITEM) for item in items]


def _parse(text: str, location: Location, form: re.Pattern[str] = _PLAIN) -> str:
    if text[:1] in {'"', "'"}:
        match = _QUOTED.match(text)
        if not match:
            raise location.error("the quotes are not closed, or text follows them")
        if text[0] == "'":
            return match[1][1:-1].replace("''", "'")
        try:
            return str(json.loads(match[1]))
        except ValueError as exc:
            raise location.error("a backslash in double quotes: write single quotes") from exc
    plain = re.split(r"\s+#", text, maxsplit=1)[0].rstrip()
    if not form.match(plain):
        raise location.error(f"write it in quotes: {json.dumps(plain, ensure_ascii=False)}")
    return plain
