"""The generative model as a PyMC model, on sufficient statistics or on rows: what a reader builds on."""

from __future__ import annotations

from typing import Any

from bayesnb.posterior import Posterior
from bayesnb.tree import Variable, layout_of


def statistics_model(posterior: Posterior) -> Any:
    """Return the PyMC model of the parameters given the sufficient statistics.

    Its size does not depend on the number of rows. Every feature has its own prior and its own observed statistics,
    stock distributions both, under the names, dims and coords of every tree; section 7 of the mathematics.

    Returns
    -------
    pymc.Model

    Raises
    ------
    ValueError
        If a prior is improper: PyMC has no distribution for a concentration of 0.
    """
    import pymc as pm

    check_proper(posterior)
    layout = layout_of(posterior)
    with pm.Model(coords=layout.coords) as model:
        posterior.labels.declare()
        for feature in layout.features:
            part = posterior.parts[feature.part]
            prior, statistics = _of_feature(part.prior, feature), _of_feature(part.statistics, feature)
            parameters = prior.declare(feature.stem, feature.dims)
            part.family.observe(feature.stem, parameters, statistics, feature.dims)
    return model


def _of_feature(arrays: Any, feature: Variable) -> Any:
    """The prior or the statistics of one feature, where a part has several."""
    return arrays if feature.position is None else arrays.map(lambda array: array[..., feature.position])


def check_proper(posterior: Posterior) -> None:
    """Raise if a prior integrates to infinity, as under a concentration of 0."""
    labels = posterior.labels.prior
    if not all(part.prior.is_proper for part in posterior.parts) or not (labels is None or labels.is_proper):
        raise ValueError(
            "A prior is improper: PyMC has no distribution for a concentration of 0. Use a concentration above 0."
        )
