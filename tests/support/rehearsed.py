"""A finished campaign on a small sample corpus: planned, judged by simulated people, no server.

Moments and true levels are the sample corpus's; what is similar is told by the words that two
descriptions share, so that no encoder is needed.
"""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from project import name_collection
from support.campaign_cases import write_empty

from annotation.assignment.inputs import PlanInputs, Rule
from annotation.assignment.planning import plan
from annotation.roster.annotator import Annotator
from annotation.simulation import kinds
from annotation.tasks.pushing import append_pairs
from pipeline import sample
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, query_sha
from pipeline.core import captions, tables
from pipeline.core.params import load
from pipeline.sitcom import true_levels
from pipeline.sitcom.screenplay import load_screenplay
from pipeline.sitcom.staging.schedule import Plot

REPOSITORY = Path(__file__).parent.parent.parent
PEOPLE = (*["annotator"] * 4, *["escalation"] * 2)
START = pd.Timestamp("2024-05-01T08:00:00Z")
MOST_ROUNDS = 20


@dataclass(frozen=True)
class Rehearsed:
    """What people made, after each round: the last is the end. `truth` is by query and moment."""

    queries: pd.DataFrame
    rounds: tuple[tuple[pd.DataFrame, pd.DataFrame], ...]
    truth: Callable[[str, str], int]

    @property
    def judgments(self) -> pd.DataFrame:
        return self.rounds[-1][0]

    @property
    def ledger(self) -> pd.DataFrame:
        return self.rounds[-1][1]


@cache
def rehearsed(videos=32, val=10, test=30, batch=10, seed=1) -> Rehearsed:
    """Return a campaign of `val` + `test` queries with up to two batches each, to its end."""
    script = load_screenplay(REPOSITORY / "datasets/sample/screenplay.yaml")
    params = load(REPOSITORY / "params.yaml").sample
    takes = list(Plot(script, params.seed, params.fps).takes(videos))
    records = list(sample.annotate(script, takes, params.seed))
    scenes = {str(record["desc_id"]): true_levels.parse_scene(record) for record in records}

    moments = _moments(records)
    queries = _queries(moments, val, test)
    made_from = dict(zip(queries["query_id"], queries["moment_id"], strict=True))

    def truth(query: str, moment: str) -> int:
        return true_levels.true_level(scenes[made_from[query]], scenes[moment], script)

    candidates = _candidates(queries, moments, batch)
    return Rehearsed(queries, tuple(_rounds(queries, candidates, moments, truth, seed)), truth)


def write_made(queries, judgments, ledger) -> None:
    """Write what people made in a campaign."""
    tables.FROZEN_QUERIES.write(queries)
    tables.JUDGMENTS.write(judgments)
    tables.PAIRS.write(ledger)


@contextlib.contextmanager
def checkout_of(folder, repository, queries, judgments, ledger):
    """Be in a folder with the text files of a campaign that was not opened, and nothing else."""
    shutil.copytree(repository / "annotation/guideline", folder / "annotation/guideline")
    shutil.copy(repository / "params.yaml", folder)
    name_collection(folder / "params.yaml")
    with contextlib.chdir(folder):
        write_made(queries, judgments, ledger)
        write_empty()
        yield


def _moments(records) -> pd.DataFrame:
    rows = [(str(r["desc_id"]), r["vid_name"], *r["ts"], r["duration"], r["desc"]) for r in records]
    columns = ["moment_id", "video_id", "start", "end", "duration", "caption"]
    return pd.DataFrame(rows, columns=columns)


def _queries(moments, val, test) -> pd.DataFrame:
    distinct = moments[~captions.text_key(moments["caption"]).duplicated()]
    selection = distinct.sample(val + test, random_state=7).sort_values("moment_id")
    split = ["val"] * val + ["test"] * test
    columns = {"query_id": selection["caption"].map(captions.name_query), "split": split}
    named = selection.assign(query=selection["caption"], **columns)[
        tables.FROZEN_QUERIES.columns[:4]
    ]
    return tables.FROZEN_QUERIES.check(named.reset_index(drop=True))


def _candidates(queries, moments, batch) -> pd.DataFrame:
    words = {row.moment_id: set(row.caption.lower().split()) for row in moments.itertuples()}
    rows = []
    for query in queries.itertuples():
        asked = set(query.query.lower().split())
        near = {moment_id: len(asked & has) / len(asked | has) for moment_id, has in words.items()}
        best = sorted(near, key=lambda moment_id: (-near[moment_id], moment_id))[: 2 * batch]
        rows += [
            (query.query_id, moment, rank, round(near[moment], 6), (rank - 1) // batch + 1)
            for rank, moment in enumerate(best, start=1)
        ]
    return tables.CANDIDATES.check(pd.DataFrame(rows, columns=tables.CANDIDATES.columns))


def _rounds(queries, candidates, moments, truth, seed):
    text = queries.set_index("query_id")["query"]
    pairs = candidates.merge(moments, on="moment_id").assign(
        query_sha=lambda rows: rows["query_id"].map(text).map(query_sha),
        clip_sha=lambda rows: "c" + rows["moment_id"],
    )
    annotators = [Annotator(number, role, active=True) for number, role in enumerate(PEOPLE, 1)]
    judgments, ledger = tables.JUDGMENTS.empty(), tables.PAIRS.empty()
    for _ in range(MOST_ROUNDS):
        campaign = PlanInputs(
            queries=queries[["query_id", "query"]],
            candidates=candidates,
            clips=set(moments["moment_id"]),
            shown=pairs[SHOWN_KEY],
            judgments=judgments,
            open_tasks=tables.ASSIGNMENTS.empty(),
            annotators=annotators,
            extend={},
            rule=Rule(int(candidates.loc[candidates["batch"] == 1, "rank"].max())),
        )
        wanted = plan(campaign).assignments.merge(pairs, on=PAIR_KEY)
        if wanted.empty:
            return
        ledger = append_pairs(ledger, wanted.drop(columns=["annotator", "kind", "batch"]))
        judgments = pd.concat([judgments, _answer_tasks(wanted, truth, seed, len(judgments))])
        judgments = tables.JUDGMENTS.check(judgments.reset_index(drop=True))
        yield judgments, ledger
    raise AssertionError("the campaign does not end")


def _answer_tasks(wanted, truth, seed, before) -> pd.DataFrame:
    rows = []
    for number, task in enumerate(wanted.itertuples(), start=before):
        level = truth(task.query_id, task.moment_id)
        person = kinds.Person(task.annotator, seed=seed)
        answer = kinds.answer(person, level, task.query_id, task.moment_id)
        rows.append(
            {
                **{name: getattr(task, name) for name in [*SHOWN_KEY, "annotator", "kind"]},
                "level": answer.level,
                "reason": "broken-clip" if answer.level is None else None,
                "submitted_at": START + pd.Timedelta(seconds=number),
                "seconds": answer.seconds,
                "origin": f"{number}@a",
                "guideline": "1",
            }
        )
    return pd.DataFrame(rows).astype({"level": "Int64"})
