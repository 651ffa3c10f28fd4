"""git: runs it, and commits what people decided, so that it is never in a cache alone."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline.core import cli


def commit(paths: Sequence[Path], message: str) -> None:
    """Commit the changes of these files alone; if git fails, say what to type."""
    names = [str(path) for path in paths if path.exists()]
    added, unchanged = run("add", "--", *names), run("diff", "--cached", "--quiet", "--", *names)
    if not added.returncode and not unchanged.returncode:
        return
    for result in (added, run("commit", "-qm", message, "--", *names)):
        if result.returncode:
            output = (result.stderr or result.stdout).strip().splitlines()
            cli.log(
                f"git did not commit it ({output[-1] if output else 'it gave no reason'}); do it"
                f" yourself: git add {' '.join(names)} && git commit"
            )
            return


def run(*arguments: str, folder: Path = Path()) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, whatever its exit code."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  (git, and no shell)
