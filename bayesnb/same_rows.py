"""Whether two summaries are of the same rows, as far as sufficient statistics can tell.

A model keeps no rows, only statistics. Rows that give the same statistics are the same to every naive Bayes model, so
that statistics are the fingerprint: they cost nothing, do not depend on the order of the rows, add up over batches and
machines, and come out of a database as well as out of a table. What they can't see, a value of one column that stands
beside another value of a second column of the same label, no naive Bayes model can see either.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from bayesnb.blocks import Block, in_order, shown
from bayesnb.families import Bernoulli, Categorical, Gaussian, Multinomial
from bayesnb.families.base import SAME, Array, Statistics
from bayesnb.summary import Summary


@dataclass(frozen=True)
class _Column:
    """Where a summary keeps what it knows of one column."""

    block: Block
    statistics: Any
    position: int

    @property
    def by_level(self) -> dict[Hashable, Array]:
        """Counts by label of every level that was met."""
        counts = self.statistics.counts.T
        return {level: n for level, n in zip(self.block.family.levels, counts, strict=True) if n.any()}

    @property
    def alone(self) -> Statistics:
        """The statistics of this column; those that belong to whole rows are kept."""
        return self.statistics.map(lambda a: a if a.ndim == 1 else a[:, [self.position]])

    @property
    def total(self) -> Array:
        """Σ x by label, which every family of numbers knows; nan where levels are no numbers."""
        family, statistics, at = self.block.family, self.statistics, self.position
        if isinstance(family, Categorical):
            are_numbers = all(isinstance(level, Real) for level in family.levels)
            return statistics.counts @ np.array(family.levels if are_numbers else [np.nan] * len(family.levels), float)
        if isinstance(family, Gaussian):
            return (statistics.count * statistics.mean)[:, at]
        if isinstance(family, Bernoulli):
            return statistics.ones[:, at]
        return (statistics.counts if isinstance(family, Multinomial) else statistics.total)[:, at]

    def agrees_with(self, other: _Column) -> bool:
        """Whether both columns have the same values by label, as far as their families can tell."""
        mine, theirs = self.block, other.block
        if isinstance(mine.family, Categorical) and isinstance(theirs.family, Categorical):
            ours, others = self.by_level, other.by_level
            return ours.keys() == others.keys() and all(
                np.allclose(n, others[level], rtol=SAME, atol=SAME) for level, n in ours.items()
            )
        if type(mine.family) is type(theirs.family) and (not mine.family.whole_row or mine.names == theirs.names):
            return self.alone.agrees_with(other.alone)
        return np.allclose(self.total, other.total, rtol=SAME, atol=SAME)


def difference(first: Summary, second: Summary) -> str | None:
    """Return what shows that two summaries are of different rows, or None if nothing does."""
    unshared = set(first.names) ^ set(second.names)
    if unshared:
        return f"only one of them has the columns {shown(in_order(unshared))}"
    first, second = first.with_classes(second.classes), second.with_classes(first.classes)
    for label, mine, other in zip(first.classes, first.label_counts, second.label_counts, strict=True):
        if not np.isclose(mine, other, rtol=SAME, atol=SAME):
            return f"the label {label!r} has {mine:g} rows in one and {other:g} in the other"
    agreeing = _agreeing(first, second)
    in_doubt = [name for name in first.names if name not in agreeing]
    columns, others = _columns(first, in_doubt), _columns(second, in_doubt)
    differing = [name for name in in_doubt if not columns[name].agrees_with(others[name])]
    return f"the columns {shown(differing)} have other values" if differing else None


def _agreeing(first: Summary, second: Summary) -> set[Hashable]:
    """Names of the columns whose whole block agrees: one comparison where there are a million of them."""
    pairs = zip(first.blocks, first.statistics, second.blocks, second.statistics, strict=False)
    return {
        name
        for mine, ours, other, theirs in pairs
        if mine.names == other.names and type(mine.family) is type(other.family)
        if not isinstance(mine.family, Categorical) and ours.agrees_with(theirs)
        for name in mine.names
    }


def _columns(summary: Summary, names: Sequence[Hashable]) -> dict[Hashable, _Column]:
    wanted = set(names)
    return {
        name: _Column(block, statistics, position)
        for block, statistics in zip(summary.blocks, summary.statistics, strict=True)
        for position, name in enumerate(block.names)
        if name in wanted
    }
