"""The label probabilities: a Dirichlet that learns from the counts, or known ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import polygamma

from bayesnb.blocks import shown
from bayesnb.families.base import Array, log_rising
from bayesnb.priors import Dirichlet, Parameters, concentration_vector


@dataclass(frozen=True)
class LabelModel:
    """Distribution of the label probabilities given the counts of the labels, (label,)."""

    counts: Array
    prior: Dirichlet | None = None
    known: Any = None  # (label,), where the probabilities are not learnt

    @property
    def posterior(self) -> Dirichlet | None:
        """Dirichlet(λ + counts), or None where the probabilities are known."""
        return None if self.prior is None else Dirichlet(self.prior.concentration + self.counts)

    @property
    def n_parameters(self) -> int:
        """Count of the free parameters: K − 1, or none where the probabilities are known."""
        return 0 if self.prior is None else len(self.counts) - 1

    @property
    def is_proper(self) -> bool:
        """Whether draws exist; not so with a label_concentration of 0 and a label without rows."""
        return self.posterior is None or self.posterior.is_proper

    def log_prob(self) -> Array:
        """Return the log predictive probability of each label, (label,)."""
        with np.errstate(divide="ignore"):  # a label without rows has probability 0 under a concentration of 0
            return np.log(self.estimate("mean"))

    def log_prob_left_out(self, y: Array, weight: Array) -> Array:
        """Return the log predictive probabilities without each row's own label in the counts, (row, label)."""
        if self.posterior is None:
            return np.tile(self.log_prob(), (len(y), 1))
        own = (y[:, None] == np.arange(len(self.counts))) * weight[:, None]
        concentration = self.posterior.concentration - own
        return np.log(concentration / concentration.sum(1, keepdims=True))

    def cumulants(self) -> Array:
        """Return four cumulants of each log label probability over the posterior, (4, label).

        The part that all labels have in common, which cancels in the difference of any two, is left out: so the labels
        are independent (docs/mathematics/intervals.md). Known probabilities have a mean only.
        """
        if self.posterior is None:
            return np.stack([np.log(self.known), *np.zeros((3, len(self.known)))])
        return polygamma(np.arange(4)[:, None], self.posterior.concentration)

    def log_evidence(self) -> float:
        """Return the log probability of the labels themselves."""
        if self.prior is None:
            return float(self.counts @ np.log(self.known))
        rising = log_rising(self.prior.concentration, self.counts).sum()
        return float(rising - log_rising(self.prior.concentration.sum(), self.counts.sum()))

    def estimate(self, kind: str) -> Array:
        """Return a point estimate of the label probabilities, (label,): "mean", "mode" or "mle"."""
        if self.posterior is None:
            return self.known
        if kind == "mle":
            return Dirichlet(self.counts).mean()["prob"]
        return (self.posterior.mean() if kind == "mean" else self.posterior.mode())["prob"]

    def declare(self) -> Any:
        """Declare ``label_prob`` in the PyMC model on the stack."""
        import pymc as pm

        if self.prior is None:
            return pm.Deterministic("label_prob", pm.math.constant(self.known), dims="label")
        return self.prior.declare("label", ("label",))["prob"]

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> Parameters:
        """Return draws of the label probabilities, (*size, label)."""
        if self.posterior is None:
            return {"prob": np.broadcast_to(self.known, (*size, len(self.known)))}
        return self.posterior.draw(rng, size)

    def draw_prior(self, rng: np.random.Generator, size: tuple[int, ...]) -> Parameters:
        """Return draws of the label probabilities from the prior, (*size, label)."""
        return replace(self, counts=np.zeros(len(self.counts))).draw(rng, size)


def label_model(counts: Array, classes: tuple[Any, ...], concentration: Any, label_prob: Any) -> LabelModel:
    """Return the label model of a prior, or of known probabilities where they are given.

    Raises
    ------
    ValueError
        If known probabilities don't fit the labels, are not positive, or do not add up to one.
    """
    if label_prob is None:
        return LabelModel(counts, prior=Dirichlet(concentration_vector(concentration, classes, "label_concentration")))
    if isinstance(label_prob, Mapping):
        unknown = [label for label in label_prob if label not in classes]
        if unknown or len(label_prob) != len(classes):
            raise ValueError(f"label_prob must give a probability to each of the labels {shown(classes)}.")
        label_prob = [label_prob[label] for label in classes]
    known = np.asarray(label_prob, dtype=float)
    if known.shape != (len(classes),):
        raise ValueError(f"label_prob must give a probability to each of the labels {shown(classes)}.")
    if not ((known > 0) & (known <= 1)).all() or abs(known.sum() - 1) > 1e-9:
        raise ValueError(
            f"label_prob must hold positive probabilities that add up to 1, not {shown(known.tolist())}, "
            f"which add up to {known.sum():.6g}; weights that do not add up to 1 belong in label_concentration."
        )
    return LabelModel(counts, known=known / known.sum())
