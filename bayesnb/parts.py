"""A block that has met its data: its prior and posterior, and what they say of encoded rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayesnb import conjugacy
from bayesnb.blocks import Block, Encoded
from bayesnb.families.base import Array, Statistics
from bayesnb.priors import Parameters, Prior


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


def part_of(block: Block, statistics: Statistics, concentration: object) -> Part:
    """Return the part of a block, its prior resolved and set in the posterior's shape."""
    family = block.family
    is_informative = family.is_informative(statistics)
    if not is_informative.all():
        statistics = statistics.map(lambda array: array[:, is_informative])
    prior = family.resolve_prior(concentration, statistics, block.names)
    return Part(block, statistics, conjugacy.full_prior(family, prior, statistics), is_informative)
