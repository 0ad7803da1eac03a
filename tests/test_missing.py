"""What a missing cell is: left out, a value of its own, or an error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayesnb import Categorical, Gaussian, Multinomial, NaiveBayes

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
