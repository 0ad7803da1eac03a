"""How sure a prediction is: the distribution of p(label given x, θ) over the posterior of θ, and its entropies."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import xarray as xr
from scipy.special import expit, ndtri

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.log_odds import log_odds_cumulants
from bayesnb.normal_polynomial import NormalPolynomial, nodes, standardized
from bayesnb.posterior import Posterior
from bayesnb.reweighting import predictive
from bayesnb.score_draws import Draws, score_blocks
from bayesnb.tree import coordinate

Kind = Literal["eti", "hdi"]
Method = Literal["cumulants", "draws"]

NARROW = 2.0  # standard deviation of log odds up to which few nodes integrate the logistic to 1e-5
FEW_NODES, MANY_NODES = 11, 81
LARGEST_LOG_ODDS = 80.0  # in single precision the probability is 0 or 1 soon after
LARGEST_ERROR = 0.01  # of a bound, as expected by ``_expected_error``
ERROR_SCALE = 0.02
HDI_GRID = 33  # lower ends that are tried at once, between ever closer neighbours
HDI_ROUNDS = 4
OUTERMOST = 1e-6  # probability beyond which a highest-density interval does not look
BY_LABEL = ("mean", "sd", "lower", "upper")
LONG_WORK = 1 << 32  # scores from which a progress bar is shown: some minutes


@dataclass(frozen=True)
class Uncertainty:
    """Mean, standard deviation and interval of p(label given x, θ), (row, label), and entropies in nats, (row,)."""

    mean: Array
    sd: Array
    lower: Array
    upper: Array
    entropy_total: Array
    entropy_aleatoric: Array

    @classmethod
    def empty(cls, n_rows: int, n_labels: int) -> Uncertainty:
        """Return arrays to be filled in."""
        mean, sd, lower, upper = np.empty((4, n_rows, n_labels))
        return cls(mean, sd, lower, upper, np.empty(n_rows), np.empty(n_rows))

    def put(self, rows: Any, other: Uncertainty) -> None:
        """Fill in the rows of a slice, a mask or an index."""
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(other, field.name)


def predict_uncertainty(
    posterior: Posterior, encoded: Sequence[Encoded], row: Array, prob: float, kind: Kind, draws: Draws, method: Method
) -> xr.Dataset:
    """Return the uncertainty of rows as labelled arrays: by cumulants where they do, else by draws.

    Parameters
    ----------
    posterior : Posterior
    encoded : sequence of Encoded
        The rows, block by block.
    row : ndarray, shape (row,)
        Names of the rows.
    prob, kind
        Probability and kind of the intervals.
    draws : Draws
        For all rows, or with ``method="cumulants"`` for those where four cumulants are too few.
    method : {"cumulants", "draws"}
    """
    if method == "draws":
        by_drawing = np.ones(len(row), dtype=bool)
        result = by_draws(posterior, encoded, len(row), draws, prob, kind)
    else:
        result, by_drawing = by_cumulants(posterior, encoded, len(row), prob, kind)
        if by_drawing.any():
            few = [arrays.take(by_drawing) for arrays in encoded]
            result.put(by_drawing, by_draws(posterior, few, int(by_drawing.sum()), draws, prob, kind))
    predicted, prediction = _predicted(posterior, encoded, row, draws)
    by_label = predicted | {name: getattr(result, name) for name in BY_LABEL}
    by_row = {name: getattr(result, name) for name in ("entropy_total", "entropy_aleatoric")}
    by_row["entropy_epistemic"] = result.entropy_total - result.entropy_aleatoric
    return xr.Dataset(
        {name: (("row", "label"), values) for name, values in by_label.items()}
        | {name: ("row", values, {"unit": "nats"}) for name, values in by_row.items()},
        {"row": row, "label": coordinate(posterior.classes)},
        {"interval": kind, "prob": prob, "prediction": prediction} | _method_attrs(method, by_drawing, draws.n_draws),
    )


def _predicted(
    posterior: Posterior, encoded: Sequence[Encoded], row: Array, draws: Draws
) -> tuple[dict[str, Array], str]:
    """The label probabilities, by the closed form where there is one, and how they were had."""
    if posterior.is_conjugate:
        return {"prob": _normalized(posterior.log_joint(encoded, len(row)))}, "closed form"
    estimate = predictive(posterior, encoded, row, draws)
    return {name: estimate[name].to_numpy() for name in ("prob", "mcse")}, "draws weighted by p(row given θ)"


def _normalized(log_joint: Array) -> Array:
    """Probabilities from their logarithms up to a constant, (row, label): whole columns, as there are few."""
    by_label = np.exp(log_joint.T - functools.reduce(np.maximum, log_joint.T))
    by_label /= functools.reduce(np.add, by_label)
    return by_label.T


def _method_attrs(method: Method, by_drawing: Array, n_draws: int) -> dict[str, Any]:
    """What the attributes say of the method, and of the rows where cumulants were too few."""
    if method == "draws":
        return {"method": method, "draws": n_draws}
    if not by_drawing.any():
        return {"method": method}
    return {
        "method": method,
        "rows_by_draws": int(by_drawing.sum()),
        "rows_by_draws_why": f"skewness and kurtosis of the log odds are too large for an error below {LARGEST_ERROR}",
        "draws": n_draws,
    }


def by_cumulants(
    posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, prob: float, kind: Kind
) -> tuple[Uncertainty, Array]:
    """Return the uncertainty by four cumulants of the log odds, and the mask of rows where they are too few: (row,).

    The probability of a label is monotone in its log odds against the rest, so quantiles of the one are quantiles of
    the other; mean, standard deviation and entropies are sums over labels of functions of one label's log odds.
    """
    n_labels = len(posterior.classes)
    result, unfit = Uncertainty.empty(n_rows, n_labels), np.empty(n_rows, dtype=bool)
    for rows, cumulants in log_odds_cumulants(posterior, encoded, n_rows):
        of_block, unfit[rows] = _of_log_odds(cumulants, prob, kind, is_binary=n_labels == 2)
        result.put(rows, of_block)
    return result, unfit


def _of_log_odds(cumulants: Array, prob: float, kind: Kind, *, is_binary: bool) -> tuple[Uncertainty, Array]:
    """Uncertainty from the cumulants of log odds, (4, row, label), and whether they are too few for it: (row,).

    Of two labels there is the second only: the first is its mirror image.
    """
    log_odds = NormalPolynomial.of_cumulants(cumulants)
    z = ndtri((1 + prob) / 2)
    ends = expit(np.stack([log_odds.quantile(-z), log_odds.quantile(z)]))
    fit = (_expected_error(cumulants, ends) < LARGEST_ERROR) & log_odds.is_increasing(z)
    lower, upper = ends if kind == "eti" else _narrowest(log_odds, prob)
    mean, complement, sd, plogp, qlogq = _integrals(log_odds)
    if is_binary:
        mean, sd = np.hstack([complement, mean]), np.hstack([sd, sd])
        lower, upper, plogp = np.hstack([1 - upper, lower]), np.hstack([1 - lower, upper]), plogp + qlogq
    return Uncertainty(mean, sd, lower, upper, _entropy(mean), -plogp.sum(1)), ~fit.all(1)


def _expected_error(cumulants: Array, ends: Array) -> Array:
    """Roughly the largest error of the bounds of a label, on the probability scale: (row, label).

    Found by experiment on sixty random models, of the kind that the accuracy study draws: of a standardised quantile it
    is below 0.02 · max(skewness², kurtosis)²; times standard deviation and slope of the logistic it is the bound's.
    """
    skewness, kurtosis = standardized(cumulants)
    of_quantile = ERROR_SCALE * np.maximum(skewness**2, np.abs(kurtosis)) ** 2
    return of_quantile * np.sqrt(cumulants[1]) * (ends * (1 - ends)).max(0)


def _integrals(log_odds: NormalPolynomial) -> Array:
    """E p, E (1 − p), sd p, E p ln p and E (1 − p) ln (1 − p), (5, row, label), to single precision."""
    flat = log_odds.map(lambda a: a.ravel().astype(np.float32))
    result = np.empty((5, flat.sd.size), dtype=np.float32)
    narrow = flat.sd <= NARROW
    for mask, n_nodes in ((narrow, FEW_NODES), (~narrow, MANY_NODES)):
        where = np.flatnonzero(mask)
        if where.size:
            result[:, where] = _sums_over_nodes(flat.map(lambda a, where=where: a[where]), n_nodes)
    return result.reshape(5, *log_odds.sd.shape)


def _sums_over_nodes(log_odds: NormalPolynomial, n_nodes: int) -> list[Array]:
    z, weight = (a.astype(np.float32) for a in nodes(n_nodes))
    odds = np.exp(np.clip(log_odds.quantile(z[:, None]), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))
    total = 1 + odds
    p, q = odds / total, 1 / total
    mean = weight @ p
    return [mean, weight @ q, np.sqrt(weight @ (p - mean) ** 2), weight @ (p * np.log(p)), weight @ (q * np.log(q))]


def _narrowest(log_odds: NormalPolynomial, prob: float) -> tuple[Array, Array]:
    """Bounds of the narrowest interval, (row, label): the best of a grid of lower ends, then between neighbours."""
    log_odds = log_odds.map(lambda a: a[..., None])
    outermost = min(OUTERMOST, (1 - prob) / 4)
    low = np.full(log_odds.mean.shape, outermost)
    high = np.full_like(low, 1 - prob - outermost)
    for _ in range(HDI_ROUNDS):
        tail = low + (high - low) * np.linspace(0, 1, HDI_GRID)
        lower, upper = expit(log_odds.quantile(ndtri(tail))), expit(log_odds.quantile(ndtri(tail + prob)))
        best = np.argmin(upper - lower, axis=-1)[..., None]
        low, high = (np.take_along_axis(tail, np.clip(best + i, 0, HDI_GRID - 1), -1) for i in (-1, 1))
    return np.take_along_axis(lower, best, -1)[..., 0], np.take_along_axis(upper, best, -1)[..., 0]


def _entropy(prob: Array) -> Array:
    """−Σ p ln p, (row,)."""
    return -(prob * np.log(np.where(prob > 0, prob, 1.0))) @ np.ones(prob.shape[1])


def by_draws(
    posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, draws: Draws, prob: float, kind: Kind
) -> Uncertainty:
    """Return the uncertainty from draws of the parameters."""
    n_labels = len(posterior.classes)
    result = Uncertainty.empty(n_rows, n_labels)
    blocks = score_blocks(posterior, encoded, n_rows, draws)
    for rows, scores in _watched(blocks, n_rows, n_rows * n_labels * draws.n_draws):
        result.put(rows, _of_scores(scores, prob, kind))
    return result


def _watched(blocks: Iterator[tuple[slice, Array]], n_rows: int, n_scores: int) -> Iterable[tuple[slice, Array]]:
    """The blocks, behind a progress bar that counts rows where there is much to do."""
    if n_scores < LONG_WORK:
        yield from blocks
        return
    from rich.progress import Progress

    with Progress(transient=True) as progress:
        task = progress.add_task("rows", total=n_rows)
        for rows, scores in blocks:
            yield rows, scores
            progress.update(task, completed=rows.stop)


def _of_scores(scores: Array, prob: float, kind: Kind) -> Uncertainty:
    """Uncertainty from scores (row, label, draw), which are overwritten."""
    n_draws = scores.shape[2]
    scores -= scores.max(1, keepdims=True)
    p = np.exp(scores)
    total = p.sum(1, keepdims=True)
    p *= 1 / total
    aleatoric = np.log(total).mean((1, 2)) - np.vecdot(p, scores).sum(1) / n_draws
    mean = p.mean(2)
    distance = np.subtract(p, mean[..., None], out=scores)
    sd = np.sqrt(np.vecdot(distance, distance) / n_draws)
    lower, upper = _equal_tails(p, prob) if kind == "eti" else _shortest_window(p, prob)
    return Uncertainty(mean, sd, lower, upper, _entropy(mean), aleatoric)


def _equal_tails(p: Array, prob: float) -> tuple[Array, Array]:
    """Quantiles (1 ± prob)/2 of draws, which are reordered."""
    lower, upper = (_at_place(p, (1 + side * prob) / 2 * (p.shape[2] - 1)) for side in (-1, 1))
    return lower, upper


def _at_place(draws: Array, place: float) -> Array:
    """What stands at a place of the ordered draws, linear between neighbours.

    They are parted there, which is faster than to sort them; and by their bits, whose order as whole numbers is that of
    the positive floats, and among which there is no nan to look for.
    """
    after = int(np.ceil(place))
    draws.view(np.int32).partition(after, axis=2)
    low, high = draws[..., : max(after, 1)].max(2), draws[..., after]
    return high - (after - place) * (high - low)


def _shortest_window(p: Array, prob: float) -> tuple[Array, Array]:
    """The narrowest interval between two draws that holds the probability."""
    ordered = np.sort(p, axis=2)
    inside = int(prob * ordered.shape[2])
    best = np.argmin(ordered[..., inside:] - ordered[..., : ordered.shape[2] - inside], axis=2)[..., None]
    return np.take_along_axis(ordered, best, 2)[..., 0], np.take_along_axis(ordered, best + inside, 2)[..., 0]
