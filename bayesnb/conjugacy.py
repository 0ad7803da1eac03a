"""What follows from conjugacy alone, written once for all families: docs/mathematics/conjugacy.md.

η is a posterior, s a statistic, log Z the log-normaliser, log h the base measure. Everything here is a difference of
log-normalisers; the closed forms that the families give are held against ``cgf_from_normalizer`` by the laws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesnb.families.base import Array, Family, Statistics
from bayesnb.priors import Prior


def full_prior(family: Family, prior: Prior, statistics: Statistics) -> Prior:
    """Return the prior in the shape of the posterior: the posterior of no rows."""
    return family.update(prior, statistics * 0.0)


def log_evidence(family: Family, prior: Prior, statistics: Statistics) -> Array:
    """Return log p(x given the labels), (label, feature), or (label,) for a family without a feature axis.

    log Z(η') − log Z(η) + Σ log h(x_i).
    """
    gain = family.update(prior, statistics).log_normalizer() - full_prior(family, prior, statistics).log_normalizer()
    return gain + statistics.log_base


def cgf_from_normalizer(family: Family, posterior: Any, x: Any, t: float, observed: Array | None = None) -> Array:
    """Return K(t) of log p(x given θ), (row, label, feature), from its definition; slow and without special cases.

    log Z(η' ⊕ t·s(x)) − log Z(η') + t·log h(x).
    """
    rows = family.row_statistics(x, observed) * t
    tilted = family.update(posterior.map(lambda a: a[None]), rows)
    return tilted.log_normalizer() - posterior.log_normalizer() + rows.log_base


def leave_one_out(
    family: Family, posterior: Any, x: Any, y: Array, weight: Array | None = None, observed: Array | None = None
) -> Array:
    """Return the log predictive of each row under each label, the row left out of its own label's statistics.

    With w the row's weight, log Z(η' ⊕ (1 − w)·s) − log Z(η' ⊖ w·s) + log h is K(1 − w) − K(−w): the row's own label
    needs no posterior of its own. Axes as of ``family.cgf``.
    """
    weight = np.ones(len(y)) if weight is None else weight
    result = family.cgf(posterior, x, observed=observed)
    own = family.cgf(posterior, x, 1 - weight, y, observed) - family.cgf(posterior, x, -weight, y, observed)
    result[np.arange(len(y)), y] = own
    return result
