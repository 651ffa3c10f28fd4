"""Work in parallel: how many cores there are, threads for I/O, and one thread for torch."""

import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from pipeline.core.progress import progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_cores(seconds: float = 0.5) -> int:
    """Return how many of the processors are idle, one at least, measured while this process waits.

    A thread that shares its core with other work holds up all others of the same product.
    """
    import psutil  # noqa: PLC0415  (--help needs none)

    idle: float = 1 - psutil.cpu_percent(seconds) / 100
    return min(cores(), max(1, round(idle * (os.cpu_count() or 1))))


def map_in_threads(
    work: Callable[[Item], Result], items: Collection[Item], workers: int, name: str
) -> dict[Item, Result]:
    """Return each item's result; the first exception, or Ctrl-C, cancels the rest.

    For work that waits for the disk, the network or another program; `name` labels the progress.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        futures = {pool.submit(work, item): item for item in items}
        with progress(name, as_completed(futures), total=len(futures), unit="") as done:
            return {futures[future]: future.result() for future in done}
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch's operations run in the thread that calls them, also in threads started inside.

    On small operations torch's own threads mostly busy-wait for each other. On two shared cores the
    tagger read 35 texts a second with two threads, 206 with one, and 364 with one in
    each of two workers; training took 244 s with two threads and 45 s with one.
    """
    import torch  # noqa: PLC0415  (takes seconds; others here need no torch)

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
