"""The queries that were asked for: gather them from pages and files, accept and refuse them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.writing.asking import PageAnswer
from annotation.writing.writer_page import read_queries
from pipeline.campaign.campaign import CampaignError
from pipeline.core import csv_files, tables
from pipeline.core.captions import name_query, text_key
from pipeline.core.files import FileError
from pipeline.core.tables import ASKED_QUERIES, WRITTEN_QUERIES

KEY = list(ASKED_QUERIES.key)
FREE = {"split": "test", "stratum": "person", "origin": "person", "note": None}
"""What a file may leave out."""
RESERVED = (tables.CAPTION, "vague", "gist", "changed", "negative")
CHECK = "python -m annotation.queries check"


def list_answered(answers: Iterable[PageAnswer]) -> pd.DataFrame:
    """Return the queries in answers, as `tables.ASKED_QUERIES`; equal ones of a page once."""
    rows = [
        {
            **FREE,
            "source": f"writer {answer.writer}, {answer.kind} {answer.subject}",
            "query": query,
            "writer": answer.writer,
            "stratum": answer.kind,
            "moment_id": answer.subject if answer.kind == "recall" else None,
            "submitted_at": answer.at,
        }
        for answer in answers
        for query in read_queries(answer.result)
    ]
    return _as_table(rows)


def read_file(path: Path, now: datetime) -> pd.DataFrame:
    """Return the queries of a CSV file with the column `query`, as `tables.ASKED_QUERIES`.

    It may have the columns of `FREE`. A stratum is any id but those that other queries have.

    Raises:
        FileError: a column is missing or unknown, a query is empty, or a cell is not valid.
    """
    cells = csv_files.read_csv(path, ["query"])
    if unknown := [name for name in cells if name not in {"query", *FREE}]:
        columns = ", ".join(["query", *FREE])
        raise FileError(f"{path}: column {unknown[0]!r} is not one of {columns}")
    rows = []
    for line, row in cells.iterrows():
        given = {name: value for name, value in row.items() if pd.notna(value)}
        query = " ".join(str(given.get("query", "")).split())
        row_as_read = FREE | given | {"query": query, "source": path.name, "submitted_at": now}
        if problem := _find_problem(row_as_read):
            raise FileError(f"{path}, line {line}: {problem}")
        rows.append(row_as_read)
    return _as_table(rows)


def _find_problem(row: Mapping[Any, object]) -> str | None:
    if not row["query"]:
        return "no query"
    if row["stratum"] in RESERVED or not re.fullmatch(r"[\w-]+", str(row["stratum"])):
        return f"stratum: {row['stratum']!r} has a meaning of its own, or is no id"
    for name, values in (("split", tables.JUDGED_SPLITS), ("origin", tables.ORIGINS)):
        if row[name] not in values:
            return f"{name}: {row[name]!r} is not one of {', '.join(values)}"
    return None


def _as_table(rows: Sequence[Mapping[Any, object]]) -> pd.DataFrame:
    unchecked = {"faults": None, "doubts": None, "decision": "open"}
    frame = pd.DataFrame(rows, columns=ASKED_QUERIES.columns).assign(**unchecked)
    instants = pd.to_datetime(frame["submitted_at"], utc=True)
    distinct = frame.assign(submitted_at=instants).drop_duplicates(KEY, ignore_index=True)
    return ASKED_QUERIES.check(distinct)


def merge(before: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """Return all queries: those of before, unless their page says something else now, and the new.

    What was decided stays as it is, whatever its page says.
    """
    again = pd.MultiIndex.from_frame(before[KEY]).isin(pd.MultiIndex.from_frame(now[KEY]))
    replaced = before["source"].isin(now["source"]) & (before["decision"] == "open") & ~again
    known = pd.MultiIndex.from_frame(now[KEY]).isin(pd.MultiIndex.from_frame(before[KEY]))
    both = pd.concat([before[~replaced], now[~known]], ignore_index=True)
    return ASKED_QUERIES.check(both)


def add_file(before: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """Return all queries, with those of a file that are not among them; none is replaced."""
    known = pd.MultiIndex.from_frame(now[KEY]).isin(pd.MultiIndex.from_frame(before[KEY]))
    return ASKED_QUERIES.check(pd.concat([before, now[~known]], ignore_index=True))


def select(asked: pd.DataFrame, ids: Collection[str]) -> pd.Series:
    """Mark the queries of these ids; without ids, those that are open.

    Raises:
        CampaignError: an id is unknown.
    """
    if not ids:
        return asked["decision"] == "open"
    names = asked["query"].map(name_query)
    if unknown := sorted(set(ids) - set(names)):
        raise CampaignError(f"{unknown[0]}: no such query; to see their ids: {CHECK}")
    named = names.isin(list(ids))
    is_open = named & (asked["decision"] == "open")  # not a query of the same text before it
    return named & (is_open | ~names.isin(names[is_open]))


def accept(
    asked: pd.DataFrame, marked: pd.Series, *, anyway: bool, split: str | None
) -> pd.DataFrame:
    """Return `asked` with the marked queries accepted, except those with faults.

    Those with doubts are accepted only `anyway`. What is not accepted stays as it was.
    """
    fine = asked["faults"].isna() & (asked["doubts"].isna() | anyway)
    accepted = marked & fine
    changed = asked.assign(decision=asked["decision"].mask(accepted, "accepted"))
    if split:
        changed["split"] = changed["split"].mask(accepted, split)
    return ASKED_QUERIES.check(changed)


def refuse(asked: pd.DataFrame, marked: pd.Series, reason: str | None) -> pd.DataFrame:
    """Return `asked` with the marked queries refused, and why."""
    changed = {"decision": asked["decision"].mask(marked, "refused")}
    if reason:
        changed["note"] = asked["note"].mask(marked, reason)
    return ASKED_QUERIES.check(asked.assign(**changed))


def write_accepted(written: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    """Return `tables.WRITTEN_QUERIES` with the accepted queries; lines of other texts stay."""
    ours = text_key(written["query"]).isin(set(text_key(asked["query"])))
    accepted = asked[asked["decision"] == "accepted"].drop(columns="note")
    sources = accepted["source"].map(lambda source: source.partition(",")[0])
    rows = accepted.assign(note=sources)[WRITTEN_QUERIES.columns]
    return WRITTEN_QUERIES.check(pd.concat([written[~ours], rows], ignore_index=True))


def freeze(frozen: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Return `tables.FROZEN_QUERIES` with the accepted queries of other texts; none is left out."""
    new = written[~text_key(written["query"]).isin(set(text_key(frozen["query"])))]
    rows = new.assign(query_id=new["query"].map(name_query), moment_id=None)
    both = pd.concat([frozen, rows[tables.FROZEN_QUERIES.columns]], ignore_index=True)
    return tables.FROZEN_QUERIES.check(both)


def refuse_frozen(asked: pd.DataFrame, frozen: pd.DataFrame) -> None:
    """Refuse to take back a query that people judge, or have judged.

    Raises:
        CampaignError: one is among the campaign's.
    """
    known = text_key(asked["query"]).isin(set(text_key(frozen["query"])))
    if known.any():
        raise CampaignError(f"{asked.loc[known, 'query'].iloc[0]!r}: is a query of the campaign")


def describe(asked: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each query: its id, what it is, what was decided and what is wrong."""
    columns = ["query", "stratum", "decision", "faults", "doubts", "note"]
    for query, stratum, decision, faults, doubts, note in asked[columns].itertuples(index=False):
        yield f"{name_query(query)}  {decision:8}  {stratum:12}  {query}"
        for what, said in (("fault", faults), ("doubt", doubts), ("note", note)):
            if pd.notna(said):
                yield f"{'':15}{what}: {said}"
