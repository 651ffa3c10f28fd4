"""Agreement, and the scores of the reference runs, as tables."""

import re
from itertools import groupby
from typing import Any

from momentrank.meta.boundaries import BoundaryNoise, describe
from pipeline.pages.html_tables import Cell, Grid, count, decimal, percent
from pipeline.pages.report_inputs import Metrics

GROUPS = {
    "first_two": "First two votes of every pair",
    "all": "All votes",
    "two": "Pairs with two votes",
    "four": "Pairs with four votes",
}
BATCHES = {
    "first_batch": "First two votes, first batch",
    "otherwise": "First two votes, judged otherwise",
}
RUNS = {
    "random": "Random moments",
    "captions": "Caption similarity (reads captions)",
    "ideal": "Ideal order, exact boundaries",
    "jittered": "Ideal order, jittered boundaries",
}
SPLITS = {"test": "test", "val": "validation"}
MEANING = {
    "nDCG": "Gain of the first results, by level and rank, as a share of the highest possible gain."
    " A result counts if its overlap with a judged moment (IoU) is at least the given value.",
    "R": "Share of queries with a relevant moment among the first results.",
    "AxIoU": "The best overlap (IoU) with a relevant moment so far, averaged over the first"
    " results.",
}
SHORT = re.compile(r"\w+(?:\(iou=(?P<iou>[\d.]+)[^)]*\))?@(?P<cutoff>\d+)")
SELECTION = (
    "Pairs have four votes because their first two were too far apart, and two votes because they"
    " were not. This selection lowers agreement among the former and raises it among the latter. It"
    " does not affect the first two votes of every pair. A couple is two people\u2019s votes on one"
    " pair."
)
BY_IOU = ("nDCG", "R")
BOUNDED = {f"nDCG(iou=0.5)@{cutoff}": cutoff for cutoff in (10, 20, 40)}
NOISY = ("captions", "ideal")
BOUNDS = (
    "First the score of the tables above, where what nobody judged counts as not relevant; then the"
    " highest possible one. Judging the rest could swap two runs whose ranges overlap."
)
BY_STRATUM = ("nDCG(iou=0.5)@20", "R(iou=0.5,strict=True)@20", "AxIoU@20")
STRATA = "Each stratum with its judged queries. One without a relevant moment has no score."
DISTANCES = ("nominal", "ordinal", "interval")


def agreement_grids(agreement: Metrics, confidence: float) -> list[Grid]:
    """Return agreement by group of votes, and Cohen's kappa.

    `confidence` is the level of the bootstrap interval.
    """
    interval = percent(confidence, 0)
    head = ("Votes", "Pairs", "Couples", "Exact", "Within 1", "Nominal \u03b1", "Ordinal \u03b1",
            "Interval \u03b1", f"{interval} from", "to")  # fmt: skip
    by_batch = agreement["by_batch"]
    rows = [_group(GROUPS[name], agreement["groups"].get(name)) for name in GROUPS]
    by_stratum = agreement.get("by_stratum", {})
    rows[1:1] = [
        *(_group(title, by_batch[name]) for name, title in BATCHES.items()),
        *(_group(f"First two votes, stratum {name}", own) for name, own in by_stratum.items()),
    ]
    kappa = agreement["kappa"]
    by_two = [
        ("Mean over annotator pairs", *map(_three, kappa["mean_over_annotator_pairs"].values())),
        ("All couples of votes", *map(_three, kappa["all_couples"].values())),
    ]
    number, undefined = kappa["annotator_pairs"], kappa["undefined"]
    without = f"; {undefined} have no \u03ba, as their levels are all equal." if undefined else "."
    note = f"{number} annotator pairs{without}"
    return [
        Grid(
            "Krippendorff\u2019s \u03b1, and equal levels",
            head,
            rows,
            f"{SELECTION} From and to: the {interval} bootstrap interval of the ordinal \u03b1.",
        ),
        Grid("Cohen\u2019s \u03ba", ("Over", "Plain", "Quadratic"), by_two, note),
    ]


def alike_text(alike: Metrics | None) -> str:
    """Return the results for moments with the query's own words (paper, Appendix B.5)."""
    if not alike or not alike["pairs"]:
        return "No pair with the query\u2019s own words has a level yet (paper, Appendix B.5)."
    return (
        f"Of {alike['pairs']:,} pairs whose caption has the query\u2019s own words,"
        f" {alike['below_top']:,} ({percent(alike['share'])}) ended up below level 4"
        " (paper, Appendix B.5: 11.8\u202f%)."
    )


def _group(title: str, group: Metrics | None) -> list[Cell]:
    if group is None:
        return [title, *map(decimal, [None] * 9)]
    alpha = group["alpha"]
    return [
        title,
        count(group["pairs"]),
        count(group["couples"]),
        percent(group["exact"]),
        percent(group["within_1"]),
        *(_three(alpha[name]["alpha"]) for name in DISTANCES),
        _three(alpha["ordinal"]["low"]),
        _three(alpha["ordinal"]["high"]),
    ]


def _three(value: float | None) -> Cell:
    return decimal(value, 3)


def score_grids(scores: Metrics) -> dict[str, list[Grid]]:
    """Return a table for each split and family of measures; none if nothing was scored.

    They are by IoU and cutoff (`wide`), by cutoff alone, their bounds, and by stratum.
    """
    scored = [split for split in SPLITS if scores[split]["runs"]["ideal"]]
    in_strata = [split for split in scored if scores[split].get("strata")]
    return {
        "wide": [_grid(split, name, scores[split]) for name in BY_IOU for split in scored],
        "narrow": [_grid(split, "AxIoU", scores[split]) for split in scored],
        "bounds": [_bounds_grid(split, scores[split]) for split in scored],
        "by_stratum": [
            _stratum_grid(split, measure, scores[split])
            for measure in BY_STRATUM
            for split in in_strata
        ],
    }


def _stratum_grid(split: str, measure: str, scores: Any) -> Grid:  # noqa: ANN401  (JSON)
    strata = scores["strata"]
    rows = [
        (title, *(_three((own["runs"][run] or {}).get(measure)) for own in strata.values()))
        for run, title in RUNS.items()
    ]
    numbers = (f"{name}, {own['judged_queries']:,}" for name, own in strata.items())
    return Grid(f"{measure} by stratum, {SPLITS[split]}", ("Run", *numbers), rows, STRATA)


def describe_boundary_noise(scores: Metrics) -> str:
    """Return what other people's boundaries would do to runs, as a sentence; "" if unknown."""
    measured = (split for split in SPLITS if scores[split]["boundary_noise"])
    if (split := next(measured, None)) is None:
        return ""
    noise = [BoundaryNoise(**each) for each in scores[split]["boundary_noise"]]
    shown = describe([each for each in noise if each.run in NOISY])
    return f"Boundaries are people\u2019s too ({SPLITS[split]}): {shown}."


def _bounds_grid(split: str, scores: Metrics) -> Grid:
    """Return what each run scores if unjudged results are not relevant, and at best."""
    rows: list[list[Cell]] = []
    for run, title in RUNS.items():
        low, high = scores["runs"][run], scores["upper"][run]
        rows.append([title, *(f"{low[name]:.3f} to {high[name]:.3f}" for name in BOUNDED)])
    head = ("Run", *(f"First {cutoff}" for cutoff in BOUNDED.values()))
    title = f"Bounds of nDCG, {SPLITS[split]} ({scores['judged_queries']:,} queries, IoU 0.5)"
    return Grid(title, head, rows, BOUNDS)


def _grid(split: str, family: str, scores: Any) -> Grid:  # noqa: ANN401  (JSON)
    runs = scores["runs"]
    measures = [name for name in runs["ideal"] if name.startswith((f"{family}(", f"{family}@"))]
    matches = [match for match in map(SHORT.fullmatch, measures) if match]
    cutoffs = [f"First {match['cutoff']}" for match in matches]
    rows = [(RUNS[run], *(_three(runs[run][name]) for name in measures)) for run in RUNS]
    title = f"{family}, {SPLITS[split]} ({scores['judged_queries']:,} queries)"
    if family not in BY_IOU:
        return Grid(title, ("Run", *cutoffs), rows, MEANING[family])
    heads = [f"IoU {match['iou']}" for match in matches]
    groups = [(name, len(list(same))) for name, same in groupby(cutoffs)]
    return Grid(title, ("Run", *heads), rows, MEANING[family], groups)
