"""What several maps of a stage share: processes with loaded models, a connection."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

Opened = TypeVar("Opened")


class _Session(NamedTuple):
    stack: ExitStack
    opened: dict[Hashable, Any]


_CURRENT: ContextVar[_Session | None] = ContextVar("session", default=None)


@contextmanager
def keep_open() -> Iterator[None]:
    """Keep open, until the end of this block, what the maps inside it open."""
    with ExitStack() as stack:
        token = _CURRENT.set(_Session(stack, {}))
        try:
            yield
        finally:
            _CURRENT.reset(token)


def is_kept_open() -> bool:
    """Tell whether what is opened stays open for later maps."""
    return _CURRENT.get() is not None


@contextmanager
def reuse(key: Hashable, start: Callable[[], AbstractContextManager[Opened]]) -> Iterator[Opened]:
    """Yield what `start` opens for this block; inside `keep_open`, each key is opened once."""
    session = _CURRENT.get()
    if session is None:
        with start() as opened:
            yield opened
        return
    if key not in session.opened:
        session.opened[key] = session.stack.enter_context(start())
    yield session.opened[key]
