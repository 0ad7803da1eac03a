"""Priors without a closed form: refused where it is asked for, sampled with PyMC against quadrature."""

import arviz as az
import matplotlib as mpl
import numpy as np
import pandas as pd
import pymc as pm
import pytest
from pymc_density import log_joint
from scipy import stats
from scipy.special import expit, gammaln
from sklearn.base import clone

import bayesnb
from bayesnb import Bernoulli, Beta, Categorical, Dirichlet, Gamma, Gaussian, Multinomial, NaiveBayes, Poisson, plots

mpl.use("agg")
RNG = np.random.default_rng(0)
Y = np.repeat(["A", "B"], [6, 4])
X = pd.DataFrame(
    {
        "g": RNG.normal(2, 1, 10),
        "a": list("uuvwuvwwvu"),
        "b": list("xxxxyxyyyx"),
        "c": list("ppqqpqpqpq"),
        "l": list("rsrrrsssrs"),
        "n": RNG.poisson(2, 10),
        "f": RNG.random(10) < 0.5,
    }
)
NORMAL = Gaussian(mean=pm.Normal.dist(0, 1), sd=pm.HalfNormal.dist(2))


def logistic_normal(stem, dims):
    """A prior of a simplex that PyMC has no distribution for."""
    logit = pm.Normal(f"{stem}_logit", 0, 1.5, dims=dims)
    return {"prob": pm.Deterministic(f"{stem}_prob", pm.math.softmax(logit, axis=-1), dims=dims)}


@pytest.fixture(scope="module")
def model():
    shared = Categorical(Dirichlet(pm.Exponential.dist(1)))
    families = {"g": NORMAL, "a": shared, "b": shared, "l": Categorical(logistic_normal)}
    return clone(NaiveBayes(families)).fit(X[list("gabcl")], Y)


@pytest.fixture(scope="module")
def tree(model):
    return model.sample(random_seed=1, progressbar=False, target_accept=0.9)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.predict(X),
        lambda m: m.predict_uncertainty(X),
        lambda m: m.draw(),
        lambda m: m.log_evidence(),
        lambda m: m.estimates(),
        lambda m: m.loo(X, Y),
        lambda m: m.posterior_,
    ],
)
def test_the_closed_form_refuses_and_offers_sample(model, ask):
    message = r"'g': The prior mean=Normal\(0, 1\), sd=HalfNormal\(0, 2\) has no closed form: .* sample\(\)"
    with pytest.raises(ValueError, match=message):
        ask(model)


@pytest.mark.parametrize("prior", [Dirichlet(pm.Exponential.dist(1)), logistic_normal])
def test_a_refusal_names_the_prior(prior):
    nb = NaiveBayes(Categorical(prior)).fit(X[["a"]], Y)
    with pytest.raises(ValueError, match=r"'a': The prior (Dirichlet\(concentration=Exp.*\)|logistic_normal) has no"):
        nb.draw()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(mean=pm.Normal.dist(0, 1)), "all of mean, sd"),
        (lambda: Poisson(Gamma(1, 1), rate=pm.LogNormal.dist(0, 1)), "either a prior, or PyMC distributions"),
        (lambda: Bernoulli(prob=0.5), "Bernoulli: prob is a distribution, .*, not 0.5"),
        (lambda: Categorical(pm.Exponential.dist(1)), "The prior of a Categorical is a Dirichlet, not exp"),
        (
            lambda: NaiveBayes(Categorical(), concentration=pm.Exponential.dist(1)).fit(X[["a"]], Y),
            r"the prior of 'a': give .* to a family, as in Categorical\(Dirichlet\(",
        ),
    ],
)
def test_what_is_not_a_prior_is_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_the_density_of_distributions_is_scipys():
    """Of rows, labels and parameters together, at two points; each label may have a prior mean of its own."""
    by_label = Gaussian(mean=pm.Normal.dist([0, 1], 1), sd=pm.HalfNormal.dist(2))
    families = {
        "g": by_label,
        "n": Poisson(rate=pm.LogNormal.dist(0, 1)),
        "f": Bernoulli(prob=pm.LogitNormal.dist(1, 2)),
    }
    rows = X[["g", "n", "f"]]
    density = log_joint(NaiveBayes(families).fit(rows, Y).to_pymc(rows, Y, likelihood="rows"))
    k = (Y == "B").astype(int)
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        theta = {"label_prob": rng.dirichlet([1, 1]), "f_prob": rng.random(2)}
        theta |= {name: rng.random(2) + 0.5 for name in ("g_mean", "g_sd", "n_rate")}
        prob = theta["f_prob"]
        expected = (
            stats.norm.logpdf(theta["g_mean"], [0, 1]).sum() + stats.halfnorm.logpdf(theta["g_sd"], scale=2).sum()
        )
        expected += stats.lognorm.logpdf(theta["n_rate"], 1).sum()
        expected += (stats.norm.logpdf(np.log(prob / (1 - prob)), 1, 2) - np.log(prob * (1 - prob))).sum()
        expected += np.log(theta["label_prob"][k]).sum()
        expected += stats.norm.logpdf(X["g"], theta["g_mean"][k], theta["g_sd"][k]).sum()
        expected += stats.poisson.logpmf(X["n"], theta["n_rate"][k]).sum()
        expected += stats.bernoulli.logpmf(X["f"], prob[k]).sum()
        np.testing.assert_allclose(density(theta), expected)


def test_features_share_the_hyperprior_that_they_are_given():
    """One object is one variable, in a copy of the model too; another object is another."""
    first, second = (Categorical(Dirichlet(pm.Exponential.dist(1))) for _ in range(2))
    named = pm.Exponential.dist(1)
    named.name = "strength"
    families = {"a": first, "b": first, "c": second, "f": Bernoulli(Beta(named, named))}
    model = clone(NaiveBayes(families)).fit(X[list("abcf")], Y).to_pymc()
    hyperpriors = [rv.name for rv in model.free_RVs if not rv.name.endswith("_prob")]
    assert hyperpriors == ["prior_concentration", "prior_concentration_2", "strength"]


def test_a_column_that_does_not_vary_has_no_unit_to_be_read_in():
    constant = X[["g"]].assign(one=1.0)
    with pytest.warns(UserWarning, match="'one' do not vary"):
        NaiveBayes(NORMAL).fit(constant, Y)


def test_models_of_one_prior_are_merged(model):
    half = clone(model).fit(X[list("gabcl")][:5], ["A", "B", "A", "B", "A"])
    assert (half + half).statistics_.label_counts.tolist() == [6, 4]
    other = NaiveBayes({"g": Gaussian(mean=pm.Normal.dist(0, 1), sd=pm.HalfNormal.dist(2))}).fit(X[["g"]], Y)
    with pytest.raises(ValueError, match="different parameters"):
        other + NaiveBayes({"g": NORMAL}).fit(X[["g"]], Y)


def test_a_model_with_such_a_prior_is_not_saved(model, tmp_path):
    with pytest.raises(TypeError, match=r"The prior <Normal\(0, 1\) at .* can't be saved with a model: save its draws"):
        model.save(tmp_path / "model.nc")


def test_the_conjugate_feature_keeps_its_prior(model):
    assert type(model._posterior.parts[3].prior).__name__ == "Dirichlet"


@pytest.fixture(scope="module")
def twins():
    """One prior in two spellings, so that exact draws of the second are draws of the first."""
    rows = X[["a", "n", "f"]].assign(t1=X["n"] + 1, t2=2)
    free = {"n": Poisson(rate=pm.Gamma.dist(2, 1)), "f": Bernoulli(prob=pm.Beta.dist(2, 1))}
    conjugate = {"n": Poisson(Gamma(2, 1)), "f": Bernoulli(Beta(2, 1))}
    return rows, *(NaiveBayes(f | {("t1", "t2"): Multinomial()}).fit(rows, Y) for f in (free, conjugate))


def test_predictions_from_draws_are_those_of_the_conjugate_twin(twins):
    rows, free, conjugate = twins
    tree = conjugate.draw(draws=2000, random_seed=1)
    exact = conjugate.predict_proba(rows)
    found, expected = (m.predict_uncertainty(rows, posterior=tree) for m in (free, conjugate))
    for estimate in (free.predict_proba(rows, posterior=tree), found):
        assert (abs(estimate.prob - exact) <= 4 * estimate.mcse).all()
        assert (estimate.mcse < 0.01).all()
    for name in ("mean", "sd", "lower", "upper", "entropy_epistemic"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-5)
    assert plots.plot_uncertainty(found.isel(row=slice(5))).get_xlabel() == "probability of the label"
    assert (found.prediction, expected.prediction) == ("draws weighted by p(row given θ)", "closed form")


def test_any_draws_of_a_gaussian_predict_the_same_under_any_prior():
    """Whatever origin and unit the closed form reads the column in."""
    far = X[["g"]] + 1e4
    conjugate, free = NaiveBayes().fit(far, Y), NaiveBayes(NORMAL).fit(far, Y)
    tree = conjugate.draw(random_seed=1)
    found, expected = (m.predict_uncertainty(far, posterior=tree) for m in (free, conjugate))
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-5)
    assert (abs(found.prob - expected.prob) <= 4 * found.mcse).all()


@pytest.mark.slow
def test_groups_are_those_of_the_conjugate_twin(twins):
    rows, free, conjugate = twins
    tree = conjugate.draw(draws=500, random_seed=1)
    found, expected = (m.with_groups(tree, rows, Y, random_seed=2) for m in (free, conjugate))
    assert set(found.children) == set(expected.children)
    for name in ("label", "a", "term"):
        np.testing.assert_allclose(found["log_prior"][name], expected["log_prior"][name])
    for name in ("n", "f"):
        own = found["log_prior"][f"{name}_{'rate' if name == 'n' else 'prob'}"]
        np.testing.assert_allclose(own, expected["log_prior"][name], atol=1e-7)  # PyMC's log beta function has 8 digits
    np.testing.assert_allclose(found["log_likelihood"]["rows"], expected["log_likelihood"]["rows"])
    assert found["observed_data"].equals(expected["observed_data"])
    n_rate = found["prior"]["n_rate"]
    assert n_rate.dims == ("chain", "draw", "label")
    assert stats.kstest(n_rate.to_numpy().ravel(), stats.gamma(2).cdf).pvalue > 1e-4
    assert list(found["prior"].data_vars) == list(expected["prior"].data_vars)


@pytest.mark.slow
def test_prior_draws_have_the_hyperprior(model):
    prior = model.prior_draw(draws=1000, chains=2, random_seed=1)["prior"]
    concentration = prior["prior_concentration"].to_numpy()
    assert stats.kstest(concentration.ravel(), stats.expon.cdf).pvalue > 1e-4
    spread = prior["a_prob"].var("label").sum("a").to_numpy()
    assert spread[concentration < 0.1].mean() > 2 * spread[concentration > 2].mean()


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
def test_a_logistic_normal_prior_against_quadrature(tree):
    """Of two values, the difference of the logits is Normal(0, variance 2 · 1.5²)."""
    grid = np.linspace(-30, 30, 60_001)
    error = az.mcse(tree["posterior"]["l_prob"], method="mean")
    for label in "AB":
        values = X["l"][label == Y]
        log = (
            -(grid**2) / 9 + (values == "r").sum() * np.log(expit(grid)) + (values == "s").sum() * np.log(expit(-grid))
        )
        density = np.exp(log - log.max())
        exact = (density * expit(grid)).sum() / density.sum()
        at = {"label": label, "l": "r"}
        assert abs(float(tree["posterior"]["l_prob"].sel(at).mean()) - exact) <= 4 * float(error.sel(at))


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
    draws = tree["posterior"]["prior_concentration"]
    assert abs(float(draws.mean()) - exact) <= 4 * float(az.mcse(draws, method="mean"))


@pytest.mark.slow
def test_draws_are_saved_and_predict(model, tree, tmp_path):
    bayesnb.save(tree, tmp_path / "draws.nc")
    read = bayesnb.load(tmp_path / "draws.nc")
    found = model.predict_proba(X, posterior=read)
    np.testing.assert_allclose(found.prob.sum("label"), 1)
    assert found.identical(model.predict_proba(X, posterior=tree))
    assert (found.prob.to_numpy().argmax(1) == (Y == "B")).mean() > 0.5
    assert list(tree["posterior"].data_vars)[:3] == ["label_prob", "g_mean", "g_sd"]
