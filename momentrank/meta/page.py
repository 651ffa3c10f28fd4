"""The page: a figure for each experiment, its question, and the table behind it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from momentrank.meta import charts
from momentrank.meta.estimation import THETAS
from momentrank.meta.experiments import Tables, cell_text
from momentrank.rankings import document, show_source

DIGITS = 4
STYLE = """
:root { --heat: #4a68bd; }
@media (prefers-color-scheme: dark) { :root { --heat: #7f9cf0; } }
.figures { overflow-x: auto; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
svg { display: block; max-width: none; margin: 0.8rem 0; font-size: 11.5px; }
svg text { fill: var(--ink); } .mid { text-anchor: middle; } .end { text-anchor: end; }
.axis { fill: var(--soft); } .grid { stroke: var(--line); } .heat, .bar { fill: var(--heat); }
.line { fill: none; stroke: var(--c); stroke-width: 2; } svg .name { fill: var(--c); }
.s0 { --c: #3b66c4; } .s1 { --c: #c4572a; } .s2 { --c: #2f8a57; } .s3 { --c: #8a4fb5; }
.s4 { --c: #a8801a; } .s5 { --c: #1f8a9c; } .s6 { --c: #b83a68; } .s7 { --c: #6f7d2c; }
.s8 { --c: #7a7f88; } figure { margin: 0; }
"""
ASKED = {
    "effectiveness": "The mean of each run by each measure.",
    "agreement": "Kendall's tau-b between the orders of the runs by any two measures. 1: both"
    " agree; the lower, the more the choice of measure decides who wins.",
    "stability": "Mean tau-b between the orders on two sets of that many queries. The higher, the"
    " less the order depends on the choice of queries.",
    "needed": "The fewest queries at which the order reaches the target tau-b, and from which on a"
    " difference of the target size changes its sign between two such sets in at most 5 % of cases."
    " Empty: more than the largest size.",
    "power": "The share of pairs of runs that a paired randomisation test tells apart at p < .05.",
    "ties": "The share of queries on which all runs have one value: they do not distinguish runs.",
    "axioms": "INV-k: another IoU at a rank, no better than the best above, changes nothing. MON-k:"
    " a better one raises the value. With an example of each breach.",
    "selection": "How many standard deviations the run that is best on validation by each"
    " measure (row) is above the mean on test, by each measure (column): the mean of all runs, and"
    " of the selected ones.",
    "label-noise": "How far the mean of a run would move (root mean square) had others"
    " drawn the boundaries, or given the levels. kept: the mean IoU with the noisy moments, or the"
    " share of levels kept.",
    "estimation": "The squared bias, the variance and their sum (MSE) of measures of the first"
    " result, if the observed IoU were normal around the true one with the standard deviation"
    " gamma: means over the queries of all runs, by the threshold theta of R@1.",
}


def write_page(path: Path, tables: Tables, source: Mapping[str, str]) -> None:
    """Write the tables with their figures as one page that needs no other file."""
    path.write_text(document("Measures", "".join(_body(tables, source))), encoding="utf-8")


def _body(tables: Tables, source: Mapping[str, str]) -> Iterator[str]:
    yield f"<style>{STYLE}</style><h1>Which measure to trust</h1>{show_source(source)}"
    for name, rows in tables.items():
        yield f"<h2>{escape(name.capitalize())}</h2><p>{escape(ASKED[name])}</p>"
        if rows and name in FIGURES:
            yield f"<div class=figures>{''.join(FIGURES[name](rows))}</div>"
        shown = "" if name in FIGURES else " open"
        yield f"<details{shown}><summary>{len(rows)} rows</summary><div class=box><table><tr>"
        yield from (f"<th>{escape(column)}" for column in (rows[0]._fields if rows else ()))
        for row in rows:
            yield "<tr>" + "".join(f"<td>{escape(cell_text(value, DIGITS))}" for value in row)
        yield "</table></div></details>"


def _names(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _effectiveness(rows: Sequence[Any]) -> Iterator[str]:
    numbers = dict.fromkeys(f"{row.number}: {row.run}" for row in rows)
    yield f"<figcaption>{escape(', '.join(numbers))}</figcaption>"
    for family, series in _families(rows, "number", "mean"):
        yield charts.lines(f"means of the runs: {family}", series, "run", "mean")


def _estimation(rows: Sequence[Any]) -> Iterator[str]:
    for field in ("squared_bias", "variance", "mse"):
        series: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            name = "R@1" if row.theta else row.measure
            at = [row.theta] if row.theta else [min(THETAS), max(THETAS)]
            points = series.setdefault(f"{name}, gamma {row.gamma:g}", [])
            points += [(theta, getattr(row, field)) for theta in at]
        yield charts.lines(f"{field} by theta", series, "theta", field.replace("_", " "))


def _agreement(rows: Sequence[Any]) -> Iterator[str]:
    names = _names([row.measure for row in rows])
    values = {(row.measure, row.other): row.tau_b for row in rows}
    values |= {(name, name): 1.0 for name in names}
    yield _matrix("tau-b of every two measures", names, values)


def _families(
    rows: Sequence[Any], x: str, y: str
) -> Iterable[tuple[str, Mapping[str, charts.Points]]]:
    """Return the series of measures by their name, for one figure each."""
    families: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        family = row.measure.partition("(")[0].partition("@")[0]
        series = families.setdefault(family, {}).setdefault(row.measure, [])
        series.append((getattr(row, x), getattr(row, y)))
    return families.items()


def _stability(rows: Sequence[Any]) -> Iterator[str]:
    for family, series in _families(rows, "queries", "tau"):
        yield charts.lines(f"tau-b by the number of queries: {family}", series, "queries", "tau-b")


def _noise(rows: Sequence[Any]) -> Iterator[str]:
    for kind in _names([row.noise for row in rows]):
        of_kind = [row for row in rows if row.noise == kind]
        if of_kind[0].variance is None:
            most = max(row.rmse for row in of_kind) or 1.0
            shares = {f"{row.measure}  {row.rmse:.4f}": row.rmse / most for row in of_kind}
            yield charts.bars("RMSE under noise of levels", shares, form="")
            continue
        for family, series in _families(of_kind, "variance", "rmse"):
            title = f"RMSE under noise of boundaries ({kind}): {family}"
            yield charts.lines(title, series, f"variance ({kind}), square seconds", "RMSE")


def _selection(rows: Sequence[Any]) -> Iterator[str]:
    names = _names([row.chosen_by for row in rows])
    for field, runs in (("z", "all"), ("z_selected", "the selected")):
        values = {(row.chosen_by, row.measure): getattr(row, field) for row in rows}
        title = f"Z-scores on test, over {runs} runs"
        heading = f"<figcaption>{title}</figcaption>"
        yield f"<figure>{heading}{_matrix(title, names, values)}</figure>"


def _matrix(
    title: str, names: Sequence[str], values: Mapping[tuple[str, str], float | None]
) -> str:
    table = [[values[row, column] for column in names] for row in names]
    return charts.matrix(title, names, np.array(table, dtype=np.float64))


def _shares(field: str, title: str) -> Callable[[Sequence[Any]], Iterator[str]]:
    def draw(rows: Sequence[Any]) -> Iterator[str]:
        yield charts.bars(title, {row.measure: getattr(row, field) for row in rows})

    return draw


def _axioms(rows: Sequence[Any]) -> Iterator[str]:
    for axiom in _names([row.axiom for row in rows]):
        shares = {
            row.measure: row.broken / row.cases for row in rows if row.axiom == axiom and row.cases
        }
        if shares:
            heading = f"<figcaption>{axiom}-k: the share of cases that break it</figcaption>"
            chart = charts.bars(f"{axiom}-k: breaches", shares, "{:.1%}")
            yield f"<figure>{heading}{chart}</figure>"


FIGURES: dict[str, Callable[[Sequence[Any]], Iterator[str]]] = {
    "effectiveness": _effectiveness,
    "agreement": _agreement,
    "stability": _stability,
    "power": _shares("power", "pairs of runs told apart"),
    "ties": _shares("tied", "queries on which all runs tie"),
    "axioms": _axioms,
    "selection": _selection,
    "label-noise": _noise,
    "estimation": _estimation,
}
