"""The search of a package for personal data and tokens, before it is published.

`release` has searched what people typed. This is a second check, of the very bytes to be published.
They must contain no address or password from `annotators.private.yaml`, no e-mail address, no token
and no secret of this machine (from the environment or `.env`). Full names of annotators are
searched for outside the corpus's own texts, and not in what the lead wrote into params.yaml, since
a citation names its authors. An error reports where something was found, but not what.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from dotenv import dotenv_values

from pipeline.core import files
from pipeline.core.tables import PRIVATE
from pipeline.distribution.scan import ADDRESS, Private, plain, read_private
from pipeline.publication.package import LocalFile, Package, PublishError

TOKEN = re.compile(
    r"\bhf_[A-Za-z0-9]{30,}|\bsk-[\w-]{20,}|\bgh[pousr]_\w{30,}|\bgithub_pat_\w{30,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bBearer\s+[\w.-]{20,}"
)
SECRET = re.compile(r"(TOKEN|SECRET|PASSWORD|API_KEY|ACCESS_KEY)")
SHORTEST = 12
ENV = Path(".env")
OF_THE_CORPUS = re.compile(
    r"(val|test|train_\w+|video_corpus)\.(json|parquet)|queries\.tsv|pairs\.csv"
    r"|(qrels|queries|corpus|captions|top_ranked)/.*\.(qrels|parquet)"
)
"""Files with the corpus's texts: a character may have an annotator's name."""


class Text(NamedTuple):
    """A text in a file, and its place: a line, or a column and row group."""

    text: str
    location: str


class Forbidden(NamedTuple):
    """What must not be published, and the exceptions: `words` and `allowed` (both `plain`)."""

    private: Private
    secrets: list[str]
    words: list[str]
    allowed: set[str]

    def describe(self, text: str, *, of_the_corpus: bool) -> str | None:
        """Return what is wrong with a text, if anything."""
        seen = plain(text)
        if self.private.secrets.search(seen):
            return f"an address or a password from {PRIVATE.name}"
        if "@" in seen and set(ADDRESS.findall(seen)) - self.allowed:
            return "an e-mail address (--allow ADDRESS, if it may be public)"
        if TOKEN.search(text) or any(secret in text for secret in self.secrets):
            return "a token or a password"
        if not of_the_corpus and self.private.whole.search(self._without_words(seen)):
            return f"a name from {PRIVATE.name}"
        return None

    def _without_words(self, text: str) -> str:
        for words in self.words:
            text = text.replace(words, " ")
        return text


def refuse_people(package: Package, allowed: Collection[str]) -> None:
    """Refuse a package with anything that must not be published, except `allowed` addresses.

    Raises:
        PublishError: something was found, with file and place; or the list of names is missing.
    """
    if not PRIVATE.is_file():
        raise PublishError(
            f"{PRIVATE}: no such file, so the files can't be searched for annotators' names; copy"
            " it from the checkout in which the campaign was opened"
        )
    private = read_private(PRIVATE)
    words = _find_named(private, package.manifest["params"]["release"])
    secrets = [*_own_secrets(os.environ), *_own_secrets(dotenv_values(ENV, interpolate=False))]
    forbidden = Forbidden(private, secrets, words, {plain(address) for address in allowed})
    for local in package.files:
        of_the_corpus = OF_THE_CORPUS.fullmatch(local.path) is not None
        for text, location in _texts(local):
            if what := forbidden.describe(text, of_the_corpus=of_the_corpus):
                raise PublishError(f"{local.source}: {location}: contains {what}; remove it")


def _find_named(private: Private, value: object) -> list[str]:
    """Return the lead's texts with names, the longest first: as prose, as JSON, as a table cell."""
    written = {
        plain(form)
        for text in _strings_of(value)
        for form in (text, orjson.dumps(text).decode()[1:-1], text.replace("|", "\\|"))
    }
    named = filter(private.whole.search, written)
    return sorted(named, key=lambda text: (-len(text), text))


def _strings_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        within = value.values() if isinstance(value, Mapping) else value
        yield from chain.from_iterable(map(_strings_of, within))


def _own_secrets(environment: Mapping[str, str | None]) -> Iterator[str]:
    for name, value in environment.items():
        if value and SECRET.search(name) and len(value) >= SHORTEST:
            yield value


def _texts(local: LocalFile) -> Iterable[Text]:
    if local.path.endswith(".parquet"):
        return _cells(pq.ParquetFile(local.source))
    return (Text(line.text, f"line {line.number}") for line in files.read_lines(local.source))


def _cells(table: pq.ParquetFile) -> Iterator[Text]:
    """Yield the distinct texts of each column, with the row group of each."""
    for group in range(table.num_row_groups):
        for name, column in zip(
            table.schema_arrow.names, table.read_row_group(group).columns, strict=True
        ):
            for chunk in column.chunks:
                for text in _strings(chunk):
                    yield Text(text, f"{name}, row group {group}")


def _strings(array: pa.Array) -> Iterator[str]:
    """Yield the distinct texts of a column; everything but numbers is searched."""
    kind = array.type
    if pa.types.is_struct(kind):
        yield from chain.from_iterable(map(_strings, array.flatten()))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _strings(array.flatten())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield from (text for text in pc.unique(array).to_pylist() if text is not None)
    elif not (pa.types.is_primitive(kind) or pa.types.is_null(kind)):
        yield from map(str, array.to_pylist())
