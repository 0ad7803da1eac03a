"""Gaussian likelihood with a normal–inverse-gamma prior: a continuous feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.polynomial import polynomial
from scipy.special import polygamma

from bayesnb.families.base import (
    ORDERS,
    SAME,
    Array,
    CumulantScorer,
    Family,
    Statistics,
    against,
    blocked,
    label_blocks,
    laid_out,
    log_rising,
    only,
    sum_by_label,
    weighted,
)
from bayesnb.priors import LOG_2PI, NormalInverseGamma, Parameters, Prior

SUMS = ("count", "total", "squares")  # the fields that add; the shift does not
LARGEST_FACTOR = 1e30  # eight of them can be multiplied


@dataclass(frozen=True, eq=False)
class GaussianStatistics(Statistics):
    """Count, Σ(x − shift) and Σ(x − shift)², with the shift that they are taken about: each (label, feature).

    The shift travels with the sums, so that a large offset costs no digits; sums about different shifts are
    brought to a common one before they are added.
    """

    count: Array
    total: Array
    squares: Array
    shift: Array

    def about(self, shift: Array) -> Self:
        """Return the same statistics taken about another shift."""
        gap = self.shift - shift
        total = self.total + self.count * gap
        squares = self.squares + gap * (self.total + total)
        return replace(self, total=total, squares=squares, shift=np.broadcast_to(shift, np.shape(total)))

    def _combine(self, function: Callable[..., Any], *others: Self) -> Self:
        if not others:
            return super()._combine(function)
        shift = self._common_shift(others[0])
        mine, theirs = self.about(shift), others[0].about(shift)
        sums = {name: function(getattr(mine, name), getattr(theirs, name)) for name in SUMS}
        return replace(self, **sums, shift=shift)

    def _common_shift(self, other: Self) -> Array:
        """The weighted middle of the two shifts: a shift far from both would cost digits."""
        weight = np.abs(self.count) + np.abs(other.count)
        share = np.divide(np.abs(other.count), weight, out=np.zeros(np.shape(weight)), where=weight > 0)
        return self.shift + share * (other.shift - self.shift)

    def __mul__(self, weight: float | Array) -> Self:
        return replace(self, **{name: (a := getattr(self, name)) * against(weight, a) for name in SUMS})

    def pooled(self) -> Self:
        count = self.count.sum(0, keepdims=True)
        shift = _quotient((self.count * self.shift + self.total).sum(0, keepdims=True), count)
        about = self.about(shift)
        return replace(self, **{name: getattr(about, name).sum(0, keepdims=True) for name in SUMS}, shift=shift)

    def agrees_with(self, other: Self) -> bool:
        """Whether counts, means and variances are the same but for rounding, the means against their own spread."""
        counts = np.where(self.count > 0, self.count, 1.0)
        spread = np.sqrt(np.maximum(self.squares_about_mean, other.squares_about_mean) / counts)
        rounding = SAME * spread + 1e-3 * SAME * np.abs(self.mean)  # a large offset costs digits of the mean
        gap = np.sqrt(np.abs(self.squares_about_mean - other.squares_about_mean) / counts)
        return bool(
            np.allclose(self.count, other.count, rtol=SAME, atol=SAME)
            and (np.abs(self.mean - other.mean) <= rounding).all()
            and (gap <= np.sqrt(SAME) * spread + rounding).all()
        )

    @property
    def mean(self) -> Array:
        """Mean of each label and feature; the shift where there are no rows."""
        return self.shift + _quotient(self.total, self.count)

    @property
    def squares_about_mean(self) -> Array:
        """Σ(x − mean)²."""
        return np.maximum(self.squares - _quotient(self.total**2, self.count), 0)

    @property
    def log_base(self) -> Array:
        return -0.5 * LOG_2PI * self.count


@dataclass(frozen=True, repr=False)
class Gaussian(Family):
    """Continuous features; x given (μ, σ²) ~ Normal(μ, σ²), (μ, σ²) ~ normal–inverse-gamma.

    Parameters
    ----------
    prior : None, NormalInverseGamma or function
        None is unit information about the pooled column: location the pooled mean, pseudo_count 1, shape 1, scale the
        pooled variance. It moves and scales with the column, so that the unit of measurement does not matter.
        Priors without a closed form: a NormalInverseGamma with a PyMC distribution in place of a parameter, which the
        features that are given this one object share; or a function that declares PyMC variables, see
        ``bayesnb.free_priors.FreePrior``.
    mean, sd : pymc distribution, optional
        Priors in place of the conjugate one, such as ``pymc.Normal.dist(0, 1)`` and ``pymc.HalfNormal.dist(1)``: of μ
        and of σ given each label, independent of each other.
    missing : {"ignore", "error"}, optional
        What a missing cell is, if not what the model's ``missing`` says.

    Examples
    --------
    >>> Gaussian(NormalInverseGamma(location=0, pseudo_count=1, shape=1, scale=1)).prior.scale
    array(1.)
    """

    prior: Any = None
    mean: Any = None
    sd: Any = None
    missing: Any = None
    parameters: ClassVar[tuple[str, ...]] = ("mean", "sd")
    name: ClassVar[str] = "Gaussian"
    prior_type: ClassVar[type[Prior]] = NormalInverseGamma

    def resolve_prior(
        self, concentration: object, statistics: GaussianStatistics, values: Sequence[Any]
    ) -> NormalInverseGamma:
        return self.unit_information(statistics) if self.prior is None else self.prior

    def is_informative(self, statistics: GaussianStatistics) -> Array:
        pooled = statistics.pooled()
        variance = _quotient(pooled.squares_about_mean, pooled.count)[0]
        rounding = (4 * np.finfo(float).eps * pooled.mean[0]) ** 2  # of a constant, variance is but rounding error
        return (variance > rounding) | self.has_own_unit

    def statistics(
        self, x: Any, y: Array, n_labels: int, weight: Array | None = None, observed: Array | None = None
    ) -> GaussianStatistics:
        count, shift = _count_and_mean(x, y, n_labels, weight, observed)
        total, squares = np.zeros(shift.shape), np.zeros(shift.shape)
        for rows, indicator in label_blocks(y, n_labels, weight, x.shape[1]):
            gap = x[rows] - shift[y[rows]]
            if observed is not None:
                gap *= observed[rows]
            total += indicator @ gap
            squares += indicator @ (gap * gap)
        return GaussianStatistics(count, total, squares, shift)

    def row_statistics(self, x: Any, observed: Array | None = None) -> GaussianStatistics:
        shift = x[:, None, :].astype(float)
        zero = np.zeros_like(shift)
        count = np.ones_like(shift) if observed is None else observed[:, None, :].astype(float)
        return GaussianStatistics(count, zero, zero, shift)

    def update(self, prior: Any, statistics: GaussianStatistics) -> NormalInverseGamma:
        pseudo_count = prior.pseudo_count + statistics.count
        gap = statistics.mean - prior.location
        return NormalInverseGamma(
            prior.location + gap * statistics.count / pseudo_count,
            pseudo_count,
            prior.shape + statistics.count / 2,
            prior.scale
            + statistics.squares_about_mean / 2
            + gap**2 * prior.pseudo_count * statistics.count / pseudo_count / 2,
        )

    def cgf(
        self, posterior: Any, x: Any, t: float | Array = 1.0, y: Array | None = None, observed: Array | None = None
    ) -> Array:
        p, x, t = laid_out(posterior, x, t, y, observed)
        a, q = p.shape, 1 + t / p.pseudo_count
        constant = log_rising(a, t / 2) - 0.5 * (t * np.log(2 * np.pi * p.scale) + np.log(q))
        result = constant - (a + t / 2) * np.log1p((x - p.location) ** 2 * (t / (2 * p.scale * q)))
        return only(result, observed) if y is None else result

    def score(self, posterior: Any, x: Any, observed: Array | None = None, weights: Array | None = None) -> Array:
        p, q = posterior, 1 + 1 / posterior.pseudo_count
        constant = weighted(log_rising(p.shape, 0.5) - 0.5 * np.log(2 * np.pi * p.scale * q), weights)
        power, scale = weighted(p.shape + 0.5, weights), 1 / np.sqrt(2 * p.scale * q)

        def block(x: Any, seen: Array | None) -> Array:
            columns, result = np.ascontiguousarray(x.T, dtype=float), np.empty((len(x), len(power)))
            for label in range(len(power)):
                gaps = (columns - p.location[label, :, None]) * scale[label, :, None]
                squares = gaps**2 if seen is None else np.where(seen.T, gaps**2, 0.0)
                free = constant[label].sum() if seen is None else seen @ constant[label]
                result[:, label] = free - _powers_of_logs(squares, power[label])
            return result

        return blocked(block, x, observed)

    def cumulants(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        p, x, _ = laid_out(posterior, x, 1.0)
        z = (x - p.location) ** 2 / (2 * p.scale)
        return only(np.stack([polynomial.polyval(z, c, tensor=False) for c in _cumulant_polynomials(p)]), observed)

    def cumulant_scorer(self, posterior: Any, contrast: Array, weights: Array | None = None) -> CumulantScorer:
        scale = 1 / np.sqrt(2 * posterior.scale)
        tables: Array = np.array(_cumulant_polynomials(posterior))  # (4, power, label, feature)
        if weights is not None:
            tables = tables * (weights**ORDERS)[:, None, None]
        free, rest = tables[:, 0], tables[:, 1:]

        def cumulants(x: Any, observed: Array | None) -> Array:
            result = np.zeros((len(x), 4, contrast.shape[2]))
            for label in range(len(scale)):
                z = ((x - posterior.location[label]) * scale[label]) ** 2
                z = z if observed is None else z * observed
                of_free = free[:, label].sum(1) if observed is None else observed @ free[:, label].T
                squares = z * z
                powers = (z, squares, squares * z, squares * squares)
                of_label = of_free + sum(power @ rest[:, p, label].T for p, power in enumerate(powers))
                result += of_label[..., None] * contrast[:, label]
            return result

        return cumulants

    def log_likelihood(self, parameters: Parameters, x: Any, observed: Array | None = None) -> Array:
        mean, sd = parameters["mean"], parameters["sd"]
        return only(-0.5 * (LOG_2PI + ((x[:, None, :] - mean) / sd) ** 2) - np.log(sd), observed)

    def design(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        origin, unit = _origin_and_unit(posterior)
        z = (x - origin) / unit
        terms = np.stack([z**2, z, np.ones(z.shape)], axis=1)
        return (terms if observed is None else terms * observed[:, None]).reshape(len(x), 3 * x.shape[1])

    def natural(self, posterior: Any, parameters: Parameters) -> Array:
        origin, unit = _origin_and_unit(posterior)
        mean, sd = (parameters["mean"] - origin) / unit, parameters["sd"] / unit
        return np.concatenate([-0.5 / sd**2, mean / sd**2, -0.5 * (mean / sd) ** 2 - np.log(sd)], axis=-1)

    def maximum_likelihood(self, statistics: GaussianStatistics) -> Parameters:
        count = np.where(statistics.count > 0, statistics.count, np.nan)
        return {
            "mean": statistics.shift + statistics.total / count,
            "sd": np.sqrt(statistics.squares_about_mean / count),
        }

    def observe(self, stem: str, parameters: Parameters, statistics: GaussianStatistics, dims: tuple[str, ...]) -> None:
        import pymc as pm

        mean, sd, n = parameters["mean"], parameters["sd"], statistics.count
        squares = statistics.squares_about_mean
        met = np.flatnonzero(n)
        pm.Normal(f"{stem}_average", mean[met], sd[met] / np.sqrt(n[met]), observed=statistics.mean[met])
        spread = np.flatnonzero((n > 1) & (squares > 0))
        half = (n[spread] - 1) / 2
        pm.Gamma(f"{stem}_spread", half, half / sd[spread] ** 2, observed=squares[spread] / (n[spread] - 1))
        rest = np.setdiff1d(np.flatnonzero((n > 0) & ((n != 1) | (squares != 0))), spread)
        if len(rest):  # equal values, or fractional weights of less than a row: all that the average does not say
            log_rest = (1 - n[rest]) * pm.math.log(sd[rest]) - squares[rest] / (2 * sd[rest] ** 2)
            pm.Potential(f"{stem}_rest", log_rest.sum())

    def simulate(self, rng: np.random.Generator, parameters: Parameters, tokens: Array) -> Array:
        return np.asarray(rng.normal(parameters["mean"], parameters["sd"]))

    def row_distribution(self, parameters: Parameters, x: Array) -> tuple[str, dict[str, Any]]:
        return "Normal", {"mu": parameters["mean"], "sigma": parameters["sd"]}

    def unit_information(self, statistics: GaussianStatistics) -> NormalInverseGamma:
        """Return the default prior: one row's worth of knowledge about the pooled column, (1, feature)."""
        pooled = statistics.pooled()
        ones = np.ones_like(pooled.count)
        return NormalInverseGamma(pooled.mean, ones, ones, pooled.squares_about_mean / pooled.count)


def _count_and_mean(
    x: Array, y: Array, n_labels: int, weight: Array | None, observed: Array | None
) -> tuple[Array, Array]:
    """Count and, to rounding, mean of each label and feature."""
    if observed is None:
        count = np.broadcast_to(np.bincount(y, weight, n_labels)[:, None], (n_labels, x.shape[1])).astype(float)
    else:
        count = sum_by_label(observed, y, n_labels, weight)
        x = x * observed
    return count, _quotient(sum_by_label(x, y, n_labels, weight), count)


def _quotient(total: Array, count: Array) -> Array:
    return np.divide(total, count, out=np.zeros(np.shape(total)), where=count != 0)


def _powers_of_logs(u: Array, power: Array) -> Array:
    """Σ_f power_f · ln(1 + u_f) of (feature, row) arrays: (row,). Features of one power share a logarithm, by eights.

    It is that of their product, from the product less 1, which loses no digit where u is small.
    """
    together = 8 if (power == power[0]).all() and u.max(initial=0.0) < LARGEST_FACTOR else 1
    v = u[::together].copy()
    for i in range(1, together):
        more = u[i::together]
        v[: len(more)] += more * (1 + v[: len(more)])
    return power[::together] @ np.log1p(v)


def _origin_and_unit(posterior: Any) -> tuple[Array, Array]:
    """A location and a spread in the middle of the labels: (feature,) each."""
    return posterior.location.mean(0), np.sqrt(posterior.scale / posterior.shape).mean(0)


def _cumulant_polynomials(p: Any) -> list[list[Array]]:
    """Coefficients, in powers of z = (x − m)²/(2b), of the first four cumulants of the log density.

    The derivatives at 0 of K(t) = −(t/2) ln 2πb − ½ ln(1 + t/κ) + lnΓ(a + t/2) − lnΓ(a) − (a + t/2) f(t), where
    f(t) = ln(1 + z t/(1 + t/κ)) has the Taylor coefficients below.
    """
    k, a = p.pseudo_count, p.shape
    zero, one = np.zeros_like(k), np.ones_like(k)
    f = [
        [zero] * 5,
        [zero, one, zero, zero, zero],
        [zero, -1 / k, -one / 2, zero, zero],
        [zero, 1 / k**2, 1 / k, one / 3, zero],
        [zero, -1 / k**3, -1.5 / k**2, -1 / k, -one / 4],
    ]
    result = []
    for r in range(1, 5):
        free = polygamma(r - 1, a) / 2**r + 0.5 * (-1) ** r * factorial(r - 1) / k**r
        if r == 1:
            free = free - 0.5 * (LOG_2PI + np.log(p.scale))
        rest = [-factorial(r) * (a * high + low / 2) for high, low in zip(f[r], f[r - 1], strict=True)]
        result.append([free + rest[0], *rest[1:]])
    return result
