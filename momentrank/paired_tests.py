"""Paired tests of differences per query: a randomisation test, Student's t and Wilcoxon's.

All are two-sided. numpy and the standard library are enough, so scoring needs no scipy.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from momentrank.segments import Floats, Ints

BLOCK = 2**22
"""Numbers drawn at a time."""
CLOSE = 1e-12
"""Tolerance, absolute and relative, for differences due to rounding."""
TIED = 1e-9
"""Sums of differences this near are equal: each is rounded, in an order that depends on numpy."""
EXACT, EXACT_WITH_TIES = 50, 13
"""Up to this many queries Wilcoxon's p is exact, as in scipy."""
TINY, EPSILON, STEPS, LARGE = 1e-300, 1e-15, 100_000, 100
BISECTIONS = 100


def randomisation(differences: Floats, rounds: int, seed: int) -> list[float]:
    """Return the p of each row of differences, shape (tests, queries): (hits + 1) / (rounds + 1).

    A hit is a random exchange of the two runs' values per query that gives a difference at least
    as large as the observed one (Smucker et al., CIKM 2007). All rows share the exchanges.
    """
    rng = np.random.default_rng(seed)
    observed = np.abs(differences.sum(axis=1)) * (1 - CLOSE) - TIED
    hits = np.zeros(len(differences), dtype=np.int64)
    queries = differences.shape[1]
    for count in blocks(rounds, queries):
        signs = rng.integers(0, 2, (count, queries), dtype=np.int8) * 2.0 - 1.0
        hits += (np.abs(signs @ differences.T) >= observed).sum(axis=0)
    return [(int(hit) + 1) / (rounds + 1) for hit in hits]


def randomise_all(values: Floats, rounds: int, seed: int) -> list[float]:
    """Return what `randomisation` does for every two rows of values, shape (runs, queries).

    The difference of two runs' sums is the sum of their differences, so each exchange is multiplied
    with runs, not pairs. The pairs are in the order of `numpy.triu_indices(runs, 1)`.
    """
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(len(values), 1)
    total = values.sum(axis=1)
    observed = np.abs(total[second] - total[first]) * (1 - CLOSE) - TIED
    hits = np.zeros(len(first), dtype=np.int64)
    queries = values.shape[1]
    for count in blocks(rounds, queries):
        signs = rng.integers(0, 2, (count, queries), dtype=np.int8) * 2.0 - 1.0
        for sums in signs @ values.T:
            hits += np.abs(sums[second] - sums[first]) >= observed
    return [(int(hit) + 1) / (rounds + 1) for hit in hits]


def t_test(differences: Floats) -> float | None:
    """Return the p of Student's paired t-test.

    It is 1 if no query differs, and None if there is one query or all differ by the same amount.
    """
    queries = len(differences)
    if not differences.any():
        return 1.0
    mean = abs(float(differences.mean()))
    spread = float(differences.std(ddof=1)) if queries > 1 else 0.0
    if spread <= CLOSE * mean:
        return None
    return t_tails(queries * (mean / spread) ** 2, queries - 1)


def t_tails(t_squared: float, degrees: int) -> float:
    """Return the probability of both tails of Student's distribution.

    It is the regularised incomplete beta function I_x(degrees / 2, 1 / 2) at
    x = degrees / (degrees + t_squared), a continued fraction times a factor.
    """
    if not t_squared:
        return 1.0
    a, b, whole = degrees / 2, 0.5, degrees + t_squared
    log_x, log_rest = -math.log1p(t_squared / degrees), math.log(t_squared / whole)
    factor = math.exp(a * log_x + b * log_rest - _log_beta_half(a))
    if degrees * (a + b + 2) < whole * (a + 1):
        return factor * _fraction(a, b, degrees / whole) / a
    return 1.0 - factor * _fraction(b, a, t_squared / whole) / b  # converges faster here


@cache
def t_quantile(confidence: float, degrees: int) -> float:
    """Return the t such that Student's variable is between -t and t that often."""
    low, high = 0.0, 1.0
    while t_tails(high**2, degrees) > 1 - confidence:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = t_tails(middle**2, degrees) > 1 - confidence
        low, high = (middle, high) if above else (low, middle)
    return high


def _log_beta_half(a: float) -> float:
    if a < LARGE:
        ratio = math.lgamma(a + 0.5) - math.lgamma(a)
    else:  # the difference of two large numbers would lose digits
        ratio = math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    return math.log(math.pi) / 2 - ratio


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's algorithm."""
    upper, lower = 1.0, 1.0 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1.0 / _away_from_zero(1 + term * lower)
            upper = _away_from_zero(1 + term / upper)
            value *= lower * upper
        if abs(lower * upper - 1) < EPSILON:
            break
    return value


def _away_from_zero(number: float) -> float:
    return number if abs(number) > TINY else TINY


def wilcoxon(differences: Floats) -> float:
    """Return the p of Wilcoxon's signed-rank test; queries that do not differ are left out.

    It is exact for few queries, else by the normal approximation with correction for ties; the
    limit is scipy's, as is the lack of a continuity correction.
    """
    values = differences[differences != 0]
    if not len(values):
        return 1.0
    doubled, ties = _doubled_ranks(np.abs(values))
    positive = int(doubled[values > 0].sum())
    plain = len(values) == len(differences) and bool((ties == 1).all())
    if len(differences) <= (EXACT if plain else EXACT_WITH_TIES):
        return _exact(doubled, positive)
    count = len(values)
    tied = float((ties.astype(np.float64) ** 3 - ties).sum())
    variance = (count * (count + 1) * (2 * count + 1) - tied / 2) / 24
    z = (positive / 2 - count * (count + 1) / 4) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2))


def _doubled_ranks(sizes: Floats) -> tuple[Ints, Ints]:
    """Return twice the rank of each value, ties sharing their mean rank, and the ties' lengths."""
    _, group, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    return (2 * last - ties + 1)[group], ties


def _exact(doubled: Ints, positive: int) -> float:
    ways: Floats = np.ones(1)
    for rank in doubled.tolist():
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return min(1.0, float(2 * tail / ways.sum()))


def blocks(rounds: int, width: int) -> Iterator[int]:
    """Yield numbers of rounds whose draws fit in memory together."""
    size = max(1, BLOCK // max(1, width))
    for drawn in range(0, rounds, size):
        yield min(size, rounds - drawn)
