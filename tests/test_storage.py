"""What is saved is read back equal in value and type."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.testing import assert_array_equal

import bayesnb
from bayesnb import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Gaussian,
    Multinomial,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
)
from bayesnb.storage import from_json, to_json


def same(first, second):
    assert type(first) is type(second)
    if isinstance(first, (list, tuple)):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            same(a, b)
    elif isinstance(first, dict):
        same(list(first.items()), list(second.items()))
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        assert_array_equal(first, second)
    else:
        assert first == second


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, 1, 2**70, -1.5, 0.1, float("inf"), "", "é\n", "json:1", (), (1, (2, None)), [1, [2.0]]),
        *({}, {"a": {1: (2,)}}, {(1, "x"): True, None: False}, {"tuple": [1]}),
        *(np.array([1.0, 2.5]), np.array([[1, 2]], dtype=np.uint8), np.array(["a", "bc"])),
        *(Gaussian(), Bernoulli(Beta([1, 2], 3)), Categorical({"a": 1, None: 2}, levels=["a", None])),
        *(Poisson(Gamma(1, 2)), Multinomial("perks"), Dirichlet([1, 0]), NormalInverseGamma(1, 2, 3, 4)),
    ],
    ids=repr,
)
def test_values_keep_value_and_type(value):
    same(from_json(to_json(value)), value)


def test_numpy_scalars_are_the_numbers_that_they_stand_for():
    same(from_json(to_json([np.float64(0.1), np.int8(3), np.True_, np.str_("a")])), [0.1, 3, True, "a"])


@pytest.mark.parametrize("value", [dt.date(2020, 1, 1), {1, 2}, object, 1j])
def test_what_can_not_be_saved_is_refused(value):
    with pytest.raises(TypeError, match="can't be saved"):
        to_json([value])


FRAME = pd.DataFrame({
    "income/1000": [1.5, np.nan, 3, 4, 8, 2], "kind": list("abacba"), "any": [True, False, True, True, False, False],
    "n": [0, 3, 1, 2, 5, 1], "w1": [0, 1, 2, 0, 1, 1], "w2": [2, 0, 1, 1, 0, 3], "same": 1.0,
})  # fmt: skip
FAMILIES = {
    "n": Poisson(Gamma(1, 2)),
    ("w1", "w2"): Multinomial(prior={"w1": 1, "w2": 2}),
    "kind": Categorical(prior="jeffreys", levels=["a", "b", "c", "never"]),
    "income/1000": Gaussian(),
}
LABELS = [1, "a", "b", True, (1, "x"), 2.5]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.nc"


@pytest.mark.filterwarnings("ignore:The columns 'same'")
@pytest.mark.parametrize(
    "labels", [LABELS, [0, 1, 0, 1, 0, 1], list("xyxyxy"), [0.5, 2, 0.5, 2, 2, 2], [True, False] * 3]
)
@pytest.mark.parametrize(
    "options",
    [
        {"families": FAMILIES},
        {"families": FAMILIES, "concentration": "perks", "label_concentration": 0.5, "unseen": "ignore"},
        {"families": FAMILIES, "feature_weights": {"n": 0.5, "income/1000": 0}},
        {"families": None, "concentration": 2, "label_concentration": "jeffreys"},
    ],
    ids=["families", "named", "weighted", "numbers"],
)
def test_a_model_comes_back(path, options, labels):
    model = NaiveBayes(**options).fit(FRAME, labels)
    model.save(path)
    loaded = bayesnb.load(path)
    assert repr(loaded.get_params()) == repr(model.get_params())
    same(loaded.classes_.tolist(), model.classes_.tolist())
    assert loaded.describe() == model.describe()
    assert_array_equal(loaded.predict_log_proba(FRAME), model.predict_log_proba(FRAME))
    assert loaded.log_evidence() == model.log_evidence()
    assert loaded.estimates().identical(model.estimates())
    assert loaded.draw(5, random_seed=0).identical(model.draw(5, random_seed=0))
    loaded.partial_fit(FRAME, labels)
    model.partial_fit(FRAME, labels)
    assert_array_equal(loaded.predict_log_proba(FRAME), model.predict_log_proba(FRAME))


def test_learnt_feature_weights_come_back(path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = y[:, None] + rng.normal(0, 1, (200, 1)) * np.ones((1, 3))
    model = NaiveBayes(feature_weights="loo").fit(X, y)
    model.save(path)
    loaded = bayesnb.load(path)
    assert loaded.feature_weights_.identical(model.feature_weights_)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_vocabulary_longer_than_an_attribute_may_be(path):
    terms = [f"a term with a name of more than forty characters: {i}" for i in range(1_500)]
    frame = pd.DataFrame(np.eye(3, 1_500, dtype=int), columns=terms)
    model = NaiveBayes(Multinomial()).fit(frame, [0, 1, 1])
    model.save(path)
    assert_array_equal(bayesnb.load(path).predict_proba(frame), model.predict_proba(frame))


def test_column_names_of_any_type(path):
    frame = pd.DataFrame({1: [1.0, 2, 4], ("a", 2): ["u", "v", "u"], "": [True, False, True]})
    model = NaiveBayes().fit(frame, [0, 1, 1])
    model.save(path)
    assert bayesnb.load(path).statistics_.names == (1, ("a", 2), "")


def test_nothing_to_save():
    with pytest.raises(Exception, match="not fitted"):
        NaiveBayes().save("nowhere.nc")


@pytest.mark.filterwarnings("ignore:The columns 'same'")
@pytest.mark.parametrize("labels", [LABELS, [0, 1, 0, 1, 0, 1], list("xyxyxy"), [True, False] * 3])
def test_a_tree_of_draws_comes_back(path, labels):
    tree = NaiveBayes(FAMILIES).fit(FRAME, labels).draw(4, 2, random_seed=0)
    tree.attrs = {"exact": True, "seed": None, "note": "json:x", "prob": 0.94, "draws": 4, "options": {"tune": (1, 2)}}
    tree["posterior"].attrs = {"list": ["a", "b"], "empty": "", "flag": np.True_}
    tree["posterior"]["label_prob"].attrs = {"interval": ("eti", 0.94)}
    bayesnb.save(tree, path)
    loaded = bayesnb.load(path)
    assert loaded.identical(tree)
    same(dict(loaded.attrs), dict(tree.attrs))
    for name, coordinate in tree["posterior"].coords.items():
        assert loaded["posterior"][name].dtype == coordinate.dtype
        same(loaded["posterior"][name].to_numpy().tolist(), coordinate.to_numpy().tolist())


def test_a_file_is_replaced(path):
    for value in (1.0, 2.0):
        bayesnb.save(xr.DataTree.from_dict({"g": xr.Dataset({"v": value})}), path)
    assert bayesnb.load(path)["g/v"].item() == 2
