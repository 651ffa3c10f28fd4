"""Work that other programs or the disk do, many pieces at once, and how far it is."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from pipeline.core.progress import progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def together(
    work: Callable[[Item], Result], items: Collection[Item], workers: int, name: str
) -> dict[Item, Result]:
    """Return each item's result; the first exception, or Ctrl-C, ends it without the rest."""
    pool = ThreadPoolExecutor(workers)
    try:
        futures = {pool.submit(work, item): item for item in items}
        done = progress(name, as_completed(futures), total=len(futures), unit="")
        return {futures[future]: future.result() for future in done}
    finally:
        pool.shutdown(cancel_futures=True)
