"""The checks of a written query: what forbids it, and what the lead should look at.

Faults: characters that nobody sees, no word, more than `ingest.max_characters`, a person's name,
an address or a name of an annotator, the text of an earlier query. Doubts: another language, the
form of no query (marks, labels), and what is nearly an earlier query or a caption.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.captions import form
from pipeline.captions.checks import load_encoder, load_finder
from pipeline.captions.names_found import GONE, LEFT
from pipeline.core import cli, csv_files, tables, text
from pipeline.core.captions import select_in_use, text_key
from pipeline.core.params import Params
from pipeline.core.tables import PRIVATE
from pipeline.distribution.scan import Private, describe_private, read_private
from pipeline.language import detection
from pipeline.names.evidence.cast import Cast
from pipeline.retrieval.embeddings import Embeddings, EmbeddingsError
from pipeline.retrieval.similarity import MICRO, Vectors, micro_similarities

NEAR = 0.9
"""The similarity (cosine of the encoder's vectors) from which two queries are nearly one."""
FEWEST_WORDS = 4
"""The language of fewer words is not judged."""
NAMES_FOUND = tables.WORK / "names_found.csv"

Problems = Sequence[list[str]]
"""The problems of each query, in words."""


def check_queries(asked: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return `asked` (as `tables.ASKED_QUERIES`) with `faults` and `doubts` as they are now.

    A query is compared with those above it that were not refused.
    """
    queries = list(asked["query"])
    if not queries:
        return asked
    private = read_private(PRIVATE)
    earlier = [*zip(asked["source"], asked["decision"] != "refused", strict=True)]
    faults = [
        [*list_faults(query, params.ingest.max_characters, private), *named, *same]
        for query, named, same in zip(
            queries, find_names(queries, params), find_equal(queries, earlier), strict=True
        )
    ]
    doubts = [
        [*foreign, *filter(None, [form.list_faults_alone(text.strip_unreadable(query))]), *alike]
        for query, foreign, alike in zip(
            queries,
            find_foreign(queries, params),
            find_near(queries, earlier, params),
            strict=True,
        )
    ]
    return asked.assign(faults=_join(faults), doubts=_join(doubts))


def _join(problems: Problems) -> pd.Series:
    joined = ["; ".join(some) or None for some in problems]
    return pd.Series(joined, dtype="str")


def list_faults(query: str, max_characters: int, private: Private) -> Iterator[str]:
    """Yield what forbids a query by itself, names aside."""
    for mark in text.list_unreadable(query):
        yield f"contains {mark}"
    if not text.words(query):
        yield "has no word"
    if len(query) > max_characters:
        yield f"has {len(query):,} characters, over ingest.max_characters ({max_characters:,})"
    if found := describe_private(query, private.secrets, private.whole):
        yield f"contains {found}"


def find_names(queries: Sequence[str], params: Params) -> Problems:
    """Return the names in each query: of the cast, of those that `rewrite` found, of anybody.

    A corpus without names (`rewrite.backend: none`) has no tagger that could find them.
    """
    if params.rewrite.backend == "none":
        return [[] for _ in queries]
    listed = Cast.from_table(tables.CAST.read())
    found = Cast.from_table(_read_found()).names - listed.no_names
    cast = Cast(listed.names | found, listed.no_names)
    finder = load_finder(params, queries, cast, of_captions=True)
    least = params.rewrite.max_name_score
    return [
        [f"names {span.text}" for span in spans if span.score > least]
        for spans in finder.find(queries)
    ]


def _read_found() -> pd.DataFrame:
    """Return the names that `rewrite` replaced, as `tables.CAST`."""
    if not NAMES_FOUND.is_file():
        return tables.CAST.empty()
    found = csv_files.read_csv(NAMES_FOUND, ["word", "replaced_by"])
    replaced = found[~found["replaced_by"].isin([LEFT, GONE])]
    return pd.DataFrame({"name": replaced["word"], "gender": None})


def find_equal(queries: Sequence[str], earlier: Sequence[tuple[str, bool]]) -> Problems:
    """Return, for each query, where its text comes before it, but for case.

    `earlier` has for each query what it is called, and whether others are compared with it.
    """
    first: dict[str, str] = {}
    problems: list[list[str]] = []
    for key, (name, counts) in zip(text_key(pd.Series(queries)), earlier, strict=True):
        problems.append([f"is the query of {first[key]}"] if key in first else [])
        if counts:
            first.setdefault(key, name)
    return problems


def find_foreign(queries: Sequence[str], params: Params) -> Problems:
    """Return which queries are in another language than the corpus, if that is certain."""
    described = tables.MOMENTS.read()["description"] if tables.MOMENTS.path.is_file() else ()
    spoken = detection.determine_language(described, params.ingest.language)
    if not spoken.is_certain:
        return [[] for _ in queries]
    codes = (
        detection.detect([query]).code if len(text.words(query)) >= FEWEST_WORDS else spoken.code
        for query in queries
    )
    return [
        [] if code in {spoken.code, detection.UNKNOWN} else [f"is in {detection.name_of(code)}"]
        for code in codes
    ]


def find_near(
    queries: Sequence[str], earlier: Sequence[tuple[str, bool]], params: Params
) -> Problems:
    """Return what each query nearly is: an earlier one, or a caption that has been embedded."""
    vectors = load_encoder(params).encode(list(queries))
    between = _similarities(vectors, vectors)
    allowed = np.array([counts for _, counts in earlier])
    between[:, ~allowed] = -1
    nearest = _name_nearest(np.tril(between, -1), [f'"{query}"' for query in queries])
    names, known = _read_captions()
    if not names:
        return nearest
    captions = _name_nearest(_similarities(vectors, known), names)
    return [[*some, *others] for some, others in zip(nearest, captions, strict=True)]


def _similarities(queries: Vectors, texts: Vectors) -> npt.NDArray[np.float64]:
    """Return the similarities of shape (n, m): a row at a time, for m may be large."""
    shape = (1, len(texts), texts.shape[1])
    rows = [micro_similarities(query[None], texts.reshape(shape))[0] for query in queries]
    similar: npt.NDArray[np.float64] = np.array(rows) / MICRO
    return similar


def _name_nearest(similar: npt.NDArray[np.float64], names: Sequence[str]) -> Problems:
    return [
        [f"is nearly {names[at]} ({row[at]:.2f})"] if row[at := int(row.argmax())] >= NEAR else []
        for row in similar
    ]


def _read_captions() -> tuple[list[str], Vectors]:
    """Return what each caption in use is called, and its vector; none if they are not embedded."""
    nothing = list[str](), np.empty((0, 0), np.float32)
    if not tables.CAPTIONS.path.is_file():
        return nothing
    used = select_in_use(tables.CAPTIONS.read()).drop_duplicates("caption")
    try:
        stored = Embeddings.open()
        rows = stored.rows(used["caption"])
    except EmbeddingsError as exc:
        cli.log(f"queries are not compared with captions: {exc}")
        return nothing
    return [f"the caption of {moment}" for moment in used["moment_id"]], stored.vectors[rows]
