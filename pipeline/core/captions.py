"""Which captions take part: those that pass, of the requested modalities."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core.params import Params, ParamsError

LEARNED_MIN_SIMILARITY = 0.85
"""Of the packaged encoder and `masked`: 2 in a thousand of TVR's captions by `rules` fail, most of
them rightly (figures in docs/rewriting.md)."""
IN_USE = ("passed", "repaired", "reviewed")


class SharedError(MomentRankError):
    """A text that is a query of two splits."""


def min_similarity(params: Params) -> float:
    """Return the limit of similarity: `rewrite.min_similarity`, or the learned one.

    Raises:
        ParamsError: no limit is set, and none was learned for such texts and this encoder.
    """
    if params.rewrite.min_similarity is not None:
        return params.rewrite.min_similarity
    if params.rewrite.similarity == "masked" and params.embed.model == "builtin":
        return LEARNED_MIN_SIMILARITY
    raise ParamsError(
        f"rewrite.min_similarity: give a number; for {params.embed.model} and"
        f" `similarity: {params.rewrite.similarity}` none was learned (0.4 for SimCSE and `raw`)"
    )


def select_in_use(captions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions that passed the checks or were accepted by a person."""
    return captions[captions["status"].isin(IN_USE)]


def join_captions(
    captions: pd.DataFrame, moments: pd.DataFrame, modalities: Sequence[str]
) -> pd.DataFrame:
    """Return `moment_id, caption, video_id, start, end` of the moments that take part.

    Sorted by moment_id, so that nothing after it depends on the order of a corpus.
    """
    wanted = moments[moments["modality"].isin(modalities)]
    columns = ["moment_id", "video_id", "start", "end"]
    joined = select_in_use(captions)[["moment_id", "caption"]].merge(
        wanted[columns], on="moment_id"
    )
    return joined.sort_values("moment_id", ignore_index=True)


def text_key(texts: pd.Series) -> pd.Series:
    """Return what two captions must share to be one query: trimmed and case-folded."""
    return texts.str.strip().str.casefold()


def refuse_shared_texts(queries: pd.DataFrame, path: Path) -> None:
    """Stop where a text is a query of two splits: nothing that is trained on may be tested on.

    Raises:
        SharedError: two queries of different splits are equal after trimming and case folding.
    """
    keyed = queries.assign(key=text_key(queries["query"]))
    splits = keyed.drop_duplicates(["key", "split"])
    shared = splits[splits["key"].duplicated(keep=False)].sort_values(["key", "query_id"])
    if len(shared):
        two = " and ".join(f"{row.query_id} ({row.split})" for row in shared.head(2).itertuples())
        raise SharedError(
            f"{path}: queries {two} have the same text, but a text may be in one split only"
            f" ({shared['key'].nunique()} such texts)"
        )
