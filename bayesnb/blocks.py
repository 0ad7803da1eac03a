"""Columns to blocks of codes and numbers that a family reads: levels, missing cells and unseen values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from bayesnb.families import Bernoulli, Categorical, Family, Gaussian, Multinomial
from bayesnb.families.base import Array
from bayesnb.frame import Column, Table, object_array, plain
from bayesnb.priors import Prior

LOOKUP_SPAN = 1 << 16  # integers spread no wider than this are coded by a table, others by hashing

Unseen = Literal["error", "ignore"]
Missing = Literal["ignore", "level", "error"]


@dataclass(frozen=True)
class Block:
    """Columns that one family reads together, by their names and positions in the training table."""

    family: Any
    columns: tuple[int, ...]
    names: tuple[Hashable, ...]
    is_closed: bool = False  # whether a Categorical's levels were declared, so that no other can be met
    missing: Missing = "ignore"  # "level" (of a Categorical): a missing cell has the value None, the last of the levels


@dataclass(frozen=True)
class Encoded:
    """The arrays of one block: the values, and which cells are observed (None: all)."""

    x: Any
    observed: Array | None = None

    def take(self, rows: Any) -> Encoded:
        """Return the rows of a slice, a mask or an index."""
        return Encoded(self.x[rows], None if self.observed is None else self.observed[rows])


def plan(
    table: Table, families: Family | Mapping[Any, Family] | None, missing: Missing = "ignore"
) -> tuple[Block, ...]:
    """Return the blocks that a table is read in: which family reads which columns.

    Parameters
    ----------
    table : Table
    families : Family, mapping or None
        One family for all columns; or a mapping from a column name (for an array: its position or x0, x1, …), a tuple
        of them, or a slice of positions, to a family; columns that it does not name are read by their type, as all are
        with None.

    Raises
    ------
    ValueError
        If a name is not a column of the table or is named twice, or a type can't be read.
    TypeError
        If something other than a family stands where one belongs.
    """
    groups: list[tuple[Family, list[int]]] = []
    shared: list[tuple[Family, list[int]]] = []  # few, where the groups may be as many as the columns
    for family, positions in _assignments(table, families):
        joined = next((group for group in shared if group[0] == family), None)
        if joined is not None:
            joined[1].extend(positions)
            continue
        groups.append((family, positions))
        if _is_any_width(family):
            shared.append(groups[-1])
    return tuple(_block(table, family, positions, missing) for family, positions in groups)


def _is_any_width(family: Any) -> bool:
    """Whether columns may join those of an equal family: each has its own parameters, and all the same prior."""
    has_number_a_column = isinstance(family.prior, Prior) and not family.prior.is_scalar
    return not (family.whole_row or isinstance(family, Categorical) or has_number_a_column)


def _assignments(table: Table, families: Any) -> Iterable[tuple[Family, list[int]]]:
    """Yield every family with its columns, in the order of the table; a Categorical once a column."""
    everything = range(len(table.names))
    if isinstance(families, Mapping):
        chosen = [(_checked(family), _positions(table, key)) for key, family in families.items()]
        taken = set[int]()
        for position in (p for _, positions in chosen for p in positions):
            if position in taken:
                raise ValueError(f"families names the column {table.names[position]!r} more than once.")
            taken.add(position)
        rest = [position for position in everything if position not in taken]
        if rest and sparse.issparse(table.array):
            raise ValueError(
                f"families must name every column of a sparse matrix, but leaves out "
                f"{shown(table.names[p] for p in rest)}: a slice, such as slice(2, None), names all from a position on."
            )
        chosen += [(family_of(table.read(p)), [p]) for p in rest]
    elif sparse.issparse(table.array) and not isinstance(families, Bernoulli | Multinomial):
        name = "Gaussian" if families is None else _checked(families).name
        raise ValueError(f"{name} does not read a sparse matrix: read it as Multinomial() or Bernoulli().")
    elif families is None:
        chosen = [(family_of(table.read(p)), [p]) for p in everything]
    else:
        chosen = [(_checked(families), list(everything))]
    for family, positions in sorted(chosen, key=lambda pair: min(pair[1], default=0)):
        if isinstance(family, Categorical):
            yield from ((family, [position]) for position in positions)
        elif positions:
            yield family, positions


def _checked(family: Any) -> Family:
    if isinstance(family, Family):
        return family
    if isinstance(family, type) and issubclass(family, Family):
        raise TypeError(f"families holds the class {family.__name__}: write {family.__name__}(), with brackets.")
    raise TypeError(f"families must hold families such as Gaussian(), not {family!r}.")


def _positions(table: Table, key: Any) -> list[int]:
    if key in table.place:
        return [table.place[key]]
    if isinstance(key, slice):
        return list(range(len(table.names))[key])
    if isinstance(key, tuple):
        return [position for part in key for position in _positions(table, part)]
    if isinstance(key, int | np.integer) and not table.is_named and 0 <= key < len(table.names):
        return [int(key)]
    raise ValueError(f"families names the column {key!r}, which the table does not have; it has {shown(table.names)}.")


def family_of(column: Column) -> Family:
    """Return the family that reads a column by its type."""
    if column.kind == "boolean":
        return Bernoulli()
    if column.kind == "number":
        return Gaussian()
    return Categorical()


def _block(table: Table, family: Family, positions: list[int], missing: Missing) -> Block:
    names = tuple(table.names[position] for position in positions)
    if not isinstance(family, Categorical):
        _check_width(family, names)
        of_family = family.missing or ("ignore" if missing == "level" else missing)
        return Block(family, tuple(positions), names, missing=of_family)
    column = table.read(positions[0])
    if column.kind == "mixed" and family.levels is None:
        raise ValueError(
            f"Column {names[0]!r} mixes values of different types ({shown(distinct(column))}): "
            "make them of one type, or declare Categorical(levels=…) for it."
        )
    levels = column.levels if family.levels is None else family.levels
    is_closed = levels is not None
    levels = distinct(column) if levels is None else levels
    missing = missing if family.missing is None else family.missing
    if missing == "level":
        levels = (*(level for level in levels if level is not None), None)
    return Block(replace(family, levels=levels), tuple(positions), names, is_closed=is_closed, missing=missing)


def _check_width(family: Any, names: tuple[Hashable, ...]) -> None:
    if isinstance(family.prior, Prior) and not family.whole_row and not family.prior.is_scalar:
        try:
            family.prior.map(lambda array: np.broadcast_to(array, len(names)))
        except ValueError as error:
            raise ValueError(
                f"The prior of {family.name} does not fit its {len(names)} columns {shown(names)}."
            ) from error


def with_levels_of(block: Block, table: Table, position: int) -> Block:
    """Return the block with the levels that another table adds to it, if it is a Categorical with open levels."""
    if block.is_closed or not isinstance(block.family, Categorical):
        return block
    new = set(distinct(table.read(position))) - set(block.family.levels)
    return with_levels(block, new) if new else block


def with_levels(block: Block, further: Iterable[Hashable]) -> Block:
    """Return a Categorical block with room for further levels, None last."""
    levels = {*block.family.levels, *further}
    ordered = in_order(levels - {None})
    return replace(block, family=replace(block.family, levels=(*ordered, None) if None in levels else ordered))


def distinct(column: Column) -> tuple[Hashable, ...]:
    """Return the values of a column in order, each once."""
    return in_order(pd.unique(column.present).tolist())


def in_order(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values sorted, those that can't be compared by the name of their type and their text."""
    values = list(values)
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def shown(values: Iterable[Any]) -> str:
    """Return the first few values as an error message lists them."""
    values = list(values)
    return ", ".join(map(repr, values[:8])) + (", …" if len(values) > 8 else "")


def encode(block: Block, table: Table, positions: tuple[int, ...], unseen: Unseen = "error") -> Encoded:
    """Return the arrays of a block from the columns of a table at the given positions.

    Raises
    ------
    ValueError
        If a value does not fit the family, naming the column, the value and the first row.
    """
    if block.missing == "error":
        _check_complete(table, positions)
    if isinstance(block.family, Categorical):
        return _codes(block, table, positions[0], unseen)
    if isinstance(block.family, Multinomial):
        return _documents(block.family, table, positions)
    whole = _whole_array(block, table, positions)
    return _stacked(block.family, table, positions) if whole is None else whole


def no_rows(block: Block) -> Encoded:
    """Return the arrays of a block for no rows."""
    if isinstance(block.family, Categorical):
        return Encoded(np.zeros(0, dtype=np.uint8))
    if isinstance(block.family, Multinomial):
        return Encoded(sparse.csr_array((0, len(block.columns))))
    return Encoded(np.zeros((0, len(block.columns)), dtype=bool if isinstance(block.family, Bernoulli) else float))


def _check_complete(table: Table, positions: tuple[int, ...]) -> None:
    for position in positions:
        missing = table.read(position).missing
        if missing is not None and missing.any():
            raise ValueError(
                f"Column {table.names[position]!r} has no value in {table.row_name(int(np.argmax(missing)))}, and the "
                'model was made with missing="error": fill it, or leave it out with missing="ignore".'
            )


def _codes(block: Block, table: Table, position: int, unseen: Unseen) -> Encoded:
    column, levels = table.read(position), block.family.levels
    of_values = levels[:-1] if block.missing == "level" else levels
    codes = code_by_value(column.values, of_values)
    observed = None if column.missing is None else ~column.missing
    if block.missing == "level" and observed is not None:
        codes, observed = np.where(observed, codes, len(of_values)), None
    strange = codes < 0 if observed is None else (codes < 0) & observed
    if strange.any():
        if unseen == "error":
            row = int(np.argmax(strange))
            raise ValueError(
                f"Column {block.names[0]!r} has the value {plain(column.values[row])!r} in {table.row_name(row)}, "
                f"which is not among its levels {shown(levels)}: declare it with Categorical(levels=…) if it can occur,"
                ' or treat unseen values as missing with unseen="ignore".'
            )
        observed = ~strange if observed is None else observed & ~strange
    return Encoded(np.where(codes < 0, 0, codes).astype(np.min_scalar_type(len(levels))), observed)


def code_by_value(values: Array, levels: tuple[Any, ...]) -> Array:
    """Return the position of each value among the levels, −1 where it is none of them."""
    if levels and _is_narrow(values, levels):
        low, high = min(levels), max(levels)
        table = np.full(high - low + 3, -1, dtype=np.int32)  # a further place at either end for values outside
        table[np.array(levels) - low + 1] = np.arange(len(levels))
        return np.take(table, values.astype(np.int64) - (low - 1), mode="clip")
    known = pd.Index(object_array(levels), dtype=object, tupleize_cols=False)
    return known.get_indexer(pd.Index(values.astype(object), dtype=object, tupleize_cols=False))


def _is_narrow(values: Array, levels: tuple[Any, ...]) -> bool:
    if values.dtype.kind not in "iu" or values.dtype == np.uint64 or any(type(level) is not int for level in levels):
        return False
    low, high = min(levels), max(levels)
    return high - low < LOOKUP_SPAN and low > -(2**63) and high < 2**63 - 1


def _documents(family: Multinomial, table: Table, positions: tuple[int, ...]) -> Encoded:
    """Rows of counts in compressed form; a row with a missing count is an empty one, which says nothing."""
    if sparse.issparse(table.array):
        counts = table.array if len(positions) == table.array.shape[1] else table.array[:, list(positions)]
        _check_sparse(table, positions, counts, family)
        return Encoded(counts)
    encoded = _stacked(family, table, positions)
    x = encoded.x if encoded.observed is None else encoded.x * encoded.observed.all(1, keepdims=True)
    return Encoded(sparse.csr_array(x))


def _whole_array(block: Block, table: Table, positions: tuple[int, ...]) -> Encoded | None:
    """The columns of an array all at once, where they are next to each other."""
    array, first = table.array, positions[0]
    if array is None or positions != tuple(range(first, first + len(positions))):
        return None
    if sparse.issparse(array) and not isinstance(block.family, Bernoulli):
        return None  # a few columns of numbers beside those of words
    x = array if len(positions) == array.shape[1] else array[:, first : first + len(positions)]
    if sparse.issparse(x):
        _check_sparse(table, positions, x, block.family)
        return Encoded(x)
    observed = None
    if x.dtype.kind == "f":
        missing = np.isnan(x)
        if missing.any():
            observed, x = ~missing, np.where(missing, 0.0, x)
    _check_cells(block.family, table, positions, x)
    if isinstance(block.family, Gaussian):
        return Encoded(x, observed)  # it takes any type in blocks; others would overflow in a narrow one
    return Encoded(x.astype(bool if isinstance(block.family, Bernoulli) else float, copy=False), observed)


def _stacked(family: Family, table: Table, positions: tuple[int, ...]) -> Encoded:
    """The columns of a frame side by side, 0 where a cell is missing."""
    x = np.zeros((table.n_rows, len(positions)))
    observed = np.ones(x.shape, dtype=bool)
    for j, position in enumerate(positions):
        column = table.read(position)
        if column.kind not in ("boolean", "number") and column.present.size:
            row = 0 if column.missing is None else int(np.argmin(column.missing))
            raise ValueError(
                f"{family.name} needs numbers, but column {table.names[position]!r} has the value "
                f"{plain(column.values[row])!r} in {table.row_name(row)}: convert it, or read it as Categorical()."
            )
        x[:, j] = column.values if column.missing is None else np.where(column.missing, 0, column.values)
        if column.missing is not None:
            observed[:, j] = ~column.missing
    _check_cells(family, table, positions, x)
    x = x.astype(bool) if isinstance(family, Bernoulli) else x
    return Encoded(x, None if observed.all() else observed)


def _check_cells(family: Family, table: Table, positions: tuple[int, ...], x: Array) -> None:
    """Raise if a value lies outside the support of its family, naming the first one."""
    inside = family.takes(x)
    if inside.all():
        return
    row, j = np.argwhere(~inside)[0]
    raise ValueError(
        f"{family.name} takes {family.support}, but column {table.names[positions[j]]!r} has the value "
        f"{plain(x[row, j])!r} in {table.row_name(int(row))}."
    )


def _check_sparse(table: Table, positions: tuple[int, ...], x: Any, family: Family) -> None:
    inside = family.takes(x.data)
    if not inside.all():
        entry = int(np.argmin(inside))
        row = int(np.searchsorted(x.indptr, entry, side="right")) - 1
        name = table.names[positions[x.indices[entry]]]
        raise ValueError(
            f"{family.name} takes {family.support}, but column {name!r} has the value {plain(x.data[entry])!r} "
            f"in {table.row_name(row)}."
        )
