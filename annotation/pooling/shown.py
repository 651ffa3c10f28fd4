"""What an audit says, as people and as programs read it."""

import json
from typing import Any

import pandas as pd

from annotation.pooling.design import Design
from annotation.pooling.report import Report


def as_json(found: Report, drawn: Design) -> dict[str, Any]:
    """Return the report as JSON has it: what is not known is null."""
    frames = {name: getattr(found, name) for name in ("by_similarity", "by_rank", "beyond")}
    return {
        "complete": found.progress["decided"] == found.progress["pairs"],
        "design": drawn.model_dump(),
        "progress": found.progress,
        **{name: json.loads(frame.to_json(orient="records")) for name, frame in frames.items()},
    }


def as_text(found: Report, drawn: Design) -> str:
    """Return the report as people read it."""
    parts = [
        _progress(found.progress, drawn),
        f"Levels by similarity\n\n{_columns(found.by_similarity)}",
        f"Levels by rank\n\n{_columns(found.by_rank)}",
        f"Relevant moments beyond a rank\n\n{_beyond(found, drawn)}",
    ]
    return "\n\n".join(parts)


def _progress(progress: dict[str, int], drawn: Design) -> str:
    pairs, decided = progress["pairs"], progress["decided"]
    state = "complete" if pairs == decided else "INCOMPLETE"
    return (
        f"Audit of {drawn.drawn} of {drawn.queries} queries, {state}: {decided:,} of {pairs:,}"
        f" pairs are decided ({progress['without_level']:,} of them without a level), all of"
        f" {progress['queries_done']} queries."
    )


def _columns(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "no pair has a level yet"
    return str(frame.to_string(index=False, float_format=lambda value: f"{value:.2f}"))


def _beyond(found: Report, drawn: Design) -> str:
    if found.beyond.empty:
        return "not before two queries are judged in full"
    frame = found.beyond
    shown = pd.DataFrame(
        {
            "level": [f">= {level}" for level in frame["level"]],
            "beyond rank": frame["rank"],
            "per query": _spans(frame, "per_query", 1, 1),
            "% of all relevant": _spans(frame, "share", 100, 0),
            "finds": frame["finds"],
        }
    )
    used = found.progress["queries_used"]
    notes = [
        shown.to_string(index=False),
        (
            f"\nEstimated from {used} queries, with 95 % intervals. `finds` counts the relevant"
            f" ones among the random moments beyond rank {drawn.top}: below five an interval is"
            " wide and its lower bound tells little."
        ),
    ]
    none = frame[frame["unseen_at_most"].notna()].drop_duplicates("level")
    notes += [
        f"Level >= {level}: no random moment was relevant. Beyond rank {drawn.top} the audited"
        f" queries have at most {most:.1f} on average (exact one-sided 95 % bound)."
        for level, most in zip(none["level"], none["unseen_at_most"], strict=True)
    ]
    return "\n".join(notes)


def _spans(frame: pd.DataFrame, name: str, unit: float, decimals: int) -> list[str]:
    ends = (frame[f"{name}{end}"] * unit for end in ("", "_low", "_high"))
    return [
        "-" if pd.isna(value) else f"{value:.{decimals}f} ({low:.{decimals}f}, {high:.{decimals}f})"
        for value, low, high in zip(*ends, strict=True)
    ]
