"""Clones of this checkout that share its environments."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from momentrank.errors import UsageError
from pipeline.core.git import run

ENVIRONMENTS = (".venv", ".venv-label-studio")


class CloneError(UsageError):
    """The clone can't be made."""


@contextmanager
def unfinished(target: Path, workplace: Path, branch: str) -> Iterator[Path]:
    """Clone the current checkout's last commit to `workplace`; afterwards move it to `target`.

    The clone has its own branch, and links to the environments. It appears at `target` whole, or
    not at all.

    Raises:
        CloneError: git fails.
    """
    shutil.rmtree(workplace, ignore_errors=True)
    try:
        git("clone", "--quiet", "--no-local", "--origin", "momentrank", ".", str(workplace))
        git("switch", "--quiet", "--create", branch, folder=workplace)
        for name in filter(os.path.exists, ENVIRONMENTS):
            (workplace / name).symlink_to(Path(name).absolute())
        yield workplace
        workplace.rename(target)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def git(*arguments: str, folder: Path = Path()) -> str:
    """Run git in a folder; return what it prints.

    Raises:
        CloneError: it fails.
    """
    done = run(*arguments, folder=folder)
    if done.returncode:
        raise CloneError(done.stderr.strip() or f"git {arguments[0]} failed")
    return done.stdout


def succeeds(*arguments: str, folder: Path = Path()) -> bool:
    """Return whether a git command exits with 0."""
    return run(*arguments, folder=folder).returncode == 0
