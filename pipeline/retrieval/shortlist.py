"""The texts with the highest float32 products: by faiss on the processor, by torch on a GPU.

Which of the two found a shortlist never changes an answer: the bound on a product's error is valid
for any order of summation, and the texts on the list are rescored without rounding.
"""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

import numpy as np
from threadpoolctl import threadpool_info

from pipeline.retrieval.similarity import Ints, Vectors

Knn = Callable[[Vectors, Vectors, int], tuple[Vectors, Ints]]
"""From queries (n, d), texts (t, d) and m <= t to each query's m highest products, (n, m) in any
order, and the texts that they belong to."""
FEW = 10**8
"""Fewer pairs of query and text are done on the processor, without importing torch."""
GPU_QUERIES = 1024
"""Queries per product on a GPU: with 131,072 texts it takes half a GB there."""
FAISS_TEXTS = 4096
"""Texts per product of faiss. With its own 1,024, products of few queries (long shortlists) took
twice the CPU time; a product of 4,096 queries takes 64 MB."""
DRIVERS = ("libcuda.so.1", "nvcuda.dll")
_CORETYPES = {
    "Haswell": "Haswell",
    "Zen": "Zen",
    "SkylakeX": "SkylakeX",
    "Cooperlake": "SkylakeX",
    "SapphireRapids": "SkylakeX",
}
"""numpy's name of an architecture: the best kernel of the older OpenBLAS for it."""


def choose_knn(device: str, pairs: int) -> Knn:
    """Return how to search `pairs` of query and text; `device` is as in `embed.device`.

    `auto` and `cuda` use a GPU if there is one; everything else, and little work, uses the
    processor.
    """
    if pairs < FEW or not device.startswith(("auto", "cuda")) or not _has_driver():
        return faiss_knn
    import torch  # noqa: PLC0415  (takes seconds, and only a GPU needs it)

    if not torch.cuda.is_available():
        return faiss_knn
    return torch_knn("cuda" if device == "auto" else device)


def faiss_knn(queries: Vectors, texts: Vectors, size: int) -> tuple[Vectors, Ints]:
    """Search with faiss, on all cores that it may use."""
    faiss = import_faiss()
    best: tuple[Vectors, Ints] = faiss.knn(queries, texts, size, metric=faiss.METRIC_INNER_PRODUCT)
    return best


def torch_knn(device: str) -> Knn:
    """Return a search with torch on `device`; products are float32 throughout, never TF32."""
    import torch  # noqa: PLC0415  (takes seconds, and only a GPU needs it)

    def knn(queries: Vectors, texts: Vectors, size: int) -> tuple[Vectors, Ints]:
        scores = np.empty((len(queries), size), dtype=np.float32)
        where = np.empty((len(queries), size), dtype=np.int64)
        with _full_precision(torch), torch.inference_mode():
            columns = torch.tensor(texts, device=device).T
            for first in range(0, len(queries), GPU_QUERIES):
                some = slice(first, first + GPU_QUERIES)
                products = torch.tensor(queries[some], device=device) @ columns
                best = products.topk(size, dim=1, sorted=False)
                scores[some], where[some] = (
                    best.values.numpy(force=True),
                    best.indices.numpy(force=True),
                )
        return scores, where

    return knn


@contextmanager
def _full_precision(torch: ModuleType) -> Iterator[None]:
    """Let torch multiply float32 as float32, whatever a program or the environment has set."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _has_driver() -> bool:
    """Tell whether a GPU's driver is installed, in a millisecond."""
    for name in DRIVERS:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False


@cache
def import_faiss() -> ModuleType:
    """Import faiss with larger products, by the kernels of this processor or of a user's choice.

    The OpenBLAS in faiss's wheels dates from 2021 and takes a newer Intel processor for one of
    2004: products run four times slower (measured: 3.7 against 0.9 times numpy's own). numpy's
    OpenBLAS is up to date, so the architecture that it detects is passed on.
    """
    names = {library.get("architecture") for library in threadpool_info()}
    coretypes = [_CORETYPES[name] for name in sorted(names & _CORETYPES.keys())]
    is_set = bool(coretypes) and "OPENBLAS_CORETYPE" not in os.environ
    if is_set:
        os.environ["OPENBLAS_CORETYPE"] = coretypes[0]
    import faiss  # noqa: PLC0415  (after the environment is set)

    if is_set:
        del os.environ["OPENBLAS_CORETYPE"]
    faiss.cvar.distance_compute_blas_database_bs = FAISS_TEXTS
    return faiss
