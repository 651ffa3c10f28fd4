"""Similarities: one value, whatever the order of operations."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieval.similarity import GRID, micro_similarities, product_error, unit_on_grid


def random_units(seed: int, rows: int, dimensions: int) -> np.ndarray:
    return unit_on_grid(np.random.default_rng(seed).standard_normal((rows, dimensions)))


def exact_dot(x: np.ndarray, y: np.ndarray) -> Fraction:
    return sum(
        (Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y, strict=True)), Fraction(0)
    )


def test_every_component_is_a_multiple_of_the_grid():
    units = random_units(0, 50, 384).astype(np.float64)
    assert np.array_equal(units / GRID, np.rint(units / GRID))


def test_length_is_one_to_within_the_grid():
    units = unit_on_grid(np.array([[3.0, 4.0]]))
    assert units.dtype == np.float32
    np.testing.assert_allclose(units, [[0.6, 0.8]], atol=GRID)


@pytest.mark.parametrize("row", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_row_without_a_direction_is_refused(row):
    with pytest.raises(ValueError, match="no direction"):
        unit_on_grid(np.array([[1.0, 0.0], row]))


@given(st.integers(0, 2**32), st.integers(1, 1024))
def test_a_text_is_similar_to_itself_by_exactly_one(seed, dimensions):
    (unit,) = random_units(seed, 1, dimensions)
    assert micro_similarities(unit[None], unit[None, None])[0, 0] == 1_000_000


def test_so_is_one_whose_length_the_grid_shortens_most():
    unit = unit_on_grid(np.ones((1, 384)))
    assert exact_dot(unit[0], unit[0]) < Fraction(9999995, 10**7)
    assert micro_similarities(unit, unit[None])[0, 0] == 1_000_000


@given(st.integers(0, 2**32), st.integers(1, 1024))
def test_similarity_is_the_exact_rational_rounded_to_six_decimals(seed, dimensions):
    query, text = random_units(seed, 2, dimensions)
    exact = max(Fraction(-1), min(Fraction(1), exact_dot(query, text)))
    assert micro_similarities(query[None], text[None, None])[0, 0] == round(exact * 10**6)


@given(st.integers(0, 2**32))
def test_order_of_operations_does_not_matter(seed):
    query, text = random_units(seed, 2, 384).astype(np.float64)
    shuffled = np.random.default_rng(seed).permutation(384)
    forward = 0.0
    for a, b in zip(query, text, strict=True):
        forward += a * b
    backward = 0.0
    for a, b in zip(query[shuffled], text[shuffled], strict=True):
        backward += a * b
    assert forward == backward == float(exact_dot(query, text)) == query @ text


def test_float32_products_stay_within_their_bound():
    units = random_units(1, 400, 384)
    exact = units.astype(np.float64) @ units.astype(np.float64).T
    error = np.abs((units @ units.T).astype(np.float64) - exact).max()
    assert 0 < error < product_error(384)
