"""Every kind of table and column, read the same; what can't be read is named."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bayesnb.frame import read_labels, read_table, read_weights

Kind = Enum("Kind", "A B")
PEOPLE = {
    "age": [31.5, None, 40.0],
    "visits": [2, 2**60 + 1, None],
    "smokes": [True, None, False],
    "town": ["Oslo", "Rome", None],
}


def as_pandas(data):
    return pd.DataFrame(
        {
            "age": data["age"],
            "visits": pd.array(data["visits"], dtype="Int64"),
            "smokes": pd.array(data["smokes"], dtype="boolean"),
            "town": data["town"],
        }
    )


def as_objects(data):
    array = np.empty((3, 4), dtype=object)
    for j, column in enumerate(data.values()):
        array[:, j] = column
    return array


TABLES = {
    "pandas": as_pandas(PEOPLE),
    "pandas of PyArrow": pl.DataFrame(PEOPLE).to_pandas(use_pyarrow_extension_array=True),
    "pandas of objects": pd.DataFrame(as_objects(PEOPLE), columns=list(PEOPLE)),
    "polars": pl.DataFrame(PEOPLE),
    "pyarrow": pa.table(PEOPLE),
    "objects": as_objects(PEOPLE),
    "lists": [list(row) for row in zip(*PEOPLE.values(), strict=True)],
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_kind_of_table_reads_the_same(table):
    table = read_table(table)
    columns = [table.read(j) for j in range(4)]
    assert [column.kind for column in columns] == ["number", "number", "boolean", "text"]
    assert [column.missing.tolist() for column in columns] == [
        [False, True, False],
        [False, False, True],
        [False, True, False],
        [False, False, True],
    ]
    assert [column.present.tolist() for column in columns] == [
        [31.5, 40.0],
        *([2, 2**60 + 1], [True, False], ["Oslo", "Rome"]),
    ]


@pytest.mark.parametrize(
    "values", [[1.5, np.nan], np.array([1, 2**60 + 1]), np.array([1, 2], np.uint8), [True, False], np.zeros(0)]
)
def test_a_frame_of_one_type_of_numbers_is_read_whole_and_the_same(values):
    frame = pd.DataFrame({"a": values, "b": values})
    whole, by_column = read_table(frame), read_table(frame.assign(c="text"))
    assert whole.array is not None
    assert by_column.array is None
    assert (whole.names, whole.is_named, whole.n_rows) == (("a", "b"), True, len(values))
    for j in range(2):
        np.testing.assert_array_equal(whole.read(j).values, by_column.read(j).values, strict=True)
        np.testing.assert_array_equal(whole.read(j).missing, by_column.read(j).missing)
        assert whole.read(j).kind == by_column.read(j).kind


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, float("nan"), Decimal("NaN")], ids=repr)
def test_a_missing_cell_is_missing_however_it_is_spelt(missing):
    for present in ("a", 1.5, True, Decimal("1.5"), (1, 2)):
        values = np.empty(2, dtype=object)
        values[:] = [missing, 0]
        values[1] = present
        column = read_table(values[:, None]).read(0)
        assert column.missing.tolist() == [True, False]
        assert column.present.tolist() == [present]


def test_a_masked_cell_is_missing():
    table = read_table(np.ma.MaskedArray([[1.0, 2], [np.nan, 4]], mask=[[True, False], [False, False]]))
    assert table.read(0).missing.tolist() == [True, True]
    assert table.read(1).missing is None


def test_declared_levels_are_read_in_their_order():
    levels = ["r", "g", "b"]
    pandas = pd.DataFrame({"c": pd.Categorical(["g", None], categories=levels)})
    ordered = pd.DataFrame({"c": pd.Categorical(["g", None], categories=levels, ordered=True)})
    enum = pl.DataFrame({"c": pl.Series(["g", None], dtype=pl.Enum(levels))})
    arrow = pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([1, None]), levels)})
    for frame in (pandas, ordered, enum, arrow):
        column = read_table(frame).read(0)
        assert column.levels == ("r", "g", "b")
        assert column.present.tolist() == ["g"]


def test_levels_of_another_polars_series_are_not_declared():
    pl.Series(["other"], dtype=pl.Categorical)
    assert read_table(pl.DataFrame({"c": pl.Series(["g"], dtype=pl.Categorical)})).read(0).levels == ("g",)


def test_categories_that_are_numbers_stay_numbers():
    column = read_table(pd.DataFrame({"c": pd.Categorical([1, 3], categories=[1, 2, 3])})).read(0)
    assert column.levels == (1, 2, 3)
    assert column.values.tolist() == [1, 3]


def test_objects_of_one_kind_are_read_as_that_kind():
    def kind(values):
        array = np.empty((len(values), 1), dtype=object)
        array[:, 0] = values
        return read_table(array).read(0)

    assert kind([1, 2.5, np.float32(2)]).kind == "number"
    assert kind([Decimal("1.5"), None]).kind == "number"
    assert kind([np.True_, False]).values.dtype == bool
    assert kind([np.str_("a"), "b"]).kind == "text"
    assert kind([1, True]).kind == kind([1, "a"]).kind == "mixed"
    assert [type(value) for value in kind([np.int64(1), np.str_("a")]).values] == [int, str]
    assert kind([None, None]).missing.all()


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"]),
        pd.to_timedelta([1, 2], unit="D"),
        [dt.date(2020, 1, 1), None],
        [[1], [2]],
        np.array(["2020", "2021"], dtype="datetime64[D]"),
    ],
    ids=["datetime", "timedelta", "date", "list", "datetime64"],
)
def test_what_no_family_reads_is_refused_by_name(values):
    with pytest.raises(ValueError, match=r"Column 'when' has the type .*into numbers"):
        read_table(pd.DataFrame({"when": values})).read(0)


def test_dates_of_an_array_are_refused_by_name():
    with pytest.raises(ValueError, match="Column 'x1' has the type datetime64"):
        read_table(np.zeros((2, 2), dtype="datetime64[D]")).read(1)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_sparse_tables(make):
    table = read_table(make(np.array([[0.0, 2], [3, 0]])))
    assert table.names == ("x0", "x1")
    assert table.read(1).values.tolist() == [2, 0]


def test_a_sparse_matrix_of_the_user_is_not_changed():
    matrix = sparse.csr_array((np.array([1.0, 2, 4]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert read_table(matrix).array.toarray().tolist() == [[2, 5]]
    assert (matrix.data.tolist(), matrix.indices.tolist(), matrix.indptr.tolist()) == ([1, 2, 4], [1, 0, 1], [0, 3])


def test_wrong_shapes_are_refused():
    for X in (
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        [1.0, 2.0],
        np.zeros(3),
        np.zeros((2, 2, 2)),
        sparse.coo_array(np.array([1.0, 0])),
    ):
        with pytest.raises(ValueError, match="X must have two dimensions"):
            read_table(X)
    for X in (3, "abc", None, pl.LazyFrame({"a": [1]})):
        with pytest.raises(TypeError, match="X must be a data frame"):
            read_table(X)


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(ValueError, match="'a' 2 times"):
        read_table(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))


def test_columns_named_by_integers_are_columns():
    table = read_table(pd.DataFrame([[1, 2], [3, 4]], columns=[1, 0]))
    assert table.names == (1, 0)
    assert table.read(0).values.tolist() == [1, 3]


def test_a_row_is_named_by_its_place_in_the_users_table():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=["p", "q", "r"])
    assert read_table(frame).row_name(2) == "row 2 (index 'r')"
    assert read_table(frame).take(np.array([False, True, True])).row_name(1) == "row 2 (index 'r')"
    taken = read_table(np.zeros((4, 1))).take(np.array([False, True, True, True]))
    assert taken.row_name(0) == "row 1"
    assert taken.take(np.array([False, True, True])).row_name(1) == "row 3"


# --- labels and weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        [1, "a", True],
        [(1, 2), (3, 4), (1, 2)],
        [2**70, 1, 2],
        [0, 1, 1],
        ["x", "y", "x"],
        [1.5, 2.0, 1.5],
        np.array([[1], [2], [1]]),
        pl.Series(["x", "y", "x"]),
        pa.array([1, 2, 1]),
        pd.Series([1, 2, 1], index=[7, 8, 9]),
        np.array([np.int64(1), np.int64(2), "z"], dtype=object),
    ],
    ids=str,
)
def test_labels_keep_value_and_type(labels):
    values = read_labels(labels, 3).values
    expected = (
        labels.to_pylist() if isinstance(labels, pa.Array) else np.ravel(labels) if hasattr(labels, "shape") else labels
    )
    assert [value.item() if isinstance(value, np.generic) else value for value in values] == list(expected)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("other", ["a", 1.0, (1, 2), True])
def test_a_missing_label_is_refused(missing, other):
    with pytest.raises(ValueError, match="The label of row 1 is missing"):
        read_labels([other, missing, other], 3)


def test_wrong_numbers_of_labels_and_weights_are_refused():
    with pytest.raises(ValueError, match="X has 3 rows, but y has 2 labels"):
        read_labels([1, 2], 3)
    with pytest.raises(ValueError, match="y must have one dimension"):
        read_labels(np.zeros((3, 2)), 3)
    for weights in ([1, 2], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="one number for each of the 3 rows"):
            read_weights(weights, 3)
    for bad in (-1, np.nan, np.inf, None):
        with pytest.raises(ValueError, match=r"sample_weight must .*as in row 1"):
            read_weights([1.0, bad, 1.0], 3)


@pytest.mark.parametrize(
    "categories",
    [
        [2**53, 2**53 + 1],
        list(pd.to_datetime(["2020-01-01", "2021-01-01"]).as_unit("ns")),
        list(pd.to_timedelta([1, 2], unit="D")),
        [(1, "a"), (1, "b")],
        [1, "a"],
    ],
)
def test_categories_keep_their_values_beside_a_missing_cell(categories):
    first, second = categories
    cells = pd.Categorical([first, None, second], categories=pd.Index(categories, tupleize_cols=False))
    column = read_table(pd.DataFrame({"c": cells})).read(0)
    assert column.levels == tuple(categories)
    assert column.missing.tolist() == [False, True, False]
    assert column.present.tolist() == categories


@pytest.mark.parametrize("null", ["encode", "mask"])
def test_a_null_of_a_dictionary_is_no_level(null):
    cells = pa.array(["u", None, "v"]).dictionary_encode(null_encoding=null)
    column = read_table(pa.table({"c": cells})).read(0)
    assert (column.levels, column.missing.tolist()) == (("u", "v"), [False, True, False])


def test_a_dictionary_of_arrow_in_pandas():
    dtype = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    column = read_table(pd.DataFrame({"c": pd.Series(["u", None, "v"], dtype=dtype)})).read(0)
    assert (column.levels, column.present.tolist()) == (("u", "v"), ["u", "v"])


def test_a_dictionary_without_chunks():
    table = pa.table({"c": pa.array(["u", "v"]).dictionary_encode()}).filter(pa.array([False, False]))
    assert read_table(table).read(0).values.tolist() == []


def test_masked_labels_and_weights_are_missing():
    labels = read_labels(np.ma.array([0, 1, -9], mask=[0, 0, 1]), 3, may_lack=True)
    assert labels.missing.tolist() == [False, False, True]
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative, not nan as in row 2"):
        read_weights(np.ma.array([1.0, 1, 1e6], mask=[0, 0, 1]), 3)


def test_what_is_behind_a_mask_has_no_type():
    column = read_table(np.ma.array([["a"], ["b"], [-9]], mask=[[0], [0], [1]], dtype=object)).read(0)
    assert (column.kind, column.missing.tolist()) == ("text", [False, False, True])


@pytest.mark.parametrize("values", [[(1, 2), (3, 4)], list(pd.interval_range(0, 2)), [b"a", b"b"], [Kind.A, Kind.B]])
def test_values_of_one_type_are_categories(values):
    column = read_table(pd.DataFrame({"c": pd.Series(values, dtype=object)})).read(0)
    assert (column.kind, column.present.tolist()) == ("text", values)


@pytest.mark.parametrize("read", [read_labels, read_weights])
def test_a_single_value_is_no_sequence(read):
    with pytest.raises(TypeError, match="must be a sequence, or the name of a column, not 2"):
        read(2, 3)
