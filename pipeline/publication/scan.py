"""The search of a package for what identifies people, and for tokens, before it goes out.

`release` has searched what people typed. This is a second look, at the very bytes that go out. The
addresses and passwords of `annotators.private.yaml` may be nowhere, nor any e-mail address or
token, nor a secret of this machine: of the environment or of `.env`. Whole names of annotators are
looked for outside the corpus's own texts, and not in what the lead wrote into params.yaml: a
citation names its authors. An error tells where something stands, and not what.
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
    r"|(qrels|queries|corpus|top_ranked)/.*\.(qrels|parquet)"
)
"""Files whose texts are the corpus's: a character may be called as an annotator is."""


class Text(NamedTuple):
    """A text of a file, and its place: a line, or a column's row."""

    text: str
    place: str


class Forbidden(NamedTuple):
    """What must not go out, and what may although it looks so: `words`, `allowed` (`plain`)."""

    private: Private
    secrets: list[str]
    words: list[str]
    allowed: set[str]

    def describe(self, text: str, *, of_the_corpus: bool) -> str | None:
        """Return what is wrong with a text, or nothing."""
        seen = plain(text)
        if self.private.secrets.search(seen):
            return f"an address or a password of {PRIVATE.name}"
        if "@" in seen and set(ADDRESS.findall(seen)) - self.allowed:
            return "an e-mail address (--allow ADDRESS, if it may be public)"
        if TOKEN.search(text) or any(secret in text for secret in self.secrets):
            return "a token or a password"
        if not of_the_corpus and self.private.whole.search(self._without_words(seen)):
            return f"a name of {PRIVATE.name}"
        return None

    def _without_words(self, text: str) -> str:
        for words in self.words:
            text = text.replace(words, " ")
        return text


def refuse_people(package: Package, allowed: Collection[str]) -> None:
    """Refuse a package that holds what must not go out; `allowed` are addresses that may.

    Raises:
        PublishError: something was found, with file and place; or there is no list of names.
    """
    if not PRIVATE.is_file():
        raise PublishError(
            f"{PRIVATE}: no such file, so nothing can be searched for annotators' names; copy it"
            " from the checkout in which the campaign was opened"
        )
    private = read_private(PRIVATE)
    words = _find_named(private, package.manifest["params"]["release"])
    secrets = [*_own_secrets(os.environ), *_own_secrets(dotenv_values(ENV, interpolate=False))]
    forbidden = Forbidden(private, secrets, words, {plain(address) for address in allowed})
    for local in package.files:
        of_the_corpus = OF_THE_CORPUS.fullmatch(local.path) is not None
        for text, place in _texts(local):
            if what := forbidden.describe(text, of_the_corpus=of_the_corpus):
                raise PublishError(f"{local.source}: {place}: contains {what}; remove it")


def _find_named(private: Private, value: object) -> list[str]:
    """Return the lead's texts that name somebody, the longest first: as prose, JSON, and a cell."""
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
    """Yield the distinct texts of each column, with the row group in which each stands."""
    for group in range(table.num_row_groups):
        for name, column in zip(
            table.schema_arrow.names, table.read_row_group(group).columns, strict=True
        ):
            for part in column.chunks:
                for text in _strings(part):
                    yield Text(text, f"{name}, row group {group}")


def _strings(array: pa.Array) -> Iterator[str]:
    """Yield the distinct texts of a column; whatever is no number is looked at."""
    kind = array.type
    if pa.types.is_struct(kind):
        yield from chain.from_iterable(map(_strings, array.flatten()))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _strings(array.flatten())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield from (text for text in pc.unique(array).to_pylist() if text is not None)
    elif not (pa.types.is_primitive(kind) or pa.types.is_null(kind)):
        yield from map(str, array.to_pylist())
