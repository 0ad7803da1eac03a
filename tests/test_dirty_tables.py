"""Tables as they come: every library and engine reads a dirty one to the same statistics, or refuses it by name."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from bayesnb import Bernoulli, Categorical, Multinomial, NaiveBayes, Poisson

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


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "float16", "float32"])
def test_counts_of_a_narrow_type_are_the_same_counts(dtype):
    """Powers of 100 overflow them; a row of a pandas frame, and of an array, against doubles."""
    counts, y = np.array([[20], [22], [90], [100]] * 5), [0, 0, 1, 1] * 5
    for table in (np.array, pd.DataFrame):
        rows, narrow_rows = table(counts.astype(float)), table(counts.astype(dtype))
        exact, narrow = (NaiveBayes(Poisson()).fit(X, y) for X in (rows, narrow_rows))
        assert narrow.log_evidence() == exact.log_evidence()
        assert narrow.loo(rows, y).elpd == exact.loo(rows, y).elpd
        for name in ("explain", "predict_uncertainty"):
            found, expected = getattr(narrow, name)(narrow_rows), getattr(exact, name)(rows)
            for variable in expected.data_vars:
                np.testing.assert_array_equal(found[variable].values, expected[variable].values)


def test_classes_of_numpy_are_plain_labels():
    y = np.array([0, 1])
    model = NaiveBayes().partial_fit([[1.0], [2.0]], y, classes=np.unique(y))
    assert model.classes_.dtype == int
    assert model.score([[1.0], [2.0]], y) == 1
    assert NaiveBayes().partial_fit([[1.0], [2.0]], y > 0, classes=np.unique(y > 0)).classes_.dtype == bool


def test_levels_of_numpy_are_plain():
    assert repr(Categorical(levels=np.array([1, 2])).levels) == "(1, 2)"


def test_a_sparse_error_names_the_column_of_a_slice():
    X = sparse.csr_array([[0, 1, 0, -3], [1, 0, 2, 1]])
    with pytest.raises(ValueError, match="column 'x3' has the value -3"):
        NaiveBayes({slice(0, 2): Bernoulli(), slice(2, 4): Multinomial()}).fit(X, [0, 1])


@pytest.mark.parametrize("level", [2**63 + 5, -(2**63), 2**63 - 1])
def test_levels_at_the_end_of_whole_numbers(level):
    """Near each other, so that a table of positions could code them: its ends lie beyond the type."""
    near = level + 2 if level < 0 else level - 2
    X = np.array([[level], [level], [near]], dtype=np.uint64 if level > 0 else np.int64)
    model = NaiveBayes(Categorical(), unseen="ignore").fit(X, [0, 1, 1])
    assert model.statistics_.statistics[0].counts.sum() == 3
    unseen = model.predict_proba(np.array([[0]]))
    np.testing.assert_allclose(unseen, [[2 / 5, 3 / 5]])


@pytest.mark.parametrize("weight", ["2", "2::TINYINT", "true", "2::DECIMAL(4, 1)", "2::FLOAT"])
def test_weights_of_any_type_in_duckdb(weight):
    rows = duckdb.sql("select i::DOUBLE as a, (i % 2)::VARCHAR as y from range(12) r(i)").project(f"*, {weight} as w")
    model = NaiveBayes().fit(rows, "y", "w")
    assert model.statistics_.label_counts.tolist() == ([6, 6] if weight == "true" else [12, 12])


def test_narrow_weights_of_a_lazy_frame_are_summed_in_double():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"g": rng.normal(size=200), "y": rng.choice(["A", "B"], 200), "w": rng.random(200).astype(np.float32)}
    )
    lazy, eager = NaiveBayes().fit(table.lazy(), "y", "w"), NaiveBayes().fit(table, "y", "w")
    np.testing.assert_allclose(lazy.statistics_.label_counts, eager.statistics_.label_counts, rtol=1e-14)
    assert np.isfinite(lazy.loo(table, "y", "w").elpd)


def test_an_enum_of_duckdb_is_predicted():
    connection = duckdb.connect()
    connection.sql("create type mood as enum ('sad', 'ok')")
    rows = "select (case when i % 2 = 0 then 'ok' else 'sad' end)::mood as m, (i % 3)::VARCHAR as y from range(9) r(i)"
    connection.sql(f"create table t as {rows}")
    model = NaiveBayes().fit(connection.table("t"), "y")
    np.testing.assert_allclose(model.predict_proba(connection.table("t")).sum(1), np.ones(9))


@pytest.mark.parametrize("labels", [[0, "unknown", 0], [1, 2.5, 1], [(1, 2), (3, 4), (1, 2)]])
def test_labels_of_other_types_are_written_as_text(labels, tmp_path):
    table = pl.DataFrame({"x": ["r", "g", "r"]})
    model = NaiveBayes().fit(table, labels)
    model.predict_to_parquet(table.lazy(), tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["label"].to_list() == list(map(str, model.predict(table)))


def test_a_failed_file_leaves_nothing_behind(tmp_path):
    table = pl.DataFrame({"x": ["r", "g", "r"]})
    model = NaiveBayes().fit(table, [0, 1, 0])
    with pytest.raises(ValueError, match="not among its levels"):
        model.predict_to_parquet(pl.DataFrame({"x": ["r", "strange"]}).lazy(), tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []
