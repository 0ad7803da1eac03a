"""Label probabilities of many rows under many draws of the parameters, never held together.

Every family is exponential: but for what is the same for all labels, log p(x given θ) is a product of the row's
statistics and the natural parameters. So a block of rows meets all draws of all labels in one product of matrices, with
the draws innermost; what is wanted of the block is computed while it is in the cache, and the block forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array, log_positive
from bayesnb.posterior import Posterior
from bayesnb.priors import Parameters, log_dirichlet

DEFAULT_DRAWS = 10_000  # for all rows
DRAWS_FOR_FEW = 400_000  # for the rows that cumulants leave: their bounds may lie where draws are rare
TABLE_CELLS = 1 << 25  # natural parameters held at once, as float32 128 MB
SCORE_CELLS = 1 << 25  # scores held at once where the draws come in more than one table
BLOCK_ROWS = 32  # rows that meet the draws together where they come in one table
BLOCK_SCORES = 1 << 22  # but no more scores than these, 16 MB

Naturals = tuple[Array, list[Array]]  # ln p(label), (draw, label), and of every part (draw, label, m)


@dataclass(frozen=True)
class Draws:
    """Draws of the natural parameters, made by slices when they are needed, and made alike each time."""

    n_draws: int
    naturals: Callable[[slice], Naturals]
    n_chains: int = 1  # one after the other, equally long


def exact_draws(posterior: Posterior, n_draws: int, rng: np.random.Generator) -> Draws:
    """Return independent draws from the posterior."""
    seed = int(rng.integers(1 << 63))

    def naturals(draws: slice) -> Naturals:
        size = (draws.stop - draws.start,)
        generator = np.random.default_rng([seed, draws.start])
        learnt = posterior.labels.posterior
        if learnt is None:
            log_label = np.tile(posterior.labels.log_prob(), (*size, 1))
        else:
            log_label = log_dirichlet(generator, learnt.concentration, size)
        return log_label, [part.draw_natural(generator, size) for part in posterior.parts]

    return Draws(n_draws, naturals)


def given_draws(posterior: Posterior, label_prob: Array, parameters: Sequence[Parameters]) -> Draws:
    """Return draws whose parameters are at hand, (chain, draw, …) as ``Layout.arrays`` gives them."""
    n_chains, label_prob = len(label_prob), _one_axis(label_prob)
    parameters = [{name: _one_axis(values) for name, values in of_part.items()} for of_part in parameters]

    def naturals(draws: slice) -> Naturals:
        return log_positive(label_prob[draws]), [
            part.natural({name: values[draws] for name, values in of_part.items()})
            for part, of_part in zip(posterior.parts, parameters, strict=True)
        ]

    return Draws(len(label_prob), naturals, n_chains)


def _one_axis(values: Array) -> Array:
    """Draws of all chains together: (draw, …)."""
    return values.reshape(-1, *values.shape[2:])


def score_blocks(
    posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, draws: Draws, *, complete: bool = False
) -> Iterator[tuple[slice, Array]]:
    """Yield row slices with the scores of their labels: (row, label, draw).

    Scores are log p(label, row given θ) less what all labels share, in float32; complete ones, in float64, lack only
    what is the same for all draws too.
    """
    n_labels, dtype = len(posterior.classes), np.dtype(np.float64 if complete else np.float32)
    dense, sparse = _design(posterior, encoded, slice(0, 0), dtype)
    width = dense.shape[1] + sum(design.shape[1] for design in sparse)
    chunks = _slices(draws.n_draws, max(1, TABLE_CELLS // (width * n_labels)))
    is_sparse = [part.family.whole_row for part in posterior.parts]

    def table(chunk: slice) -> tuple[Array, list[Array]]:
        return _table(draws.naturals(chunk), is_sparse, complete=complete)

    if len(chunks) == 1:
        table, step = cache(table), min(BLOCK_ROWS, BLOCK_SCORES // (n_labels * draws.n_draws))
    else:
        step = SCORE_CELLS // (n_labels * draws.n_draws)
    for rows in _slices(n_rows, max(1, step)):
        scores = np.empty((rows.stop - rows.start, n_labels, draws.n_draws), dtype)
        design = _design(posterior, encoded, rows, dtype)
        for chunk in chunks:
            scores[..., chunk] = _product(design, table(chunk)).reshape(*scores.shape[:2], -1)
        yield rows, scores


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def _design(posterior: Posterior, encoded: Sequence[Encoded], rows: slice, dtype: Any) -> tuple[Array, list[Any]]:
    """Statistics of some rows: a one for the label's own term with the dense parts beside it, and the sparse parts."""
    dense: list[Array] = [np.ones((rows.stop - rows.start, 1), dtype)]
    sparse: list[Any] = []
    for part, arrays in zip(posterior.parts, encoded, strict=True):
        design = part.design(arrays.take(rows)).astype(dtype)
        (sparse if part.family.whole_row else dense).append(design)
    return np.concatenate(dense, axis=1), sparse


def _table(naturals: Naturals, is_sparse: Sequence[bool], *, complete: bool) -> tuple[Array, list[Array]]:
    """Natural parameters in the order of ``_design``, each (m, label · draw)."""
    arranged = _draws_innermost if complete else _centred
    log_label, parts = naturals
    dense: list[Array] = [arranged(log_label[..., None])]
    sparse: list[Array] = []
    for values, apart in zip(parts, is_sparse, strict=True):
        (sparse if apart else dense).append(arranged(values))
    return np.concatenate(dense), sparse


def _centred(values: Array) -> Array:
    """From (draw, label, m) to float32 (m, label · draw), what all labels share taken off to save digits."""
    return _draws_innermost((values - values.mean(1, keepdims=True)).astype(np.float32))


def _draws_innermost(values: Array) -> Array:
    """From (draw, label, m) to (m, label · draw)."""
    return values.transpose(2, 1, 0).reshape(values.shape[2], -1)


def _product(design: tuple[Array, list[Any]], table: tuple[Array, list[Array]]) -> Array:
    scores = design[0] @ table[0]
    for of_part, natural in zip(design[1], table[1], strict=True):
        scores += of_part @ natural
    return scores
