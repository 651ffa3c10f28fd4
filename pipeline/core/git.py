"""Commit what people decided: it is text in git, never only in a cache."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline.core import cli


def commit(paths: Sequence[Path], message: str) -> None:
    """Commit what changed of these files and no others; where git does not, say what to type."""
    names = [str(path) for path in paths if path.exists()]
    added, unchanged = _git("add", "--", *names), _git("diff", "--cached", "--quiet", "--", *names)
    if not added.returncode and not unchanged.returncode:
        return
    for done in (added, _git("commit", "-qm", message, "--", *names)):
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            cli.log(
                f"git did not commit it ({said[-1] if said else 'it gave no reason'}); do it"
                f" yourself: git add {' '.join(names)} && git commit"
            )
            return


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (git, and no shell)
