"""The search of a package for what identifies people, and for tokens, before it goes out.

`release` has searched what people typed. This is a second look, at the very bytes that go out. The
addresses and passwords of `annotators.private.yaml` may be nowhere, nor any e-mail address or
token, nor a value of this machine's own secrets. Whole names of annotators are looked for outside
the corpus's own texts, and not in what the lead wrote into params.yaml: a citation names its
authors. An error tells where something stands, and not what.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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
    """What must not go out, and what may although it looks so."""

    private: Private
    secrets: list[str]
    words: list[str]
    allowed: Collection[str]

    def describe(self, text: str, *, of_the_corpus: bool) -> str | None:
        """Return what is wrong with a text, or nothing."""
        if self.private.secrets.search(plain(text)):
            return f"an address or a password of {PRIVATE.name}"
        if "@" in text and set(ADDRESS.findall(text)) - set(self.allowed):
            return "an e-mail address (--allow ADDRESS, if it may be public)"
        if TOKEN.search(text) or any(secret in text for secret in self.secrets):
            return "a token or a password"
        if not of_the_corpus and self.private.whole.search(plain(self._without_words(text))):
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
    words = _lead_words(package.manifest["params"]["release"])
    forbidden = Forbidden(read_private(PRIVATE), list(_own_secrets(os.environ)), words, allowed)
    for local in package.files:
        of_the_corpus = OF_THE_CORPUS.fullmatch(local.path) is not None
        for text, place in _texts(local):
            if what := forbidden.describe(text, of_the_corpus=of_the_corpus):
                raise PublishError(f"{local.source}: {place}: contains {what}; remove it")


def _lead_words(value: Any) -> list[str]:  # noqa: ANN401  (any JSON)
    """Return the lead's own texts, the longest first, as prose and JSON have them."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        texts = chain.from_iterable(_lead_words(one) for one in value)
        return sorted(set(texts), key=lambda text: (-len(text), text))
    return [value, " ".join(value.split())] if isinstance(value, str) and value.strip() else []


def _own_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if SECRET.search(name) and len(value) >= SHORTEST:
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
