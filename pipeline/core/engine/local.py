"""Run tasks in processes of this machine; one worker, or one task, needs no other process."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from pipeline.core.engine import session
from pipeline.core.engine.parts import Bundle, EngineError, Task
from pipeline.core.engine.remote import attempt
from pipeline.core.parallel import cores

SPAWN = get_context("spawn")  # a fork would copy locks that other threads of the lead hold
THREADS = "OMP_NUM_THREADS"
"""Threads of one process's matrix products; more threads than cores wait for each other."""


@dataclass(frozen=True)
class Processes:
    """Processes, as many as `workers`; 0: one for each core."""

    workers: int

    def run(self, bundles: Sequence[Bundle], finish: Callable[[Task], object]) -> None:
        """Run all tasks; after the first exception running tasks finish, and no others start.

        Raises:
            EngineError: a process was killed.
        """
        workers = self.workers or cores()
        if not session.is_kept_open():
            workers = min(workers, len(bundles))
        if workers == 1:
            for task in chain.from_iterable(bundles):
                task.run()
                finish(task)
            return
        with session.reuse(self, partial(_processes, workers)) as pool:
            try:
                with _threads(max(1, cores() // workers)):
                    futures = {pool.submit(attempt, some, Path.cwd()): some for some in bundles}
                _collect(pool, futures, finish)
            except BrokenProcessPool:
                raise EngineError(
                    "a worker process was killed (out of memory?); finished work is kept: run it"
                    " again, with a smaller engine.workers if memory was short"
                ) from None


def _collect(
    pool: Executor,
    futures: Mapping[Future[Exception | None], Bundle],
    finish: Callable[[Task], object],
) -> None:
    for future in as_completed(futures):
        if error := future.result():
            pool.shutdown(cancel_futures=True)
            raise error
        for task in futures[future]:
            finish(task)


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Start processes that end when this one leaves the block or dies, even by kill -9."""
    reader, writer = SPAWN.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, SPAWN, _follow, (reader,))
    try:
        yield pool
        pool.shutdown()
    finally:
        writer.close()
        pool.shutdown(cancel_futures=True)
        reader.close()


def _follow(lead: Connection) -> None:
    """End this process when the other end of `lead` closes: only the lead has it open."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the lead gets Ctrl-C as well

    def wait() -> None:
        with suppress(EOFError, OSError):
            lead.recv_bytes()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """Set the number of threads of processes that start now, unless the user has set it."""
    before = os.environ.get(THREADS)
    os.environ.setdefault(THREADS, str(number))
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS]
