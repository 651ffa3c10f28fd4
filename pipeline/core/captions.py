"""The captions in use: those that pass, of the requested modalities."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import rng, tables
from pipeline.core.params import Params, ParamsError
from pipeline.core.storage.database import Database, fits, open_database
from pipeline.core.storage.mapped import blocks

LEARNED_MIN_SIMILARITY = 0.85
"""For the packaged encoder and `masked`: 1 in a thousand of TVR's captions by `rules` fails, about
half of them rightly (docs/rewriting.md)."""
IN_USE = ("passed", "repaired", "reviewed")
ID_DIGITS = 12
"""Hexadecimal digits of a query's id."""
_MOMENT = ["moment_id", "video_id", "start", "end"]


class SharedError(MomentRankError):
    """A text that is a query of two splits."""


def min_similarity(params: Params) -> float:
    """Return the limit of similarity: `rewrite.min_similarity`, or the learned one.

    Raises:
        ParamsError: no limit is set, and none was learned for these texts and this encoder.
    """
    if params.rewrite.min_similarity is not None:
        return params.rewrite.min_similarity
    if params.rewrite.similarity == "masked" and params.embed.model == "builtin":
        return LEARNED_MIN_SIMILARITY
    raise ParamsError(
        f"rewrite.min_similarity: set a number; no limit was learned for {params.embed.model} and"
        f" `similarity: {params.rewrite.similarity}` (0.4 for SimCSE and `raw`)"
    )


def select_in_use(captions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions that passed the checks or were accepted by a person."""
    return captions[captions["status"].isin(IN_USE)]


def join_captions(
    captions: pd.DataFrame, moments: pd.DataFrame, modalities: Sequence[str]
) -> pd.DataFrame:
    """Return `moment_id, caption, video_id, start, end` of the moments that take part.

    Sorted by moment_id, so that nothing later depends on the order of a corpus.
    """
    wanted = moments[moments["modality"].isin(modalities)]
    in_use = select_in_use(captions)[["moment_id", "caption"]]
    joined = in_use.merge(wanted[_MOMENT], on="moment_id")
    return joined.sort_values("moment_id", ignore_index=True)


def read_pool(modalities: Sequence[str], gigabytes: float) -> pd.DataFrame:
    """Return `join_captions` of the tables on disk; larger ones are joined within `gigabytes`.

    Then the texts are memory-mapped, and only the times are in memory.
    """
    if fits_in_memory(gigabytes):
        return join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    with open_database(gigabytes) as database:
        load_pool(database, modalities)
        return database.map("select * from pool order by moment_id")


def fits_in_memory(gigabytes: float) -> bool:
    """Tell whether captions and moments can be joined in this much memory."""
    return fits(gigabytes, max(tables.CAPTIONS.count_rows(), tables.MOMENTS.count_rows()))


def load_pool(database: Database, modalities: Sequence[str]) -> None:
    """Make `join_captions` of the tables on disk the view `pool`, in no order.

    Raises:
        TableError: a table breaks its schema or its key.
    """
    captions, moments = tables.CAPTIONS, tables.MOMENTS
    for table, name, column, values, names in (
        (captions, "captions", "status", IN_USE, ["moment_id", "caption"]),
        (moments, "moments", "modality", modalities, _MOMENT),
    ):
        # Rows that are not used are loaded too: their keys must not repeat either.
        frames = (
            rows[names].assign(used=rows[column].isin(values)) for rows in table.read_batches()
        )
        database.load(name, frames)
        database.check_key(table, name)
    database.run(
        'create view pool as select moment_id, caption, video_id, start, "end" from captions'
        " join moments using (moment_id) where captions.used and moments.used"
    )


def text_key(texts: pd.Series) -> pd.Series:
    """Return what two captions must share to be one query: trimmed and case-folded."""
    return texts.str.strip().str.casefold()


def name_query(text: str) -> str:
    """Return the id of a validation or test query: `q`, and a hash of its text.

    A system may read the text, so the id tells it nothing.
    """
    return f"q{rng.draw(text)[:ID_DIGITS]}"


def refuse_shared_texts(queries: pd.DataFrame, path: Path) -> None:
    """Stop if a text is a query of two splits: no training text may be tested on.

    Raises:
        SharedError: two queries of different splits are equal after trimming and case folding.
    """
    judged = set(text_key(queries.loc[queries["split"] != "train", "query"]))
    frames = (block.assign(key=text_key(block["query"])) for block in blocks(queries))
    # One of the two splits is not `train`, so only texts of judged queries can be shared.
    keyed = pd.concat([queries[:0].assign(key=""), *(f[f["key"].isin(judged)] for f in frames)])
    splits = keyed.drop_duplicates(["key", "split"])
    shared = splits[splits["key"].duplicated(keep=False)].sort_values(["key", "query_id"])
    if len(shared):
        two = " and ".join(f"{row.query_id} ({row.split})" for row in shared.head(2).itertuples())
        raise SharedError(
            f"{path}: queries {two} have the same text, but a text may be in one split only"
            f" ({shared['key'].nunique()} such texts)"
        )
