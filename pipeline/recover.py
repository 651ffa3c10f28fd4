"""Mend what a killed or interrupted `dvc repro` left half-written of DVC's own files.

    python -m pipeline.recover

DVC writes `dvc.lock` and `.dvc/tmp/rwlock` in place. Ended in the middle of that, it says at its
next start that `dvc.lock` is not valid, or that the JSON of the RWLock-file is corrupted. Then
this keeps the stages of `dvc.lock` that stand there whole (the others run once more), and takes
the torn rwlock away. What is whole is not touched; no table is ever half-written.
"""

import json
import re
from pathlib import Path

from dvc.exceptions import DvcException
from dvc.lock import LockError, make_lock
from dvc.repo import Repo
from dvc.rwlock import RWLOCK_FILE, RWLOCK_LOCK
from dvc.schema import COMPILED_LOCKFILE_SCHEMA
from dvc.utils.serialize import loads_yaml
from ruamel.yaml.error import YAMLError
from voluptuous import Invalid

from momentrank.errors import MomentRankError
from pipeline.core import cli, files

LOCK = Path("dvc.lock")
STAGE = re.compile(r"^  \S", re.MULTILINE)
"""Where the record of a stage begins."""


class RecoverError(MomentRankError):
    """DVC's files can't be mended now, or not by this."""


def recover() -> list[str]:
    """Mend DVC's files in the current folder; return what was mended, a line each.

    Raises:
        RecoverError: DVC is at work here, or `dvc.lock` is broken in another way.
    """
    try:
        with Repo() as repo:
            tmp = Path(str(repo.tmp_dir))
            with repo.lock:
                mended = _mend_lock(LOCK)
            with make_lock(str(tmp / RWLOCK_LOCK), tmp_dir=str(tmp)):
                return mended + _mend_rwlock(tmp / RWLOCK_FILE)
    except LockError as exc:
        raise RecoverError("DVC is at work here: wait until it ends, or stop it") from exc
    except DvcException as exc:
        raise RecoverError(f"DVC: {exc}") from exc


def _mend_lock(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="ignore") if path.exists() else None
    if text is None or _valid(text):
        return []
    whole = whole_stages(text)
    if not whole:
        path.unlink()
    elif _valid(whole):
        with files.unfinished(path) as stream:
            stream.write(whole)
    else:
        raise RecoverError(
            f"{path}: not only its end is broken; `git restore {path}` takes the committed one"
        )
    return [f"{path}: torn; stages kept: {len(STAGE.findall(whole))}, the others run again"]


def whole_stages(torn: str) -> str:
    """Return what stands before the last stage of a `dvc.lock`; `""` if that is no stage."""
    starts = [found.start() for found in STAGE.finditer(torn)]
    return torn[: starts[-1]] if len(starts) > 1 else ""


def _valid(text: str) -> bool:
    try:
        COMPILED_LOCKFILE_SCHEMA(loads_yaml(text))
    except (YAMLError, Invalid):
        return False
    return True


def _mend_rwlock(path: Path) -> list[str]:
    try:
        if path.exists():
            json.loads(path.read_bytes())
    except ValueError:
        path.unlink()
        return [f"{path.name}: torn; taken away"]
    return []


def main() -> None:
    """Mend, and tell what was mended."""
    for line in recover() or ["nothing of DVC's is half-written here"]:
        cli.log(line)


if __name__ == "__main__":
    cli.parser("Works in the current folder.").parse_args()
    cli.run_command(main)
