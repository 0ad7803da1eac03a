"""Exact leave-one-out as ArviZ's own object, so that its comparison of models takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesnb.families.base import Array

if TYPE_CHECKING:
    from arviz import ELPDDataLOO


def elpd(left_out: Array, within: Array, row: Array) -> ELPDDataLOO:
    """Return ArviZ's ELPD object from the log predictive of every row, left out of the training rows and within them.

    ``p``, the effective number of parameters, is by how much the rows are predicted better when they have been seen.
    Nothing is drawn, so that ``n_samples`` is 0 and there are no Pareto shapes to warn of.

    Parameters
    ----------
    left_out, within : ndarray, shape (row,)
        In nats.
    row : ndarray, shape (row,)
        Names of the rows.
    """
    from arviz import ELPDDataLOO

    return ELPDDataLOO(
        elpd=float(left_out.sum()),
        se=float(np.sqrt(len(left_out) * left_out.var())),
        p=float((within - left_out).sum()),
        n_samples=0,
        n_data_points=len(left_out),
        scale="log",
        warning=False,
        good_k=None,
        elpd_i=xr.DataArray(left_out, {"row": row}, name="elpd_i"),
        p_loo_i=xr.DataArray(within - left_out, {"row": row}, name="p_loo_i"),
    )
