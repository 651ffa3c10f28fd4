"""Commit what people decided: it is text in git, never only in a cache."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline import stage


def commit(paths: Sequence[Path], message: str) -> None:
    """Commit these files and no others; where git does not, say what to type."""
    names = [str(path) for path in paths if path.exists()]
    commands = (["git", "add", "--", *names], ["git", "commit", "-qm", message, "--", *names])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            stage.say(
                f"git did not commit it ({said[-1] if said else 'it gave no reason'}); do it"
                f" yourself: git add {' '.join(names)} && git commit"
            )
            return
