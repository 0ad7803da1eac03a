"""Posterior trees back to the arrays of every part."""

import numpy as np
import pandas as pd
import pytest

from bayesnb import Multinomial, NaiveBayes, Poisson

X = pd.DataFrame(
    {
        "a": ["u", "v", "u", "v"],
        "g": [1.0, 2.0, 4.0, 3.0],
        "h": [0.5, 2.0, 1.0, 3.0],
        "n": [1, 0, 2, 3],
        "t1": [0, 1, 2, 1],
        "t2": [1, 1, 0, 3],
    }
)
FAMILIES = {"n": Poisson(), ("t1", "t2"): Multinomial()}


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(FAMILIES).fit(X, ["A", "A", "B", "B"])


def test_arrays_are_the_inverse_of_dataset(model):
    label_prob, parameters = model._posterior.draw(np.random.default_rng(0), (2, 5))
    found_label_prob, found = model._layout.arrays(model._layout.dataset(label_prob, parameters, ("chain", "draw")))
    np.testing.assert_array_equal(found_label_prob, label_prob)
    for mine, theirs in zip(parameters, found, strict=True):
        assert list(mine) == list(theirs)
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])


@pytest.mark.parametrize(
    ("other", "labels", "message"),
    [
        (X.drop(columns="g"), ["A", "A", "B", "B"], "lacks the variables 'g_mean', 'g_sd'"),
        (X.assign(z=1.5 * X["g"]), ["A", "A", "B", "B"], "further variables 'z_mean', 'z_sd'"),
        (X, ["A", "A", "C", "C"], "along 'label' it has 'A', 'C', but this model 'A', 'B'"),
        (X.assign(a=["u", "w", "u", "w"]), ["A", "A", "B", "B"], "along 'a' it has 'u', 'w', but this model 'u', 'v'"),
    ],
)
def test_a_tree_of_another_model_is_refused_with_the_difference(model, other, labels, message):
    tree = NaiveBayes(FAMILIES).fit(other, labels).draw(draws=3, chains=1, random_seed=0)
    with pytest.raises(ValueError, match=message):
        model._layout.arrays(tree["posterior"].dataset)
