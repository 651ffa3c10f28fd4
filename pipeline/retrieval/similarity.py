"""Similarities that are the same number on every machine, in any order of operations.

Unit vectors are rounded to multiples of 2**-25. Then every product is a multiple of
2**-50, and every partial sum of a dot product of two unit vectors stays far below 8:
float64 holds them all without rounding, so their sum has one value, however a library,
a block size or a number of threads orders it. Rounding costs less than float32 itself.
"""

import numpy as np
import numpy.typing as npt

GRID = 2.0**-25
DECIMALS = 6
MICRO = 10**DECIMALS
OFF_BY = 2
"""Millionths by which a vector's product with itself may miss 1 (below 7,000 dimensions)."""

Vectors = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def unit_on_grid(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Return rows of length 1 on the grid, float32, shape (n, d).

    Raises:
        ValueError: a row has no direction (it is zero, or not finite).
    """
    exact = vectors.astype(np.float64)
    length = np.linalg.norm(exact, axis=1, keepdims=True)
    if not (np.isfinite(length) & (length > 0)).all():
        raise ValueError("a vector is zero or not finite: it has no direction")
    on_grid: Vectors = (np.rint(exact / length / GRID) * GRID).astype(np.float32)
    return on_grid


def micro_similarities(queries: Vectors, texts: Vectors) -> Ints:
    """Return the exact dot products, rounded to 6 decimals, as integers of a millionth.

    `queries` is (n, d), `texts` (n, m, d), both on the grid; the result is (n, m). Equal
    vectors have similarity 1, whatever the grid did to their length.
    """
    exact = np.matmul(texts.astype(np.float64), queries.astype(np.float64)[:, :, None])[:, :, 0]
    micro: Ints = np.rint(np.clip(exact, -1.0, 1.0) * MICRO).astype(np.int64)
    query, text = np.nonzero(micro >= MICRO - OFF_BY)
    identical = (queries[query] == texts[query, text]).all(axis=1)
    micro[query[identical], text[identical]] = MICRO
    return micro


def product_error(dimensions: int) -> float:
    """Bound how far a float32 product of two unit vectors can be from the exact one.

    |error| <= d * u * sum|x_i y_i| <= d * u with u = 2**-24, for any order of summation
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); a tenth on top
    covers the second-order term and lengths that are not quite 1.
    """
    return 1.1 * dimensions * 2.0**-24
