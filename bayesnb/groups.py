"""The groups of a tree that ArviZ's functions look for beside the posterior, from draws of either route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import Any

import numpy as np
import xarray as xr
from scipy import sparse

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.generative import free_prior_model, with_variables_of
from bayesnb.posterior import Posterior
from bayesnb.simulation import Draws, simulate
from bayesnb.tree import Variable, layout_of

SAMPLE_DIMS = ("chain", "draw")


@dataclass(frozen=True)
class Rows:
    """Rows as the model reads them: the arrays of every part, label codes and names, (row,)."""

    encoded: Sequence[Encoded]
    codes: Array
    names: Array


def groups_of_parameters(posterior: Posterior, sampled: xr.Dataset, rng: np.random.Generator) -> dict[str, xr.Dataset]:
    """Return the groups ``prior``, ``log_prior`` and ``constant_data`` that go with draws of the posterior."""
    return {
        "prior": prior(posterior, rng, (sampled.sizes["chain"], sampled.sizes["draw"])),
        "log_prior": log_prior(posterior, sampled),
        "constant_data": constant_data(posterior),
    }


def prior(posterior: Posterior, rng: np.random.Generator, size: tuple[int, int]) -> xr.Dataset:
    """Return draws of the prior: (chain, draw, …). Exact ones, and by PyMC where a prior has no closed form."""
    layout = layout_of(posterior)
    if posterior.is_conjugate:
        return layout.dataset(*posterior.draw_prior(rng, size), SAMPLE_DIMS)
    free = _draws_of_free_priors(posterior, rng, size)
    label_prob = posterior.labels.draw_prior(rng, size)["prob"]
    parameters = [
        part.prior.draw(rng, size) if part.is_conjugate else layout.parameters_of(place, free)
        for place, part in enumerate(posterior.parts)
    ]
    return with_variables_of(free, layout.dataset(label_prob, parameters, SAMPLE_DIMS))


def _draws_of_free_priors(posterior: Posterior, rng: np.random.Generator, size: tuple[int, int]) -> xr.Dataset:
    import pymc as pm

    drawn = pm.sample_prior_predictive(prod(size), model=free_prior_model(posterior), random_seed=rng)["prior"].dataset
    return xr.Dataset(
        {
            name: ((*SAMPLE_DIMS, *values.dims[2:]), values.to_numpy().reshape(*size, *values.shape[2:]))
            for name, values in drawn.data_vars.items()
        }
    )


def groups_of_rows(
    posterior: Posterior, rows: Rows, draws: Draws, replicates: int, rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """Return the groups ``log_likelihood``, ``observed_data`` and ``posterior_predictive``."""
    x = [part.x.toarray() if sparse.issparse(part.x) else part.x for part in rows.encoded]
    some = _spread_evenly(draws, replicates)
    codes, simulated = simulate(posterior, some, len(rows.codes), [values.sum(-1).astype(int) for values in x], rng)
    x = [values.astype(like.dtype) for values, like in zip(x, simulated, strict=True)]  # counts are whole numbers
    return {
        "log_likelihood": log_likelihood(posterior, rows, draws),
        "observed_data": _values(posterior, rows, rows.codes.astype(codes.dtype), x, ()),
        "posterior_predictive": _values(posterior, rows, codes, simulated, SAMPLE_DIMS),
    }


def constant_data(posterior: Posterior) -> xr.Dataset:
    """Return statistics and hyperparameters of every feature: ``<feature>_<name>`` and ``<feature>_prior_<name>``."""
    layout = layout_of(posterior)
    data: dict[str, Any] = {"label_counts": (("label",), posterior.labels.counts)}
    if posterior.labels.prior is not None:
        data["label_prior_concentration"] = (("label",), posterior.labels.prior.concentration)
    for feature in layout.features:
        part = posterior.parts[feature.part]
        known = {"": part.statistics} | ({"prior_": part.prior} if part.is_conjugate else {})
        for prefix, arrays in known.items():
            for field in fields(arrays):
                values = _at(feature, getattr(arrays, field.name))
                data[f"{feature.stem}_{prefix}{field.name}"] = (feature.dims[: values.ndim], values)
    return xr.Dataset(data, layout.coords)


def log_prior(posterior: Posterior, sampled: xr.Dataset) -> xr.Dataset:
    """Return the log prior density of the parameters of labels and features at every draw: (chain, draw).

    Of a Gaussian feature, that of mean and variance. Known label probabilities have none. Of a prior without a closed
    form there is one for each of its PyMC variables, by their names.
    """
    label_prob, parameters = layout_of(posterior).arrays(sampled)
    data: dict[str, Any] = {}
    if posterior.labels.prior is not None:
        data["label"] = posterior.labels.prior.log_density({"prob": label_prob})
    for feature in layout_of(posterior).features:
        part = posterior.parts[feature.part]
        if part.is_conjugate:
            data[feature.stem] = _at(feature, part.prior.log_density(parameters[feature.part])).sum(-1)
    if not posterior.is_conjugate:
        data |= _log_free_priors(posterior, sampled)
    return xr.Dataset({name: (SAMPLE_DIMS, values) for name, values in data.items()}, _sample_coords(label_prob))


def _log_free_priors(posterior: Posterior, sampled: xr.Dataset) -> dict[str, Array]:
    from pymc.stats import compute_log_prior

    tree, model = xr.DataTree.from_dict({"posterior": sampled}), free_prior_model(posterior)
    densities = compute_log_prior(tree, model=model, extend_inferencedata=False, progressbar=False)
    return {
        name: values.sum(set(values.dims) - set(SAMPLE_DIMS)).to_numpy() for name, values in densities.data_vars.items()
    }


def log_likelihood(posterior: Posterior, rows: Rows, draws: Draws) -> xr.Dataset:
    """Return log p(label, row given θ) at every draw, without feature weights: ``rows`` (chain, draw, row)."""
    unweighted = posterior.with_weights(np.ones(len(posterior.features)))
    label_prob, parameters = draws
    own = np.empty((*label_prob.shape[:2], len(rows.codes)))
    for at in np.ndindex(label_prob.shape[:2]):
        of_draw = [{name: values[at] for name, values in of_part.items()} for of_part in parameters]
        log_joint = unweighted.log_joint_given(label_prob[at], of_draw, rows.encoded, len(rows.codes))
        own[at] = log_joint[np.arange(len(rows.codes)), rows.codes]
    return xr.Dataset({"rows": ((*SAMPLE_DIMS, "row"), own)}, {**_sample_coords(label_prob), "row": rows.names})


def _spread_evenly(draws: Draws, number: int) -> Draws:
    """Some draws of every chain."""
    label_prob, parameters = draws
    chains, total = label_prob.shape[:2]
    chosen = np.linspace(0, total - 1, min(total, -(-number // chains))).astype(int)
    return label_prob[:, chosen], [{name: a[:, chosen] for name, a in p.items()} for p in parameters]


def _values(
    posterior: Posterior, rows: Rows, codes: Array, values: Sequence[Array], sample_dims: tuple[str, ...]
) -> xr.Dataset:
    """Labels and observed cells, or their replicates, labels and levels by their position."""
    data: dict[str, Any] = {"label_value": ((*sample_dims, "row"), codes)}
    coords: dict[str, Any] = {"row": rows.names} | (_sample_coords(codes) if sample_dims else {})
    for feature in layout_of(posterior).features:
        cells, observed = values[feature.part], rows.encoded[feature.part].observed
        whole_row = posterior.parts[feature.part].family.whole_row
        cells = cells if whole_row else _at(feature, cells)
        seen = np.ones(len(rows.codes), dtype=bool) if observed is None else _at(feature, observed)
        dim = "row" if seen.all() else f"{feature.stem}_row"
        dims = (*sample_dims, dim, *(feature.dims[1:] if whole_row else ()))
        cells = np.compress(seen, cells, axis=len(sample_dims))
        data[f"{feature.stem}_value"] = (dims, cells.astype(int) if cells.dtype == bool else cells)
        coords[dim] = rows.names[seen]
    return xr.Dataset(data, coords)


def _at(feature: Variable, values: Array) -> Array:
    return values if feature.position is None else values[..., feature.position]


def _sample_coords(like: Array) -> dict[str, Array]:
    return {dim: np.arange(size) for dim, size in zip(SAMPLE_DIMS, like.shape, strict=False)}
