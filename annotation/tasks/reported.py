"""Pairs of a release that its readers doubt, as an expert decides them again."""

from pathlib import Path

import pandas as pd

from annotation.pooling.topup import SAME
from momentrank.ids import own_ids
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.collection import SETTLED
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import csv_files, tables
from pipeline.core.tables import REPORTED

FIELDS = ("pair_id", "query_id", "video_id", "start", "end")
"""The columns that name a pair; `video_name`, as in a release's files, is `video_id`."""


def read_reports(path: Path, shown: pd.DataFrame) -> pd.DataFrame:
    """Return a row of `PAIR_KEY, note` for each row of a file, by its line; `shown` is the ledger.

    A row names a pair by `pair_id`, or by `query_id, video_id, start, end`. It matches the pair in
    every cell that is not empty.

    Raises:
        FileError: the file is missing or malformed.
        CampaignError: it has no `remark` or no rows, or a row does not name exactly one pair, with
            its line and field.
    """
    rows = _read(path)
    named = [_find(f"{path}: line {line}", row, shown) for line, row in rows.iterrows()]
    reports = pd.DataFrame(named, rows.index, PAIR_KEY)
    remarks = (" ".join(str(remark).split()) for remark in rows["remark"].fillna(""))
    return reports.assign(note=[f"{path.name}: {remark}" for remark in remarks])


def _read(path: Path) -> pd.DataFrame:
    """Return the rows of a CSV or TSV file by their line; empty cells are null."""
    sheet = csv_files.read_sheet(path)
    rows = dict(sheet.rows)
    if "remark" not in sheet.header or not rows:
        raise CampaignError(f"{path}: needs a column remark, and a row for each report")
    for line, cells in rows.items():
        if len(cells) != len(sheet.header):
            raise CampaignError(f"{path}: line {line}: has {len(cells)} cells")
    frame = pd.DataFrame.from_dict(rows, "index", str, sheet.header)
    return frame.mask(frame == "").rename(columns={"video_name": "video_id"})


def _find(where: str, row: pd.Series, shown: pd.DataFrame) -> tuple[str, str]:
    for field in FIELDS:
        cell = row.get(field)
        if pd.isna(cell):
            continue
        shown = shown[_match(shown[field], str(cell))]
        if shown.empty:
            others = "" if field == FIELDS[0] else " and matches the row's other cells"
            raise CampaignError(
                f"{where}, {field}: people were shown no pair whose {field} is {cell!r}{others}"
            )
    pairs = [*shown[PAIR_KEY].drop_duplicates().itertuples(index=False, name=None)]
    if len(pairs) > 1:
        raise CampaignError(
            f"{where}: matches {len(pairs):,} pairs; give pair_id, or query_id, video_id, start"
            " and end"
        )
    return pairs[0]


def _match(column: pd.Series, cell: str) -> "pd.Series[bool]":
    """Mark the cells that equal one of a file; a query may have its number in a release's JSON."""
    if pd.api.types.is_numeric_dtype(column):
        number = pd.to_numeric(cell, errors="coerce")
        return (column - number).abs() <= SAME
    if column.name == "query_id":
        cell = own_ids([cell], column.unique()).get(cell, cell)
    return column == cell


def refuse_unsettled(
    path: Path, reports: pd.DataFrame, voted: pd.DataFrame, decided: pd.DataFrame
) -> None:
    """Stop at a pair without a level by votes, or that is decided already.

    `voted` is the consensus of the votes alone; `decided` are the pairs with a decision.

    Raises:
        CampaignError: there is one, with its line.
    """
    outcomes = voted.set_index(PAIR_KEY)["voted_outcome"]
    taken = {*decided[PAIR_KEY].itertuples(index=False, name=None)}
    for line, query, moment in reports[PAIR_KEY].itertuples(name=None):
        pair, where = (query, moment), f"{path}: line {line}: query {query}, moment {moment}"
        if pair in taken:
            raise CampaignError(
                f"{where}: an expert has decided this pair ({tables.ADJUDICATIONS.path}), and is"
                " not asked again; delete the line"
            )
        if outcomes.get(pair) not in SETTLED:
            raise CampaignError(
                f"{where}: votes gave this pair no level ({outcomes.get(pair, 'not judged')});"
                " delete the line"
            )


def list_remarks(listed: pd.DataFrame) -> pd.DataFrame:
    """Return `PAIR_KEY, note` for each remark in `tables.SECOND_LOOK` that a reader made."""
    reports = listed[listed["origin"] == REPORTED]
    remarks = reports.assign(note=reports["note"].str.split("\n")).explode("note")
    return remarks[[*PAIR_KEY, "note"]]


def merge_reports(listed: pd.DataFrame, reports: pd.DataFrame) -> pd.DataFrame:
    """Return `tables.SECOND_LOOK` with these reports; a pair keeps each remark, once, in lines."""
    remarks = pd.concat([list_remarks(listed), reports]).drop_duplicates()
    notes = remarks.groupby(PAIR_KEY, sort=False)["note"].agg("\n".join).reset_index()
    others = listed[listed["origin"] != REPORTED]
    return pd.concat([others, notes.assign(origin=REPORTED)], ignore_index=True)
