"""The table of models as markdown, LaTeX and HTML; laid out like TVR-Ranking's Table 2."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from baselines.comparison.scores import CUTOFFS, JUDGED, THRESHOLDS, Cell, System, Table

ALPHA = 0.05
TITLES = {
    "reloclnet": "ReLoCLNet",
    "xml": "XML",
    "spr": "SPR, simplified",
    "conquer": "CONQUER",
    "zero_shot": "Training-free",
}
NOTE = "A simplified model is not its authors': docs/baselines.md lists the differences."
Splits = Mapping[str, Table]
Rows = list[list[str]]


def cells(splits: Splits, cutoff: int, show: Callable[[Cell, bool], str]) -> Rows:
    """Return the rows of one cutoff: system, N, nDCG by IoU and split, Judged by split."""
    systems = list(dict.fromkeys(system for table in splits.values() for system in table))
    columns = [f"nDCG(iou={iou})@{cutoff}" for iou in THRESHOLDS]
    judged = JUDGED[CUTOFFS.index(cutoff)]
    rows = []
    for system in systems:
        row = [TITLES.get(system.name, system.name), "" if system.top is None else str(system.top)]
        for name in [*columns, judged]:
            for table in splits.values():
                cell = table[system][name]
                row.append(show(cell, name != judged and _is_best(system, name, table)))
        rows.append(row)
    return rows


def _is_best(system: System, name: str, table: Table) -> bool:
    trained = [other for other in table if other.top is not None]
    return system in trained and table[system][name].mean == max(
        table[other][name].mean for other in trained
    )


def header(splits: Splits, cutoff: int) -> list[str]:
    """Return the column titles of `cells`."""
    titles = [f"nDCG@{cutoff}, IoU>={iou}" for iou in THRESHOLDS] + [f"Judged@{cutoff}"]
    return ["Model", "N", *(f"{title} {split}" for title in titles for split in splits)]


def _number(cell: Cell) -> str:
    deviation = "" if cell.deviation is None else f" ± {cell.deviation:.3f}"
    star = "*" if cell.p is not None and cell.p < ALPHA else ""
    return f"{cell.mean:.3f}{deviation}{star}"


def _interval(cell: Cell) -> str:
    return f"[{cell.low:.3f}, {cell.high:.3f}]"


def markdown(splits: Splits) -> str:
    """Return a table for each cutoff: means with intervals.

    The best is bold; a star marks what is significantly worse (p < .05).
    """

    def show(cell: Cell, best: bool) -> str:
        number = f"**{_number(cell)}**" if best else _number(cell)
        return f"{number} {_interval(cell)}"

    sections = []
    for cutoff in CUTOFFS:
        titles = header(splits, cutoff)
        lines = [titles, ["---"] * len(titles), *cells(splits, cutoff, show)]
        sections.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join([*sections, NOTE]) + "\n"


def latex(splits: Splits) -> str:
    """Return a `tabular` for each cutoff; it requires the booktabs package."""

    def show(cell: Cell, best: bool) -> str:
        text = _number(cell).replace(" ± ", r" $\pm$ ").replace("*", "$^*$")
        number = rf"\textbf{{{text}}}" if best else text
        return rf"{number} {{\tiny {_interval(cell)}}}"

    sections = []
    for cutoff in CUTOFFS:
        titles = [title.replace(">=", r"$\geq$") for title in header(splits, cutoff)]
        lines = [rf"\begin{{tabular}}{{lr{'r' * (len(titles) - 2)}}}", r"\toprule"]
        lines += [_latex_row(titles), r"\midrule", *map(_latex_row, cells(splits, cutoff, show))]
        sections.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}"]))
    return "\n\n".join([*sections, f"% {NOTE}"]) + "\n"


def _latex_row(values: Sequence[str]) -> str:
    safe = (value.replace("_", r"\_").replace("&", r"\&").replace("%", r"\%") for value in values)
    return rf"{' & '.join(safe)} \\"


def html(splits: Splits) -> str:
    """Return a section with a table for each cutoff; p-values are shown on hover."""

    def show(cell: Cell, best: bool) -> str:
        name = "strong" if best else "span"
        tip = "" if cell.p is None else f' title="p = {cell.p:.4f} against the best"'
        number = f"<{name}{tip}>{escape(_number(cell))}</{name}>"
        return f"{number} <small>{_interval(cell)}</small>"

    sections = ["<section>", "<h2>Baselines</h2>"]
    for cutoff in CUTOFFS:
        sections.append("<table>")
        sections.append(_html_row("th", map(escape, header(splits, cutoff))))
        sections += [_html_row("td", row) for row in cells(splits, cutoff, show)]
        sections.append("</table>")
    return "\n".join([*sections, f"<p>{escape(NOTE)}</p>", "</section>", ""])


def _html_row(tag: str, values: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{value}</{tag}>' for value in values)}</tr>"
