"""Random rows from the generative model: replicates for predictive checks, and whole tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesnb.families import Categorical, Gaussian, Poisson
from bayesnb.families.base import Array, is_count
from bayesnb.posterior import Posterior
from bayesnb.priors import Parameters
from bayesnb.schema import NewColumn, new_table
from bayesnb.summary import Summary

Draws = tuple[Array, Sequence[Parameters]]  # label probabilities and parameters of every part, sample axes in front


def simulate(
    posterior: Posterior, draws: Draws, n_rows: int, tokens: Sequence[Any], rng: np.random.Generator
) -> tuple[Array, list[Array]]:
    """Return label codes, (*size, row), and the values of every part, one table of rows for each draw.

    ``tokens`` has for every part how many a row has, a number or (row,); only a Multinomial reads it.
    """
    label_prob, parameters = draws
    steps = label_prob.cumsum(-1)[..., None, :-1]
    codes = (rng.random((*label_prob.shape[:-1], n_rows, 1)) >= steps).sum(-1)
    values = [
        part.family.simulate(rng, {name: _of_rows(a, codes) for name, a in p.items()}, np.asarray(n))
        for part, p, n in zip(posterior.parts, parameters, tokens, strict=True)
    ]
    return codes, values


def _of_rows(parameter: Array, codes: Array) -> Array:
    """The parameters of each row's own label: (*size, label, …) to (*size, row, …)."""
    index = codes.reshape(*codes.shape, *[1] * (parameter.ndim - codes.ndim))
    return np.take_along_axis(parameter, index, axis=codes.ndim - 1)


def simulated_table(
    posterior: Posterior, summary: Summary, draw: Draws, n_rows: int, tokens: Any, rng: np.random.Generator
) -> tuple[Any, Array]:
    """Return one table of the kind and column types that the model was fitted to, and its label codes.

    Raises
    ------
    ValueError
        If there is a Multinomial and no ``tokens``, or they are no counts.
    """
    if tokens is None and any(part.family.whole_row for part in posterior.parts):
        raise ValueError("A Multinomial takes the number of tokens of a row as given: simulate(…, tokens=…).")
    if tokens is not None and not is_count(np.asarray(tokens)).all():
        raise ValueError(f"tokens must be whole numbers from 0, not {tokens!r}.")
    codes, values = simulate(posterior, draw, n_rows, [tokens] * len(posterior.parts), rng)
    columns = _constant_columns(summary, n_rows)
    for part, x in zip(posterior.parts, values, strict=True):
        if isinstance(part.family, Categorical):
            levels = tuple(level for level in part.family.levels if level is not None)
            columns[part.features[0]] = NewColumn(np.where(x < len(levels), x, -1), levels)
        else:
            columns |= {name: NewColumn(column) for name, column in zip(part.features, x.T, strict=True)}
    return new_table(summary.schema, summary.names, [columns[name] for name in summary.names]), codes


def _constant_columns(summary: Summary, n_rows: int) -> dict[Any, NewColumn]:
    """Every column as if it did not vary, missing where it has never been observed."""
    columns = {name: NewColumn(np.full(n_rows, -1), ()) for name in summary.names}
    for block, statistics in zip(summary.blocks, summary.statistics, strict=True):
        if isinstance(block.family, Gaussian | Poisson):
            pooled: Any = statistics.pooled()
            values = pooled.mean if isinstance(block.family, Gaussian) else pooled.total  # of no events, 0
            for name, count, value in zip(block.names, pooled.count[0], values[0], strict=True):
                if count > 0:
                    columns[name] = NewColumn(np.full(n_rows, _whole(value)))
    return columns


def _whole(value: float) -> float:
    """A value without what adding up equal whole numbers may leave behind the point."""
    nearest = np.rint(value)
    return nearest if abs(value - nearest) <= 4 * np.finfo(float).eps * abs(nearest) else value
