"""PyMC's joint density of data and parameters against the closed form: deterministic, no sampling."""

import numpy as np
import pandas as pd
import pytest
from pymc_density import log_joint
from scipy import stats
from scipy.special import gammaln, logsumexp

from bayesnb import Bernoulli, Beta, Categorical, Gaussian, Multinomial, NaiveBayes, NormalInverseGamma, Poisson


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
X, Y = table(np.random.default_rng(3))
WEIGHT = np.random.default_rng(4).choice([0.3, 0.5, 1.5, 2], len(Y))


@pytest.fixture(scope="module")
def fitted():
    return NaiveBayes(FAMILIES, label_concentration=0.5).fit(X, Y)


def log_posterior(nb, variables):
    """SciPy's log density of the closed-form posterior at the same parameters."""
    labels = nb.posterior_["label"]
    total = 0.0 if labels is None else dirichlet(variables["label_prob"], labels.concentration)
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


def evidence(model, nb):
    """Log joint minus log posterior at a few parameters, which should all be the log evidence."""
    joint = log_joint(model)
    return [joint(v) - log_posterior(nb, v) for v in some_parameters(nb, 4)]


def test_rows_have_the_evidence_of_the_closed_form(fitted):
    model = fitted.to_pymc(X, Y, likelihood="rows")
    np.testing.assert_allclose(evidence(model, fitted), fitted.log_evidence(), atol=1e-9)


def test_statistics_have_the_evidence_of_the_closed_form_but_for_the_orders_of_the_rows(fitted):
    found = evidence(fitted.to_pymc(), fitted)
    np.testing.assert_allclose(found, fitted.log_evidence() + log_orders(fitted), atol=1e-9)


def log_orders(nb):
    """log p(statistics given θ) − log p(rows given θ), by SciPy at a θ of our choice."""
    total = log_multinomial(nb.statistics_.label_counts)
    for label in nb.classes_:
        rows = X[label == Y]
        total += log_multinomial(rows["colour"].value_counts().to_numpy())
        total += log_multinomial(rows["flag"].value_counts().to_numpy())
        words = rows[["w1", "w2"]].to_numpy()
        total += log_multinomial(words.sum(0)) - sum(log_multinomial(document) for document in words)
        visits = rows["visits"].to_numpy()
        total += stats.poisson.logpmf(visits.sum(), 2 * len(visits)) - stats.poisson.logpmf(visits, 2).sum()
        for name in ("length", "width"):
            x = rows[name].dropna().to_numpy()
            n = len(x)
            total -= stats.norm.logpdf(x, 1, 2).sum()
            total += stats.norm.logpdf(x.mean(), 1, 2 / np.sqrt(n)) if n else 0.0
            total += stats.gamma.logpdf(x.var(ddof=1), (n - 1) / 2, scale=8 / (n - 1)) if n > 1 else 0.0
    return total


def log_multinomial(counts):
    return gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()


def test_fractional_weights_leave_the_posterior_that_of_the_closed_form():
    weighted = NaiveBayes(FAMILIES).fit(X, Y, WEIGHT)
    found = evidence(weighted.to_pymc(), weighted)
    np.testing.assert_allclose(found, found[0], atol=1e-9)


def test_equal_values_within_a_label_have_no_spread_to_observe():
    nb = NaiveBayes(Gaussian(NormalInverseGamma(0, 1, 1, 1))).fit([[2.0], [2.0], [1.0], [5.0]], list("AABB"))
    found = evidence(nb.to_pymc(), nb)
    np.testing.assert_allclose(found, found[0], atol=1e-9)


def test_known_label_probabilities_are_not_learnt():
    nb = NaiveBayes(Categorical(), label_prob=[0.2, 0.8]).fit([["r"], ["g"], ["r"]], list("ABB"))
    model = nb.to_pymc([["r"], ["g"], ["r"]], list("ABB"), likelihood="rows")
    np.testing.assert_allclose(evidence(model, nb), nb.log_evidence(), atol=1e-9)


def test_missing_labels_are_summed_out(fitted):
    """Against the sum of p(rows, labels given θ) over all labels of two unlabelled rows."""
    lacking = Y.astype(object)
    lacking[[1, 8]] = None
    variables = next(some_parameters(fitted, 1))
    found = log_joint(fitted.to_pymc(X, lacking, likelihood="rows"))(variables)
    every = []
    for first in fitted.classes_:
        for second in fitted.classes_:
            full = Y.copy()
            full[[1, 8]] = first, second
            every.append(log_joint(fitted.to_pymc(X, full, likelihood="rows"))(variables))
    np.testing.assert_allclose(found, logsumexp(every), atol=1e-9)


def test_variables_dims_and_coords_are_those_of_every_tree(fitted):
    tree = fitted.draw(draws=2, chains=1, random_seed=0)["posterior"].dataset
    model = fitted.to_pymc()
    for name, values in tree.data_vars.items():
        assert model.named_vars_to_dims[name] == values.dims[2:]
    for name, values in model.coords.items():
        assert list(values) == tree[name].to_numpy().tolist()


def test_an_improper_prior_is_refused():
    nb = NaiveBayes(Categorical(), concentration=0).fit([["r"], ["g"], ["r"], ["g"]], list("AABB"))
    with pytest.raises(ValueError, match="Use a concentration above 0"):
        nb.to_pymc()


@pytest.mark.parametrize("arguments", [{"X": X, "y": Y}, {"likelihood": "rows"}, {"likelihood": "rows", "X": X}])
def test_rows_go_with_the_likelihood_of_rows(fitted, arguments):
    with pytest.raises(ValueError, match="likelihood="):
        fitted.to_pymc(**arguments)
