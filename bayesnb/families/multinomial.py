"""Multinomial likelihood with a Dirichlet prior: a row of counts, such as the words of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import gammaln, polygamma

from bayesnb.families.base import (
    Array,
    Family,
    Statistics,
    log_positive,
    log_ratio,
    log_rising,
    matmul_log,
    observe_counts,
    sum_by_label,
    weighted,
)
from bayesnb.priors import Dirichlet, Parameters, Prior, concentration_vector, log_dirichlet


@dataclass(frozen=True, eq=False)
class MultinomialStatistics(Statistics):
    """Weighted counts of each term, (label, term), and Σ ln(n!/∏ n_v!), (label,)."""

    counts: Array
    log_coefficients: Array

    @property
    def log_base(self) -> Array:
        return self.log_coefficients


@dataclass(frozen=True, repr=False)
class Multinomial(Family):
    """A row of counts n over V terms; p(n given θ) = (n₊!/∏ n_v!) ∏ θ_v^{n_v}, θ ~ Dirichlet.

    Parameters
    ----------
    prior : None, number, str, array_like, mapping, Dirichlet or function
        None takes the model's ``concentration``. Otherwise one λ for all terms, "laplace" (1), "jeffreys" (½) or
        "perks" (1/V), one λ a term, or a mapping from each column name to its λ.
        Priors without a closed form: a Dirichlet with a PyMC distribution in place of a parameter, which the features
        that are given this one object share; or a function that declares PyMC variables, see
        ``bayesnb.free_priors.FreePrior``.

    Examples
    --------
    >>> Multinomial(prior="perks").prior
    'perks'
    """

    prior: Any = None
    whole_row: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ("prob",)
    name: ClassVar[str] = "Multinomial"
    prior_type: ClassVar[type[Prior]] = Dirichlet

    def resolve_prior(self, concentration: object, statistics: Any, values: Sequence[Any]) -> Dirichlet:
        spec = concentration if self.prior is None else self.prior
        return Dirichlet(concentration_vector(spec, values, "the prior of a Multinomial row"))

    def statistics(
        self, x: Any, y: Array, n_labels: int, weight: Array | None = None, observed: Array | None = None
    ) -> MultinomialStatistics:
        x = _documents(x, observed)
        log_coefficients = np.bincount(y, _log_coefficient(x) * (1.0 if weight is None else weight), n_labels)
        return MultinomialStatistics(sum_by_label(x, y, n_labels, weight), log_coefficients)

    def row_statistics(self, x: Any, observed: Array | None = None) -> MultinomialStatistics:
        x = _documents(x, observed)
        return MultinomialStatistics(x.toarray()[:, None, :].astype(float), _log_coefficient(x)[:, None])

    def update(self, prior: Any, statistics: MultinomialStatistics) -> Dirichlet:
        return Dirichlet(prior.concentration + statistics.counts)

    def cgf(
        self, posterior: Any, x: Any, t: float | Array = 1.0, y: Array | None = None, observed: Array | None = None
    ) -> Array:
        x, concentration = _documents(x, observed), posterior.concentration
        total, tokens = concentration.sum(-1), x.sum(1)
        if y is None:
            rising = log_ratio(_rising_sum(x, concentration, t), log_rising(total, t * tokens[:, None]))
            return rising + t * _log_coefficient(x)[:, None]
        rows = _row_of_entry(x)
        t_of_entry = np.broadcast_to(t, len(y))[rows]
        terms = log_rising(concentration[y[rows], x.indices], t_of_entry * x.data)
        rising = log_ratio(np.bincount(rows, terms, len(y)), log_rising(total[y], t * tokens))
        return rising + t * _log_coefficient(x)

    def cumulants(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        x, concentration = _documents(x, observed), posterior.concentration
        tokens, total = x.sum(1)[:, None], concentration.sum(-1)
        result = np.stack(
            [x.power(r) @ polygamma(r - 1, concentration).T - tokens**r * polygamma(r - 1, total) for r in range(1, 5)]
        )
        result[0] += _log_coefficient(x)[:, None]
        return result

    def log_likelihood(self, parameters: Parameters, x: Any, observed: Array | None = None) -> Array:
        x = _documents(x, observed)
        with np.errstate(divide="ignore"):  # the logarithm of an impossible term is -inf, and meant
            return _log_coefficient(x)[:, None] + matmul_log(x, np.log(parameters["prob"]))

    def design(self, posterior: Any, x: Any, observed: Array | None = None) -> Any:
        return _documents(x, observed)

    def natural(self, posterior: Any, parameters: Parameters) -> Array:
        return log_positive(parameters["prob"])

    def draw_natural(self, posterior: Any, rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        return log_dirichlet(rng, posterior.concentration, size)

    def maximum_likelihood(self, statistics: MultinomialStatistics) -> Parameters:
        return Dirichlet(statistics.counts).mean()

    def observe(
        self, stem: str, parameters: Parameters, statistics: MultinomialStatistics, dims: tuple[str, ...]
    ) -> None:
        observe_counts(f"{stem}_count", parameters["prob"], statistics.counts, dims)

    def simulate(self, rng: np.random.Generator, parameters: Parameters, tokens: Array) -> Array:
        return rng.multinomial(tokens, parameters["prob"])

    def row_distribution(self, parameters: Parameters, x: Array) -> tuple[str, dict[str, Any]]:
        return "Multinomial", {"n": x.sum(-1), "p": parameters["prob"]}

    def score(self, posterior: Any, x: Any, observed: Array | None = None, weights: Array | None = None) -> Array:
        return weighted(self.cgf(posterior, x, observed=observed), weights)


def _documents(x: Any, observed: Array | None) -> Any:
    """Rows of counts in compressed form; a row that is not observed is an empty document, which says nothing."""
    x = sparse.csr_array(x, dtype=float)
    return x if observed is None else sparse.diags_array(observed.astype(float)).tocsr() @ x


def _row_of_entry(x: Any) -> Array:
    return np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))


def _log_coefficient(x: Any) -> Array:
    """ln(n!/∏ n_v!) of each row."""
    return gammaln(x.sum(1) + 1.0) - np.bincount(_row_of_entry(x), gammaln(x.data + 1.0), x.shape[0])


def _rising_sum(x: Any, concentration: Array, t: float | Array) -> Array:
    """Σ_v lnΓ(α_v + t n_v) − lnΓ(α_v), (row, label): a sparse product for the terms met once, the rest one by one."""
    once = t * x.data == 1
    with np.errstate(divide="ignore"):  # an impossible term is -inf, and meant
        log_concentration = np.log(concentration)
    result = matmul_log(sparse.csr_array((once.astype(float), x.indices, x.indptr), shape=x.shape), log_concentration)
    rows, terms, n = _row_of_entry(x)[~once], x.indices[~once], t * x.data[~once]
    for label, row_of_label in enumerate(concentration):
        result[:, label] += np.bincount(rows, log_rising(row_of_label[terms], n), x.shape[0])
    return result
