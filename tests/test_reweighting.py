"""Predictions from draws against the exact predictive, in their own standard errors."""

import numpy as np
import pandas as pd
import pytest

from bayesnb import Multinomial, NaiveBayes, Poisson

RNG = np.random.default_rng(5)
Y = np.repeat(["A", "B", "C"], [4, 5, 3])
X = pd.DataFrame(
    {
        "a": RNG.choice(["u", "v"], 12),
        "g": RNG.normal(size=12) + (Y == "A"),
        "n": RNG.poisson(2, 12),
        "t1": RNG.poisson(2, 12),
        "t2": RNG.poisson(1, 12),
    }
)
X.loc[2, "g"] = np.nan


@pytest.fixture(scope="module")
def model():
    return NaiveBayes({"n": Poisson(), ("t1", "t2"): Multinomial()}).fit(X, Y)


def test_reweighted_draws_give_the_exact_predictive_within_four_standard_errors(model):
    found = model.predict_proba(X, posterior=model.draw(draws=2000, chains=4, random_seed=1))
    assert (abs(found.prob - model.predict_proba(X)) <= 4 * found.mcse).all()
    assert (found.mcse < 0.02).all()
    assert (found.mcse > 0).all()
    np.testing.assert_allclose(found.prob.sum("label"), 1)


def test_the_standard_error_is_the_spread_over_many_samples(model):
    many = [model.predict_proba(X[:2], posterior=model.draw(100, 2, seed)) for seed in range(60)]
    spread = np.std([found.prob for found in many], axis=0, ddof=1)
    claimed = np.mean([found.mcse for found in many], axis=0)
    np.testing.assert_allclose(claimed, spread, rtol=4 / np.sqrt(2 * 59))  # a standard deviation of 60 is that sure


def test_a_tree_of_another_model_is_refused(model):
    other = NaiveBayes().fit(X[["a", "g"]], Y).draw(10, 1, 0)
    with pytest.raises(ValueError, match="lacks the variables 'n_rate', 'term_prob'"):
        model.predict_proba(X, posterior=other)
