"""Quantiles from the first four cumulants: an expansion about the gamma distribution of the same skewness.

About a normal, the classical expansion of Cornish and Fisher, a log probability with little data behind it goes wrong:
its distribution is nearly exponential, with skewness −2. About a gamma (Hill & Davis 1968), which an exponential is,
the third cumulant is met exactly, and only what remains of the fourth, κ₄/κ₂² − 3/2 κ₃²/κ₂³, is left to the expansion.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtri

from bayesnb.families.base import Array

ALMOST_SYMMETRIC = 1e-3  # skewness below which the gamma is a normal with its first correction, to 1e-6


def quantile(cumulants: Array, prob: float) -> Array:
    """Return the quantile of a distribution with the given first four cumulants.

    Parameters
    ----------
    cumulants : ndarray, shape (4, ...)
        Mean, variance, third and fourth cumulant; with a variance of 0 the distribution is its mean.
    prob : float
        Between 0 and 1.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> exponential = np.array([1.0, 1.0, 2.0, 6.0])
    >>> bool(np.isclose(quantile(exponential, 0.9), -np.log(0.1)))
    True
    """
    mean, variance, third, fourth = cumulants
    sd, unit = np.sqrt(variance), np.where(variance > 0, variance, 1.0)
    skewness, kurtosis = third / unit**1.5, fourth / unit**2
    z = ndtri(prob)
    return mean + sd * (_gamma_quantile(skewness, prob) + (z**3 - 3 * z) / 24 * (kurtosis - 1.5 * skewness**2))


def _gamma_quantile(skewness: Array, prob: float) -> Array:
    """Quantile of the standardised gamma distribution, mirrored where the skewness is negative."""
    z = ndtri(prob)
    almost_symmetric = np.abs(skewness) < ALMOST_SYMMETRIC
    shape = 4 / np.where(almost_symmetric, 1.0, skewness) ** 2
    standard = (gammaincinv(shape, np.where(skewness > 0, prob, 1 - prob)) - shape) / np.sqrt(shape)
    return np.where(almost_symmetric, z + (z**2 - 1) * skewness / 6, np.sign(skewness) * standard)
