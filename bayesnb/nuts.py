"""NUTS by nutpie on a PyMC model, with little to compile where PyTensor finds its cache.

``nutpie.compile_pymc_model`` surrounds the density by numba code that no cache keeps: seconds in every process. Here
PyTensor's function of all parameters in one vector, which its cache keeps, is surrounded by a plain loop. nutpie stores
that vector, and the variables of the model are computed from its draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr

from bayesnb.blocks import shown
from bayesnb.families.base import Array

NO_DENSITY = 1  # nutpie steps back from where this is returned


def nutpie_draws(
    model: Any,
    names: Sequence[str],
    *,
    draws: int,
    tune: int,
    chains: int,
    random_seed: Any,
    progressbar: bool,
    **settings: Any,
) -> xr.DataTree:
    """Return draws of the named variables of a pymc.Model, and the sampler's statistics.

    Further ``settings`` are those of ``nutpie.sample``.

    Raises
    ------
    ValueError
        If a parameter is discrete: NUTS follows the gradient.
    """
    import nutpie
    from pymc.pytensorf import compile as function_of
    from pymc.pytensorf import gradient, join_nonshared_inputs, rewrite_pregrad
    from pytensor import tensor as pt
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.traversal import graph_inputs

    if discrete := [variable.name for variable in model.discrete_value_vars]:
        raise ValueError(f"NUTS follows the gradient, and there is none for discrete parameters: {shown(discrete)}.")
    seed = int(np.random.default_rng(random_seed).integers(2**63))
    start, inputs = model.initial_point(seed), model.value_vars
    logp = rewrite_pregrad(model.logp())
    outputs = [logp, gradient(logp, inputs), *model.replace_rvs_by_values([model[name] for name in names])]
    constants = {v: pt.constant(v.get_value()) for v in graph_inputs(outputs) if isinstance(v, SharedVariable)}
    [logp, slope, *variables], vector = join_nonshared_inputs(start, outputs, inputs, constants)
    density = function_of([vector], [logp, slope], mode="NUMBA").vm.jit_fn
    tree = nutpie.sample(
        _sampled_by_nutpie(density, np.concatenate([start[value.name].ravel() for value in inputs])),
        draws=draws,
        tune=max(tune, 1),  # nutpie panics at 0
        chains=chains,
        seed=seed,
        save_warmup=False,
        progress_bar=progressbar,
        **settings,
    )
    vectors = tree["posterior"]["vector"].to_numpy()
    variables_at = function_of([vector], variables, mode="NUMBA")
    points = zip(*(variables_at(point) for point in vectors.reshape(-1, vectors.shape[-1])), strict=True)
    posterior = tree["posterior"].dataset[[]]
    for name, values in zip(names, points, strict=True):
        array = np.stack(values).reshape(*vectors.shape[:2], *values[0].shape)
        dims = model.named_vars_to_dims.get(name, [None] * values[0].ndim)
        dims = [dim or f"{name}_dim_{axis}" for axis, dim in enumerate(dims)]
        posterior[name] = (("chain", "draw", *dims), array)
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": tree["sample_stats"].dataset})


def _sampled_by_nutpie(density: Callable[[Array], Any], start: Array) -> Any:
    """Return a compiled density of one vector as a model of nutpie's, whose chains begin about ``start``."""
    import numba
    from numba.types import CPointer, double, int64, uint64, voidptr
    from nutpie.compile_pymc import CompiledPyMCModel

    n, vector = len(start), CPointer(double)

    def evaluate(_dim: Any, x: Any, slope: Any, logp: Any, _data: Any) -> Any:
        try:
            value, derivative = density(numba.carray(x, (n,)))
        except Exception:  # noqa: BLE001 - numba knows no other; a prior of the user's may assert something
            return NO_DENSITY
        logp[0] = value.item()
        finite = np.isfinite(logp[0])
        for i in range(n):
            slope[i] = derivative[i]
            finite &= np.isfinite(slope[i])
        return 0 if finite else NO_DENSITY

    def store(_dim: Any, _size: Any, x: Any, stored: Any, _data: Any) -> Any:
        for i in range(n):
            stored[i] = x[i]
        return 0

    def jittered(seed: int) -> Array:
        return start + np.random.default_rng(seed).uniform(-1, 1, n)

    known = {
        "compiled_logp_func": numba.cfunc(int64(uint64, vector, vector, vector, voidptr))(evaluate),
        "compiled_expand_func": numba.cfunc(int64(uint64, uint64, vector, vector, voidptr))(store),
        "initial_point_func": jittered,
        "user_data": np.zeros(()),
        "n_expanded": n,
        "shape_info": (["vector"], [slice(0, n)], [(n,)]),
        "_n_dim": n,
        "_coords": {},
    }
    return CompiledPyMCModel(**dict.fromkeys(field.name for field in fields(CompiledPyMCModel)) | known)
