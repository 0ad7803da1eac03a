"""Cumulants of the log odds of each label against the rest, over the posterior of the parameters.

The score of a label, ln p(label) + Σ_j w_j ln p(x_j given label, θ), is a sum of independent terms: cumulants add. The
scores of two labels are independent too, once the normaliser that a Dirichlet's label probabilities share is dropped:
it cancels in every difference of scores. So with two labels the r-th cumulant of the log odds is κ_r + (−1)^r κ_r'.
With more, the rest is ln Σ_o exp S_o over the other labels, folded two scores at a time: each is a cubic in a normal
variable, the moments of ln(exp A + exp B) are sums over a grid of the two, and four cumulants stand for it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array
from bayesnb.normal_polynomial import NormalPolynomial, nodes
from bayesnb.posterior import Posterior

FOLD_NODES = 13  # a side of the grid; 41 change no bound by 0.001
BLOCK_ROWS = 8192  # scored together: with fewer, calls cost more than what they do
FOLD_ROWS = 256  # folded together: their grids stay in the processor's cache
ALTERNATING = np.array([-1.0, 1.0, -1.0, 1.0])[:, None]  # the cumulants of −X by those of X
SECOND_LESS_FIRST = np.stack([ALTERNATING, np.ones((4, 1))], axis=1)  # of two labels: (4, label, 1)


def log_odds_cumulants(posterior: Posterior, encoded: Sequence[Encoded], n_rows: int) -> Iterator[tuple[slice, Array]]:
    """Yield row slices with four cumulants of ln p(label given x, θ) − ln(1 − p(label given x, θ)): (4, row, label).

    Of two labels those of the second only: the first is its mirror image.
    """
    n_labels = len(posterior.classes)
    if n_labels == 2:
        yield from score_cumulants(posterior, encoded, n_rows, SECOND_LESS_FIRST)
        return
    each_label = np.tile(np.eye(n_labels), (4, 1, 1))
    for rows, scores in score_cumulants(posterior, encoded, n_rows, each_label):
        few = (slice(start, start + FOLD_ROWS) for start in range(0, scores.shape[1], FOLD_ROWS))
        yield rows, np.concatenate([_against_the_rest(scores[:, some]) for some in few], axis=1)


def score_cumulants(
    posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, contrast: Array
) -> Iterator[tuple[slice, Array]]:
    """Yield row slices with four cumulants of the labels' scores, but for what all share: (4, row, column).

    ``contrast``, (4, label, column), says what multiple of each label's cumulants goes into each column.
    """
    scorers = [part.cumulant_scorer(contrast) for part in posterior.parts]
    of_labels = np.einsum("rk,rkc->rc", posterior.labels.cumulants(), contrast)
    for start in range(0, n_rows, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, n_rows))
        total = np.tile(of_labels, (rows.stop - start, 1, 1))
        for scorer, arrays in zip(scorers, encoded, strict=True):
            block = arrays.take(rows)
            total += scorer(block.x, block.observed)
        yield rows, np.ascontiguousarray(np.moveaxis(total, 1, 0))


def _against_the_rest(scores: Array) -> Array:
    """Log odds from scores, (4, row, label) both: what precedes and what follows each label is folded once."""
    n_labels = scores.shape[2]
    nothing = np.zeros(scores.shape[:2])
    nothing[0] = -np.inf
    before, after = [nothing], [nothing]
    for label in range(n_labels - 1):
        before.append(_folded(before[-1], scores[..., label]))
        after.append(_folded(after[-1], scores[..., n_labels - 1 - label]))
    rest = [_folded(before[label], after[n_labels - 1 - label]) for label in range(n_labels)]
    return np.stack([scores[..., label] + ALTERNATING * rest[label] for label in range(n_labels)], axis=2)


def _folded(first: Array, second: Array) -> Array:
    """Cumulants of ln(exp A + exp B) from those of A and of B, all (4, row)."""
    if np.isneginf(first[0]).all() or np.isneginf(second[0]).all():
        return second if np.isneginf(first[0]).all() else first
    z, weight = nodes(FOLD_NODES)
    a = NormalPolynomial.of_cumulants(first[..., None]).quantile(z)[:, :, None]
    b = NormalPolynomial.of_cumulants(second[..., None]).quantile(z)[:, None, :]
    values = np.logaddexp(a, b).reshape(len(a), -1)
    weight = np.outer(weight, weight).ravel()
    mean = values @ weight
    values -= mean[:, None]
    squares = values**2
    variance = squares @ weight
    return np.stack([mean, variance, (squares * values) @ weight, squares**2 @ weight - 3 * variance**2])
