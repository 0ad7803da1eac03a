"""NUTS draws of the compact model against the closed form, which knows every answer."""

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pymc_density import log_joint
from scipy import stats

from bayesnb import Bernoulli, Categorical, NaiveBayes, Poisson
from bayesnb.datasets import load_penguins
from bayesnb.diagnostics import ConvergenceWarning, warn_of_convergence
from bayesnb.sampling import batches_of, compact_model

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def model():
    penguins = load_penguins()
    return NaiveBayes().fit(penguins.drop(columns="species"), penguins["species"])


@pytest.fixture(scope="module")
def sampled(model):
    return model.sample(draws=1000, tune=500, chains=2, random_seed=1, progressbar=False)


def test_sampled_and_exact_draws_have_the_same_variables_dims_and_coords(model, sampled):
    exact = model.draw(draws=1000, chains=2, random_seed=1)["posterior"].dataset
    nuts = sampled["posterior"].dataset
    assert list(nuts.data_vars) == list(exact.data_vars)
    for name in exact.variables:
        assert nuts[name].dims == exact[name].dims
        assert nuts[name].dtype == exact[name].dtype
        assert nuts[name].attrs == exact[name].attrs
    assert list(nuts.coords) == list(exact.coords)
    for name, coordinate in exact.coords.items():
        np.testing.assert_array_equal(nuts.coords[name].to_numpy(), coordinate.to_numpy(), strict=True)


def test_sampled_means_are_those_of_the_closed_form(model, sampled):
    exact = model.estimates("mean")
    error = az.mcse(sampled["posterior"].dataset, method="mean")
    for name, values in exact.data_vars.items():
        gap = sampled["posterior"][name].mean(("chain", "draw")) - values
        assert (abs(gap) <= 4 * error[name]).all(), name


def test_the_compact_posterior_is_a_product_of_the_closed_form_marginals():
    """Whatever the point: joint density of data and parameters over the product is the same constant."""
    rng = np.random.default_rng(2)
    y = np.array(["A"] * 5 + ["B"] * 3 + ["C"])
    X = pd.DataFrame(
        {"a": list("uvwuvuwuv"), "f": rng.random(9) < 0.5, "n": rng.poisson(2, 9), "g": rng.normal(size=9)}
    )
    X.loc[8, "g"] = np.nan
    weight = rng.choice([0.5, 1, 3], 9)
    nb = NaiveBayes({"f": Bernoulli(), "n": Poisson()}, concentration=0.5).fit(X, y, weight)
    batches = batches_of(nb._posterior)
    joint = log_joint(compact_model(nb._posterior, batches))
    shape = np.concatenate([(s.concentration + s.counts).ravel() for s in batches[0].segments])
    size = [np.broadcast_to(s.counts.sum(-1, keepdims=True), s.counts.shape).ravel() for s in batches[0].segments]
    rate, gaussian = nb.posterior_["n"], nb.posterior_["g"]
    marginals = {
        "weight": stats.gamma(shape, scale=1 / (1 + np.maximum(np.concatenate(size), 1))),
        "rate": stats.gamma(rate.shape, scale=1 / rate.rate),
        "precision": stats.gamma(gaussian.shape, scale=1 / gaussian.scale),
        "standardised_mean": stats.norm(np.zeros((3, 1))),
    }
    found = []
    for _ in range(4):
        theta = {name: marginal.rvs(random_state=rng) for name, marginal in marginals.items()}
        found.append(joint(theta) - sum(marginals[name].logpdf(values).sum() for name, values in theta.items()))
    np.testing.assert_allclose(found, found[0], atol=1e-9)


def exponential(monkeypatch):
    """The family that CONTRIBUTING.md writes, which no other room knows."""
    page = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", page)  # a dataclass looks its module up
    for code in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, vars(page))  # noqa: S102 - the page is ours
    return page.Exponential


def test_a_family_that_sampling_does_not_know_is_sampled_by_its_own_likelihood(monkeypatch):
    """Its prior is a Poisson's, its likelihood is not: joint density over the closed form's is the same constant."""
    kind = exponential(monkeypatch)
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"wait": rng.exponential(3, 9), "n": rng.poisson(2, 9)})
    nb = NaiveBayes({"wait": kind(), "n": Poisson()}).fit(X, list("AAAAABBBC"))
    joint = log_joint(compact_model(nb._posterior, batches_of(nb._posterior)))
    marginals = {
        "weight": stats.gamma(np.array([6, 4, 2]), scale=1 / (1 + 9)),
        "rate": stats.gamma(nb.posterior_["n"].shape, scale=1 / nb.posterior_["n"].rate),
        "wait_rate": stats.gamma(nb.posterior_["wait"].shape[:, 0], scale=1 / nb.posterior_["wait"].rate[:, 0]),
    }
    found = []
    for _ in range(3):
        theta = {name: marginal.rvs(random_state=rng) for name, marginal in marginals.items()}
        found.append(joint(theta) - sum(marginals[name].logpdf(values).sum() for name, values in theta.items()))
    np.testing.assert_allclose(found, found[0], atol=1e-9)


def test_an_improper_posterior_is_refused():
    nb = NaiveBayes(Categorical(), concentration=0).fit([["r"], ["g"]], ["A", "B"])
    with pytest.raises(ValueError, match="Use a concentration above 0"):
        nb.sample()


def chains_of(x):
    rng = np.random.default_rng(0)
    posterior = xr.Dataset({"good": (("chain", "draw"), rng.normal(size=x.shape)), "bad": (("chain", "draw"), x)})
    diverging = xr.Dataset({"diverging": (("chain", "draw"), np.zeros(x.shape, dtype=bool))})
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": diverging})


def test_chains_that_disagree_are_named():
    apart = np.random.default_rng(1).normal(size=(4, 500)) + np.arange(4)[:, None]
    with pytest.warns(ConvergenceWarning, match="r-hat is above 1.01 for 'bad' .*sample size is below 400 for 'bad'"):
        warn_of_convergence(chains_of(apart))


def test_few_effective_draws_are_named():
    """Four chains of one distribution, but with a memory of some thirty draws."""
    rng = np.random.default_rng(1)
    x = np.zeros((4, 2000))
    for t in range(1, 2000):
        x[:, t] = 0.97 * x[:, t - 1] + rng.normal(size=4)
    with pytest.warns(ConvergenceWarning, match=r"sample size is below 400 for 'bad' \(down to \d+\)\. Draw"):
        warn_of_convergence(chains_of(x))


def test_too_few_draws_to_count_the_effective_ones_are_named():
    with pytest.warns(ConvergenceWarning, match=r"below 400 for 'good', 'bad' \(down to nan\)"):
        warn_of_convergence(chains_of(np.random.default_rng(1).normal(size=(4, 3))))


@pytest.mark.slow
def test_sample_looks_at_its_chains(model):
    with pytest.warns(ConvergenceWarning, match="sample size is below 200 for 'label_prob', 'island_prob'"):
        model.sample(draws=20, tune=20, chains=2, random_seed=1, progressbar=False)


def test_divergences_are_counted():
    tree = chains_of(np.random.default_rng(1).normal(size=(4, 500)))
    tree["sample_stats"]["diverging"][0, :3] = True
    with pytest.warns(ConvergenceWarning, match="3 draws diverged"):
        warn_of_convergence(tree)


def test_good_chains_go_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_convergence(chains_of(np.random.default_rng(1).normal(size=(4, 500))))


def test_without_parameters_there_is_nothing_to_sample():
    with pytest.warns(UserWarning, match="do not vary"):
        model = NaiveBayes(label_prob=[0.5, 0.5]).fit([[1.0], [1.0]], ["A", "B"])
    with pytest.raises(ValueError, match="nothing to sample"):
        model.sample(progressbar=False)


def test_what_does_not_vary_is_no_sign_of_bad_chains():
    tree = chains_of(np.ones((4, 500)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_convergence(tree)
