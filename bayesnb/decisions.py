"""Labels that minimise the expected cost, or none where no decision is cheap enough."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import softmax

from bayesnb.blocks import Encoded, shown
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.score_draws import Draws, score_blocks
from bayesnb.tree import coordinate
from bayesnb.uncertainty import predict_uncertainty


def decide(
    posterior: Posterior,
    encoded: Sequence[Encoded],
    row: Array,
    costs: Array,
    reject_cost: float | None,
    prob: float,
    draws: Draws,
) -> xr.Dataset:
    """Return the decision of least expected cost for every row, with its expected cost and the interval of this.

    Parameters
    ----------
    posterior : Posterior
    encoded : sequence of Encoded
        The rows, block by block.
    row : ndarray, shape (row,)
        Names of the rows.
    costs : ndarray, shape (label, label)
        Of every decision (column) where a label is true (row).
    reject_cost : float or None
        Of no decision; None where there must be one (Chow 1970).
    prob : float
        Of the equal-tailed interval of Σ_k p(k given x, θ) · cost[k, decision] over the posterior of θ.
    draws : Draws
        Of the parameters, for what has no closed form.
    """
    log_joint = posterior.log_joint(encoded, len(row))
    expected = softmax(log_joint, axis=1) @ costs
    is_zero_one = np.array_equal(costs, 1 - np.eye(len(costs)))
    choice = log_joint.argmax(1) if is_zero_one else expected.argmin(1)
    cost = expected[np.arange(len(row)), choice]
    turning = turning_labels(costs)
    if not np.ptp(costs, axis=0).any():  # whatever is true, a decision costs the same
        bounds, attrs = np.stack([cost, cost]), {"method": "exact"}
    elif turning is None:
        bounds, attrs = _by_draws(posterior, encoded, costs[:, choice].T, draws, prob)
    else:
        sure = predict_uncertainty(posterior, encoded, row, prob, "eti", draws, "cumulants")
        bounds, attrs = _of_turning_label(sure, costs, turning, choice), sure.attrs
    decision, values = coordinate(posterior.classes)[choice], np.stack([cost, *bounds])
    if reject_cost is not None:
        decision = decision.astype(object)
        decision[cost > reject_cost] = None
        values = np.where(cost > reject_cost, reject_cost, values)
    as_is = xr.Variable("row", decision, fastpath=True)  # or xarray makes nan of None
    by_row = zip(("expected_cost", "lower", "upper"), values, strict=True)
    return xr.Dataset(
        {"decision": as_is, **{name: ("row", of_rows) for name, of_rows in by_row}},
        {"row": row},
        {**attrs, "interval": "eti", "interval_prob": prob},
    )


def turning_labels(costs: Array) -> Array | None:
    """Return for every decision the one label on which its cost turns, (label,), or None if for some it is not one.

    Where all other labels cost the same, the expected cost is linear in the probability of this label, and so are its
    quantiles: always with two labels, and with 0–1 loss.
    """
    candidates = [
        [label for label in range(len(costs)) if len(set(np.delete(of_decision, label))) <= 1]
        for of_decision in costs.T
    ]
    return np.array([labels[0] for labels in candidates]) if all(candidates) else None


def _of_turning_label(sure: xr.Dataset, costs: Array, turning: Array, choice: Array) -> Array:
    """Bounds of the expected cost, (2, row), from those of the probability of the label on which it turns."""
    label = turning[choice]
    others = np.where(label == 0, 1 % len(costs), 0)
    base = costs[others, choice]
    slope = costs[label, choice] - base
    rows = np.arange(len(choice))
    ends = [base + slope * sure[name].values[rows, label] for name in ("lower", "upper")]
    return np.sort(ends, axis=0)


def _by_draws(
    posterior: Posterior, encoded: Sequence[Encoded], costs: Array, draws: Draws, prob: float
) -> tuple[Array, dict[str, Any]]:
    """Bounds of the expected cost, (2, row), where ``costs`` are those of each row's decision, (row, label)."""
    bounds = np.empty((2, len(costs)))
    for rows, scores in score_blocks(posterior, encoded, len(costs), draws):
        cost = np.einsum("rk,rkd->rd", costs[rows], softmax(scores, axis=1))
        bounds[:, rows] = np.quantile(cost, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    return bounds, {"method": "draws", "draws": draws.n_draws}


def cost_table(costs: Any, classes: tuple[Hashable, ...]) -> Array:
    """Return costs as an array (true label, decided label) from any way of writing them.

    Parameters
    ----------
    costs : None, array_like, DataFrame or mapping
        None is 0–1 loss. An array or a frame has the true label on its rows, the decided one on its columns; a
        mapping from (true, decided) may leave out right decisions, which then cost 0.
    classes : tuple
        The labels.

    Raises
    ------
    ValueError
        If a cost is absent, of something else than two labels, or not finite.
    """
    if costs is None:
        return 1 - np.eye(len(classes))
    if isinstance(costs, pd.DataFrame):
        costs = {(true, decided): costs.loc[true, decided] for true, decided in product(costs.index, costs.columns)}
    table = _from_mapping(costs, classes) if isinstance(costs, Mapping) else np.asarray(costs, dtype=float)
    if table.shape != (len(classes), len(classes)):
        raise ValueError(
            f"costs must have a row for each true and a column for each decided label of {shown(classes)}, "
            f"not the shape {table.shape}."
        )
    if not np.isfinite(table).all():
        true, decided = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"The cost of deciding {classes[decided]!r} where {classes[true]!r} is true must be finite, "
            f"not {table[true, decided]}."
        )
    return table


def _from_mapping(costs: Mapping[Any, Any], classes: tuple[Hashable, ...]) -> Array:
    pairs = list(product(classes, classes))
    unknown = [pair for pair in costs if pair not in pairs]
    absent = [pair for pair in pairs if pair not in costs and pair[0] != pair[1]]
    if unknown or absent:
        raise ValueError(
            f"costs must give the cost of each pair (true, decided) of the labels {shown(classes)}"
            + (f"; {shown(unknown)} is no such pair" if unknown else "")
            + (f"; {shown(absent)} is not given" if absent else "")
            + "."
        )
    return np.array([costs.get(pair, 0.0) for pair in pairs], dtype=float).reshape(len(classes), len(classes))
