"""Run tasks on Ray: on a cluster, or on a Ray on this machine that ends with the work."""

import io
import logging
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pipeline.core import cli
from pipeline.core.engine import session
from pipeline.core.engine.parts import Bundle, EngineError, Task
from pipeline.core.engine.remote import attempt, load_extra
from pipeline.core.parallel import cores

RETRIES = 3
"""For a task whose worker or machine was killed. A task with an error is never retried."""

CONNECT_SECONDS = 10.0
LOOK_SECONDS, REFUSALS = 5.0, 3
"""How often the head of a cluster is looked for while no result arrives, and when it is gone."""
QUIET = {"logging_level": logging.ERROR, "log_to_driver": False}
OWN = {"include_dashboard": False, "object_store_memory": 80 * 2**20}  # nothing goes through it
VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_task_oom_retries": str(RETRIES),  # otherwise endless
}
"""Read when Ray is imported."""
OWN_VARIABLES = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # it listens on 127.0.0.1 alone


@dataclass(frozen=True)
class RayTasks:
    """At most `workers` tasks in parallel; 0: as many as the cluster takes.

    `address` is the cluster's, `host:port`; None starts Ray on this machine, for this work alone.
    `gpus` is what a task needs if the cluster has any.
    """

    workers: int
    address: str | None
    gpus: float

    def run(self, bundles: Sequence[Bundle], finish: Callable[[Task], object]) -> None:
        """Run all tasks; the first exception, or Ctrl-C, cancels the others.

        Raises:
            EngineError: no cluster at `address`, its head is gone, or a task was killed more than
                `RETRIES` times.
        """
        with session.reuse(self.address, self._connected) as ray, redirect_stdout(_Messages()):
            submit, waiting = self._submit(ray), deque(bundles)
            running: dict[Any, Bundle] = {}
            while waiting or running:
                while waiting and len(running) < self._limit(ray):
                    bundle = waiting.popleft()
                    running[submit(bundle)] = bundle
                for result in self._wait(ray, list(running)):
                    if error := _fetch(ray, result):
                        raise error
                    for task in running.pop(result):
                        finish(task)

    @contextmanager
    def _connected(self) -> Iterator[ModuleType]:
        for name, value in (VARIABLES | ({} if self.address else OWN_VARIABLES)).items():
            os.environ.setdefault(name, value)
        ray = load_extra("ray")
        try:
            if self.address:
                knock(self.address)
                ray.init(self.address, runtime_env={"env_vars": _path()}, **QUIET)
            else:
                ray.init("local", num_cpus=self.workers or cores(), **OWN, **QUIET)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as exc:
            raise EngineError(f"Ray at engine.address {self.address}: {_first_line(exc)}") from exc
        try:
            yield ray
        finally:
            with redirect_stdout(_Messages()):
                ray.shutdown()

    def _submit(self, ray: ModuleType) -> Callable[[Bundle], Any]:
        folder = Path.cwd()
        gpus = self.gpus if ray.cluster_resources().get("GPU") else 0
        remote = ray.remote(attempt).options(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)
        return lambda bundle: remote.remote(bundle, folder)

    def _wait(self, ray: ModuleType, running: list[Any]) -> list[Any]:
        """Return results that have arrived; look meanwhile whether the cluster is still there.

        Ray itself would wait for a minute, then end this process without a word.
        """
        refused = 0
        while not (arrived := ray.wait(running, timeout=LOOK_SECONDS)[0]):
            try:
                if self.address:
                    knock(self.address)
                refused = 0
            except OSError as exc:
                refused += 1
                if refused == REFUSALS:
                    raise EngineError(
                        f"the head of the Ray cluster at engine.address {self.address} no longer"
                        f" answers ({_first_line(exc)}); finished work is kept: start the cluster"
                        " again (ray start --head, then its other nodes), then run it again"
                    ) from exc
        return list(arrived)

    def _limit(self, ray: ModuleType) -> int:
        """Return how many tasks Ray may have: those running and, on a cluster, the next ones."""
        return self.workers or max(2, 2 * int(ray.cluster_resources().get("CPU", 0)))


class _Messages(io.StringIO):
    """Ray's standard output: its pages about a death become one line."""

    def write(self, text: str) -> int:
        if left := re.search(r"Task attempt failed\. There are (\d+) retries", text):
            cli.log(f"Ray: a worker or machine died; its task is retried ({left[1]} retries left)")
        return len(text)


def knock(address: str) -> None:
    """Connect to `host:port` for a moment: Ray itself would wait for minutes.

    Raises:
        OSError: nothing listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


def _path() -> dict[str, str]:
    """Return what lets workers import what this process imports."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(Path.cwd()), os.getenv("PYTHONPATH")]))}


def _fetch(ray: ModuleType, result: object) -> Exception | None:
    """Return the error of a task that has ended, its own or Ray's."""
    try:
        error: Exception | None = ray.get(result)
    except ray.exceptions.RayTaskError as exc:  # not the work's own error, which it returns
        return EngineError(f"a task can't start on Ray: {str(exc).strip().splitlines()[-1]}")
    except ray.exceptions.RayError as exc:
        return EngineError(
            f"Ray gave up on a task after {RETRIES} retries: {_first_line(exc)}; finished work is"
            " kept: run it again"
        )
    return error


def _first_line(exc: Exception) -> str:
    return next(iter(str(exc).splitlines()), type(exc).__name__)
