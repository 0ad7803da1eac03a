"""The posterior of a fitted model: of the label probabilities and of every block, and what it says of encoded rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import Any, Self

import numpy as np

from bayesnb import conjugacy
from bayesnb.blocks import Block, Encoded
from bayesnb.families.base import BLOCK_CELLS, Array, CumulantScorer, Statistics, weighted
from bayesnb.labels import LabelModel, label_model
from bayesnb.priors import Parameters, Prior
from bayesnb.summary import Summary


@dataclass(frozen=True)
class Part:
    """Prior and posterior of the columns of a block that carry information about the label.

    A column without variance (or without any value) has no scale to set a default prior by: it is left out here, but
    its statistics stay in the summary, as later rows may give it one.
    """

    block: Block
    statistics: Statistics
    prior: Prior
    is_informative: Array  # (column of the block,)
    weights: Array | None = None  # (feature,), how many times each feature counts at prediction; None: all once

    @property
    def family(self) -> Any:
        """The likelihood."""
        return self.block.family

    @cached_property
    def posterior(self) -> Any:
        """The posterior, its arrays (label, feature), (label, level) or (label, term)."""
        return self.family.update(self.prior, self.statistics)

    @property
    def features(self) -> tuple[Any, ...]:
        """Names of the columns that are read; a family of whole rows counts as one feature, named by its columns."""
        return tuple(name for name, keep in zip(self.block.names, self.is_informative, strict=True) if keep)

    @property
    def n_features(self) -> int:
        """Length of the feature axis; a family of whole rows is one feature."""
        return 1 if self.family.whole_row else len(self.features)

    def encoded(self, encoded: Encoded) -> Encoded:
        """Return the arrays of the informative columns."""
        if self.is_informative.all():
            return encoded
        seen = None if encoded.observed is None else encoded.observed[:, self.is_informative]
        return Encoded(encoded.x[:, self.is_informative], seen)

    def score(self, encoded: Encoded) -> Array:
        """Return the weighted exact log predictive, summed over the features: (row, label)."""
        return self.family.score(self.posterior, encoded.x, encoded.observed, self.weights)

    def contributions(self, encoded: Encoded) -> Array:
        """Return the weighted exact log predictive of each feature: (row, label, feature)."""
        return self._by_feature(self.family.cgf(self.posterior, encoded.x, observed=encoded.observed))

    def leave_one_out(self, encoded: Encoded, y: Array, weight: Array | None = None) -> Array:
        """Return the contributions of training rows, each left out of its own label: (row, label, feature)."""
        values = conjugacy.leave_one_out(self.family, self.posterior, encoded.x, y, weight, encoded.observed)
        return self._by_feature(values)

    def cumulants(self, encoded: Encoded) -> Array:
        """Return the first four cumulants of w·log p(x given θ), the r-th times w^r: (4, row, label, feature)."""
        values = self.family.cumulants(self.posterior, encoded.x, encoded.observed)
        values = values if values.ndim == 4 else values[..., None]
        return values if self.weights is None else values * self.weights ** np.arange(1, 5)[:, None, None, None]

    def cumulant_scorer(self) -> CumulantScorer:
        """Return a function of (x, observed): ``cumulants`` summed over the features, (row, 4, label)."""
        return self.family.cumulant_scorer(self.posterior, self.weights)

    def log_likelihood(self, parameters: Parameters, encoded: Encoded) -> Array:
        """Return the weighted log p(x given θ), summed over the features: (row, label)."""
        return self._by_feature(self.family.log_likelihood(parameters, encoded.x, encoded.observed)).sum(-1)

    def design(self, encoded: Encoded) -> Any:
        """Return what of x the likelihood depends on, (row, m): times ``natural``, it is the log-likelihood."""
        return self.family.design(self.posterior, encoded.x, encoded.observed)

    def natural(self, parameters: Parameters) -> Array:
        """Return weighted natural parameters of given ones: (..., label, m)."""
        return self._weighted_terms(self.family.natural(self.posterior, parameters))

    def draw_natural(self, rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        """Return exact draws of the weighted natural parameters: (*size, label, m)."""
        return self._weighted_terms(self.family.draw_natural(self.posterior, rng, size))

    def _weighted_terms(self, natural: Array) -> Array:
        if self.weights is None:
            return natural
        return natural * np.tile(self.weights, natural.shape[-1] // len(self.weights))

    def _by_feature(self, values: Array) -> Array:
        """Weighted values with a feature axis, of length one in a family that has none."""
        return weighted(values if values.ndim == 3 else values[..., None], self.weights)

    def log_evidence(self) -> Array:
        """Return the log evidence of each label and feature; (label,) for a family without a feature axis."""
        return conjugacy.log_evidence(self.family, self.prior, self.statistics)

    def estimate(self, kind: str) -> Parameters:
        """Return point estimates by parameter: "mean" and "mode" of the posterior, or "mle"."""
        if kind == "mle":
            return self.family.maximum_likelihood(self.statistics)
        return self.posterior.mean() if kind == "mean" else self.posterior.mode()


@dataclass(frozen=True)
class Posterior:
    """All that is known of the parameters: the label model, and a part for each block that is informative."""

    classes: tuple[Hashable, ...]
    labels: LabelModel
    parts: tuple[Part, ...]

    @cached_property
    def features(self) -> tuple[Any, ...]:
        """Names along the feature axis: the columns' own; a family of whole rows is one feature, called "term"."""
        taken = {name for part in self.parts if not part.family.whole_row for name in part.features}
        free = (name for n in count() if (name := "term" + "_" * n) not in taken)
        names = ([next(free)] if part.family.whole_row else part.features for part in self.parts)
        return tuple(chain.from_iterable(names))

    @property
    def weights(self) -> Array:
        """How many times each feature counts at prediction: (feature,)."""
        of_parts = (np.ones(part.n_features) if part.weights is None else part.weights for part in self.parts)
        return np.concatenate([np.zeros(0), *of_parts])

    def with_weights(self, weights: Array) -> Self:
        """Return the posterior with other feature weights, (feature,)."""
        ends = np.cumsum([part.n_features for part in self.parts], dtype=int)
        pieces = np.split(np.asarray(weights, dtype=float), ends)[:-1]
        return replace(self, parts=tuple(replace(p, weights=w) for p, w in zip(self.parts, pieces, strict=True)))

    @property
    def is_proper(self) -> bool:
        """Whether draws exist; not so under a concentration of 0 with a value that a label has not met."""
        return self.labels.is_proper and all(part.posterior.is_proper for part in self.parts)

    @property
    def has_proper_prior(self) -> bool:
        """Whether no concentration is 0, so that whatever rows are left out, the posterior stays proper."""
        prior = self.labels.prior
        return (prior is None or prior.is_proper) and all(part.prior.is_proper for part in self.parts)

    def log_joint(self, encoded: Sequence[Encoded], n_rows: int) -> Array:
        """Return log p(y given the training data) + Σ_j w_j log p(x_j given y and it): (row, label).

        Without weights that is the exact log predictive of row and label together.
        """
        result = np.tile(self.labels.log_prob(), (n_rows, 1))
        for part, arrays in zip(self.parts, encoded, strict=True):
            result += part.score(arrays)
        return result

    def log_joint_left_out(self, encoded: Sequence[Encoded], y: Array, weight: Array) -> Array:
        """Return ``log_joint`` of the training rows, each as if it had not been among them: (row, label).

        A row leaves with its whole weight, and only the statistics of its own label change.
        """
        result = self.labels.log_prob_left_out(y, weight)
        for part, arrays in zip(self.parts, encoded, strict=True):
            step = max(1, BLOCK_CELLS // (len(self.classes) * part.n_features))
            for start in range(0, len(y), step):
                rows = slice(start, start + step)
                result[rows] += part.leave_one_out(arrays.take(rows), y[rows], weight[rows]).sum(-1)
        return result

    def contributions(self, encoded: Sequence[Encoded]) -> Array:
        """Return the weighted exact log predictive of each feature, named by ``features``: (row, label, feature)."""
        return np.concatenate([p.contributions(arrays) for p, arrays in zip(self.parts, encoded, strict=True)], axis=2)

    def log_joint_plug_in(self, encoded: Sequence[Encoded], n_rows: int, kind: str) -> Array:
        """Return log p(y given θ̂) + Σ_j w_j log p(x_j given y, θ̂) for a point estimate: (row, label)."""
        with np.errstate(divide="ignore"):  # a label without rows has maximum-likelihood probability 0
            result = np.tile(np.log(self.labels.estimate(kind)), (n_rows, 1))
        for part, arrays in zip(self.parts, encoded, strict=True):
            result += part.log_likelihood(part.estimate(kind), arrays)
        return result

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> tuple[Array, list[Parameters]]:
        """Return exact draws of the label probabilities, (*size, label), and of the parameters of every part."""
        return self.labels.draw(rng, size)["prob"], [part.posterior.draw(rng, size) for part in self.parts]

    def log_evidence(self) -> float:
        """Return log p(X, y) of the training rows under the priors, in nats."""
        return self.labels.log_evidence() + float(sum(part.log_evidence().sum() for part in self.parts))


def posterior_of(summary: Summary, concentration: object, label_concentration: object, label_prob: object) -> Posterior:
    """Return the posterior that a summary of rows and the priors give."""
    parts = (
        _part_of(block, statistics, concentration)
        for block, statistics in zip(summary.blocks, summary.statistics, strict=True)
        if block.family.is_informative(statistics).any()
    )
    labels = label_model(summary.label_counts, summary.classes, label_concentration, label_prob)
    return Posterior(summary.classes, labels, tuple(parts))


def _part_of(block: Block, statistics: Statistics, concentration: object) -> Part:
    """Return the part of a block, its prior resolved and set in the posterior's shape."""
    family = block.family
    is_informative = family.is_informative(statistics)
    if not is_informative.all():
        statistics = statistics.map(lambda array: array[:, is_informative])
    prior = family.resolve_prior(concentration, statistics, block.names)
    return Part(block, statistics, conjugacy.full_prior(family, prior, statistics), is_informative)
