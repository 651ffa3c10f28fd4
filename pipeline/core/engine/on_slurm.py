"""Run tasks on Slurm: an array of jobs, submitted from a login node and watched until it ends.

Partition, account, memory and time limit are the cluster's, or come from Slurm's own variables
(`SBATCH_PARTITION`, `SBATCH_TIMELIMIT` ...).
"""

import getpass
import math
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from momentrank.errors import UsageError
from pipeline.core.engine.parts import Bundle, EngineError, Task, part_key
from pipeline.core.engine.remote import attempt, load_extra

if TYPE_CHECKING:
    from submitit.slurm.slurm import SlurmExecutor, SlurmJob

SUBMISSIONS = 4
"""For a task whose job is killed, preempted or out of time; a task's own error ends the work."""

MAX_ARRAY = 1000
"""Slurm's own limit, unless a cluster sets another (`MaxArraySize`)."""

POLL_SECONDS = 2.0
COMMANDS = ("sbatch", "srun", "squeue", "scancel", "sinfo")


@dataclass(frozen=True)
class SlurmArray:
    """At most `workers` jobs in parallel (0: Slurm's own limit); `gpus` if a node has any."""

    workers: int
    gpus: float

    def run(self, bundles: Sequence[Bundle], finish: Callable[[Task], object]) -> None:
        """Run all tasks; the first exception, or Ctrl-C, cancels the others.

        Raises:
            EngineError: Slurm refuses the jobs, or one was killed `SUBMISSIONS` times.
            UsageError: this machine submits no jobs.
        """
        executor = self._executor(bundles[0][0].path.parent / "slurm")
        queue = _Queue(executor.parameters["job_name"])
        queue.cancel()  # jobs left by a killed lead
        try:
            for first in range(0, len(bundles), MAX_ARRAY):
                _run_array(executor, queue, bundles[first : first + MAX_ARRAY], finish)
        except BaseException:
            queue.cancel()
            raise

    def _executor(self, folder: Path) -> "SlurmExecutor":
        if missing := [name for name in COMMANDS if shutil.which(name) is None]:
            raise UsageError(
                f"engine.kind: slurm in params.yaml needs Slurm's command {missing[0]}; run this"
                " on a machine that submits jobs (a login node)"
            )
        os.environ.setdefault("SUBMITIT_LOG_LEVEL", "ERROR")
        executor = load_extra("submitit").SlurmExecutor(folder)
        executor.update_parameters(
            job_name=f"{folder.parent.name}-{part_key(folder)[:8]}",
            cpus_per_task=1,
            gpus_per_node=math.ceil(self.gpus) if self.gpus and _has_gpus() else None,
            array_parallelism=self.workers or MAX_ARRAY,
            time=None,  # as long as the cluster allows
            setup=[f"cd {shlex.quote(str(Path.cwd()))}", "export OMP_NUM_THREADS=1"],
        )
        return executor


@dataclass(frozen=True)
class _Queue:
    """This work's jobs in Slurm's queue, found by their name."""

    name: str

    def __call__(self) -> set[str] | None:
        """Return the ids of the jobs that wait or run; None: Slurm does not answer now."""
        answer = self._ask("squeue", "--noheader", "--array", "--format=%i")
        return set(answer.stdout.split()) if answer.returncode == 0 else None

    def cancel(self) -> None:
        """Cancel all of the jobs."""
        self._ask("scancel")

    def _ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        mine = (f"--name={self.name}", f"--user={getpass.getuser()}")
        return _run([*command, *mine])


def _has_gpus() -> bool:
    return "gpu" in _run(["sinfo", "--noheader", "--format=%G"]).stdout


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (no shell)


def _run_array(
    executor: "SlurmExecutor",
    queue: _Queue,
    bundles: Sequence[Bundle],
    finish: Callable[[Task], object],
) -> None:
    """Run tasks as one array, and those whose jobs were killed as another."""
    for _ in range(SUBMISSIONS):
        try:
            jobs = executor.map_array(partial(_work, folder=Path.cwd()), bundles)
        except RuntimeError as exc:  # FailedJobError: sbatch's own words are its last line
            raise EngineError(f"sbatch: {str(exc).strip().splitlines()[-1]}") from exc
        bundles = _watch(dict(zip(jobs, bundles, strict=True)), queue, finish)
        if not bundles:
            return
    raise EngineError(
        f"{len(bundles)} jobs were killed {SUBMISSIONS} times (out of memory or time?); their logs"
        f" are in {executor.folder}; finished work is kept: run it again"
    )


def _watch(
    jobs: Mapping["SlurmJob[Exception | None]", Bundle],
    queue: _Queue,
    finish: Callable[[Task], object],
) -> list[Bundle]:
    """Wait until all jobs have ended, and return the tasks of those that were killed."""
    running, gone, killed = dict(jobs), set[str](), []
    while running:
        time.sleep(POLL_SECONDS)
        queued = queue()
        for job in list(running):
            if job.paths.result_pickle.exists():
                _raise_error(job)
                for task in running.pop(job):
                    finish(task)
            elif queued is not None and job.job_id not in queued:
                if job.job_id in gone:  # and has left no result meanwhile
                    killed.append(running.pop(job))
                gone.add(job.job_id)
    return killed


def _raise_error(job: "SlurmJob[Exception | None]") -> None:
    """Raise the error that a job returned, or submitit's own if the result can't be read."""
    try:
        error: Exception | None = job.result()
    except RuntimeError as exc:
        raise EngineError(f"a job on Slurm failed; see {job.paths.stderr}") from exc
    if error:
        raise error


def _work(bundle: Bundle, folder: Path) -> Exception | None:
    """Do tasks in a job that ends as soon as Slurm warns of its end: the lead repeats it."""
    for warning in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(warning, signal.SIG_DFL)
    return attempt(bundle, folder)
