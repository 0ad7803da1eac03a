"""The posterior of a fitted model: of the label probabilities and of every block, and what it says of encoded rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesnb import conjugacy
from bayesnb.blocks import Block, Encoded
from bayesnb.families.base import Array, Statistics
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

    def encoded(self, encoded: Encoded) -> Encoded:
        """Return the arrays of the informative columns."""
        if self.is_informative.all():
            return encoded
        seen = None if encoded.observed is None else encoded.observed[:, self.is_informative]
        return Encoded(encoded.x[:, self.is_informative], seen)

    def score(self, encoded: Encoded) -> Array:
        """Return the exact log predictive, summed over the columns: (row, label)."""
        return self.family.score(self.posterior, encoded.x, encoded.observed)

    def log_likelihood(self, parameters: Parameters, encoded: Encoded) -> Array:
        """Return log p(x given θ), summed over the columns: (row, label)."""
        values = self.family.log_likelihood(parameters, encoded.x, encoded.observed)
        return values if values.ndim == 2 else values.sum(-1)

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

    @property
    def is_proper(self) -> bool:
        """Whether draws exist; not so under a concentration of 0 with a value that a label has not met."""
        return self.labels.is_proper and all(part.posterior.is_proper for part in self.parts)

    def log_joint(self, encoded: Sequence[Encoded], n_rows: int) -> Array:
        """Return log p(y, x given the training data), the exact predictive: (row, label)."""
        scores = (part.score(arrays) for part, arrays in zip(self.parts, encoded, strict=True))
        return _joint(self.labels.log_prob(), scores, n_rows)

    def log_joint_plug_in(self, encoded: Sequence[Encoded], n_rows: int, kind: str) -> Array:
        """Return log p(y, x given θ̂) for a point estimate: (row, label)."""
        with np.errstate(divide="ignore"):  # a label without rows has maximum-likelihood probability 0
            log_prob = np.log(self.labels.estimate(kind))
        parts = zip(self.parts, encoded, strict=True)
        return _joint(log_prob, (part.log_likelihood(part.estimate(kind), arrays) for part, arrays in parts), n_rows)

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> tuple[Array, list[Parameters]]:
        """Return exact draws of the label probabilities, (*size, label), and of the parameters of every part."""
        return self.labels.draw(rng, size)["prob"], [part.posterior.draw(rng, size) for part in self.parts]

    def log_evidence(self) -> float:
        """Return log p(X, y) of the training rows under the priors, in nats."""
        return self.labels.log_evidence() + float(sum(part.log_evidence().sum() for part in self.parts))


def _joint(log_prob: Array, scores: Iterable[Array], n_rows: int) -> Array:
    """Sum of label and feature terms, (row, label); a label of probability 0 is impossible whatever its features."""
    result = np.tile(log_prob, (n_rows, 1))
    for score in scores:
        result += score
    result[:, np.isneginf(log_prob)] = -np.inf
    return result


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
