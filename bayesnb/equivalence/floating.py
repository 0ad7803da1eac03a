"""What the package computes in floating point, held against exact rational numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesnb.equivalence.checks import Check, Claim
from bayesnb.equivalence.exact import Counts, counts_of, rational, smoothed
from bayesnb.families import Bernoulli, Multinomial
from bayesnb.families.base import Array
from bayesnb.posterior import Part, Posterior
from bayesnb.priors import Beta, Dirichlet
from bayesnb.tree import layout_of

EPS = float(np.finfo(float).eps)

OURS = "computed in floating point"
MEAN = Claim("floating-point mean", f'estimates("mean"), {OURS},', "the smoothed estimate as a rational number")
MODE = Claim(
    "floating-point mode", f'estimates("mode") under λ + 1, {OURS},', "the smoothed estimate as a rational number"
)
PREDICTIVE = Claim(
    "floating-point predictive", f"The predictive of one value, {OURS},", "the smoothed estimate as a rational number"
)


def floating_checks(posterior: Posterior, concentrations: Sequence[Any]) -> Iterator[Check]:
    """Yield the checks of point estimates and predictive probabilities, variable by variable, λ by λ > 0."""
    tables = list(counts_of(posterior))
    computed = {MEAN: (0, means), MODE: (1, modes), PREDICTIVE: (0, predictives)}
    positive = [c for c in concentrations if rational(c, 1)]
    for claim, (more, compute) in computed.items():
        by_concentration = {c: compute(with_concentration(posterior, c, more)) for c in positive}
        for table in tables:
            names = {rational(c, table.n_values): c for c in positive}  # of two values, 1/S is ½
            for value, concentration in names.items():
                expected = [[float(p) for p in smoothed(n, (value,) * table.n_values)] for n in table.counts]
                gap = np.abs(by_concentration[concentration][table.name] - expected).max()
                yield Check(claim, table.name, float(gap), _rounding(table, float(value)), str(value))


def _rounding(table: Counts, concentration: float) -> float:
    """A bound on the rounding error: S terms are added; a mode loses up to 1/λ, a logarithm ln N, of its digits."""
    most = max(map(sum, table.counts))
    return EPS * (table.n_values + 4 + 1 / concentration + 2 * np.log1p(most))


def with_concentration(posterior: Posterior, concentration: Any, more: int = 0) -> Posterior:
    """Return the posterior under symmetric Dirichlet(λ + more) and Beta(λ + more, λ + more) priors."""

    def symmetric(prior: Any) -> Any:
        if not isinstance(prior, Dirichlet | Beta):
            return prior
        n_values = 2 if isinstance(prior, Beta) else prior.concentration.shape[-1]
        value = float(rational(concentration, n_values)) + more
        return prior.map(lambda a: np.full(a.shape, value))

    labels = posterior.labels
    return replace(
        posterior,
        labels=replace(labels, prior=symmetric(labels.prior)) if labels.prior is not None else labels,
        parts=tuple(replace(part, prior=symmetric(part.prior)) for part in posterior.parts),
    )


def means(posterior: Posterior) -> dict[str, Array]:
    """Return the posterior means by variable, the values on the last axis."""
    return _estimates(posterior, "mean")


def modes(posterior: Posterior) -> dict[str, Array]:
    """Return the posterior modes by variable, the values on the last axis."""
    return _estimates(posterior, "mode")


def _estimates(posterior: Posterior, kind: str) -> dict[str, Array]:
    parameters = [part.estimate(kind) for part in posterior.parts]
    return _by_variable(posterior, posterior.labels.estimate(kind), [p.get("prob") for p in parameters])


def predictives(posterior: Posterior) -> dict[str, Array]:
    """Return the predictive probability of every single value by variable, the values on the last axis."""
    probs = [_predictive(part) if isinstance(part.prior, Dirichlet | Beta) else None for part in posterior.parts]
    return _by_variable(posterior, np.exp(posterior.labels.log_prob()), probs)


def _predictive(part: Part) -> Array:
    """The probability of each value, (label, value), or of a one, (label, feature)."""
    if isinstance(part.family, Bernoulli):
        return np.exp(part.family.cgf(part.posterior, np.ones((1, len(part.features)), dtype=bool)))[0]
    n_values = part.posterior.concentration.shape[-1]
    values = sparse.eye_array(n_values).tocsr() if isinstance(part.family, Multinomial) else np.arange(n_values)
    return np.exp(part.family.cgf(part.posterior, values)).T


def _by_variable(posterior: Posterior, label_prob: Array, probs: list[Any]) -> dict[str, Array]:
    result = {"label_prob": label_prob[None]}
    for variable in layout_of(posterior).variables:
        prob = probs[variable.part]
        if prob is not None:
            one = None if variable.position is None else prob[:, variable.position]
            result[variable.name] = prob if one is None else np.stack([one, 1 - one], -1)
    return result
