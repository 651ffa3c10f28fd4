"""Run the commands of a rehearsal: show each stage's name and output, without DVC's own.

DVC's own messages go to standard output; stages, and DVC's errors, write to standard error. So the
first is read here, and the second goes where it always goes, including progress bars.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pipeline.core import cli

STARTS = re.compile(r"Running stage '([^']+)':")
OUR_LINE = re.compile(
    r"$|> |Stage '|Running stage '|(Updating|Generating) lock file|Use `dvc push`"
    r"|Verifying outputs|Data and pipelines|To (track|enable) |\tgit add|\tdvc config"
)
"""How DVC's own lines begin."""
QUIET_DVC = (
    "import logging, sys; from dvc.cli import main;"
    " logging.getLogger('dvc.repo.reproduce').setLevel(logging.ERROR); sys.exit(main(sys.argv[1:]))"
)
"""DVC, without a warning for each stage that a closed campaign has frozen."""


def run(module: str, *arguments: str) -> int:
    """Run a command until it ends; return its exit code. Ctrl-C also waits for its end."""
    stdout = subprocess.PIPE if module == "dvc" else None
    with _start(command(module, *arguments), stdout) as process:
        hidden = list(filter_output(process.stdout or ()))
        code = process.wait()
    if code:
        sys.stderr.writelines(hidden)
    return code


def command(module: str, *arguments: str) -> list[str]:
    """Return the command line to start."""
    start = ["-c", QUIET_DVC] if module == "dvc" else ["-m", module]
    return [sys.executable, *start, *arguments]


def filter_output(lines: Iterable[str]) -> Iterator[str]:
    """Show the names of stages, and everything but DVC's own lines; yield those."""
    for line in lines:
        if name := STARTS.match(line):
            cli.log(f"    {name[1]}")
        if OUR_LINE.match(line):
            yield line
        else:
            sys.stderr.write(line)


@contextmanager
def _start(words: list[str], stdout: int | None) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}  # show output without delay
    with subprocess.Popen(words, stdout=stdout, text=True, env=env) as process:  # noqa: S603  (ours)
        try:
            yield process
        except KeyboardInterrupt:
            process.wait()  # it got Ctrl-C as well; subprocess would kill it immediately
            raise
