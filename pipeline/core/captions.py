"""Which captions take part: the ones that passed, of the modalities that are asked for."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from momentrank.errors import MomentRankError

IN_USE = ("passed", "repaired", "reviewed")


class SharedError(MomentRankError):
    """A text that is a query of two splits."""


def select_in_use(captions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions that no check and no person has kept out."""
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


def refuse_shared(queries: pd.DataFrame, path: Path) -> None:
    """Stop where a text is a query of two splits: nothing that is trained on may be tested on.

    Raises:
        SharedError: two queries of different splits are equal after trimming and case folding.
    """
    keyed = queries.assign(key=text_key(queries["query"]))
    splits = keyed.drop_duplicates(["key", "split"])
    shared = splits[splits["key"].duplicated(keep=False)].sort_values(["key", "query_id"])
    if len(shared):
        told = ", ".join(f"{row.query_id} ({row.split})" for row in shared.head(2).itertuples())
        raise SharedError(
            f"{path}: queries {told} are equal in text, but a text is of one split only"
            f" ({shared['key'].nunique()} such texts)"
        )
