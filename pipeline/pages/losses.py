"""What was rejected at any stage, and why; and the results of rewriting and its checks."""

from typing import NamedTuple

import pandas as pd

from pipeline.pages.html_tables import Grid, count, percent, share
from pipeline.pages.report_inputs import Sources

REASONS = {
    "moments": "Moments that ingest rejected",
    "captions": "Captions that failed a check in every round",
    "dropped": "Captions that a person dropped",
    "clips": "Moments without a clip",
    "judgments": "Answers that are not judgments",
    "voided": "Votes that the lead withdrew",
}
ROUND = {
    "distinct_descriptions": "Descriptions",
    "passed": "Passed",
    "failed_names": "Name found",
    "failed_similarity": "Too dissimilar",
    "failed_detail": "Details lost",
    "failed_damage": "Words lost or phrases broken",
    "failed_form": "Faulty form",
    "without_draft": "No draft",
}


class Rejected(NamedTuple):
    """How many of a kind were rejected for a reason, and the file that lists them."""

    kind: str
    reason: str
    number: int
    file: str


def list_rejected(sources: Sources) -> list[Rejected]:
    """Return what was rejected, by kind and reason, the most frequent first."""
    review = sources.rewrite_review
    failed = review[review["status"] == "failed"].drop_duplicates("moment_id")
    dropped = sources.metrics["rewrite"]["moments_by_status"].get("dropped", 0)
    withdrawn = sources.collection.withdrawn
    lists = {
        "moments": (sources.rejected_moments["reason"], "rejected_moments.csv"),
        "captions": (failed["check"].fillna("no draft"), "rewrite_review.csv"),
        "dropped": (pd.Series(["dropped by a person"] * dropped, dtype="str"), "review.csv"),
        "clips": (sources.failed_clips["reason"], "failed_clips.csv"),
        "judgments": (sources.rejected_judgments["reason"], "rejected_judgments.csv"),
        "voided": (pd.Series(["voided"] * withdrawn, dtype="str"), "voided.csv"),
    }
    return [
        Rejected(kind, str(reason), int(number), file)
        for kind, (reasons, file) in lists.items()
        for reason, number in sorted(
            reasons.value_counts().items(), key=lambda item: (-item[1], str(item[0]))
        )
    ]


def count_lost(sources: Sources) -> tuple[int, int]:
    """Return how many of the corpus's moments were lost before judging, and of how many."""
    ingest, rewrite = sources.metrics["ingest"], sources.metrics["rewrite"]
    refused, dropped = ingest["rejected"], rewrite["moments"] - rewrite["moments_in_use"]
    return refused + dropped + len(sources.failed_clips), ingest["rows"]


def rejections_grid(rejections: list[Rejected]) -> Grid:
    """Return what was rejected as a table."""
    rows = [(REASONS[r.kind], r.reason, count(r.number), r.file) for r in rejections]
    none = "" if rows else "Nothing was rejected."
    return Grid("What was rejected", ("What", "Why", "Number", "Listed in"), rows, none)


def rounds_grid(sources: Sources) -> Grid:
    """Return the results of the checks in each round of rewriting."""
    rows = [
        (
            "First draft" if metrics["round"] == 0 else f"Repair {metrics['round']}",
            *(count(metrics[name]) for name in ROUND),
            percent(metrics["share_passed"]),
        )
        for metrics in sources.metrics["rewrite"]["rounds"].values()
    ]
    head = ("Round", *ROUND.values(), "Share passed")
    note = "Distinct descriptions; one may fail several checks. Those that still fail are left out."
    return Grid("Rewriting and its checks", head, rows, note)


def statuses_grid(sources: Sources) -> Grid:
    """Return what became of the captions."""
    rewrite = sources.metrics["rewrite"]
    rows = [
        (name, count(number), percent(share(number, rewrite["moments"])))
        for name, number in sorted(rewrite["moments_by_status"].items())
    ]
    note = f"Rewritten by the backend {rewrite['backend']}."
    return Grid("Captions by status", ("Status", "Moments", "Share"), rows, note)


def table_3(sources: Sources, shown: int = 24) -> Grid:
    """Return the words that replace character names, the most frequent first."""
    words = sources.replacements.sort_values(["count", "word"], ascending=[False, True])
    total = int(words["count"].sum()) if len(words) else 0
    rows = [
        (word, gender or "", count(number), percent(share(number, total)))
        for word, gender, number in words[["word", "gender", "count"]]
        .head(shown)
        .itertuples(index=False, name=None)
    ]
    rest = len(words) - len(rows)
    more = f" {rest} rarer ones are in replacements.csv." if rest > 0 else ""
    note = f"{total:,} words replace a name, {len(words)} of them distinct.{more}"
    head = ("Word", "Gender", "Number", "Share")
    return Grid("Table 3. Words that replace character names", head, rows, note)
