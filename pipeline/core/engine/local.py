"""Tasks in processes of this machine; one worker, or one task, needs no other process."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from pipeline.core.engine.parts import Task
from pipeline.core.parallel import cores
from pipeline.core.sections import Engine


@dataclass(frozen=True)
class Processes:
    """As many processes as `engine.workers` says; 0: one for each core."""

    engine: Engine

    def run(self, tasks: Sequence[Task], finish: Callable[[Task], object]) -> None:
        """Run all tasks; the first exception, or Ctrl-C, calls off those not begun."""
        workers = min(self.engine.workers or cores(), len(tasks))
        if workers == 1:
            for task in tasks:
                task.run()
                finish(task)
            return
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        try:
            futures = {pool.submit(task.run): task for task in tasks}
            for future in as_completed(futures):
                future.result()
                finish(futures[future])
        finally:
            pool.shutdown(cancel_futures=True)
