"""The kind of a table and the types of its columns, as text that a file can keep; and new tables of the same types."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]


class Schema(NamedTuple):
    """What a table is made of: "numpy", "sparse" or a data frame library; and the name of every column's type."""

    library: str
    dtypes: tuple[str, ...]


NO_SCHEMA = Schema("numpy", ())


class NewColumn(NamedTuple):
    """Values for a new column: numbers; or with levels the position of each among them, −1 where it is missing."""

    values: Array
    levels: tuple[Hashable, ...] | None = None

    @property
    def objects(self) -> list[Any]:
        """The values themselves, None where one is missing."""
        if self.levels is None:
            return self.values.tolist()
        return [self.levels[code] if code >= 0 else None for code in self.values]

    @property
    def lacks_some(self) -> bool:
        """Whether a value is missing."""
        return self.levels is not None and bool((self.values < 0).any())


def schema_of_array(array: Any) -> Schema:
    """Return the schema of a NumPy array or a sparse matrix."""
    name = "str" if array.dtype.kind in "US" else array.dtype.name
    return Schema("sparse" if sparse.issparse(array) else "numpy", (name,) * array.shape[1])


def schema_of_frame(frame: nw.DataFrame[Any]) -> Schema:
    """Return the schema of a data frame; pandas and PyArrow have types that narwhals does not tell apart."""
    native, library = nw.to_native(frame), frame.implementation.value
    if library == "pandas":
        ordered = [isinstance(dtype, pd.CategoricalDtype) and dtype.ordered for dtype in native.dtypes]
        return Schema(library, tuple("ordered " * o + str(d) for o, d in zip(ordered, native.dtypes, strict=True)))
    if library == "pyarrow":
        return Schema(library, tuple(str(field.type) for field in native.schema))
    return Schema(library, tuple(type(dtype).__name__ for dtype in frame.schema.values()))


def new_table(schema: Schema, names: Sequence[Hashable], columns: Sequence[NewColumn]) -> Any:
    """Return a table of the library and the types of a schema; another type where that can't hold the values."""
    if schema.library in ("numpy", "sparse"):
        array = _array(schema.dtypes[0], columns)
        return sparse.csr_array(array) if schema.library == "sparse" else array
    column_of = {"pandas": _of_pandas, "pyarrow": _of_arrow}.get(schema.library, _of_narwhals)
    made = [column_of(schema.library, dtype, column) for dtype, column in zip(schema.dtypes, columns, strict=True)]
    if schema.library == "pandas":
        return pd.DataFrame(dict(zip(names, made, strict=True)))
    if schema.library == "pyarrow":
        import pyarrow as pa

        return pa.table(made, [str(name) for name in names])
    frames = [series.alias(str(name)).to_frame() for name, series in zip(names, made, strict=True)]
    return nw.concat(frames, how="horizontal").to_native()


def _array(dtype: str, columns: Sequence[NewColumn]) -> Array:
    if dtype in ("object", "str"):
        array = np.empty((len(columns[0].values), len(columns)), dtype=object)
        for position, column in enumerate(columns):
            array[:, position] = np.fromiter(column.objects, dtype=object)
        return array.astype(str) if dtype == "str" and not any(column.lacks_some for column in columns) else array
    array = np.column_stack([np.array(column.objects, float if column.lacks_some else None) for column in columns])
    return array.astype(dtype) if _holds(dtype, array) else array


def _holds(dtype: str, values: Array) -> bool:
    """Whether a type of this name holds numbers: floats but for rounding, others exactly."""
    name = dtype.lower()
    whole = re.search(r"u?int\d+", name)
    if whole or "bool" in name:
        is_whole = (np.rint(values) == values).all()
        return bool(is_whole and (values.astype(whole[0] if whole else bool) == values).all())
    largest = np.finfo(np.float16 if "16" in name or name.startswith("half") else np.float32).max
    return ("float" in name or "double" in name) and bool((np.abs(values) <= largest).all())


def _of_pandas(_library: str, dtype: str, column: NewColumn) -> Any:
    if column.levels is None:
        series = pd.Series(column.values)
        return series.astype(dtype) if _holds(dtype, column.values) else series
    if "category" in dtype:
        return pd.Series(pd.Categorical.from_codes(column.values, column.levels, ordered=dtype.startswith("ordered")))
    can_lack = not re.fullmatch(r"u?int\d+|bool", dtype)
    return pd.Series(column.objects, dtype=dtype if can_lack or not column.lacks_some else object)


def _of_arrow(_library: str, dtype: str, column: NewColumn) -> Any:
    import pyarrow as pa

    if column.levels is None:
        return pa.array(column.values, pa.type_for_alias(dtype) if _holds(dtype, column.values) else None)
    parts = re.fullmatch(r"dictionary<values=(.*), indices=(.*), ordered=(.)>", dtype)
    if parts is None:
        return pa.array(column.objects, pa.type_for_alias(dtype))
    levels = pa.array(column.levels, pa.type_for_alias(parts[1]))
    codes = pa.array(column.values, pa.type_for_alias(parts[2]), mask=column.values < 0)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=parts[3] == "1")


def _of_narwhals(library: Any, dtype: str, column: NewColumn) -> Any:
    if column.levels is None:
        known = getattr(nw, dtype)() if _holds(dtype, column.values) else None
        return nw.new_series("", column.values, known, backend=library)
    if dtype == "Enum":
        return nw.new_series("", column.objects, nw.Enum(map(str, column.levels)), backend=library)
    known = None if dtype in ("Unknown", "Object") else getattr(nw, dtype)()
    return nw.new_series("", column.objects, known, backend=library)
