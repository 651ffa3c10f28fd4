"""The audit's report, and its commands from the tables of a pool to what they print."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from opened import OPEN

from annotation import audit
from annotation.pooling.design import AuditError, Design
from annotation.pooling.estimator import beyond
from annotation.pooling.report import (
    assign_strata,
    by_rank,
    by_similarity,
    counts,
    report,
    stratum_edges,
)
from momentrank.errors import UsageError
from pipeline.campaign.campaign import FILE, Pilot, write_campaign
from pipeline.campaign.pairs import query_sha
from pipeline.candidates import candidates, rank
from pipeline.core import tables
from pipeline.core.files import FileError
from pipeline.core.sections import Candidates
from pipeline.core.table import TableError
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import unit_on_grid

SMALL = Design(seed=1, queries=10, drawn=2, pool=20, top=6, random=4)
DEPTHS = (2, 4)
OTHERS = (8, 11, 15, 20)


def make_audit(design=SMALL, others=OTHERS):
    """Return the pairs of an audit; a moment is called by its rank."""
    rows = [
        (f"q{query}", f"m{rank:02}", rank, 1 - rank / 20, "top" if rank <= design.top else "random")
        for query in range(design.drawn)
        for rank in (*range(1, design.top + 1), *others)
    ]
    return tables.AUDIT.check(pd.DataFrame(rows, columns=tables.AUDIT.columns))


def make_consensus(pairs, level_of):
    """Return a consensus: `level_of(query, rank)` is a level or an outcome without one."""
    answers = [level_of(row.query_id, row.rank) for row in pairs.itertuples()]
    levels = [None if isinstance(answer, str) else answer for answer in answers]
    frame = pairs[["query_id", "moment_id"]].assign(
        level=pd.array(levels, "Int64"),
        mean=[np.nan if level is None else float(level) for level in levels],
        scores=[[] for _ in answers],
        outcome=[answer if isinstance(answer, str) else "two" for answer in answers],
    )
    frame = frame.assign(voted_level=frame["level"], voted_outcome=frame["outcome"])
    return tables.CONSENSUS.check(frame)


def make_report(level_of, design=SMALL, depths=DEPTHS):
    pairs = make_audit(design)
    return report(pairs, make_consensus(pairs, level_of), design, depths)


def row(result, level, rank):
    frame = result.beyond
    [entry] = frame[(frame["level"] == level) & (frame["rank"] == rank)].to_dict("records")
    return entry


def test_totals_are_those_of_the_sample_blown_up():
    result = make_report(lambda query, rank: 3 if rank in {1, 5, 8} else 0)
    queries = {"queries": 2, "queries_done": 2, "queries_used": 2}
    assert result.progress == {"pairs": 20, "decided": 20, "without_level": 0, **queries}
    entry = row(result, level=3, rank=4)
    assert entry["per_query"] == 1 + 14 / 4  # rank 5, and one of four for the 14 beyond rank 6
    assert entry["share"] == pytest.approx(4.5 / 5.5, abs=1e-4)
    assert entry["finds"] == 2
    assert row(result, level=4, rank=4)["per_query"] == 0
    assert sorted(set(result.beyond["rank"])) == [2, 4]


def test_a_pair_without_consensus_is_no_zero():
    result = make_report(
        lambda query, rank: {1: 3, 5: "discarded", 6: 3, 8: "unjudgeable", 11: 3}.get(rank, 0)
    )
    assert result.progress["without_level"] == 4
    entry = row(result, level=3, rank=4)
    assert entry["per_query"] == pytest.approx(2 * 1 + 14 / 3, abs=1e-4)


def test_a_query_that_waits_or_has_a_stratum_without_a_level_is_left_out():
    waits = make_report(lambda query, rank: "waiting" if (query, rank) == ("q1", 3) else 1)
    assert waits.progress["decided"] == 19
    assert waits.progress["queries_done"] == waits.progress["queries_used"] == 1
    assert waits.beyond.empty
    assert waits.by_rank["pairs"].sum() == 19
    unseen = make_report(lambda query, rank: "discarded" if query == "q1" and rank in {3, 4} else 1)
    assert unseen.progress["queries_done"] == 2
    assert unseen.progress["queries_used"] == 1


def test_a_pair_that_was_never_shown_waits():
    result = report(make_audit(), tables.CONSENSUS.empty(), SMALL, DEPTHS)
    assert result.progress["decided"] == 0
    assert all(len(table) == 0 for table in result[:3])


def test_without_a_find_the_exact_bound_is_told():
    result = make_report(lambda query, rank: 3 if rank == 1 else 0)
    # 4 of 14 are judged in two queries: 4 + 3 relevant ones are missed with a chance of 0.069,
    # 4 + 4 with one of 0.044.
    assert row(result, level=3, rank=4)["unseen_at_most"] == 7 / 2
    assert pd.isna(row(make_report(lambda query, rank: 3), level=3, rank=4)["unseen_at_most"])


@pytest.mark.parametrize(
    ("top", "pool", "depths", "edges"),
    [
        (60, 900, (20, 40), [0, 20, 40, 60, 900]),
        (60, 900, (40, 80), [0, 40, 60, 900]),
        (60, 50, (20, 40), [0, 20, 40, 50]),
        (60, 30, (20, 40), [0, 20, 30]),
        (60, 60, (20, 20), [0, 20, 60]),
    ],
)
def test_strata_end_where_the_pool_does(top, pool, depths, edges):
    design = SMALL.model_copy(update={"top": top, "pool": pool})
    assert stratum_edges(depths, design) == edges


def test_the_counts_are_those_of_the_table():
    random = np.random.default_rng(5)
    pairs = make_audit()
    pairs["level"] = pd.array(random.integers(0, 5, len(pairs)), "Int64")
    pairs.loc[random.random(len(pairs)) < 0.1, "level"] = pd.NA
    edges = stratum_edges(DEPTHS, SMALL)
    inside = assign_strata(pairs, edges)
    strata = counts(inside, edges, 2)
    for query, name in enumerate(sorted(set(inside["query_id"]))):
        for stratum, (low, high) in enumerate(pairwise(edges)):
            own = inside[(inside["query_id"] == name) & inside["rank"].between(low + 1, high)]
            assert strata.size[query, stratum] == high - low
            assert strata.judged[query, stratum] == own["level"].notna().sum()
            assert strata.relevant[query, stratum] == (own["level"].dropna() >= 2).sum()
    assert beyond(strata, 1, SMALL.queries).per_query.value >= 0


def test_levels_by_similarity_and_by_rank():
    similarity, rank = [1.0, 0.9, 0.89, 0.1, -0.05, 0.0], [1, 10, 11, 60, 61, 300]
    levels = pd.DataFrame({"similarity": similarity, "rank": rank, "level": [4, 3, 2, 0, 0, 1]})
    table = by_similarity(levels)
    assert table["low"].tolist() == [-0.1, 0.0, 0.1, 0.8, 0.9]
    assert table["high"].tolist() == [0.0, 0.1, 0.2, 0.9, 1.0]
    assert table["pairs"].tolist() == [1, 1, 1, 1, 2]
    assert table["mean"].tolist() == [0.0, 1.0, 0.0, 2.0, 3.5]
    assert table["at_least_4"].tolist() == [0, 0, 0, 0, 0.5]
    design = Design(seed=1, queries=2, drawn=2, pool=300, top=60, random=60)
    ranks = by_rank(levels, design)
    bins = [[1, 10, 2], [11, 20, 1], [51, 60, 1], [61, 100, 1], [201, 300, 1]]
    assert ranks[["low", "high", "pairs"]].values.tolist() == bins


# The commands

POOL, QUERIES = 90, 8


@pytest.fixture
def folder(tmp_path, monkeypatch, repository):
    """Return a folder with a pool of 90 moments and 8 queries, and its candidates."""
    monkeypatch.chdir(tmp_path)
    text = (repository / "params.yaml").read_text()
    text = text.replace("  top: 40  ", "  top: 10  ").replace("  batch: 20  ", "  batch: 5  ")
    (tmp_path / "params.yaml").write_text(text)
    ids = [f"m{number:02}" for number in range(POOL)]
    texts = [f"Somebody does {number}." for number in range(POOL)]
    start = np.arange(POOL) * 4.0
    moments = pd.DataFrame({"moment_id": ids, "description": texts, "start": start})
    moments = moments.assign(video_id="v", modality="v", end=start + 3)
    tables.MOMENTS.write(moments[tables.MOMENTS.columns])
    rest = {"source": "none", "model": None, "prompt": None, "rounds": 0, "status": "passed"}
    captions = pd.DataFrame({"moment_id": ids, "caption": texts})
    tables.CAPTIONS.write(captions.assign(**rest, similarity=1.0, name_score=0.0))
    queries = pd.DataFrame({"query_id": ids, "query": texts, "split": "train"})
    queries.loc[: QUERIES - 1, "split"] = "test"
    queries["moment_id"] = queries["query_id"]
    tables.QUERIES.write(queries)
    store = embeddings.Store(embeddings.FOLDER, "random")
    keys, distinct = embeddings.distinct(texts)
    vectors = unit_on_grid(np.random.default_rng(1).standard_normal((len(distinct), 8)))
    store.finish(keys, [(keys, vectors)])
    pool = (queries[:QUERIES], captions.merge(moments), embeddings.Embeddings.open())
    tables.CANDIDATES.write(candidates(rank(*pool, 10), Candidates(batch=5, top=10)))
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("null\n")
    return tmp_path


def test_queries_of_a_pilot_that_is_kept_apart_are_not_audited(folder, capsys):
    pilot = Pilot(queries=["m00", "m01"], ended_at=OPEN.opened_at)
    write_campaign(OPEN.model_copy(update={"pilot": pilot}))
    assert "6 of 6 queries" in run(capsys, "plan", "--queries", "6").err
    assert not {"m00", "m01"} & set(tables.AUDIT.read()["query_id"])


@pytest.mark.parametrize("words", [["report"], ["top-up", "splade.txt", "--depth", "3"]])
def test_without_consensus_the_command_to_type_is_named(folder, capsys, repository, words):
    shutil.copy(repository / "dvc.yaml", folder)
    run(capsys, "plan", "--queries", "4")
    (folder / "splade.txt").write_text("m00 Q0 v 0 3 1 0.5 splade\n")
    with pytest.raises(FileError, match=r"consensus\.parquet: .*`dvc repro consensus`"):
        run(capsys, *words)


def run(capsys, *words):
    """Run a command; return what it prints and what it says."""
    audit.main(audit.parse_arguments(words))
    return capsys.readouterr()


def judge(level_of):
    tables.CONSENSUS.write(make_consensus(tables.AUDIT.read(), level_of))


def test_an_audit_from_its_plan_to_its_report(folder, capsys):
    message = run(capsys, "plan", "--queries", "4").err
    assert "4 of 8 queries, 360 pairs; 20 of them are judged anyway (batch 1), and 20" in message
    assert "costs 640 to 680 further judgments" in message
    first = tables.AUDIT.path.read_bytes()
    tables.CONSENSUS.write(tables.CONSENSUS.empty())
    assert "INCOMPLETE: 0 of 360 pairs" in run(capsys, "report").out

    judge(lambda query, rank: 4 if rank <= 3 or rank == 70 else 0)
    text = run(capsys, "report", "--out", "figures").out
    assert ", complete: 360 of 360 pairs" in text
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert figures == {f"audit_{name}.csv" for name in ("beyond", "by_rank", "by_similarity")}
    data = json.loads(run(capsys, "report", "--json").out)
    assert data["complete"] is True
    assert data["design"]["pool"] == POOL
    assert {entry["rank"] for entry in data["beyond"]} == {5, 10}
    assert [entry["per_query"] for entry in data["beyond"]] == [1.0] * 8  # rank 70, all are judged
    assert [entry["per_query_high"] for entry in data["beyond"]] != [1.0] * 8  # 4 of 8 queries

    with pytest.raises(AuditError, match=r"audit\.csv: .*--replace"):
        run(capsys, "plan", "--queries", "3")
    assert tables.AUDIT.path.read_bytes() == first
    run(capsys, "plan", "--queries", "4", "--replace")
    assert tables.AUDIT.path.read_bytes() == first
    run(capsys, "plan", "--queries", "4", "--replace", "--seed", "5")
    assert tables.AUDIT.path.read_bytes() != first


def write_machine_levels(levels):
    """Write what a machine says of pairs: `(query_id, moment_id): level`, and their clips."""
    rows = [
        (*pair, level, None, None if level is not None else "refused", None, "gpt", None, None, 4,
         repeat, query_sha(f"Somebody does {int(pair[0][1:])}."), f"sha-{pair[1]}")
        for pair, answers in levels.items()
        for repeat, level in enumerate(answers)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=tables.MACHINE_JUDGMENTS.columns)
    tables.MACHINE_JUDGMENTS.write(frame.astype({"level": "Int64", "expected": "float64"}))
    ids = [f"m{number:02}" for number in range(POOL)]
    clips = pd.DataFrame({"moment_id": ids, "clip": "x.mp4", "seconds": 3.0})
    tables.CLIPS.write(clips.assign(clip_sha="sha-" + clips["moment_id"])[tables.CLIPS.columns])


def test_an_audit_by_a_machines_levels_from_its_plan_to_its_report(folder, capsys):
    texts = tables.CAPTIONS.read().merge(tables.MOMENTS.read())
    pool = (tables.QUERIES.read()[:QUERIES], texts, embeddings.Embeddings.open())
    everything = rank(*pool, POOL)
    levels = {
        (row.query_id, row.moment_id): [4] if row.rank % 10 == 0 else [0]
        for row in everything.itertuples()
        if row.rank <= 80
    }
    write_machine_levels(levels)
    message = run(capsys, "plan", "--queries", "4", "--machine").err
    assert (
        "audit.csv and datasets/campaign/audit.json and datasets/campaign/audit_strata" in message
    )
    files = [tables.AUDIT.path, tables.AUDIT_STRATA.path, folder / "datasets/campaign/audit.json"]
    first = [path.read_bytes() for path in files]
    strata = tables.AUDIT_STRATA.read()
    sizes = strata.groupby("stratum")["size"].unique().map(list).to_dict()
    assert sizes == {"high": [2], "unjudged": [10], "zero": [18]}  # of ranks 61 to 90

    judge(lambda query, rank: 4 if rank in {1, 70, 90} else 0)
    data = json.loads(run(capsys, "report", "--json").out)
    assert data["design"]["machine"] == "gpt"
    # All of ranks 61 to 90 are drawn: 70 and 90 are found.
    assert {entry["per_query"] for entry in data["beyond"]} == {2.0}
    assert " gpt guided which moments" in run(capsys, "report").out

    run(capsys, "plan", "--queries", "4", "--machine", "--replace")
    assert [path.read_bytes() for path in files] == first
    tables.AUDIT_STRATA.write(strata[1:])
    with pytest.raises(AuditError, match=r"audit_strata\.csv: 1 random pairs of .*restore"):
        run(capsys, "report")
    run(capsys, "plan", "--queries", "4", "--replace")
    assert "machine" not in files[2].read_text()
    assert len(tables.AUDIT_STRATA.read()) == 0
    assert "gpt" not in run(capsys, "report").out


def test_a_machine_without_current_levels_is_refused(folder, capsys):
    write_machine_levels({("m00", "m50"): [None, None]})
    with pytest.raises(
        AuditError, match=r"machine_judgments\.parquet: no current level.*`dvc repro"
    ):
        run(capsys, "plan", "--queries", "4", "--machine")
    assert not tables.AUDIT.path.exists()


def test_an_audit_that_is_missing_or_was_edited_is_refused(folder, capsys):
    with pytest.raises(FileError, match=r"`python -m annotation\.audit plan` draws one"):
        run(capsys, "report")
    run(capsys, "plan", "--queries", "2")
    text = tables.AUDIT.path.read_text().replace(",top\n", ",best\n", 1)
    tables.AUDIT.path.write_text(text)
    with pytest.raises(TableError, match=r"audit\.csv: line 2, origin: 'best' is not one of"):
        run(capsys, "report")


def test_a_top_up_is_appended_once(folder, capsys):
    lines = [f"m00 Q0 v {4 * number}.0 {4 * number + 3}.0 {number + 1} 1 x" for number in range(40)]
    (folder / "splade.txt").write_text("\n".join(lines) + "\n")
    tables.CONSENSUS.write(tables.CONSENSUS.empty())
    before = tables.CANDIDATES.read()
    judged = before[(before["query_id"] == "m00") & (before["batch"] == 1)]["moment_id"]
    message = run(capsys, "top-up", "splade.txt", "--depth", "30").err
    table = tables.TOPUP.read()
    assert set(table["moment_id"]) == {f"m{number:02}" for number in range(30)} - set(judged)
    assert set(table["origin"]) == {"splade"}
    assert f"{len(table)} pairs are new" in message
    stood = tables.TOPUP.path.read_bytes()
    assert "0 pairs are new" in run(capsys, "top-up", "splade.txt", "--depth", "30").err
    assert tables.TOPUP.path.read_bytes() == stood
    run(capsys, "top-up", "splade.txt", "--depth", "40")
    assert tables.TOPUP.path.read_bytes().startswith(stood)
    assert len(tables.TOPUP.read()) > len(table)


def test_the_results_of_a_run_are_recorded_whoever_found_them_first(folder, capsys):
    lines = [f"m00 Q0 v {4 * n}.0 {4 * n + 3}.0 {at} 1 x" for at, n in enumerate((50, 60, 70), 1)]
    lines += ["m00 Q0 v 900.0 903.0 4 1 x", "m88 Q0 v 0.0 3.0 1 1 x"]
    (folder / "a.txt").write_text("\n".join(lines) + "\n")
    (folder / "b.txt").write_text("m00 Q0 v 240.0 242.5 1 1 x\nm00 Q0 v 0.0 3.0 2 1 x\n")
    tables.CONSENSUS.write(tables.CONSENSUS.empty())
    run(capsys, "top-up", "a.txt", "b.txt", "--depth", "2")
    assert set(tables.TOPUP.read()["origin"]) == {"a"}, "b found nothing new, and is recorded"
    recorded = tables.POOLED_RUNS.read().set_index(["origin", "rank"])
    assert set(recorded["query_id"]) == {"m00"}, "m88 is not judged"
    assert recorded.loc["a", "pooled_start"].tolist()[:2] == [200.0, 240.0]
    assert recorded.loc["a", "pooled_start"].isna().tolist() == [False, False, True, True]
    assert recorded.loc[("b", 1), ["end", "pooled_end"]].tolist() == [242.5, 243.0]
    (folder / "b.txt").write_text("m00 Q0 v 40.0 43.0 1 1 x\n")
    run(capsys, "top-up", "b.txt", "--depth", "1")
    again = tables.POOLED_RUNS.read().set_index(["origin", "rank"])
    assert again.loc["a"].equals(recorded.loc["a"])
    assert again.loc["b", "start"].tolist() == [40.0]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["audit.txt"], "'audit' is not a valid name for a run"),
        (["a/x.txt", "b/x.json.gz"], "a/x.txt is also called 'x'"),
        ([".txt"], "'' is not a valid name"),
    ],
)
def test_runs_need_names_of_their_own(names, message):
    with pytest.raises(UsageError, match=message):
        audit.runs_by_name([Path(name) for name in names])


@pytest.mark.parametrize(
    "words", ["plan", "plan --queries 0", "top-up x --depth 0", "top-up x --depth 1 --iou 0"]
)
def test_impossible_options_are_refused(words, capsys):
    with pytest.raises(SystemExit) as exc:
        audit.parse_arguments(words.split())
    assert exc.value.code == 2
