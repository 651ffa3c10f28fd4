"""Ray: the same bytes on a Ray of its own and on a cluster, and a machine that dies."""

import importlib
import os
import threading
import time
from contextlib import suppress
from importlib.util import find_spec

import psutil
import pytest
import shard_work
from lazy import Lazy
from shard_lead import EXPECTED, go_on, list_sealed, start_lead
from sharded_corpus import run_stages, write_corpus

from momentrank.errors import MomentRankError
from pipeline.core.engine import session
from pipeline.core.engine.parts import EngineError
from pipeline.core.params import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: make engines"),
]
ray = Lazy("ray")


@pytest.fixture(scope="module")
def cluster(repository):
    """Return a cluster of one machine, which others can join."""
    from ray.cluster_utils import Cluster

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(repository), str(repository / "tests")])
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
        },
    )
    yield cluster
    cluster.shutdown()
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


@pytest.fixture
def on_ray(engine, cluster):
    def on_ray(**values):
        return engine.model_copy(update={"kind": "ray", "address": cluster.address} | values)

    return on_ray


def test_no_cluster_at_the_address_is_told(on_ray, squares):
    with pytest.raises(EngineError, match=r"engine\.address 127\.0\.0\.1:9"):
        squares.make(on_ray(address="127.0.0.1:9"), 3)


def test_the_same_bytes_by_a_ray_of_its_own_which_ends_with_the_work(on_ray, squares):
    assert squares.make(on_ray(address=None, workers=1), 3) == EXPECTED
    assert not ray.is_initialized()


@pytest.fixture(scope="module")
def connection(cluster):
    """Let the tests from here on share a connection, as the maps of a stage do: it takes 1 s."""
    with session.keep_open():
        yield


@pytest.fixture
def make_engine(on_ray, connection):
    return on_ray


def test_the_same_bytes_by_a_cluster(make_engine, squares):
    for shards in (1, 3, 8):
        assert squares.make(make_engine(), shards) == EXPECTED
    assert list(squares.starts.values()) == [1] * (1 + 3 + 8)


def test_every_stage_writes_the_same_bytes_by_a_cluster(
    make_engine, folder, repository, numbered, monkeypatch
):
    write_corpus(repository)
    engine = load().engine
    whole = run_stages(engine, numbered, monkeypatch)
    changes = {"kind": "ray", "address": make_engine().address, "shards": 3}
    assert run_stages(engine.model_copy(update=changes), numbered, monkeypatch) == whole


def test_an_error_is_the_stage_s_own_and_not_tried_again(make_engine, squares):
    with pytest.raises(MomentRankError) as caught:
        squares.make(make_engine(), 3, shard_work.refuse)
    assert str(caught.value) == "moments.parquet, line 2: wrong"
    assert max(squares.starts.values()) == 1


def test_a_machine_that_dies_costs_only_what_it_was_doing(
    make_engine, squares, cluster, tmp_path, capsys
):
    node = cluster.add_node(num_cpus=2, object_store_memory=80 * 2**20)
    (raylet,) = node.all_processes["raylet"]
    gate, finished, lost = tmp_path / "gate", set(), set()

    def find_lost(workers):
        lines = [line.split() for line in squares.log.read_text().splitlines()]
        its_own = {worker.pid for worker in workers}
        return {key for key, pid in lines if int(pid) in its_own} - list_sealed(make_engine())

    def die():
        workers = []
        while not (list_sealed(make_engine()) and find_lost(workers)):
            time.sleep(0.05)
            workers = psutil.Process(raylet.process.pid).children()
        finished.update(list_sealed(make_engine()))
        lost.update(find_lost(workers))
        cluster.remove_node(node, allow_graceful=False)
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        gate.touch()

    killer = threading.Thread(target=die, daemon=True)
    killer.start()
    result = squares.make(make_engine(), 10, gate=str(gate))
    killer.join(10)
    assert result == EXPECTED
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) < 8  # not pages of Ray's own log
    starts = squares.starts
    assert 10 + len(lost) <= sum(starts.values()) <= 10 + 2  # what died there was begun again
    assert finished
    assert lost
    assert all(starts[key] == 1 for key in finished)
    assert all(starts[key] == 2 for key in lost)


def test_the_run_after_a_killed_driver_makes_only_the_rest(
    make_engine, squares, tmp_path, repository, capsys
):
    lead = start_lead(tmp_path, repository, make_engine(), squares.log)
    while not (finished := list_sealed(make_engine())):
        assert lead.poll() is None
        time.sleep(0.05)
    lead.kill()
    lead.communicate(timeout=20)
    go_on(make_engine(), squares.log)
    assert "of 6 parts were already finished" in capsys.readouterr().err
    assert len(list_sealed(make_engine())) == 6
    assert all(squares.starts[key] == 1 for key in finished)


def test_work_that_a_machine_can_t_import_is_one_error(make_engine, squares, monkeypatch, tmp_path):
    (tmp_path / "only_here.py").write_text("def work(given, path):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    only_here = importlib.import_module("only_here")
    with pytest.raises(EngineError, match=r"on Ray: .*No module named 'only_here'"):
        squares.make(make_engine(), 1, only_here.work)
