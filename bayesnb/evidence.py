"""The log evidence by feature, and Bayes factors between models of the same rows."""

from __future__ import annotations

import xarray as xr

from bayesnb.blocks import in_order, shown
from bayesnb.families import Gaussian
from bayesnb.posterior import Posterior
from bayesnb.same_rows import difference
from bayesnb.summary import Summary
from bayesnb.tree import coordinate


def evidence_by_feature(posterior: Posterior) -> xr.Dataset:
    """Return the log evidence of the labels and, given them, of each feature, in nats; they add up to the whole."""
    values = [part.log_evidence().reshape(len(posterior.classes), part.n_features) for part in posterior.parts]
    features = [total for of_part in values for total in of_part.sum(0)]
    return xr.Dataset(
        {"label_log_evidence": posterior.labels.log_evidence(), "feature_log_evidence": ("feature", features)},
        {"feature": coordinate(posterior.features)},
        {"unit": "nats"},
    )


def check_comparable(first: Posterior, second: Posterior, summaries: tuple[Summary, Summary]) -> None:
    """Raise unless the evidence of two models is of the same rows and columns, and of the same kind.

    Raises
    ------
    ValueError
        If the models were fitted to different rows, or do not read the same columns; or if a column is Gaussian in
        one of them only, as a density, which depends on the unit, has no ratio to a probability.
    """
    gap = difference(*summaries)
    if gap is not None:
        raise ValueError(f"The two models were fitted to different rows, so that their evidence has no ratio: {gap}.")
    unshared = _columns(first) ^ _columns(second)
    if unshared:
        raise ValueError(
            f"Only one of the two models reads the columns {shown(in_order(unshared))}: their evidence is of different "
            "data. Fit both to the same columns."
        )
    mixed = _gaussian(first) ^ _gaussian(second)
    if mixed:
        raise ValueError(
            f"The columns {shown(in_order(mixed))} are Gaussian in one model only: the density of a number depends on "
            "its unit and can't be held against the probability of a value. Compare leave-one-out, loo(X, y), instead."
        )


def _columns(posterior: Posterior) -> set[object]:
    return {name for part in posterior.parts for name in part.features}


def _gaussian(posterior: Posterior) -> set[object]:
    return {name for part in posterior.parts if isinstance(part.family, Gaussian) for name in part.features}
