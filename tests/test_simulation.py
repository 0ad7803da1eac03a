"""Simulated tables: types, moments and the way back through fit."""

import numpy as np
import pandas as pd
import pytest

from bayesnb import Multinomial, NaiveBayes, Poisson

Y = np.repeat(["A", "B"], [5, 7])
X = pd.DataFrame(
    {
        "a": pd.Categorical(["u", "v", "u"] * 4, categories=["u", "v", "w"]),
        "f": [True, False, False] * 4,
        "g": np.linspace(0, 3, 12),
        "n": [0, 2, 1, 4] * 3,
        "t1": [1, 0, 3] * 4,
        "t2": [2, 2, 0] * 4,
    }
)


@pytest.fixture(scope="module")
def model():
    return NaiveBayes({"n": Poisson(), ("t1", "t2"): Multinomial()}).fit(X, Y)


@pytest.mark.parametrize("prior", [True, False])
def test_a_simulated_table_is_read_as_the_first_one_was(model, prior):
    table, y = model.simulate(50, random_seed=0, prior=prior, tokens=7)
    assert list(table.columns) == list(X.columns)
    assert list(table["a"].cat.categories) == ["u", "v", "w"]
    assert (table[["t1", "t2"]].sum(axis=1) == 7).all()
    again = NaiveBayes(model.families).fit(table, y)
    assert again.describe().split("\n")[1:] == model.describe().split("\n")[1:]


def test_means_over_tables_are_the_predictive_ones(model):
    """Σ over tables of independent draws; E x = Σ_k p_k E θ_k, from the closed form."""
    tables = [model.simulate(4, seed, tokens=3) for seed in range(300)]
    estimates = model.estimates("mean")
    label_prob = estimates.label_prob.to_numpy()
    expected = {
        "n": label_prob @ estimates.n_rate.to_numpy(),
        "f": label_prob @ estimates.f_prob.to_numpy(),
        "t1": 3 * label_prob @ estimates.term_prob.to_numpy()[:, 0],
        "g": label_prob @ estimates.g_mean.to_numpy(),
    }
    for name, mean in expected.items():
        means = np.array([float(table[name].mean()) for table, _ in tables])
        assert abs(means.mean() - mean) <= 4 * means.std(ddof=1) / np.sqrt(len(means)), name
    is_v = np.array([float((table["a"] == "v").mean()) for table, _ in tables])
    mean = label_prob @ estimates.a_prob.sel(a="v").to_numpy()
    assert abs(is_v.mean() - mean) <= 4 * is_v.std(ddof=1) / np.sqrt(len(is_v))
    is_b = np.array([float((y == "B").mean()) for _, y in tables])
    assert abs(is_b.mean() - label_prob[1]) <= 4 * is_b.std(ddof=1) / np.sqrt(len(is_b))


def test_a_model_of_an_array_simulates_an_array():
    table, y = NaiveBayes().fit(X[["g", "n"]].to_numpy(float), Y).simulate(3, 0)
    assert isinstance(table, np.ndarray)
    assert table.shape == (3, 2)
    assert set(y) <= {"A", "B"}


def test_tokens_are_asked_for(model):
    with pytest.raises(ValueError, match="tokens="):
        model.simulate(3)


def test_an_improper_prior_is_refused():
    model = NaiveBayes(concentration=0).fit(X[["a"]], Y)
    with pytest.raises(ValueError, match="improper"):
        model.simulate(3, prior=True)


@pytest.mark.parametrize("tokens", [-1, 2.5, [1, np.inf, 2]])
def test_tokens_are_counts(model, tokens):
    with pytest.raises(ValueError, match="tokens must be whole numbers from 0"):
        model.simulate(3, tokens=tokens)
