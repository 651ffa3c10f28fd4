"""Be without a network, as the library of the hub sees it."""

import contextlib
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def without_connection() -> Iterator[None]:
    """Let the hub's library refuse to connect; its sessions know, and are kept."""
    from huggingface_hub.utils import reset_sessions

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        reset_sessions()
        try:
            yield
        finally:
            reset_sessions()
