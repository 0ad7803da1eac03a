"""Models fitted apart equal one fit, and forgetting rows equals never having met them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayesnb import Categorical, Gaussian, NaiveBayes, Poisson, merge

FAMILIES = {"events": Poisson()}


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "species": rng.choice(["a", "b", "c"], n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "flag": rng.random(n) < 0.4,
            "length": 1e6 + rng.normal(0, 2, n),
            "events": rng.poisson(4, n),
        }
    )


def assert_same_model(model, expected, frame):
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    assert model.statistics_.blocks == expected.statistics_.blocks
    np.testing.assert_allclose(model.predict_proba(frame), expected.predict_proba(frame), rtol=1e-9)
    np.testing.assert_allclose(model.log_evidence(), expected.log_evidence(), rtol=1e-9)


def test_merged_models_equal_one_fit():
    frame = table(600, 1)
    parts = [NaiveBayes(FAMILIES).fit(frame[i::3], "species") for i in range(3)]
    whole = NaiveBayes(FAMILIES).fit(frame, "species")
    assert_same_model(merge(parts), whole, frame)
    assert_same_model(parts[0] + parts[1] + parts[2], whole, frame)


def test_labels_and_open_levels_that_only_one_model_met_are_united():
    frame = table(300, 2)
    first = frame[(frame["species"] != "c") & (frame["colour"] != "red")]
    rest = frame.drop(first.index)
    merged = NaiveBayes(FAMILIES).fit(rest, "species") + NaiveBayes(FAMILIES).fit(first, "species")
    assert_same_model(merged, NaiveBayes(FAMILIES).fit(frame, "species"), frame)


def test_the_summands_stay_as_they_were():
    frame = table(100, 3)
    first, second = (NaiveBayes(FAMILIES).fit(frame[i::2], "species") for i in range(2))
    before = first.predict_proba(frame)
    first + second
    np.testing.assert_array_equal(first.predict_proba(frame), before)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (NaiveBayes(), NaiveBayes(concentration=2.0), "concentration is 1.0 in one and 2.0 in the other"),
        (NaiveBayes(Gaussian()), NaiveBayes(Poisson()), "families is Gaussian"),
    ],
)
def test_models_told_different_things_are_refused(first, second, words):
    X, y = [[1], [2], [3]], ["a", "b", "a"]
    with pytest.raises(ValueError, match=words):
        first.fit(X, y) + second.fit(X, y)


def test_a_level_beyond_the_declared_ones_is_refused():
    y = ["a", "b"]
    declared = NaiveBayes().fit(pd.DataFrame({"x": pd.Categorical(["r", "g"], ["r", "g"])}), y)
    seen = NaiveBayes().fit(pd.DataFrame({"x": ["r", "z"]}), y)
    with pytest.raises(ValueError, match="'x' has the levels 'r', 'g' declared in one model, and 'z' in the other"):
        declared + seen
    within = NaiveBayes().fit(pd.DataFrame({"x": ["r", "r"]}), y)
    assert (within + declared).statistics_.blocks[0].family.levels == ("r", "g")


def test_other_columns_or_families_are_refused():
    y = ["a", "b"]
    model = NaiveBayes().fit(pd.DataFrame({"x": [1.0, 2.0]}), y)
    with pytest.raises(ValueError, match="different columns can't be merged: 'x' and 'z'"):
        model + NaiveBayes().fit(pd.DataFrame({"z": [1.0, 2.0]}), y)
    with pytest.raises(ValueError, match="'x' is Gaussian in one model and Categorical in the other"):
        model + NaiveBayes().fit(pd.DataFrame({"x": ["r", "g"]}), y)
    with pytest.raises(ValueError, match="at least one model"):
        merge([])


def test_a_sliding_window_equals_a_fit_of_the_rows_inside_it():
    frame = table(900, 4)
    model = NaiveBayes(FAMILIES).fit(frame[:300], "species")
    for start in range(0, 600, 100):
        model.partial_fit(frame[start + 300 : start + 400], "species")
        model.forget(frame[start : start + 100], "species")
    assert_same_model(model, NaiveBayes(FAMILIES).fit(frame[600:], "species"), frame)


def test_weighted_rows_are_forgotten_with_their_weights():
    frame = table(60, 5).assign(weight=lambda t: np.linspace(0.1, 2, len(t)))
    model = NaiveBayes(FAMILIES).fit(frame, "species", "weight").forget(frame[:20], "species", "weight")
    assert_same_model(model, NaiveBayes(FAMILIES).fit(frame[20:], "species", "weight"), frame)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (["r", "g"], ["a", "a"], "fewer rows of the label 'a'"),
        (["g"], ["a"], "fewer values of the column 'x' of the label 'a'"),
        (["new"], ["b"], "fewer values of the column 'x' of the label 'b'"),
        (["r"], ["z"], "The label 'z'"),
    ],
)
def test_rows_never_met_cannot_be_forgotten(x, y, words):
    model = NaiveBayes({"x": Categorical()}).fit(pd.DataFrame({"x": ["r", "g"]}), ["a", "b"])
    before = model.statistics_
    with pytest.raises(ValueError, match=words):
        model.forget(pd.DataFrame({"x": x}), y)
    assert model.statistics_ is before


def test_forgetting_fractional_rows_leaves_nothing():
    table, y, weight = (
        pd.DataFrame({"g": [1.0, 2, 5, 4, 3], "c": list("uvuvu")}),
        list("AABBB"),
        [0.1, 0.2, 0.3, 0.7, 0.1],
    )
    for rows in ([2, 3, 4], [4, 3, 2]):
        model = NaiveBayes().fit(table, y, weight)
        model.forget(table.iloc[rows], [y[row] for row in rows], [weight[row] for row in rows])
        assert model.statistics_.label_counts[1] == 0
        assert np.isnan(model.estimates("mle")["g_mean"].sel(label="B"))
