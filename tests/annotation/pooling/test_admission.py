"""`pool admit`: from a system's run to a channel that the pool chooses from, or that is refused."""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.small_pool import FIRST, MOMENTS, QUERIES, SmallPool

from annotation import pool
from annotation.pooling import admission, channels
from annotation.pooling.copied import CopiedError
from annotation.pooling.inside import find_inside
from annotation.pooling.kept_channels import ChannelError, locate, read_admitted
from annotation.pooling.pool_state import read_source
from annotation.pooling.topup import read_pool
from momentrank.errors import UsageError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import files, tables
from pipeline.core.params import load

KEPT = (tables.CHANNELS, tables.CHANNEL_SAMPLE, tables.TOPUP, tables.POOLED_RUNS)
DEPTH = 50


@pytest.fixture
def small(tmp_path, monkeypatch, repository):
    """A small pool, of which a channel may ask; captions' order is that of its vectors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(admission, "LEAST_QUERIES", 4)
    small = SmallPool((repository / "params.yaml").read_text())
    (tmp_path / "dvc.yaml").write_text("stages: {judge: {outs: [datasets/work/machine.run]}}")
    moments = [(m, "v", 10.0 * n, 10.0 * n + 5, "They do.", "v") for n, m in enumerate(small.texts)]
    tables.MOMENTS.write(pd.DataFrame(moments, columns=tables.MOMENTS.columns))
    texts = list(small.texts.values())
    queries = [(f"q{q}", texts[q], "test", None) for q in range(QUERIES)]
    tables.QUERIES.write(pd.DataFrame(queries, columns=tables.QUERIES.columns[:4]))
    captions = tables.CAPTIONS.read().assign(source="rules")
    tables.CAPTIONS.write(captions)
    decide(small, tables.POOL.read())
    return small


def decide(small, pairs, level=None):
    """Have these pairs decided, with their true levels."""
    levels = [small.truth[pair] if level is None else level for pair in pairs[PAIR_KEY].itertuples(
        index=False, name=None)]  # fmt: skip
    earlier = tables.CONSENSUS.read() if tables.CONSENSUS.path.is_file() else None
    rows = pairs[PAIR_KEY].assign(level=pd.array(levels, "Int64"), mean=levels, outcome="two")
    rows = rows.assign(scores=[[n, n] for n in levels], voted_level=rows["level"])
    rows = rows.assign(voted_outcome="two")[tables.CONSENSUS.columns]
    rows = rows if earlier is None else pd.concat([earlier, rows])
    tables.CONSENSUS.write(rows.drop_duplicates(PAIR_KEY, keep="last"))


def write_run(score, path="clip.run"):
    """Write a run that ranks every moment by `score(query, moment number)`."""
    lines = []
    for query in (f"q{q}" for q in range(QUERIES)):
        order = sorted(range(MOMENTS), key=lambda n: -score(query, n))
        for rank, n in enumerate(order, 1):
            lines.append(f"{query} Q0 v {10.0 * n} {10.0 * n + 5} {rank} {100 - rank} x")
    Path(path).write_text("\n".join(lines) + "\n")
    return path


def admit(run, *words):
    parser = ArgumentParser()
    admission.add_options(parser)
    admission.admit(parser.parse_args([str(run), *words]))


def looking(small):
    return lambda query, n: small.truth[query, f"m{n:02}"] + 0.001 * n


def decision():
    return tables.CHANNELS.read()["decision"].tolist()


def test_a_dry_run_says_what_it_costs_and_asks_nobody(small, capsys):
    before = {table: table.path.read_bytes() for table in KEPT}
    admit(write_run(looking(small)), "--dry-run", "--hourly", "20")
    said = capsys.readouterr().err
    assert "0% match no moment" in said
    assert "judgments" in said
    assert "pay" in said
    assert {table: table.path.read_bytes() for table in KEPT} == before
    assert not tables.CHANNEL.path.parent.exists()


def test_people_are_asked_about_both_and_nothing_begins_a_batch(small):
    admit(write_run(looking(small)))
    assert decision() == ["asked"]
    sample, asked = tables.CHANNEL_SAMPLE.read(), tables.TOPUP.read()
    assert set(asked["origin"]) == {"clip", "captions"}
    pairs = set(sample[PAIR_KEY].itertuples(index=False, name=None))
    assert set(asked[PAIR_KEY].itertuples(index=False, name=None)) == pairs
    assert sample.groupby(["query_id", "by"]).size().eq(channels.SIZE).all()
    before = tables.POOL.read()
    assert sample.merge(before, on=PAIR_KEY).empty, "of what is not in the pool"
    second = before.assign(batch=1 + (before["rank"] > 2))
    inside = find_inside(second, tables.AUDIT.read(), asked, sample[PAIR_KEY])
    assert len(inside) == len(second[second["batch"] == 1]) + len(pairs)
    kept = tables.CHANNEL.read(locate("clip"))
    assert kept.groupby("query_id").size().eq(DEPTH).all()
    recorded = tables.POOLED_RUNS.read()
    assert recorded.groupby("query_id").size().eq(20).all()


@pytest.mark.parametrize("name", ["good", "bad"])
def test_what_finds_more_is_admitted_what_does_not_is_refused(small, capsys, name):
    sign = 1 if name == "good" else -1
    run = write_run(lambda query, n: sign * looking(small)(query, n), f"{name}.run")
    admit(run)
    capsys.readouterr()
    admit(run)
    assert "wait for people" in capsys.readouterr().err
    assert decision() == ["asked"]
    decide(small, tables.TOPUP.read())
    admit(run)
    decided = "admitted" if name == "good" else "refused"
    assert decision() == [decided]
    said = capsys.readouterr().err
    assert decided in said
    admit(run)
    assert capsys.readouterr().err == said, "it stays, and is told again"
    assert list(read_admitted()) == (["good"] if name == "good" else [])
    row = tables.CHANNELS.read().iloc[0]
    assert row["sha256"] == files.file_sha256(locate(name))


def admit_good(small):
    run = write_run(looking(small))
    admit(run)
    decide(small, tables.TOPUP.read())
    admit(run)


def test_an_admitted_channel_is_a_feature_and_its_best_can_be_chosen(small, capsys):
    small.write_params(small.params.replace("min_yield: 0.5 ", "min_yield: 0.0000001 "))
    before = small.next_round()
    admit_good(small)
    rows = small.next_round()
    source = read_source(rows["moment_id"], DEPTH)
    only = source.moments[source.moments["rank"] > DEPTH]
    assert len(only), "moments that are no neighbours"
    described = source.join_channels(only)
    features = source.describe(described)[1]
    ranks = described.merge(read_admitted()["clip"], on=PAIR_KEY)["rank_y"]
    np.testing.assert_allclose(features[:, 1], channels.score_ranks(ranks, DEPTH))
    chosen = rows[rows["batch"] == 3]
    without = read_source(rows["moment_id"], DEPTH)._replace(channels={})
    assert source.describe(source.join_channels(rows))[1].shape[1] == 2
    assert without.describe(rows)[1].shape[1] == 1
    levels = [small.truth[pair] for pair in chosen[PAIR_KEY].itertuples(index=False, name=None)]
    earlier = before[before["batch"] == 2]
    found = [small.truth[pair] for pair in earlier[PAIR_KEY].itertuples(index=False, name=None)]
    assert np.mean(levels) > np.mean(found)
    pool.run_check()  # also for the batch before the channel


def test_a_killed_command_is_repeated_to_the_same_bytes(small):
    run = write_run(looking(small))
    admit(run)
    paths = [table.path for table in KEPT]
    whole = [path.read_bytes() for path in paths]
    for lost in ([tables.TOPUP], [tables.TOPUP, tables.CHANNELS]):
        for table in lost:
            table.write(table.empty())
        admit(run)
        assert [path.read_bytes() for path in paths] == whole


def test_a_changed_ranking_is_no_channel(small):
    admit_good(small)
    path = locate("clip")
    kept = tables.CHANNEL.read(path)
    tables.CHANNEL.write(kept[kept["rank"] <= 5], path)
    small.judge()
    with pytest.raises(ChannelError, match=r"clip\.parquet: not as it was admitted"):
        pool.run()


def test_what_a_machine_said_is_no_channel(small):
    rows = [
        (query, moment, level, None, None, None, "owl", "v1", "1", 8, 0, "ab", "cd")
        for (query, moment), level in small.truth.items()
    ]
    machine = pd.DataFrame(rows, columns=tables.MACHINE_JUDGMENTS.columns)
    tables.MACHINE_JUDGMENTS.write(machine)
    run = write_run(looking(small))
    with pytest.raises(CopiedError, match=r"clip\.run: practically never contradicts the level"):
        admit(run)
    (Path("datasets/work") / "machine.run").write_bytes(Path(run).read_bytes())
    with pytest.raises(CopiedError, match=r"clip\.run: is datasets/work/machine\.run"):
        admit(run)
    rng = np.random.default_rng(9)
    honest = write_run(lambda query, n: looking(small)(query, n) + rng.normal(0, 0.8), "other.run")
    admit(honest)
    assert decision() == ["asked"]


def test_a_run_needs_enough_new_moments_and_a_name(small):
    pool_of = read_pool(load())
    assert len(pool_of.queries) == QUERIES
    lines = [f"q0 Q0 v {10.0 * n} {10.0 * n + 5} {n + 1} 1 x" for n in range(FIRST)]
    Path("short.run").write_text("\n".join(lines) + "\n")
    with pytest.raises(ChannelError, match=r"short\.run: it brings 5 new moments to \d queries"):
        admit("short.run")
    with pytest.raises(UsageError, match="'captions' is not a valid name"):
        admit(write_run(looking(small)), "--name", "captions")


def test_another_run_of_the_same_name_is_not_what_people_were_asked_about(small):
    admit(write_run(looking(small)))
    with pytest.raises(ChannelError, match=r"clip\.run: is not the run .* 'clip'"):
        admit(write_run(lambda query, n: -looking(small)(query, n)))
    admit("clip.run", "--name", "reversed")
    assert decision() == ["asked", "asked"]


def test_nobody_is_asked_about_a_query_whose_text_another_has(small):
    queries = tables.QUERIES.read()
    queries.loc[queries["query_id"] == "q7", "query"] = queries["query"].iloc[0]
    tables.QUERIES.write(queries)
    admit(write_run(looking(small)))
    assert "q7" not in set(tables.TOPUP.read()["query_id"])
    assert "q0" in set(tables.TOPUP.read()["query_id"])
