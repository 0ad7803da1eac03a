import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mixed_table import fitted, mixed_table
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import digamma, entr, softmax

from bayesnb import (
    Bernoulli,
    Categorical,
    Gamma,
    Gaussian,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
)
from bayesnb.score_draws import exact_draws, score_blocks
from bayesnb.uncertainty import LARGEST_ERROR, by_cumulants, by_draws

ROWS, LABELS = mixed_table(n_rows=60)


def labels_only(*concentration):
    """A model that knows of labels only, and a row that says nothing: p(label given x, θ) is Dirichlet."""
    counts = np.array(concentration) - 1
    labels = np.repeat(np.arange(len(counts)), counts)
    model = NaiveBayes(Categorical(levels=["a"])).partial_fit([["a"]] * len(labels), labels, classes=range(len(counts)))
    return model, pd.DataFrame({"x0": [None]}, dtype=object)


def quietly(function, *arguments, **options):
    with pytest.warns(UserWarning, match="column names"):
        return function(*arguments, **options)


@pytest.mark.parametrize("concentration", [(12, 5), (8, 9, 4), (10, 6, 5, 4, 20)])
@pytest.mark.parametrize("method", ["cumulants", "draws"])
def test_without_features_it_is_a_dirichlet(concentration, method):
    model, row = labels_only(*concentration)
    found = quietly(model.predict_uncertainty, row, method=method, random_seed=1, draws=40_000).isel(row=0)
    assert found.attrs.get("rows_by_draws") is None
    alpha = np.array(concentration)
    total = alpha.sum()
    exact = stats.beta(alpha, total - alpha)
    tolerance = (
        0.0025 if method == "cumulants" else 4 * np.sqrt(0.03 * 0.97 / 40_000) / exact.pdf(exact.ppf(0.97)).min()
    )
    assert_allclose(found["mean"], exact.mean(), atol=tolerance / 4)
    assert_allclose(found["sd"], exact.std(), atol=tolerance / 4)
    assert_allclose(found["lower"], exact.ppf(0.03), atol=tolerance)
    assert_allclose(found["upper"], exact.ppf(0.97), atol=tolerance)
    aleatoric = digamma(total + 1) - (alpha / total * digamma(alpha + 1)).sum()
    assert_allclose(found["entropy_total"], entr(alpha / total).sum(), atol=tolerance)
    assert_allclose(found["entropy_aleatoric"], aleatoric, atol=tolerance)


@pytest.mark.parametrize("method", ["cumulants", "draws"])
def test_the_narrowest_interval(method):
    model, row = labels_only(20, 4)
    found = quietly(model.predict_uncertainty, row, 0.8, "hdi", method=method, random_seed=2, draws=100_000)
    beta = stats.beta(20, 4)
    tails = np.linspace(1e-6, 0.2 - 1e-6, 4001)
    best = np.argmin(beta.ppf(tails + 0.8) - beta.ppf(tails))
    ends = found.isel(row=0, label=0)
    assert_allclose(ends["upper"] - ends["lower"], beta.ppf(tails[best] + 0.8) - beta.ppf(tails[best]), atol=0.004)
    assert_allclose(beta.cdf(ends["upper"]) - beta.cdf(ends["lower"]), 0.8, atol=0.01)


def test_both_methods_agree_on_all_families_with_missing_cells():
    """Rows that cumulants do, against draws: by the accuracy that is stated, and 4 standard errors of the draws."""
    model, n_draws, tails = fitted(ROWS, LABELS), 40_000, np.array([0.03, 0.97])
    posterior, (_, encoded) = model._posterior, model._encoded(ROWS)
    closed, unfit = by_cumulants(posterior, encoded, len(ROWS), 0.94, "eti")
    assert 20 < unfit.sum() < 40
    blocks = score_blocks(posterior, encoded, len(ROWS), exact_draws(posterior, n_draws, np.random.default_rng(4)))
    p = np.sort(softmax(np.concatenate([scores for _, scores in blocks]), axis=1), axis=2)[~unfit].astype(float)
    mean, sd = p.mean(2), p.std(2)
    squares = (p - mean[..., None]) ** 2
    assert (abs(closed.mean[~unfit] - mean) < LARGEST_ERROR + 4 * sd / np.sqrt(n_draws)).all()
    assert (abs(closed.sd[~unfit] - sd) < LARGEST_ERROR + 4 * squares.std(2) / (2 * sd * np.sqrt(n_draws))).all()
    four_errors = 4 * np.sqrt(tails * (1 - tails) / n_draws)
    least, most = (np.quantile(p, tails + slack, axis=2) for slack in (-four_errors, four_errors))
    bounds = np.stack([closed.lower[~unfit], closed.upper[~unfit]])
    assert (least - LARGEST_ERROR < bounds).all()
    assert (bounds < most + LARGEST_ERROR).all()


def test_the_exact_prediction_stands_beside_both_methods():
    model = fitted(ROWS, LABELS)
    for method in ("cumulants", "draws"):
        found = model.predict_uncertainty(ROWS, method=method, draws=100, random_seed=3)
        assert_allclose(found["prob"], model.predict_proba(ROWS))


@pytest.mark.parametrize("method", ["cumulants", "draws"])
def test_entropies_add_up_and_intervals_hold_the_mean(method):
    found = fitted(ROWS, LABELS).predict_uncertainty(ROWS, method=method, draws=2000, random_seed=5)
    assert_allclose(found["entropy_total"], found["entropy_aleatoric"] + found["entropy_epistemic"])
    assert (found["entropy_epistemic"] > -1e-6).all()
    assert (found["entropy_total"] <= np.log(3) + 1e-3).all()
    assert (found["lower"] <= found["upper"]).all()
    assert_allclose(found["mean"].sum("label"), 1, atol=5e-3)


def test_rows_labels_and_the_interval_are_named():
    found = fitted(ROWS, LABELS).predict_uncertainty(ROWS, 0.5, "hdi", draws=500, random_seed=6)
    assert found["row"].values.tolist() == ROWS.index.tolist()
    assert set(found["label"].values) == {"few", "many", "rare"}
    assert (found.attrs["interval"], found.attrs["prob"], found.attrs["method"]) == ("hdi", 0.5, "cumulants")
    assert found.attrs["rows_by_draws"] > 0  # "rare" has a single training row
    assert "skewness" in found.attrs["rows_by_draws_why"]


def test_rows_done_by_draws_are_those_of_the_draws_method():
    model = fitted(ROWS, LABELS)
    closed = model.predict_uncertainty(ROWS, random_seed=7, draws=500)
    drawn = model.predict_uncertainty(ROWS, random_seed=7, draws=500, method="draws")
    same = (abs(closed["mean"] / drawn["mean"] - 1) < 1e-5).all("label")  # single precision, summed in some order
    assert int(same.sum()) == closed.attrs["rows_by_draws"]


def test_draws_that_are_given_are_taken():
    model = fitted(ROWS, LABELS)
    tree = model.draw(300, 2, random_seed=8)
    found = model.predict_uncertainty(ROWS, posterior=tree)
    assert (found.attrs["method"], found.attrs["draws"]) == ("draws", 600)
    label_prob, _ = model._posterior.draw(np.random.default_rng(8), (2, 300))
    assert_allclose(model._layout.arrays(tree["posterior"].to_dataset())[0], label_prob)
    closed = model.predict_uncertainty(ROWS, draws=1000, random_seed=9)
    assert (abs(found["mean"] - closed["mean"]) < 5 * closed["sd"] / np.sqrt(600) + LARGEST_ERROR).all()
    with pytest.raises(ValueError, match="lack"):
        model.predict_uncertainty(ROWS, posterior=NaiveBayes(Gaussian()).fit(ROWS[["length"]], LABELS).draw(2))
    with pytest.raises(ValueError, match="another model"):
        model.predict_uncertainty(ROWS, posterior=NaiveBayes(Gaussian()).fit([[1.0], [2.0]], [0, 1]).draw(2))
    with pytest.raises(ValueError, match="leave out"):
        model.predict_uncertainty(ROWS, posterior=tree, method="cumulants")


def test_known_label_probabilities_are_constants():
    prevalence = {"A": 0.9, "B": 0.1}
    model = NaiveBayes(Categorical(levels=["a", "b"]), label_prob=prevalence).fit([["a"]] * 10, ["A"] * 5 + ["B"] * 5)
    found = quietly(model.predict_uncertainty, pd.DataFrame({"x0": [None]}, dtype=object)).isel(row=0)
    assert_allclose(found["lower"], [0.9, 0.1])
    assert_allclose(found["upper"], [0.9, 0.1])
    assert_allclose(found["sd"], 0, atol=1e-7)


def test_no_rows_and_a_single_label():
    model = fitted(ROWS, LABELS)
    assert model.predict_uncertainty(ROWS[:0]).sizes == {"row": 0, "label": 3}
    single = NaiveBayes(Categorical(levels=["a", "b"])).fit([["a"]] * 3, ["only"] * 3)
    assert_allclose(single.predict_uncertainty([["a"]])[["mean", "lower", "upper"]].to_array(), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"prob": 1.0}, "between 0 and 1"), ({"kind": "sd"}, "eti"), ({"method": "mcmc"}, "cumulants")],
)
def test_arguments_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(ROWS, LABELS).predict_uncertainty(ROWS, **options)


def test_an_improper_posterior_has_no_interval():
    model = NaiveBayes(Categorical(), concentration=0).fit([["a"], ["b"]], ["A", "B"])
    with pytest.raises(ValueError, match="improper"):
        model.predict_uncertainty([["a"]])


FAMILIES = {
    0: Categorical(1.0, levels=[0, 1, 2]),
    (1, 2): Bernoulli(1.0),
    3: Gaussian(NormalInverseGamma(0.0, 1.0, 2.0, 2.0)),
    4: Poisson(Gamma(2.0, 1.0)),
}


def any_row(rng):
    """A row that comes from no parameters."""
    return np.array([[rng.integers(3), *rng.integers(2, size=2), rng.normal(0, 1.5), rng.poisson(2)]])


def drawn_table(rng, label_prob, parameters, size):
    """A table from the model with the given parameters."""
    labels = rng.choice(len(label_prob), size, p=label_prob)
    level, ones, gauss, rate = parameters
    columns = [
        (rng.random((size, 1)) > level["prob"].cumsum(1)[labels]).sum(1),
        rng.random((size, 2)) < ones["prob"][labels],
        rng.normal(gauss["mean"][labels, 0], gauss["sd"][labels, 0]),
        rng.poisson(rate["rate"][labels, 0]),
    ]
    return np.column_stack(columns), labels


@pytest.mark.slow
@pytest.mark.parametrize("n_labels", [2, 3])
def test_intervals_cover_the_true_probability_at_their_rate(n_labels):
    """The parameters from the prior, the table from them, and a row that has nothing to do with them."""
    rng, n_tables, covered = np.random.default_rng([10, n_labels]), 400, []
    blank = NaiveBayes(FAMILIES).partial_fit(any_row(rng), [0], classes=range(n_labels))._posterior
    for _ in range(n_tables):
        label_prob = rng.dirichlet(np.ones(n_labels))
        parameters = [part.prior.draw(rng, ()) for part in blank.parts]
        model = NaiveBayes(FAMILIES).partial_fit(*drawn_table(rng, label_prob, parameters, 30), classes=range(n_labels))
        posterior, (_, encoded) = model._posterior, model._encoded(any_row(rng))
        terms = zip(blank.parts, parameters, encoded, strict=True)
        truth = softmax(np.log(label_prob) + sum(part.log_likelihood(p, x) for part, p, x in terms), axis=1)[0, 0]
        draws = exact_draws(posterior, 2000, rng)
        draws = replace(draws, naturals=cache(draws.naturals))
        for prob in (0.5, 0.8, 0.94):
            drawn = by_draws(posterior, encoded, 1, draws, prob, "eti")
            closed, unfit = by_cumulants(posterior, encoded, 1, prob, "eti")
            both = (drawn if unfit else closed, drawn)
            covered.extend(found.lower[0, 0] <= truth <= found.upper[0, 0] for found in both)
    prob = np.array([0.5, 0.8, 0.94])[:, None]
    error = np.reshape(covered, (n_tables, 3, 2)).mean(0) - prob
    assert (np.abs(error) < 3 * np.sqrt(prob * (1 - prob) / n_tables)).all()


@pytest.mark.slow
def test_bounds_of_random_models_are_those_of_many_exact_draws():
    study = runpy.run_path(str(Path(__file__).parent.parent / "benchmarks" / "interval_accuracy.py"))["study"]
    errors = []
    for seed in range(8, 28):
        *_, returned, standard_error, _ = study(seed, 500_000)
        assert (returned < 0.015 + 4 * standard_error).all()
        errors.extend(returned)
    assert np.median(errors) < 0.001


@pytest.mark.parametrize("method", ["cumulants", "draws"])
def test_vague_priors_have_numbers(method):
    """Gamma draws of so small a shape underflow."""
    counts = np.array([[0], [0], [0], [0], [3], [2], [4], [1]])
    models = [
        NaiveBayes(Poisson(Gamma(0.001, 0.001))).fit(counts, list("AAAABBBB")),
        NaiveBayes(Gaussian(NormalInverseGamma(0, 0.001, 0.001, 0.001))).partial_fit(
            [[0.0], [1.0], [2.5]], list("AAA"), classes=["A", "B"]
        ),
    ]
    for model in models:
        draws = model.draw(random_seed=1)["posterior"].to_dataset()
        assert all(np.isfinite(values).all() for values in draws.data_vars.values())
        found = model.predict_uncertainty([[0.0], [1.0]], method=method, random_seed=1)
        assert all(np.isfinite(values).all() for values in found.data_vars.values())


@pytest.mark.parametrize("prob", [0.999998, 0.9999999, 1 - 1e-12])
def test_the_narrowest_interval_of_nearly_all_probability(prob):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=30), rng.normal(1, 1, 30)][:, None]
    found = NaiveBayes().fit(X, ["A"] * 30 + ["B"] * 30).predict_uncertainty([[0.5]], prob=prob, kind="hdi")
    assert ((found.lower < found["mean"]) & (found["mean"] < found.upper)).all()
    wide = NaiveBayes().fit(X, ["A"] * 30 + ["B"] * 30).predict_uncertainty([[0.5]], prob=prob)
    assert (found.upper - found.lower <= wide.upper - wide.lower + 1e-12).all()
