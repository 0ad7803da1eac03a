"""Label probabilities from draws of the parameters: the exact predictive by reweighting, and its Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.priors import Parameters
from bayesnb.tree import coordinate

BLOCK_VALUES = 1 << 22  # draws × rows × labels that are held at once


def predictive(
    posterior: Posterior,
    encoded: Sequence[Encoded],
    row: Array,
    label_prob: Array,
    parameters: Sequence[Parameters],
) -> xr.Dataset:
    """Return p(label given row and training data) from draws of the parameters: ``prob`` and ``mcse``, (row, label).

    Σ_s p(y, x given θ_s) / Σ_s Σ_y p(y, x given θ_s): the row itself is evidence about θ, so that draws count by
    p(x given θ); section 4 of the mathematics. ``mcse`` is the standard error of the ratio, to first order, with the
    effective sample size of its residuals. It can't be trusted where few draws carry all the weight: their number is
    ``ess``, (row,), Kish's (Σ w)² / Σ w².

    Parameters
    ----------
    posterior : Posterior
    encoded : sequence of Encoded
    row : ndarray, shape (row,)
        Names of the rows.
    label_prob, parameters
        Draws, with the axes (chain, draw, …).
    """
    step = max(1, BLOCK_VALUES // label_prob.size)
    blocks = [
        _block(
            posterior,
            [arrays.take(slice(i, i + step)) for arrays in encoded],
            len(row[i : i + step]),
            label_prob,
            parameters,
        )
        for i in range(0, len(row), step)
    ]
    prob, mcse, ess = (np.concatenate(values) for values in zip(*blocks, strict=True))
    return xr.Dataset(
        {"prob": (("row", "label"), prob), "mcse": (("row", "label"), mcse), "ess": (("row",), ess)},
        {"row": row, "label": coordinate(posterior.classes)},
    )


def _block(
    posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, label_prob: Array, parameters: Sequence[Parameters]
) -> tuple[Array, Array, Array]:
    import arviz as az

    joint = posterior.log_joint_given(label_prob, parameters, encoded, n_rows)  # (chain, draw, row, label)
    joint = np.exp(joint - joint.max((0, 1, 3), keepdims=True))
    weight = joint.sum(-1)
    total = weight.mean((0, 1))[:, None]
    prob = joint.mean((0, 1)) / total
    residual = xr.DataArray((joint - prob * weight[..., None]) / total, dims=("chain", "draw", "row", "label"))
    mcse = az.mcse(residual.to_dataset(name="residual"), method="mean")["residual"].to_numpy()
    return prob, mcse, weight.sum((0, 1)) ** 2 / (weight**2).sum((0, 1))
