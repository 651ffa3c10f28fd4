"""The strata of the queries, and the queries to which nothing that was shown answers."""

from collections.abc import Mapping
from typing import Any

from pipeline.campaign.collection import ANSWERS, RELEVANT, Collection, per_query
from pipeline.core.tables import LEVELS
from pipeline.pages.html_tables import Grid, count, decimal, percent
from pipeline.pages.report_inputs import Metrics

WORDED = {
    "corpus": "captions of the corpus",
    "person": "worded by people",
    "model": "made from captions",
}
HEAD = ("Stratum", "Queries", "Negative", "With level", "Mean level",
        *(f"Level {level}" for level in LEVELS), "Judged", "Relevant")  # fmt: skip
MISSED_HEAD = ("Stratum", "Missed", "from", "to", "Audited queries")
MISSED_NOTE = (
    f"Of the moments of level {ANSWERS} and up among the neighbours, the share outside the pool,"
    " with 95 % intervals; few audited queries leave them wide."
)
NOTE = (
    f"Negative: nothing that was shown of a query has level {ANSWERS} or higher. Levels: shares of"
    " the pairs with a level. Judged, relevant: the candidates of a query with a level, and of"
    " level 1 or higher, on average."
)


def describe_strata(collection: Collection) -> dict[str, dict[str, Any]]:
    """Return each stratum's queries, negatives, and queries by origin; empty if there is one."""
    queries = collection.queries
    negative = queries["query_id"].isin(collection.negatives)
    parts = {name: queries["stratum"] == name for name in collection.strata}
    return {
        name: {
            "queries": int(own.sum()),
            "negatives": int((own & negative).sum()),
            "origins": queries.loc[own, "origin"].value_counts().sort_index().to_dict(),
        }
        for name, own in parts.items()
    }


def strata_text(collection: Collection) -> str:
    """Return who worded the queries of each stratum; "" if there is only one."""
    strata = describe_strata(collection)
    parts = (
        f"`{name}`, {numbers['queries']:,} queries ({_join_origins(numbers['origins'])})"
        for name, numbers in strata.items()
    )
    return f"There are {len(strata)} strata: {'; '.join(parts)}." if strata else ""


def _join_origins(origins: Mapping[str, int]) -> str:
    if len(origins) == 1:
        return WORDED[next(iter(origins))]
    return ", ".join(f"{number:,} {WORDED[name]}" for name, number in origins.items())


def strata_grids(collection: Collection) -> list[Grid]:
    """Return levels and relevant moments by stratum; none if there is only one."""
    rows = []
    for name, numbers in describe_strata(collection).items():
        judged = collection.select(name).judged
        shares = [percent((judged["level"] == level).mean()) for level in LEVELS]
        means = [decimal(per_query(judged, lowest).mean()) for lowest in (0, RELEVANT)]
        counts = count(numbers["queries"]), count(numbers["negatives"]), count(len(judged))
        rows.append((name, *counts, decimal(judged["level"].mean()), *shares, *means))
    return [Grid("Strata", HEAD, rows, NOTE)] if rows else []


def missed_grids(missed: Metrics | None) -> list[Grid]:
    """Return what the audit says of the pool by stratum; none if there is only one."""
    rows = [
        (name, *map(percent, (own["share"], own["low"], own["high"])), count(own["queries"]))
        for name, own in ((missed or {}).get("by_stratum") or {}).items()
    ]
    return [Grid("Missed by stratum", MISSED_HEAD, rows, MISSED_NOTE)] if rows else []


def negatives_text(negatives: Mapping[str, Any]) -> str:
    """Return what may be said of the negatives (`campaign.negatives.describe`); "" without any."""
    if not negatives:
        return ""
    number, found = negatives["negative"], negatives["found"] + negatives["later"]
    said = (
        f"Nothing that was shown of {number:,} quer{'y' if number == 1 else 'ies'} has level"
        f" {ANSWERS} or higher: negative. Of all queries that have no own moment, or one that does"
        f" not answer, {found:,} show another answer."
    )
    if negatives["at_most"] is None:
        return f"{said} How often one was missed is not known: {negatives['unknown']}."
    shares = [f"{name} {_bound(part)}" for name, part in negatives["by_stratum"].items()]
    by_stratum = f" By stratum: {', '.join(shares)}." if shares else ""
    return (
        f"{said} No judged moment among the first {negatives['batch']:,} answers them; at most"
        f" {negatives['at_most']:.1%} of the negatives have an answer among the"
        f" {negatives['depth']:,} most similar{_anywhere(negatives)}, if it ranks as others do"
        f" (95 %, one-sided; up to {negatives['missed']:.1%} of all answers there rank below the"
        f" first {negatives['batch']:,}).{by_stratum}"
    )


def _anywhere(negatives: Mapping[str, Any]) -> str:
    share = negatives["at_most_anywhere"]
    return "" if share is None else f", {share:.1%} among all"


def _bound(part: Mapping[str, Any]) -> str:
    share = part["at_most"]
    return "none" if share is None else f"{share:.1%} of {part['negative']:,}"
