"""People's decisions about captions: `datasets/campaign/review.csv`, one line per moment.

The column `caption` has the wording to use; or the word `drop`; or `keep`, which accepts the
caption as it is. `keep 1f6a09d2`, as rewrite_review.csv offers it, keeps only that wording: if
rewriting has changed it since, the decision is not applied. Decisions are committed and override
the results of rewriting.
"""

import hashlib
import re
from collections.abc import Collection
from string import punctuation

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import csv_files, tables
from pipeline.core.text import is_line, list_unreadable

DROP = "drop"
KEEP = "keep"
DIGITS = 8
"""Hexadecimal digits of a kept wording's hash."""
BOUND = re.compile(rf"{KEEP} [0-9a-f]{{{DIGITS}}}")
ORDERS = frozenset(
    {DROP, "delete", "discard", "omit", "please", "reject", "remove", "skip"}
    | {KEEP, "accept", "approve", "retain"}
)
"""Words that begin no caption, but that people may write instead of `drop` and `keep`."""
FEWEST_WORDS = 2
DOUBTS = ["moment_id", "check", "score", "names"]
"""The columns of possible names left in captions in use (`names_found.list_doubts`)."""


class ReviewError(MomentRankError):
    """A decision that can't be applied, with its line."""


def read(moment_ids: Collection[str]) -> pd.DataFrame:
    """Read the decisions about a corpus; the index has their line numbers.

    Raises:
        FileError, TableError: the file is missing, or not a table of decisions.
        ReviewError: see `validate`.
    """
    decisions = tables.REVIEW.read()
    lines = csv_files.read_csv(tables.REVIEW.path).index
    return validate(decisions.set_index(lines), moment_ids)


def validate(decisions: pd.DataFrame, moment_ids: Collection[str]) -> pd.DataFrame:
    """Return the decisions in a form that can be applied: a trimmed wording or an order.

    Raises:
        ReviewError: a decision names a moment that the corpus does not have, or is neither a
            caption of one line nor `drop`, `keep` or `keep` with the hash of a wording.
    """
    existing, rows = set(moment_ids), decisions.itertuples(name=None)
    captions = [_decision(line, moment_id, text, existing) for line, moment_id, text in rows]
    return decisions.assign(caption=pd.Series(captions, decisions.index, dtype="str"))


def _decision(line: int, moment_id: str, text: str, existing: Collection[str]) -> str:
    location, decision = f"{tables.REVIEW.path}, line {line}", text.strip()
    if moment_id not in existing:
        raise ReviewError(f"{location}: there is no moment {moment_id!r}; remove the line")
    if not is_line(decision):
        raise ReviewError(f"{location}: {decision!r} contains a line break or a control character")
    if unreadable := list_unreadable(decision):
        raise ReviewError(f"{location}: {decision!r} contains {unreadable[0]}, which nobody sees")
    order = decision.casefold()
    if order in {DROP, KEEP} or BOUND.fullmatch(order):
        return order
    words = decision.casefold().split()
    if len(words) < FEWEST_WORDS or words[0].strip(punctuation) in ORDERS:
        raise ReviewError(
            f"{location}: {decision!r} is not a caption; write {DROP!r} to leave the moment out,"
            f" or {KEEP!r} (or the column `keep` of rewrite_review.csv) to use its caption"
        )
    return decision


def keep_order(caption: str) -> str:
    """Return the decision that keeps this wording and no other."""
    return f"{KEEP} {hashlib.sha256(caption.encode('utf-8', 'replace')).hexdigest()[:DIGITS]}"


def decide(captions: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions with people's validated decisions applied; both are keyed by `moment_id`.

    A decided wording has the source `review`, no scores, and the status `reviewed`. A kept caption
    has that status too, and keeps its scores; if it is no longer the wording to keep, it keeps its
    own status. A dropped moment keeps its last caption, with the status `dropped`.

    Raises:
        ReviewError: a caption to keep contains a character that nobody sees.
    """
    decided = dict(zip(decisions["moment_id"], decisions["caption"], strict=True))
    order = captions["moment_id"].map(decided).astype(object)
    dropped, accepted = order.eq(DROP), order.eq(KEEP) | order.eq(_keep_orders(captions))
    _refuse_unreadable(captions[accepted], decisions)
    worded = (
        order.notna() & ~dropped & ~order.fillna("").str.fullmatch(rf"(?:{KEEP}|{BOUND.pattern})")
    )
    result = captions.assign(
        caption=captions["caption"].mask(worded, order),
        source=captions["source"].mask(worded, "review"),
        status=captions["status"].mask(worded | accepted, "reviewed").mask(dropped, "dropped"),
    )
    result.loc[worded, ["model", "prompt", "similarity", "name_score"]] = None
    return result


def _refuse_unreadable(kept: pd.DataFrame, decisions: pd.DataFrame) -> None:
    for moment_id, caption in kept[["moment_id", "caption"]].itertuples(index=False):
        if unreadable := list_unreadable(caption):
            line = decisions.index[decisions["moment_id"] == moment_id][0]
            raise ReviewError(
                f"{tables.REVIEW.path}, line {line}: the caption to keep contains {unreadable[0]},"
                " which nobody sees; write the wording instead"
            )


def list_outdated_lines(captions: pd.DataFrame, decisions: pd.DataFrame) -> list[int]:
    """Return the lines of decisions to keep a wording that the moment no longer has."""
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
    """Return what people should look at: repairs, failures, and captions that may name someone.

    `failed` has the failed check of repairs and failures, its score, and what is damaged or has
    a fault of form: `repair.FAILED`.
    `doubts` has the possible names in the others (`DOUBTS`); such captions are in use, with the
    status `passed`. `keep` is what to write into review.csv if a caption is right as it is.
    """
    doubts = pd.DataFrame(columns=DOUBTS) if doubts is None else doubts
    rewritten = captions["status"].isin(["repaired", "failed"])
    doubtful = captions["moment_id"].isin(doubts["moment_id"])
    joined = captions[rewritten | doubtful].merge(moments[["moment_id", "description"]])
    reasons = pd.concat([failed, doubts[~doubts["moment_id"].isin(failed["moment_id"])]])
    joined = joined.merge(reasons.reindex(columns=failed.columns), on="moment_id", how="left")
    joined = joined.merge(doubts[["moment_id", "names"]], on="moment_id", how="left")
    joined = joined.assign(keep=_keep_orders(joined))
    columns = ["moment_id", "status", "check", "score", "description", "caption", "keep"]
    return joined[[*columns, "names", "damage", "form"]].sort_values(
        ["status", "moment_id"], ignore_index=True
    )
