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
from scipy.sparse import issparse

from bayesnb.blocks import Encoded
from bayesnb.families.base import Array, log_positive
from bayesnb.posterior import Posterior
from bayesnb.priors import Parameters, log_dirichlet

DEFAULT_DRAWS = 10_000  # for all rows
DRAWS_FOR_FEW = 400_000  # for the rows that cumulants leave: their bounds may lie where draws are rare
TABLE_CELLS = 1 << 25  # natural parameters held at once, as float32 128 MB
SCORE_CELLS = 1 << 25  # scores held at once where the draws come in more than one table
BLOCK_ROWS = 64  # rows that meet the draws together where they come in one table
BLOCK_SCORES = 1 << 22  # but no more scores than these, 16 MB
BLOCKS_TOGETHER = 16  # whose statistics are made at once
FAR = 1e4  # nats between two labels from which the rounding of float32 may be seen,
FIRST = 64  # in the first draws

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

    Scores are log p(label, row given θ) less what is the same for all labels, in float32; complete ones, in float64,
    lack only what is the same for all labels and draws.
    """
    n_labels, dtype = len(posterior.classes), np.dtype(np.float64 if complete else np.float32)
    constant = _constant_terms(posterior, encoded)
    dense, sparse = _design(posterior, encoded, slice(0, 0), constant, dtype)
    width = dense.shape[1] + sum(design.shape[1] for design in sparse)
    chunks = list(_slices(draws.n_draws, max(1, TABLE_CELLS // (width * n_labels))))
    is_sparse = [issparse(arrays.x) for arrays in encoded]

    def table(chunk: slice) -> tuple[Array, list[Array]]:
        return _table(draws.naturals(chunk), is_sparse, constant, _of_all if complete else _less_the_first)

    if len(chunks) == 1:
        table, step = cache(table), min(BLOCK_ROWS, BLOCK_SCORES // (n_labels * draws.n_draws))
    else:
        step = SCORE_CELLS // (n_labels * draws.n_draws)
    for rows, design in _designs(posterior, encoded, n_rows, max(1, step), constant, dtype):
        scores = np.zeros((rows.stop - rows.start, n_labels, draws.n_draws), dtype)
        for chunk in chunks:
            _multiply(design, table(chunk), scores[:, 0 if complete else 1 :, chunk].swapaxes(0, 1))
        if not complete:
            far = np.flatnonzero(~(np.abs(scores[..., :FIRST]).max((1, 2)) <= FAR))
            if far.size:
                scores[far] = _by_doubles(posterior, encoded, rows.start + far, draws)
        yield rows, scores


def _by_doubles(posterior: Posterior, encoded: Sequence[Encoded], rows: Array, draws: Draws) -> Array:
    """Scores of some rows in which labels are so far apart that float32 would not tell the nearest ones."""
    few = [arrays.take(rows) for arrays in encoded]
    blocks = score_blocks(posterior, few, len(rows), draws, complete=True)
    return np.concatenate([scores - scores.max(1, keepdims=True) for _, scores in blocks])


def _slices(stop: int, step: int, start: int = 0) -> Iterator[slice]:
    return (slice(first, min(first + step, stop)) for first in range(start, stop, step))


def _designs(
    posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, step: int, constant: Sequence[int], dtype: Any
) -> Iterator[tuple[slice, tuple[Array, list[Any]]]]:
    """Yield row slices with their statistics, which are made for several slices together."""
    for several in _slices(n_rows, step * BLOCKS_TOGETHER):
        dense, sparse = _design(posterior, encoded, several, constant, dtype)
        for rows in _slices(several.stop, step, several.start):
            own = slice(rows.start - several.start, rows.stop - several.start)
            yield rows, (dense[own], [of_part[own] for of_part in sparse])


def _constant_terms(posterior: Posterior, encoded: Sequence[Encoded]) -> list[int]:
    """How many of a part's last terms are one in every row, as no cell is missing: they join the label's own."""
    return [
        0 if part.family.whole_row or arrays.observed is not None else part.n_features
        for part, arrays in zip(posterior.parts, encoded, strict=True)
    ]


def _design(
    posterior: Posterior, encoded: Sequence[Encoded], rows: slice, constant: Sequence[int], dtype: Any
) -> tuple[Array, list[Any]]:
    """Statistics of some rows: a one for the label's own term with the dense parts beside it, and the sparse parts."""
    dense: list[Array] = [np.ones((rows.stop - rows.start, 1), dtype)]
    sparse: list[Any] = []
    for part, arrays, n in zip(posterior.parts, encoded, constant, strict=True):
        some = arrays.take(rows)
        if issparse(some.x):  # what varies from row to row is then the row itself
            sparse.append(some.x.astype(dtype))
        else:
            design = part.design(some)
            dense.append(design[:, : design.shape[1] - n])
    return np.concatenate(dense, axis=1, dtype=dtype), sparse


def _table(
    naturals: Naturals, is_sparse: Sequence[bool], constant: Sequence[int], arranged: Callable[[Array], Array]
) -> tuple[Array, list[Array]]:
    """Natural parameters in the order of ``_design``, each (label, m, draw)."""
    own, parts = naturals
    dense: list[Array] = []
    sparse: list[Array] = []
    for values, apart, n in zip(parts, is_sparse, constant, strict=True):
        varying, same = np.split(values, [values.shape[2] - n], axis=2)
        own = own + same.sum(2)
        (sparse if apart else dense).append(arranged(varying))
    return np.concatenate([arranged(own[..., None]), *dense], axis=1), sparse


def _less_the_first(values: Array) -> Array:
    """From (draw, label, m) to float32 (label, m, draw), what the first label has taken off: it costs no product."""
    return (values[:, 1:] - values[:, :1]).transpose(1, 2, 0).astype(np.float32, order="C")


def _of_all(values: Array) -> Array:
    """From (draw, label, m) to (label, m, draw)."""
    return values.transpose(1, 2, 0)


def _multiply(design: tuple[Array, list[Any]], table: tuple[Array, list[Array]], scores: Array) -> None:
    """Fill in the scores, (label, row, draw)."""
    np.matmul(design[0], table[0], out=scores)
    for of_part, natural in zip(design[1], table[1], strict=True):
        for label, of_label in enumerate(natural):
            scores[label] += of_part @ of_label
