"""The posterior of a fitted model: of the label probabilities and of every block, and what it says of encoded rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from math import prod
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesnb import conjugacy
from bayesnb.blocks import Block, Encoded, shown
from bayesnb.families import Bernoulli, Categorical
from bayesnb.families.base import BLOCK_CELLS, Array, CumulantScorer, Statistics, weighted
from bayesnb.free_priors import FreePrior
from bayesnb.labels import LabelModel, label_model
from bayesnb.priors import Dirichlet, Parameters
from bayesnb.summary import Summary


@dataclass(frozen=True)
class Part:
    """Prior and posterior of the columns of a block that carry information about the label.

    A column without variance (or without any value) has no scale to set a default prior by: it is left out here, but
    its statistics stay in the summary, as later rows may give it one.
    """

    block: Block
    statistics: Statistics
    prior: Any
    is_informative: Array  # (column of the block,)
    weights: Array | None = None  # (feature,), how many times each feature counts at prediction; None: all once

    @property
    def family(self) -> Any:
        """The likelihood."""
        return self.block.family

    @cached_property
    def posterior(self) -> Any:
        """The posterior, its arrays (label, feature), (label, level) or (label, term)."""
        self._check_conjugate()
        return self.family.update(self.prior, self.statistics)

    @property
    def is_conjugate(self) -> bool:
        """Whether the prior has a closed form."""
        return not isinstance(self.prior, FreePrior)

    def _check_conjugate(self) -> None:
        if not self.is_conjugate:
            raise ValueError(f"{shown(self.features)}: {self.prior.refusal}")

    @cached_property
    def reference(self) -> Any:
        """A posterior that ``design`` may take origin and unit from: under a free prior, that of the default one."""
        if self.is_conjugate:
            return self.posterior
        family: Any = replace(self.family, prior=None, **dict.fromkeys(self.family.distributions))
        return family.update(family.resolve_prior(1.0, self.statistics, self.features), self.statistics)

    @property
    def features(self) -> tuple[Any, ...]:
        """Names of the columns that are read; a family of whole rows counts as one feature, named by its columns."""
        return tuple(name for name, keep in zip(self.block.names, self.is_informative, strict=True) if keep)

    @property
    def n_features(self) -> int:
        """Length of the feature axis; a family of whole rows is one feature."""
        return 1 if self.family.whole_row else len(self.features)

    def informative(self, statistics: Statistics) -> Statistics:
        """Return the statistics of the informative columns."""
        return statistics if self.is_informative.all() else statistics.map(lambda array: array[:, self.is_informative])

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

    def cumulant_scorer(self, contrast: Array) -> CumulantScorer:
        """Return a function of blocks (x, observed): ``cumulants`` summed over features, (row, 4, column).

        ``contrast``, (4, label, column), says what multiple of each label's cumulants goes into each column.
        """
        return self.family.cumulant_scorer(self.posterior, contrast, self.weights)

    def log_likelihood(self, parameters: Parameters, encoded: Encoded) -> Array:
        """Return the weighted log p(x given θ), summed over the features: (row, label)."""
        return self.family.score_at(parameters, encoded.x, encoded.observed, self.weights)

    def design(self, encoded: Encoded) -> Any:
        """Return what of x the likelihood depends on, (row, m): times ``natural``, it is the log-likelihood."""
        return self.family.design(self.reference, encoded.x, encoded.observed)

    def natural(self, parameters: Parameters) -> Array:
        """Return weighted natural parameters of given ones: (..., label, m)."""
        return self._weighted_terms(self.family.natural(self.reference, parameters))

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
        self._check_conjugate()
        return conjugacy.log_evidence(self.family, self.prior, self.statistics)

    @property
    def n_parameters(self) -> int:
        """Count of the free parameters of all labels: of S probabilities S − 1."""
        sizes = [values.shape for values in self.posterior.mean().values()]
        if isinstance(self.prior, Dirichlet):
            return sizes[0][0] * (sizes[0][1] - 1)
        return sum(prod(size) for size in sizes)

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
    def n_parameters(self) -> int:
        """Count of the free parameters: those of the labels and of every feature given every label."""
        return self.labels.n_parameters + sum(part.n_parameters for part in self.parts)

    @property
    def n_parameters_of_all_cells(self) -> int:
        """Count of the free parameters without the naive assumption: a probability for each label and joint value.

        Raises
        ------
        ValueError
            If a feature has no finite number of values.
        """
        continuous = [part for part in self.parts if not isinstance(part.family, Categorical | Bernoulli)]
        if continuous:
            raise ValueError(
                f"Without the naive assumption, parameters can be counted for Categorical and Bernoulli features only; "
                f"{continuous[0].features[0]!r} is {continuous[0].family.name}."
            )
        n_values = (
            2 ** len(part.features) if isinstance(part.family, Bernoulli) else len(part.family.levels)
            for part in self.parts
        )
        n_labels = len(self.classes)
        return self.labels.n_parameters + n_labels * (prod(n_values) - 1)

    @property
    def is_conjugate(self) -> bool:
        """Whether every prior has a closed form."""
        return all(part.is_conjugate for part in self.parts)

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
        scores = (part.score(arrays) for part, arrays in zip(self.parts, encoded, strict=True))
        return _joint(self.labels.log_prob(), scores, n_rows)

    def log_joint_left_out(self, encoded: Sequence[Encoded], y: Array, weight: Array) -> Array:
        """Return ``log_joint`` of the training rows, each as if it had not been among them: (row, label).

        A row leaves with its whole weight, and only the statistics of its own label change.
        """
        result = self.labels.log_prob_left_out(y, weight)
        for part, arrays in zip(self.parts, encoded, strict=True):
            if isinstance(part.family, Bernoulli) and sparse.issparse(arrays.x):
                result += part.family.score_left_out(part.posterior, arrays.x, y, weight, part.weights)
                continue
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
        estimates = [part.estimate(kind) for part in self.parts]
        return self.log_joint_given(self.labels.estimate(kind), estimates, encoded, n_rows)

    def log_joint_given(
        self, label_prob: Array, parameters: Sequence[Parameters], encoded: Sequence[Encoded], n_rows: int
    ) -> Array:
        """Return log p(y given θ) + Σ_j w_j log p(x_j given y, θ): (row, label)."""
        with np.errstate(divide="ignore"):  # a label without rows has maximum-likelihood probability 0
            log_prob = np.log(label_prob)
        parts = zip(self.parts, parameters, encoded, strict=True)
        return _joint(log_prob, (part.log_likelihood(p, arrays) for part, p, arrays in parts), n_rows)

    def draw_prior(self, rng: np.random.Generator, size: tuple[int, ...]) -> tuple[Array, list[Parameters]]:
        """Return exact draws of the prior, as ``draw`` of the posterior."""
        return self.labels.draw_prior(rng, size)["prob"], [part.prior.draw(rng, size) for part in self.parts]

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


def check_proper_prior(posterior: Posterior) -> None:
    """Raise if a prior integrates to infinity, as under a concentration of 0."""
    if not posterior.has_proper_prior:
        raise ValueError(
            "The prior is improper: a concentration of 0 is no distribution to draw from or to give to PyMC. Use a "
            "concentration above 0."
        )


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
    if family.free_prior is not None:
        return Part(block, statistics, family.free_prior, is_informative)
    prior = family.resolve_prior(concentration, statistics, block.names)
    return Part(block, statistics, conjugacy.full_prior(family, prior, statistics), is_informative)
