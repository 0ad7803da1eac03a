"""Sums by label and the rising logarithm, against exact sums and mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from bayesnb.families.base import BLOCK_CELLS, log_rising, matmul_log, sum_by_label


@pytest.mark.parametrize("a", [1e-300, 1e-3, 0.5, 1.0, 7.25, 99.5, 100.5, 1e4, 1e9, 1e15])
@pytest.mark.parametrize("n", [-0.4, 0.0, 1e-3, 0.5, 1.0, 2.0, 3.7, 150.0, 1e6])
def test_log_rising_is_exact_to_rounding(a, n):
    if a + n <= 0:
        return
    with mpmath.workdps(60):
        exact = float(mpmath.loggamma(mpmath.mpf(a) + n) - mpmath.loggamma(a))
    magnitude = max(abs(float(mpmath.loggamma(min(a, 100)))), 1)  # below 100 it is a difference of two small numbers
    assert_allclose(log_rising(a, n), exact, 4e-15, 1e-15 * magnitude)


def test_log_rising_of_several_kinds_at_once():
    a, n = np.array([2.0, 1e6, 3.0, 0.0]), np.array([1.0, 1.0, -1.0, 0.0])
    assert_allclose(log_rising(a, n), [np.log(2), np.log(1e6), -np.log(2), 0], 1e-14, 1e-14)


def test_nothing_more_rises_by_nothing_however_impossible():
    assert log_rising(0.0, 0.0) == 0
    assert log_rising([0.0, 2.0], 0.0).tolist() == [0, 0]
    assert log_rising([0.0, 0.0, 0.0], [1.0, 2.0, 0.0]).tolist() == [-np.inf, -np.inf, 0]


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_by_label_are_exact_over_many_blocks(dtype, weighted):
    rng = np.random.default_rng(0)
    n_rows = 3 * BLOCK_CELLS // 2
    x = rng.integers(0, 2 if dtype is bool else 120, (n_rows, 2)).astype(dtype)
    y = rng.integers(0, 3, n_rows).astype(np.uint8)
    weight = rng.integers(1, 5, n_rows).astype(float) if weighted else None
    exact = np.array(
        [((1 if weight is None else weight[y == k, None]) * x[y == k].astype(float)).sum(0) for k in range(3)]
    )
    assert (sum_by_label(x, y, 3, weight) == exact).all()
    assert (sum_by_label(sparse.csr_array(x), y, 3, weight) == exact).all()


def test_what_has_not_happened_does_not_count_however_impossible():
    with np.errstate(divide="ignore"):
        log_table = np.log([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    counts = np.array([[2.0, 0, 0], [0, 0, 1]])
    expected = [[2 * np.log(0.5), 2 * np.log(0.2)], [-np.inf, np.log(0.5)]]
    assert_allclose(matmul_log(counts, log_table), expected)
    assert_allclose(matmul_log(sparse.csr_array(counts), log_table), expected)
