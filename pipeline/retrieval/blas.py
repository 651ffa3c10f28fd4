"""faiss with the matrix kernels that this processor really has.

The OpenBLAS inside faiss's wheels dates from 2021 and takes a newer Intel processor for
one of 2004: products then run four times slower (measured: 3.7 against 0.9 times numpy's
own). numpy's OpenBLAS is up to date, so what it found out is passed on.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from threadpoolctl import threadpool_info

_CORETYPES = {
    "Haswell": "Haswell",
    "Zen": "Zen",
    "SkylakeX": "SkylakeX",
    "Cooperlake": "SkylakeX",
    "SapphireRapids": "SkylakeX",
}
"""numpy's name of an architecture: the best that the older OpenBLAS has for it."""


def import_faiss() -> ModuleType:
    """Import faiss; the environment is as before afterwards, a setting of the user's wins."""
    with _coretype():
        import faiss  # noqa: PLC0415  (after the environment is set)

    return faiss


@contextmanager
def _coretype() -> Iterator[None]:
    found = {library.get("architecture") for library in threadpool_info()}
    coretype = next(
        (_CORETYPES[name] for name in sorted(filter(None, found)) if name in _CORETYPES), None
    )
    if coretype is None or "OPENBLAS_CORETYPE" in os.environ:
        yield
        return
    os.environ["OPENBLAS_CORETYPE"] = coretype
    try:
        yield
    finally:
        del os.environ["OPENBLAS_CORETYPE"]
