"""Rewrite, check, repair, up to a number of rounds (paper, section 3.1).

Pure: the rewriter and the checks are passed in. A caption that passes is not touched again; one
that fails is rewritten until it passes or the rounds run out.

A repair must fix something and make nothing worse. A rewriter that is asked again may leave out
too much to satisfy a check: "someone does something" names nobody. So a later version replaces an
earlier one only if it fails fewer checks and none that the earlier one passed, is at least as
similar to the description, and keeps at least as many details.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pipeline.captions.rewriter import Moment, Rewrite, Rewriter

Check = Callable[[Sequence[str], Sequence[str]], pd.DataFrame]
"""From captions and descriptions to `checks.COLUMNS` without `names` of each."""

FAILURES = ["named", "unlike", "vague", "broken", "deformed"]
"""Columns of booleans: which checks a version fails."""
FAILED = ["moment_id", "check", "score", "damage", "form"]
VERSION = ["caption", "similarity", "name_score", "detail", *FAILURES]
"""What is kept of a version of a caption until a better one replaces it."""
DIGITS = 4
"""Decimals of a share in the metrics."""


@dataclass
class RepairResult:
    """The captions, which check each failed one fails, and the figures of each round.

    `captions` has `moment_id, caption, rounds, similarity, name_score, status`; without a rewrite,
    the caption is the description and the status is `failed`.
    """

    captions: pd.DataFrame
    failed: pd.DataFrame
    rounds: list[dict[str, Any]] = field(default_factory=list)


def rewrite_and_repair(
    moments: Sequence[Moment], rewriter: Rewriter, check: Check, repairs: int
) -> RepairResult:
    """Return every moment's caption after at most `repairs` repairs."""
    table = _start(moments)
    failed = pd.DataFrame(columns=FAILED, dtype=object)
    rounds: list[dict[str, Any]] = []
    for attempt in range(repairs + 1):
        left = table["status"] == "failed"
        if not left.any():
            break
        asked = [Moment(*row) for row in table.loc[left, ["moment_id", "description"]].to_numpy()]
        results = _check(asked, list(rewriter.rewrite(asked, attempt)), check)
        before = table[left].reset_index(drop=True)
        better = improves(results, before) | ~before["drafted"]
        results = results.assign(taken=results["caption"].notna() & better)
        table = _take(table, results, attempt)
        rounds.append(_count_outcomes(attempt, results))
        failed = _update_failed(failed, results)
    columns = ["moment_id", "caption", "rounds", "similarity", "name_score", "status"]
    return RepairResult(table[columns], failed.reset_index(drop=True), rounds)


def _start(moments: Sequence[Moment]) -> pd.DataFrame:
    """Return a row per moment, as if its description had failed every check."""
    table = pd.DataFrame(moments, columns=list(Moment._fields))
    scores = dict.fromkeys(("similarity", "name_score", "detail"))
    failures = dict.fromkeys(FAILURES, True)
    return table.assign(
        caption=table["description"], rounds=0, status="failed", drafted=False, **scores, **failures
    )


def _check(asked: Sequence[Moment], rewrites: Sequence[Rewrite], check: Check) -> pd.DataFrame:
    """Join captions and descriptions by id, check the captions, and name what fails."""
    table = pd.DataFrame(rewrites, columns=list(Rewrite._fields)).set_index("moment_id")
    table = table.loc[[moment.moment_id for moment in asked]].reset_index()
    table["description"] = [moment.description for moment in asked]
    written = table["caption"].notna()
    checks = check(list(table.loc[written, "caption"]), list(table.loc[written, "description"]))
    table = table.join(checks.set_index(table.index[written]))
    named, unlike, vague, broken, deformed = (
        table[f"{name}_ok"].eq(False).fillna(False)
        for name in ("names", "similarity", "detail", "damage", "form")
    )
    table["check"] = table["outcome"].mask(deformed, "form").mask(broken, "damage")
    table["check"] = table["check"].mask(vague, "detail").mask(unlike, "similarity")
    table["score"] = table["detail"].where(vague).mask(unlike, table["similarity"])
    table["check"] = table["check"].mask(named, "names")
    table["score"] = table["score"].mask(named, table["name_score"])
    failures = {"named": named, "unlike": unlike, "vague": vague, "broken": broken}
    table = table.assign(**failures, deformed=deformed)
    return table.assign(passed=written & ~table[FAILURES].any(axis=1))


def improves(later: pd.DataFrame, earlier: pd.DataFrame) -> pd.Series:
    """Return for each row whether the later version replaces the earlier one.

    Both have `FAILURES`, `similarity` and `detail`, and the same index. Where
    details are not measured, fewer failures are enough, as in the paper.
    """
    new, old = later[FAILURES].astype(bool), earlier[FAILURES].astype(bool)
    fixes = (old & ~new).any(axis=1) & ~(new & ~old).any(axis=1)
    scores = ["similarity", "detail"]
    fell = (later[scores].astype(float) < earlier[scores].astype(float)).any(axis=1)
    return fixes & ~(fell & earlier["detail"].notna())


def _update_failed(failed: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Return the check that each caption failed: the version in use, or the one repaired.

    If there is no new caption, or no better one, the previous version's check stays.
    """
    failures = results[~results["passed"]]
    is_listed = failures["moment_id"].isin(failed["moment_id"])
    rows = failures.loc[failures["taken"] | ~is_listed, FAILED]
    return pd.concat([failed[~failed["moment_id"].isin(rows["moment_id"])], rows])


def _take(table: pd.DataFrame, results: pd.DataFrame, attempt: int) -> pd.DataFrame:
    """Insert a round's improvements; captions that still fail stay `failed`."""
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


def _count_outcomes(attempt: int, results: pd.DataFrame) -> dict[str, Any]:
    """Count the distinct descriptions of a round; one that fails two checks counts for both.

    `worse` passed, but is worse in another way than the previous version, which is kept.
    """
    undrafted = Counter(results.loc[results["caption"].isna(), "outcome"])
    counts = {
        "passed": int(results["passed"].sum()),
        "failed_names": int(results["named"].sum()),
        "failed_similarity": int(results["unlike"].sum()),
        "failed_detail": int(results["vague"].sum()),
        "failed_damage": int(results["broken"].sum()),
        "failed_form": int(results["deformed"].sum()),
        "worse": int((results["passed"] & ~results["taken"]).sum()),
        "without_draft": undrafted.total(),
    }
    shares = {f"share_{key}": round(n / len(results), DIGITS) for key, n in counts.items()}
    result = {"round": attempt, "distinct_descriptions": len(results), **counts, **shares}
    return result | {"why_without_draft": dict(sorted(undrafted.items()))}
