"""Choose the captions that are varied, until as many variants as wanted pass the checks."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.captions.rewriter import Moment, Rewrite, Rewriter
from pipeline.captions.variants.variant_checks import (
    CHANGED,
    Checks,
    describe_change,
    normalize,
    share_details,
)
from pipeline.core import rng, tables
from pipeline.core.captions import text_key
from pipeline.core.sections import Vary

STRATA = ("vague", "gist", CHANGED)
TRIES = 20
"""Captions that are tried, at most, for each variant that is wanted."""

Compare = Callable[[Sequence[str], Sequence[str]], npt.NDArray[np.float64]]
"""The similarity of each text to the other at its place."""


def order_captions(pool: pd.DataFrame, seed: int) -> list[Moment]:
    """Return the distinct captions of `moment_id, caption`, as moments, in the order of trial."""
    distinct = pool[~text_key(pool["caption"]).duplicated()]
    moments = [Moment(*row) for row in distinct[["moment_id", "caption"]].to_numpy()]
    return sorted(moments, key=lambda moment: rng.draw(seed, moment.moment_id))


def vary(
    ordered: Sequence[Moment], rewriters: Mapping[str, Rewriter], checks: Checks, compare: Compare
) -> pd.DataFrame:
    """Return the table `VARIANTS` of all that was tried.

    A caption with a variant that passed is not varied again, and no two variants that pass have
    the same words. The `description` of the `ordered` moments is the caption.
    """
    rows: list[dict[str, Any]] = []
    used: set[str] = set()
    for stratum, rewriter in rewriters.items():
        wanted = getattr(checks.limits, stratum)
        free = iter(
            [moment for moment in ordered if moment.moment_id not in used][: TRIES * wanted]
        )
        while wanted and (
            block := [moment for _, moment in zip(range(wanted), free, strict=False)]
        ):
            tried = list(_try(block, stratum, rewriter, checks, compare))
            _fail_repeats(rows, tried)
            passed = [row["moment_id"] for row in tried if row["status"] == "passed"]
            used.update(passed)
            wanted -= len(passed)
            rows += tried
    return tables.VARIANTS.check(pd.DataFrame(rows, columns=tables.VARIANTS.columns))


def _try(
    block: Sequence[Moment], stratum: str, rewriter: Rewriter, checks: Checks, compare: Compare
) -> Iterator[dict[str, Any]]:
    rewrites = {rewrite.moment_id: rewrite for rewrite in rewriter.rewrite(block, 0)}
    written = [moment for moment in block if rewrites[moment.moment_id].caption is not None]
    texts = [str(rewrites[moment.moment_id].caption) for moment in written]
    similarities: dict[str, float] = {}
    if written:
        alike = compare(texts, [moment.description for moment in written])
        similarities = {m.moment_id: float(found) for m, found in zip(written, alike, strict=True)}
    by = {"source": rewriter.source, "model": rewriter.model, "prompt": rewriter.prompt}
    for moment in block:
        rewrite = rewrites[moment.moment_id]
        similarity = similarities.get(moment.moment_id)
        yield by | _describe(moment, rewrite, stratum, similarity, checks)


def _describe(
    moment: Moment, rewrite: Rewrite, stratum: str, similarity: float | None, checks: Checks
) -> dict[str, Any]:
    """Return the row of a variant, or of a caption that has none."""
    caption = moment.description
    row = {"moment_id": moment.moment_id, "stratum": stratum, "caption": caption}
    if rewrite.caption is None or similarity is None:
        failed = {"query": caption, "similarity": None, "detail": None, "status": "failed"}
        return row | failed | {"note": rewrite.outcome}
    fault = checks.find_fault(stratum, caption, rewrite.caption, similarity)
    change = describe_change(caption, rewrite.caption) if stratum == CHANGED else None
    return row | {
        "query": rewrite.caption,
        "similarity": similarity,
        "detail": share_details(caption, rewrite.caption),
        "status": "failed" if fault else "passed",
        "note": fault or change,
    }


def _fail_repeats(before: Sequence[dict[str, Any]], tried: Sequence[dict[str, Any]]) -> None:
    """Let what has the words of another that passed fail."""
    known = {normalize(row["query"]) for row in before if row["status"] == "passed"}
    for row in tried:
        if row["status"] == "passed" and normalize(row["query"]) in known:
            row |= {"status": "failed", "note": "it is another variant"}
        elif row["status"] == "passed":
            known.add(normalize(row["query"]))


def count_outcomes(variants: pd.DataFrame, limits: Vary) -> dict[str, Any]:
    """Return the counts of each stratum: wanted, tried, passed, and failed by reason."""
    return {
        stratum: {
            "wanted": getattr(limits, stratum),
            "tried": len(rows),
            "passed": int((rows["status"] == "passed").sum()),
            "failed": dict(sorted(Counter(_reasons(rows)).items())),
        }
        for stratum in STRATA
        for rows in [variants[variants["stratum"] == stratum]]
    }


def _reasons(rows: pd.DataFrame) -> list[str]:
    notes = rows.loc[rows["status"] == "failed", "note"]
    return [note.split(":")[0] for note in notes]
