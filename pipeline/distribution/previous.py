"""The version before this one: what was judged in it must not move, and what changed since.

The levels of a published collection are final. A later version may add pairs and queries; it may
change a pair only where an expert has decided it since, or a vote on it was voided.
"""

import csv
import io
from collections.abc import Collection as Items
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from momentrank.collection.changes import describe_changes
from momentrank.collection.release import Collection, load
from momentrank.collection.versions import FORMAT
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import ReleaseError
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.campaign.reopening import BASES, find_base
from pipeline.campaign.voided import mark_voided
from pipeline.core import files, tables
from pipeline.distribution.records import COLUMNS
from pipeline.distribution.release_files import ReleaseFile, ReleaseFiles, json_object

MANIFEST, PAIRS, CONSENSUS = "manifest.json", "pairs.csv", "consensus.csv"
VOTES = ("raw_annotation.csv", "cant_judge.csv")
QUERIES = "queries.tsv"
KEPT = (PAIRS, CONSENSUS, *VOTES, QUERIES, "qrels/val.qrels", "qrels/test.qrels", MANIFEST)
"""The files of a release that its next version is compared with; the manifest is written last."""
CHANGES = "changes.json"
DESCRIPTIONS = (CHANGES, "README.md", "croissant.json")
"""Files with the version's number: each differs from that of the version before."""
VOTED = ("voted_level", "voted_outcome")
STABLE = 6
"""The columns of `queries.tsv` that don't depend on levels come first."""

Row = dict[str, str]


class Vote(NamedTuple):
    """A vote in a released file: a level, or the reason for giving none."""

    file: str
    worker: str
    value: str


class Since(NamedTuple):
    """What explains a change: votes (`pair_id, annotator`) voided, and pairs decided, since."""

    voided: Items[tuple[int, int]]
    decided: Items[int]


def keep_release(release: Path = tables.RELEASE, bases: Path = BASES) -> str:
    """Copy what later versions are compared with; return the release's version.

    Raises:
        FormatError: a file is missing, or not the one that the manifest lists.
    """
    collection = load(release)
    for name in KEPT:
        source = release / name if name == MANIFEST else collection.path(name)
        with files.unfinished(bases / collection.version / name, "wb") as stream:
            stream.write(source.read_bytes())
    return collection.version


def read_base(campaign: Campaign | None) -> Collection | None:
    """Return the release before the newest reopening; None without one.

    Raises:
        FormatError: its manifest is missing or malformed.
        ReleaseError: it is another version.
    """
    if campaign is None or (folder := find_base(campaign)) is None:
        return None
    base, version = load(folder), campaign.reopenings[-1].version
    if base.version != version:
        raise ReleaseError(
            f"{folder / MANIFEST}: has version {base.version}, not {version}, which was reopened:"
            " restore the folder as it was committed"
        )
    return base


def read_since(campaign: Campaign) -> Since:
    """Return what may have changed levels since the newest reopening's release.

    Raises:
        MomentRankError: a table is missing or wrong.
    """
    ledger = tables.PAIRS.read()[[*SHOWN_KEY, "pair_id"]]
    judgments, decisions = tables.JUDGMENTS.read(), tables.ADJUDICATIONS.read()
    voided = judgments[mark_voided(judgments, tables.VOIDED.read())]
    votes = voided.merge(ledger, on=SHOWN_KEY)[["pair_id", "annotator"]]
    later = decisions["submitted_at"] >= campaign.released
    decided = decisions[later].merge(ledger, on=SHOWN_KEY)["pair_id"]
    return Since({*votes.itertuples(index=False, name=None)}, {*decided})


def refuse_moves(base: Collection, now: ReleaseFiles, since: Since) -> None:
    """Refuse a release in which a pair or query of the base is not as it was.

    Raises:
        ReleaseError: nothing explains it; the first one is named, with its file.
    """
    if moves := [*list_moves(base, now, since)]:
        more = f", and {len(moves) - 1:,} more" if len(moves) > 1 else ""
        raise ReleaseError(
            f"{moves[0]}{more}. Version {base.version} ({base.folder}) is final: only voided"
            " judgments and an expert's decisions change what was judged. Set back what else has"
            " changed (`git log -p datasets/campaign params.yaml`)"
        )


def list_moves(base: Collection, now: ReleaseFiles, since: Since) -> Iterator[str]:
    """Yield which pairs and queries of the base are not as they were, by file, unexplained.

    A pair that had no level may get votes, and a level by them; or a new number.
    """
    old = {name: base.path(name).read_bytes() for name in KEPT if name != MANIFEST}
    new = {name: now[name].data for name in old}
    pairs, pairs_now = (_read_rows(files_of[PAIRS]) for files_of in (old, new))
    outcomes, outcomes_now = (_read_rows(files_of[CONSENSUS]) for files_of in (old, new))
    voted, votes = _read_votes(old), _read_votes(new)
    for number, pair in pairs.items():
        name = f"pair {number} of {pair['query_id']}"
        before, after = outcomes[number], outcomes_now.get(number)
        if after is None or pairs_now[number] != pair:
            if before["level"] or after is not None:
                yield f"{PAIRS}: {name} is {_tell(pairs_now.get(number))}, not {_tell(pair)}"
            continue
        had, has = voted.get(number, set()), votes.get(number, set())
        lost, added = had - has, has - had
        void = {vote for vote in lost if (int(number), int(vote.worker)) in since.voided}
        if void and not {vote.worker for vote in lost - void} & {vote.worker for vote in added}:
            continue
        if lost or (added and before["level"]):
            file, worker, value = min(lost or added)
            yield f"{file}: {name} {'lacks' if lost else 'has'} the vote {value} of {worker}"
        columns = VOTED if int(number) in since.decided else before
        if not added and any(after[column] != before[column] for column in columns):
            yield f"{CONSENSUS}: {name} has {_tell(after)}, not {_tell(before)}"
    yield from _list_moved_queries(old[QUERIES], new[QUERIES])


def _list_moved_queries(before: bytes, after: bytes) -> Iterator[str]:
    old, new = (
        {line.partition("\t")[0]: line.split("\t")[:STABLE] for line in text.decode().splitlines()}
        for text in (before, after)
    )
    for query, cells in old.items():
        if new.get(query, cells) != cells:
            yield f"{QUERIES}: {' '.join(new[query])}, not {' '.join(cells)}"


def build_changes(base: Collection | None, now: ReleaseFiles, version: str) -> ReleaseFile:
    """Return what changed since the base, as `momentrank diff --json` prints it, without scores.

    `now` are the files of the release but those that tell its version.
    """
    if base is None:
        return json_object(
            {"old": None, "new": version, "required": None, "files": [], "splits": {}}
        )
    entries = {path: file.sha256 for path, file in now.items()} | dict.fromkeys(DESCRIPTIONS, "")
    listed = {path: {"sha256": sha256} for path, sha256 in entries.items()}
    manifest = {"version": version, "format": FORMAT, "columns": COLUMNS, "files": listed}
    with TemporaryDirectory() as folder:
        needed = {name: now[name].data for name in KEPT if name in now}
        for name, data in (needed | {MANIFEST: json_object(manifest).data}).items():
            with files.unfinished(Path(folder) / name, "wb") as stream:
                stream.write(data)
        return json_object(describe_changes(base, load(folder)))


def _read_rows(data: bytes) -> dict[str, Row]:
    """Return the rows of a table by their pair_id."""
    reader = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return {row["pair_id"]: row for row in reader}


def _read_votes(contents: Mapping[str, bytes]) -> dict[str, set[Vote]]:
    """Return the votes on each pair, by its pair_id."""
    votes: dict[str, set[Vote]] = {}
    for name in VOTES:
        _, *rows = csv.reader(io.StringIO(contents[name].decode(), newline=""))
        for pair, worker, value in rows:
            votes.setdefault(pair, set()).add(Vote(name, worker, value))
    return votes


def _tell(row: Row | None) -> str:
    return "missing" if row is None else ", ".join(f"{name} {cell}" for name, cell in row.items())
