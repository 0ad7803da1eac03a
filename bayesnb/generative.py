"""The generative model as a PyMC model, on sufficient statistics or on rows: what a reader builds on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy import sparse

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array, observe_counts
from bayesnb.posterior import Posterior, check_proper_prior
from bayesnb.priors import Parameters
from bayesnb.tree import Variable, layout_of

UNLABELLED = -1  # the code of a row whose label is not known


def statistics_model(posterior: Posterior) -> Any:
    """Return the PyMC model of the parameters given the sufficient statistics.

    Its size does not depend on the number of rows. Every feature has its own prior and its own observed statistics,
    stock distributions both, under the names, dims and coords of every tree; docs/mathematics/statistics.md.

    Returns
    -------
    pymc.Model

    Raises
    ------
    ValueError
        If a prior is improper: PyMC has no distribution for a concentration of 0.
    """
    import pymc as pm

    check_proper_prior(posterior)
    layout = layout_of(posterior)
    with pm.Model(coords=layout.coords) as model:
        observe_counts("label_count", posterior.labels.declare(), posterior.labels.counts, ("label",))
        for feature in layout.features:
            declare_feature(posterior, feature)
    return model


def rows_model(posterior: Posterior, encoded: Sequence[Encoded], codes: Array, rows: Array) -> Any:
    """Return the PyMC model of the parameters given rows, each cell an observed value.

    The prior is that of the posterior; its statistics are not used.

    Parameters
    ----------
    posterior : Posterior
    encoded : sequence of Encoded
        The arrays of every part.
    codes : ndarray, shape (row,)
        Label codes; ``UNLABELLED`` where a label is not known: it is summed out.
    rows : ndarray, shape (row,)
        Names of the rows.

    Returns
    -------
    pymc.Model

    Raises
    ------
    ValueError
        If a prior is improper.
    """
    import pymc as pm

    check_proper_prior(posterior)
    layout = layout_of(posterior)
    labelled = codes != UNLABELLED
    with pm.Model(coords={**layout.coords, "row": rows}) as model:
        label_prob = posterior.labels.declare()
        pm.Categorical("label_value", label_prob, observed=codes[labelled], dims="row" if labelled.all() else None)
        summed = pm.math.log(label_prob)[None, :]
        for feature in layout.features:
            parameters = _declare_prior(posterior, feature)
            family, (x, seen) = posterior.parts[feature.part].family, _cells(encoded[feature.part], feature)
            _observe_cells(family, feature.stem, parameters, x, codes, seen & labelled)
            if not labelled.all():
                summed += _log_density(family, parameters, x[~labelled]) * seen[~labelled, None]
        if not labelled.all():
            pm.Potential("unlabelled", pm.math.logsumexp(summed, axis=1).sum())
    return model


def free_prior_model(posterior: Posterior) -> Any:
    """Return the PyMC model of the priors that have no closed form, and of nothing else."""
    import pymc as pm

    layout = layout_of(posterior)
    with pm.Model(coords=layout.coords) as model:
        for feature in layout.features:
            if not posterior.parts[feature.part].is_conjugate:
                _declare_prior(posterior, feature)
    return model


def with_variables_of(sampled: xr.Dataset, draws: xr.Dataset) -> xr.Dataset:
    """Return draws in their layout with what users' priors have declared besides, such as a shared concentration."""
    return draws.assign({name: values.variable for name, values in sampled.data_vars.items() if name not in draws})


def declare_feature(posterior: Posterior, feature: Variable) -> None:
    """Declare the prior of one feature and observe its statistics, in the PyMC model on the stack."""
    part, parameters = posterior.parts[feature.part], _declare_prior(posterior, feature)
    part.family.observe(feature.stem, parameters, _of_feature(part.statistics, feature), feature.dims)


def _declare_prior(posterior: Posterior, feature: Variable) -> Parameters:
    part = posterior.parts[feature.part]
    prior = _of_feature(part.prior, feature) if part.is_conjugate else part.prior
    return prior.declare(feature.stem, feature.dims)


def _of_feature(arrays: Any, feature: Variable) -> Any:
    """The prior or the statistics of one feature, where a part has several."""
    return arrays if feature.position is None else arrays.map(lambda array: array[..., feature.position])


def _cells(encoded: Encoded, feature: Variable) -> tuple[Array, Array]:
    """The values of one feature, (row,) or (row, term), and which of them are observed, (row,)."""
    x = encoded.x.toarray() if sparse.issparse(encoded.x) else encoded.x
    seen = np.ones(x.shape, dtype=bool) if encoded.observed is None else encoded.observed
    if feature.position is not None:
        return x[:, feature.position], seen[:, feature.position]
    return x, seen.reshape(len(x), -1).all(1)


def _observe_cells(family: Any, stem: str, parameters: Parameters, x: Array, codes: Array, counted: Array) -> None:
    """Observe the cells that count, each under its own label."""
    import pymc as pm

    own = {name: parameter[codes[counted]] for name, parameter in parameters.items()}
    distribution, arguments = family.row_distribution(own, x[counted])
    dims = None if x.ndim > 1 or not counted.all() else "row"
    getattr(pm, distribution)(f"{stem}_value", observed=x[counted], dims=dims, **arguments)


def _log_density(family: Any, parameters: Parameters, x: Array) -> Any:
    """The log density of cells under every label: (row, label)."""
    import pymc as pm

    distribution, arguments = family.row_distribution({n: p[None] for n, p in parameters.items()}, x[:, None])
    return pm.logp(getattr(pm, distribution).dist(**arguments), x[:, None])
