"""The audit's report, and its commands from the tables of a campaign to what they print."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.campaign_cases import make_judgments, write_candidates
from support.campaign_folder import CampaignFolder, Size

from annotation import audit, campaign
from annotation import pool as pool_command
from annotation.assignment.pair_states import find_pair_states
from annotation.assignment.planning import read_answers, read_inputs
from annotation.pooling import judged_audit
from annotation.pooling.report import Judged, as_json, by_rank, by_similarity, report
from annotation.pooling.scope import read_scope
from annotation.pooling.topup import runs_by_name
from annotation.roster import roster
from annotation.votes.votes import is_in
from momentrank.errors import UsageError
from pipeline.campaign import design, next_step
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.design import AuditError, Design
from pipeline.campaign.pairs import query_sha
from pipeline.candidates import candidates, rank
from pipeline.core import tables
from pipeline.core.files import FileError
from pipeline.core.params import load
from pipeline.core.sections import Candidates
from pipeline.core.table import TableError
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import unit_on_grid

HOW = {"further": "similarity", "min_yield": 0.5}
NO_STRATA = tables.FROZEN_QUERIES.empty()
SMALL = Design(seed=1, queries=10, drawn=2, pool=20, depth=12, near=4, deep=4)
NEAR, DEEP = (5, 7, 9, 12), (13, 16, 18, 20)
"""The ranks drawn. Ranks 1 to 4 are the pool, so that 8 moments are near, and 8 deep."""


def make_pairs(level_of, near=NEAR, deep=DEEP, taken=()):
    """Return what is known of two queries: `level_of(query, rank)` is a level or an outcome."""
    ranks = sorted({*range(1, 5), *near, *deep, *taken})
    rows = [(f"q{query}", f"m{rank:02}", rank, 1 - rank / 20) for query in (0, 1) for rank in ranks]
    pairs = pd.DataFrame(rows, columns=["query_id", "moment_id", "rank", "similarity"])
    answers = [level_of(row.query_id, row.rank) for row in pairs.itertuples()]
    pairs["level"] = pd.array([a if isinstance(a, int) else None for a in answers], "Int64")
    pairs["outcome"] = [a if isinstance(a, str) else "two" for a in answers]
    drawn = pairs[pairs["rank"].isin([*near, *deep])]
    origin = drawn["rank"].isin(near).map({True: "near", False: "deep"})
    table = tables.AUDIT.check(drawn.assign(origin=origin)[tables.AUDIT.columns])
    strata = tables.AUDIT_STRATA.check(
        table[["query_id", "moment_id"]].assign(stratum="unjudged", size=8)
    )
    inside = pairs[(pairs["rank"] <= 4) | pairs["rank"].isin(taken)]
    return Judged(table, strata, pairs, inside[["query_id", "moment_id"]])


def make_report(level_of, **changes):
    return report(make_pairs(level_of, **changes), SMALL)


def row(result, level, where):
    frame = result.missed
    [entry] = frame[(frame["level"] == level) & (frame["where"] == where)].to_dict("records")
    return entry


def test_totals_are_those_of_the_sample_blown_up():
    found = {("q0", 1), ("q0", 2), ("q1", 1), ("q0", 7), ("q1", 16), ("q1", 18)}
    result = make_report(lambda query, rank: 3 if (query, rank) in found else 1)
    near, deep = row(result, 2, "near"), row(result, 2, "deep")
    assert (near["per_query"], deep["per_query"]) == (1.0, 2.0)  # one and two, of 4, stand for 8
    assert near["share"] == pytest.approx(1 / (1 + 1.5), abs=1e-4)
    assert deep["share"] == pytest.approx(2 / (2 + 1.5), abs=1e-4)
    assert (near["finds"], deep["finds"]) == (1, 2)
    assert near["share_low"] < near["share"] < near["share_high"]
    assert row(result, 4, "near")["per_query"] == 0
    assert row(result, 1, "near")["per_query"] == 8


def test_a_pair_without_consensus_is_no_zero():
    outcomes = {1: 3, 2: "discarded", 5: "discarded", 7: 3, 9: "unjudgeable", 12: 0}
    result = make_report(lambda query, rank: outcomes.get(rank, 0))
    assert result.progress["without_level"] == 4
    assert row(result, 3, "near")["per_query"] == 4  # one of two with a level, of 8


def test_a_query_that_waits_or_has_a_stratum_without_a_level_is_left_out():
    for waiting in (1, 7):  # in the pool, and outside
        waits = make_report(
            lambda query, rank, at=waiting: "waiting" if (query, rank) == ("q1", at) else 1
        )
        assert waits.progress["queries_done"] == waits.progress["queries_used"] == 1
        assert waits.missed.empty
        assert waits.by_rank["pairs"].sum() == 23
        assert judged_audit.measure_missed(waits, SMALL)["left"].startswith("1 of 2 queries")
    unseen = make_report(lambda query, rank: "discarded" if query == "q1" and rank in NEAR else 1)
    assert (unseen.progress["queries_done"], unseen.progress["queries_used"]) == (2, 1)
    unknown = judged_audit.measure_missed(unseen, SMALL)
    assert unknown["share"] is None
    assert unknown["left"]


def test_a_pair_that_was_never_shown_waits():
    known = make_pairs(lambda query, rank: 1)
    result = report(known._replace(pairs=known.pairs[:0]), SMALL)
    assert result.progress["decided"] == 0
    assert all(len(table) == 0 for table in result[:4])


def test_where_all_neighbours_are_judged_none_is_missed():
    pairs = make_pairs(lambda query, rank: 3 if rank <= 2 else 0, near=())
    for machine in (None, "gpt"):
        plan = SMALL.model_copy(update={"machine": machine})
        missed = judged_audit.measure_missed(report(pairs, plan), plan)
        assert (missed["share"], missed["low"], missed["finds"]) == (0, 0, 0)
        whole = plan.model_copy(update={"queries": 2})
        assert judged_audit.measure_missed(report(pairs, whole), whole)["high"] == 0


def test_without_a_find_the_exact_bound_is_told():
    result = make_report(lambda query, rank: 3 if rank == 1 else 0)
    # 4 of 8 are judged in two queries: 2 + 1 relevant ones are missed with a chance of .107,
    # 2 + 2 with one of .046.
    assert row(result, 3, "near")["unseen_at_most"] == 3 / 2
    assert pd.isna(row(make_report(lambda query, rank: 3), 3, "near")["unseen_at_most"])


def test_what_the_pool_takes_later_is_not_missed_and_the_estimate_stays_unbiased():
    """Every sample of a small frame, after a top-up took two relevant moments and one other."""
    relevant, taken = {5, 6, 8, 11}, (5, 8, 9)
    totals = [
        row(
            make_report(
                lambda query, rank: 4 if rank in {1, 2, *relevant} else 0, near=near, taken=taken
            ),
            2,
            "near",
        )
        for near in combinations(range(5, 13), 4)
    ]
    assert np.mean([entry["per_query"] for entry in totals]) == pytest.approx(2)  # 6 and 11
    assert sorted({entry["finds"] for entry in totals}) == [0, 2, 4]
    inside = 4  # ranks 1, 2, 5 and 8
    entry = next(entry for entry in totals if entry["finds"] == 2)
    assert entry["share"] == pytest.approx(2 / (2 + inside), abs=1e-4)


def test_what_was_drawn_stands_in_the_curves_for_what_was_not():
    result = make_report(lambda query, rank: 4 if rank in {1, 7} else 0)
    first = result.by_rank.iloc[0]  # ranks 1 to 10: 4 in the pool, 3 drawn for 2 others each
    assert (first["low"], first["high"], first["pairs"]) == (1, 10, 14)
    assert first["at_least_4"] == pytest.approx((1 + 2) / (4 + 3 * 2), abs=1e-4)


def test_rates_by_rank_are_those_outside_the_pool_and_leave_no_rank_out():
    result = make_report(lambda query, rank: {1: 4, 7: 3, 9: 1, 13: 2}.get(rank, 0))
    table = result.rates
    assert list(table) == ["rank_low", "rank_high", "level", "share"]
    first, last = table[table["rank_low"] == 1], table[table["rank_low"] == 11]
    assert len(first) + len(last) == len(table)
    assert first["rank_high"].tolist() == [10] * 5
    assert first["share"].tolist() == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3, 0])  # ranks 5, 7, 9
    assert last["rank_high"].isna().all()
    assert last["share"].tolist() == pytest.approx([4 / 5, 0, 1 / 5, 0, 0])  # 12, 13, 16, 18, 20


def test_levels_by_similarity_and_by_rank():
    similarity, rank = [1.0, 0.9, 0.89, 0.1, -0.05, 0.0], [1, 10, 11, 60, 61, 300]
    levels = pd.DataFrame({"similarity": similarity, "rank": rank, "level": [4, 3, 2, 0, 0, 1]})
    table = by_similarity(levels.assign(weight=1.0))
    assert table["low"].tolist() == [-0.1, 0.0, 0.1, 0.8, 0.9]
    assert table["high"].tolist() == [0.0, 0.1, 0.2, 0.9, 1.0]
    assert table["pairs"].tolist() == [1, 1, 1, 1, 2]
    assert table["mean"].tolist() == [0.0, 1.0, 0.0, 2.0, 3.5]
    assert table["at_least_4"].tolist() == [0, 0, 0, 0, 0.5]
    ranks = by_rank(levels.assign(weight=1.0))
    bins = [[1, 10, 2], [11, 20, 1], [51, 60, 1], [61, 100, 1], [201, 500, 1]]
    assert ranks[["low", "high", "pairs"]].values.tolist() == bins
    deep = by_rank(levels.assign(weight=1.0, rank=[1, 1, 1, 1, 60_000, 2_000_000]))
    assert deep[["low", "high"]].values.tolist()[-1] == [50_001, 2_000_000]


def test_what_was_missed_is_said_once_all_is_judged():
    missed = judged_audit.measure_missed(make_report(lambda query, rank: 2), SMALL)
    assert missed["share"] == pytest.approx(8 / 12, abs=1e-4)
    assert missed["low"] <= missed["share"] <= missed["high"]
    assert (missed["queries"], missed["depth"], missed["left"]) == (2, 12, None)
    assert (missed["deeper"], missed["plan"]) == (None, None)
    none = judged_audit.measure_missed(make_report(lambda query, rank: 2 * (rank < 9)), SMALL)
    assert none["deeper"] == 1.5  # as in the test above
    partly = judged_audit.measure_missed(
        make_report(lambda query, rank: 2), SMALL.model_copy(update={"drawn": 3})
    )
    assert (partly["share"], partly["left"]) == (None, "2 of 3 queries of the audit are judged")
    assert partly["plan"] == "--queries 3 --seed 1"
    nothing = judged_audit.measure_missed(make_report(lambda query, rank: 0), SMALL)
    assert nothing["share"] is None
    assert as_json(make_report(lambda query, rank: 0), SMALL)["complete"]


# The commands

POOL, QUERIES = 90, 8


@pytest.fixture
def folder(tmp_path, monkeypatch, repository):
    """Return a folder with an open campaign of 8 queries, in a pool of 90 moments."""
    CampaignFolder.make(tmp_path, repository, Size(queries=QUERIES))
    monkeypatch.chdir(tmp_path)
    text = (repository / "params.yaml").read_text()
    for old, new in (
        ("top: 40", "top: 10"),
        ("batch: 20", "batch: 5"),
        ("depth: 1000", "depth: 80"),
    ):
        text = text.replace(f"  {old} ", f"  {new} ")
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
    ranked = rank(*pool, 80)
    tables.NEIGHBOURS.write(ranked)
    write_candidates(candidates(ranked, Candidates(batch=5, top=10, depth=80, **HOW)))
    clips = pd.DataFrame({"moment_id": ids, "clip": "x.mp4", "seconds": 3.0})
    tables.CLIPS.write(clips.assign(clip_sha="sha-" + clips["moment_id"])[tables.CLIPS.columns])
    for name in ("OPEN_TASKS", "REJECTED_JUDGMENTS", "CONSENSUS", "FAILED_CLIPS"):
        (table := getattr(tables, name)).write(table.empty())
    return tmp_path


def run(capsys, *words):
    """Run a command; return what it prints and what it says."""
    command = pool_command if words[0] == "top-up" else audit
    words = (*words, "--yes") if words[0] == "top-up" else words
    command.main(command.parse_arguments(words))
    return capsys.readouterr()


def low(query, rank):
    """No query is extended: the mean of ranks 1 to 5 is below 2."""
    return 4 if rank <= 2 or rank == 70 else 0


def judge(level_of, *, batch=1, queries=QUERIES):
    """Have two people judge the candidates of the first queries, and all of audit and top-up."""
    wanted = tables.CANDIDATES.read().query("batch <= @batch")
    wanted = wanted[wanted["query_id"] < f"m{queries:02}"]
    pairs = pd.concat([wanted, tables.AUDIT.read(), tables.TOPUP.read()])
    pairs = pairs.drop_duplicates(["query_id", "moment_id"], ignore_index=True)
    levels = [level_of(row.query_id, row.rank) for row in pairs.itertuples()]
    shas = {
        "query_sha": [query_sha(f"Somebody does {int(query[1:])}.") for query in pairs["query_id"]],
        "clip_sha": "sha-" + pairs["moment_id"],
    }
    own = pairs.assign(level=pd.array(levels, "Int64"), **shas)
    key = ["query_id", "moment_id", "level", *shas]
    tables.JUDGMENTS.write(make_judgments(
        {**dict(zip(key, values, strict=True)), "annotator": who}
        for values in own[key].itertuples(index=False, name=None) for who in (1, 2)
    ))  # fmt: skip
    start = 4.0 * own["moment_id"].str[1:].astype("int64")
    rest = {"video_id": "v", "start": start, "end": start + 3, "duration": 900.0}
    rest["caption"] = "Words."
    tables.PAIRS.write(own.assign(pair_id=range(len(own)), **rest)[tables.PAIRS.columns])
    decided = own.assign(mean=own["level"].astype("float64"), outcome="two", voted_outcome="two")
    decided["scores"] = [[level] * 2 for level in levels]
    tables.CONSENSUS.write(decided.assign(voted_level=own["level"])[tables.CONSENSUS.columns])


def test_an_audit_from_its_plan_to_its_report(folder, capsys):
    judge(low)
    told = run(capsys, "plan", "--queries", "4", "--dry-run", "--hourly", "12").err
    assert tables.AUDIT.read().empty
    # 60 of the 75 neighbours outside the pool, and the 10 deeper ones at most.
    assert "4 of 8 queries, 480 pairs: about 1,132 judgments" in told
    assert "if 25% are missed, expect an interval of" in told
    assert "pay " in told
    message = run(capsys, "plan", "--queries", "4").err
    assert "4 queries are drawn now" in message
    table = tables.AUDIT.read()
    assert table.groupby(["query_id", "origin"]).size().unique().tolist() == [10, 60]
    inside = tables.CANDIDATES.read().query("batch == 1")
    assert table.merge(inside, on=["query_id", "moment_id"]).empty
    first = tables.AUDIT.path.read_bytes()
    begun = run(capsys, "report").out
    assert begun.startswith("complete: false\n")
    assert "progress: {pairs: 280, decided: 0, " in begun

    judge(low)
    text = run(capsys, "report", "--out", "figures").out
    assert text.startswith("complete: true\n")
    assert "  where: near\n" in text or "where: near, " in text
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert figures == {
        f"audit_{name}.csv" for name in ("missed", "by_rank", "by_similarity", "rates")
    }
    data = json.loads(run(capsys, "report", "--json").out)
    assert data["complete"] is True
    assert data["design"]["pool"] == POOL
    [near, deep] = [entry for entry in data["missed"] if entry["level"] == 2]
    sampled = int((table["rank"] == 70).sum())  # rank 70 is relevant, outside the pool
    assert near["finds"] == sampled
    assert near["per_query"] == pytest.approx(sampled / 4 * 75 / 60, abs=1e-4)
    assert deep["per_query"] == 0
    missed, gain = judged_audit.measure_audit(NO_STRATA)
    assert (missed["share"], gain) == (near["share"], None)

    again = run(capsys, "plan", "--queries", "4").err
    assert "0 queries are drawn now" in again
    with pytest.raises(AuditError, match=r"audit\.csv: .*--queries 4 --seed 2024, .*--replace"):
        run(capsys, "plan", "--queries", "3")
    (folder / "params.yaml").write_text(
        (folder / "params.yaml").read_text().replace("depth: 80 ", "depth: 70 ")
    )
    with pytest.raises(AuditError, match=r"candidates\.depth: .* drawn with 80; set it back"):
        run(capsys, "plan", "--queries", "4")
    assert tables.AUDIT.path.read_bytes() == first


def test_a_pair_whose_clip_cannot_be_cut_is_not_waited_for(folder, capsys):
    judge(low)
    run(capsys, "plan", "--queries", "4")
    judge(low)
    lost = tables.AUDIT.read().iloc[[0]]
    for table in (tables.PAIRS, tables.CONSENSUS):
        frame = table.read()
        table.write(frame[~is_in(frame, lost, ["query_id", "moment_id"])])
    left = judged_audit.measure_audit(NO_STRATA)[0]["left"]
    assert left == "3 of 4 queries of the audit are judged"
    tables.FAILED_CLIPS.write(lost[["moment_id"]].assign(video_id="v", reason="missing"))
    assert judged_audit.measure_audit(NO_STRATA)[0]["share"] is not None
    assert " without_level: 1, " in run(capsys, "report").out


def test_queries_are_drawn_once_their_batches_have_ended(folder, capsys):
    judge(lambda query, rank: 4 if query == "m00" else low(query, rank), queries=5)
    ended = read_scope(load(), tables.AUDIT.empty()).ended
    assert ended == {"m01", "m02", "m03", "m04"}  # m00 is extended, three are not judged
    message = run(capsys, "plan", "--queries", "8").err
    assert "4 queries are drawn now; 4 are still being judged" in message
    first = tables.AUDIT.read()
    assert set(first["query_id"]) == ended
    judge(lambda query, rank: 4 if query == "m00" else low(query, rank), batch=2)
    assert judged_audit.measure_audit(NO_STRATA)[0]["share"] is None
    assert "4 queries are drawn now" in run(capsys, "plan", "--queries", "8").err
    whole = tables.AUDIT.read()
    pd.testing.assert_frame_equal(whole[: len(first)], first)
    assert whole["query_id"].nunique() == len(tables.AUDIT_STRATA.read()["query_id"].unique()) == 8
    extended = tables.CANDIDATES.read().query("query_id == 'm00'")
    assert whole.merge(extended, on=["query_id", "moment_id"]).empty


def test_no_level_of_the_audit_decides_what_is_drawn_ended_or_taken(folder, capsys):
    judge(low)
    run(capsys, "plan", "--queries", "8")
    before = read_scope(load(), tables.AUDIT.read())
    asked = read_pairs_of(tables.AUDIT.read())
    ranks = {(row.query_id, row.rank) for row in tables.AUDIT.read().itertuples()}
    assert any(6 <= rank <= 10 for _, rank in ranks)  # of second batches
    lines = [f"m00 Q0 v {4 * n} {4 * n + 3} {n + 1} {1 - n / 99} x\n" for n in range(60)]
    (folder / "a.run").write_text("".join(lines))
    runs = []
    for level in (0, 4):
        tables.TOPUP.write(tables.TOPUP.empty())
        judge(lambda *pair, level=level: level if pair in ranks else low(*pair))
        after = read_scope(load(), tables.AUDIT.read())
        assert (after.ended, after.found.tolist()) == (before.ended, before.found.tolist())
        pd.testing.assert_frame_equal(after.inside, before.inside)
        run(capsys, "top-up", "a.run", "--depth", "60")
        runs.append(read_pairs_of(tables.TOPUP.read()))
    pool = read_pairs_of(before.inside)
    assert runs[0] == runs[1] == {("m00", f"m{n:02}") for n in range(60)} - pool
    assert runs[0] & asked  # the pool takes what the audit has judged as it takes anything else
    inside = read_pairs_of(read_scope(load(), tables.AUDIT.read()).inside)
    assert inside == pool | runs[0]


def read_pairs_of(frame):
    return set(zip(frame["query_id"], frame["moment_id"], strict=True))


def test_pairs_of_an_audit_that_is_replaced_stay_its_own(folder, capsys):
    judge(low)
    run(capsys, "plan", "--queries", "4")
    first = tables.AUDIT.read()
    judge(low)
    ended = read_scope(load(), tables.AUDIT.read()).ended
    run(capsys, "plan", "--queries", "8", "--replace")
    audit = tables.AUDIT.read()
    old = audit[audit["origin"] == "replaced"]
    assert read_pairs_of(old) == read_pairs_of(first)
    scope = read_scope(load(), audit[audit["origin"] != "replaced"])
    assert scope.ended == ended == set(tables.CANDIDATES.read()["query_id"])
    assert read_pairs_of(old) <= read_pairs_of(scope.inside)
    assert len(audit) == len(read_pairs_of(audit))


def test_close_refuses_without_an_audit_and_says_what_one_takes_and_tells(folder, capsys):
    def close(*, unaudited=False):
        inputs = read_inputs(roster.read_people(), load(), read_answers())
        campaign._state(inputs, load(), give_up=True, unaudited=unaudited)
        return capsys.readouterr().err

    judge(low, queries=5)
    with pytest.raises(CampaignError, match=rf"{next_step.PLAN_AUDIT} --queries 8; .*--unaudited"):
        close()
    said = capsys.readouterr().err
    assert "8 of 8 queries, 960 pairs: about" in said
    assert "expect an interval of" in said
    assert close(unaudited=True) == ""
    run(capsys, "plan", "--queries", "8")
    with pytest.raises(CampaignError, match=f"{next_step.PLAN_AUDIT} --queries 8 --seed 2024"):
        close()
    judge(low)
    run(capsys, "plan", "--queries", "8")
    assert (close(), design.find_left()) == ("", None)
    tables.AUDIT.write(tables.AUDIT.empty())
    tables.NEIGHBOURS.path.unlink()  # a pipeline of an earlier version
    with pytest.raises(CampaignError, match="a part of the audit is not drawn"):
        close()


def test_a_query_that_is_judged_whole_is_audited_with_nothing_missed(folder, capsys):
    """One run took every moment of m00: the others are drawn, and m00 counts for what it has."""
    lines = [f"m00 Q0 v {4 * n} {4 * n + 3} {n + 1} {1 - n / 99} x\n" for n in range(POOL)]
    (folder / "a.run").write_text("".join(lines))
    tables.CONSENSUS.write(tables.CONSENSUS.empty())
    run(capsys, "top-up", "a.run", "--depth", str(POOL))
    judge(low)
    assert "8 queries are drawn now" in run(capsys, "plan", "--queries", "8").err
    assert design.read().whole == ["m00"]
    assert "m00" not in set(tables.AUDIT.read()["query_id"])
    assert "0 queries are drawn now" in run(capsys, "plan", "--queries", "8").err
    assert read_progress() == {"queries": 8, "drawn": 8, "judged": 1}
    assert judged_audit.measure_audit(NO_STRATA)[0]["left"].startswith("1 of 8 queries")
    judge(low)
    result, made = judged_audit.read_report()
    found = int((tables.AUDIT.read()["rank"] == 70).sum())
    near = row(result, 2, "near")
    assert near["per_query"] == pytest.approx(found * 75 / 60 / 8, abs=1e-4)
    inside = (8 * 2 + 1) / 8  # ranks 1 and 2, and rank 70 of m00
    assert near["share"] == pytest.approx(
        near["per_query"] / (near["per_query"] + inside), abs=1e-4
    )
    assert judged_audit.measure_missed(result, made)["queries"] == 8
    assert read_progress() == {"queries": 8, "drawn": 8, "judged": 8}


def read_progress():
    inputs = read_inputs(roster.read_people(), load(), read_answers())
    states = find_pair_states(inputs)
    return judged_audit.count_judged(states.pairs[states.outcome == "waiting"])


def test_queries_of_a_pilot_that_is_kept_apart_are_not_audited(folder, capsys):
    judge(low)
    pilot = {"queries": ["m00", "m01"], "ended_at": "2026-01-02T00:00:00Z", "taken_over": False}
    CampaignFolder(folder, folder).open(pilot=pilot)
    assert "6 queries are drawn now" in run(capsys, "plan", "--queries", "6").err
    assert not {"m00", "m01"} & set(tables.AUDIT.read()["query_id"])


def write_machine_levels(levels):
    """Write what a machine says of pairs: `(query_id, moment_id): levels`."""
    rows = [
        (*pair, level, None, None if level is not None else "refused", None, "gpt", None, None, 4,
         repeat, query_sha(f"Somebody does {int(pair[0][1:])}."), f"sha-{pair[1]}")
        for pair, answers in levels.items()
        for repeat, level in enumerate(answers)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=tables.MACHINE_JUDGMENTS.columns)
    tables.MACHINE_JUDGMENTS.write(frame.astype({"level": "Int64", "expected": "float64"}))


def test_an_audit_by_a_machines_levels_from_its_plan_to_its_report(folder, capsys):
    judge(low)
    ranked = tables.NEIGHBOURS.read()
    levels = {
        (row.query_id, row.moment_id): [4] if row.rank % 10 == 0 else [0]
        for row in ranked.itertuples()
        if row.rank <= 60
    }
    write_machine_levels(levels)
    run(capsys, "plan", "--queries", "4", "--machine")
    strata = tables.AUDIT_STRATA.read().merge(tables.AUDIT.read(), on=["query_id", "moment_id"])
    sizes = strata.groupby(["origin", "stratum"])["size"].unique().map(list).to_dict()
    assert sizes == {
        ("deep", "unjudged"): [10],
        ("near", "high"): [6],  # 10, 20, ..., 60
        ("near", "unjudged"): [20],
        ("near", "zero"): [49],
    }
    judge(lambda query, rank: 4 if rank in {1, 10, 50} else 0)
    data = json.loads(run(capsys, "report", "--json").out)
    assert data["design"]["machine"] == "gpt"
    near = [entry for entry in data["missed"] if entry["where"] == "near"]
    assert {entry["per_query"] for entry in near} == {2.0}  # all of stratum `high` are drawn
    assert judged_audit.measure_audit(NO_STRATA)[1]["machine"] == "gpt"
    tables.AUDIT_STRATA.write(tables.AUDIT_STRATA.read()[1:])
    with pytest.raises(AuditError, match=r"audit_strata\.csv: 1 pairs of .*restore"):
        run(capsys, "report")


def test_a_machine_without_current_levels_is_refused(folder, capsys):
    judge(low)
    write_machine_levels({("m00", "m50"): [None, None]})
    with pytest.raises(
        AuditError, match=r"machine_judgments\.parquet: no current level.*`dvc repro"
    ):
        run(capsys, "plan", "--queries", "4", "--machine")
    assert tables.AUDIT.read().empty


def test_an_audit_that_is_missing_or_edited_is_refused(folder, capsys):
    with pytest.raises(FileError, match=r"`python -m annotation\.audit plan` draws one"):
        run(capsys, "report")
    judge(low)
    run(capsys, "plan", "--queries", "2")
    text = tables.AUDIT.path.read_text().replace(",near\n", ",best\n", 1)
    tables.AUDIT.path.write_text(text)
    with pytest.raises(TableError, match=r"audit\.csv: line \d+, origin: 'best' is not one of"):
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
        runs_by_name([Path(name) for name in names])


@pytest.mark.parametrize(
    "words", ["plan", "plan --queries 0", "top-up x --depth 0", "top-up x --depth 1 --iou 0"]
)
def test_impossible_options_are_refused(words, capsys):
    command = pool_command if words.startswith("top-up") else audit
    with pytest.raises(SystemExit) as exc:
        command.parse_arguments(words.split())
    assert exc.value.code == 2
