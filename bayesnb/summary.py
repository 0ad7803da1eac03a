"""All that a model keeps of the rows it has met: labels, blocks, and sufficient statistics that add."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayesnb.blocks import (
    Block,
    Encoded,
    Missing,
    Unseen,
    code_by_value,
    encode,
    in_order,
    no_rows,
    plan,
    shown,
    with_levels_of,
)
from bayesnb.families.base import Array, Statistics
from bayesnb.frame import Column, Table, plain
from bayesnb.schema import Schema


@dataclass(frozen=True)
class Summary:
    """Labels with their weighted counts, and blocks of columns with their statistics.

    Two summaries of the same columns add up to the summary of all their rows, whatever labels and levels each has met.
    ``expected_rows`` is the weight of the rows that came without a label, and are under each as far as it is probable.
    """

    classes: tuple[Hashable, ...]
    label_counts: Array
    blocks: tuple[Block, ...]
    statistics: tuple[Statistics, ...]
    names: tuple[Hashable, ...]
    is_named: bool
    schema: Schema
    expected_rows: float = 0.0

    @classmethod
    def empty(cls, table: Table, families: Any, classes: Iterable[Hashable], missing: Missing = "ignore") -> Self:
        """Return the summary of no rows, for tables like the given one."""
        blocks, classes = plan(table, families, missing), tuple(classes)
        no_labels = np.zeros(0, dtype=np.uint8)
        statistics = (_statistics(block, no_rows(block), no_labels, len(classes), None) for block in blocks)
        counts = np.zeros(len(classes))
        return cls(classes, counts, blocks, tuple(statistics), table.names, table.is_named, table.schema)

    def emptied(self) -> Self:
        """Return the summary of no rows, with the same labels, blocks and levels."""
        statistics = tuple(of_block * 0.0 for of_block in self.statistics)
        return replace(self, label_counts=np.zeros(len(self.classes)), statistics=statistics, expected_rows=0.0)

    def positions(self, table: Table, block: Block) -> tuple[int, ...]:
        """Return where a table has the columns of a block: by name if both have names, else by position.

        Raises
        ------
        ValueError
            If a column is absent, or the number of columns differs where there are no names to go by.
        """
        if self.is_named and table.is_named:
            if any(name not in table.place for name in block.names):
                absent = [name for name in self.names if name not in table.place]
                raise ValueError(f"X lacks the columns {shown(absent)} that the model was fitted on.")
            return tuple(table.place[name] for name in block.names)
        if len(table.names) != len(self.names):
            raise ValueError(
                f"X has {len(table.names)} features, but NaiveBayes is expecting {len(self.names)} features as input."
            )
        return block.columns

    def encoded(self, table: Table, unseen: Unseen) -> list[Encoded]:
        """Return the arrays of every block."""
        return [encode(block, table, self.positions(table, block), unseen) for block in self.blocks]

    def met(self, table: Table, labels: Column, weight: Array | None, unseen: Unseen) -> Self:
        """Return the summary with further rows added, of levels that it has room for."""
        y = label_codes(labels, self.classes, table)
        new = (
            _statistics(block, part, y, len(self.classes), weight)
            for block, part in zip(self.blocks, self.encoded(table, unseen), strict=True)
        )
        return self.plus(np.bincount(y, weight, len(self.classes)), new)

    def plus(self, label_counts: Array, statistics: Iterable[Statistics], expected_rows: float = 0.0) -> Self:
        """Return the summary with the counts and statistics of further rows, of the same labels and levels."""
        return replace(
            self,
            label_counts=self.label_counts + label_counts,
            statistics=tuple(old + new for old, new in zip(self.statistics, statistics, strict=True)),
            expected_rows=self.expected_rows + expected_rows,
        )

    def with_classes(self, classes: Iterable[Hashable]) -> Self:
        """Return the summary with room for further labels."""
        union = in_order({*self.classes, *classes})
        if union == self.classes:
            return self
        places = [union.index(label) for label in self.classes]

        def widened(array: Array) -> Array:
            return _placed(array, 0, places, len(union))

        return replace(
            self,
            classes=union,
            label_counts=widened(self.label_counts),
            statistics=tuple(statistics.map(widened) for statistics in self.statistics),
        )

    def with_levels_of(self, table: Table) -> Self:
        """Return the summary with room for the levels that a table adds to open ones."""
        blocks = (with_levels_of(block, table, self.positions(table, block)[0]) for block in self.blocks)
        return self.with_levels(tuple(blocks))

    def with_levels(self, blocks: tuple[Block, ...]) -> Self:
        """Return the summary with room for the levels of other blocks of the same columns."""
        statistics = (
            old if new.family == block.family else _releveled(old, block.family.levels, new.family.levels)
            for old, block, new in zip(self.statistics, self.blocks, blocks, strict=True)
        )
        return replace(self, blocks=blocks, statistics=tuple(statistics))


def label_codes(labels: Column, classes: tuple[Hashable, ...], table: Table | None = None) -> Array:
    """Return the position of each label among the classes, in the smallest unsigned type: (row,); −1 of a missing one.

    Raises
    ------
    ValueError
        If a label is none of them.
    """
    codes = code_by_value(labels.values, classes)
    strange = codes < 0 if labels.missing is None else (codes < 0) & ~labels.missing
    if strange.any():
        row = int(np.argmax(strange))
        where = f"row {row}" if table is None else table.row_name(row)
        raise ValueError(
            f"The label {plain(labels.values[row])!r} in {where} is not among {shown(classes)}: "
            "name all the labels with partial_fit(…, classes=…)."
        )
    return codes.astype(np.min_scalar_type(-len(classes) if labels.missing is not None else len(classes)))


def _statistics(block: Block, encoded: Encoded, y: Array, n_labels: int, weight: Array | None) -> Statistics:
    return block.family.statistics(encoded.x, y, n_labels, weight, encoded.observed)


def _releveled(statistics: Statistics, old: tuple[Any, ...], new: tuple[Any, ...]) -> Statistics:
    places = [new.index(level) for level in old]
    return statistics.map(lambda counts: _placed(counts, 1, places, len(new)))


def _placed(array: Array, axis: int, places: list[int], size: int) -> Array:
    """An array with its entries along one axis moved to their places among ``size``, the others 0."""
    shape = list(array.shape)
    shape[axis] = size
    result = np.zeros(shape)
    np.moveaxis(result, axis, 0)[places] = np.moveaxis(array, axis, 0)
    return result
