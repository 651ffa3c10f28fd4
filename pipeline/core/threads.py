"""torch with one thread, where its operations are small.

Its threads then wait for each other most of the time, and busily: on two shared cores the
tagger found names in 35 texts a second with two threads, in 206 with one, and in 364 with
one in each of two workers; its training took 244 s with two threads and 45 s with one.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch's operations run in the thread that calls them, also in threads started inside."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
