"""What each feature adds to the log odds of a label, with its credible interval: the weight of evidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy.special import ndtri, softmax, xlogy

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.normal_polynomial import NormalPolynomial
from bayesnb.posterior import Posterior
from bayesnb.tree import coordinate


def explain(
    posterior: Posterior, encoded: Sequence[Encoded], row: Array, reference: int | None, prob: float
) -> xr.Dataset:
    """Return what the label probabilities and every feature add to the log odds of each label in each row.

    With one reference, the contribution of feature j to label k is s_jk − s_jr, s the exact log predictive. Against
    all the other labels together, log odds are s_k − ln Σ_o exp s_o = s_k − Σ_o q_o s_o − H(q), where q_o is the
    probability of label o among the others and H its entropy: feature j has s_jk − Σ_o q_o s_jo, by which the log odds
    change with the feature's weight, and the entropy goes with the label probabilities, which so keep their log odds
    where no feature says anything.

    Parameters
    ----------
    posterior : Posterior
    encoded : sequence of Encoded
        The rows, block by block.
    row : ndarray, shape (row,)
        Names of the rows.
    reference : int or None
        The label that the others are held against; None holds each against all the others together.
    prob : float
        Of the equal-tailed intervals, from four cumulants over the posterior of the parameters, q held fixed.
    """
    others = _others(posterior.log_joint(encoded, len(row)), reference)
    pairs = list(zip(posterior.parts, encoded, strict=True))
    points = _contrast(
        _joined(posterior.labels.log_prob(), [p.contributions(x) for p, x in pairs], len(row)), others, 1
    )
    terms = _joined(posterior.labels.cumulants(), [p.cumulants(x) for p, x in pairs], len(row))
    cumulants = np.stack([_contrast(terms[r - 1], others, r) for r in range(1, 5)])
    z = ndtri((1 + prob) / 2)
    contribution = NormalPolynomial.of_cumulants(cumulants)
    bounds = [contribution.quantile(-z), contribution.quantile(z)]
    for values in (points, *bounds):
        values[..., 0] += xlogy(others, others).sum(2)
    kept = np.arange(len(posterior.classes)) != reference
    return _labelled(posterior, row, kept, [values[:, kept] for values in (points, *bounds)]).assign_attrs(
        reference="the other labels" if reference is None else posterior.classes[reference],
        interval="eti",
        interval_prob=prob,
        method="cumulants",
        unit="nats",
    )


def _others(log_joint: Array, reference: int | None) -> Array:
    """What share of the comparison each other label has: (row, label, other)."""
    n_rows, n_labels = log_joint.shape
    if reference is not None:
        return np.broadcast_to((np.arange(n_labels) == reference).astype(float), (n_rows, n_labels, n_labels))
    return softmax(np.where(np.eye(n_labels, dtype=bool), -np.inf, log_joint[:, None, :]), axis=2)


def _joined(of_labels: Array, of_parts: list[Array], n_rows: int) -> Array:
    """Values of the label probabilities, (…, label), before those of the parts, (…, row, label, feature)."""
    of_labels = np.broadcast_to(of_labels[..., None, :, None], (*of_labels.shape[:-1], n_rows, of_labels.shape[-1], 1))
    return np.concatenate([of_labels, *of_parts], axis=-1)


def _contrast(values: Array, others: Array, order: int) -> Array:
    """The cumulant of some order of the difference to the others, (row, label, feature); values are independent."""
    return values + (-1) ** order * others**order @ values


def _labelled(posterior: Posterior, row: Array, kept: Array, values: list[Array]) -> xr.Dataset:
    points, lower, upper = values
    by_label, by_feature = ("row", "label"), ("row", "label", "feature")
    return xr.Dataset(
        {
            "log_odds": (by_label, points.sum(2)),
            "prior": (by_label, points[..., 0]),
            "prior_lower": (by_label, lower[..., 0]),
            "prior_upper": (by_label, upper[..., 0]),
            "contribution": (by_feature, points[..., 1:]),
            "lower": (by_feature, lower[..., 1:]),
            "upper": (by_feature, upper[..., 1:]),
        },
        {
            "row": row,
            "label": coordinate([label for label, keep in zip(posterior.classes, kept, strict=True) if keep]),
            "feature": coordinate(posterior.features),
        },
    )
