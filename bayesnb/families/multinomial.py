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
    is_count,
    log_positive,
    log_ratio,
    log_rising,
    matmul_log,
    observe_counts,
    sum_by_label,
    weighted,
)
from bayesnb.priors import Dirichlet, Parameters, Prior, concentration_vector, log_dirichlet

LOG_FACTORIALS = gammaln(np.arange(256) + 1.0)  # ln n!, to look up
LOGARITHMS = 8  # of one count that are summed, before lnΓ costs less


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
    missing : {"ignore", "error"}, optional
        What a row with a missing count is, if not what the model's ``missing`` says. Left out, it says nothing.

    Examples
    --------
    >>> Multinomial(prior="perks").prior
    'perks'
    """

    prior: Any = None
    missing: Any = None
    whole_row: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ("prob",)
    name: ClassVar[str] = "Multinomial"
    support: ClassVar[str] = "counts, whole numbers from 0"
    prior_type: ClassVar[type[Prior]] = Dirichlet

    def takes(self, x: Array) -> Array:
        return is_count(x)

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
    log_factorial = LOG_FACTORIALS[np.minimum(x.data, len(LOG_FACTORIALS) - 1).astype(int)]
    large = x.data >= len(LOG_FACTORIALS)
    log_factorial[large] = gammaln(x.data[large] + 1.0)
    return gammaln(x.sum(1) + 1.0) - np.bincount(_row_of_entry(x), log_factorial, x.shape[0])


def _rising_sum(x: Any, concentration: Array, t: float | Array) -> Array:
    """Σ_v lnΓ(α_v + t n_v) − lnΓ(α_v), (row, label): of a whole number as Σ_{i < n} ln(α_v + i), up to some i."""
    n, rows = t * x.data, _row_of_entry(x)
    summed = np.where((n > 0) & (n == np.floor(n)), np.minimum(n, LOGARITHMS), 0)
    result = np.zeros((x.shape[0], len(concentration)))
    for i in range(int(summed.max(initial=0))):
        more = summed > i
        ends = np.concatenate([[0], np.cumsum(more)])[x.indptr]
        with np.errstate(divide="ignore"):  # an impossible term is -inf, and meant
            log_factor = np.log(concentration + i)
        result += matmul_log(sparse.csr_array((np.ones(ends[-1]), x.indices[more], ends), shape=x.shape), log_factor)
    rest = n != summed
    for label, of_label in enumerate(concentration):
        rising = log_rising(of_label[x.indices[rest]] + summed[rest], n[rest] - summed[rest])
        result[:, label] += np.bincount(rows[rest], rising, x.shape[0])
    return result
