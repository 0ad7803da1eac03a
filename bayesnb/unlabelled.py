"""Rows without a label: EM finds the mode of the posterior that has summed their labels out.

docs/mathematics/unlabelled.md says what is maximised, in which parameters, and what is approximate about the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.priors import Parameters
from bayesnb.summary import Summary

LEAST_GAIN = 1e-10  # nats for each unlabelled row; a step that gains less is the last
MAX_STEPS = 1000

Point = tuple[Array, list[Parameters]]  # label probabilities and the parameters of every part


@dataclass(frozen=True)
class Step:
    """A step of EM: what it takes the labels for, and what that is worth.

    ``summary`` holds the labelled rows, and every other row under each label with that label's responsibility as its
    weight. ``log_posterior`` is ln p(θ, unlabelled rows given labelled ones) at the mode of that summary.
    """

    summary: Summary
    log_posterior: float


def with_expected_labels(
    labelled: Summary, encoded: Sequence[Encoded], weight: Array, posterior_of: Callable[[Summary], Posterior]
) -> Summary:
    """Return the summary with unlabelled rows added, each under every label as far as it is probable at the mode.

    Parameters
    ----------
    labelled : Summary
        Of the rows that have a label.
    encoded : sequence of Encoded
        The arrays of every block for the rows that have none.
    weight : ndarray, shape (row,)
        Their sample weights.
    posterior_of : callable
        The posterior that a summary gives.

    Raises
    ------
    ValueError
        If a concentration is 0, or a prior has no closed form.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the mode is not reached in 1,000 steps.
    """
    before = -np.inf
    for step in islice(steps(labelled, encoded, weight, posterior_of), MAX_STEPS):
        gain, before = step.log_posterior - before, step.log_posterior
        if gain <= LEAST_GAIN * weight.sum():
            return step.summary
    warnings.warn(
        f"EM has not reached the mode in {MAX_STEPS} steps: the last one gained {gain:.2g} nats. The unlabelled rows "
        "hardly tell the labels apart.",
        ConvergenceWarning,
        stacklevel=6,
    )
    return step.summary


def steps(
    labelled: Summary, encoded: Sequence[Encoded], weight: Array, posterior_of: Callable[[Summary], Posterior]
) -> Iterator[Step]:
    """Yield the steps of EM without end, from the exact predictions of the labelled rows on."""
    n_rows, n_labels = len(weight), len(labelled.classes)
    of_all = posterior_of(_expected(labelled, encoded, weight, np.full((n_rows, n_labels), 1 / n_labels)))
    if not of_all.has_proper_prior:
        raise ValueError(
            "Rows without a label need a concentration above 0: under maximum likelihood, a value that no labelled row "
            "of a label has is impossible, and stays so."
        )
    arrays = _of_parts(of_all, labelled, encoded)
    given_labels = _meeting(of_all, labelled)
    log_joint = given_labels.log_joint(arrays, n_rows)
    while True:
        summary = _expected(labelled, encoded, weight, softmax(log_joint, axis=1))
        mode = unconstrained_mode(_meeting(of_all, summary))
        log_joint = of_all.log_joint_given(*mode, arrays, n_rows)
        yield Step(summary, log_density(given_labels, mode) + float(weight @ logsumexp(log_joint, axis=1)))


def unconstrained_mode(posterior: Posterior) -> Point:
    """Return the mode in unconstrained parameters: log odds, ln of a rate, a mean and ln of a variance."""
    labels = posterior.labels.posterior
    label_prob = posterior.labels.known if labels is None else labels.unconstrained_mode()["prob"]
    return label_prob, [part.posterior.unconstrained_mode() for part in posterior.parts]


def log_density(posterior: Posterior, point: Point) -> float:
    """Return the log density at a point, with respect to the unconstrained parameters."""
    labels, (label_prob, parameters) = posterior.labels.posterior, point
    pairs = [(part.posterior, p) for part, p in zip(posterior.parts, parameters, strict=True)]
    if labels is not None:
        pairs.append((labels, {"prob": label_prob}))
    return float(sum((p.log_density(at) + p.log_jacobian(at)).sum() for p, at in pairs))


def _expected(labelled: Summary, encoded: Sequence[Encoded], weight: Array, label_prob: Array) -> Summary:
    """The summary of labelled rows and of others that have each label with a probability, (row, label)."""
    share = label_prob * weight[:, None]
    statistics = (
        _by_label(block.family, arrays, share) for block, arrays in zip(labelled.blocks, encoded, strict=True)
    )
    return labelled.plus(share.sum(0), statistics, expected_rows=float(weight.sum()))


def _by_label(family: Any, arrays: Encoded, share: Array) -> Any:
    """The statistics of rows that belong to each label with a share, (row, label)."""
    all_one = np.zeros(len(share), dtype=np.uint8)
    first, *others = (family.statistics(arrays.x, all_one, 1, part, arrays.observed) for part in share.T)
    return first.above(*others)


def _meeting(posterior: Posterior, summary: Summary) -> Posterior:
    """The posterior under the same priors of the rows of a summary."""
    met = dict(zip((block.names for block in summary.blocks), summary.statistics, strict=True))
    parts = (replace(part, statistics=part.informative(met[part.block.names])) for part in posterior.parts)
    return replace(posterior, labels=replace(posterior.labels, counts=summary.label_counts), parts=tuple(parts))


def _of_parts(posterior: Posterior, summary: Summary, encoded: Sequence[Encoded]) -> list[Encoded]:
    """The arrays of every part from those of every block."""
    by_names = dict(zip((block.names for block in summary.blocks), encoded, strict=True))
    return [part.encoded(by_names[part.block.names]) for part in posterior.parts]
