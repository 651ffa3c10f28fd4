"""Check that captions match their descriptions and name no one.

    python -m pipeline.check FILE [--out OUT] [--no-similarity]

reads   any CSV file with the column `caption` (and `description`), or judged moments in JSON with
        the texts of their queries, such as val.json of a release
writes  the captions, or the queries, with eleven more columns: names, name_score, names_ok,
        similarity, similarity_ok, detail, detail_ok, damage, damage_ok, form, form_ok

A caption passes if its similarity to the description is at least `rewrite.min_similarity`, no
person's name is found with a score above `rewrite.max_name_score`, it keeps at least the share
`rewrite.min_detail` of the words that describe what happens, beside the people no word is lost and
no phrase broken (`damage`), and its form is a caption's: `form` has the marks that its description
does not have, a lost end, what is said twice, and what is added.
"""

import argparse
import os
import sys
from functools import partial
from pathlib import Path

import pandas as pd

from momentrank import formats
from momentrank.errors import MomentRankError
from momentrank.ids import is_utf8
from pipeline.captions import checks
from pipeline.captions.checks import COLUMNS
from pipeline.captions.form import find_style
from pipeline.core import cli, csv_files
from pipeline.core.params import Params, load
from pipeline.core.text import reveal
from pipeline.language import detection, support
from pipeline.names.evidence.cast import Cast


class CheckError(MomentRankError):
    """The captions of a file can't be checked."""


JSON = {".json", ".jsonl"}


def read_file(path: Path) -> pd.DataFrame:
    """Read the file to check: every row has a caption, and a description if there are any.

    For judged moments, the rows are the queries, as `query_id, caption`.

    Raises:
        FileError: the file is not a CSV with the column `caption`.
        FormatError: a JSON file is malformed.
        CheckError: a row lacks one of the two, a cell is not UTF-8, or a column of the checks
            already exists.
    """
    if JSON & {*path.suffixes[-2:]}:
        return _read_queries(path)
    frame = csv_files.read_csv(path, ["caption"])
    present = [name for name in COLUMNS if name in frame]
    if present:
        raise CheckError(f"{path}: the column {present[0]!r} already exists; rename or remove it")
    for name in frame.columns:
        broken = frame.index[~frame[name].fillna("").map(is_utf8).astype(bool)]
        if len(broken):
            raise CheckError(f"{path}, line {broken[0]}: not UTF-8; save the file as UTF-8")
    for name in frame.columns.intersection(["caption", "description"]):
        empty = frame.index[frame[name].fillna("").str.strip() == ""]
        if len(empty):
            raise CheckError(f"{path}, line {empty[0]}: no {name} ({len(empty)} such rows)")
    return frame


def _read_queries(path: Path) -> pd.DataFrame:
    texts = formats.load_truth(path, warn=cli.log).texts
    if not texts:
        raise CheckError(f"{path}: no query has a text; use judged moments with `query`, or a CSV")
    return pd.DataFrame({"query_id": list(texts), "caption": list(texts.values())})


def add_checks(frame: pd.DataFrame, params: Params, *, with_similarity: bool) -> pd.DataFrame:
    """Return the frame with the checks' columns, using the models of params.yaml."""
    limits, captions = checks.read_limits(params), list(frame["caption"])
    descriptions = list(frame["description"]) if "description" in frame else None
    spoken = detection.determine_language(captions, params.ingest.language)
    support.refuse(spoken, ["names.model: builtin"] if params.names.model == "builtin" else [])
    corpus = captions if descriptions is None else descriptions
    of_captions = descriptions is None
    finder = checks.load_finder(params, corpus, Cast.of_campaign(), of_captions=of_captions)
    compare = with_similarity and descriptions is not None
    encoder = checks.load_encoder(params) if compare else None
    limits = limits._replace(english=spoken.is_english)
    results = checks.check(captions, descriptions, finder, encoder, limits)
    style = find_style(list(results["form"]))
    for fault in sorted(style):
        cli.log(f"check: most captions begin or end with {fault}: a habit, and no fault of each")
    results = checks.excuse_faults(results, style)
    return frame.assign(**{name: results[name].array for name in COLUMNS})


def main(options: argparse.Namespace) -> None:
    """Check a file, and report how many captions fail."""
    if options.out:
        _refuse_unwritable(options.out)
    frame = add_checks(read_file(options.file), load(), with_similarity=not options.no_similarity)
    if options.out:
        csv_files.write_csv(options.out, frame)
    else:
        rows = csv_files.csv_text(frame)
        sys.stdout.write(reveal(rows) if sys.stdout.isatty() else rows)
    named, unlike, vague, broken, deformed = (
        (~frame[f"{name}_ok"]).sum() for name in ("names", "similarity", "detail", "damage", "form")
    )
    compared = " (not compared)" if frame["similarity"].isna().all() else ""
    cli.log(
        f"check: of {len(frame)} captions, {named} name someone,"
        f" {unlike} differ from the description{compared}, {vague} lack details,"
        f" {broken} lost a word or broke a phrase, {deformed} have faults of form"
    )


def _refuse_unwritable(path: Path) -> None:
    """Stop before any check runs if the result can't be written."""
    if path.is_dir():
        raise CheckError(f"--out: {path} is a folder; name a file")
    existing = next(folder for folder in path.absolute().parents if folder.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        raise CheckError(f"--out: {existing} is not writable")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads names, embed and rewrite of params.yaml in the current folder.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="OUT", help="write to OUT instead of stdout")
    parser.add_argument("--no-similarity", action="store_true", help="skip the similarity check")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
