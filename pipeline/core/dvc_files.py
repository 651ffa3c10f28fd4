"""DVC's own files, repaired after a kill: `dvc.lock` and `.dvc/tmp/rwlock`."""

import json
import re
from pathlib import Path

from ruamel.yaml.error import YAMLError

from momentrank.errors import MomentRankError
from pipeline.core import files

LOCK = Path("dvc.lock")
STAGE = re.compile(r"^  \S", re.MULTILINE)
"""Where the record of a stage begins."""


class RecoverError(MomentRankError):
    """DVC's files can't be repaired now, or not by this command."""


def recover() -> list[str]:
    """Repair DVC's files in the current folder; return what was repaired, one line each.

    Raises:
        RecoverError: DVC is running here, or `dvc.lock` is broken in another way.
    """
    from dvc.exceptions import DvcException  # noqa: PLC0415  (--help needs none)
    from dvc.lock import LockError, make_lock  # noqa: PLC0415  (--help needs none)
    from dvc.repo import Repo  # noqa: PLC0415  (--help needs none)
    from dvc.rwlock import RWLOCK_FILE, RWLOCK_LOCK  # noqa: PLC0415  (--help needs none)

    try:
        with Repo() as repo:
            tmp = Path(str(repo.tmp_dir))
            with repo.lock:
                repairs = _repair_lock(LOCK)
            with make_lock(str(tmp / RWLOCK_LOCK), tmp_dir=str(tmp)):
                return repairs + _repair_rwlock(tmp / RWLOCK_FILE)
    except LockError as exc:
        raise RecoverError("DVC is running here: wait until it ends, or stop it") from exc
    except DvcException as exc:
        raise RecoverError(f"DVC: {exc}") from exc


def _repair_lock(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="ignore") if path.exists() else None
    if text is None or _is_valid(text):
        return []
    starts = [match.start() for match in STAGE.finditer(text)]
    whole = text[: starts[-1]] if len(starts) > 1 else ""  # without the last stage
    if not whole:
        path.unlink()
    elif _is_valid(whole):
        with files.unfinished(path) as stream:
            stream.write(whole)
    else:
        raise RecoverError(
            f"{path}: damaged before its end; `git restore {path}` restores the committed file"
        )
    return [f"{path}: truncated; stages kept: {max(len(starts) - 1, 0)}, the others run again"]


def _is_valid(text: str) -> bool:
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA  # noqa: PLC0415  (--help needs none)
    from dvc.utils.serialize import loads_yaml  # noqa: PLC0415  (--help needs none)
    from voluptuous import Invalid  # noqa: PLC0415  (--help needs none)

    try:
        COMPILED_LOCKFILE_SCHEMA(loads_yaml(text))
    except (YAMLError, Invalid):
        return False
    return True


def _repair_rwlock(path: Path) -> list[str]:
    try:
        if path.exists():
            json.loads(path.read_bytes())
    except ValueError:
        path.unlink()
        return [f"{path.name}: truncated; removed"]
    return []
