"""The laws of both routes are one: PyMC's joint density is the closed-form posterior times a constant, at any θ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from bayesnb.blocks import Encoded
from bayesnb.equivalence.checks import Check, Claim
from bayesnb.families.base import Array
from bayesnb.generative import rows_model, statistics_model
from bayesnb.posterior import Posterior
from bayesnb.priors import Beta, Dirichlet, Gamma
from bayesnb.tree import layout_of

N_POINTS = 5
TOLERANCE = 1e-9  # of the size of the log densities

LEFT = "PyMC's log density of {} and θ, less the closed-form log density of θ given them,"
ON_STATISTICS = Claim(
    "PyMC on statistics = posterior × constant", LEFT.format("statistics"), "the same number at every θ", "nats"
)
ON_ROWS = Claim("PyMC on rows = posterior × evidence", LEFT.format("rows"), "the log evidence at every θ", "nats")


def identity_checks(
    posterior: Posterior, encoded: Sequence[Encoded], codes: Array, rng: np.random.Generator
) -> Iterator[Check]:
    """Yield the checks of the two densities against each other, at a few θ drawn from the posterior."""
    models = {
        ON_STATISTICS: (statistics_model(posterior), None),
        ON_ROWS: (rows_model(posterior, encoded, codes, np.arange(len(codes))), posterior.log_evidence()),
    }
    points = [_point(posterior, rng) for _ in range(N_POINTS)]
    for claim, (model, constant) in models.items():
        joint = _log_joint(model)
        densities = np.array([joint(point) for point in points])
        constants = densities - [log_density(posterior, point) for point in points]
        gap = np.abs(constants - (constants[0] if constant is None else constant)).max()
        note = f"It is {constants[0]:.6g} at {N_POINTS} θ whose own densities spread over {np.ptp(densities):.3g} nats."
        yield Check(claim, "all parameters", float(gap), TOLERANCE * max(1.0, np.abs(densities).max()), note=note)


def _log_joint(model: Any) -> Any:
    """PyMC's log density as a function of the parameters by name, not of their transforms."""
    from pymc.model.transform.conditioning import remove_value_transforms

    plain = remove_value_transforms(model)
    compiled = plain.compile_logp(mode="FAST_COMPILE")
    names = [variable.name for variable in plain.value_vars]
    return lambda point: float(compiled({name: point[name] for name in names}))


def _point(posterior: Posterior, rng: np.random.Generator) -> dict[str, Array]:
    """One draw of all parameters by name; a Gaussian has a variance in place of the standard deviation."""
    drawn = layout_of(posterior).dataset(*posterior.draw(rng, ()))
    point = {str(name): values.to_numpy() for name, values in drawn.data_vars.items()}
    return point | {f"{name[:-3]}_variance": sd**2 for name, sd in point.items() if name.endswith("_sd")}


def log_density(posterior: Posterior, point: Mapping[str, Array]) -> float:
    """Return the log density of the closed-form posterior, by SciPy's distributions."""
    labels, total = posterior.labels.posterior, 0.0
    if labels is not None:
        total += _dirichlet(point["label_prob"], labels.concentration)
    for feature in layout_of(posterior).features:
        p = posterior.parts[feature.part].posterior
        if feature.position is not None:
            p = p.map(lambda a, at=feature.position: a[..., at])
        theta = {name: point.get(f"{feature.stem}_{name}") for name in ("prob", "rate", "mean", "variance")}
        total += _log_density(p, theta)
    return float(total)


def _log_density(p: Any, theta: Mapping[str, Any]) -> float:
    if isinstance(p, Dirichlet):
        return sum(_dirichlet(row, a) for row, a in zip(theta["prob"], p.concentration, strict=True))
    if isinstance(p, Beta):
        return stats.beta.logpdf(theta["prob"], p.a, p.b).sum()
    if isinstance(p, Gamma):
        return stats.gamma.logpdf(theta["rate"], p.shape, scale=1 / p.rate).sum()
    of_variance = stats.invgamma.logpdf(theta["variance"], p.shape, scale=p.scale)
    return (
        of_variance + stats.norm.logpdf(theta["mean"], p.location, np.sqrt(theta["variance"] / p.pseudo_count))
    ).sum()


def _dirichlet(prob: Array, concentration: Array) -> float:
    return stats.dirichlet.logpdf(prob, concentration)
