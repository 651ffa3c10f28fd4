"""What people decide about captions: `datasets/campaign/review.csv`, a line per moment.

The column `caption` holds the wording that is to be used; or the word `drop`; or `keep`, which
takes the caption as it is. `keep 1f6a09d2`, as rewrite_review.csv offers it, keeps that wording
alone: where rewriting has changed it since, the decision is not carried out. Decisions are
committed and win over whatever rewriting says.
"""

import hashlib
import re
from collections.abc import Collection
from string import punctuation

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import csv_files, tables
from pipeline.core.text import is_line

DROP = "drop"
KEEP = "keep"
DIGITS = 8
"""Hexadecimal, of the hash of a wording that is kept."""
BOUND = re.compile(rf"{KEEP} [0-9a-f]{{{DIGITS}}}")
ORDERS = frozenset(
    {DROP, "delete", "discard", "omit", "please", "reject", "remove", "skip"}
    | {KEEP, "accept", "approve", "retain"}
)
"""Words with which no caption begins, but what people may write for `drop` and `keep`."""
FEWEST_WORDS = 2
DOUBTS = ["moment_id", "check", "score", "names"]
"""The columns of what may be a name in a caption in use, and is left (`names_found.doubts`)."""


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
    return validate(decisions.set_index(lines), moment_ids)


def validate(decisions: pd.DataFrame, moment_ids: Collection[str]) -> pd.DataFrame:
    """Return the decisions as they can be carried out: each a trimmed wording or an order.

    Raises:
        ReviewError: a decision names a moment that the corpus does not have, or is neither a
            caption of one line nor `drop`, `keep` or `keep` with the hash of a wording.
    """
    existing, rows = set(moment_ids), decisions.itertuples(name=None)
    captions = [_decision(line, moment_id, text, existing) for line, moment_id, text in rows]
    return decisions.assign(caption=pd.Series(captions, decisions.index, dtype="str"))


def _decision(line: int, moment_id: str, text: str, existing: Collection[str]) -> str:
    place, decision = f"{tables.REVIEW.path}, line {line}", text.strip()
    if moment_id not in existing:
        raise ReviewError(f"{place}: there is no moment {moment_id!r}; remove the line")
    if not is_line(decision):
        raise ReviewError(f"{place}: {decision!r} contains a line break or a control character")
    order = decision.casefold()
    if order in {DROP, KEEP} or BOUND.fullmatch(order):
        return order
    words = decision.casefold().split()
    if len(words) < FEWEST_WORDS or words[0].strip(punctuation) in ORDERS:
        raise ReviewError(
            f"{place}: {decision!r} is not a caption; write {DROP!r} to leave the moment out,"
            f" or {KEEP!r} (or the column `keep` of rewrite_review.csv) to use its caption"
        )
    return decision


def keep_order(caption: str) -> str:
    """Return the decision that keeps this wording and no other."""
    return f"{KEEP} {hashlib.sha256(caption.encode('utf-8', 'replace')).hexdigest()[:DIGITS]}"


def decide(captions: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions with people's `checked` decisions put in; `moment_id` is the key of both.

    A decided wording has the source `review`, no scores, and the status `reviewed`. A caption
    that is kept has that status too, and stays what it is, with its scores; one that is not the
    wording that was to be kept keeps its own status. A dropped moment keeps its last caption,
    with the status `dropped`.
    """
    decided = dict(zip(decisions["moment_id"], decisions["caption"], strict=True))
    order = captions["moment_id"].map(decided).astype(object)
    dropped, kept = order.eq(DROP), order.eq(KEEP) | order.eq(_keep_orders(captions))
    worded = (
        order.notna() & ~dropped & ~order.fillna("").str.fullmatch(rf"(?:{KEEP}|{BOUND.pattern})")
    )
    result = captions.assign(
        caption=captions["caption"].mask(worded, order),
        source=captions["source"].mask(worded, "review"),
        status=captions["status"].mask(worded | kept, "reviewed").mask(dropped, "dropped"),
    )
    result.loc[worded, ["model", "prompt", "similarity", "name_score"]] = None
    return result


def list_outdated_lines(captions: pd.DataFrame, decisions: pd.DataFrame) -> list[int]:
    """Return the lines of the decisions that keep a wording which the moment no longer has."""
    now = dict(zip(captions["moment_id"], _keep_orders(captions), strict=True))
    bound = decisions[decisions["caption"].map(lambda text: BOUND.fullmatch(text) is not None)]
    return [int(line) for line, moment_id, text in bound.itertuples() if now[moment_id] != text]


def _keep_orders(captions: pd.DataFrame) -> pd.Series:
    return captions["caption"].map(keep_order).astype(object)


def list_for_review(
    captions: pd.DataFrame,
    moments: pd.DataFrame,
    failed: pd.DataFrame,
    doubts: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return what people should look at: repairs, what still fails, and what may name somebody.

    `failed` says of each moment of the first two which check failed and with which score:
    `moment_id, check, score`. `doubts` says of each of the last which words may be names
    (`DOUBTS`); such a caption is used, with the status `passed`. `keep` is what to write into
    review.csv for a caption that is right as it is.
    """
    doubts = pd.DataFrame(columns=DOUBTS) if doubts is None else doubts
    rewritten = captions["status"].isin(["repaired", "failed"])
    doubtful = captions["moment_id"].isin(doubts["moment_id"])
    joined = captions[rewritten | doubtful].merge(moments[["moment_id", "description"]])
    reasons = pd.concat([failed, doubts[~doubts["moment_id"].isin(failed["moment_id"])]])
    joined = joined.merge(reasons[failed.columns], on="moment_id", how="left")
    joined = joined.merge(doubts[["moment_id", "names"]], on="moment_id", how="left")
    joined = joined.assign(keep=_keep_orders(joined))
    columns = ["moment_id", "status", "check", "score", "description", "caption", "keep", "names"]
    return joined[columns].sort_values(["status", "moment_id"], ignore_index=True)
