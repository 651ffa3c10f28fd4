"""Run git, and commit what people decided, so that it never exists only in a cache."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline.core import cli


def commit(paths: Sequence[Path], message: str) -> None:
    """Commit the changes of these files alone; if git fails, log the command to run."""
    names = [str(path) for path in paths if path.exists()]
    added, unchanged = run("add", "--", *names), run("diff", "--cached", "--quiet", "--", *names)
    if not added.returncode and not unchanged.returncode:
        return
    for result in (added, run("commit", "-qm", message, "--", *names)):
        if result.returncode:
            output = (result.stderr or result.stdout).strip().splitlines()
            cli.log(
                f"git did not commit it ({output[-1] if output else 'it gave no reason'}); commit"
                f" it yourself: git add {' '.join(names)} && git commit"
            )
            return


def run(*arguments: str, folder: Path = Path()) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, whatever its exit code."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  (git, and no shell)


def read_head() -> str | None:
    """Return the commit that is checked out; None outside a repository, or before its first."""
    head = run("rev-parse", "--verify", "--quiet", "HEAD")
    return head.stdout.strip() or None


def differs(path: Path) -> bool:
    """Tell whether a file is not as it was last committed; False outside a repository."""
    return bool(run("status", "--porcelain", "--", str(path)).stdout)


def ignores(path: Path) -> bool:
    """Tell whether git will not commit this path: it ignores it, or there is no repository."""
    resolved = path.parent.resolve() / path.name
    folder = next(parent for parent in resolved.parents if parent.is_dir())
    inside = run("rev-parse", "--is-inside-work-tree", folder=folder)
    if inside.returncode or inside.stdout.strip() != "true":
        return True
    return run("check-ignore", "-q", "--", str(resolved), folder=folder).returncode == 0
