"""Ids as the published training code reads them: integers where every one is written as one."""

import pandas as pd


def json_ids(ids: pd.Series) -> pd.Series:
    """Return ids as integers where every one of them is written as one, else as they are."""
    integers = ids.str.fullmatch(r"0|[1-9]\d{0,17}").all()
    return ids.astype("int64") if integers else ids
