"""Priors without a closed form: refused where it is asked for, sampled with PyMC against quadrature."""

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytest
from scipy.special import gammaln

from bayesnb import Categorical, Gaussian, NaiveBayes

RNG = np.random.default_rng(0)
Y = np.repeat(["A", "B"], [6, 4])
X = pd.DataFrame({"g": RNG.normal(2, 1, 10), "a": list("uuvwuvwwvu"), "b": list("xxxxyxyyyx"), "c": list("ppqqpqpqpq")})


def normal_and_half_normal(stem, dims):
    return {
        "mean": pm.Normal(f"{stem}_mean", 0, 1, dims=dims),
        "sd": pm.HalfNormal(f"{stem}_sd", 2, dims=dims),
    }


def of_shared_concentration(stem, dims):
    model = pm.modelcontext(None)
    shared = model["concentration"] if "concentration" in model else pm.Exponential("concentration", 1)
    shape = [len(model.coords[dim]) for dim in dims]
    return {"prob": pm.Dirichlet(f"{stem}_prob", shared * np.ones(shape), dims=dims)}


@pytest.fixture(scope="module")
def model():
    free = Categorical(of_shared_concentration)
    return NaiveBayes({"g": Gaussian(normal_and_half_normal), "a": free, "b": free}).fit(X, Y)


@pytest.fixture(scope="module")
def tree(model):
    return model.sample(random_seed=1, progressbar=False, target_accept=0.9)


@pytest.mark.parametrize(
    "ask", [lambda m: m.predict(X), lambda m: m.draw(), lambda m: m.log_evidence(), lambda m: m.estimates()]
)
def test_the_closed_form_refuses_and_offers_sample(model, ask):
    with pytest.raises(ValueError, match=r"'g': The prior normal_and_half_normal has no closed form: .* sample\(\)"):
        ask(model)


@pytest.mark.slow
def test_a_free_gaussian_prior_against_quadrature(tree):
    """Posterior mean of μ of each label on a grid of (μ, σ)."""
    mean, sd = np.meshgrid(np.linspace(-3, 6, 901), np.linspace(0.02, 12, 1199), indexing="ij")
    error = az.mcse(tree["posterior"].dataset, method="mean")
    for label in "AB":
        x = X["g"][label == Y].to_numpy()[:, None, None]
        log = -0.5 * ((x - mean) ** 2 / sd**2).sum(0) - len(x) * np.log(sd) - 0.5 * mean**2 - sd**2 / 8
        density = np.exp(log - log.max())
        for name, values in (("g_mean", mean), ("g_sd", sd)):
            exact = (density * values).sum() / density.sum()
            found = float(tree["posterior"][name].sel(label=label).mean())
            assert abs(found - exact) <= 4 * float(error[name].sel(label=label))


@pytest.mark.slow
def test_a_shared_concentration_against_quadrature(tree):
    """Posterior mean of λ from the evidence of counts under Dirichlet(λ), on a grid."""
    grid = np.linspace(0.001, 15, 30_000)
    log = -grid
    for name in "ab":
        for label in "AB":
            counts = X[name][label == Y].value_counts().reindex(sorted(set(X[name])), fill_value=0).to_numpy()
            n_levels = len(counts)
            log += gammaln(n_levels * grid) - gammaln(n_levels * grid + counts.sum())
            log += (gammaln(grid[:, None] + counts) - gammaln(grid[:, None])).sum(1)
    density = np.exp(log - log.max())
    exact = (grid * density).sum() / density.sum()
    draws = tree["posterior"]["concentration"]
    assert abs(float(draws.mean()) - exact) <= 4 * float(az.mcse(draws, method="mean"))


@pytest.mark.slow
def test_predictions_from_the_draws(model, tree):
    found = model.predict_proba(X, posterior=tree)
    np.testing.assert_allclose(found.prob.sum("label"), 1)
    assert (found.prob.to_numpy().argmax(1) == (Y == "B")).mean() > 0.5
    assert list(tree["posterior"].data_vars)[:3] == ["label_prob", "g_mean", "g_sd"]


def test_the_conjugate_feature_keeps_its_prior(model):
    assert type(model._posterior.parts[-1].prior).__name__ == "Dirichlet"
