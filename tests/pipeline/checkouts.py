"""A checkout with what people made, and nothing of the corpus: what a release is made of."""

import contextlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from opened import OPEN as OPENED
from project import name_collection

from momentrank.errors import MomentRankError
from pipeline import pseudo, release
from pipeline.core import cli, csv_files, files, tables
from pipeline.core.params import load
from pipeline.distribution.moment_corpus import CORPUS_FILE, write_corpus
from pipeline.distribution.training_sets import Training, write_training_sets
from pipeline.retrieval.ranking import Neighbours

OPEN = OPENED.model_dump(exclude_unset=True) | {"name": "Kitchen videos"}
CLOSED = {**OPEN, "closed_at": "2024-06-01T07:00:00Z"}
PRIVATE = """\
accounts:
  1: {email: lead@localhost, name: Anna Berg, password: opensesame}
  2: {email: two@example.org, name: José Núñez-Ó}
"""
QUERIES = [
    ("q1", "She waves.", "val", "m1"), ("q2", "He sits.", "test", "m4"),
    ("q3", "He reads.", "test", None),
]  # fmt: skip
# pair_id, query, moment, clip; then consensus: level, mean, scores, outcome.
PAIRS = [
    (0, "q1", "m1", "old", None),
    (1, "q1", "m2", "c", (3, 2.5, [2, 3], "two")),
    (2, "q2", "m1", "c", (None, None, [0, 4, 0, 4], "discarded")),
    (3, "q2", "m2", "c", (0, 0.0, [0, 0], "two")),
    (4, "q3", "m1", "c", (None, None, [1], "waiting")),
    (5, "q3", "m3", "c", (None, None, [], "unjudgeable")),
    (7, "q1", "m1", "new", (4, 4.0, [4, 4], "two")),
]
VOTES = [
    (1, 2, 3, None), (1, 1, 2, None), (2, 1, 0, None), (2, 2, 4, None), (2, 3, 0, None),
    (2, 4, 4, None), (3, 1, 0, None), (3, 2, 0, None), (4, 1, 1, None),
    (5, 1, None, "broken-clip"), (5, 2, None, "senseless-query"), (7, 1, 4, None), (7, 2, 4, None),
]  # fmt: skip


JUDGMENT = (
    "q1", "m1", 1, 4, None, "2024-05-03T12:00:00Z", 3.0, "878@2024-05-03T12:00:00Z", "1", "first",
    "t", "new",
)  # fmt: skip
AGREEMENT = {
    "pairs": 4, "couples": 4, "exact": 0.5, "within_1": 0.75, "alpha": 0.5125, "kappa": 0.25,
    "kappa_quadratic": 0.375,
    "link": [{
        "version": "1.0", "pairs": 50, "votes": 99, "people": 2, "drift": -0.125, "low": -0.25,
        "high": 0.03, "unasked": [], "kappa_quadratic": 0.5,
    }],
}  # fmt: skip


EMPTY = (
    *(tables.AUDIT, tables.TOPUP, tables.POOL, tables.POOLED_RUNS),
    *(tables.SECOND_LOOK, tables.VOIDED),
)


def write(table, rows) -> None:
    """Write rows of a table, of which the last columns may be left out."""
    names = table.columns[: len(rows[0])] if len(rows) else table.columns
    table.write(table.check(pd.DataFrame(rows, columns=names)))


def judgment(**fields) -> pd.DataFrame:
    return pd.DataFrame([JUDGMENT], columns=tables.JUDGMENTS.columns).assign(**fields)


def consensus_rows(pairs) -> list[tuple]:
    """Return the consensus of pairs, none of which was adjudicated."""
    return [
        (query, moment, *decision, decision[0], decision[3])
        for _, query, moment, _, decision in pairs
        if decision
    ]


class Checkout:
    """A folder with what people made, and nothing of the corpus."""

    def __init__(self, folder, repository) -> None:
        self.folder = folder
        (folder / "annotation").mkdir(parents=True)
        shutil.copytree(repository / "annotation/guideline", folder / "annotation/guideline")
        shutil.copy(repository / "params.yaml", folder)
        name_collection(folder / "params.yaml")
        self.campaign(CLOSED)
        self.write()

    def campaign(self, campaign) -> None:
        path = self.folder / "datasets/campaign/campaign.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in campaign.items()) or "null\n")

    def private(self, text=PRIVATE) -> None:
        (self.folder / "datasets/campaign/annotators.private.yaml").write_text(text)

    def write(self, queries=QUERIES, pairs=PAIRS, votes=VOTES, judgments=None, videos=()) -> None:
        pair_rows = [
            (number, query, moment, dict(videos).get(moment, f"v-{moment}"), 1.5, 3.0, 60.5,
             f"Caption {moment}.", 0.5, number + 1, "t", clip)
            for number, query, moment, clip, _ in pairs
        ]  # fmt: skip
        with contextlib.chdir(self.folder):
            write(tables.FROZEN_QUERIES, [(*row, None)[:4] for row in queries])
            write(tables.PAIRS, pair_rows)
            for table in EMPTY:
                write(table, [])
            write(tables.CONSENSUS, consensus_rows(pairs))
            write(tables.COUNTED_VOTES, votes)
            cli.write_metrics("consensus", {"agreement": AGREEMENT})
            rows = judgment() if judgments is None else judgments
            csv_files.write_csv(tables.JUDGMENTS.path, rows)

    def change(self, *changes: tuple[str, str]) -> None:
        """Change params.yaml."""
        path = self.folder / "params.yaml"
        for before, after in changes:
            assert before in path.read_text()
            path.write_text(path.read_text().replace(before, after))

    def release(self):
        with contextlib.chdir(self.folder):
            release.main()
        return self.folder / tables.RELEASE

    def manifest(self) -> dict:
        return read_json(self.release(), "manifest.json")

    def card(self) -> str:
        return (self.release() / "README.md").read_text()

    def refusal(self) -> str:
        with pytest.raises(MomentRankError) as caught:
            self.release()
        assert not (self.folder / tables.RELEASE).exists(), "nothing was written"
        return str(caught.value)


def read_json(folder, name):
    """Return what a JSON file of a folder holds."""
    return json.loads((folder / name).read_text())


def write_training(folder) -> None:
    """Write training sets of two queries, and the corpus, beside a release as `pseudo` does."""
    moments = pd.DataFrame(
        [("m1", "v1", 0.0, 2.5, "He sits."), ("m9", "v2", 1.0, 2.0, "She waves.")],
        columns=["moment_id", "video_id", "start", "end", "caption"],
    )
    queries = pd.DataFrame({"query_id": ["7", "qid_0"], "query": ["He sat.", "She waved."]})
    durations = pd.Series({"v1": 9.0, "v2": 8.0})
    training = Training.from_frames(queries, moments, durations)
    columns = ([0, 0, 1], [0, 1, 1], [1, 2, 1], [1.0, 0.5, 1.0])
    sizes = load(folder / "params.yaml").pseudo.top
    with contextlib.chdir(folder):
        written = write_training_sets(training, [Neighbours(*map(np.array, columns))], sizes)
        write_corpus(moments, durations)
        files.write_json(pseudo.VIDEO_CORPUS, {"v1": (9.0, 0), "v2": (8.0, 1)})
        paths = [*pseudo.paths(sizes), pseudo.VIDEO_CORPUS, tables.RELEASE / CORPUS_FILE]
        files.write_json(pseudo.MANIFEST, pseudo.manifest(dict.fromkeys(paths, written)))
