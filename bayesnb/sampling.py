"""Posterior draws by NUTS from a compact form of the generative model: few nodes, however many features.

The plain model (``generative``) has nodes for every feature and compiles for minutes where there are hundreds. Here
every kind of parameter is one vector, and so written that a posteriori its entries are independent of each other,
which is what NUTS does best:

* Probabilities are independent Gamma(α, 1) weights, normalised by segment, which makes them Dirichlet(α). Their counts
  are taken as independent Poisson(N · weight), N the size of the segment: given its sum, a segment's counts are
  Multinomial with the normalised weights; and the sum speaks only of the sum of the weights, which is independent of
  the probabilities and not kept. (The multinomial–Poisson transformation; Baker 1994.)
* Rates of Poisson features are Gamma as they are.
* A Gaussian feature is its precision, and its mean in units of its own posterior standard deviation.

Names are given afterwards, by the same ``Layout`` as to the exact draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import xarray as xr

from bayesnb.diagnostics import warn_of_convergence
from bayesnb.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson
from bayesnb.families.base import Array
from bayesnb.generative import declare_feature, with_variables_of
from bayesnb.nuts import nutpie_draws
from bayesnb.posterior import Part, Posterior, check_proper_prior
from bayesnb.priors import Dirichlet, Parameters
from bayesnb.tree import layout_of

COMPACT = ("log_weight", "rate", "precision", "standardised_mean")  # names in the compact model
LABEL = -1  # the place of the label probabilities; those of the parts are counted from 0

Placed = Iterator[tuple[int, Parameters]]


def sample(posterior: Posterior, *, nuts_sampler: str, **options: Any) -> xr.DataTree:
    """Return NUTS draws of the posterior, laid out as the exact ones, and the sampler's statistics.

    ``options`` are those of ``nutpie_draws``; with another sampler than nutpie, of ``pymc.sample``.
    """
    import pymc as pm

    batches = batches_of(posterior)
    if not batches:
        raise ValueError("There is nothing to sample: the label probabilities are known, and no feature varies.")
    model = compact_model(posterior, batches)
    names = [variable.name for variable in model.unobserved_RVs if variable.name != "weight"]
    if nuts_sampler == "nutpie":
        tree = nutpie_draws(model, names, **options)
    else:
        known = {"var_names": names, "compute_convergence_checks": False}
        tree = pm.sample(model=model, nuts_sampler=nuts_sampler, **known, **options)
    sampled = tree["posterior"].dataset
    draws = layout_of(posterior).dataset(*restored(posterior, batches, sampled), ("chain", "draw"))
    draws = with_variables_of(sampled.drop_vars(COMPACT, errors="ignore"), draws)
    result = xr.DataTree.from_dict(
        {"posterior": draws.assign_attrs(sampled.attrs), "sample_stats": tree["sample_stats"].dataset}
    )
    warn_of_convergence(result)
    return result


class Batch(Protocol):
    """Parameters of one kind in one vector."""

    def declare(self) -> None:
        """Declare prior and likelihood in the PyMC model on the stack."""

    def restore(self, sampled: xr.Dataset) -> Placed:
        """Yield the parameters of each part by its place, sample axes in front."""


def batches_of(posterior: Posterior) -> list[Batch]:
    """Return the parameters of a model by kind.

    A family that has no batch here, and a prior without a closed form, keep the nodes of the plain model.

    Raises
    ------
    ValueError
        If a prior is improper.
    """
    check_proper_prior(posterior)
    of_kind: dict[Any, list[tuple[int, Part]]] = {kind: [] for kind in (Weights, Rates, Gaussians, AsDeclared)}
    for place, part in enumerate(posterior.parts):
        kind = BATCH.get(type(part.family), AsDeclared) if part.is_conjugate else AsDeclared
        of_kind[kind].append((place, part))
    labels = posterior.labels
    segments = [] if labels.prior is None else [Segment(LABEL, labels.prior.concentration, labels.counts)]
    segments += [_segment(place, part.prior, part.statistics) for place, part in of_kind[Weights]]
    batches: list[Batch] = [Weights(tuple(segments))] if segments else []
    batches += [kind(parts) for kind in (Rates, Gaussians) if (parts := of_kind[kind])]
    return batches + [AsDeclared(posterior, place) for place, _ in of_kind[AsDeclared]]


def compact_model(posterior: Posterior, batches: Sequence[Batch]) -> Any:
    """Return the pymc.Model of all batches."""
    import pymc as pm

    with pm.Model(coords=layout_of(posterior).coords) as model:
        for batch in batches:
            batch.declare()
    return model


def restored(posterior: Posterior, batches: Sequence[Batch], sampled: xr.Dataset) -> tuple[Array, list[Parameters]]:
    """Return the label probabilities and the parameters of every part, as ``Posterior.draw`` does."""
    found = {place: parameters for batch in batches for place, parameters in batch.restore(sampled)}
    known, size = posterior.labels.known, (sampled.sizes["chain"], sampled.sizes["draw"])
    label_prob = found[LABEL]["prob"] if known is None else np.broadcast_to(known, (*size, len(known)))
    return label_prob, [found[place] for place in range(len(posterior.parts))]


@dataclass(frozen=True)
class Segment:
    """Concentrations and counts of one part's probabilities: (…, level)."""

    place: int
    concentration: Array
    counts: Array
    is_binary: bool = False  # levels are one and zero, and only the probability of a one is wanted


def _segment(place: int, prior: Any, statistics: Any) -> Segment:
    if isinstance(prior, Dirichlet):
        return Segment(place, prior.concentration, statistics.counts)
    ones, zeros = statistics.ones, statistics.zeros
    return Segment(place, np.stack([prior.a, prior.b], -1), np.stack([ones, zeros], -1), is_binary=True)


@dataclass(frozen=True)
class Weights:
    """All probabilities, as weights that are normalised where they are restored."""

    segments: tuple[Segment, ...]

    def declare(self) -> None:
        """Declare the weights and the likelihood of the counts."""
        import pymc as pm

        concentration = np.concatenate([s.concentration.ravel() for s in self.segments])
        counts = np.concatenate([s.counts.ravel() for s in self.segments])
        sizes = [np.broadcast_to(s.counts.sum(-1, keepdims=True), s.counts.shape).ravel() for s in self.segments]
        exposure = np.maximum(np.concatenate(sizes), 1)  # of an empty segment any will do
        weight = pm.Gamma("weight", concentration, 1.0)
        log_weight = pm.Deterministic("log_weight", pm.math.log(weight))
        pm.Potential("counts", (counts * log_weight - exposure * weight).sum())

    def restore(self, sampled: xr.Dataset) -> Placed:
        """Yield the normalised weights; from logarithms, so that a concentration of 0.001 does not underflow."""
        log_weight = sampled["log_weight"].to_numpy()
        ends = np.cumsum([s.counts.size for s in self.segments])[:-1]
        for segment, flat in zip(self.segments, np.split(log_weight, ends, axis=-1), strict=True):
            values = flat.reshape(*flat.shape[:-1], *segment.counts.shape)
            prob = np.exp(values - values.max(-1, keepdims=True))
            prob /= prob.sum(-1, keepdims=True)
            yield segment.place, {"prob": prob[..., 0] if segment.is_binary else prob}


class SideBySide:
    """Parts of one family, their features side by side: (label, feature)."""

    def __init__(self, parts: Sequence[tuple[int, Part]]) -> None:
        self.parts = parts

    def joined(self, of: str, name: str) -> Array:
        """Return one array of every part's prior, posterior or statistics, side by side."""
        return np.concatenate([getattr(getattr(part, of), name) for _, part in self.parts], axis=1)

    def divided(self, parameters: Parameters) -> Placed:
        """Yield the parameters of each part from those of all."""
        ends = np.cumsum([len(part.features) for _, part in self.parts])[:-1]
        by_part = {name: np.split(values, ends, axis=-1) for name, values in parameters.items()}
        for number, (place, _) in enumerate(self.parts):
            yield place, {name: values[number] for name, values in by_part.items()}


class Rates(SideBySide):
    """All rates of Poisson features."""

    def declare(self) -> None:
        """Declare the rates and the likelihood of the totals."""
        import pymc as pm

        rate = pm.Gamma("rate", self.joined("prior", "shape"), self.joined("prior", "rate"))
        total, count = self.joined("statistics", "total"), self.joined("statistics", "count")
        pm.Potential("totals", (total * pm.math.log(rate) - count * rate).sum())

    def restore(self, sampled: xr.Dataset) -> Placed:
        """Yield the rates."""
        yield from self.divided({"rate": sampled["rate"].to_numpy()})


class Gaussians(SideBySide):
    """All Gaussian features, as a precision τ and (μ − m) √(κ τ), with m and κ of the closed-form posterior.

    Any m and κ give the same posterior of μ and τ; these make the two independent, whatever the number of rows.
    """

    def declare(self) -> None:
        """Declare precision, standardised mean and the likelihood of the rows' sums."""
        import pymc as pm

        center, worth = self.joined("posterior", "location"), self.joined("posterior", "pseudo_count")
        count = self.joined("statistics", "count")
        precision = pm.Gamma("precision", self.joined("prior", "shape"), self.joined("prior", "scale"))
        root = pm.math.sqrt(worth * precision)
        standardised = pm.Normal(
            "standardised_mean",
            (self.joined("prior", "location") - center) * root,
            np.sqrt(worth / self.joined("prior", "pseudo_count")),
        )
        gap = self.joined("statistics", "mean") - center - standardised / root
        squares = self.joined("statistics", "squares_about_mean") + count * gap**2
        pm.Potential("sums", (count * pm.math.log(precision) - precision * squares).sum() / 2)

    def restore(self, sampled: xr.Dataset) -> Placed:
        """Yield mean and standard deviation."""
        precision, standardised = sampled["precision"].to_numpy(), sampled["standardised_mean"].to_numpy()
        center, worth = self.joined("posterior", "location"), self.joined("posterior", "pseudo_count")
        sd = 1 / np.sqrt(precision)
        yield from self.divided({"mean": center + standardised * sd / np.sqrt(worth), "sd": sd})


class AsDeclared:
    """The features of one part, each with its own nodes, whatever their family and prior."""

    def __init__(self, posterior: Posterior, place: int) -> None:
        self.posterior, self.place = posterior, place
        self.layout = layout_of(posterior)

    def declare(self) -> None:
        """Declare the prior and observe the statistics of every feature, as in the plain model."""
        for feature in self.layout.features:
            if feature.part == self.place:
                declare_feature(self.posterior, feature)

    def restore(self, sampled: xr.Dataset) -> Placed:
        """Yield the parameters under their own names."""
        yield self.place, self.layout.parameters_of(self.place, sampled)


BATCH: dict[type, Any] = {
    Bernoulli: Weights,
    Categorical: Weights,
    Multinomial: Weights,
    Poisson: Rates,
    Gaussian: Gaussians,
}
