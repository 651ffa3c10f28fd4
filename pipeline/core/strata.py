"""Strata of queries: kinds by which results are told apart, if there are several."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.core import tables
from pipeline.core.params import Params


def count_planned(params: Params) -> int:
    """Return how many queries people will judge: captions, their variants, and written ones."""
    split, vary, written = params.split, params.vary, tables.WRITTEN_QUERIES
    others = len(written.read()) if written.path.is_file() else 0
    return split.val + split.test + vary.vague + vary.gist + vary.changed + others


def list_strata(queries: pd.DataFrame) -> list[str]:
    """Return the strata of queries, captions first; none if there is only one."""
    names = sorted({*queries["stratum"]}, key=lambda name: (name != tables.CAPTION, name))
    return names if len(names) > 1 else []


def mark_strata(pairs: pd.DataFrame, queries: pd.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
    """Mark the pairs of each stratum of queries, (pairs,); none if there is only one."""
    stratum = pairs["query_id"].map(queries.set_index("query_id")["stratum"])
    return {name: (stratum == name).to_numpy() for name in list_strata(queries)}
