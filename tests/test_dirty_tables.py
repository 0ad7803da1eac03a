"""Tables as they come: every library and engine reads a dirty one to the same statistics, or refuses it by name."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesnb import Categorical, NaiveBayes

duckdb = pytest.importorskip("duckdb")

FORMS = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame: frame.to_arrow(),
    "polars lazy": lambda frame: frame.lazy(),
    "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
}
DIRTY = pl.DataFrame(
    {
        "y": ["a", "a", "b", "b"],
        "decimal": pl.Series([Decimal("1.10"), Decimal("2.20"), None, Decimal("4.40")], dtype=pl.Decimal(6, 2)),
        "flag": [True, None, False, True],
        "integer": [1, None, 2**53 + 1, 2**53],
        "nothing": pl.Series([None] * 4, dtype=pl.Float64),
        "no_text": pl.Series([None] * 4, dtype=pl.String),
        "constant": [7.5] * 4,
    }
)


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param


def test_every_engine_reads_a_dirty_table_alike(form):
    families = {"integer": Categorical()}
    with pytest.warns(UserWarning, match="'nothing', 'no_text', 'constant' do not vary"):
        model = NaiveBayes(families).fit(form(DIRTY), "y")
    by_name = dict(zip([b.names for b in model.statistics_.blocks], model.statistics_.statistics, strict=True))
    numbers = by_name["decimal", "nothing", "constant"]
    np.testing.assert_array_equal(numbers.count, [[2, 0, 2], [1, 0, 2]])
    np.testing.assert_allclose(numbers.mean[:, 0], [1.65, 4.4], rtol=1e-12)
    np.testing.assert_array_equal(by_name["flag",].ones, [[1], [1]])
    np.testing.assert_array_equal(by_name["flag",].zeros, [[0], [1]])
    np.testing.assert_array_equal(by_name["integer",].counts, [[1, 0, 0], [0, 1, 1]])  # of 1, 2⁵³ and 2⁵³ + 1
    empty_row = DIRTY.drop("y").clear(1)
    np.testing.assert_allclose(model.predict_proba(form(empty_row)), [[0.5, 0.5]])


def test_one_row_is_a_table(form):
    row = pl.DataFrame({"y": ["a"], "c": ["r"], "n": [1.0]})
    with pytest.warns(UserWarning, match="'n' do not vary"):
        model = NaiveBayes().fit(form(row), "y")
    np.testing.assert_array_equal(model.predict_proba(form(row)), [[1.0]])


def test_a_table_without_rows_can_not_be_learnt_from(form):
    with pytest.raises(ValueError, match="no row to learn from"):
        NaiveBayes().fit(form(DIRTY.clear()), "y")


def test_dates_are_refused_by_name(form):
    frame = pl.DataFrame({"y": ["a", "b"], "born": [dt.date(2000, 1, 1), dt.date(2001, 1, 1)]})
    with pytest.raises(ValueError, match=r"Column 'born' has the type .* into numbers"):
        NaiveBayes().fit(form(frame), "y")


def test_an_infinite_value_is_refused_by_name(form):
    frame = pl.DataFrame({"y": ["a", "b"], "size": [1.0, np.inf]})
    with pytest.raises(ValueError, match=r"column 'size' has (the value inf in row 1|an infinite value.*label 'b')"):
        NaiveBayes().fit(form(frame), "y")


def test_an_infinite_value_is_refused_in_prediction(form):
    frame = pl.DataFrame({"y": ["a", "b"], "size": [1.0, 2.0]})
    model = NaiveBayes().fit(form(frame), "y")
    with pytest.raises(ValueError, match="column 'size' has the value -inf in row 0"):
        model.predict(form(pl.DataFrame({"size": [-np.inf]})))


def test_objects_of_different_types_are_refused_by_name():
    with pytest.raises(ValueError, match=r"Column 'mess' mixes values of different types \(1, 'a'\)"):
        NaiveBayes().fit(pd.DataFrame({"mess": [1, "a"]}), ["u", "v"])


@pytest.mark.parametrize("labels", [[(1, 2), (3, 4)], [frozenset("a"), frozenset("b")], [1.5, "x"]], ids=str)
def test_labels_are_any_values_that_are_equal_or_not(labels):
    model = NaiveBayes().fit(pd.DataFrame({"c": ["r", "g", "g"]}), [labels[0], labels[1], labels[1]])
    assert model.predict(pd.DataFrame({"c": ["r", "g"]})).tolist() == labels


def test_levels_are_compared_by_value_not_by_place():
    train = pd.DataFrame({"c": pd.Categorical(["r", "r", "g"], categories=["r", "g"])})
    turned = pd.DataFrame({"c": pd.Categorical(["r", "g"], categories=["g", "b", "r"])})
    model = NaiveBayes().fit(train, ["A", "A", "B"])
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(train.iloc[[0, 2]]))
    assert model.predict(turned).tolist() == ["A", "B"]


def test_the_index_of_a_frame_names_its_rows():
    frame = pd.DataFrame({"n": [1.0, 2.0, 4.0]}, index=[30, 10, 10])
    model = NaiveBayes().fit(frame, pd.Series(["A", "A", "B"], index=[5, 6, 7]))
    assert model.explain(frame)["row"].values.tolist() == [30, 10, 10]
    with pytest.raises(ValueError, match=r"in row 1 \(index 10\)"):
        model.predict(frame.replace(2.0, np.inf))


def test_a_lazy_column_of_categories_has_the_levels_that_its_rows_have():
    frame = pl.DataFrame({"c": pl.Series(["r", "g", "r"], dtype=pl.Categorical), "y": ["a", "b", "a"]})
    eager, lazy = (NaiveBayes().fit(form, "y") for form in (frame, frame.lazy()))
    assert sorted(lazy.statistics_.blocks[0].family.levels) == ["g", "r"]
    np.testing.assert_allclose(lazy.predict_proba(frame), eager.predict_proba(frame), rtol=1e-12)
