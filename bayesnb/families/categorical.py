"""Categorical likelihood with a Dirichlet prior: one feature that takes one of S values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import polygamma

from bayesnb.families.base import (
    ORDERS,
    Array,
    CumulantScorer,
    Family,
    Statistics,
    log_positive,
    log_ratio,
    log_rising,
    observe_counts,
    only,
    weighted,
)
from bayesnb.priors import Dirichlet, Parameters, Prior, concentration_vector, log_dirichlet


@dataclass(frozen=True, eq=False)
class CategoricalStatistics(Statistics):
    """Weighted counts of each level: (label, level)."""

    counts: Array


@dataclass(frozen=True, repr=False)
class Categorical(Family):
    """A feature that takes one of S values; p(x given θ) = θ[x], θ ~ Dirichlet.

    Parameters
    ----------
    prior : None, number, str, array_like, mapping, Dirichlet or function
        None takes the model's ``concentration``. Otherwise one λ for all values, "laplace" (1), "jeffreys" (½) or
        "perks" (1/S), one λ a value, or a mapping from each value to its λ.
        Priors without a closed form: a Dirichlet with a PyMC distribution in place of a parameter, which the features
        that are given this one object share; or a function that declares PyMC variables, see
        ``bayesnb.free_priors.FreePrior``.
    levels : sequence, optional
        The values that the feature can take, seen or not. Without it, those that the column's type declares
        (a categorical or enum), or else those met in training.
    missing : {"ignore", "level", "error"}, optional
        What a missing cell is, if not what the model's ``missing`` says. "level" is a value of its own, None.

    Examples
    --------
    >>> Categorical(prior="jeffreys", levels=["red", "green", "blue"]).levels
    ('red', 'green', 'blue')
    """

    prior: Any = None
    levels: Any = None
    missing: Any = None
    missing_choices: ClassVar[tuple[str, ...]] = ("ignore", "level", "error")
    parameters: ClassVar[tuple[str, ...]] = ("prob",)
    name: ClassVar[str] = "Categorical"
    prior_type: ClassVar[type[Prior]] = Dirichlet

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels is not None:
            levels = self.levels.tolist() if isinstance(self.levels, np.ndarray) else self.levels
            object.__setattr__(self, "levels", tuple(levels))
            if len(set(self.levels)) != len(self.levels):
                raise ValueError(f"Categorical: levels must differ from each other, not {self.levels}.")

    def resolve_prior(self, concentration: object, statistics: Any, values: Sequence[Any]) -> Dirichlet:
        spec = concentration if self.prior is None else self.prior
        return Dirichlet(concentration_vector(spec, self.levels, f"the prior of {values[0]!r}"))

    def is_informative(self, statistics: CategoricalStatistics) -> Array:
        return np.array([len(self.levels) > 0])

    def statistics(
        self, x: Any, y: Array, n_labels: int, weight: Array | None = None, observed: Array | None = None
    ) -> CategoricalStatistics:
        if observed is not None:
            x, y, weight = x[observed], y[observed], None if weight is None else weight[observed]
        n_cells = n_labels * len(self.levels)
        cell = y.astype(np.min_scalar_type(n_cells)) * len(self.levels) + x
        counts = np.bincount(cell, weight, n_cells).reshape(n_labels, len(self.levels))
        return CategoricalStatistics(counts.astype(float))

    def row_statistics(self, x: Any, observed: Array | None = None) -> CategoricalStatistics:
        one_hot = (x[:, None] == np.arange(len(self.levels)))[:, None, :].astype(float)
        return CategoricalStatistics(one_hot if observed is None else one_hot * observed[:, None, None])

    def update(self, prior: Any, statistics: CategoricalStatistics) -> Dirichlet:
        return Dirichlet(prior.concentration + statistics.counts)

    def cgf(
        self, posterior: Any, x: Any, t: float | Array = 1.0, y: Array | None = None, observed: Array | None = None
    ) -> Array:
        if y is None:
            return _look_up(_log_tilt(posterior, t), x, observed)
        concentration, t = posterior.concentration, t if observed is None else t * observed
        return log_ratio(log_rising(concentration[y, x], t), log_rising(concentration.sum(-1)[y], t))

    def cumulants(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        return np.stack([_look_up(of_order, x, observed) for of_order in _cumulant_table(posterior)])

    def cumulant_scorer(self, posterior: Any, contrast: Array, weights: Array | None = None) -> CumulantScorer:
        table = _cumulant_table(posterior) * (1.0 if weights is None else (weights**ORDERS)[..., None])
        by_level = np.ascontiguousarray(np.einsum("rkl,rkc->lrc", table, contrast))

        def cumulants(x: Any, observed: Array | None) -> Array:
            values = np.take(by_level, x, axis=0)
            return values if observed is None else values * observed[:, None, None]

        return cumulants

    def log_likelihood(self, parameters: Parameters, x: Any, observed: Array | None = None) -> Array:
        with np.errstate(divide="ignore"):  # the logarithm of an impossible value is -inf, and meant
            return _look_up(np.log(parameters["prob"]), x, observed)

    def design(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        one_hot = x[:, None] == np.arange(1, len(self.levels), dtype=x.dtype)
        seen = np.ones((len(x), 1), dtype=bool) if observed is None else observed[:, None]
        return np.concatenate([one_hot & seen, seen], axis=1)

    def natural(self, posterior: Any, parameters: Parameters) -> Array:
        return _of_others_and_first(log_positive(parameters["prob"]))

    def draw_natural(self, posterior: Any, rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        return _of_others_and_first(log_dirichlet(rng, posterior.concentration, size))

    def maximum_likelihood(self, statistics: CategoricalStatistics) -> Parameters:
        return Dirichlet(statistics.counts).mean()

    def observe(
        self, stem: str, parameters: Parameters, statistics: CategoricalStatistics, dims: tuple[str, ...]
    ) -> None:
        observe_counts(f"{stem}_count", parameters["prob"], statistics.counts, dims)

    def simulate(self, rng: np.random.Generator, parameters: Parameters, tokens: Array) -> Array:
        steps = parameters["prob"].cumsum(-1)[..., :-1]
        return (rng.random((*steps.shape[:-1], 1)) >= steps).sum(-1)

    def row_distribution(self, parameters: Parameters, x: Array) -> tuple[str, dict[str, Any]]:
        return "Categorical", {"p": parameters["prob"]}

    def score(self, posterior: Any, x: Any, observed: Array | None = None, weights: Array | None = None) -> Array:
        return _look_up(weighted(_log_tilt(posterior, 1.0), weights), x, observed)


def _of_others_and_first(log_prob: Array) -> Array:
    """What another level than the first changes, then what the first has: (..., label, level)."""
    first = log_prob[..., :1]
    return np.concatenate([log_prob[..., 1:] - first, first], axis=-1)


def _cumulant_table(posterior: Any) -> Array:
    """The first four cumulants of the log probability of every level: (4, label, level)."""
    orders = np.arange(4)[:, None, None]
    total = posterior.concentration.sum(-1, keepdims=True)
    return polygamma(orders, posterior.concentration) - polygamma(orders, total)


def _log_tilt(posterior: Any, t: float | Array) -> Array:
    """K(t) of every level: (label, level)."""
    concentration = posterior.concentration
    return log_ratio(log_rising(concentration, t), log_rising(concentration.sum(-1), t)[:, None])


def _look_up(table: Array, x: Array, observed: Array | None) -> Array:
    """Rows of a (label, level) table by code: (row, label); 0 where the cell is not observed."""
    return only(np.take(np.ascontiguousarray(table.T), x, axis=0), observed)
