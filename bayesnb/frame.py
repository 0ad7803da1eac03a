"""Any table to columns of arrays, read one at a time: the only room that knows data frames."""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy import sparse

from bayesnb.families.base import Array

Kind = Literal["boolean", "number", "text", "mixed"]


@dataclass(frozen=True)
class Column:
    """One column of a table: its values, which are missing, and the levels that its type declares."""

    values: Array
    missing: Array | None = None
    levels: tuple[Hashable, ...] | None = None
    kind: Kind = "number"

    def take(self, rows: Array) -> Column:
        """Return the column's rows where the mask is true."""
        return replace(self, values=self.values[rows], missing=None if self.missing is None else self.missing[rows])

    @property
    def present(self) -> Array:
        """The values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


@dataclass(frozen=True)
class Table:
    """A rectangular input, read one column at a time."""

    names: tuple[Hashable, ...]
    n_rows: int
    read: Callable[[int], Column]
    is_named: bool = False
    index: Any = None
    array: Any = None  # the whole input where it is a numeric array or a sparse matrix

    def take(self, rows: Array) -> Table:
        """Return the rows where the mask is true."""
        return replace(
            self,
            n_rows=int(rows.sum()),
            read=lambda position: self.read(position).take(rows),
            index=None if self.index is None else self.index[rows],
            array=None if self.array is None else self.array[rows],
        )

    def row_name(self, row: int) -> str:
        """Return what an error message calls a row."""
        return f"row {row}" if self.index is None else f"row {row} (index {self.index[row]!r})"


def read_table(X: Any) -> Table:
    """Return a table from a NumPy array, a SciPy sparse matrix or any data frame that narwhals reads.

    Raises
    ------
    TypeError
        If X is none of these.
    ValueError
        If X is not two-dimensional or two columns have the same name.
    """
    if isinstance(X, Table):
        return X
    if sparse.issparse(X):
        return _read_sparse(X)
    if isinstance(X, np.ndarray | list | tuple):
        return _read_array(X)
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"X must be a data frame, a two-dimensional array or a sparse matrix, not {type(X).__name__}."
        ) from error
    return _read_frame(frame)


def _read_sparse(X: Any) -> Table:
    array = sparse.csr_array(X)
    array.sum_duplicates()
    return Table(
        array_names(array.shape[1]), array.shape[0], lambda j: Column(array[:, [j]].toarray().ravel()), array=array
    )


def _read_array(X: Any) -> Table:
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns, not the shape {array.shape}; "
            "reshape a single column with X.reshape(-1, 1), a single row with X.reshape(1, -1)."
        )

    def read(position: int) -> Column:
        column = column_of_array(array[:, position])
        return column if mask is None else replace(column, missing=_either(column.missing, mask[:, position]))

    is_numeric = array.dtype.kind in "biuf" and mask is None
    return Table(array_names(array.shape[1]), len(array), read, array=array if is_numeric else None)


def _read_frame(frame: nw.DataFrame[Any]) -> Table:
    names = tuple(frame.columns)
    repeated = sorted({str(name) for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise ValueError(f"Two columns are called {', '.join(map(repr, repeated))}: rename one of them.")
    native = nw.to_native(frame)
    has_index = isinstance(native, pd.DataFrame) and not native.index.equals(pd.RangeIndex(len(native)))
    index = native.index if has_index else None
    return Table(
        names, len(frame), lambda j: column_of_series(frame[names[j]], str(names[j])), is_named=True, index=index
    )


def array_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, …"""
    return tuple(f"x{position}" for position in range(n_columns))


def column_of_array(values: Array) -> Column:
    """Return a column from a one-dimensional NumPy array."""
    kind = values.dtype.kind
    if kind == "b":
        return Column(values, kind="boolean")
    if kind in "iu":
        return Column(values)
    if kind == "f":
        return Column(values, _mask(np.isnan(values)))
    if kind in "US":
        return Column(values.astype(object), kind="text")
    if kind == "O":
        return _column_of_objects(values)
    raise ValueError(f"Values of the NumPy type {values.dtype} can't be read; {_CONVERT_DATES}")


def column_of_series(series: nw.Series[Any], name: str) -> Column:
    """Return a column from a series of any data frame library."""
    dtype = series.dtype
    missing = _mask(series.is_null().to_numpy())
    if dtype == nw.Boolean:
        return Column(series.fill_null(value=False).to_numpy().astype(bool), missing, kind="boolean")
    if dtype.is_numeric():
        values = series.cast(nw.Float64).to_numpy() if dtype == nw.Decimal or missing is not None else series.to_numpy()
        return Column(values, _either(missing, np.isnan(values)) if values.dtype.kind == "f" else missing)
    if dtype in (nw.Categorical, nw.Enum):
        levels = tuple(series.cat.get_categories().to_list())
        return Column(series.to_numpy().astype(object), missing, levels, kind="text")
    if dtype == nw.String:
        return Column(series.to_numpy().astype(object), missing, kind="text")
    if dtype in (nw.Object, nw.Unknown):
        return _column_of_objects(series.to_numpy())
    raise ValueError(f"Column {name!r} has the type {dtype}, which no family reads; {_CONVERT_DATES}")


_CONVERT_DATES = "turn dates and durations into numbers (days since a start) or into categories (month, weekday) first."


def _column_of_objects(values: Array) -> Column:
    missing = _mask(pd.isna(values))
    column = Column(values, missing, kind="mixed")
    types = {type(value) for value in column.present}
    if types and types <= {bool, np.bool_}:
        return replace(column, values=_filled(column, fill=False).astype(bool), kind="boolean")
    if all(issubclass(t, numbers.Real | decimal.Decimal) and not issubclass(t, bool) for t in types):
        return replace(column, values=_filled(column, fill=np.nan).astype(float), kind="number")
    return replace(column, kind="text") if all(issubclass(t, str) for t in types) else column


def _filled(column: Column, fill: Any) -> Array:
    return column.values if column.missing is None else np.where(column.missing, fill, column.values)


def _mask(missing: Array) -> Array | None:
    missing = missing.astype(bool)
    return missing if missing.any() else None


def _either(first: Array | None, second: Array) -> Array | None:
    return _mask(second if first is None else first | second)


def read_labels(y: Any, n_rows: int, *, may_lack: bool = False) -> Column:
    """Return the column of labels.

    Raises
    ------
    ValueError
        If there is not one label for each row, or a label is missing and ``may_lack`` does not allow it.
    """
    column = _column_of(y, "y")
    if len(column.values) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(column.values)} labels.")
    if column.missing is not None and not may_lack:
        raise ValueError(
            f"The label of row {int(np.argmax(column.missing))} is missing ({int(column.missing.sum())} in all): "
            "leave out the rows without a label."
        )
    return column


def read_weights(sample_weight: Any, n_rows: int) -> Array:
    """Return row weights as floats.

    Raises
    ------
    ValueError
        If there is not one weight for each row, or one is missing, negative or infinite.
    """
    column = _column_of(sample_weight, "sample_weight")
    if len(column.values) != n_rows or column.kind not in ("number", "boolean"):
        raise ValueError(f"sample_weight must hold one number for each of the {n_rows} rows.")
    weight = column.values.astype(float)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"sample_weight must be finite and not negative, not {weight[row]} as in row {row}.")
    return weight


def _column_of(values: Any, name: str) -> Column:
    """A column from a series of any library or any one-dimensional sequence."""
    try:
        return column_of_series(nw.from_native(values, series_only=True), name)
    except TypeError:
        array = values if isinstance(values, np.ndarray) else _object_or_plain_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not the shape {array.shape}.")
    return column_of_array(array)


def _object_or_plain_array(values: Any) -> Array:
    """A list as an array that changes no value: [1, "a"] does not become text."""
    values = list(values)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    kinds = {type(value) for value in values}
    return np.array(values) if len(kinds) == 1 and kinds <= {bool, int, float, str} else objects
