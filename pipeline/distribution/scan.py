"""The scan for personal data: what people typed is searched before it is released.

E-mail addresses, and the names in `annotators.private.yaml`, are searched for in what comes from
people: judgments.csv (except ids and hashes), campaign.yaml, and queries but captions, which
may have a word that is part of an annotator's name. The addresses and passwords in that
file are also searched for in the corpus's texts and in params.yaml, both of which may contain other
people's names (params.yaml in a citation). An error reports where something is, but not what.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.campaign.campaign import FILE, Campaign
from pipeline.campaign.collection import ReleaseError
from pipeline.core import csv_files, files, tables
from pipeline.core.params import PARAMS
from pipeline.core.tables import PRIVATE

ADDRESS = re.compile(r"[^\s@<>\"',;:()]+@(?:[\w-]+\.)+[^\W\d_]{2,}")
OF_THE_CORPUS = {
    tables.JUDGMENTS.path: ("query_id", "moment_id", "query_sha", "clip_sha"),
    tables.FROZEN_QUERIES.path: ("query_id", "query", "split"),
    tables.PAIRS.path: tuple(tables.PAIRS.columns),
}
AS_WORDS = r"(?<![^\W\d_])(?:{})(?![^\W\d_])"
NEVER = re.compile("(?!)")
ONE_OF_A_FEW = ("kind", "reason")
SHORTEST_WORD, SHORTEST_SECRET = 3, 6


class Private(NamedTuple):
    """What must not be released: patterns for names, and for addresses and passwords.

    `names` finds each part of a name, `whole` only names of more than one word.
    """

    names: re.Pattern[str]
    whole: re.Pattern[str]
    secrets: re.Pattern[str]


class Cell(NamedTuple):
    """A text, its place, and whether a person may have typed it."""

    text: str
    path: Path
    line: int
    field: str
    typed: bool


def refuse_people(campaign: Campaign | None, private: Path = PRIVATE) -> None:
    """Refuse a release that would identify a person.

    Raises:
        ReleaseError: an address, a name or a password was found; or the campaign is open and the
            list of what to look for is missing.
    """
    if not private.is_file() and campaign is not None and not campaign.closed:
        raise ReleaseError(
            f"{private}: no such file, so the release can't be searched for annotators' names;"
            " list their accounts there, or copy it from the checkout in which you did"
        )
    patterns = read_private(private)
    problem = next(filter(None, (_describe_problem(cell, patterns) for cell in _cells())), None)
    problem = problem or next(_list_query_problems(patterns), None)
    if problem:
        raise ReleaseError(problem)


def describe_private(
    text: str, secrets: re.Pattern[str], names: re.Pattern[str], *, typed: bool = True
) -> str | None:
    """Return what of a person is in a text, if anything; `typed`: a person may have typed it."""
    seen = plain(text)
    if secrets.search(seen):
        return f"an address or a password from {PRIVATE.name}"
    if typed and ADDRESS.search(seen):
        return "an e-mail address"
    return f"a name from {PRIVATE.name}" if typed and names.search(seen) else None


def _list_query_problems(patterns: Private) -> Iterator[str]:
    queries = csv_files.read_csv(tables.FROZEN_QUERIES.path)
    for line, query in queries.loc[queries["origin"] != "corpus", "query"].items():
        if what := describe_private(query, patterns.secrets, patterns.whole):
            yield (
                f"{tables.FROZEN_QUERIES.path}: line {line}, query: contains {what}; reword it: a"
                " release must not identify anyone"
            )


def read_private(path: Path) -> Private:
    """Return patterns for what the list of annotators has; they are empty without the file."""
    leaves = list(_leaves(files.read_yaml(path))) if path.is_file() else []
    names = {text for key, text in leaves if key == "name"}
    secrets = {text for key, text in leaves if key != "name"}
    words = {word for name in names for word in name.split() if len(word) >= SHORTEST_WORD}
    return Private(
        _compile_any(names | words, AS_WORDS),
        _compile_any({name for name in names if " " in name}, AS_WORDS),
        _compile_any({text for text in secrets if len(text) >= SHORTEST_SECRET}, "(?:{})"),
    )


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401  (any YAML)
    """Yield each text in a YAML document with its key."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    elif isinstance(value, str) and value.strip():
        yield key, plain(value)


def plain(text: str) -> str:
    """Return a text in the form used for comparison: what looks the same is the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _compile_any(texts: set[str], pattern: str) -> re.Pattern[str]:
    """Compile a pattern for any of the texts; it never matches if there are none."""
    ordered = sorted(map(re.escape, texts), key=lambda text: (-len(text), text))
    return re.compile(pattern.format("|".join(ordered))) if ordered else NEVER


def _cells() -> Iterator[Cell]:
    for path, columns in OF_THE_CORPUS.items():
        table = csv_files.read_csv(path)
        for name in table:
            typed = name not in columns
            first = table[name].dropna().drop_duplicates()
            for line, text in zip(first.index.tolist(), first, strict=True):
                yield Cell(text, path, line, str(name), typed)
    for path, typed in ((FILE, True), (PARAMS, False)):
        for line in files.read_lines(path):
            field = line.text.partition(":")[0].strip()
            yield Cell(line.text, path, line.number, field, typed)


def _describe_problem(cell: Cell, patterns: Private) -> str | None:
    """Return what is wrong with a cell, if anything."""
    names = NEVER if cell.field in ONE_OF_A_FEW else patterns.names
    what = describe_private(cell.text, patterns.secrets, names, typed=cell.typed)
    where = f"{cell.path}: line {cell.line}, {cell.field}"
    wish = "remove it: a release must not identify anyone"
    return f"{where}: contains {what}; {wish}" if what else None
