"""Engines: the same bytes by any of them, and what holds when processes and machines are killed."""

import os
import signal
import sys
import time
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import psutil
import pytest
import shard_work
from shard_lead import EXPECTED, go_on, list_sealed, start_lead
from support import stand_in_slurm

from momentrank.errors import MomentRankError, UsageError
from pipeline.core.engine import on_ray, on_slurm, session
from pipeline.core.engine.parts import EngineError, Task


@pytest.fixture
def use(engine):
    """Return a function that changes values of `engine`."""

    def use(**values):
        return engine.model_copy(update=values)

    return use


@pytest.mark.parametrize(("workers", "shards"), [(1, 3), (2, 1), (2, 3), (2, 8)])
def test_the_same_bytes_by_processes(use, squares, workers, shards):
    assert squares.make(use(workers=workers), shards) == EXPECTED
    assert list(squares.starts.values()) == [1] * shards
    assert len(squares.processes) <= workers


def test_maps_of_a_session_share_their_processes_and_these_end_with_it(use, squares):
    with session.keep_open():
        for shards in (3, 1, 8):
            assert squares.make(use(workers=2), shards) == EXPECTED
        with pytest.raises(MomentRankError, match="line 2: wrong"):
            squares.make(use(workers=2), 2, shard_work.refuse)
    assert len(squares.processes) <= 2
    assert os.getpid() not in squares.processes
    wait_for(lambda: have_ended(squares.processes))


def test_an_error_in_another_process_is_the_stage_s_own(use, squares):
    with pytest.raises(MomentRankError) as caught:
        squares.make(use(workers=2), 8, shard_work.refuse)
    assert str(caught.value) == "moments.parquet, line 2: wrong"
    assert "shard_work.py" in caught.value.__notes__[0]  # where, for a bug


def test_a_killed_process_is_one_error_and_the_next_run_goes_on(use, squares):
    with pytest.raises(EngineError, match="a worker process was killed"):
        squares.make(use(workers=2), 8, shard_work.end_abruptly)
    assert squares.make(use(workers=2), 8, shard_work.end_abruptly) == EXPECTED


def have_ended(processes):
    return not [number for number in processes if is_running(number)]


def is_running(number):
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    return False


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_lead_and_the_next_run_makes_only_the_rest(
    use, squares, tmp_path, repository, capsys, signal_
):
    engine = use(workers=2)
    lead = start_lead(tmp_path, repository, engine, squares.log)
    wait_for(lambda: list_sealed(engine))
    os.kill(lead.pid, signal_)
    lead.communicate(timeout=20)
    wait_for(lambda: have_ended(squares.processes), 5)
    finished = list_sealed(engine)
    assert len(finished) == 1  # the others were waiting
    go_on(engine, squares.log)
    assert capsys.readouterr().err == "squares: 1 of 6 parts were already finished\n"
    assert len(list_sealed(engine)) == 6
    assert all(squares.starts[key] == 1 for key in finished)


@pytest.fixture
def slurm(tmp_path, monkeypatch, repository):
    """Return a function that puts a stand-in for Slurm on the PATH, which kills some jobs."""

    pytest.importorskip("submitit", reason="make engines")

    def slurm(kills=0):
        for name, value in stand_in_slurm.install(tmp_path / "slurm", kills).items():
            monkeypatch.setenv(name, value)

    monkeypatch.setenv("PYTHONPATH", str(repository / "tests"))
    monkeypatch.chdir(repository)
    monkeypatch.setattr(on_slurm, "POLL_SECONDS", 0.1)
    return slurm


def test_the_same_bytes_by_slurm_which_kills_jobs(use, squares, slurm, tmp_path):
    slurm(kills=2)
    engine = use(kind="slurm", workers=2)
    assert squares.make(engine, 5) == EXPECTED
    arrays = [path.read_text() for path in sorted(tmp_path.glob("slurm/submitted-*"))]
    assert "--array=0-4%2" in arrays[0]
    assert "--array=0-1%2" in arrays[1]  # those that were killed
    assert len(arrays) == 2
    starts = squares.starts
    assert squares.make(engine, 5) == EXPECTED
    assert squares.starts == starts  # nothing is made twice


@pytest.mark.parametrize(
    ("nodes", "gpus", "asked"), [("gpu:2", 1, 1), ("gpu:2", 0, None), ("(null)", 1, None)]
)
def test_a_job_asks_for_a_gpu_where_there_is_one(slurm, tmp_path, nodes, gpus, asked):
    slurm()
    (tmp_path / "slurm/bin/sinfo").write_text(f"#!/bin/sh\necho '{nodes}'\n")
    executor = on_slurm.SlurmArray(0, gpus)._executor(tmp_path / "parts/embed/slurm")
    assert executor.parameters["gpus_per_node"] == asked


class FakeRay:
    """A cluster that ends the oldest of its tasks whenever somebody waits; it counts them."""

    def __init__(self, **resources):
        self.resources, self.running, self.most, self.options = resources, [], 0, {}

    def cluster_resources(self):
        return self.resources

    def remote(self, _):
        return SimpleNamespace(options=self.set_options)

    def set_options(self, **options):
        self.options = options
        return SimpleNamespace(remote=self.submit)

    def submit(self, *_):
        self.running.append(object())
        self.most = max(self.most, len(self.running))
        return self.running[-1]

    def wait(self, _, timeout):
        return [self.running.pop(0)], []

    def get(self, _):
        return None


@pytest.mark.parametrize(
    ("resources", "workers", "most", "gpus"),
    [({"CPU": 4.0}, 0, 8, 0), ({"CPU": 4.0, "GPU": 2.0}, 3, 3, 0.5), ({}, 0, 2, 0)],
)
def test_ray_has_no_more_tasks_than_it_takes_and_gpus_where_there_are_any(
    monkeypatch, tmp_path, resources, workers, most, gpus
):
    ray, finished = FakeRay(**resources), []
    tasks = on_ray.RayTasks(workers, "head:1", 0.5)
    monkeypatch.setattr(on_ray.RayTasks, "_connected", lambda _: nullcontext(ray))
    bundles = [[Task(print, number, tmp_path / str(number), "")] for number in range(20)]
    tasks.run(bundles, finished.append)
    assert finished == [task for (task,) in bundles]
    assert ray.most == most
    assert ray.options == {"num_cpus": 1, "num_gpus": gpus, "max_retries": on_ray.RETRIES}


def test_a_cluster_whose_head_is_gone_is_told_before_ray_ends_this_process(monkeypatch, tmp_path):
    ray = FakeRay(CPU=2.0)
    monkeypatch.setattr(ray, "wait", lambda _, timeout: ([], []))
    monkeypatch.setattr(on_ray.RayTasks, "_connected", lambda _: nullcontext(ray))
    tasks = on_ray.RayTasks(0, "127.0.0.1:9", 0)
    with pytest.raises(EngineError, match=r"head of the Ray cluster at .*127\.0\.0\.1:9 no longer"):
        tasks.run([[Task(print, 1, tmp_path / "1", "")]], print)
    assert on_ray.LOOK_SECONDS * on_ray.REFUSALS < 60  # when Ray ends the process


def test_slurm_cancels_the_rest_after_a_task_s_error(use, squares, slurm, tmp_path):
    slurm()
    with pytest.raises(MomentRankError, match=r"moments\.parquet, line 2: wrong"):
        squares.make(use(kind="slurm", workers=2), 3, shard_work.refuse)
    assert list((tmp_path / "slurm/queue").iterdir()) == []


def test_a_job_that_is_always_killed_is_an_error(use, squares, slurm):
    slurm(kills=100)
    with pytest.raises(EngineError, match="1 jobs were killed 4 times"):
        squares.make(use(kind="slurm"), 1)


def test_without_slurm_s_commands_it_says_where_to_run(use, squares, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="needs Slurm's command sbatch"):
        squares.make(use(kind="slurm"), 3)


@pytest.mark.parametrize(("kind", "package"), [("ray", "ray"), ("slurm", "submitit")])
def test_without_its_package_an_engine_says_what_to_install(
    use, squares, slurm, monkeypatch, kind, package
):
    slurm()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"needs the package {package}; install it: make engines"):
        squares.make(use(kind=kind), 3)
