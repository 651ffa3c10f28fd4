"""Judged beside nDCG: how much of what is scored people have looked at."""

from collections.abc import Sequence

from momentrank.measures import Judged, Measure, nDCG


def add_judged(measures: Sequence[Measure]) -> list[Measure]:
    """Return measures with Judged beside every nDCG with a cutoff."""
    judged = [
        Judged(**{name: m.params[name] for name in ("iou", "strict") if name in m.params}) @ cutoff
        for m in measures
        if m.NAME == nDCG.NAME and (cutoff := m.params.get("cutoff"))
    ]
    return list(dict.fromkeys([*measures, *judged]))
