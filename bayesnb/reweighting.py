"""Label probabilities from draws of the parameters: the exact predictive by reweighting, and its Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np
import xarray as xr

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.score_draws import Draws, score_blocks
from bayesnb.tree import coordinate


def predictive(posterior: Posterior, encoded: Sequence[Encoded], row: Array, draws: Draws) -> xr.Dataset:
    """Return p(label given row and training data) from draws of the parameters: ``prob`` and ``mcse``, (row, label).

    Σ_s p(y, x given θ_s) / Σ_s Σ_y p(y, x given θ_s): the row itself is evidence about θ, so that draws count by
    p(x given θ); docs/mathematics/label-probabilities.md. ``mcse`` is the standard error of the ratio, to first order,
    from the means of batches of √n successive draws, which hold most of a chain's memory (Flegal & Jones 2010). It
    can't be trusted where few draws carry all the weight: their number is ``ess``, (row,), Kish's (Σ w)² / Σ w².

    Parameters
    ----------
    posterior : Posterior
    encoded : sequence of Encoded
    row : ndarray, shape (row,)
        Names of the rows.
    draws : Draws
    """
    prob, mcse = np.empty((2, len(row), len(posterior.classes)))
    ess = np.empty(len(row))
    for rows, scores in score_blocks(posterior, encoded, len(row), draws, complete=True):
        prob[rows], mcse[rows], ess[rows] = _of_scores(scores, draws.n_chains)
    return xr.Dataset(
        {"prob": (("row", "label"), prob), "mcse": (("row", "label"), mcse), "ess": (("row",), ess)},
        {"row": row, "label": coordinate(posterior.classes)},
    )


def _of_scores(scores: Array, n_chains: int) -> tuple[Array, Array, Array]:
    """Probabilities and standard errors, (row, label), and effective sample sizes, (row,), from (row, label, draw)."""
    joint = np.exp(scores - scores.max((1, 2), keepdims=True))
    weight = joint.sum(1)
    total = weight.mean(1)[:, None]
    prob = joint.mean(2) / total
    residual = (joint - prob[..., None] * weight[:, None]) / total[..., None]
    return prob, _error_of_mean(residual, n_chains), weight.sum(1) ** 2 / (weight**2).sum(1)


def _error_of_mean(values: Array, n_chains: int) -> Array:
    """Standard error of the mean over draws, the last axis, by the means of batches within the chains."""
    by_chain = values.reshape(*values.shape[:-1], n_chains, -1)
    size = isqrt(by_chain.shape[-1])
    n_batches = by_chain.shape[-1] // size
    means = by_chain[..., : n_batches * size].reshape(*values.shape[:-1], n_chains * n_batches, size).mean(-1)
    if means.shape[-1] == 1:  # a single draw
        return np.full(values.shape[:-1], np.nan)
    return means.std(-1, ddof=1) / np.sqrt(n_chains * n_batches)
