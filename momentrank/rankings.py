"""Rankings next to judged moments, and as HTML: a table, and a timeline for each video."""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from momentrank.ids import reveal
from momentrank.measures.base import Measure
from momentrank.segments import make_frame

if TYPE_CHECKING:
    import pandas as pd

DASH = "\u2013"
"""Shown in place of a missing value."""


class RankedResult(NamedTuple):
    """A result and the judged segment that it matched, if any; times in seconds."""

    rank: int
    video: str
    start: float
    end: float
    matched: int | None
    """Row in `truth`."""
    iou: float
    level: int | None
    relevant: bool
    gain: float
    value: float | None
    """The measure's value if the list ended here; None if the query does not count."""

    @property
    def cells(self) -> tuple[str, ...]:
        """What the result matched, and its gain and value, as text, in the order of `COLUMNS`."""
        matched = (DASH, DASH, DASH)
        if self.matched is not None:
            matched = (f"#{self.matched + 1}", f"{self.iou:.3f}", str(self.level))
        value = DASH if self.value is None else f"{self.value:.4f}"
        return (*matched, "yes" if self.relevant else "no", f"{self.gain:.4g}", value)


COLUMNS = ("matched", "IoU", "level", "relevant", "gain", "value here")


class JudgedSegment(NamedTuple):
    """A judged segment and the ranks of the results that matched it."""

    video: str
    start: float
    end: float
    level: int
    ranks: tuple[int, ...]


class Explanation(NamedTuple):
    """A query's results by rank, and the judged segments that count, the highest level first."""

    query: str
    measure: Measure
    convention: str
    value: float | None
    """Of the whole list; None if the query does not count in this convention."""
    ranking: list[RankedResult]
    truth: list[JudgedSegment]
    upper: float | None = None
    """The value if unjudged results were as good as the measure allows; None: not defined."""
    note: str = ""
    """Why the query does not count, or its place by its best score, if the measure reads it."""

    @property
    def judged(self) -> int:
        """The number of results that matched a judged segment."""
        return sum(row.matched is not None for row in self.ranking)

    def to_frame(self) -> "pd.DataFrame":
        """Return the results as a frame, a row per rank."""
        return make_frame(self.ranking)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page in a frame, so that its style stays inside."""
        shown = escape(page(self, {}))
        return f'<iframe srcdoc="{shown}" style="width: 100%; height: 36rem; border: 0"></iframe>'

    @property
    def summary(self) -> str:
        """The query, the measure and its value as one line."""
        name = f"query {self.query}: {self.measure!r}"
        if self.value is None:
            return f"{name}: this query does not count ({self.convention}){self.note}"
        return f"{name} = {self.value:.4f} ({self.convention}){self.note}"

    @property
    def counts(self) -> str:
        """How many results matched a judged moment, and the upper bound, as one line."""
        some = f"{self.judged} of the first {len(self.ranking)} results matched a judged moment"
        if self.upper is None:
            return some
        return f"{some}; with the others as good as the measure allows: {self.upper:.4f}"


COLOURS = ("#b8bcc4", "#c6dbef", "#9ecae1", "#4292c6", "#08519c")
"""The colours of levels 0 to 4; higher levels use the last."""
DARK = 3
"""The lowest level that is labelled in white."""
STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1b1f26; --soft: #555d69;
  --line: #dedad2; --lane: #efece5; --link: #2a52b0 }
@media (prefers-color-scheme: dark) { :root { --paper: #14161a; --ink: #eae8e3; --soft: #a9b0bb;
  --line: #343943; --lane: #23262d; --link: #9db4ff } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 76rem;
  background: var(--paper); color: var(--ink); overflow-wrap: anywhere }
a { color: var(--link) } p, .notes { max-width: 48rem } h2 { margin-top: 2.4rem }
.box { overflow-x: auto; margin: 1rem 0 } table { border-collapse: collapse }
th, td { padding: .35rem .8rem .35rem 0; text-align: left; vertical-align: top }
th, td { overflow-wrap: normal } th { font-weight: 600 } .id { white-space: nowrap }
  tr + tr > * { border-top: 1px solid var(--line) }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
th.n { white-space: normal }
.who { min-width: 13rem; max-width: 22rem; overflow-wrap: anywhere }
  .in { max-width: 9rem; min-width: 3rem }
small { color: var(--soft); display: block } h1 small, h3 small { display: inline }
.line { position: relative; height: 1.5rem; background: var(--lane); margin: 2px 0 }
.line span { position: absolute; top: 0; height: 100%; min-width: 3px; font-size: 12px;
  overflow: hidden; padding-left: 3px; box-sizing: border-box; white-space: nowrap;
  border-radius: 2px }
.line .free { background: var(--paper); color: var(--soft); border: 1px dashed var(--soft) }
@media (max-width: 40rem) { .who { min-width: 8.5rem } th, td { padding-right: .6rem } }
.key span { display: inline-block; padding: 0 .6rem }
"""


def document(title: str, body: str) -> str:
    """Return a page that loads nothing from elsewhere; `body` is HTML."""
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{show(title)}</title>\n<style>{STYLE}</style>\n{body}</html>\n"
    )


def show(text: str) -> str:
    """Return text as HTML; what would not be seen is visible."""
    return escape(reveal(text))


def show_source(source: Mapping[str, str]) -> str:
    """Return where numbers come from, as HTML."""
    return (
        f"<p><small>{'; '.join(f'{show(name)} {show(source[name])}' for name in source)}</small>\n"
    )


def page(explanation: Explanation, source: Mapping[str, str]) -> str:
    """Return the page of one query."""
    title = f"Query {explanation.query}"
    return document(
        title, f"<h1>{show(title)}</h1>\n{show_ranking(explanation)}{show_source(source)}"
    )


def show_ranking(explanation: Explanation) -> str:
    """Return a query's results with what they matched, and the timelines of its videos."""
    videos = dict.fromkeys(
        [row.video for row in explanation.ranking] + [row.video for row in explanation.truth]
    )
    key = "".join(f'<span style="{_look(level)}">{level}</span>' for level in range(len(COLOURS)))
    columns = "".join(f"<th>{name}" for name in COLUMNS)
    return (
        f"<p>{show(explanation.summary)}<br>{explanation.counts}.\n"
        f'<p class="key">level {key}\n'
        f'<div class="box"><table><tr><th>rank<th>video<th>moment{columns}</tr>\n'
        f"{''.join(map(_row, explanation.ranking))}</table></div>\n"
        f"{''.join(_video(name, explanation) for name in videos)}"
    )


def _row(row: RankedResult) -> str:
    cells = "".join(f'<td class="n">{cell}</td>' for cell in row.cells)
    moment = f'{show(row.video)}<td class="id">{row.start:.2f}\u2013{row.end:.2f} s'
    return f'<tr><td class="n">{row.rank}<td class="id">{moment}{cells}</tr>\n'


def _video(name: str, explanation: Explanation) -> str:
    results = [row for row in explanation.ranking if row.video == name]
    truth = [(number, row) for number, row in enumerate(explanation.truth, 1) if row.video == name]
    last = max([row.end for row in results] + [row.end for _, row in truth]) or 1.0
    bars = [_bar(row, last, row.level, f"rank {row.rank}") for row in results]
    bars += [_bar(row, last, row.level, f"judged #{n}, level {row.level}") for n, row in truth]
    return f"<h3>{show(name)} <small>0 to {last:.1f} s</small></h3>" + "".join(bars)


def _bar(row: RankedResult | JudgedSegment, last: float, level: int | None, label: str) -> str:
    left, width = 100 * row.start / last, 100 * (row.end - row.start) / last
    look = 'class="free" style="' if level is None else f'style="{_look(level)};'
    title = f"{row.start:.2f} to {row.end:.2f} s"
    position = f"left:{left:.3f}%;width:{width:.3f}%"
    return f'<div class="line"><span {look}{position}" title="{title}">{label}</span></div>\n'


def _look(level: int) -> str:
    letters = "#fff" if level >= DARK else "#222"
    return f"background:{COLOURS[min(level, len(COLOURS) - 1)]};color:{letters}"
