"""The types of columns, remembered and made anew: every library, every type, through fit, file and simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import bayesnb
from bayesnb import Bernoulli, Categorical, Multinomial, NaiveBayes, Poisson
from bayesnb.schema import NewColumn, Schema, new_table

N = 12
Y = np.repeat(["A", "B"], [5, 7])
PANDAS = pd.DataFrame(
    {
        "ordered": pd.Categorical(["u", "v", "u"] * 4, ["v", "u", "w"], ordered=True),
        "codes": pd.Categorical([3, 1, 3] * 4),
        "text": ["p", "q", "q"] * 4,
        "objects": np.array(["p", None, "q"] * 4, dtype=object),
        "level": pd.array([1, None, 2] * 4, dtype="Int64"),
        "flag": [True, False, False] * 4,
        "maybe": pd.array([True, None, False] * 4, dtype="boolean"),
        "double": np.linspace(0, 3, N),
        "single": np.linspace(0, 3, N).astype("float32"),
        "small": np.array([0, 2, 1, 4] * 3, dtype="uint8"),
        "visits": pd.array([0, None, 1, 4] * 3, dtype="Int16"),
        "none": np.zeros(N, dtype=int),
        "year": np.full(N, 2007),
        "tenth": np.full(N, 0.1),
        "never": np.full(N, np.nan),
        "nothing": np.full(N, None),
        "arrow": pd.array([1, 5, 2] * 4, dtype="int8[pyarrow]"),
        "bit": [0, 1, 1] * 4,
        "t1": [1, 0, 3] * 4,
        "t2": [2, 2, 0] * 4,
    }
)
FAMILIES = {
    **dict.fromkeys(["small", "visits", "none"], Poisson()),
    ("t1", "t2"): Multinomial(),
    "bit": Bernoulli(),
    "level": Categorical(missing="level"),
    "arrow": Categorical(),
}
POLARS = pl.from_pandas(PANDAS.drop(columns=["codes", "nothing"])).with_columns(
    pl.col("text").cast(pl.Categorical), enum=pl.Series(["a", "b", "a"] * 4, dtype=pl.Enum(["b", "a", "z"]))
)
ARROW = pa.table(
    {
        **dict(zip(POLARS.columns, POLARS.drop("enum").to_arrow().columns, strict=False)),
        "levels": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0] * 4, pa.int8()), pa.array(["x", "y", "z"])),
        "null": pa.nulls(N),
    }
)


def types(frame):
    if isinstance(frame, pa.Table):
        return {field.name: field.type for field in frame.schema}
    return dict(zip(frame.columns, frame.dtypes, strict=True))


def read_as(model):
    """Families, columns and levels; of a Polars Categorical, levels have no order of their own."""
    blocks = model.statistics_.blocks
    return [(type(b.family), b.names, set(getattr(b.family, "levels", None) or ())) for b in blocks]


@pytest.mark.filterwarnings("ignore:.*do not vary")
@pytest.mark.parametrize("frame", [PANDAS, POLARS, ARROW], ids=["pandas", "polars", "pyarrow"])
def test_a_table_comes_back_as_it_was_read_and_goes_in_again(frame, tmp_path):
    model = NaiveBayes(FAMILIES).fit(frame, Y)
    model.save(tmp_path / "model.nc")
    for nb in (model, bayesnb.load(tmp_path / "model.nc")):
        table, y = nb.simulate(500, random_seed=0, tokens=4)
        assert type(table) is type(frame)
        assert types(table) == types(frame)
    again = NaiveBayes(FAMILIES).fit(table, y)
    assert again.statistics_.schema == model.statistics_.schema
    assert read_as(again) == read_as(model)
    assert again.predict_proba(frame).shape == (N, 2)


@pytest.mark.filterwarnings("ignore:.*do not vary")
def test_values_of_columns_that_do_not_vary():
    table, _ = NaiveBayes(FAMILIES).fit(PANDAS, Y, np.linspace(0.1, 0.7, N)).simulate(5, random_seed=0, tokens=4)
    assert_array_equal(table["year"], 2007)
    assert_array_equal(table["none"], 0)
    assert np.allclose(table["tenth"], 0.1, rtol=1e-15)
    assert table[["never", "nothing"]].isna().all(axis=None)
    assert not table.drop(columns=["never", "nothing", "level"]).isna().any(axis=None)


def test_whole_numbers_read_as_gaussian_become_floats():
    table, _ = NaiveBayes().fit(PANDAS[["small", "visits"]], Y).simulate(5, random_seed=0)
    assert {str(dtype) for dtype in table.dtypes} == {"float64"}


def test_a_number_beyond_all_whole_ones_stays_a_float():
    table = new_table(Schema("pandas", ("int64",)), "a", [NewColumn(np.array([1e300, 0.5]))])
    assert table["a"].tolist() == [1e300, 0.5]


def test_a_count_that_its_type_can_not_hold_gets_a_wider_one():
    narrow = Schema("pandas", ("uint8", "Int8", "bool"))
    columns = [NewColumn(np.array([1, 300])), NewColumn(np.array([1, 127])), NewColumn(np.array([0, 2]))]
    table = new_table(narrow, "abc", columns)
    assert [str(dtype) for dtype in table.dtypes] == ["int64", "Int8", "int64"]
    assert table["a"].tolist() == [1, 300]


@pytest.mark.filterwarnings("ignore:.*do not vary")
def test_a_lazy_frame_gives_what_collecting_it_gives():
    kept = POLARS.drop("ordered", "text")
    model = NaiveBayes(FAMILIES).fit(kept.with_columns(y=pl.Series(Y)).lazy(), "y")
    table, _ = model.simulate(5, random_seed=0, tokens=4)
    assert isinstance(table, pl.DataFrame)
    assert table.schema == kept.schema


@pytest.mark.filterwarnings("ignore:.*do not vary")
@pytest.mark.parametrize(
    ("array", "families", "dtype"),
    [
        (np.array([[1.0, 2], [3, 0.5], [1, 2]]), None, float),
        (np.array([[1.0, 2], [3, 0.5], [1, 2]], dtype="float32"), None, np.float32),
        (np.array([[1, 2], [3, 0], [1, 2]], dtype="int16"), Poisson(), np.int16),
        (np.array([[1, 2], [3, 0], [1, 2]]), None, float),
        (np.array([[1, 2], [3, 0], [1, 2]]), {0: Categorical()}, float),
        (np.array([[1, np.nan], [3, np.nan], [1, np.nan]]), Categorical(), float),
        (np.array([[True, False], [False, True], [True, True]]), Bernoulli(), bool),
        (np.array([["r", 1], ["g", 2], ["r", None]], dtype=object), None, object),
        (np.array([["r", "long"], ["g", "long"], ["r", "short"]]), None, np.dtype("<U5")),
    ],
)
def test_an_array_gives_an_array(array, families, dtype):
    table, _ = NaiveBayes(families).fit(array, ["A", "B", "B"]).simulate(20, random_seed=0)
    assert isinstance(table, np.ndarray)
    assert table.dtype == dtype
    assert table.shape == (20, 2)


def test_a_sparse_matrix_gives_a_sparse_array():
    counts = sparse.csr_matrix(np.array([[1, 2], [3, 0], [1, 2]], dtype="int32"))
    table, _ = NaiveBayes(Multinomial()).fit(counts, ["A", "B", "B"]).simulate(20, random_seed=0, tokens=9)
    assert sparse.issparse(table)
    assert table.dtype == np.int32
    assert_array_equal(table.sum(1), 9)
