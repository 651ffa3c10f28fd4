"""Would conclusions change? Runs of systems under people's qrels and under the machine's: pure.

Both qrels have the same pairs, those with a level from people and from the machine, so only the
levels differ. A machine that judges by captions may favour runs that rank by captions. Under each
qrels, a run is placed somewhere between a random order of the judged pairs and the ideal one; a
lenient machine moves both ends. The favour for runs by captions is how much higher they are placed
under the machine's qrels, minus how much higher other runs are.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.confusion import Draws, describe_estimate, draw_queries
from annotation.reliability.alpha import Bootstrap
from annotation.reliability.scores import number
from momentrank.functions import evaluator
from momentrank.meta.correlation import tau_b
from momentrank.prediction_powered import MIN_JUDGED, estimate_mean
from momentrank.segments import Floats, Segments, build_qrels, build_run
from pipeline.campaign.collection import RELEVANT
from pipeline.core import rng

HALVES = 100


def measure_worth(
    people: Floats, machine: Floats, runs: Iterable[int], seed: int
) -> dict[str, Any] | None:
    """Return what queries judged by people and a machine are worth, for JSON.

    People judge a random half, the machine all: prediction-powered inference combines both into a
    mean. They are worth as many queries as people alone would have to judge for an equally narrow
    interval. Halves are drawn many times, from queries that people have in fact all judged.

    `people` and `machine` are the values of runs, shape (runs, queries), under either's qrels. None
    if there are too few queries, or no runs. `inside` is how often people's mean over all queries
    is in the interval.
    """
    queries = people.shape[1]
    judged, chosen = queries // 2, [*runs]
    if judged < MIN_JUDGED or not chosen:
        return None
    random = np.random.default_rng(seed)
    effective, inside = [], []
    for _ in range(HALVES):
        order = random.permutation(queries)
        judged_rows, rest = order[:judged], order[judged:]
        for run in chosen:
            estimate = estimate_mean(
                people[run, judged_rows], machine[run, judged_rows], machine[run, rest]
            )
            effective.append(estimate.effective)
            inside.append(estimate.combined.low <= people[run].mean() <= estimate.combined.high)
    return {
        "judged": judged,
        "population": queries,
        "effective": number(float(np.mean(effective))),
        "inside": number(float(np.mean(inside))),
    }


MEASURES = ("nDCG(iou=0.5)@10", "nDCG(iou=0.5)@20", "R(iou=0.5,strict=True)@10", "AxIoU@10")
OF_PEOPLE = ("ideal", "jittered")
"""Reference runs made from people's levels: any other levels must score them lower."""
BY_CHANCE = ("random",)
BY_CAPTIONS = "captions"
"""How the names of runs that rank by caption similarity begin."""
SHUFFLED, SHUFFLES = "shuffled", 10
LEVELS_OF = ("people", "machine")
IDEAL = "\0ideal"
ROUNDING = 1e-9


def is_by_captions(name: str) -> bool:
    """Return whether a run ranks by captions: its name is `captions`, or begins `captions-`."""
    return name == BY_CAPTIONS or name.startswith(f"{BY_CAPTIONS}-")


class Systems(NamedTuple):
    """Values of runs by one measure and qrels, shape (runs, queries), and both ends of the scale.

    `chance` is the mean over random orders of the judged pairs, `ideal` the order of their levels,
    shape (queries,) each.
    """

    runs: Floats
    chance: Floats
    ideal: Floats


def compare_conclusions(
    pairs: pd.DataFrame, runs: Mapping[str, Any], bootstrap: Bootstrap
) -> dict[str, Any] | None:
    """Return how the order of runs changes, for JSON; None if nothing can be compared.

    `pairs` are `query_id, moment_id, video_id, start, end, people, machine`, `runs` are `Segments`
    by name. Only queries count to which both give a relevant moment. For each measure: `tau_b` of
    both orders, the largest `swap` of two runs, `bias` (the machine's mean minus people's, over the
    runs that are not made from people's levels), and `favour`, null without a run by captions.
    `others` are the runs that these are compared with: without any, `favour` is how much higher
    runs by captions are placed. `worth` covers the runs that are not drawn by chance, see
    `measure_worth`.
    """
    pairs = _select_compared(pairs)
    if pairs.empty:
        return None
    names = [*runs, SHUFFLED]
    people, machine = ([*_score(pairs, runs, level, bootstrap.seed)] for level in LEVELS_OF)
    draws = draw_queries(people[0].runs.shape[1], bootstrap)
    return {
        "queries": people[0].runs.shape[1],
        "pairs": len(pairs),
        "runs": names,
        "others": [name for name in runs if _is_other(name)],
        "measures": {
            name: _compare(names, of_people, of_machine, draws)
            | {"worth": _find_worth(names, of_people, of_machine, bootstrap.seed)}
            for name, of_people, of_machine in zip(MEASURES, people, machine, strict=True)
        },
    }


def _select_compared(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of queries to which people and machine give a relevant moment."""
    highest = pairs.groupby("query_id")[[*LEVELS_OF]].max()
    compared = highest.index[(highest >= RELEVANT).all(axis=1)]
    return pairs[pairs["query_id"].isin(compared)]


def _is_other(name: str) -> bool:
    return not is_by_captions(name) and name not in (*OF_PEOPLE, *BY_CHANCE, SHUFFLED)


def _score(pairs: pd.DataFrame, runs: Mapping[str, Any], level: str, seed: int) -> list[Systems]:
    """Return the values of all runs by each measure, under the qrels of one kind of level."""
    orders = {f"\0{number}": shuffle(pairs, seed, number) for number in range(SHUFFLES)}
    rankings = {
        **runs,
        **orders,
        IDEAL: _rank(pairs.sort_values(level, ascending=False, kind="stable")),
    }
    scorer = evaluator(MEASURES, make_qrels(pairs, level), "paper")
    scored = [scorer.per_query({"": run}) for run in rankings.values()]
    tables = [np.array([values[measure][1] for values in scored]) for measure in scorer.measures]
    chance_from, end = len(runs), len(runs) + SHUFFLES
    return [
        Systems(np.vstack([table[:chance_from], chance]), chance, table[end])
        for table in tables
        for chance in [table[chance_from:end].mean(axis=0)]
    ]


def make_qrels(pairs: pd.DataFrame, level: str) -> Segments:
    """Return qrels of pairs (`query_id, video_id, start, end`) with a column as the level."""
    ids = (pairs[name].tolist() for name in ("query_id", "video_id"))
    numbers = (pairs[name].to_numpy("float64") for name in ("start", "end", level))
    return build_qrels(*ids, *numbers)


def shuffle(pairs: pd.DataFrame, seed: int, number: int = 0) -> Segments:
    """Return the judged pairs in a random order."""
    keys = zip(pairs["query_id"], pairs["moment_id"], strict=True)
    drawn = [rng.draw(seed, number, *key) for key in keys]
    return _rank(pairs.assign(drawn=drawn).sort_values("drawn"))


def _rank(ordered: pd.DataFrame) -> Segments:
    """Return pairs as a run, in their order within a query."""
    query_ids, video_ids = (ordered[name].tolist() for name in ("query_id", "video_id"))
    start, end = (ordered[name].to_numpy("float64") for name in ("start", "end"))
    rank = ordered.groupby("query_id").cumcount().to_numpy("float64") + 1
    return build_run(query_ids, video_ids, start, end, 1 / rank, ranks=rank)


def _compare(
    names: Sequence[str], people: Systems, machine: Systems, draws: Draws
) -> dict[str, Any]:
    of_people, of_machine = (
        np.round(systems.runs.mean(axis=1), 12) for systems in (people, machine)
    )
    real = [row for row, name in enumerate(names) if name not in OF_PEOPLE]
    bias = (machine.runs - people.runs)[real].mean(axis=0)
    return {
        "people": {name: number(value) for name, value in zip(names, of_people, strict=True)},
        "machine": {name: number(value) for name, value in zip(names, of_machine, strict=True)},
        "tau_b": number(float(tau_b(of_people, of_machine))),
        "swap": find_swap(names, of_people, of_machine),
        "bias": describe_estimate(
            float(bias.mean()), draws.times @ bias / len(bias), draws.confidence
        ),
        "favour": _favour(names, people, machine, draws),
    }


def _find_worth(
    names: Sequence[str], people: Systems, machine: Systems, seed: int
) -> dict[str, Any] | None:
    runs = [row for row, name in enumerate(names) if is_by_captions(name) or _is_other(name)]
    return measure_worth(people.runs, machine.runs, runs, seed)


def _favour(
    names: Sequence[str], people: Systems, machine: Systems, draws: Draws
) -> dict[str, float | None] | None:
    by_captions = [row for row, name in enumerate(names) if is_by_captions(name)]
    others = [row for row, name in enumerate(names) if _is_other(name)]
    if not by_captions:
        return None

    def more(times: Floats) -> Floats:
        gain = _stand(machine, times) - _stand(people, times)
        kind: Floats = gain[by_captions].mean(axis=0)
        return kind - gain[others].mean(axis=0) if others else kind

    queries = people.runs.shape[1]
    [value] = more(np.ones((1, queries)))
    return describe_estimate(float(value), more(draws.times), draws.confidence)


def _stand(systems: Systems, times: Floats) -> Floats:
    """Return the place of runs from chance (0) to the ideal (1), shape (runs, resamples)."""
    runs, chance, ideal = systems.runs @ times.T, systems.chance @ times.T, systems.ideal @ times.T
    scale = ideal - chance
    defined = scale > ROUNDING * len(systems.chance)
    return np.where(defined, (runs - chance) / np.where(defined, scale, 1), np.nan)


def find_swap(names: Sequence[str], people: Floats, machine: Floats) -> dict[str, Any] | None:
    """Return the two runs that change places with the largest sum of differences."""
    swaps = []
    for i, j in combinations(range(len(names)), 2):
        first, second = people[i] - people[j], machine[i] - machine[j]
        if first * second < 0:
            better, worse = (i, j) if first > 0 else (j, i)
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
