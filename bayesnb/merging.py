"""Models fitted apart become one, and rows are forgotten again: what addition and subtraction of statistics give."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from bayesnb.blocks import Block, shown, with_levels
from bayesnb.families import Categorical
from bayesnb.families.base import Array
from bayesnb.summary import Summary

COUNTS = ("counts", "ones", "zeros", "count")  # the statistics that rows only ever raise
ROUNDING = 1e-9  # of the count before: what adding and subtracting fractional weights may leave


def merge(models: Iterable[Any]) -> Any:
    """Return one model of all the rows that models fitted apart have met.

    Parameters
    ----------
    models : sequence of NaiveBayes
        With the same parameters and columns. The prior counts once.

    Returns
    -------
    NaiveBayes

    Raises
    ------
    ValueError
        If there is no model, or two differ in parameters, columns, families or declared levels.

    Examples
    --------
    >>> from bayesnb import NaiveBayes
    >>> north, south = (NaiveBayes().fit([["red"], ["blue"]], y) for y in (["A", "B"], ["A", "A"]))
    >>> merge([north, south]).statistics_.label_counts
    array([3., 1.])
    """
    models = list(models)
    if not models:
        raise ValueError("merge needs at least one model.")
    return reduce(add, models)


def check_same_parameters(first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    """Raise ValueError if two models were told different things, naming the first parameter that differs."""
    with np.printoptions(threshold=sys.maxsize, precision=17):
        for name, value in first.items():
            if repr(value) != repr(second[name]):
                raise ValueError(
                    f"Models with different parameters can't be merged: {name} is {value!r} in one and "
                    f"{second[name]!r} in the other."
                )


def union(first: Summary, second: Summary) -> Summary:
    """Return the summary of the rows of both; labels and open levels that only one has met are in it.

    Raises
    ------
    ValueError
        If the columns, their families or their declared levels differ.
    """
    if first.names != second.names:
        raise ValueError(
            f"Models of different columns can't be merged: {shown(first.names)} and {shown(second.names)}."
        )
    if [block.names for block in first.blocks] != [block.names for block in second.blocks]:
        raise ValueError("Models that read their columns by different families can't be merged: give both families=….")
    blocks = tuple(_common(mine, other) for mine, other in zip(first.blocks, second.blocks, strict=True))
    first, second = (
        one.with_levels(blocks).with_classes(other.classes) for one, other in ((first, second), (second, first))
    )
    return first.plus(second.label_counts, second.statistics, second.expected_rows)


def _common(mine: Block, other: Block) -> Block:
    """One block with room for the levels of both."""
    if type(mine.family) is not type(other.family):
        raise ValueError(
            f"Column {mine.names[0]!r} is {mine.family.name} in one model and {other.family.name} in the other: "
            "give both families=…."
        )
    if not isinstance(mine.family, Categorical) or mine.family.levels == other.family.levels:
        return replace(mine, is_closed=mine.is_closed or other.is_closed)
    for closed, one in ((mine, other), (other, mine)):
        strange = [level for level in one.family.levels if level not in closed.family.levels]
        if closed.is_closed and strange:
            raise ValueError(
                f"Column {mine.names[0]!r} has the levels {shown(closed.family.levels)} declared in one model, and "
                f"{shown(strange)} in the other: declare the same levels in both."
            )
        if closed.is_closed:
            return closed
    return with_levels(mine, other.family.levels)


def remainder(summary: Summary, forgotten: Summary) -> Summary:
    """Return the summary without some of its rows.

    Raises
    ------
    ValueError
        If there are more of them than the model has met, naming the label and the column.
    """
    wide = summary.with_levels(forgotten.blocks)
    labels = _settled(wide.label_counts - forgotten.label_counts, wide.label_counts)
    _check_not_negative(labels, wide.label_counts, wide, "rows")
    pairs = zip(wide.statistics, forgotten.statistics, strict=True)
    statistics = tuple(_without_rounding(all_ - some, all_) for all_, some in pairs)
    for block, before, after in zip(wide.blocks, wide.statistics, statistics, strict=True):
        for name in COUNTS:
            if hasattr(after, name):
                what = (
                    f"values of the column {block.names[0]!r}"
                    if len(block.names) == 1
                    else f"values of {shown(block.names)}"
                )
                _check_not_negative(getattr(after, name), getattr(before, name), wide, what)
    return replace(wide, label_counts=labels, statistics=statistics)


def _without_rounding(after: Any, before: Any) -> Any:
    names = [name for name in COUNTS if hasattr(after, name)]
    return replace(after, **{name: _settled(getattr(after, name), getattr(before, name)) for name in names})


def _settled(after: Array, before: Array) -> Array:
    """Counts, without what rounding leaves of none."""
    return np.where(np.abs(after) <= 1e-3 * ROUNDING * before, 0.0, after)


def _check_not_negative(after: Array, before: Array, summary: Summary, what: str) -> None:
    lacking = after < -ROUNDING * np.maximum(before, 1)
    if lacking.any():
        label = summary.classes[np.argwhere(lacking)[0][0]]
        raise ValueError(
            f"Only rows that the model has met can be forgotten: it has fewer {what} of the label {label!r}."
        )
