"""A distribution by its first four cumulants: a cubic in a standard normal variable, as in Cornish and Fisher (1938).

Their expansion meets the cumulants only in the limit of small skewness and kurtosis. With the three coefficients solved
for, as by Fleishman (1978), all four are met exactly, and the error of a quantile is a third as large or less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from bayesnb.families.base import Array

NEWTON_STEPS = 50  # three or four do where cumulants are mild
LARGEST_STEP = 0.1  # of a coefficient in one step; they are below 1
SMALLEST_SQUARE = 0.01  # of b; a cubic without its linear term is no sensible quantile function
MILD = 0.01  # skewness² and kurtosis below which the start misses them by less than 2e-4, and no step is needed
TOLERANCE = 1e-3  # of skewness and kurtosis before the last step, which squares it
FURTHEST = 4.5  # standard normal deviates that quadrature looks at; 7e-6 of the probability lies outside


@dataclass(frozen=True)
class NormalPolynomial:
    """X = mean + sd · (b z + c (z² − 1) + d (z³ − 3z)), z standard normal; every array of the same shape (...).

    Examples
    --------
    >>> exponential = NormalPolynomial.of_cumulants(np.array([1.0, 1.0, 2.0, 6.0])[:, None])
    >>> exponential.quantile(1.0).round(2)  # the exact one, −ln(1 − Φ(1)), is 1.84
    array([1.85])
    """

    mean: Array
    sd: Array
    b: Array
    c: Array
    d: Array

    @classmethod
    def of_cumulants(cls, cumulants: Array) -> Self:
        """Return the cubic that has the given cumulants, (4, ...).

        Where the variance is 0, the distribution is its mean; where no cubic has these cumulants, b is nan, and so
        are all quantiles.
        """
        variance = cumulants[1]
        skewness, kurtosis = standardized(cumulants)
        return cls(cumulants[0], np.sqrt(variance), *_coefficients(skewness, kurtosis))

    def quantile(self, z: Array | float) -> Array:
        """Return the values at standard normal deviates that broadcast against (...)."""
        linear, square, cube = self.sd * (self.b - 3 * self.d), self.sd * self.c, self.sd * self.d
        return self.mean - square + z * (linear + z * (square + z * cube))

    def is_increasing(self, limit: float) -> Array:
        """Whether the cubic increases for all |z| up to the limit, as a quantile function must: (...)."""
        slope_at_ends = self.b + 3 * self.d * (limit**2 - 1) - 2 * np.abs(self.c) * limit
        inside = np.abs(self.c) < 3 * np.abs(self.d) * limit  # where the slope turns
        lowest = self.b - 3 * self.d - np.divide(self.c**2, 3 * self.d, out=np.zeros(self.c.shape), where=self.d != 0)
        return (slope_at_ends > 0) & ~(inside & (self.d > 0) & (lowest <= 0))

    def map(self, function: Callable[[Array], Array]) -> Self:
        """Apply one function to every array: an index, a change of type."""
        return type(self)(*(function(a) for a in (self.mean, self.sd, self.b, self.c, self.d)))


def standardized(cumulants: Array) -> tuple[Array, Array]:
    """Return skewness and excess kurtosis, each (...); 0 where the variance is 0."""
    variance = np.where(cumulants[1] > 0, cumulants[1], np.inf)
    return cumulants[2] / (variance * np.sqrt(variance)), cumulants[3] / variance**2


def nodes(n: int) -> tuple[Array, Array]:
    """Return n standard normal deviates and their weights: the trapezoid rule, which for smooth integrands is best.

    Its error falls as exp(−2π · width / step), where the width is that of the strip in which the integrand is analytic.
    """
    z = np.linspace(-FURTHEST, FURTHEST, n)
    weight = np.exp(-(z**2) / 2)
    return z, weight / weight.sum()


def _coefficients(skewness: Array, kurtosis: Array) -> tuple[Array, Array, Array]:
    """b, c and d by Newton's method on skewness and kurtosis, with b² = 1 − 2c² − 6d² from the variance.

    It starts from the solution to second order.
    """
    wanted = np.stack([skewness.ravel(), kurtosis.ravel()])
    first = wanted[1] / 24 - wanted[0] ** 2 / 18  # d in the expansion of Cornish and Fisher
    c = wanted[0] / (6 + 36 * first)
    cd = np.stack([c, (wanted[1] / 24 - 2 * c * c) / (1 + 9 * first)])
    miss = np.where(np.maximum(wanted[0] ** 2, np.abs(wanted[1])) < MILD, 0.0, np.inf)
    for _ in range(NEWTON_STEPS):
        active = np.flatnonzero(~(miss < TOLERANCE))
        if not active.size:
            break
        step, miss[active] = _newton_step(cd[0, active], cd[1, active], wanted[:, active])
        cd[:, active] -= step
    squared = 1 - 2 * cd[0] ** 2 - 6 * cd[1] ** 2
    exists = (miss < TOLERANCE) & (squared > SMALLEST_SQUARE)
    b = np.sqrt(np.where(exists, squared, np.nan))
    return b.reshape(skewness.shape), cd[0].reshape(skewness.shape), cd[1].reshape(skewness.shape)


def _newton_step(c: Array, d: Array, wanted: Array) -> tuple[Array, Array]:
    """One damped step of (c, d), (2, ...), and by how much they missed the wanted skewness and kurtosis before it."""
    cc, dd = c * c, d * d
    b = np.sqrt(np.maximum(1 - 2 * cc - 6 * dd, SMALLEST_SQUARE))
    bd, ratio = b * d, d / b  # the slopes of b are −2c/b and −6d/b
    u = 1 + 22 * cc + 48 * dd
    skewness = c * (6 - 4 * cc + 72 * dd + 36 * bd)
    kurtosis = 24 * (2 * cc * (1 - cc + 30 * dd) + 9 * dd * (1 + 9 * dd) + bd * u)
    skewness_c = 6 - 12 * cc + 72 * dd + 36 * bd - 72 * cc * ratio
    skewness_d = 36 * c * (4 * d + b - 6 * d * ratio)
    kurtosis_c = 24 * c * (4 - 8 * cc + 120 * dd + 44 * bd - 2 * u * ratio)
    kurtosis_d = 24 * (d * (18 + 324 * dd + 120 * cc) + b * (u + 96 * dd) - 6 * d * u * ratio)
    miss = np.stack([skewness, kurtosis]) - wanted
    determinant = skewness_c * kurtosis_d - skewness_d * kurtosis_c
    step = np.stack([kurtosis_d * miss[0] - skewness_d * miss[1], skewness_c * miss[1] - kurtosis_c * miss[0]])
    step /= determinant
    step /= np.maximum(1, np.abs(step).max(0) / LARGEST_STEP)
    return step, np.abs(miss).max(0)
