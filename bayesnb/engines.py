"""The same statistics by group-by, inside the engine that holds the table: nothing but they travel.

One path through narwhals serves Polars, DuckDB, Dask, PySpark and Ibis. A column of values becomes a short table, each
value once for each label with its weighted count, that is read and checked as a column in memory is. A Gaussian column
becomes its count and its sums about a shift.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import batched, chain
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from bayesnb.blocks import Block, Unseen, encode, with_levels_of
from bayesnb.families import Categorical, Gaussian, Multinomial, Poisson
from bayesnb.families.base import Array, Statistics
from bayesnb.families.gaussian import GaussianStatistics
from bayesnb.families.multinomial import MultinomialStatistics
from bayesnb.frame import LEAVE_OUT, Column, Table, check_names, column_of_series
from bayesnb.schema import schema_of_frame
from bayesnb.summary import Summary, label_codes

DIGITS_KEPT = 1e4  # a shift further than √1e4 standard deviations from the mean would cost over four of sixteen digits

BATCH_ROWS = 1 << 17  # rows that a prediction reads at once


@dataclass(frozen=True, kw_only=True)
class Counted(Table):
    """Distinct values of a column under each label, which stand for many rows."""

    labels: Column
    count: Array

    def row_name(self, row: int) -> str:
        """Return what an error message calls the rows."""
        return f"the rows with the label {self.labels.values[row]!r} ({self.count[row]:g} of them)"


@dataclass(frozen=True)
class LazyRows:
    """Training rows that stay in their engine, with the names of their columns of labels and weights."""

    frame: nw.LazyFrame[Any]
    label: str
    weight: str | None
    table: Table  # the features' names and types, without rows

    @cached_property
    def by_label(self) -> Counted:
        """The labels with their counts."""
        return self.counted(nw.lit(value=True))

    @property
    def labels(self) -> Column:
        """Each label once."""
        return self.by_label.labels

    def counted(self, value: nw.Expr, name: Hashable = "value") -> Counted:
        """Return how often each label meets each value, weighted."""
        columns = {"label": nw.col(self.label), "value": value}
        if self.weight is not None:
            columns["weight"] = nw.col(self.weight).cast(nw.Float64)  # a sum may have another type, or too few digits
        count = nw.len() if self.weight is None else nw.col("weight").sum()
        met = collect(self.frame.select(**columns).group_by("label", "value").agg(count=count))
        values = column_of_series(met["value"], str(name))
        labels = column_of_series(met["label"], self.label)
        return Counted(
            names=(name,), n_rows=len(met), read=lambda _: values, labels=labels, count=met["count"].to_numpy()
        )

    def without_missing(self, names: Sequence[str]) -> LazyRows:
        """Return the rows that have all of the columns."""
        return replace(self, frame=self.frame.filter(*(~_number(name).is_null() for name in names)))


def is_lazy(X: Any) -> bool:
    """Return whether X is a lazy or remote frame, or the path of a file."""
    return isinstance(X, str | Path) or isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def scan(X: Any) -> nw.LazyFrame[Any]:
    """Return a lazy frame from a native one, or from the path of a Parquet or CSV file.

    Raises
    ------
    ImportError
        If X is a path and neither DuckDB nor Polars is there to read it.
    ValueError
        If the path does not end in .parquet or .csv.
    """
    if not isinstance(X, str | Path):
        return nw.from_native(X)
    if not find_spec("polars") and not find_spec("duckdb"):
        raise ImportError(
            "Reading a file where it lies needs Polars or DuckDB: pip install 'bayesnb[polars]' or 'bayesnb[duckdb]'."
        )
    engine: Literal["polars", "duckdb"] = "polars" if find_spec("polars") else "duckdb"  # Polars keeps an Enum's levels
    path = str(X)
    if path.endswith(".parquet"):
        return nw.scan_parquet(path, backend=engine)
    if path.endswith((".csv", ".csv.gz")):
        return nw.scan_csv(path, backend=engine)
    raise ValueError(f"A path to learn from ends in .parquet or .csv, not as {path!r} does.")


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Return the small result of a query; Polars is asked to read its source in pieces."""
    return frame.collect(engine="streaming") if frame.implementation.is_polars() else frame.collect()


def read_rows(X: Any, y: Any, sample_weight: Any, na_values: Sequence[str] = ()) -> LazyRows:
    """Return the rows of a lazy frame or a file, with the columns of labels and weights by their names.

    Features that hold one of the texts ``na_values`` are missing there.

    Raises
    ------
    TypeError
        If y or sample_weight is not a name.
    ValueError
        If there is no such column, a label is missing, or a weight is missing, negative or infinite.
    """
    frame = scan(X)
    chosen = [y] if sample_weight is None else [y, sample_weight]
    if not all(isinstance(name, str) for name in chosen):
        raise TypeError('The labels and weights of a lazy frame are columns of it, given by name: y="species".')
    check_names(chosen, frame.collect_schema().names())
    if sample_weight is not None:
        _check_weights(frame, sample_weight)
        frame = frame.filter(nw.col(sample_weight) > 0)
    features = _empty_table(frame.drop(*chosen)).without(na_values)
    frame = _without(frame, features, na_values) if na_values else frame
    rows = LazyRows(frame, y, sample_weight, features)
    if rows.labels.missing is not None:
        count = rows.by_label.count[rows.labels.missing].sum()
        raise ValueError(f"The label is missing in {count:g} rows: {LEAVE_OUT}.")
    return rows


def _without(frame: nw.LazyFrame[Any], features: Table, texts: Sequence[str]) -> nw.LazyFrame[Any]:
    """The rows, null where a feature holds one of the texts."""
    names = (str(name) for position, name in enumerate(features.names) if features.read(position).kind == "text")
    return frame.with_columns(
        *(nw.when(~nw.col(name).cast(nw.String).is_in(texts)).then(nw.col(name)).alias(name) for name in names)
    )


def _empty_table(features: nw.LazyFrame[Any]) -> Table:
    """The names and types of the columns, as a table without rows."""
    schema, head = features.collect_schema(), collect(features.head(0))
    for name, dtype in schema.items():
        if dtype in (nw.Object, nw.Unknown):
            raise ValueError(f"Column {name!r} has no type in its engine: cast it to text, a number or a boolean.")

    def read(position: int) -> Column:
        name, dtype = list(schema.items())[position]
        if isinstance(dtype, nw.Enum):
            return Column(np.zeros(0, dtype=object), levels=dtype.categories, kind="text")
        column = column_of_series(head[name], name)
        return replace(column, levels=None) if dtype == nw.Categorical else column  # no row, so none of its levels

    return Table(tuple(schema), 0, read, is_named=True, schema=schema_of_frame(head))


def _check_weights(frame: nw.LazyFrame[Any], name: str) -> None:
    weight = nw.col(name).cast(nw.Float64)
    is_bad = weight.is_null() | ~weight.is_finite() | (weight < 0)
    bad = collect(frame.filter(is_bad).select(name).head(1))
    if len(bad):
        value = bad[name].to_list()[0]
        raise ValueError(f"sample_weight must be finite and not negative, not {value} as in column {name!r}.")


def batches(X: Any, names: Sequence[Hashable]) -> Iterator[Any]:
    """Yield the rows of a lazy frame or a file piece by piece, each a frame in memory, behind a progress bar.

    The first piece has no rows, only the columns, so that there always is one.

    Raises
    ------
    TypeError
        If the engine can't be read in pieces.
    """
    from rich.progress import track

    frame = scan(X)
    wanted = [str(name) for name in names]
    check_names(wanted, frame.collect_schema().names())
    frame = frame.select(*wanted)
    pieces = chain([nw.to_native(collect(frame.head(0)))], _pieces(frame))
    yield from track(pieces, description="reading", transient=True, disable=not sys.stderr.isatty())


def _pieces(frame: nw.LazyFrame[Any]) -> Iterator[Any]:
    engine, native = frame.implementation, nw.to_native(frame)
    if engine.is_polars():
        return native.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, engine="streaming")
    if engine.is_duckdb():
        return map(_arrow_table, native.to_arrow_reader(BATCH_ROWS))
    if engine.is_ibis():
        return map(_arrow_table, native.to_pyarrow_batches(chunk_size=BATCH_ROWS))
    if engine.is_dask():
        return (part.compute() for part in native.partitions)
    if engine.is_pyspark():
        rows = batched(native.toLocalIterator(), BATCH_ROWS)
        return (pd.DataFrame.from_records(list(some), columns=native.columns) for some in rows)
    raise TypeError(f"A {type(native).__name__} can't be read in pieces: predict for one of its parts at a time.")


def write_parquet(
    pieces: Iterable[Any], keep: Sequence[str], further: Callable[[Any], Mapping[str, Array]], path: str | Path
) -> None:
    """Write the kept columns of each piece, beside further ones made of it, to a file that appears when it is whole.

    Raises
    ------
    ImportError
        If PyArrow is not there to write it.
    """
    if not find_spec("pyarrow"):
        raise ImportError("Writing Parquet needs PyArrow: pip install pyarrow.")
    import pyarrow as pa
    from pyarrow import parquet

    def table(piece: Any) -> Any:
        frame = nw.from_native(piece, eager_only=True)
        return pa.table({**{name: frame[name].to_arrow() for name in keep}, **further(piece)})

    tables = map(table, pieces)
    first, part = next(tables), Path(f"{path}.part")
    try:
        with parquet.ParquetWriter(part, first.schema) as writer:
            for rows in chain([first], tables):
                writer.write_table(rows.cast(first.schema))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _arrow_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def met(summary: Summary, rows: LazyRows, unseen: Unseen) -> Summary:
    """Return the summary with further rows added, each block by group-bys of its columns.

    Raises
    ------
    ValueError
        If a value does not fit its family, naming the column, the value and the label.
    """
    read = [
        _read(rows, block, summary.positions(rows.table, block), summary.classes, unseen) for block in summary.blocks
    ]
    counts = np.bincount(label_codes(rows.labels, summary.classes), rows.by_label.count, len(summary.classes))
    return summary.with_levels(tuple(block for block, _ in read)).plus(counts, (statistics for _, statistics in read))


def _read(
    rows: LazyRows, block: Block, positions: Sequence[int], classes: tuple[Any, ...], unseen: Unseen
) -> tuple[Block, Statistics]:
    """A block, with the levels that the rows add to it, and the statistics of the rows."""
    names = [str(rows.table.names[position]) for position in positions]
    if block.missing == "error" and isinstance(block.family, Gaussian | Multinomial):
        _check_complete(rows, names)
    if isinstance(block.family, Gaussian):
        return block, _moments(rows, names, classes)
    if isinstance(block.family, Multinomial):
        return block, _documents(rows, block, names, classes)
    if isinstance(block.family, Categorical):
        counted = rows.counted(nw.col(names[0]), names[0])
        block = with_levels_of(block, counted, 0)
        return block, _statistics(block, counted, classes, unseen)
    return block, _side_by_side(_statistics(block, rows.counted(nw.col(n), n), classes, unseen) for n in names)


def _check_complete(rows: LazyRows, names: Sequence[str]) -> None:
    lacking = collect(rows.frame.select(*(_number(name).is_null().sum().alias(name) for name in names)))
    for name in names:
        count = lacking[name].to_list()[0]
        if count:
            raise ValueError(
                f'Column {name!r} has no value in {count} rows, and the model was made with missing="error": fill it, '
                'or leave it out with missing="ignore".'
            )


def _statistics(block: Block, counted: Counted, classes: tuple[Any, ...], unseen: Unseen = "error") -> Any:
    """The statistics of one column from its distinct values."""
    encoded = encode(block, counted, (0,), unseen)
    y = label_codes(counted.labels, classes)
    return block.family.statistics(encoded.x, y, len(classes), counted.count, encoded.observed)


def _side_by_side(statistics: Iterable[Any]) -> Any:
    first, *others = statistics
    return first.beside(*others)


def _documents(rows: LazyRows, block: Block, names: Sequence[str], classes: tuple[Any, ...]) -> MultinomialStatistics:
    """Counts of terms and Σ ln(n!/∏ n_v!): both follow from how often each count and each length is met."""
    as_counts = replace(block, family=Poisson())
    whole = rows.without_missing(names)
    terms = _side_by_side(_statistics(as_counts, whole.counted(_number(name), name), classes) for name in names)
    length = whole.counted(nw.sum_horizontal(*map(_number, names)), "length")
    log_lengths = _statistics(as_counts, length, classes).log_factorials[:, 0]
    return MultinomialStatistics(terms.total, log_lengths - terms.log_factorials.sum(1))


def _moments(rows: LazyRows, names: Sequence[str], classes: tuple[Any, ...]) -> GaussianStatistics:
    """Count, Σ(x − shift) and Σ(x − shift)² of each label: about zero, or about the means where that costs digits."""
    numbers = [rows.table.read(rows.table.place[name]).kind in ("number", "boolean") for name in names]
    if not all(numbers):
        raise ValueError(f"Gaussian needs numbers, but column {names[numbers.index(False)]!r} holds text.")
    statistics = _sums(rows, names, classes, np.zeros((len(classes), len(names))))
    infinite = ~np.isfinite(statistics.total)
    if infinite.any():
        label, feature = np.argwhere(infinite)[0]
        raise ValueError(
            f"Gaussian takes finite numbers, but column {names[feature]!r} has an infinite value, or values too large "
            f"to add up, in the rows with the label {classes[label]!r}."
        )
    far = ~(statistics.count * statistics.mean**2 <= DIGITS_KEPT * statistics.squares_about_mean).all(0)
    if not far.any():
        return statistics
    about_mean = _sums(
        rows, [name for name, is_far in zip(names, far, strict=True) if is_far], classes, statistics.mean[:, far]
    )
    order = np.argsort(np.concatenate([np.flatnonzero(~far), np.flatnonzero(far)]))
    return statistics.map(lambda array: array[:, ~far]).beside(about_mean).map(lambda array: array[:, order])


def _sums(rows: LazyRows, names: Sequence[str], classes: tuple[Any, ...], shift: Array) -> GaussianStatistics:
    """The three sums of every column in one query, about a shift for each label and column."""
    weight = nw.lit(1.0) if rows.weight is None else nw.col(rows.weight).cast(nw.Float64)
    columns: dict[str, nw.Expr] = {}
    for j, name in enumerate(names):
        gap = _number(name) - _of_label(rows.label, classes, shift[:, j])
        columns |= {f"count{j}": nw.when(~gap.is_null()).then(weight)}
        columns |= {f"total{j}": gap * weight, f"squares{j}": gap * gap * weight}
    sums = collect(rows.frame.select(label=nw.col(rows.label), **columns).group_by("label").agg(nw.col(*columns).sum()))
    y = label_codes(column_of_series(sums["label"], rows.label), classes)
    result = {}
    for kind in ("count", "total", "squares"):
        result[kind] = np.zeros(shift.shape)
        for j in range(len(names)):
            result[kind][y, j] = sums[f"{kind}{j}"].fill_null(0.0).to_numpy()
    return GaussianStatistics(**result, shift=shift)


def _number(name: str) -> nw.Expr:
    """A column as floats, null where it is NaN.

    DuckDB 2.0 folds isnan() to false on a Parquet column whose least and greatest values are no NaN: so not by is_nan.
    """
    value = nw.col(name).cast(nw.Float64)
    return nw.when(value.is_finite() | (value.abs() == float("inf"))).then(value)


def _of_label(column: str, classes: tuple[Any, ...], values: Array) -> nw.Expr:
    """The value that belongs to the label of each row."""
    result = nw.lit(float(values[0]))
    for label, value in zip(classes[1:], values[1:], strict=True):
        if value != values[0]:
            result = nw.when(nw.col(column) == label).then(nw.lit(float(value))).otherwise(result)
    return result
