"""The Gaussian's sums keep their digits, whatever the offset, the order of the rows and the batches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bayesnb import Gaussian, NaiveBayes, NormalInverseGamma

FAMILY = Gaussian()


def statistics(x, weight=None):
    return FAMILY.statistics(x[:, None], np.zeros(len(x), np.uint8), 1, weight)


def exact_squares_about_mean(x):
    values = [Fraction(float(v)) for v in x]
    mean = sum(values) / len(values)
    return float(sum((v - mean) ** 2 for v in values))


def batches(x, size):
    total = statistics(x[:0])
    for start in range(0, len(x), size):
        total = total + statistics(x[start : start + size])
    return total


def squares(s):
    return float(s.squares_about_mean[0, 0])


def test_offset_of_1e8_at_which_raw_sums_return_nothing():
    x = 1e8 + np.array([0.0, 4, -33, 11.5, -0.5])
    assert_allclose(squares(statistics(x)), exact_squares_about_mean(x), 1e-14)


@pytest.mark.parametrize("offset", [0, 1e8, 1e12])
@pytest.mark.parametrize("order", ["random", "sorted", "drifting"])
@pytest.mark.parametrize("size", [1, 100, 3000])
def test_squares_are_exact_to_1e_12(offset, order, size):
    x = np.random.default_rng(0).normal(0, 1, 3000)
    x = np.sort(x) if order == "sorted" else x + np.linspace(0, 50, 3000) if order == "drifting" else x
    x = offset + x
    assert_allclose(squares(batches(x, size)), exact_squares_about_mean(x), 1e-12)
    assert_allclose(batches(x, size).mean[0, 0], float(sum(map(Fraction, x)) / 3000), 1e-15, 1e-15)


def test_an_unrepresentative_first_batch_costs_nothing():
    x = np.concatenate([[1e12], np.random.default_rng(0).normal(0, 1, 2000)])
    without = batches(x, 50) - statistics(x[:1])
    assert_allclose(without.mean[0, 0], x[1:].mean(), atol=1e-3)  # 1e12 has a resolution of 1e-4
    assert_allclose(squares(batches(x, 50)), exact_squares_about_mean(x), 1e-14)


def test_rows_taken_away_leave_the_others():
    x = 1e8 + np.random.default_rng(0).normal(0, 1, 100)
    assert_allclose(squares(statistics(x) - statistics(x[:97])), exact_squares_about_mean(x[97:]), 1e-9)


def test_labels_far_apart_pool_exactly():
    x = np.array([[1e8], [1e8 + 1], [-1e8], [-1e8 + 3]])
    pooled = FAMILY.statistics(x, np.array([0, 0, 1, 1], np.uint8), 2).pooled()
    assert_allclose(squares(pooled), exact_squares_about_mean(x[:, 0]), 1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint8, np.int64])
def test_narrow_types_are_summed_in_double(dtype):
    x = np.arange(100).astype(dtype)
    assert_allclose(squares(statistics(x)), exact_squares_about_mean(x), 1e-14)
    assert_allclose(squares(statistics(x, np.full(100, 0.5))), exact_squares_about_mean(x) / 2, 1e-14)


@pytest.mark.parametrize("shapes", ["one", "several"])
@pytest.mark.parametrize("furthest", [4.0, 1e140])
def test_many_features_together_have_the_product_of_their_student_densities(shapes, furthest):
    rng = np.random.default_rng(0)
    n_features, shape = 19, 3.5 if shapes == "one" else np.linspace(0.5, 1e6, 38).reshape(2, 19)
    p = NormalInverseGamma(
        *rng.uniform(1, 3, (2, 2, n_features)),
        np.broadcast_to(shape, (2, n_features)),
        2.0 + rng.random((2, n_features)),
    )
    x = rng.normal(2, 2, (50, n_features))
    x[3, 5] = furthest
    seen, weights = rng.random(x.shape) < 0.7, rng.uniform(0, 2, n_features)
    scale = np.sqrt(p.scale * (p.pseudo_count + 1) / (p.shape * p.pseudo_count))
    by_feature = stats.t(2 * p.shape, p.location, scale).logpdf(x[:, None]) * seen[:, None]
    assert_allclose(FAMILY.score(p, x, seen), by_feature.sum(2), rtol=1e-11)
    assert_allclose(FAMILY.score(p, x, seen, weights), by_feature @ weights, rtol=1e-11)


def test_a_fractional_row_alone_in_its_label_has_no_squares():
    """Their rounding was below 0, and its square root no number: a model refused its own rows."""
    X, y, weight = [[-0.7], [-0.2], [1.7], [0.7], [-1.6]], list("AABBC"), [1, 1, 1, 1, 0.1]
    model = NaiveBayes().fit(X, y, weight)
    assert np.isfinite(model.loo(X, y, weight).elpd)
    assert model.log_bayes_factor(model) == 0
    assert model.estimates("mle")["x0_sd"].sel(label="C") == 0
