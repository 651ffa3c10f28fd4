"""Show one query's ranking next to its judged moments, as a measure sees them.

Lists each result with the judged moment that it matched, the IoU, the level, whether it is
relevant, its gain, and the measure's value if the list ended there; with --html, as a page with a
timeline per video (Figure 7 of the TVR-Ranking paper).
"""

import argparse
import sys
from html import escape
from pathlib import Path
from string import Template

from momentrank.cli import inputs, tables
from momentrank.cli.inputs import provenance
from momentrank.errors import UsageError
from momentrank.explanation import (
    COLUMNS,
    DASH,
    Explanation,
    JudgedSegment,
    RankedResult,
    default_measure,
    explain,
)
from momentrank.ids import decode_id, own_ids, reveal
from momentrank.measures.parse import parse_measure
from momentrank.scoring import Evaluator

SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", type=Path, metavar="QRELS")
    parser.add_argument("run_file", type=Path, metavar="RUN")
    parser.add_argument("query", metavar="QUERY", help="the query's id")
    parser.add_argument("measure", nargs="?", metavar="MEASURE",
                        help="default: nDCG(iou=0.5)@10, or the convention's own")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("-k", "--results", type=int, metavar="K",
                        help="number of results to show (default: the cutoff, or 10)")  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page")
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    if options.results is not None and options.results < 1:
        raise UsageError("--results must be at least 1")
    convention = inputs.convention_of(options)
    measure = parse_measure(options.measure) if options.measure else default_measure(convention)
    source = provenance(options.qrels, convention)
    truth = inputs.load_truth(options, options.qrels)
    evaluator = Evaluator([measure], truth, convention)
    qrels = evaluator.qrels
    lists = inputs.load_for(options, options.run_file, evaluator, truth)
    listed = lists[evaluator.convention.list_of(measure, lists)]
    query = options.query if options.query in qrels.queries else decode_id(options.query)
    query = own_ids([query], qrels.queries).get(query, query)
    if query not in listed.queries:
        inputs.warn(f"{options.run_file}: the run has no query {query!r}")
    shown = options.results or measure.params.get("cutoff") or SHOWN
    explanation = explain(qrels, listed, query, measure, convention, shown)
    if options.html:
        options.html.write_text(page(explanation, source), encoding="utf-8")
    else:
        sys.stdout.write(text(explanation, source))
    return 0


def text(explanation: Explanation, source: dict[str, str]) -> str:
    results = [(str(row.rank), *_moment_cells(row), *row.cells) for row in explanation.ranking]
    ranking = tables.align_columns([RANKING, *results])
    judged = [
        (f"#{number}", *_moment_cells(row), str(row.level), ", ".join(map(str, row.ranks)) or DASH)
        for number, row in enumerate(explanation.truth, start=1)
    ]
    truth = tables.align_columns([TRUTH, *judged])
    lines = [f"\n{reveal(line)}\n" for line in (explanation.summary, explanation.counts)]
    return "".join([*tables.header(source, "table"), *lines, "\n", *ranking, "\n", *truth])


RANKING = ("rank", "video", "start", "end", *COLUMNS)
TRUTH = ("", "video", "start", "end", "level", "matched by rank")


def _moment_cells(row: RankedResult | JudgedSegment) -> tuple[str, str, str]:
    return row.video, f"{row.start:.2f}", f"{row.end:.2f}"


COLOURS = ("#b8bcc4", "#c6dbef", "#9ecae1", "#4292c6", "#08519c")
"""The colours of levels 0 to 4; higher levels use the last."""
DARK = 3
"""The lowest level that is labelled in white."""
PAGE = Template("""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Query $query</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .2rem .7rem; text-align: left } tr + tr td { border-top: 1px solid #ddd }
td.n { text-align: right; font-variant-numeric: tabular-nums }
.line { position: relative; height: 1.5rem; background: #f3f3f3; margin: 2px 0 }
.line span { position: absolute; top: 0; height: 100%; min-width: 3px; font-size: 12px;
  overflow: hidden; padding-left: 3px; box-sizing: border-box; white-space: nowrap;
  border-radius: 2px }
.line .free { background: #fff; color: #555; border: 1px dashed #888 }
small { color: #666 } .key span { display: inline-block; padding: 0 .6rem }
</style>
<h1>Query $query</h1>
<p>$summary<br>$counts.</p>
<p class="key">level $key</p>
<table><tr><th>rank<th>video<th>moment$columns</tr>
$rows</table>
<h2>Video by video</h2>
$videos
<p><small>$source</small></p>
</html>
""")


def page(explanation: Explanation, source: dict[str, str]) -> str:
    """Return the page; it loads nothing from elsewhere."""
    videos = dict.fromkeys(
        [row.video for row in explanation.ranking] + [row.video for row in explanation.truth]
    )
    return PAGE.substitute(
        query=_escape(explanation.query),
        summary=_escape(explanation.summary),
        counts=explanation.counts,
        columns="".join(f"<th>{name}" for name in COLUMNS),
        key="".join(
            f'<span style="{_look(level)}">{level}</span>' for level in range(len(COLOURS))
        ),
        rows="".join(_row(row) for row in explanation.ranking),
        videos="".join(_video(name, explanation) for name in videos),
        source="; ".join(f"{_escape(name)} {_escape(value)}" for name, value in source.items()),
    )


def _escape(text: str) -> str:
    return escape(reveal(text))


def _row(row: RankedResult) -> str:
    cells = "".join(f'<td class="n">{cell}</td>' for cell in row.cells)
    moment = f"{row.start:.2f}\u2013{row.end:.2f} s"
    return f'<tr><td class="n">{row.rank}<td>{_escape(row.video)}<td>{moment}{cells}</tr>\n'


def _video(name: str, explanation: Explanation) -> str:
    results = [row for row in explanation.ranking if row.video == name]
    truth = [(number, row) for number, row in enumerate(explanation.truth, 1) if row.video == name]
    last = max([row.end for row in results] + [row.end for _, row in truth]) or 1.0
    bars = [_bar(row, last, row.level, f"rank {row.rank}") for row in results]
    bars += [_bar(row, last, row.level, f"judged #{n}, level {row.level}") for n, row in truth]
    return f"<h3>{_escape(name)} <small>0 to {last:.1f} s</small></h3>" + "".join(bars)


def _bar(row: RankedResult | JudgedSegment, last: float, level: int | None, label: str) -> str:
    left, width = 100 * row.start / last, 100 * (row.end - row.start) / last
    look = 'class="free" style="' if level is None else f'style="{_look(level)};'
    title = f"{row.start:.2f} to {row.end:.2f} s"
    position = f"left:{left:.3f}%;width:{width:.3f}%"
    return f'<div class="line"><span {look}{position}" title="{title}">{label}</span></div>\n'


def _look(level: int) -> str:
    letters = "#fff" if level >= DARK else "#222"
    return f"background:{COLOURS[min(level, len(COLOURS) - 1)]};color:{letters}"
