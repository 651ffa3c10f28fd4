"""An explanation as an HTML page: a timeline per video, results above judged segments."""

from html import escape
from string import Template

from momentrank.explanation import FACTS, Explanation, JudgedSegment, RankedResult

COLOURS = ("#b8bcc4", "#c6dbef", "#9ecae1", "#4292c6", "#08519c")
"""The colours of levels 0 to 4; higher levels have the last one."""
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
<table><tr><th>rank<th>video<th>moment$facts</tr>
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
        query=escape(explanation.query),
        summary=escape(explanation.summary),
        counts=explanation.counts,
        facts="".join(f"<th>{name}" for name in FACTS),
        key="".join(
            f'<span style="{_look(level)}">{level}</span>' for level in range(len(COLOURS))
        ),
        rows="".join(_row(row) for row in explanation.ranking),
        videos="".join(_video(name, explanation) for name in videos),
        source="; ".join(f"{escape(name)} {escape(value)}" for name, value in source.items()),
    )


def _row(row: RankedResult) -> str:
    cells = "".join(f'<td class="n">{cell}</td>' for cell in row.facts)
    moment = f"{row.start:.2f}\u2013{row.end:.2f} s"
    return f'<tr><td class="n">{row.rank}<td>{escape(row.video)}<td>{moment}{cells}</tr>\n'


def _video(name: str, explanation: Explanation) -> str:
    results = [row for row in explanation.ranking if row.video == name]
    truth = [(number, row) for number, row in enumerate(explanation.truth, 1) if row.video == name]
    last = max([row.end for row in results] + [row.end for _, row in truth]) or 1.0
    bars = [_bar(row, last, row.level, f"rank {row.rank}") for row in results]
    bars += [_bar(row, last, row.level, f"judged #{n}, level {row.level}") for n, row in truth]
    return f"<h3>{escape(name)} <small>0 to {last:.1f} s</small></h3>" + "".join(bars)


def _bar(row: RankedResult | JudgedSegment, last: float, level: int | None, label: str) -> str:
    left, width = 100 * row.start / last, 100 * (row.end - row.start) / last
    look = 'class="free" style="' if level is None else f'style="{_look(level)};'
    title = f"{row.start:.2f} to {row.end:.2f} s"
    place = f"left:{left:.3f}%;width:{width:.3f}%"
    return f'<div class="line"><span {look}{place}" title="{title}">{label}</span></div>\n'


def _look(level: int) -> str:
    letters = "#fff" if level >= DARK else "#222"
    return f"background:{COLOURS[min(level, len(COLOURS) - 1)]};color:{letters}"
