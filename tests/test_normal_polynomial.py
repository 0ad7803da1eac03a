import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from numpy.testing import assert_allclose
from scipy import stats

from bayesnb.normal_polynomial import NormalPolynomial, nodes


def of(skewness, kurtosis):
    skewness, kurtosis = np.broadcast_arrays(np.asarray(skewness, float), kurtosis)
    cumulants = np.stack([0 * skewness, 1 + 0 * skewness, skewness, kurtosis])
    return NormalPolynomial.of_cumulants(cumulants[..., None])


def test_the_cubic_has_the_four_cumulants():
    skewness, kurtosis = (a.ravel() for a in np.meshgrid(np.linspace(-2, 2, 9), np.linspace(-0.5, 6, 14)))
    exists = kurtosis > 1.65 * skewness**2 - 0.9
    skewness, kurtosis = skewness[exists], kurtosis[exists]
    z, weight = hermegauss(8)  # exact for the twelfth power of z
    values = of(skewness, kurtosis).quantile(z)
    moments = [values**r @ weight / weight.sum() for r in (1, 2, 3, 4)]
    assert_allclose(moments[0], 0, atol=1e-12)
    assert_allclose(moments[1], 1, atol=1e-12)
    assert_allclose(moments[2], skewness, atol=1e-5)
    assert_allclose(moments[3] - 3, kurtosis, atol=1e-5)


@pytest.mark.parametrize("shape", [2.0, 5.0, 50.0])
def test_quantiles_of_a_log_gamma_variable(shape):
    variable = stats.loggamma(shape)
    skewness, kurtosis = (float(a) for a in variable.stats("sk"))
    z = np.linspace(-2, 2, 9)
    exact = (variable.ppf(stats.norm.cdf(z)) - variable.mean()) / variable.std()
    largest = 0.02 * max(skewness**2, kurtosis) ** 2  # what the closed-form intervals count on
    assert np.abs(of(skewness, kurtosis).quantile(z) - exact).max() < largest + 1e-4


def test_a_normal_stays_a_normal_and_a_constant_a_constant():
    z = np.array([-1.0, 0.5])
    cumulants = np.array([[2.0, 3.0], [4.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert_allclose(NormalPolynomial.of_cumulants(cumulants[..., None]).quantile(z), [[0, 3], [3, 3]])


def test_mild_cumulants_are_met_without_a_step():
    skewness, kurtosis = np.meshgrid(np.linspace(-0.1, 0.1, 21), np.linspace(-0.01, 0.01, 21))
    z, weight = hermegauss(8)
    values = of(skewness, kurtosis).quantile(z)
    assert_allclose(values**3 @ weight / weight.sum(), skewness, atol=2e-4)
    assert_allclose(values**4 @ weight / weight.sum() - 3, kurtosis, atol=2e-4)


def test_no_cubic_is_nan():
    assert np.isnan(of(5.0, 0.0).quantile(np.zeros(1))).all()


def test_is_increasing_is_what_a_grid_says():
    skewness, kurtosis = np.meshgrid(np.linspace(-2, 2, 21), np.linspace(-1, 6, 29))
    cubic = of(skewness, kurtosis)
    values = cubic.quantile(np.linspace(-2, 2, 401))
    on_grid = (np.diff(values) > 0).all(-1)
    assert (on_grid != cubic.is_increasing(2.0)[..., 0]).mean() < 0.005  # a turn between two points of the grid
    assert 0.2 < on_grid.mean() < 0.98


def test_the_nodes_integrate_a_normal():
    z, weight = nodes(13)
    assert_allclose([weight @ z**2, weight @ z**4, weight @ np.cos(z)], [1, 3, np.exp(-0.5)], atol=2e-3)
