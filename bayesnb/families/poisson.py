"""Poisson likelihood with a gamma prior: a feature that counts events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, polygamma, xlogy

from bayesnb.families.base import (
    Array,
    Family,
    Statistics,
    is_count,
    is_whole,
    laid_out,
    log_positive,
    log_rising,
    only,
    sum_by_label,
)
from bayesnb.priors import Gamma, Parameters, Prior


@dataclass(frozen=True, eq=False)
class PoissonStatistics(Statistics):
    """Weighted count of rows, Σ x and Σ ln x!: each (label, feature)."""

    count: Array
    total: Array
    log_factorials: Array

    @property
    def log_base(self) -> Array:
        return -self.log_factorials


@dataclass(frozen=True, repr=False)
class Poisson(Family):
    """Counts of events; p(x given θ) = θ^x e^{−θ} / x!, θ ~ Gamma.

    Parameters
    ----------
    prior : None, Gamma or function
        None is Gamma(shape 1, rate 1 / pooled mean): one row's worth of knowledge about the pooled column.
        Priors without a closed form: a Gamma with a PyMC distribution in place of a parameter, which the features
        that are given this one object share; or a function that declares PyMC variables, see
        ``bayesnb.free_priors.FreePrior``.
    rate : pymc distribution, optional
        A prior in place of the conjugate one, such as ``pymc.LogNormal.dist(0, 1)``: that of θ given each label.
    missing : {"ignore", "error"}, optional
        What a missing cell is, if not what the model's ``missing`` says.

    Examples
    --------
    >>> Poisson(Gamma(shape=2, rate=1)).prior.shape
    array(2.)
    """

    prior: Any = None
    rate: Any = None
    missing: Any = None
    parameters: ClassVar[tuple[str, ...]] = ("rate",)
    name: ClassVar[str] = "Poisson"
    support: ClassVar[str] = "whole numbers from 0"
    prior_type: ClassVar[type[Prior]] = Gamma

    def takes(self, x: Array) -> Array:
        return is_count(x)

    def resolve_prior(self, concentration: object, statistics: PoissonStatistics, values: Sequence[Any]) -> Gamma:
        return self.unit_information(statistics) if self.prior is None else self.prior

    def is_informative(self, statistics: PoissonStatistics) -> Array:
        return (statistics.total.sum(0) > 0) | self.has_own_unit

    def statistics(
        self, x: Any, y: Array, n_labels: int, weight: Array | None = None, observed: Array | None = None
    ) -> PoissonStatistics:
        seen = np.ones(x.shape, bool) if observed is None else observed
        counted = np.where(seen, x, 0)
        parts = (seen, counted, gammaln(counted + 1.0))
        return PoissonStatistics(*(sum_by_label(part, y, n_labels, weight) for part in parts))

    def row_statistics(self, x: Any, observed: Array | None = None) -> PoissonStatistics:
        seen = np.ones(x.shape) if observed is None else observed.astype(float)
        parts = (seen, x * seen, gammaln(x * seen + 1.0))
        return PoissonStatistics(*(part[:, None, :] for part in parts))

    def update(self, prior: Any, statistics: PoissonStatistics) -> Gamma:
        return Gamma(prior.shape + statistics.total, prior.rate + statistics.count)

    def cgf(
        self, posterior: Any, x: Any, t: float | Array = 1.0, y: Array | None = None, observed: Array | None = None
    ) -> Array:
        p, x, t = laid_out(posterior, x, t, y, observed)
        rising = log_rising(p.shape, t * x) - t * gammaln(x + 1.0)
        result = rising - p.shape * np.log1p(t / p.rate) - t * x * np.log(p.rate + t)
        return only(result, observed) if y is None else result

    def cumulants(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        p, x, _ = laid_out(posterior, x, 1.0)
        a, b = p.shape, p.rate
        result = np.stack(
            [
                x * (polygamma(0, a) - np.log(b)) - a / b - gammaln(x + 1.0),
                x**2 * polygamma(1, a) + (a - 2 * x * b) / b**2,
                x**3 * polygamma(2, a) - (2 * a - 3 * x * b) / b**3,
                x**4 * polygamma(3, a) + (6 * a - 8 * x * b) / b**4,
            ]
        )
        return only(result, observed)

    def log_likelihood(self, parameters: Parameters, x: Any, observed: Array | None = None) -> Array:
        x, rate = x[:, None, :], parameters["rate"]
        return only(xlogy(x, rate) - rate - gammaln(x + 1.0), observed)

    def design(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        seen = np.ones(x.shape) if observed is None else observed
        return np.concatenate([(x - _typical_rate(posterior)) * seen, seen], axis=1)

    def natural(self, posterior: Any, parameters: Parameters) -> Array:
        typical = _typical_rate(posterior)
        log_ratio = log_positive(parameters["rate"] / typical)
        return np.concatenate([log_ratio, typical * (log_ratio - np.expm1(log_ratio))], axis=-1)

    def maximum_likelihood(self, statistics: PoissonStatistics) -> Parameters:
        return {"rate": statistics.total / np.where(statistics.count > 0, statistics.count, np.nan)}

    def observe(self, stem: str, parameters: Parameters, statistics: PoissonStatistics, dims: tuple[str, ...]) -> None:
        import pymc as pm

        rate, count, total = parameters["rate"], statistics.count, statistics.total
        if is_whole(total):
            met = np.flatnonzero(count)
            pm.Poisson(f"{stem}_total", count[met] * rate[met], observed=total[met].astype(int))
        else:  # fractional weights
            pm.Potential(f"{stem}_total", (total * pm.math.log(rate) - count * rate).sum())

    def simulate(self, rng: np.random.Generator, parameters: Parameters, tokens: Array) -> Array:
        return np.asarray(rng.poisson(parameters["rate"]))

    def row_distribution(self, parameters: Parameters, x: Array) -> tuple[str, dict[str, Any]]:
        return "Poisson", {"mu": parameters["rate"]}

    def unit_information(self, statistics: PoissonStatistics) -> Gamma:
        """Return the default prior: one row's worth of knowledge about the pooled column, (1, feature)."""
        pooled = statistics.pooled()
        return Gamma(np.ones_like(pooled.total), pooled.count / pooled.total)


def _typical_rate(posterior: Any) -> Array:
    """A rate in the middle of the labels, (feature,), about which a large rate costs no digits."""
    return (posterior.shape / posterior.rate).mean(0)
