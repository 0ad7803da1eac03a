"""Predictions from draws against the exact predictive, in their own standard errors."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesnb import Multinomial, NaiveBayes, Poisson
from bayesnb.reweighting import _error_of_mean

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


def test_blocks_of_draws_give_what_one_draw_after_the_other_does(model):
    tree = model.draw(draws=40, chains=2, random_seed=2)
    found = model.predict_proba(X, posterior=tree)
    label_prob, parameters = model._layout.arrays(tree["posterior"].dataset)
    _, encoded = model._encoded(X)
    joint = np.zeros((80, 12, 3))
    for draw, at in enumerate(np.ndindex(2, 40)):
        of_draw = [{name: values[at] for name, values in of_part.items()} for of_part in parameters]
        joint[draw] = model._posterior.log_joint_given(label_prob[at], of_draw, encoded, 12)
    joint = np.exp(joint - joint.max((0, 2), keepdims=True))
    np.testing.assert_allclose(found.prob, joint.sum(0) / joint.sum((0, 2))[:, None], rtol=1e-11)
    weight = joint.sum(2)
    np.testing.assert_allclose(found.ess, weight.sum(0) ** 2 / (weight**2).sum(0), rtol=1e-11)


def test_the_standard_error_of_a_chain_with_memory():
    """Of x_t = ½ x_{t−1} + e_t, the mean of n has variance near (1/(1 − ½))²/n: four times that of the e."""
    rng = np.random.default_rng(4)
    chains = np.zeros((50, 4, 10_000))
    noise = rng.normal(size=chains.shape)
    for t in range(1, 10_000):
        chains[..., t] = 0.5 * chains[..., t - 1] + noise[..., t]
    claimed = _error_of_mean(chains.reshape(50, -1), 4).mean()
    np.testing.assert_allclose(claimed, 2 / np.sqrt(40_000), rtol=0.03)  # batches of 100 miss 2 % of the memory


def test_the_standard_error_is_the_spread_over_many_samples(model):
    many = [model.predict_proba(X[:2], posterior=model.draw(100, 2, seed)) for seed in range(60)]
    spread = np.std([found.prob for found in many], axis=0, ddof=1)
    claimed = np.mean([found.mcse for found in many], axis=0)
    np.testing.assert_allclose(claimed, spread, rtol=4 / np.sqrt(2 * 59))  # a standard deviation of 60 is that sure


def test_a_tree_of_another_model_is_refused(model):
    other = NaiveBayes().fit(X[["a", "g"]], Y).draw(10, 1, 0)
    with pytest.raises(ValueError, match="lacks the variables 'n_rate', 'term_prob'"):
        model.predict_proba(X, posterior=other)


def test_the_error_of_a_single_draw_is_not_known(model):
    found = model.predict_proba(X, posterior=model.draw(draws=1, chains=1, random_seed=1))
    assert found["mcse"].isnull().all()
    np.testing.assert_allclose(found["prob"].sum("label"), 1)


def test_no_draws_are_refused(model):
    none = model.draw(draws=1).isel(draw=slice(0))
    for predict in (model.predict_proba, model.predict_uncertainty):
        with pytest.raises(ValueError, match="The posterior has no draws"):
            predict(X, posterior=none)


@pytest.mark.parametrize(
    ("tree", "what"), [("draws.nc", "not str"), (xr.Dataset(), "not Dataset"), (xr.DataTree(), "not one without")]
)
def test_what_is_no_tree_of_draws_is_refused(model, tree, what):
    asks = [
        lambda: model.predict_proba(X, posterior=tree),
        lambda: model.predict_uncertainty(X, posterior=tree),
        lambda: model.with_groups(tree),
    ]
    for ask in asks:
        with pytest.raises(TypeError, match=f"Draws are a DataTree with a group 'posterior', .* {what}"):
            ask()
