"""The stage `pool`: what it chooses, when, from what, and that it chooses once."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.campaign_cases import voided_of
from support.small_pool import FIRST, QUERIES, SIZE, TOP, SmallPool

from annotation import pool
from annotation.assignment.shown import read_pairs_to_judge
from annotation.pool import PoolError
from annotation.pooling import level_model
from annotation.pooling.growth import find_growing
from annotation.pooling.pool_check import find_strangers
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import select_learned
from pipeline.core import tables
from pipeline.core.params import load
from pipeline.pages import pool_section
from pipeline.retrieval.embeddings import Embeddings

EXTEND = tables.EXTEND.columns


@pytest.fixture
def small(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    return SmallPool((repository / "params.yaml").read_text())


def extend(**decisions):
    tables.EXTEND.write(pd.DataFrame(list(decisions.items()), columns=EXTEND))


def batches(query):
    return tables.POOL.read().query("query_id == @query").groupby("batch").size().tolist()


def everything_goes_on(small):
    small.write_params(small.params.replace("min_yield: 0.5 ", "min_yield: 0.0000001 "))


def by_similarity(params):
    return params.replace("further: learned", "further: similarity").replace("top: 15", "top: 12")


def check(capsys):
    """Return what `pool check` says, and whether it found nothing."""
    try:
        pool.run_check()
    except PoolError as exc:
        return capsys.readouterr().err + str(exc), False
    return capsys.readouterr().err, True


def test_the_pool_begins_with_the_first_batch_alone(small):
    rows = tables.POOL.read()
    assert len(rows) == QUERIES * FIRST
    assert (rows["rank"] <= FIRST).all()
    assert rows[["expected", "basis"]].isna().all(axis=None)
    before = tables.POOL.path.read_bytes()
    pool.run()
    assert tables.POOL.path.read_bytes() == before


def test_without_learning_the_pool_is_the_candidates(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    small = SmallPool((repository / "params.yaml").read_text())
    small.write_params(by_similarity(small.params))
    small.open_campaign(further="similarity")
    tables.POOL.write(tables.POOL.empty())
    tables.CANDIDATES.write(tables.CANDIDATES.read().query("batch <= 2"))
    pool.run()
    small.judge()
    pool.run()
    columns = tables.CANDIDATES.columns
    assert tables.POOL.read()[columns].equals(
        tables.CANDIDATES.read().sort_values(["query_id", "batch", "moment_id"], ignore_index=True)
    )


def test_a_batch_is_what_the_model_expects_most_of(small):
    """By hand: the same model on what was judged, and the best neighbours not in the pool."""
    everything_goes_on(small)
    small.next_round()
    rows = small.next_round()
    embedded, chosen = Embeddings.open(), rows[rows["batch"] == 3]
    assert len(chosen)

    def vectors(moments):
        texts = pd.Series([small.texts[moment] for moment in moments])
        return embedded.vectors[embedded.rows(texts)].astype(np.float64)

    def judged(query):
        own = rows[(rows["query_id"] == query) & (rows["batch"] < 3)]
        levels = np.array([small.truth[query, m] for m in own["moment_id"]], float)
        features = own[["similarity"]].to_numpy()
        return level_model.Judged(vectors(own["moment_id"]), features, levels, own["batch"].array)

    model = level_model.learn([judged(f"q{q}") for q in range(QUERIES)])
    for query, batch in chosen.groupby("query_id"):
        own = rows[(rows["query_id"] == query) & (rows["batch"] < 3)]
        near = tables.NEIGHBOURS.read().query("query_id == @query")
        near = near[~near["moment_id"].isin(own["moment_id"])]
        expected = model.expect(
            model.predict(
                judged(query), vectors(near["moment_id"]), near[["similarity"]].to_numpy()
            )
        )
        best = near.assign(expected=expected.round(6)).nlargest(SIZE, "expected")
        assert set(batch["moment_id"]) == set(best["moment_id"])
        np.testing.assert_allclose(sorted(batch["expected"]), sorted(best["expected"]), atol=2e-6)


def test_batches_come_up_to_the_top_and_never_change(small):
    everything_goes_on(small)
    before = tables.POOL.read()
    for _ in range(6):
        rows = small.next_round()
        assert before.merge(rows).shape == before.shape, "a written row stays"
        before = rows
    sizes = rows.groupby("query_id").size()
    assert sizes.max() == TOP
    assert not rows.duplicated(PAIR_KEY).any()
    learned = rows[rows["batch"] > 1]
    assert (learned["channel"] == "learned").all()
    keys = learned[["query_id", "batch", "basis"]].drop_duplicates()
    assert not keys.duplicated(["query_id", "batch"]).any()


def test_only_a_query_of_which_no_pair_waits_gets_a_batch(small):
    everything_goes_on(small)
    lost = ("q0", tables.POOL.read().query("query_id == 'q0'")["moment_id"].iloc[0])
    small.judge(level_of=lambda *pair: None if pair == lost else small.truth[pair])
    pool.run()
    assert batches("q0") == [FIRST]
    assert sum(len(batches(f"q{q}")) > 1 for q in range(QUERIES)) > 1
    failed = pd.DataFrame([(lost[1], "v", "missing")], columns=tables.FAILED_CLIPS.columns)
    tables.FAILED_CLIPS.write(failed)
    pool.run()
    assert batches("q0") == [FIRST, SIZE], "nobody waits for a clip that can't be cut"


def test_judgments_that_give_no_level_yet_teach_nothing(small):
    small.judge()
    judgments = tables.JUDGMENTS.read()
    tables.JUDGMENTS.write(judgments[judgments["annotator"] == 1])
    before = tables.POOL.path.read_bytes()
    pool.run()
    assert tables.POOL.path.read_bytes() == before


def test_a_query_without_anything_relevant_stops_and_the_lead_may_ask_for_one_batch(small):
    def level(query, moment):
        return 0 if query == "q1" else max(small.truth[query, moment], 2)

    for _ in range(3):
        small.judge(level_of=level)
        pool.run()
    assert sum(batches("q1")) <= FIRST + SIZE
    ended = batches("q1")
    extend(q1="yes", q2="no")
    for _ in range(3):
        small.judge(level_of=level)
        pool.run()
    assert batches("q1") == [*ended, SIZE]
    rows = tables.POOL.read().query("query_id == 'q1'")
    assert rows["channel"].iloc[-1] == "asked"
    small_q2 = batches("q2")
    small.judge(level_of=level)
    pool.run()
    assert batches("q2") == small_q2


def test_a_yes_goes_one_batch_beyond_the_top(small):
    everything_goes_on(small)
    for _ in range(6):
        small.next_round()
    full = tables.POOL.read().groupby("query_id").size()
    query = full.index[full == TOP][0]
    extend(**{query: "yes"})
    pool.run()
    assert sum(batches(query)) == TOP + SIZE
    small.next_round()
    assert sum(batches(query)) == TOP + SIZE


def test_the_order_of_batches_and_rows_tells_nothing(small):
    everything_goes_on(small)
    for _ in range(4):
        rows = small.next_round()
    in_order = rows.sort_values(["query_id", "batch", "moment_id"], ignore_index=True)
    assert rows.equals(in_order)
    candidates, _ = read_pairs_to_judge(FIRST)
    assert list(candidates.columns) == tables.CANDIDATES.columns, "nothing that is expected"


def test_check_chooses_again_what_was_chosen(small, capsys):
    everything_goes_on(small)
    for _ in range(4):
        small.next_round()
    assert check(capsys)[1]
    rows = tables.POOL.read()
    learned = rows.index[rows["batch"] == 2]
    own = rows["query_id"] == rows["query_id"][learned[0]]
    other = next(
        m for m in small.texts
        if m not in set(rows.loc[own, "moment_id"])
    )  # fmt: skip
    swapped = rows.copy()
    swapped.loc[learned[0], "moment_id"] = other
    tables.POOL.write(swapped)
    text, fine = check(capsys)
    assert not fine
    assert other in text
    changed = rows.copy()
    changed.loc[learned[0], "expected"] += 0.01
    tables.POOL.write(changed)
    assert not check(capsys)[1]


def test_check_says_when_levels_have_changed_since(small, capsys):
    everything_goes_on(small)
    small.next_round()
    small.next_round()
    tables.VOIDED.write(voided_of((1, "2026-01-01T00:00:00Z", None, "careless")))
    text, fine = check(capsys)
    assert fine, "the pool is what it was chosen to be"
    assert "changed, voided or set apart" in text


def test_check_finds_what_people_saw_beside_the_pool(small, capsys):
    small.next_round()
    stranger = tables.NEIGHBOURS.read().query("query_id == 'q0'").tail(1)
    small.judge(stranger)
    [found] = find_strangers(tables.POOL.read(), tables.PAIRS.read())
    assert f"q0 {stranger['moment_id'].item()}" in found.text
    text, fine = check(capsys)
    assert found.text in text
    assert not fine
    tables.TOPUP.write(stranger.assign(origin="run")[tables.TOPUP.columns])
    assert check(capsys)[1]


def fork(small):
    """Have two clones choose the same batch from different levels; return both pools."""
    everything_goes_on(small)
    beginning = tables.POOL.read()
    small.judge(beginning.query("query_id in ['q0', 'q1']"))
    pool.run()
    one = tables.POOL.read()
    tables.POOL.write(beginning)
    small.judge()
    pool.run()
    return one, tables.POOL.read()


def test_two_clones_that_chose_differently_stop_with_both_and_what_was_shown_stands(small):
    one, two = fork(small)
    bases = [rows.query("query_id == 'q0' and batch == 2")["basis"].iloc[0] for rows in (one, two)]
    assert bases[0] != bases[1]
    merged = pd.concat([one, two]).drop_duplicates(ignore_index=True)
    merged.to_csv(tables.POOL.path, index=False)  # as git merges both: a moment may be in each
    with pytest.raises(PoolError) as caught:
        pool.run()
    assert all(basis in str(caught.value) for basis in bases)
    shown = two.query("query_id == 'q0' and batch == 2")
    small.judge(shown)
    stands = re.escape(bases[1])
    for work in (pool.run, pool.run_check):
        with pytest.raises(PoolError, match=rf"keep the lines of {stands} \(people"):
            work()
    tables.POOL.write(merged[merged["basis"].isna() | (merged["basis"] == bases[1])])
    pool.run()


def test_an_absent_disk_of_videos_fills_no_pool(small):
    everything_goes_on(small)
    small.judge()
    pool.run()
    absent = [(moment, "v", "missing") for moment in small.texts]
    tables.FAILED_CLIPS.write(pd.DataFrame(absent, columns=tables.FAILED_CLIPS.columns))
    before = tables.POOL.path.read_bytes()
    for _ in range(2):
        pool.run()
    assert tables.POOL.path.read_bytes() == before


def test_a_query_that_nobody_was_shown_begins_again_and_others_stay(small):
    small.judge(tables.POOL.read().query("query_id == 'q0'"))
    candidates = tables.CANDIDATES.read()
    other = candidates["rank"].where(candidates["rank"] > 1, 99).rank().astype("int64")
    tables.CANDIDATES.write(candidates.assign(batch=1 + (other % 2)))
    pool.run()
    rows = tables.POOL.read().query("batch == 1")
    assert len(rows.query("query_id == 'q0'")) == FIRST
    wanted = tables.CANDIDATES.read().query("batch == 1 and query_id != 'q0'")
    own = rows.query("query_id != 'q0'")
    assert set(own["moment_id"] + own["query_id"]) == set(wanted["moment_id"] + wanted["query_id"])


def test_moments_and_queries_that_are_gone_leave_the_pool(small):
    everything_goes_on(small)
    small.judge()
    pool.run()
    gone = tables.POOL.read()["moment_id"].iloc[0]
    for table in (tables.MOMENTS, tables.NEIGHBOURS, tables.CANDIDATES):
        rows = table.read()
        table.write(rows[rows["moment_id"] != gone])
    queries = tables.FROZEN_QUERIES.read()
    tables.FROZEN_QUERIES.write(queries[queries["query_id"] != "q7"])
    tables.CANDIDATES.write(tables.CANDIDATES.read().query("query_id != 'q7'"))
    pool.run()
    rows = tables.POOL.read()
    assert gone not in set(rows["moment_id"])
    assert "q7" not in set(rows["query_id"])
    assert "q0" in set(rows["query_id"])


def test_a_query_that_is_audited_grows_no_more_unless_the_lead_asks(small):
    everything_goes_on(small)
    small.judge()
    drawn = tables.NEIGHBOURS.read().query("query_id in ['q0', 'q1'] and rank == 50")
    tables.AUDIT.write(drawn.assign(origin="near")[tables.AUDIT.columns])
    extend(q1="yes")
    pool.run()
    assert batches("q0") == [FIRST]
    assert batches("q1") == [FIRST, SIZE]
    assert batches("q2") == [FIRST, SIZE]


def test_the_leads_decision_on_an_equal_query_is_that_of_the_judged_one(small):
    everything_goes_on(small)
    queries = tables.FROZEN_QUERIES.read()
    queries.loc[queries["query_id"] == "q7", "query"] = "Text of q0"
    tables.FROZEN_QUERIES.write(queries)
    small.judge(tables.POOL.read().query("query_id != 'q7'"))
    extend(q7="no")
    pool.run()
    assert batches("q0") == [FIRST]
    assert batches("q1") == [FIRST, SIZE]


def test_whoever_closes_or_audits_is_told_what_would_grow(small):
    everything_goes_on(small)
    assert find_growing(load_campaign(), load()) == set()
    small.judge()
    growing = find_growing(load_campaign(), load())
    before = tables.POOL.path.read_bytes()
    pool.run()
    rows = tables.POOL.read()
    assert growing == set(rows.loc[rows["batch"] == 2, "query_id"]) != set()
    assert find_growing(load_campaign(), load()) == set()
    tables.POOL.path.write_bytes(before)
    small.open_campaign(further="similarity")
    assert find_growing(load_campaign(), load()) == set()


def test_the_order_is_the_campaigns(small):
    small.write_params(by_similarity(small.params))
    with pytest.raises(PoolError, match=r"candidates\.further: .* opened with learned"):
        pool.run()


def test_audits_and_runs_teach_nothing(small):
    everything_goes_on(small)
    small.judge()
    pool.run()
    without = tables.POOL.path.read_bytes()
    tables.POOL.write(tables.POOL.read().query("batch == 1"))
    near = tables.NEIGHBOURS.read().query("rank > 40")
    tables.TOPUP.write(near.assign(origin="run")[tables.TOPUP.columns])
    first = len(tables.PAIRS.read())
    small.judge(near, minute=first - 1 - len(without) % 7)
    pool.run()
    columns = ["query_id", "moment_id", "batch", "expected"]
    again = tables.POOL.read()
    tables.POOL.path.write_bytes(without)
    assert again[columns].equals(tables.POOL.read()[columns])


def test_a_closed_campaign_keeps_its_pool(small):
    small.judge()
    small.open_campaign(closed_at="2026-03-01T00:00:00Z")
    before = tables.POOL.path.read_bytes()
    pool.run()
    assert tables.POOL.path.read_bytes() == before


def test_the_report_sets_what_was_expected_beside_what_was_found(small):
    everything_goes_on(small)
    for _ in range(3):
        small.next_round()
    small.judge()
    learned = select_learned(tables.POOL.read())
    levels = [small.truth[pair] for pair in learned[PAIR_KEY].itertuples(index=False, name=None)]
    judged = learned[PAIR_KEY].assign(level=levels)
    [grid] = pool_section.learned_grids(SimpleNamespace(learned=learned, judged=judged))
    for row, (batch, rows) in zip(
        grid.rows, learned.assign(level=levels).groupby("batch"), strict=True
    ):
        relevant = sum(level >= 2 for level in rows["level"])
        assert row[0] == str(batch)
        assert row[2] == str(len(rows))
        assert row[3] == f"{rows['expected'].mean():.2f}"
        assert row[4] == f"{rows['level'].mean():.2f}"
        assert row[5] == str(relevant)
    nothing = SimpleNamespace(learned=learned[:0], judged=judged)
    assert pool_section.learned_grids(nothing) == []
