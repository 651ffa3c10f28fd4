"""A board as a static site: index.html, a page for each run's telling queries, and board.json."""

import glob
import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from momentrank.board.rows import CAPTIONS, Board, Row
from momentrank.errors import UsageError
from momentrank.rankings import document, show, show_ranking, show_source

INDEX, DATA, RUNS = "index.html", "board.json", "runs"
DASH = "\u2013"
WHY_APART = (
    "The levels are about moments that captions describe, so who reads captions has seen a"
    " text of what the others must find in the video."
)


def render(board: Board, title: str) -> dict[str, str]:
    """Return the text of each file of the site by its path."""
    pages = {
        f"{RUNS}/{row.entry.stem}.html": _render_run(row, title)
        for row in board.rows
        if row.telling
    }
    content = json.dumps(as_json(board), indent=1, ensure_ascii=False) + "\n"
    return {INDEX: _render_index(board, title), DATA: content, **pages}


def write_site(out: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none: an earlier site stays until the new one is whole.

    Raises:
        UsageError: `out` holds something that is not a board.
    """
    check_place(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{out.name}.board-"
    for left in out.parent.glob(f"{glob.escape(prefix)}*"):  # by a run that was killed
        shutil.rmtree(left)
    work = Path(tempfile.mkdtemp(prefix=prefix, dir=out.parent))
    try:
        new = work / "new"
        for name, text in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if out.exists():
            out.rename(work / "old")
        try:
            new.rename(out)
        except OSError:
            (work / "old").rename(out)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_place(out: Path) -> None:
    """Check that a site may be written there: nothing, an empty folder, or an earlier board.

    Raises:
        UsageError: it may not.
    """
    if out.is_dir() and not out.is_symlink():
        if not any(out.iterdir()) or (out / DATA).is_file():
            return
    elif not out.exists() and not out.is_symlink():
        return
    raise UsageError(f"{out}: not a board, nor an empty folder: choose another --out")


def as_json(board: Board) -> dict[str, Any]:
    """Return what the page shows, at the values' full precision; None where there is none."""
    return {
        "momentrank": dict(board.source),
        "hidden": board.hidden,
        "measures": list(board.measures),
        "queries": board.queries,
        "test": board.test,
        "by": board.by,
        "strata": dict(board.strata),
        "notes": list(board.notes),
        "runs": [_row_as_json(row) for row in board.rows],
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    entry = row.entry
    return {
        "run": entry.run.name,
        "name": entry.name,
        "authors": entry.authors,
        "link": entry.link,
        "date": entry.date.isoformat(),
        "reads": list(entry.reads),
        "answered": row.answered,
        "values": _plain(row.values),
        "intervals": {name: list(map(_number, ends)) for name, ends in row.intervals.items()},
        "upper": _plain(row.upper),
        "strata": {name: _plain(values) for name, values in row.strata.items()},
        "groups": row.letters.split(","),
        "noise": list(row.noise) if row.noise else None,
        "telling": {each.why: each.explanation.query for each in row.telling},
    }


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _render_index(board: Board, title: str) -> str:
    main = board.measures[0]
    apart = [row for row in board.rows if CAPTIONS in row.entry.reads]
    others = [row for row in board.rows if CAPTIONS not in row.entry.reads]
    number = f"{len(board.rows)} run{'' if len(board.rows) == 1 else 's'}"
    about = f"{number} on {board.queries} queries, in the order of {show(main)}."
    parts = [f"<h1>{show(title)}</h1>\n<p>{about}\n"]
    parts += [_render_table(board, others)] if others else []
    if apart:
        parts.append(f"<h2>Runs that read captions</h2>\n<p>{WHY_APART}\n")
        parts.append(_render_table(board, apart))
    if board.strata:
        parts.append(f"<h2>By {show(board.by)}</h2>\n<p>{show(main)} over the queries of each.\n")
        parts.append(_render_strata(board, main))
    parts.append(f'<h2>How to read it</h2>\n<div class="notes">{_explain(board)}</div>\n')
    return document(title, "".join([*parts, show_source(board.source)]))


def _explain(board: Board) -> str:
    rows = board.rows
    notes = [f"Groups: runs that share a letter can't be told apart: {board.test}."]
    if any(row.intervals for row in rows):
        notes.append("[low, high]: the interval of the mean over queries.")
    if any(row.upper for row in rows):
        notes.append("to: the value if results that nobody judged were as good as the measure"
                     " allows; the value itself counts them as not relevant. Judged: the share of"
                     " the first results that somebody judged.")  # fmt: skip
    if any(row.noise for row in rows):
        notes.append("Label noise: the range of the difference to the best run had others made the"
                     " labels; within: the difference may lose its sign.")  # fmt: skip
    return "".join(f"<p>{show(note)}\n" for note in [*notes, *board.notes])


def _render_table(board: Board, rows: Iterable[Row]) -> str:
    has_noise = any(row.noise for row in board.rows)
    names = "".join(f'<th class="n">{_break(name)}' for name in board.measures)
    noise = '<th class="n">label noise' if has_noise else ""
    lines = [f'<tr><th class="n">#<th>run{names}<th>groups{noise}</tr>\n']
    for place, row in enumerate(rows, start=1):
        cells = "".join(f'<td class="n">{_cell(row, name, board)}' for name in board.measures)
        letters = show(row.letters.replace(",", " "))
        band = f'<td class="n">{_show_noise(row, board)}' if has_noise else ""
        lines.append(f'<tr><td class="n">{place}<td class="who">{_show_entry(row)}{cells}'
                     f'<td class="in">{letters}{band}</tr>\n')  # fmt: skip
    return f'<div class="box"><table>{"".join(lines)}</table></div>\n'


def _break(measure: str) -> str:
    """Return a measure's name as HTML, which a narrow column may break before its parameters."""
    return show(measure).replace("(", "<wbr>(").replace(",", ",<wbr>")


def _show_entry(row: Row) -> str:
    entry = row.entry
    link = f'<a href="{escape(entry.link)}" rel="nofollow noopener">{show(entry.name)}</a>'
    about = (
        f"<small>{show(entry.authors)}</small><small>{entry.date}; {', '.join(entry.reads)}</small>"
    )
    page = f'<small><a href="{RUNS}/{quote(entry.stem)}.html">telling queries</a></small>'
    return link + about + (page if row.telling else "")


def _cell(row: Row, name: str, board: Board) -> str:
    text = _text(row.values.get(name, math.nan), board)
    if name in row.intervals:
        low, high = (_text(end, board) for end in row.intervals[name])
        text += f"<small>[{low}, {high}]</small>"
    if name in row.upper:
        text += f"<small>to {_text(row.upper[name], board)}</small>"
    return text


def _text(value: float, board: Board, sign: str = "") -> str:
    return DASH if math.isnan(value) else f"{value:{sign}.{board.digits}f}"


def _show_noise(row: Row, board: Board) -> str:
    if row.noise is None:
        return DASH
    low, high = (_text(end, board, "+") for end in row.noise)
    main = board.measures[0]
    gap = row.values[main] - board.rows[0].values[main]
    return f"[{low}, {high}]{'<small>within</small>' if row.noise.can_turn(gap) else ''}"


def _render_strata(board: Board, main: str) -> str:
    names = "".join(
        f'<th class="n">{show(name)}<small>n={number}</small>'
        for name, number in board.strata.items()
    )
    lines = [f"<tr><th>run{names}</tr>\n"]
    for row in board.rows:
        values = (row.strata.get(name, {}).get(main, math.nan) for name in board.strata)
        cells = "".join(f'<td class="n">{_text(value, board)}' for value in values)
        reads = "<small>reads captions</small>" if CAPTIONS in row.entry.reads else ""
        lines.append(f'<tr><td class="who">{show(row.entry.name)}{reads}{cells}</tr>\n')
    return f'<div class="box"><table>{"".join(lines)}</table></div>\n'


def _render_run(row: Row, title: str) -> str:
    parts = [f'<p><a href="../{INDEX}">{show(title)}</a>\n<h1>{show(row.entry.name)}</h1>\n']
    for each in row.telling:
        text = f"<p>\u201c{show(each.text)}\u201d\n" if each.text else ""
        others = "" if each.others is None else f"<p>Median of the other runs: {each.others:.4f}.\n"
        heading = f"{each.why.capitalize()}: query {each.explanation.query}"
        parts.append(f"<h2>{show(heading)}</h2>\n{text}{others}")
        parts.append(show_ranking(each.explanation))
    return document(f"{row.entry.name}: {title}", "".join(parts))
