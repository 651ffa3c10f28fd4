"""What every engine with other processes needs: do a task there, and return its error."""

import importlib
import os
import socket
import traceback
from pathlib import Path
from types import ModuleType

from momentrank.errors import MomentRankError, UsageError
from pipeline.core.engine.parts import Bundle, EngineError, facts_file, wait_until_visible


def attempt(bundle: Bundle, folder: Path) -> Exception | None:
    """Do tasks in the working copy `folder`; return an error as one that can be sent back."""
    try:
        _enter(folder)
        wait_until_visible(facts_file(bundle[0].path.parent, bundle[0].code))
        for task in bundle:
            task.run()
    except Exception as exc:  # noqa: BLE001  (the lead raises it)
        return _sendable(exc)
    return None


def _enter(folder: Path) -> None:
    if not folder.is_dir():
        raise EngineError(
            f"{socket.gethostname()} can't see {folder}: every machine of the cluster must have the"
            " working copy at the same path (a shared folder)"
        )
    os.chdir(folder)


def _sendable(exc: Exception) -> Exception:
    """Return the error in a class that any process can send, with its own text and trace."""
    sent = _root(exc)
    sent.add_note("".join(traceback.format_exception(exc)))
    return sent


def _root(exc: Exception) -> Exception:
    for kind in (UsageError, EngineError, MomentRankError):
        if isinstance(exc, kind):
            return kind(str(exc))
    if isinstance(exc, OSError):
        return OSError(exc.errno, exc.strerror, exc.filename)
    if isinstance(exc, MemoryError):
        return MemoryError(str(exc))
    return RuntimeError(f"{type(exc).__name__}: {exc}")


def load_extra(name: str) -> ModuleType:
    """Import the package of an engine.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as exc:
        if exc.name != name:
            raise
        raise UsageError(
            f"engine.kind in params.yaml needs the package {name}; install it: make engines"
        ) from None
