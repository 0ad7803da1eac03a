"""Whether predicted probabilities mean what they say: reliability, scores with their errors, overconfidence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy.optimize import brentq
from scipy.special import betaincinv, logsumexp, softmax

from bayesnb.blocks import Encoded
from bayesnb.families.base import SAME, Array
from bayesnb.posterior import Posterior
from bayesnb.score_draws import exact_draws, score_blocks

N_BINS = 10
CHANCE = 0.01  # labels less probable than this, if predictions were honest, are no chance
N_DRAWS = 1000  # of the labels of all rows; few enough of them fall below ``CHANCE`` to tell


class OverconfidenceWarning(UserWarning):
    """Predicted probabilities are too extreme: they are wrong more often than they say."""


def calibration(log_prob: Array, y: Array, weight: Array, prob: float) -> xr.Dataset:
    """Return reliability by bin, proper scores with standard errors, and the exponent that predictions lack.

    Scores are taken by row, for their standard errors, of which scikit-learn's functions give the mean only; and the
    log score from log probabilities, as the probability of a label that comes as a surprise may be too small for a
    float.

    Parameters
    ----------
    log_prob : ndarray, shape (row, label)
        Predicted log probabilities, finite; of a training row, without the row itself.
    y : ndarray, shape (row,)
        Codes of the labels that came true.
    weight : ndarray, shape (row,)
        A weight of 2 is a repeated row.
    prob : float
        Of the equal-tailed intervals.
    """
    own, predicted = log_prob[np.arange(len(y)), y], np.exp(log_prob)
    brier = ((predicted - (y[:, None] == np.arange(predicted.shape[1]))) ** 2).sum(1)
    result = _reliability(predicted, y, weight, prob)
    result["log_score"], result["log_score_se"] = _mean_and_error(-own, weight)
    result["brier_score"], result["brier_score_se"] = _mean_and_error(brier, weight)
    result["ece"] = (np.abs(result["observed"] - result["predicted"]) * result["count"]).sum() / weight.sum()
    exponent = _best_exponent(log_prob, own, weight)
    result["exponent"], result["exponent_se"] = exponent, _error_of_exponent(log_prob, exponent, weight)
    result["p_value"] = _chance_of_overconfidence(log_prob, own, exponent, weight)
    return result


def chance_of_surprise(
    posterior: Posterior, encoded: Sequence[Encoded], log_prob: Array, y: Array, weight: Array, rng: np.random.Generator
) -> float:
    """Return the probability that labels of these rows, drawn from the model, have as low a log score as their own.

    A posterior predictive check: each time, the parameters are drawn, and given them a label for every row. So rows
    share one error of the parameters, as rows that the model has not seen do. The labels that came true count as one
    of the draws, and a row's label is drawn once whatever its weight.
    """
    total = np.zeros(1 + N_DRAWS)
    for rows, scores in score_blocks(posterior, encoded, len(y), exact_draws(posterior, N_DRAWS, rng)):
        steps = softmax(scores, axis=1).cumsum(1)[:, :-1]
        drawn = (steps < rng.random((len(scores), 1, N_DRAWS), dtype=np.float32)).sum(1)
        labels = np.column_stack([y[rows], drawn])
        total += weight[rows] @ np.take_along_axis(log_prob[rows], labels, axis=1)
    return float((total <= total[0] * (1 - SAME)).mean())  # the same labels may add up in another order


def warn_if_overconfident(result: xr.Dataset) -> None:
    """Warn in plain words where labels that came from the model would hardly ever be so surprising."""
    if result["p_value"] < CHANCE:
        warnings.warn(
            "The predictions are overconfident: their log probabilities fit the labels best when multiplied by "
            f"{result['exponent']:.2g} ± {result['exponent_se']:.1g}; labels that came from the model would look so "
            f"with a probability of at most {result['p_value']:.1g}. Features that depend on each other count the same "
            'evidence several times: feature_weights="loo" learns how much of it to count.',
            OverconfidenceWarning,
            stacklevel=3,
        )


def _reliability(predicted: Array, y: Array, weight: Array, prob: float) -> xr.Dataset:
    """Predicted and observed share of rows whose most probable label is right, by bins of its probability."""
    confidence, is_right = predicted.max(1), predicted.argmax(1) == y
    place = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    count, right, total = (np.bincount(place, weight * a, N_BINS) for a in (np.ones(len(y)), is_right, confidence))
    lower, upper = (betaincinv(1 + right, 1 + count - right, p) for p in ((1 - prob) / 2, (1 + prob) / 2))
    several = np.where(count > 0, count, np.nan)
    edges = np.arange(N_BINS + 1) / N_BINS
    columns = {
        "count": count,
        "predicted": total / several,
        "observed": right / several,
        "lower": lower,
        "upper": upper,
    }
    return xr.Dataset(
        {name: ("bin", values) for name, values in columns.items()},
        {"bin": np.arange(N_BINS), "above": ("bin", edges[:-1]), "below": ("bin", edges[1:])},
        {"interval": "eti", "interval_prob": prob, "method": "Beta(1 + right, 1 + wrong)", "bins": "equal width"},
    )


def _mean_and_error(score: Array, weight: Array) -> tuple[float, float]:
    mean = np.average(score, weights=weight)
    return mean, np.sqrt(np.average((score - mean) ** 2, weights=weight) / weight.sum())


def _best_exponent(log_prob: Array, own: Array, weight: Array) -> float:
    """The β for which p_k^β / Σ p^β gives the labels the highest likelihood: concave, so a root of its derivative."""

    def derivative(exponent: float) -> float:
        return float(weight @ (own - (softmax(exponent * log_prob, axis=1) * log_prob).sum(1)))

    if (own == log_prob.max(1)).all():
        return np.inf  # every label was the most probable one: no probability was too extreme
    if derivative(0.0) <= 0:
        return 0.0  # worse than knowing nothing
    high = 1.0
    while derivative(high) > 0:
        high *= 2
    return float(brentq(derivative, 0.0, high))


def _error_of_exponent(log_prob: Array, exponent: float, weight: Array) -> float:
    """1 / √information, infinite where the exponent is."""
    if exponent == np.inf:
        return np.inf
    p = softmax(exponent * log_prob, axis=1)
    variance = (p * log_prob**2).sum(1) - (p * log_prob).sum(1) ** 2
    return float(1 / np.sqrt(weight @ variance))


def _chance_of_overconfidence(log_prob: Array, own: Array, exponent: float, weight: Array) -> float:
    """A bound on the probability that labels drawn from the predictions ask for an exponent as low as this one.

    It is one over the likelihood ratio of the tempered predictions to the plain ones: Chernoff's bound on Σ ln p(y_i),
    which holds for any number of rows and however rare the surprises, where a normal approximation does not.
    """
    if exponent >= 1:
        return 1.0
    log_ratio = weight @ ((exponent - 1) * own - logsumexp(exponent * log_prob, axis=1))
    return float(np.exp(-log_ratio))
