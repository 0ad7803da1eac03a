"""What a missing cell is: left out, a value of its own, or an error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesnb
from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes, Poisson

duckdb = pytest.importorskip("duckdb")

TABLE = pl.DataFrame(
    {"y": ["a", "a", "a", "b", "b"], "x": ["r", "r", None, None, None], "n": [1.0, 2.0, 4.0, 3.0, None]}
)


def test_left_out_by_default():
    model = NaiveBayes({"x": Categorical(levels=["r", "g"])}).fit(TABLE.select("x"), TABLE["y"])
    np.testing.assert_allclose(model.predict_proba(pl.DataFrame({"x": [None]}, schema={"x": str})), [[4 / 7, 3 / 7]])


def test_a_level_of_its_own():
    model = NaiveBayes(missing="level").fit(TABLE.select("x"), TABLE["y"])
    assert model.statistics_.blocks[0].family.levels == ("r", None)
    np.testing.assert_array_equal(model.statistics_.statistics[0].counts, [[2, 1], [0, 2]])
    a, b = 4 / 7 * 2 / 5, 3 / 7 * 3 / 4  # Laplace's rule over the values r and None
    expected = [[a / (a + b), b / (a + b)]]
    np.testing.assert_allclose(model.predict_proba(pl.DataFrame({"x": [None]}, schema={"x": str})), expected)


def test_a_declared_column_has_the_level_too():
    frame = pd.DataFrame({"x": pd.Categorical(["r", None], ["r", "g"])})
    (block,) = NaiveBayes(missing="level").fit(frame, ["a", "b"]).statistics_.blocks
    assert block.family.levels == ("r", "g", None)


def test_integers_keep_their_levels():
    frame = pd.DataFrame({"x": np.array([3, None, 1], dtype=object)})
    (block,) = NaiveBayes(Categorical(missing="level")).fit(frame, ["a", "b", "b"]).statistics_.blocks
    assert block.family.levels == (1, 3, None)


def test_later_levels_stand_before_it():
    model = NaiveBayes(missing="level").fit(pd.DataFrame({"x": ["m", None]}), ["a", "b"])
    model.partial_fit(pd.DataFrame({"x": ["z", "c"]}), ["a", "b"])
    assert model.statistics_.blocks[0].family.levels == ("c", "m", "z", None)
    np.testing.assert_array_equal(model.statistics_.statistics[0].counts, [[0, 1, 1, 0], [1, 0, 0, 1]])
    merged = model + NaiveBayes(missing="level").fit(pd.DataFrame({"x": ["d", None]}), ["a", "b"])
    assert merged.statistics_.blocks[0].family.levels == ("c", "d", "m", "z", None)


def test_a_family_overrides_the_model():
    model = NaiveBayes({"x": Categorical(missing="level")}).fit(TABLE, "y")
    assert model.statistics_.blocks[0].family.levels == ("r", None)


@pytest.mark.parametrize("missing", ["ignore", "level"])
def test_an_engine_reads_it_as_memory_does(missing):
    ours, theirs = (NaiveBayes(missing=missing).fit(frame, "y").statistics_ for frame in (TABLE.lazy(), TABLE))
    assert ours.blocks == theirs.blocks
    np.testing.assert_array_equal(ours.statistics[0].counts, theirs.statistics[0].counts)


@pytest.mark.parametrize(
    ("families", "words"),
    [
        (None, "Column 'x' has no value in row 2"),
        ({"x": Categorical(missing="ignore")}, "Column 'n' has no value in row 4"),
    ],
)
def test_an_error(families, words):
    with pytest.raises(ValueError, match=words):
        NaiveBayes(families, missing="error").fit(TABLE, "y")


@pytest.mark.parametrize("family", [Gaussian(), Multinomial()])
def test_an_error_in_an_engine(family):
    frame = TABLE.select("y", "n").lazy()
    with pytest.raises(ValueError, match="Column 'n' has no value in 1 rows"):
        NaiveBayes(family, missing="error").fit(frame, "y")


def test_an_error_in_prediction_too():
    model = NaiveBayes(missing="error").fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="no value in row 1"):
        model.predict([[1.0], [np.nan]])


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="missing must be"):
        NaiveBayes(missing="drop").fit([[1.0]], ["a"])
    with pytest.raises(ValueError, match="missing must be"):
        Categorical(missing="drop")


QUESTIONS = {
    "y": ["a", "a", "b", "b"],
    "answer": ["?", "yes", "no", None],
    "grade": [2.0, 3.0, None, 5.0],
}


def levels(model):
    return [block.family.levels for block in model.statistics_.blocks if isinstance(block.family, Categorical)]


def test_texts_that_stand_for_a_missing_cell():
    asked, filled = pl.DataFrame(QUESTIONS), pl.DataFrame({**QUESTIONS, "answer": [None, "yes", "no", None]})
    expected = NaiveBayes().fit(filled, "y")
    dictionary = pd.DataFrame(QUESTIONS).astype({"answer": pd.CategoricalDtype(["?", "no", "yes"])})
    enum = asked.cast({"answer": pl.Enum(["?", "no", "yes"])})
    for frame in (asked, asked.to_pandas(), asked.lazy(), dictionary, enum, enum.lazy(), duckdb.sql("from asked")):
        model = NaiveBayes(na_values=("?",)).fit(frame, "y")
        assert levels(model) == [("no", "yes")]
        np.testing.assert_array_equal(model.statistics_.statistics[0].counts, expected.statistics_.statistics[0].counts)
        prob = model.predict_proba(asked.drop("y"))
        np.testing.assert_allclose(prob, expected.predict_proba(filled.drop("y")))
    assert levels(NaiveBayes().fit(asked, "y")) == [("?", "no", "yes")]


@pytest.mark.parametrize("frame", [pl.DataFrame(QUESTIONS), pl.DataFrame(QUESTIONS).lazy()], ids=["here", "lazy"])
def test_such_a_text_is_like_any_other_missing_cell(frame):
    assert levels(NaiveBayes(na_values=["?"], missing="level").fit(frame, "y")) == [("no", "yes", None)]
    with pytest.raises(ValueError, match="Column 'answer' has no value in"):
        NaiveBayes(na_values=["?"], missing="error").fit(frame, "y")


def test_numbers_among_such_texts_are_numbers_and_text_stays_text():
    mixed = np.array([[3, "?"], ["?", "4.5"], [4.5, "3"]], dtype=object)
    (block, _) = NaiveBayes(na_values=["?"]).fit(mixed, ["a", "b", "b"]).statistics_.blocks
    assert isinstance(block.family, Gaussian)
    words = r"Gaussian needs numbers, but column 'x1' has the value '4.5' in row 1: convert it"
    with pytest.raises(ValueError, match=words):
        NaiveBayes(Gaussian(), na_values=["?"]).fit(mixed, ["a", "b", "b"])
    assert mixed[0, 1] == "?"


def test_na_values_are_texts():
    for wrong in ("?", [-999]):
        with pytest.raises(ValueError, match=r"na_values must be a sequence of texts such as \(\"\?\",\)"):
            NaiveBayes(na_values=wrong).fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.parametrize(
    ("file", "label", "missing"), [("house-votes-84.data", "Class", 392), ("agaricus-lepiota.data", "edibility", 2480)]
)
def test_tables_with_question_marks(shared_data, file, label, missing):
    asked = pd.read_csv(shared_data / file, skipinitialspace=True)
    filled = pd.read_csv(shared_data / file, skipinitialspace=True, na_values="?")
    assert filled.isna().sum().sum() == missing
    y = asked.pop(label)
    model = NaiveBayes(na_values=["?"]).fit(asked, y)
    expected = NaiveBayes().fit(filled.drop(columns=label), y)
    np.testing.assert_allclose(model.predict_proba(asked), expected.predict_proba(filled.drop(columns=label)))


@pytest.mark.parametrize("family", [Bernoulli, Gaussian, Poisson, Multinomial])
def test_every_family_may_refuse_missing_cells_or_leave_them_out(family):
    frame = pd.DataFrame({"n": [1.0, 0.0, np.nan], "c": ["r", None, "g"]})
    with pytest.raises(ValueError, match="Column 'n' has no value in row 2"):
        NaiveBayes({"n": family(missing="error")}).fit(frame, ["a", "a", "b"])
    with pytest.raises(ValueError, match="Column 'c' has no value in row 1"):
        NaiveBayes({"n": family(missing="ignore")}, missing="error").fit(frame, ["a", "a", "b"])
    with pytest.raises(ValueError, match='missing must be "ignore" or "error", not \'level\''):
        family(missing="level")


def test_draws_know_the_level_of_missing_cells(tmp_path):
    """XArray would make None nan, on the way to the tree and back from a file."""
    X = [["a"], [None], ["b"], ["a"]]
    model = NaiveBayes(Categorical(), missing="level").fit(X, list("AABB"))
    bayesnb.save(model.draw(draws=200, random_seed=0), tmp_path / "draws.nc")
    for tree in (model.draw(draws=200, random_seed=0), bayesnb.load(tmp_path / "draws.nc")):
        assert tree["posterior"]["x0"].values.tolist() == ["a", "b", None]
        found = model.predict_proba(X, posterior=tree)
        assert (abs(found["prob"] - model.predict_proba(X)) <= 4 * found["mcse"]).all()
    assert model.estimates()["x0"].values.tolist() == ["a", "b", None]
