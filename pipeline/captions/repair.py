"""Rewrite, check, repair: up to a number of rounds (paper, section 3.1).

Pure: what rewrites and what checks is passed in. A caption that passes is never touched
again; one that fails is rewritten until it passes or the rounds are over. A repair that is
worse than what it repairs is not taken (`pipeline.captions.versions`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pipeline.captions.rewriter import Draft, Item, Rewriter
from pipeline.captions.versions import FAILURES, improves

Check = Callable[[Sequence[str], Sequence[str]], pd.DataFrame]
"""Captions and descriptions to `name_score, names_ok, similarity, similarity_ok, detail,
detail_ok` each."""

FAILED = ["moment_id", "check", "score"]
VERSION = ["caption", "similarity", "name_score", "detail", *FAILURES]
"""What is kept of a version of a caption, and replaced by that of a better one."""
DIGITS = 4
"""... of a share in the metrics."""


@dataclass
class Rounds:
    """What came of it: a row per moment, the failures told apart, and figures per round.

    `captions` has `moment_id, caption, rounds, similarity, name_score, status`; where no draft
    came, the caption is the description and the status `failed`.
    """

    captions: pd.DataFrame
    failed: pd.DataFrame
    figures: list[dict[str, Any]] = field(default_factory=list)


def rewrite_in_rounds(
    items: Sequence[Item], rewriter: Rewriter, check: Check, repairs: int
) -> Rounds:
    """Return every item with its caption after at most `repairs` repairs."""
    table = _start(items)
    failed = pd.DataFrame(columns=FAILED, dtype=object)
    figures: list[dict[str, Any]] = []
    for attempt in range(repairs + 1):
        left = table["status"] == "failed"
        if not left.any():
            break
        asked = [Item(*row) for row in table.loc[left, ["moment_id", "description"]].to_numpy()]
        results = _checked(asked, list(rewriter.rewrite(asked, attempt)), check)
        results = _compared(results, table[left])
        table = _take(table, results, attempt)
        figures.append(_figures(attempt, results))
        failed = _told(failed, results)
    columns = ["moment_id", "caption", "rounds", "similarity", "name_score", "status"]
    return Rounds(table[columns], failed.reset_index(drop=True), figures)


def _start(items: Sequence[Item]) -> pd.DataFrame:
    """Return a row per item, as if its description had failed every check."""
    table = pd.DataFrame(items, columns=list(Item._fields))
    scores = dict.fromkeys(("similarity", "name_score", "detail"))
    failures = dict.fromkeys(FAILURES, True)
    return table.assign(
        caption=table["description"], rounds=0, status="failed", drafted=False, **scores, **failures
    )


def _checked(asked: Sequence[Item], drafts: Sequence[Draft], check: Check) -> pd.DataFrame:
    """Join drafts and descriptions by id, check what there is, and name what fails."""
    table = pd.DataFrame(drafts, columns=list(Draft._fields)).set_index("moment_id")
    table = table.loc[[item.moment_id for item in asked]].reset_index()
    table["description"] = [item.description for item in asked]
    written = table["caption"].notna()
    checks = check(list(table.loc[written, "caption"]), list(table.loc[written, "description"]))
    table = table.join(checks.set_index(table.index[written]))
    named, unlike, vague = (
        table[name].eq(False).fillna(False) for name in ("names_ok", "similarity_ok", "detail_ok")
    )
    table["check"] = table["outcome"].mask(vague, "detail").mask(unlike, "similarity")
    table["score"] = table["detail"].where(vague).mask(unlike, table["similarity"])
    table["check"] = table["check"].mask(named, "names")
    table["score"] = table["score"].mask(named, table["name_score"])
    passed = written & ~named & ~unlike & ~vague
    return table.assign(named=named, unlike=unlike, vague=vague, passed=passed)


def _compared(results: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Return a round's results with `taken`: there is a draft, and it is the better version."""
    before = before.reset_index(drop=True)
    better = improves(results, before) | ~before["drafted"]
    return results.assign(taken=results["caption"].notna() & better)


def _told(failed: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Return what each caption failed: the version that is kept, or that a repair replaced.

    Where no draft came, or no better one, the check of the version before stays.
    """
    failures = results[~results["passed"]]
    known = failures["moment_id"].isin(failed["moment_id"])
    told = failures.loc[failures["taken"] | ~known, FAILED]
    return pd.concat([failed[~failed["moment_id"].isin(told["moment_id"])], told])


def _take(table: pd.DataFrame, results: pd.DataFrame, attempt: int) -> pd.DataFrame:
    """Put in what a round made better; one that fails stays `failed`."""
    taken = results[results["taken"]].set_index("moment_id")
    rows = table["moment_id"].isin(taken.index)
    ids = table.loc[rows, "moment_id"]
    table = table.copy()
    for name in VERSION:
        table.loc[rows, name] = taken.loc[ids, name].to_numpy()
    table.loc[rows, "rounds"] = attempt
    table.loc[rows, "drafted"] = True
    status = taken.loc[ids, "passed"].map(
        {True: "repaired" if attempt else "passed", False: "failed"}
    )
    table.loc[rows, "status"] = status.to_numpy()
    return table


def _figures(attempt: int, results: pd.DataFrame) -> dict[str, Any]:
    """Count the distinct descriptions of a round; one that fails two checks is in both.

    `worse` passed, but is worse in another way than the version before, which is kept.
    """
    undrafted = Counter(results.loc[results["caption"].isna(), "outcome"])
    counts = {
        "passed": int(results["passed"].sum()),
        "failed_names": int(results["named"].sum()),
        "failed_similarity": int(results["unlike"].sum()),
        "failed_detail": int(results["vague"].sum()),
        "worse": int((results["passed"] & ~results["taken"]).sum()),
        "without_draft": undrafted.total(),
    }
    shares = {f"share_{key}": round(n / len(results), DIGITS) for key, n in counts.items()}
    told = {"round": attempt, "distinct_descriptions": len(results), **counts, **shares}
    return told | {"why_without_draft": dict(sorted(undrafted.items()))}
