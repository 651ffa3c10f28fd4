"""What is released of a machine's levels, and that people's levels can't know of them."""

import hashlib
import json
import shutil
from pathlib import Path

import grimp
import pandas as pd
import pytest
from checkouts import PRIVATE
from judged_pairs import (
    MOMENTS,
    QUERIES,
    make_people_levels,
    write_embeddings,
    write_levels,
    write_votes,
)
from opened import OPEN

import momentrank
from annotation import consensus, pool
from momentrank.formats import load_qrels
from pipeline import candidates
from pipeline import judge as stage
from pipeline import release as people_release
from pipeline.campaign.campaign import write_campaign
from pipeline.campaign.pairs import query_sha
from pipeline.core import files, tables
from pipeline.core.machine_pool import read_machine_pool
from pipeline.judges import released
from pipeline.judges.repeats import drop_stale, settle_machine

REPOSITORY = Path(__file__).parents[3]
RELEASE = tables.RELEASE


def release() -> dict:
    stage.main()
    return json.loads((RELEASE / "machine_manifest.json").read_text())


def test_every_judgment_is_released_and_qrels_of_each_split(folder):
    manifest = release()
    table = tables.MACHINE_JUDGMENTS.read()
    rows = pd.read_csv(RELEASE / "machine_judgments.csv", keep_default_na=False)
    assert rows[["query_id", "moment_id", "level"]].to_numpy().tolist() == (
        table[["query_id", "moment_id", "level"]].to_numpy().tolist()
    )
    assert manifest["columns"] == {"machine_judgments.csv": list(rows.columns)}
    read = {
        split: load_qrels(RELEASE / f"qrels/{split}.machine.qrels") for split in ("val", "test")
    }
    for split, qrels in read.items():
        own = table[table["query_id"].map(QUERIES) == split]
        actual = zip(
            (qrels.queries[row] for row in qrels.query), qrels.video, qrels.value, strict=True
        )
        expected = zip(own["query_id"], "v-" + own["moment_id"], own["level"], strict=True)
        assert sorted(actual) == sorted(expected)
        by_moment = (RELEASE / f"qrels/{split}.machine.moments.qrels").read_text().splitlines()
        cells = zip(own["query_id"], own["moment_id"], own["level"], strict=True)
        assert sorted(by_moment) == sorted(f"{query} 0 {m} {level}" for query, m, level in cells)
    listed = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    assert listed == {
        name: hashlib.sha256((RELEASE / name).read_bytes()).hexdigest()
        for name in ("machine_judgments.csv", "machine_card.txt", "qrels/val.machine.qrels",
                     "qrels/test.machine.qrels", "qrels/val.machine.moments.qrels",
                     "qrels/test.machine.moments.qrels")
    }  # fmt: skip


def test_the_card_says_first_that_no_person_gave_these_levels(folder):
    release()
    card = (RELEASE / "machine_card.txt").read_text()
    assert card.splitlines()[2].startswith(released.NOTICE)
    assert "Model: similarity. Prompt: none." in card
    assert released.LEARNED in card
    assert released.SIMULATED not in card
    write_campaign(OPEN.model_copy(update={"rehearsal": True}))
    release()
    assert released.SIMULATED in (RELEASE / "machine_card.txt").read_text()


@pytest.mark.parametrize(("blind", "pictures"), [(True, 0), (False, 7)])
def test_the_card_says_what_a_model_was_shown(folder, blind, pictures):
    stage.main()
    table = tables.MACHINE_JUDGMENTS.read().assign(model="owl", frames=pictures)
    params = stage.load()
    judging = params.judge.model_copy(update={"backend": "openai", "blind": blind})
    moments = stage.read_tables(stage.load()).moments
    stage.write_release(table, moments, params.model_copy(update={"judge": judging}))
    card = (RELEASE / "machine_card.txt").read_text()
    assert f"at most {pictures}.\n" in card
    assert (released.BLIND in card) is blind


def test_without_a_level_nothing_is_listed_and_no_file_has_a_row(folder):
    write_levels({})
    assert release()["files"] == {}
    assert len((RELEASE / "machine_judgments.csv").read_text().splitlines()) == 1
    assert (RELEASE / "qrels/test.machine.qrels").read_bytes() == b""


def test_what_a_model_says_and_where_it_lies_here_is_not_released(folder):
    source = stage.read_tables(stage.load())
    stage.main()
    table = tables.MACHINE_JUDGMENTS.read()
    table = table.assign(model="/home/anna/models/owl-7b", remark="As Anna Berg said, a 4.")
    stage.write_release(table, source.moments, stage.load())
    for path in RELEASE.rglob("*"):
        assert not path.is_file() or b"nna" not in path.read_bytes(), path
    assert "Model: owl-7b." in (RELEASE / "machine_card.txt").read_text()


def test_a_judgment_of_an_older_text_or_clip_is_dropped_and_of_a_pair_nobody_saw_stays(folder):
    stage.main()
    table, ledger = tables.MACHINE_JUDGMENTS.read(), tables.PAIRS.read()
    assert len(drop_stale(table, ledger)) == len(table)
    ledger.loc[ledger["query_id"] == "v1", "query_sha"] = query_sha("Another text.")
    ledger.loc[ledger["moment_id"] == "m2", "clip_sha"] = "another"
    fresh = {
        *drop_stale(table, ledger)[["query_id", "moment_id"]].itertuples(index=False, name=None)
    }
    ledger_pairs = {*ledger[["query_id", "moment_id"]].itertuples(index=False, name=None)}
    every = {*table[["query_id", "moment_id"]].itertuples(index=False, name=None)}
    assert fresh == {
        pair for pair in every if pair not in ledger_pairs or (pair[0] != "v1" and pair[1] != "m2")
    }
    assert ("v1", "m8") in fresh


@pytest.mark.parametrize(
    ("levels", "level"), [([2], 2), ([1, 4], 3), ([0, 4, 4], 4), ([0, 1, 1, 2], 1), ([None], None)]
)
def test_repeats_come_to_their_median_and_between_levels_to_the_higher(levels, level):
    columns = {"level": pd.array(levels, "Int64"), "repeat": range(len(levels))}
    rows = pd.DataFrame(columns).assign(query_id="q", moment_id="m", remark=None)
    rows["expected"] = [float(answer or 0) for answer in levels]
    settled = settle_machine(rows)
    assert settled["level"].tolist() == ([] if level is None else [level])
    if level is not None:
        assert settled["span"].tolist() == [max(levels) - min(levels)]
        assert settled["expected"].tolist() == [sum(levels) / len(levels)]
        unknown = settle_machine(rows.assign(expected=[*levels[1:], None]))
        assert unknown["expected"].isna().all()


def test_a_release_is_loaded_and_published_with_its_machines_levels(folder):
    from pipeline.publication.package import collect_package, list_others

    release()
    for name in ("manifest.json", "train_manifest.json"):
        files.write_json(RELEASE / name, {"files": {}})
    collection = momentrank.load(RELEASE)
    assert collection.path("qrels/test.machine.qrels").stat().st_size
    package = collect_package(RELEASE)
    assert "machine_manifest.json" in {file.path for file in package.files}
    assert "qrels/val.machine.qrels" in package.further
    assert list_others(package) == []
    write_levels({})
    release()
    package = collect_package(RELEASE)
    assert package.further == {}
    assert "machine_judgments.csv" in list_others(package)


OF_A_MACHINE = ("machine_", "judge.json", ".machine.")
"""In the names of what a machine judges or said."""


def run_twice(*changes) -> dict[str, bytes]:
    """Run what makes people's levels, before and after `judge`; return all that is not `judge`'s.

    The second run has whatever the machine said before it.
    """
    text = (REPOSITORY / "params.yaml").read_text()
    for before, after in (("top: 40 ", "top: 8 "), ("batch: 20 ", "batch: 4 "), *changes):
        assert text.count(before) == 1
        text = text.replace(before, after)
    Path("params.yaml").write_text(text)
    for name in ("candidates.parquet", "consensus.parquet", "metrics"):
        path = tables.WORK / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    shutil.rmtree(RELEASE, ignore_errors=True)
    stages = (candidates.main, pool.run, consensus.main, stage.main, people_release.main)
    for run in stages * 2:
        run()
    return {
        str(path): path.read_bytes()
        for path in sorted(Path("datasets").rglob("*"))
        if path.is_file() and not any(part in path.name for part in OF_A_MACHINE)
    }


def test_candidates_consensus_and_release_are_byte_equal_with_the_judge_on_and_off(folder):
    shutil.copytree(REPOSITORY / "annotation/guideline", "annotation/guideline")
    (tables.CAMPAIGN / "annotators.private.yaml").write_text(PRIVATE)
    write_embeddings()
    write_votes(make_people_levels() | {("t1", number): number % 5 for number in range(8)})
    off = run_twice(("backend: similarity ", "backend: none "))
    assert tables.MACHINE_JUDGMENTS.read().empty
    assert read_machine_pool(stage.load()).empty
    names = {path.rpartition("/")[2] for path in off}
    assert names >= {"candidates.parquet", "consensus.parquet", "counted_votes.parquet",
                     "consensus.json", "release.json", "test.json", "test.qrels", "manifest.json",
                     "README.md"}  # fmt: skip
    on = run_twice(("pool_top: 0 ", "pool_top: 3 "))
    judgments = tables.MACHINE_JUDGMENTS.read()
    assert judgments["level"].notna().all()
    assert len(read_machine_pool(stage.load())) == 3 * len(QUERIES)
    levels = tables.CONSENSUS.read().merge(judgments, on=["query_id", "moment_id"])
    assert (levels["level_x"] != levels["level_y"]).sum() > 4
    assert on == off


OF_PEOPLE = ("pull", "pool", "plan", "push", "consensus", "agreement", "release")
"""The stages that ask people, make their levels or write them."""
FORBIDDEN = ("NEIGHBOURS", "MACHINE_JUDGMENTS", "machine_pool", "machine_judgments")
COPIED, ADMISSION = "annotation.pooling.copied", "annotation.pooling.admission"
NAMED = {"pipeline.core.tables", "pipeline.distribution.card", COPIED}
"""Where a table is defined, where the reader of a release is told that there is one, and what
refuses a channel that is made of it."""


@pytest.fixture(scope="module")
def imports():
    return grimp.build_graph("momentrank", "pipeline", "annotation", cache_dir=None)


@pytest.fixture(scope="module")
def dag():
    return files.read_yaml(REPOSITORY / "dvc.yaml")["stages"]


def list_outs(entry) -> set[str]:
    return {path for out in entry["outs"] for path in (out if isinstance(out, dict) else [out])}


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_no_stage_of_people_can_reach_what_only_a_machine_judges(name, imports, dag):
    module = dag[name]["cmd"].split()[-1]
    reached = imports.find_upstream_modules(module) | {module}
    assert not {
        dependency
        for dependency in reached
        if dependency.startswith(("pipeline.judge", "annotation.machine"))
    }
    for dependency in reached - NAMED:
        path = REPOSITORY / dependency.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        forbidden = FORBIDDEN[1:] if name == "pool" else FORBIDDEN  # it chooses among neighbours
        assert not [word for word in forbidden if word in path.read_text()], dependency


def test_only_the_command_that_refuses_a_copy_looks_at_what_a_machine_said(imports):
    assert imports.find_modules_that_directly_import(COPIED) == {ADMISSION}
    assert imports.find_modules_that_directly_import(ADMISSION) == {"annotation.pool"}


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_no_stage_of_people_is_made_from_what_a_machine_said(name, dag):
    makers = {path: stage for stage, entry in dag.items() for path in list_outs(entry)}
    queue, before = [name], set()
    while queue:
        deps = set(dag[queue.pop()].get("deps", []))
        sources = {makers[dep] for dep in deps if dep in makers} - before
        queue, before = [*queue, *sources], before | sources
    assert "judge" not in before
    assert not any("machine" in dep for dep in dag[name]["deps"] if "/machine/" not in dep)


def test_the_machines_own_pairs_reach_no_plan_whatever_the_pool(folder):
    from annotation.assignment.shown import join_shown, read_pairs_to_judge

    candidates, extra = read_pairs_to_judge(20)
    pairs = join_shown(candidates, extra, tables.QUERIES.read(), tables.CLIPS.read())
    assert not {MOMENTS[number] for number in (10, 11)} & set(pairs["moment_id"])
    stage.main()
    assert "m10" in set(tables.MACHINE_JUDGMENTS.read()["moment_id"])
