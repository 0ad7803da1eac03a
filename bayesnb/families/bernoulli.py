"""Bernoulli likelihood with a Beta prior: a feature that is one or zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import polygamma, xlog1py, xlogy

from bayesnb.families.base import (
    ORDERS,
    Array,
    CumulantScorer,
    Family,
    Statistics,
    blocked,
    is_whole,
    laid_out,
    log_positive,
    log_ratio,
    log_rising,
    matmul_log,
    only,
    sum_by_label,
    weighted,
)
from bayesnb.priors import Beta, Parameters, Prior, concentration_vector, log_dirichlet


@dataclass(frozen=True, eq=False)
class BernoulliStatistics(Statistics):
    """Weighted counts of ones and of zeros: (label, feature)."""

    ones: Array
    zeros: Array


@dataclass(frozen=True, repr=False)
class Bernoulli(Family):
    """Features that are one or zero; p(x given θ) = θ^x (1 − θ)^(1−x), θ ~ Beta.

    Parameters
    ----------
    prior : None, number, str, pair, mapping, Beta or function
        None takes the model's ``concentration``. A number is the λ of both values; "laplace", "jeffreys" and "perks"
        are 1, ½ and ½; a pair is (λ of one, λ of zero), a mapping ``{1: λ, 0: λ}``.
        Priors without a closed form: a Beta with a PyMC distribution in place of a parameter, which the features
        that are given this one object share; or a function that declares PyMC variables, see
        ``bayesnb.free_priors.FreePrior``.
    prob : pymc distribution, optional
        A prior in place of the conjugate one, such as ``pymc.LogitNormal.dist(0, 1)``: that of θ given each label.
    missing : {"ignore", "error"}, optional
        What a missing cell is, if not what the model's ``missing`` says.

    Examples
    --------
    >>> Bernoulli(prior=Beta(2, 1)).prior
    Beta(a=array(2.), b=array(1.))
    """

    prior: Any = None
    prob: Any = None
    missing: Any = None
    parameters: ClassVar[tuple[str, ...]] = ("prob",)
    name: ClassVar[str] = "Bernoulli"
    support: ClassVar[str] = "0 and 1, or False and True"
    prior_type: ClassVar[type[Prior]] = Beta

    def takes(self, x: Array) -> Array:
        return (x == 0) | (x == 1)

    def resolve_prior(self, concentration: object, statistics: Any, values: Sequence[Any]) -> Beta:
        if isinstance(self.prior, Beta):
            return self.prior
        spec = concentration if self.prior is None else self.prior
        a, b = concentration_vector(spec, (1, 0), "the prior of a Bernoulli feature")
        return Beta(a, b)

    def statistics(
        self, x: Any, y: Array, n_labels: int, weight: Array | None = None, observed: Array | None = None
    ) -> BernoulliStatistics:
        if observed is None:
            ones = sum_by_label(x, y, n_labels, weight)
            rows = np.bincount(y, weight, n_labels)[:, None]
            return BernoulliStatistics(ones, rows - ones)
        ones = sum_by_label(x & observed, y, n_labels, weight)
        return BernoulliStatistics(ones, sum_by_label(observed, y, n_labels, weight) - ones)

    def row_statistics(self, x: Any, observed: Array | None = None) -> BernoulliStatistics:
        ones = _dense(x)[:, None, :].astype(float)
        seen = 1.0 if observed is None else observed[:, None, :]
        return BernoulliStatistics(ones * seen, (1 - ones) * seen)

    def update(self, prior: Any, statistics: BernoulliStatistics) -> Beta:
        return Beta(prior.a + statistics.ones, prior.b + statistics.zeros)

    def cgf(
        self, posterior: Any, x: Any, t: float | Array = 1.0, y: Array | None = None, observed: Array | None = None
    ) -> Array:
        p, x, t = laid_out(posterior, _dense(x).astype(bool), t, y, observed)
        result = log_ratio(log_rising(np.where(x, p.a, p.b), t), log_rising(p.a + p.b, t))
        return only(result, observed) if y is None else result

    def cumulants(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        x = _dense(x)[:, None, :].astype(bool)
        one, zero = _cumulant_tables(posterior)
        return only(np.where(x, one[:, None], zero[:, None]), observed)

    def cumulant_scorer(self, posterior: Any, contrast: Array, weights: Array | None = None) -> CumulantScorer:
        powers = 1.0 if weights is None else (weights**ORDERS)[:, None]
        shape = contrast.shape[0], contrast.shape[2]
        one, zero = (
            np.einsum("rkf,rkc->frc", table * powers, contrast).reshape(-1, prod(shape))
            for table in _cumulant_tables(posterior)
        )

        def cumulants(x: Any, observed: Array | None) -> Array:
            ones = x.astype(float) if observed is None else (x & observed).astype(float)
            of_zeros = zero.sum(0) if observed is None else observed.astype(float) @ zero
            return (ones @ (one - zero) + of_zeros).reshape(-1, *shape)

        return cumulants

    def log_likelihood(self, parameters: Parameters, x: Any, observed: Array | None = None) -> Array:
        x, prob = _dense(x)[:, None, :].astype(float), parameters["prob"]
        return only(xlogy(x, prob) + xlog1py(1 - x, -prob), observed)

    def score_at(
        self, parameters: Parameters, x: Any, observed: Array | None = None, weights: Array | None = None
    ) -> Array:
        if not sparse.issparse(x):
            return super().score_at(parameters, x, observed, weights)
        with np.errstate(divide="ignore"):  # the logarithm of an impossible value is -inf, and meant
            log_one, log_zero = np.log(parameters["prob"]), np.log1p(-parameters["prob"])
        return _sparse_score(x, weighted(log_one, weights), weighted(log_zero, weights))

    def design(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        ones = _dense(x).astype(bool)
        seen = np.ones(ones.shape, dtype=bool) if observed is None else observed
        return np.concatenate([ones & seen, seen], axis=1)

    def natural(self, posterior: Any, parameters: Parameters) -> Array:
        return _of_ones_and_all(log_positive(parameters["prob"]), log_positive(1 - parameters["prob"]))

    def draw_natural(self, posterior: Any, rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        values = log_dirichlet(rng, np.stack([posterior.a, posterior.b], axis=-1), size)
        return _of_ones_and_all(values[..., 0], values[..., 1])

    def maximum_likelihood(self, statistics: BernoulliStatistics) -> Parameters:
        return Beta(statistics.ones, statistics.zeros).mean()

    def observe(
        self, stem: str, parameters: Parameters, statistics: BernoulliStatistics, dims: tuple[str, ...]
    ) -> None:
        import pymc as pm

        prob, ones, zeros = parameters["prob"], statistics.ones, statistics.zeros
        if is_whole(ones) and is_whole(zeros):
            pm.Binomial(f"{stem}_count", (ones + zeros).astype(int), prob, observed=ones.astype(int), dims=dims)
        else:  # fractional weights
            pm.Potential(f"{stem}_count", (ones * pm.math.log(prob) + zeros * pm.math.log1p(-prob)).sum())

    def simulate(self, rng: np.random.Generator, parameters: Parameters, tokens: Array) -> Array:
        return rng.random(parameters["prob"].shape) < parameters["prob"]

    def row_distribution(self, parameters: Parameters, x: Array) -> tuple[str, dict[str, Any]]:
        return "Bernoulli", {"p": parameters["prob"]}

    def score(self, posterior: Any, x: Any, observed: Array | None = None, weights: Array | None = None) -> Array:
        log_one, log_zero = _log_tilts(posterior, 1.0, weights)
        if sparse.issparse(x):
            return _sparse_score(x, log_one, log_zero)

        def block(ones: Array, seen: Array | None) -> Array:
            ones = ones.astype(float)
            zeros = 1 - ones if seen is None else seen - (ones := ones * seen)
            return matmul_log(ones, log_one) + matmul_log(zeros, log_zero)

        return blocked(block, x, observed)

    def score_left_out(self, posterior: Any, x: Any, y: Array, weight: Array, weights: Array | None = None) -> Array:
        """Return the score of sparse training rows, each left out of its own label's statistics: (row, label).

        As ``conjugacy.leave_one_out`` has it, K(1 − w) − K(−w) under the own label, for all rows of one weight at once.
        """
        result = self.score(posterior, x, weights=weights)
        for w in np.unique(weight):
            (rows,) = np.nonzero(weight == w)
            tables = (_log_tilts(posterior, t, weights) for t in (1 - w, -w))
            with np.errstate(invalid="ignore"):  # of a value that no row of the label has, to leave one out is absurd
                left_out = (with_row - without for with_row, without in zip(*tables, strict=True))
                log_one, log_zero = (np.where(np.isfinite(table), table, 0.0) for table in left_out)
            result[rows, y[rows]] = _sparse_score(x[rows], log_one, log_zero)[np.arange(len(rows)), y[rows]]
        return result


def _log_tilts(posterior: Any, t: float, weights: Array | None) -> Iterator[Array]:
    """Weighted K(t) of a one, and of a zero: (label, feature) each."""
    log_total = log_rising(posterior.a + posterior.b, t)
    return (weighted(log_ratio(log_rising(part, t), log_total), weights) for part in (posterior.a, posterior.b))


def _of_ones_and_all(log_one: Array, log_zero: Array) -> Array:
    """What a one changes, then what every cell has: (..., label, 2 · feature)."""
    return np.concatenate([log_one - log_zero, log_zero], axis=-1)


def _cumulant_tables(posterior: Any) -> tuple[Array, Array]:
    """The first four cumulants of the log probability of a one, and of a zero: (4, label, feature) each."""
    orders = np.arange(4)[:, None, None]
    total = polygamma(orders, posterior.a + posterior.b)
    return polygamma(orders, posterior.a) - total, polygamma(orders, posterior.b) - total


def _dense(x: Any) -> Array:
    return x.toarray() if sparse.issparse(x) else x


def _sparse_score(x: Any, log_one: Array, log_zero: Array) -> Array:
    """Score every cell as a zero, then exchange the ones: no cell that is zero is touched."""
    impossible = np.isneginf(log_zero)
    finite = np.where(impossible, 0.0, log_zero)
    score = finite.sum(1) + matmul_log(x, log_one) - x @ finite.T
    zeros_met = impossible.sum(1) - x @ impossible.T.astype(float)
    score[zeros_met > 0] = -np.inf
    return score
