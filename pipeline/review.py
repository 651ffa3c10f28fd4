"""What people decide about captions: `datasets/campaign/review.csv`, a line per moment.

The column `caption` holds the wording that is to be used, or the word `drop`. Decisions are
committed and win over whatever rewriting says.
"""

from collections.abc import Collection
from string import punctuation

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline import csv_files, tables
from pipeline.lines import is_line

DROP = "drop"
ORDERS = frozenset({DROP, "delete", "discard", "omit", "please", "reject", "remove", "skip"})
"""Words with which no caption begins, but what people may write for `drop`."""
FEWEST_WORDS = 2


class ReviewError(MomentRankError):
    """A decision that can't be carried out, with its line."""


def read(moment_ids: Collection[str]) -> pd.DataFrame:
    """Read the decisions about a corpus; the index is the line of each.

    Raises:
        FileError, TableError: the file is missing, or no table of decisions.
        ReviewError: see `checked`.
    """
    decisions = tables.REVIEW.read()
    lines = csv_files.read_csv(tables.REVIEW.path).index
    return checked(decisions.set_index(lines), moment_ids)


def checked(decisions: pd.DataFrame, moment_ids: Collection[str]) -> pd.DataFrame:
    """Return the decisions as they can be carried out: each a trimmed wording, or `DROP`.

    Raises:
        ReviewError: a decision names a moment that the corpus does not have, or is neither a
            caption of one line nor the word `drop`.
    """
    known, rows = set(moment_ids), decisions.itertuples(name=None)
    captions = [_decision(line, moment_id, text, known) for line, moment_id, text in rows]
    return decisions.assign(caption=pd.Series(captions, decisions.index, dtype="str"))


def _decision(line: int, moment_id: str, text: str, known: Collection[str]) -> str:
    place, decision = f"{tables.REVIEW.path}, line {line}", text.strip()
    if moment_id not in known:
        raise ReviewError(f"{place}: there is no moment {moment_id!r}; remove the line")
    if not is_line(decision):
        raise ReviewError(f"{place}: {decision!r} holds a line end or a control character")
    if decision.casefold() == DROP:
        return DROP
    words = decision.casefold().split()
    if len(words) < FEWEST_WORDS or words[0].strip(punctuation) in ORDERS:
        raise ReviewError(
            f"{place}: {decision!r} is no caption; to leave the moment out, write {DROP!r} alone"
        )
    return decision


def decide(captions: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions with people's `checked` decisions put in; `moment_id` is the key of both.

    A decided wording has the source `review`, no scores, and the status `reviewed`; a dropped
    moment keeps its last caption, with the status `dropped`.
    """
    decided = dict(zip(decisions["moment_id"], decisions["caption"], strict=True))
    wording = captions["moment_id"].map(decided).astype(object)
    dropped = wording.eq(DROP)
    worded = wording.notna() & ~dropped
    result = captions.assign(
        caption=captions["caption"].mask(worded, wording),
        source=captions["source"].mask(worded, "review"),
        status=captions["status"].mask(worded, "reviewed").mask(dropped, "dropped"),
    )
    result.loc[worded, ["model", "prompt", "similarity", "name_score"]] = None
    return result


def for_review(captions: pd.DataFrame, moments: pd.DataFrame, failed: pd.DataFrame) -> pd.DataFrame:
    """Return what people should look at: repaired captions and those that still fail.

    `failed` says of each such moment which check it failed last and with which score:
    `moment_id, check, score`.
    """
    listed = captions[captions["status"].isin(["repaired", "failed"])]
    joined = listed.merge(moments[["moment_id", "description"]], on="moment_id")
    joined = joined.merge(failed, on="moment_id", how="left")
    columns = ["moment_id", "status", "check", "score", "description", "caption"]
    return joined[columns].sort_values(["status", "moment_id"], ignore_index=True)
