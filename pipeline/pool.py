"""Which captions take part: the ones that passed, of the modalities that are asked for."""

from collections.abc import Sequence

import pandas as pd

IN_USE = ("passed", "repaired", "reviewed")


def in_use(captions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions that no check and no person has kept out."""
    return captions[captions["status"].isin(IN_USE)]


def described(
    captions: pd.DataFrame, moments: pd.DataFrame, modalities: Sequence[str]
) -> pd.DataFrame:
    """Return `moment_id, caption, video_id, start, end` of the moments that take part.

    Sorted by moment_id, so that nothing after it depends on the order of a corpus.
    """
    wanted = moments[moments["modality"].isin(modalities)]
    columns = ["moment_id", "video_id", "start", "end"]
    joined = in_use(captions)[["moment_id", "caption"]].merge(wanted[columns], on="moment_id")
    return joined.sort_values("moment_id", ignore_index=True)


def text_key(texts: pd.Series) -> pd.Series:
    """Return what two captions must share to be one query: trimmed and case-folded."""
    return texts.str.strip().str.casefold()
