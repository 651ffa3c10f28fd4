"""Shared by the benchmarks: command line, processor, size, wall time and peak memory."""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pipeline.core.cli import run_command
from pipeline.core.parallel import cores

T = TypeVar("T")
Option = int | float | str | list[int] | type[int] | type[Path]
"""The default of an option, or the type of one that has none."""


def parse_arguments(doc: str | None, *files: str, **options: Option) -> argparse.Namespace:
    """Parse the command line: `files`, and `options` by their defaults.

    A type as default stands for an option without one; False for a flag; a list for one value or
    more.
    """
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=doc, formatter_class=form)
    for name in files:
        parser.add_argument(name, type=Path)
    for name, default in options.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, type):
            parser.add_argument(flag, type=default)
        elif isinstance(default, list):
            parser.add_argument(flag, type=type(default[0]), nargs="+", default=default)
        else:
            parser.add_argument(flag, type=type(default), default=default)
    return parser.parse_args()


def run(main: Callable[[], None]) -> None:
    """Run a benchmark; what it lacks is one line. A line names the processor of its seconds."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = next((line for line in info.splitlines() if line.startswith("model name")), ": unknown")
    load = f"{os.getloadavg()[0]:.1f}"
    print(f"on{name.partition(':')[2]}: {cores()} cores, load {load}", flush=True)
    try:
        run_command(main)
    except FileNotFoundError as exc:
        raise SystemExit(f"error: {exc.filename}: no such file") from None


def assert_size(what: str, measured: int, claimed: int) -> None:
    """Refuse figures of another size than the one that they are printed for."""
    if measured != claimed:
        raise SystemExit(f"error: {measured:,} {what} instead of {claimed:,}: not what is claimed")


def time_call(
    function: Callable[[], T], repeats: int = 1, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, T]:
    """Return the shortest time of some calls, in seconds of the clock, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        result = function()
        best = min(best, clock() - start)
    return best, result


def peak_mb() -> float:
    """Return this process's peak memory; Linux only, as getrusage includes a parent's peak."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
