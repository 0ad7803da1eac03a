"""Names of variables, dimensions and coordinates, whatever the columns are called."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayesnb import Bernoulli, Categorical, Multinomial, NaiveBayes, Poisson
from bayesnb.tree import coordinate

AWKWARD = [
    "income/1000",
    "label",
    "row",
    "chain",
    "draw",
    "feature",
    "term",
    "a",
    "a_prob",
    "label_prob",
    "a_mean",
    "1",
    "",
]


@pytest.mark.parametrize("families", [Categorical(), None, Bernoulli(), Poisson(), {tuple(AWKWARD[:4]): Multinomial()}])
@pytest.mark.parametrize("names", [AWKWARD, AWKWARD[::-1]], ids=["forwards", "backwards"])
def test_awkward_names_never_collide(families, names):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (12, len(names))), columns=names)
    model = NaiveBayes(families).fit(frame, ["p", "q"] * 6)
    draws = model.draw(3, 2, random_seed=0)["posterior"]
    described = {array.attrs.get("feature") for array in draws.data_vars.values()} - {None}
    if families is None or not isinstance(families, dict):
        assert described == set(names)
    assert all("/" not in name for name in draws.data_vars)
    assert draws["label_prob"].dims == ("chain", "draw", "label")
    assert draws.sizes["label"] == 2
    n_probabilities = len(model.posterior_)
    assert n_probabilities >= 2
    assert set(model.estimates().data_vars) == set(draws.data_vars)


def test_columns_named_1_and_one_as_text_are_two():
    frame = pd.DataFrame([[1.0, 2], [3, 5]])
    frame.columns = pd.Index([1, "1"], dtype=object)
    names = set(NaiveBayes().fit(frame, [0, 1]).estimates().data_vars) - {"label_prob"}
    assert len(names) == 4


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        *(([1, 2], "i"), (["a", "b"], "U"), ([True, False], "b"), ([0.5, 1.5], "f"), ([1, "a"], "O")),
        *(([(1, 2), (3, 4)], "O"), ([None, 1], "O"), ([1, 1.5], "O"), ([True, 1], "O")),
    ],
    ids=str,
)
def test_coordinates_keep_their_types(values, kind):
    result = coordinate(values)
    assert result.dtype.kind == kind
    assert result.shape == (len(values),)
    assert [type(value) for value in result.tolist()] == [type(value) for value in values]


def test_levels_and_labels_select():
    frame = pd.DataFrame({"c": ["u", "v", "u"], "x": [1.0, 2, 4]})
    tables = NaiveBayes().fit(frame, [1, "b", "b"]).estimates()
    assert tables["c_prob"].sel(label="b", c="u").item() == pytest.approx(2 / 4)
    assert tables["c_prob"].sel(label=1, c="u").item() == pytest.approx(2 / 3)
    assert tables["x_mean"].dims == ("label",)
