"""Run the commands of a rehearsal: each stage's name and what it says, nothing of DVC's own.

DVC writes about itself to its standard output; stages, and DVC's errors, to the standard error.
So the first is read here, and the second goes where it always goes, progress bars and all.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pipeline.core import cli

STARTS = re.compile(r"Running stage '([^']+)':")
OWN = re.compile(
    r"$|> |Stage '|Running stage '|(Updating|Generating) lock file|Use `dvc push`"
    r"|Data and pipelines|To (track|enable) |\tgit add|\tdvc config"
)
"""How a line begins that DVC says of itself."""


def run(module: str, *arguments: str) -> int:
    """Run a command until it ends; return its exit code. Ctrl-C waits for its end, too."""
    stdout = subprocess.PIPE if module == "dvc" else None
    with _start(command(module, *arguments), stdout) as process:
        hidden = list(filter_output(process.stdout or ()))
        code = process.wait()
    if code:
        sys.stderr.writelines(hidden)
    return code


def command(module: str, *arguments: str) -> list[str]:
    """Return what to start."""
    return [sys.executable, "-m", module, *arguments]


def filter_output(lines: Iterable[str]) -> Iterator[str]:
    """Show the names of stages, and whatever DVC does not say of itself; yield the rest."""
    for line in lines:
        if name := STARTS.match(line):
            cli.log(f"    {name[1]}")
        if OWN.match(line):
            yield line
        else:
            sys.stderr.write(line)


@contextmanager
def _start(words: list[str], stdout: int | None) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}  # what DVC says comes when it says it
    with subprocess.Popen(words, stdout=stdout, text=True, env=env) as process:  # noqa: S603  (ours)
        try:
            yield process
        except KeyboardInterrupt:
            process.wait()  # the terminal has told it too; subprocess would kill it at once
            raise
