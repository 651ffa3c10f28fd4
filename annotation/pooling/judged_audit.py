"""This checkout's audit as far as it is judged: what the pool missed, and a machine's worth."""

from typing import Any

import pandas as pd

from annotation.pooling.inside import find_inside
from annotation.pooling.report import DEEP, NEAR, Judged, Report, is_complete, report
from annotation.votes.votes import is_in
from pipeline.campaign import design
from pipeline.campaign.design import Design
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.campaign.yields import RELEVANT_FROM
from pipeline.core import tables
from pipeline.core.strata import list_strata


def read_report() -> tuple[Report, Design]:
    """Return the audit's results, and how it was drawn.

    Raises:
        FileError: there is no audit, or no consensus yet.
        AuditError: its files don't belong together.
    """
    judged, drawn = read_judged()
    return report(judged, drawn), drawn


def read_judged() -> tuple[Judged, Design]:
    """Return what is known of the audited pairs, and how the audit was drawn (`read_report`)."""
    drawn, audit = design.read(), design.read_drawn()
    levels = tables.CONSENSUS.read()[[*PAIR_KEY, "level", "outcome"]]
    ranks = select_newest(tables.PAIRS.read())[[*PAIR_KEY, "rank", "similarity"]]
    whole = tables.POOL.read(), tables.AUDIT.read(), tables.TOPUP.read()
    inside = find_inside(*whole, levels)
    pairs = pd.concat([ranks.merge(levels, on=PAIR_KEY), _without_clip(audit, levels)])
    return Judged(audit, tables.AUDIT_STRATA.read(), pairs, inside), drawn


def _without_clip(audit: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that were never shown as their clip can't be cut: nobody waits for them."""
    failed = audit["moment_id"].isin(tables.FAILED_CLIPS.read()["moment_id"])
    pairs = audit[failed & ~is_in(audit, shown, PAIR_KEY)]
    level = pd.Series(pd.NA, pairs.index, dtype="Int64")
    return pairs.drop(columns="origin").assign(level=level, outcome="unjudgeable")


def count_judged(waiting: pd.DataFrame) -> dict[str, int] | None:
    """Return how many queries an audit has, and how many are drawn and judged; None without one.

    `waiting` are the campaign's pairs that have no outcome yet (`query_id, moment_id`).
    """
    if (plan := design.find()) is None:
        return None
    audit = design.read_drawn()
    failed = audit["moment_id"].isin(tables.FAILED_CLIPS.read()["moment_id"])
    left = audit.loc[is_in(audit, waiting, PAIR_KEY) & ~failed, "query_id"]
    drawn = design.list_drawn(plan)
    return {"queries": plan.drawn, "drawn": len(drawn), "judged": len(drawn - {*left})}


def measure_audit(queries: pd.DataFrame) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return what the pool missed, and the gain from a machine's levels, for JSON.

    `queries` are the judged ones, whose strata are told apart. Both are None without an audit, the
    gain also if no machine was used.

    Raises:
        AuditError: its files don't belong together.
    """
    if design.read_drawn().empty and not design.PATH.is_file():
        return None, None
    result, drawn = read_report()
    missed = measure_missed(result, drawn)
    return missed | measure_strata(queries), measure_gain(result, drawn)


def measure_strata(queries: pd.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what the pool missed of each stratum (`by_stratum`); nothing if there is only one.

    Of a simple random sample, a stratum's queries are one of that stratum (Cochran, Sampling
    Techniques, 3rd ed., 2.12). `queries` are the judged ones.
    """
    judged, drawn = read_judged()
    measured = {}
    for name in list_strata(queries):
        ids = {*queries.loc[queries["stratum"] == name, "query_id"]}
        own = Judged(*(rows[rows["query_id"].isin(ids)] for rows in judged))
        audited = {*own.audit["query_id"], *ids.intersection(drawn.whole)}
        if audited:
            part = drawn.select(ids, len(audited))
            measured[name] = measure_missed(report(own, part), part)
    return {"by_stratum": measured} if measured else {}


def measure_missed(result: Report, drawn: Design) -> dict[str, Any]:
    """Return the share of relevant neighbours that are outside the pool, with its interval.

    `share`, `low` and `high` are null until every pair is decided: the queries that are done first
    are not like the others. `left` says what is missing, `plan` has the options that draw it, null
    if all is drawn. `deeper` is the exact bound of the relevant moments per query beyond the
    neighbours, where none of those that were drawn is relevant.
    """
    done = result.progress["queries_done"]
    relevant = result.missed[result.missed["level"] == RELEVANT_FROM]
    relevant = relevant if is_complete(result, drawn) else relevant[:0]
    known = relevant[(relevant["where"] == NEAR) & relevant["share"].notna()]
    deeper = relevant.loc[relevant["where"] == DEEP, "unseen_at_most"].dropna()
    share, low, high = (
        float(known[name].iloc[0]) if len(known) else None
        for name in ("share", "share_low", "share_high")
    )
    left = "the audit found nothing relevant, inside the pool or outside"
    if not is_complete(result, drawn):
        left = f"{done:,} of {drawn.drawn:,} queries of the audit are judged"
    return {
        "level": RELEVANT_FROM,
        "depth": drawn.depth,
        "queries": result.progress["queries_used"],
        "finds": int(known["finds"].iloc[0]) if len(known) else None,
        "share": share,
        "low": low,
        "high": high,
        "deeper": float(deeper.iloc[0]) if len(deeper) else None,
        "left": None if share is not None else left,
        "plan": drawn.options if result.progress["queries"] < drawn.drawn else None,
    }


def measure_gain(result: Report, drawn: Design) -> dict[str, Any] | None:
    """Return the width of the audit's intervals relative to those without a machine.

    `widths` are ratios by level, null where they can't be estimated. None if no machine was used.
    """
    if drawn.machine is None:
        return None
    near = result.missed[result.missed["where"] == NEAR]
    ratios = near[["level", "width_ratio"]].astype(object)
    return {
        "machine": drawn.machine,
        "queries": result.progress["queries_used"],
        "widths": ratios.where(ratios.notna(), None).to_dict("records"),
    }
