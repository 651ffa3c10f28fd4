"""Shared by the benchmarks: command line, processor, tables, processes, time and peak memory."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, NamedTuple, TypeVar

from pipeline.core.cli import parser as command_parser
from pipeline.core.cli import run_command
from pipeline.core.parallel import cores

T = TypeVar("T")
Option = int | float | str | list[int] | type[int] | type[Path]
"""The default of an option, or the type of one that has none."""
REPOSITORY = Path(__file__).parent.parent
MODULE = """
import atexit, os, runpy, sys
path, module, end = sys.argv.pop(1), sys.argv.pop(1), os._exit
write_status = lambda: open(path, "w").write(open("/proc/self/status").read())
atexit.register(write_status)
os._exit = lambda code: write_status() and end(code)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


class Cost(NamedTuple):
    """The cost of a process: wall and CPU seconds, and peak memory in MB."""

    wall: float
    cpu: float
    peak: float


def parse_arguments(doc: str | None, *files: str, **options: Option) -> argparse.Namespace:
    """Parse the command line: `files`, and `options` by their defaults.

    A type as default stands for an option without one; False for a flag; a list for one value or
    more.
    """
    parser = command_parser("The first line of the output names the processor of its seconds.")
    parser.description = doc
    for name in files:
        parser.add_argument(name, type=Path)
    for name, default in options.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, type):
            parser.add_argument(flag, type=default)
        elif isinstance(default, list):
            text = f"default: {' '.join(map(str, default))}"
            parser.add_argument(flag, type=type(default[0]), nargs="+", default=default, help=text)
        else:
            parser.add_argument(
                flag, type=type(default), default=default, help="default: %(default)s"
            )
    given = parser.parse_args()
    print_processor()
    return given


def print_processor() -> None:
    """Print on what the seconds are measured."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = next((line for line in info.splitlines() if line.startswith("model name")), ": unknown")
    load = f"{os.getloadavg()[0]:.1f}"
    print(f"on{name.partition(':')[2]}: {cores()} cores, load {load}", flush=True)


def run(main: Callable[[], None]) -> None:
    """Run a benchmark; what it lacks is one line."""
    try:
        run_command(main)
    except FileNotFoundError as exc:
        raise SystemExit(f"error: {exc.filename}: no such file") from None


def print_rows(title: str, rows: Iterable[tuple[str, Mapping[str, object]]]) -> None:
    """Print a table, a row as soon as it comes: its name, and its cells by column."""
    heads = ""
    for name, cells in rows:
        texts = [_format(cell) for cell in cells.values()]
        widths = [max(len(head), len(text), 7) for head, text in zip(cells, texts, strict=True)]
        if not heads:
            heads = "".join(f"  {head:>{n}}" for head, n in zip(cells, widths, strict=True))
            print(f"{title:26}{heads}")
        row = "".join(f"  {text:>{n}}" for text, n in zip(texts, widths, strict=True))
        print(f"{name:26}{row}", flush=True)


def _format(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


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


def run_module(
    module: str, *arguments: str, stdout: IO[str] | int | None = None, **variables: str
) -> Cost:
    """Run a module in a process, in the current folder, with environment variables."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}
    # The child reports its own peak: what the system reports of a child includes the parent's.
    with NamedTemporaryFile("r") as status:
        command = [sys.executable, "-c", MODULE, status.name, module, *arguments]
        began = time.perf_counter()
        child = subprocess.Popen(command, env=environment, stdout=stdout)
        _, code, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(code)
        if child.returncode:
            raise SystemExit(f"{module} ended with {child.returncode}")
        return Cost(wall, used.ru_utime + used.ru_stime, _read_peak(status.read()))


def peak_mb() -> float:
    """Return this process's peak memory; Linux only, as getrusage includes a parent's peak."""
    return _read_peak(Path("/proc/self/status").read_text(encoding="ascii"))


def _read_peak(status: str) -> float:
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
