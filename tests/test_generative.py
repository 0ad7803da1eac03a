"""PyMC's joint density of data and parameters against the closed form: deterministic, no sampling."""

import numpy as np
import pandas as pd
import pytensor
import pytest
from pytensor.graph.replace import graph_replace
from scipy import stats
from scipy.special import gammaln

from bayesnb import Bernoulli, Beta, Multinomial, NaiveBayes, Poisson


def table(rng, n=12):
    """A row of every kind, some cells missing, and a label with a single row."""
    y = np.array(["a"] * (n // 2) + ["b"] * (n - n // 2 - 1) + ["c"])
    return pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(["red", "green"], n), categories=["blue", "green", "red"]),
            "flag": rng.choice([True, False], n),
            "length": np.where(rng.random(n) < 0.2, np.nan, rng.normal(5, 2, n)),
            "width": rng.normal(-1, 1, n),
            "visits": rng.poisson(3, n),
            "w1": rng.poisson(2, n),
            "w2": rng.poisson(1, n),
        }
    ), y


FAMILIES = {"visits": Poisson(), ("w1", "w2"): Multinomial(), "flag": Bernoulli(Beta(2, 1))}


@pytest.fixture(params=["whole", "weighted"])
def fitted(request):
    rng = np.random.default_rng(3)
    X, y = table(rng)
    weight = None if request.param == "whole" else rng.choice([0.3, 0.5, 1.5, 2], len(y))
    return NaiveBayes(FAMILIES, label_concentration=0.5).fit(X, y, weight)


def log_joint(model):
    """PyMC's log density of data and parameters, as a function of the parameters in their own space."""
    theta = {rv.name: rv.type(name=rv.name) for rv in model.free_RVs}
    values = {}
    for rv in model.free_RVs:
        transform = model.rvs_to_transforms[rv]
        here = theta[rv.name]
        values[model.rvs_to_values[rv]] = here if transform is None else transform.forward(here, *rv.owner.inputs)
    density = graph_replace(model.logp(jacobian=False), values, strict=False)
    density = graph_replace(density, {rv: theta[rv.name] for rv in model.free_RVs}, strict=False)
    compiled = pytensor.function(list(theta.values()), density, mode="FAST_COMPILE")
    return lambda variables: float(compiled(*(variables[name] for name in theta)))


def log_posterior(nb, variables):
    """SciPy's log density of the closed-form posterior at the same parameters."""
    total = dirichlet(variables["label_prob"], nb.posterior_["label"].concentration)
    for v in nb._layout.features:
        p = nb._posterior.parts[v.part].posterior
        p = p if v.position is None else p.map(lambda a, v=v: a[..., v.position])
        theta = {name: variables.get(f"{v.stem}_{name}") for name in ("prob", "mean", "variance", "rate")}
        match type(p).__name__:
            case "Dirichlet":
                total += sum(dirichlet(row, a) for row, a in zip(theta["prob"], p.concentration, strict=True))
            case "Beta":
                total += stats.beta.logpdf(theta["prob"], p.a, p.b).sum()
            case "Gamma":
                total += stats.gamma.logpdf(theta["rate"], p.shape, scale=1 / p.rate).sum()
            case "NormalInverseGamma":
                total += stats.invgamma.logpdf(theta["variance"], p.shape, scale=p.scale).sum()
                scale = np.sqrt(theta["variance"] / p.pseudo_count)
                total += stats.norm.logpdf(theta["mean"], p.location, scale).sum()
    return total


def dirichlet(x, concentration):
    return (gammaln(concentration.sum()) - gammaln(concentration).sum()) + ((concentration - 1) * np.log(x)).sum()


def some_parameters(nb, number):
    """Draws, and the variances that PyMC has in place of standard deviations."""
    posterior = nb.draw(draws=number, chains=1, random_seed=7)["posterior"].dataset.isel(chain=0)
    for i in range(number):
        variables = {name: values.isel(draw=i).to_numpy() for name, values in posterior.data_vars.items()}
        yield variables | {f"{name[:-3]}_variance": v**2 for name, v in variables.items() if name.endswith("_sd")}


def test_joint_minus_posterior_is_the_evidence_for_every_parameter(fitted):
    joint = log_joint(fitted.to_pymc())
    found = [joint(v) - log_posterior(fitted, v) for v in some_parameters(fitted, 5)]
    np.testing.assert_allclose(found, found[0], atol=1e-9)
