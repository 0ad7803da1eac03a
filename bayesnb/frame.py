"""Any table in memory to columns of arrays, read one at a time, or whole where it is one array of numbers."""

from __future__ import annotations

import datetime as dt
import decimal
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy import sparse

from bayesnb.families.base import Array
from bayesnb.schema import NO_SCHEMA, Schema, schema_of_array, schema_of_frame

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

    def without(self, texts: Sequence[str], name: Hashable) -> Column:
        """Return the column with the cells missing that hold one of some texts."""
        if self.kind not in ("text", "mixed"):
            return self
        missing = _either(self.missing, pd.Series(self.values).isin(texts).to_numpy())
        if self.kind == "mixed":  # what is left may be of one kind
            return _column_of_objects(object_array(_filled(replace(self, missing=missing), fill=None)), name)
        levels = self.levels and tuple(level for level in self.levels if level not in texts)
        return replace(self, missing=missing, levels=levels)

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
    rows: Array | None = None  # where the rows were in the user's table, if some were taken
    schema: Schema = NO_SCHEMA

    @cached_property
    def place(self) -> dict[Hashable, int]:
        """The position of each column by its name."""
        return {name: position for position, name in enumerate(self.names)}

    def take(self, rows: Array) -> Table:
        """Return the rows where the mask is true."""
        return replace(
            self,
            n_rows=int(rows.sum()),
            read=lambda position: self.read(position).take(rows),
            index=None if self.index is None else self.index[rows],
            array=None if self.array is None else self.array[rows],
            rows=np.flatnonzero(rows) if self.rows is None else self.rows[rows],
        )

    def without(self, texts: Sequence[str]) -> Table:
        """Return the table with the cells missing that hold one of some texts."""
        if not texts:
            return self
        return replace(self, read=lambda position: self.read(position).without(texts, self.names[position]))

    def row_name(self, row: int) -> str:
        """Return what an error message calls a row."""
        position = row if self.rows is None else self.rows[row]
        return f"row {position}" if self.index is None else f"row {position} (index {plain(self.index[row])!r})"


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
        if hasattr(X, "__array__"):
            return _read_array(np.asarray(X))
        raise TypeError(
            f"X must be a data frame, a two-dimensional array or a sparse matrix, not {type(X).__name__}."
        ) from error
    return _read_frame(frame)


def _read_sparse(X: Any) -> Table:
    if X.ndim != 2:
        raise _wrong_shape(X.shape)
    array = sparse.csr_array(X)
    if not array.has_canonical_format:
        array = array.copy()  # its arrays may be the user's own
        array.sum_duplicates()
    names = array_names(array.shape[1])
    return Table(
        names,
        array.shape[0],
        lambda j: column_of_array(array[:, [j]].toarray().ravel(), names[j]),
        array=array,
        schema=schema_of_array(array),
    )


def _read_array(X: Any) -> Table:
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    array = _unmasked(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # [1, "a"] does not become text
    if array.ndim != 2:
        raise _wrong_shape(array.shape)
    names = array_names(array.shape[1])

    def read(position: int) -> Column:
        column = column_of_array(array[:, position], names[position])
        return column if mask is None else replace(column, missing=_either(column.missing, mask[:, position]))

    is_numeric = array.dtype.kind in "biuf" and mask is None
    return Table(names, len(array), read, array=array if is_numeric else None, schema=schema_of_array(array))


def _wrong_shape(shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"X must have two dimensions, rows and columns, not the shape {shape}. "
        "Reshape your data with X.reshape(-1, 1) if it is a single column, with X.reshape(1, -1) if it is a single row."
    )


def _read_frame(frame: nw.DataFrame[Any]) -> Table:
    names = tuple(frame.columns)  # narwhals refuses two of the same name
    native = nw.to_native(frame)
    has_index = isinstance(native, pd.DataFrame) and not native.index.equals(pd.RangeIndex(len(native)))
    index = native.index if has_index else None

    def read(position: int) -> Column:
        name = names[position]
        return column_of_series(frame.get_column(name), name)  # frame[:, position] would list all the names each time

    table = Table(names, len(frame), read, is_named=True, index=index, schema=schema_of_frame(frame))
    return replace(table, read=whole.read, array=whole.array) if (whole := _whole_frame(native)) else table


def _whole_frame(native: Any) -> Table | None:
    """A pandas frame of one NumPy type of numbers as an array, which spares its columns half a millisecond each."""
    types = set(native.dtypes) if isinstance(native, pd.DataFrame) else set()
    if len(types) == 1 and isinstance(dtype := types.pop(), np.dtype) and dtype.kind in "biuf":
        return _read_array(native.to_numpy())
    return None


def array_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, …"""
    return tuple(f"x{position}" for position in range(n_columns))


def column_of_array(values: Array, name: Hashable) -> Column:
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
        return _column_of_objects(values, name)
    if kind == "c":
        raise ValueError(f"Complex data not supported, as in {name!r}: use the real and imaginary parts as columns.")
    raise _unreadable(name, values.dtype)


def column_of_series(series: nw.Series[Any], name: Hashable) -> Column:
    """Return a column from a series of any data frame library."""
    dtype = series.dtype
    missing = _mask(series.is_null().to_numpy())
    if dtype == nw.Boolean:
        return Column(series.fill_null(value=False).to_numpy().astype(bool), missing, kind="boolean")
    if dtype.is_integer():  # not by way of floats, which can't hold every integer
        return Column((series if missing is None else series.fill_null(0)).to_numpy(), missing)
    if dtype.is_numeric():
        values = series.cast(nw.Float64).to_numpy() if dtype == nw.Decimal or missing is not None else series.to_numpy()
        return Column(values, _either(missing, np.isnan(values)))
    if dtype in (nw.Categorical, nw.Enum):
        return _column_of_categories(series, name)
    if dtype == nw.String:
        return Column(series.to_numpy().astype(object), missing, kind="text")
    if dtype in (nw.Object, nw.Unknown):
        return _column_of_objects(series.to_numpy(), name)
    raise _unreadable(name, dtype)


def _column_of_categories(series: nw.Series[Any], name: Hashable) -> Column:
    native = nw.to_native(series)
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.ArrowDtype):
        import pyarrow as pa

        return column_of_series(nw.from_native(pa.chunked_array(pa.array(native)), series_only=True), name)
    if isinstance(native, pd.Series):  # by codes, as pandas' own way to the values makes floats of whole numbers
        levels = native.cat.categories.tolist()
        values = object_array([*levels, None])[native.cat.codes]
    else:
        levels = series.cat.get_categories().to_list() if len(series) else []
        values = series.to_numpy().astype(object)
    missing = _either(_mask(series.is_null().to_numpy()), pd.isna(values))
    return Column(values, missing, tuple(level for level in levels if level is not None), kind="text")


NO_VALUES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64, complex)


def _unreadable(name: Hashable, dtype: object) -> ValueError:
    return ValueError(
        f"Column {name!r} has the type {dtype}, which no family reads; turn dates and durations into numbers (days "
        "since a start) or into categories (month, weekday), lists into columns."
    )


def _column_of_objects(values: Array, name: Hashable) -> Column:
    """A column of Python objects, its values unchanged: an integer does not become a float."""
    column = Column(values, _mask(pd.isna(values)), kind="mixed")
    types = {type(value) for value in column.present}
    for t in types:
        if issubclass(t, NO_VALUES) or not issubclass(t, Hashable):
            raise _unreadable(name, t.__name__)
    if any(issubclass(t, np.generic) for t in types):
        column = replace(column, values=object_array(plain(value) for value in values))
        types = {type(value) for value in column.present}
    if types and types <= {bool}:
        return replace(column, values=_filled(column, fill=False).astype(bool), kind="boolean")
    if bool not in types and all(issubclass(t, numbers.Real | decimal.Decimal) for t in types):
        return replace(column, values=_filled(column, fill=0), kind="number")
    return replace(column, kind="text") if len(types) <= 1 else column


def plain(value: Any) -> Any:
    """Return a NumPy scalar as the Python value that it stands for, all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def object_array(values: Iterable[Any]) -> Array:
    """Return values as a one-dimensional array of objects that changes none: a tuple stays one value."""
    return np.fromiter(values, dtype=object)


def _filled(column: Column, fill: Any) -> Array:
    return column.values if column.missing is None else np.where(column.missing, fill, column.values)


def _mask(missing: Array) -> Array | None:
    missing = missing.astype(bool)
    return missing if missing.any() else None


def _either(first: Array | None, second: Array) -> Array | None:
    return _mask(second if first is None else first | second)


def take_named(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return X, y and sample_weight, taken out of X where they are names of its columns.

    Raises
    ------
    TypeError
        If y is a name, but X has none.
    ValueError
        If X has no column of the name.
    """
    names = [name for name in (y, sample_weight) if isinstance(name, str)]
    if not names:
        return X, y, sample_weight
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(f"{names[0]!r} can name a column only if X is a data frame, not {type(X).__name__}.")
    check_names(names, frame.columns)
    y, sample_weight = (frame[v].to_native() if isinstance(v, str) else v for v in (y, sample_weight))
    return frame.drop(*names).to_native(), y, sample_weight


def check_names(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise ValueError if a name is not one of the columns."""
    for name in names:
        if name not in columns:
            raise ValueError(f"X has no column {name!r}; it has {', '.join(map(repr, columns))}.")


LEAVE_OUT = (
    "leave out the rows without a label, or sum over it in fit on a table in memory, "
    'with NaiveBayes(unlabelled="marginalize")'
)


def read_labels(y: Any, n_rows: int, *, may_lack: bool = False) -> Column:
    """Return the column of labels.

    Raises
    ------
    ValueError
        If there is not one label for each row, or a label is missing and ``may_lack`` does not allow it.
    """
    if y is None:
        raise ValueError("NaiveBayes requires y to be passed, but the target y is None.")
    column = _column_of(y, "y")
    if len(column.values) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(column.values)} labels.")
    if column.missing is not None and not may_lack:
        raise ValueError(
            f"The label of row {int(np.argmax(column.missing))} is missing ({int(column.missing.sum())} in all): "
            f"{LEAVE_OUT}."
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
    weight = _filled(column, fill=np.nan).astype(float)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"sample_weight must be finite and not negative, not {weight[row]} as in row {row}.")
    return weight


def _column_of(values: Any, name: str) -> Column:
    """A column from a series of any library or any one-dimensional sequence."""
    if isinstance(values, pd.api.extensions.ExtensionArray | pd.Index):
        values = pd.Series(values)
    try:
        return column_of_series(nw.from_native(values, series_only=True), name)
    except TypeError:
        array = _unmasked(values) if hasattr(values, "__array__") else _object_or_plain_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not the shape {array.shape}.")
    column = column_of_array(array, name)
    is_masked = isinstance(values, np.ma.MaskedArray)
    return replace(column, missing=_either(column.missing, np.ma.getmaskarray(values).ravel())) if is_masked else column


def _unmasked(values: Any) -> Array:
    """An array, without the objects behind a mask."""
    has_objects = isinstance(values, np.ma.MaskedArray) and values.dtype == object
    return values.filled(None) if has_objects else np.asarray(values)


def _object_or_plain_array(values: Any, name: str) -> Array:
    """A list as an array that changes no value: [1, "a"] does not become text."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence, or the name of a column, not {values!r}.")
    values = list(values)
    kinds = {type(value) for value in values}
    return np.array(values) if len(kinds) == 1 and kinds <= {bool, int, float, str} else object_array(values)
