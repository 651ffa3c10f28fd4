import shutil
from collections import namedtuple

import psutil
import pytest

from pipeline.core.params import load
from pipeline.machine import demand, findings
from pipeline.machine.demand import Demand


@pytest.fixture
def params(repository):
    return load(repository / "params.yaml")


def change(section, **values):
    return section.model_copy(update=values)


def test_more_moments_take_more_and_more_cores_fewer_hours(params):
    two = params.model_copy(update={"engine": change(params.engine, workers=2)})
    eight = params.model_copy(update={"engine": change(params.engine, workers=8)})
    small, large = demand.calc_demands(100_000, two), demand.calc_demands(1_000_000, two)
    assert all(a.hours <= b.hours and a.disk <= b.disk for a, b in zip(small, large, strict=True))
    hours = {need.stage: need.hours for need in large}
    faster = {need.stage: need.hours for need in demand.calc_demands(1_000_000, eight)}
    assert faster["embed"] * 4 == pytest.approx(hours["embed"])
    assert hours["pseudo"] / 4 < faster["pseudo"] < hours["pseudo"] / 3  # the lead merges alone


def test_training_sets_take_what_a_benchmark_of_their_shards_has_measured(params):
    """128 tasks of 62 s on 100 cores, then 3 minutes of the lead, on freer cores."""
    engine = change(params.engine, kind="ray", workers=100, shards=8)
    cluster = params.model_copy(update={"engine": engine})
    pseudo = demand.calc_demands(1_000_000, cluster)[-1]
    assert pseudo.stage == "pseudo"
    assert pseudo.hours * 60 == pytest.approx(128 * 62 / 60 / 100 + 3, rel=0.3)
    twice = cluster.model_copy(update={"engine": change(engine, shards=16)})
    assert demand.count_parts(1_000_000, twice) == pytest.approx(2 * 2.6, rel=0.03)


@pytest.mark.parametrize(
    ("moments", "shards", "hours"), [(10**7, 8, 2 + 260 / 8 + 200), (10**6, 8, 48)]
)
def test_shards_read_a_corpus_past_memory(params, moments, shards, hours):
    engine = change(params.engine, kind="ray", workers=100, shards=shards)
    ingest = demand.calc_demands(moments, params.model_copy(update={"engine": engine}))[0]
    assert ingest.hours * 3600 == pytest.approx(hours)


def test_a_cluster_with_one_shard_is_one_core(params):
    alone = change(params.engine, kind="ray", workers=100)
    assert demand.count_workers(alone) == 1
    assert demand.count_workers(change(alone, shards=400)) == 100


def test_memory_of_ten_million_moments_is_near_what_was_measured(params):
    every = params.model_copy(update={"split": change(params.split, train=None)})
    needs = demand.calc_demands(10_000_000, every)
    peaks = {need.stage: need.memory - need.mapped for need in needs}
    # Peaks in GB of runs on two cores, less the vectors, which had 64 numbers.
    vectors = 10_000_000 * 64 * 4 / 1e9
    measured = {"ingest": 2.6, "split": 2.3, "candidates": 3.25 - vectors, "pseudo": 5.3 - vectors}
    assert all(0.7 * peak < peaks[stage] < peak + 2 for stage, peak in measured.items()), peaks
    assert peaks["rewrite"] > 10  # reads its tables whole


@pytest.mark.parametrize("free", [1, 5])
def test_too_little_memory_or_disk_is_missing(monkeypatch, free):
    Usage = namedtuple("Usage", ["free", "available"])
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Usage(0, free * 1e9))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free * 1e9, 0))
    wanted = [Demand("a", 1, 0.5, 1.5), Demand("candidates", 1, 3.0, 1.5)]
    state = "ok" if free == 5 else "missing"
    memory, disk = findings.find_memory(wanted), findings.find_disk(wanted)
    assert (memory.state, disk.state) == (state, state)
    assert "candidates needs 3.0" in memory.text


def test_a_corpus_that_is_not_there_or_has_other_videos_is_missing(params, tmp_path):
    lost = change(params.ingest, source=str(tmp_path / "no.csv"), corpus="table")
    assert findings.find_corpus(lost).state == "missing"
    table = tmp_path / "corpus.csv"
    table.write_text("video_id,start,end,duration,description\nv,0,1,9,A man waits.\n")
    here = change(lost, source=str(table), videos=str(tmp_path / "{video_id}.mp4"))
    assert "v.mp4" in findings.find_corpus(here).text
    (tmp_path / "v.mp4").touch()
    assert findings.find_corpus(here).state == "ok"
    assert findings.count_moments(here) == 1


def test_keys_and_extras_that_are_missing_say_the_next_step(params, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked = params.model_copy(update={"rewrite": change(params.rewrite, backend="openai")})
    assert "OPENAI_API_KEY" in findings.find_llm(asked).step
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert findings.find_llm(asked).state == "ok"
    assert "secret" not in findings.find_llm(asked).text
    monkeypatch.setattr(findings.importlib.util, "find_spec", lambda _: None)
    assert findings.find_engine(change(params.engine, kind="ray")).step == "make engines"
    monkeypatch.setattr(findings.importlib.util, "find_spec", lambda _: object())
    monkeypatch.setenv("PATH", "")
    assert "sbatch" in findings.find_engine(change(params.engine, kind="slurm")).text


def test_a_cluster_or_space_that_is_not_there_is_missing(params, monkeypatch, tmp_path):
    monkeypatch.setattr(findings.importlib.util, "find_spec", lambda _: object())
    nobody = findings.find_engine(change(params.engine, kind="ray", address="127.0.0.1:9"))
    assert (nobody.state, "127.0.0.1:9" in nobody.text) == ("missing", True)
    assert findings.find_engine(change(params.engine, kind="ray")).state == "note"  # 1 shard
    folder = change(params.engine, folder=str(tmp_path / "not/yet"))
    assert findings.find_parts(folder, 0.0).state == "ok"
    assert findings.find_parts(folder, 1e9).state == "missing"


def test_the_command_ends_with_1_where_something_is_missing(
    folder, repository, command, monkeypatch
):
    (folder / "params.yaml").write_text(
        (repository / "params.yaml")
        .read_text()
        .replace("corpus: tvr ", "corpus: table ", 1)
        .replace("datasets/work/sample/annotations.jsonl", "none.csv", 1)
    )
    monkeypatch.setenv("PYTHONPATH", str(repository))
    code, out, _ = command("pipeline.doctor", "--moments", "1000000")
    assert code == 1
    assert "MISSING   corpus: none.csv" in out
    assert "note      Label Studio: no server is configured" in out
    assert "1,000,000 moments" in out
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "k" * 40)
    asked = findings.find_server()
    assert asked.state == "missing"
    assert "127.0.0.1:9" in asked.text
