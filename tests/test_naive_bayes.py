"""The estimator: scikit-learn's contract, batches, every kind of table, and what its errors say."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesnb import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gaussian,
    Multinomial,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
)

NOT_EXPECTED = {
    "check_estimators_empty_data_messages": "a model without features is the label probabilities",
    "check_classifiers_regression_target": "a label is any hashable value, numbers too",
    "check_supervised_y_no_nan": "likewise infinity; missing labels are refused",
    "check_supervised_y_2d": "a single column of labels is unambiguous",
}


@parametrize_with_checks(
    [NaiveBayes(), NaiveBayes(Gaussian(NormalInverseGamma(0, 1, 1, 1)))], expected_failed_checks=lambda _: NOT_EXPECTED
)
@pytest.mark.filterwarnings(
    "ignore:.*was fitted with feature names", "ignore:.*do not vary", "ignore:X has column names"
)
@pytest.mark.filterwarnings("ignore:Estimator NaiveBayes does not", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_finds_nothing(estimator, check):
    check(estimator)


# --- a table of every family ------------------------------------------------------------------------------------------

FAMILIES = {("w1", "w2", "w3"): Multinomial(), "n": Poisson(), "digit": Categorical()}


def mixed_table(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "x": rng.normal(5, 2, n_rows), "c": rng.choice(["red", "green", "blue"], n_rows),
        "w1": rng.poisson(1, n_rows), "b": rng.random(n_rows) < 0.4, "n": rng.poisson(3, n_rows),
        "w2": rng.poisson(2, n_rows), "z": rng.normal(-1e4, 0.1, n_rows), "digit": rng.integers(0, 4, n_rows),
        "w3": rng.poisson(0.3, n_rows),
    })  # fmt: skip
    return frame, rng.choice(["p", "q", "r"], n_rows)


def with_holes(frame, seed=1):
    holes = np.random.default_rng(seed).random(frame.shape) < 0.1
    types = {"b": "boolean", "w1": "Int64", "w2": "Int64", "w3": "Int64", "n": "Int64", "digit": "Int64"}
    return frame.astype(types).mask(holes)


@pytest.fixture(scope="module")
def table():
    frame, y = mixed_table()
    return with_holes(frame), y


def same_model(first, second, rtol=1e-12):
    assert first.describe() == second.describe()
    X, _ = mixed_table(20, 7)
    assert_allclose(first.predict_log_proba(X), second.predict_log_proba(X), rtol, rtol)
    assert_allclose(first.log_evidence(), second.log_evidence(), rtol)


def test_every_kind_of_table_gives_the_same(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    polars = pl.from_pandas(frame)
    for other in (polars, polars.to_arrow()):
        again = NaiveBayes(FAMILIES).fit(other, pl.Series(y))
        same_model(model, again)
        assert_allclose(again.predict_proba(other), model.predict_proba(frame), 1e-12)
    objects = frame.astype(object).to_numpy()
    with pytest.warns(UserWarning, match="taken by position"):
        assert_allclose(model.predict_proba(objects), model.predict_proba(frame), 1e-12)
    by_position = NaiveBayes({(2, 5, 8): Multinomial(), 4: Poisson(), "x7": Categorical()}).fit(objects, y)
    assert_allclose(by_position.predict_proba(objects.tolist()), model.predict_proba(frame), 1e-12)


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial()])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_sparse_and_dense_give_the_same(family, make):
    X = (np.random.default_rng(0).random((20, 5)) < 0.3).astype(int)
    y = np.arange(20) % 3
    dense, from_sparse = NaiveBayes(family).fit(X, y), NaiveBayes(family).fit(make(X), y)
    assert_allclose(from_sparse.predict_proba(make(X)), dense.predict_proba(X), 1e-12)
    assert_allclose(from_sparse.log_evidence(), dense.log_evidence())
    with pytest.raises(ValueError, match=r"column 'x2' has the value .* in row 0"):
        from_sparse.predict(make(np.array([[0, 1, -2, 0, 0]])))


def test_a_sparse_matrix_needs_a_family():
    with pytest.raises(ValueError, match="does not read a sparse matrix"):
        NaiveBayes().fit(sparse.csr_array(np.eye(3)), [0, 1, 1])


def test_a_model_of_dense_rows_reads_sparse_ones():
    model = NaiveBayes().fit(np.eye(3), [0, 1, 1])
    assert_allclose(model.predict_proba(sparse.csr_array(np.eye(3))), model.predict_proba(np.eye(3)), 1e-14)


@pytest.mark.parametrize("batches", [[60], [1] * 60, [7, 0, 13, 40], [59, 1]], ids=str)
def test_any_batching_is_one_fit(table, batches):
    frame, y = table
    weight = np.random.default_rng(3).uniform(0, 2, 60)
    whole = NaiveBayes(FAMILIES).fit(frame, y, weight)
    model, start = NaiveBayes(FAMILIES), 0
    for size in batches:
        rows = slice(start, start + size)
        model.partial_fit(frame[rows], y[rows], ["r", "q", "p"], weight[rows])
        start += size
    same_model(model, whole)


def test_levels_and_labels_that_come_later():
    frame = pd.DataFrame({"c": list("bbaca"), "x": [1.0, 2, 3, 5, 8]})
    whole = NaiveBayes().fit(frame, [2, 2, 1, 3, 1])
    model = NaiveBayes().partial_fit(frame[:2], [2, 2]).partial_fit(frame[2:4], [1, 3], classes=[1, 3])
    model.partial_fit(frame[4:], [1])
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.statistics_.blocks[0].family.levels == ("a", "b", "c")
    assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), 1e-12)
    with pytest.raises(ValueError, match=r"The label 4 in row 1 is not among 1, 2, 3: name all the labels"):
        model.partial_fit(frame[:2], [1, 4])


def test_a_failed_batch_leaves_the_model_as_it_was(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    before = pickle.dumps(vars(model))
    for bad, labels, message in (
        (frame.drop(columns="x"), y, "X lacks the columns 'x'"),
        (frame.assign(n=-1), y, "'n' has the value -1.0 in row 0"),
        (frame.assign(x=np.inf), y, "'x' has the value inf in row 0"),
        (frame, ["s"] * 60, "The label 's' in row 0"),
        (frame, y[:5], "X has 60 rows, but y has 5 labels"),
        (frame.assign(c="mauve", w1=0.5), y, "'w1' has the value 0.5"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(bad, labels)
        assert pickle.dumps(vars(model)) == before


def test_fit_forgets(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    model.set_params(families=None).fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    assert model.classes_.tolist() == [0, 1]
    assert (model.n_features_in_, hasattr(model, "feature_names_in_")) == (1, False)


def test_the_users_data_are_not_changed(table):
    frame, y = table
    kept, labels = frame.copy(), y.copy()
    model = NaiveBayes(FAMILIES).fit(frame, y)
    model.predict_proba(frame)
    pd.testing.assert_frame_equal(frame, kept)
    assert_array_equal(y, labels)
    for X in (np.array([[1.0, np.nan], [0, 1], [1, 0]]), np.eye(3)):
        before = X.copy()
        for family in (Bernoulli(), Multinomial(), Poisson(), Gaussian(), Categorical()):
            NaiveBayes(family).fit(X, [0, 1, 1]).predict(X)
            assert_array_equal(X, before)


# --- columns ----------------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    expected = model.predict_proba(frame)
    assert_array_equal(model.predict_proba(frame[frame.columns[::-1]].assign(extra="?")), expected)
    with pytest.raises(ValueError, match="X lacks the columns 'x', 'c' that"):
        model.predict(frame.drop(columns=["c", "x"]))
    assert model.feature_names_in_.tolist() == list(frame)
    assert model.n_features_in_ == 9


def test_arrays_need_the_same_number_of_columns():
    model = NaiveBayes().fit(np.arange(6.0).reshape(3, 2), [0, 1, 1])
    with pytest.raises(ValueError, match="X has 3 features, but NaiveBayes is expecting 2"):
        model.predict(np.zeros((1, 3)))
    with pytest.warns(UserWarning, match="fitted without"):
        model.predict(pd.DataFrame({"p": [0.0], "q": [1.0]}))


def test_columns_named_by_integers():
    frame = pd.DataFrame({1: [1.0, 2, 3, 4], 0: ["u", "v", "u", "v"]})
    model = NaiveBayes({1: Gaussian()}).fit(frame, [0, 0, 1, 1])
    assert_allclose(model.predict_proba(frame[[0, 1]]), model.predict_proba(frame))
    assert set(model.posterior_) == {"label", 1, 0}
    assert not hasattr(model, "feature_names_in_")


def test_an_index_of_any_kind():
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 1, 0]
    plain = NaiveBayes().fit(X, y).predict_proba(X)
    for index in (list("abcdef"), [5, 5, 5, 1, 1, 1], pd.date_range("2020", periods=6)):
        frame = pd.DataFrame(X, columns=["p", "q"], index=index)
        weight = pd.Series(1.0, index=range(10, 16))
        model = NaiveBayes().fit(frame, pd.Series(y, index=range(20, 26)), weight)
        assert_allclose(model.predict_proba(frame), plain)
    with pytest.raises(ValueError, match=r"in row 2 \(index Timestamp"):
        model.predict(frame.assign(p=[0, 0, np.inf, 0, 0, 0]))


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
def test_infinite_values_are_refused_by_name(value):
    frame = pd.DataFrame({"p": [1.0, 2, 3], "q": [1.0, value, 3]})
    for X in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"Gaussian takes finite numbers.*column 'q' has the value .* in row 1"):
            NaiveBayes().fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match=r"Gaussian takes finite numbers.*column 'x1' has the value .* in row 1"):
        NaiveBayes().fit(frame.to_numpy(), [0, 1, 1])


@pytest.mark.parametrize("column", [[3.0, 3, 3], [np.nan] * 3, [None] * 3, [1e15] * 3, [0.1] * 3, [0] * 3], ids=str)
def test_a_column_without_variance_says_nothing_and_the_model_says_so(column):
    frame = pd.DataFrame({"x": [1.0, 2, 3], "same": column})
    with pytest.warns(UserWarning, match="columns 'same' do not vary"):
        model = NaiveBayes().fit(frame, [0, 1, 1])
    alone = NaiveBayes().fit(frame[["x"]], [0, 1, 1])
    assert_allclose(model.predict_proba(frame), alone.predict_proba(frame[["x"]]))
    assert "left out, as they do not vary: 'same'" in str(model)
    model.partial_fit(pd.DataFrame({"x": [2.0, 5], "same": [4.0, 5]}), [0, 1])  # it varies from now on
    assert "same" in model.posterior_ or ("x", "same") in model.posterior_


def test_a_row_without_any_value_gets_the_label_probabilities(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    empty = pd.DataFrame({name: [None] for name in frame})
    assert_allclose(model.predict_proba(empty)[0], model.estimates()["label_prob"])


def test_one_row_and_no_row():
    model = NaiveBayes().fit(pd.DataFrame({"c": ["u"], "b": [True]}), ["A"])
    assert model.predict_proba(pd.DataFrame({"c": ["u"], "b": [False]})).tolist() == [[1]]
    assert model.predict(pd.DataFrame({"c": [], "b": []})).shape == (0,)
    with pytest.raises(ValueError, match="no row to learn from"):
        NaiveBayes().fit(pd.DataFrame({"c": []}), [])


def test_dates_and_mixed_columns_are_refused_by_name():
    with pytest.raises(ValueError, match="Column 'when' has the type"):
        NaiveBayes().fit(pd.DataFrame({"when": pd.to_datetime(["2020", "2021"])}), [0, 1])
    with pytest.raises(ValueError, match=r"Column 'm' mixes values of different types \(1, 'a'\)"):
        NaiveBayes().fit(pd.DataFrame({"m": [1, "a"]}, dtype=object), [0, 1])
    declared = NaiveBayes(Categorical(levels=[1, "a"])).fit(pd.DataFrame({"m": [1, "a"]}, dtype=object), [0, 1])
    assert_allclose(declared.predict_proba(pd.DataFrame({"m": ["a"]})), [[1 / 3, 2 / 3]])
    with pytest.raises(ValueError, match="Gaussian needs numbers, but column 'c' has the value 'u' in row 0"):
        NaiveBayes(Gaussian()).fit(pd.DataFrame({"c": ["u", "v"]}), [0, 1])


def test_families_that_do_not_fit_are_refused():
    frame = pd.DataFrame({"p": [1.0, 2], "q": [1, 2]})
    for families, error, message in (
        ({"r": Gaussian()}, ValueError, "names the column 'r', which the table does not have; it has 'p', 'q'"),
        ({"p": Gaussian(), ("p", "q"): Poisson()}, ValueError, "names the column 'p' more than once"),
        ({"p": Gaussian}, TypeError, r"write Gaussian\(\), with brackets"),
        ("gaussian", TypeError, "must hold families such as"),
    ):
        with pytest.raises(error, match=message):
            NaiveBayes(families).fit(frame, [0, 1])
    with pytest.raises(ValueError, match='unseen must be "error" or "ignore"'):
        NaiveBayes(unseen="maybe").fit(frame, [0, 1])


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        *([1, "a", 2.5], [(1, 2), (3, 4), ()], [0, 1, 2], [True, False, True], ["x", "y", "z"]),
        *([2**70, 1, 0], [0.5, 1.5, 2]),
    ],
    ids=str,
)
def test_labels_come_back_as_they_were(labels):
    X = np.array([[0.0], [10], [20]])
    model = NaiveBayes().fit(np.repeat(X, 5, axis=0), [label for label in labels for _ in range(5)])
    predicted = model.predict(X).tolist()
    assert predicted == labels or len(set(labels)) < 3
    assert {type(label) for label in model.classes_.tolist()} == {type(label) for label in labels}


def test_labels_that_a_type_declares_count():
    y = pd.Categorical(["A", "B"], categories=["C", "B", "A"])
    assert NaiveBayes().fit(np.eye(2), y).classes_.tolist() == ["A", "B", "C"]
    assert NaiveBayes().fit(np.eye(2), pl.Series(["A", "B"], dtype=pl.Enum(["C", "B", "A"]))).classes_.size == 3


def test_a_missing_label_is_refused():
    for y in ([1.0, np.nan], ["a", None], pd.Series([1, None], dtype="Int64"), pl.Series([True, None])):
        with pytest.raises(ValueError, match="The label of row 1 is missing"):
            NaiveBayes().fit(np.eye(2), y)


# --- scikit-learn's tools ---------------------------------------------------------------------------------------------

PRIORS = {
    "x": Gaussian(NormalInverseGamma(5, 1, 1, 4)),
    "c": Categorical(prior=np.array([1, 2, 3]), levels=["red", "green", "blue"]),
    "b": Bernoulli(prior=np.array([1.0, 2.0])),
    ("w1", "w2", "w3"): Multinomial(Dirichlet([1, 2, 3])),
    "n": Poisson(),
    "digit": Categorical(prior={0: 1, 1: 2, 2: 3, 3: 4}),
}


def test_clones_copies_and_parameters(table):
    frame, y = table
    for families in (None, FAMILIES, PRIORS, Categorical(prior=np.ones(3))):
        model = NaiveBayes(families, concentration=np.float64(2), unseen="ignore")
        copy = clone(model)
        assert copy.get_params()["unseen"] == "ignore"
        assert repr(copy) == repr(model)
        assert pickle.loads(pickle.dumps(copy)).get_params().keys() == copy.get_params().keys()  # noqa: S301
    model = NaiveBayes(PRIORS).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert_array_equal(clone(model).fit(frame, y).predict_proba(frame), model.predict_proba(frame))
    assert clone(model).set_params(concentration=3).concentration == 3


def test_families_are_equal_by_value():
    assert Bernoulli(np.array([1.0, 2])) == Bernoulli([1.0, 2]) != Bernoulli([1.0, 3])
    assert Gaussian(NormalInverseGamma([0, 1])) == Gaussian(NormalInverseGamma([0, 1]))
    assert Bernoulli(Beta([1, 2], 1)) != Bernoulli(Beta([1, 3], 1))
    frame = pd.DataFrame({"p": [0, 1, 1], "q": [1, 1, 0], "r": [0, 1, 0]})
    families = {name: Bernoulli(np.array([1.0, 2])) for name in frame}
    model = NaiveBayes(families).fit(frame, [0, 1, 1])
    assert model.statistics_.blocks[0].names == ("p", "q", "r")


def test_grid_search_and_cross_validation(table):
    frame, y = table
    search = GridSearchCV(NaiveBayes(PRIORS), {"concentration": [0.1, 1.0, "jeffreys"]}, cv=3)
    assert search.fit(frame, y).best_params_["concentration"] in (0.1, 1.0, "jeffreys")
    assert search.predict(frame).shape == (60,)
    families = [None, PRIORS, FAMILIES]
    assert GridSearchCV(NaiveBayes(), {"families": families}, cv=3).fit(frame, y).best_score_ > 0
    assert cross_val_score(NaiveBayes(FAMILIES), frame, y, scoring="neg_log_loss").shape == (5,)


def test_pipelines():
    texts = ["cheap pills now", "meeting at noon", "cheap cheap pills", "noon lunch meeting"]
    spam = make_pipeline(CountVectorizer(), NaiveBayes(Multinomial())).fit(texts, ["spam", "ham", "spam", "ham"])
    assert spam.predict(["cheap lunch pills", "meeting"]).tolist() == ["spam", "ham"]
    frame, y = mixed_table()
    columns = ColumnTransformer([("scaled", StandardScaler(), ["x", "z"])], remainder="passthrough")
    for output in ("default", "pandas", "polars"):
        model = make_pipeline(columns.set_output(transform=output), NaiveBayes()).fit(frame, y)
        assert model.predict_proba(frame).shape == (60, 3)
        plain = NaiveBayes().fit(frame, y) if output != "default" else None
        if plain is not None:
            assert_allclose(model.predict_proba(frame), plain.predict_proba(frame), 1e-9)


def test_nothing_is_asked_of_a_model_that_is_not_fitted():
    model, X = NaiveBayes(), np.zeros((1, 1))
    calls = [
        *(lambda: model.predict(X), lambda: model.predict_proba(X), model.log_evidence, model.draw),
        *(model.estimates, model.describe, lambda: model.posterior_),
    ]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()
    assert str(model) == "NaiveBayes()"


# --- answers ----------------------------------------------------------------------------------------------------------


def test_probabilities_and_their_logarithms_agree(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    for plug_in in (None, "mean", "mode"):
        prob = model.predict_proba(frame, plug_in)
        assert_allclose(prob.sum(1), 1)
        assert_allclose(np.exp(model.predict_log_proba(frame, plug_in)), prob, 1e-12)
        assert_array_equal(model.predict(frame, plug_in), model.classes_[prob.argmax(1)])
    with pytest.raises(ValueError, match='An estimate is "mean", "mode" or "mle"'):
        model.predict(frame, "median")


def test_plug_in_and_exact_agree_where_they_should():
    frame, y = mixed_table()
    model = NaiveBayes(Categorical(levels=[False, True])).fit(frame[["b"]], y)
    assert_allclose(model.predict_proba(frame, "mean"), model.predict_proba(frame), 1e-12)
    model = NaiveBayes(Multinomial()).fit(frame[["w1", "w2"]], y)
    assert np.abs(model.predict_proba(frame, "mean") - model.predict_proba(frame)).max() > 1e-4


def test_draws_average_to_the_estimates(table):
    frame, y = table
    model = NaiveBayes(FAMILIES).fit(frame, y)
    draws, mean = model.draw(2000, 2, random_seed=0)["posterior"], model.estimates()
    assert set(draws.data_vars) == set(mean.data_vars)
    for name, array in draws.data_vars.items():
        error = array.std(("chain", "draw"), ddof=1) / np.sqrt(4000)
        assert (np.abs(array.mean(("chain", "draw")) - mean[name]) < 4.5 * error).all(), name
    assert model.draw(10, random_seed=3).identical(model.draw(10, random_seed=3))
    assert not model.draw(10, random_seed=3).identical(model.draw(10, random_seed=4))


def test_closed_form_imports_neither_pymc_nor_pictures():
    code = """
import sys, numpy as np, bayesnb
model = bayesnb.NaiveBayes().fit(np.eye(4), [0, 0, 1, 1])
model.predict_proba(np.eye(4)), model.draw(5), model.estimates()
heavy = {"pymc", "pytensor", "arviz", "arviz_plots", "matplotlib", "nutpie"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


@pytest.mark.parametrize(
    "ask",
    [
        lambda nb: nb.draw(draws=0),
        lambda nb: nb.draw(chains=-1),
        lambda nb: nb.prior_draw(draws=0),
        lambda nb: nb.sample(draws=0),
        lambda nb: nb.sample(tune=-1),
        lambda nb: nb.predict_uncertainty([["r"]], draws=0),
        lambda nb: nb.with_groups(nb.draw(), replicates=0),
        lambda nb: nb.simulate(-1),
        lambda nb: nb.decide([["r"]], draws=0),
    ],
)
def test_how_many_is_named_where_it_is_too_few(ask):
    nb = NaiveBayes(Categorical()).fit([["r"], ["g"]], ["A", "B"])
    with pytest.raises(ValueError, match=r"(draws|chains|tune|replicates|n) == (0|-1), must be >= "):
        ask(nb)
