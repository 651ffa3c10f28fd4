"""Would conclusions change? Runs of systems under people's qrels and under the machine's: pure.

Both qrels are of the same pairs, those with a level by people and by the machine, so that nothing
but levels differs. A machine that judges by captions may favour runs that rank by captions: how
much more these gain under its qrels than others do is held apart, since a lenient machine raises
all runs.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from annotation.machine.confusion import Draws, describe_figure, draw_queries
from annotation.reliability.alpha import Bootstrap
from annotation.reliability.scores import number
from momentrank.functions import score_runs
from momentrank.meta.correlation import tau_b
from momentrank.segments import Floats, Segments, build_qrels, build_run
from pipeline.core import rng

MEASURES = ("nDCG(iou=0.5)@10", "nDCG(iou=0.5)@20", "R(iou=0.5,strict=True)@10", "AxIoU@10")
OF_PEOPLE = ("ideal", "jittered")
"""Reference runs that are made of people's levels: any other levels must score them lower."""
BY_CAPTIONS = "captions"
"""How the names of runs begin that rank by the similarity of captions."""
SHUFFLED = "shuffled"


def is_by_captions(name: str) -> bool:
    """Tell whether a run ranks by captions: it is called `captions`, or `captions-` and more."""
    return name == BY_CAPTIONS or name.startswith(f"{BY_CAPTIONS}-")


def make_qrels(pairs: pd.DataFrame, level: str) -> Segments:
    """Return qrels of pairs (`query_id, video_id, start, end`), whose level is a column."""
    ids = (pairs[name].tolist() for name in ("query_id", "video_id"))
    numbers = (pairs[name].to_numpy("float64") for name in ("start", "end", level))
    return build_qrels(*ids, *numbers)


def shuffle(pairs: pd.DataFrame, seed: int) -> Segments:
    """Return the judged pairs in an order that knows nothing: a system of no kind."""
    drawn = [
        rng.draw(seed, *key) for key in zip(pairs["query_id"], pairs["moment_id"], strict=True)
    ]
    ordered = pairs.assign(drawn=drawn).sort_values(["query_id", "drawn"])
    ids = (ordered[name].tolist() for name in ("query_id", "video_id"))
    numbers = (ordered[name].to_numpy("float64") for name in ("start", "end"))
    rank = ordered.groupby("query_id").cumcount() + 1
    scores = 1 / rank.to_numpy("float64")
    query_ids, video_ids = ids
    start, end = numbers
    return build_run(query_ids, video_ids, start, end, scores, ranks=rank.to_numpy())


def compare_conclusions(
    pairs: pd.DataFrame, runs: Mapping[str, Any], bootstrap: Bootstrap
) -> dict[str, Any] | None:
    """Return what becomes of the order of runs, for JSON; None where nothing can be compared.

    `pairs` are `query_id, moment_id, video_id, start, end, people, machine`, `runs` whatever
    `score_runs` reads, by name. Of each measure: `tau_b` of both orders, the largest `swap` of two
    runs, `bias` (the machine's mean less people's, over the runs that are not made of people's
    levels), and `favour`: by how much the bias of runs by captions is above that of the others.
    """
    if pairs.empty:
        return None
    qrels = [make_qrels(pairs, name) for name in ("people", "machine")]
    known = {**runs, SHUFFLED: shuffle(pairs, bootstrap.seed)}
    people, machine = (score_runs(one, known, MEASURES, "paper") for one in qrels)
    draws = draw_queries(len(people.queries), bootstrap)
    return {
        "queries": len(people.queries),
        "pairs": len(pairs),
        "runs": people.runs,
        "measures": {
            name: _compare(people.runs, one, other, draws)
            for name, one, other in zip(people.measures, people.table, machine.table, strict=True)
        },
    }


def _compare(names: Sequence[str], people: Floats, machine: Floats, draws: Draws) -> dict[str, Any]:
    """Compare the values of runs, shape (runs, queries)."""
    one, other = (np.round(values.mean(axis=1), 12) for values in (people, machine))
    more = machine - people
    systems = [place for place, name in enumerate(names) if name not in OF_PEOPLE]
    own = [place for place in systems if is_by_captions(names[place])]
    others = [place for place in systems if place not in own]
    favour = more[own].mean(axis=0) - more[others].mean(axis=0) if own and others else None
    return {
        "people": {name: number(value) for name, value in zip(names, one, strict=True)},
        "machine": {name: number(value) for name, value in zip(names, other, strict=True)},
        "tau_b": number(float(tau_b(one, other))),
        "swap": find_swap(names, one, other),
        "bias": _mean(more[systems].mean(axis=0), draws),
        "favour": None if favour is None else _mean(favour, draws),
    }


def _mean(values: Floats, draws: Draws) -> dict[str, float | None]:
    resampled = draws.times @ values / len(values)
    return describe_figure(float(values.mean()), resampled, draws.confidence)


def find_swap(names: Sequence[str], people: Floats, machine: Floats) -> dict[str, Any] | None:
    """Return the two runs that change places, and whose differences are the largest together."""
    swaps = []
    for one, two in combinations(range(len(names)), 2):
        first, second = people[one] - people[two], machine[one] - machine[two]
        if first * second < 0:
            better, worse = (one, two) if first > 0 else (two, one)
            swaps.append((abs(first) + abs(second), better, worse))
    if not swaps:
        return None
    _, better, worse = max(swaps, key=lambda swap: swap[0])
    return {
        "better": names[better],
        "worse": names[worse],
        "people": number(people[better] - people[worse]),
        "machine": number(machine[better] - machine[worse]),
    }
