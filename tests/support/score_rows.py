"""Scores for tests, of `(pair, annotator, level)`."""

import numpy as np
import pandas as pd

from annotation.reliability.scores import Scores, sort_scores

START = np.datetime64("2024-05-01T08:00:00")


def scores_of(rows, pairs=None, timed=False):
    """Return scores of `(pair, annotator, level)`, a minute apart where `timed`."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return sort_scores(
        Scores(
            *table.T,
            pairs=int(table[:, 0].max(initial=-1)) + 1 if pairs is None else pairs,
            annotators=pd.Index(range(10)),
            time=START + np.arange(len(table)) * np.timedelta64(1, "m") if timed else None,
            seconds=np.full(len(table), 4.0) if timed else None,
        )
    )
