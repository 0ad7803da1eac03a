"""Rows without a label: EM against PyMC's density with the labels summed out, and what the result says of itself."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import polars as pl
import pytensor
import pytest
from numpy.testing import assert_allclose
from pymc_density import PLAIN
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import bayesnb
from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes, Poisson, unlabelled
from bayesnb.unlabelled import steps, unconstrained_mode

FAMILIES = {"colour": Categorical("jeffreys"), "visits": Poisson(), ("w1", "w2"): Multinomial(2.0)}


def table(n_rows=40, n_labelled=12, seed=5):
    """Two kinds of rows that overlap a little, some cells missing, and labels of the first few."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame(
        {
            "colour": np.where(rng.random(n_rows) < 0.2 + 0.5 * kind, "red", rng.choice(["green", "blue"], n_rows)),
            "length": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(2.0 * kind, 1)),
            "width": rng.normal(-kind, 2),
            "wet": rng.random(n_rows) < 0.3 + 0.4 * kind,
            "visits": rng.poisson(2 + 3 * kind),
            "w1": rng.poisson(2 + kind),
            "w2": rng.poisson(2),
        }
    )
    y = np.array(["a", "b"], dtype=object)[kind]
    y[n_labelled:] = None
    return frame, y


X, Y = table()
WEIGHT = np.random.default_rng(6).choice([0.5, 1.0, 3.0], len(Y))


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(FAMILIES, unlabelled="marginalize").fit(X, Y)


def first_steps(model, frame, y, weight, number):
    """The first steps of EM, with a model's priors."""
    lacks = np.array([label is None for label in y])
    labelled = NaiveBayes(model.families).fit(frame, np.where(lacks, "a", y)).statistics_.emptied()
    read = bayesnb.frame.read_table(frame)
    labels = bayesnb.frame.read_labels(y[~lacks], (~lacks).sum())
    labelled = labelled.met(read.take(~lacks), labels, weight[~lacks], "error")
    encoded = labelled.encoded(read.take(lacks), "error")
    return islice(steps(labelled, encoded, weight[lacks], model._posterior_of), number)


# --- the mode ---------------------------------------------------------------------------------------------------------


class RowsDensity:
    """PyMC's log density of rows and unconstrained parameters, labels summed out where they lack."""

    def __init__(self, nb, frame, y):
        self.nb, self.pymc = nb, nb.to_pymc(frame, y, likelihood="rows")
        theta = {rv.name: rv.type(name=rv.name) for rv in self.pymc.free_RVs}
        values = [self.pymc.rvs_to_values[rv] for rv in self.pymc.free_RVs]
        there = [
            theta[rv.name] if t is None else t.forward(theta[rv.name], *rv.owner.inputs)
            for rv in self.pymc.free_RVs
            for t in [self.pymc.rvs_to_transforms[rv]]
        ]
        self.names = list(theta)
        self.forward = pytensor.function(list(theta.values()), there, mode=PLAIN, on_unused_input="ignore")
        density = self.pymc.logp(jacobian=True)
        self.density = pytensor.function(values, [density, *pytensor.grad(density, values)], mode=PLAIN)

    def at(self, unconstrained):
        """Value and gradient at one flat vector."""
        sizes = np.cumsum([np.size(v) for v in self.start])[:-1]
        pieces = np.split(unconstrained, sizes)
        value, *slopes = self.density(*(p.reshape(np.shape(v)) for p, v in zip(pieces, self.start, strict=True)))
        return float(value), np.concatenate([np.ravel(s) for s in slopes])

    def place(self, posterior):
        """Where a posterior has its mode: one flat vector."""
        at = self.nb._layout.dataset(*unconstrained_mode(posterior))
        at = {name: values.to_numpy() for name, values in at.data_vars.items()}
        at |= {f"{name[:-3]}_variance": v**2 for name, v in at.items() if name.endswith("_sd")}
        self.start = self.forward(*(at[name] for name in self.names))
        return np.concatenate([np.ravel(v) for v in self.start])


@pytest.fixture(scope="module")
def density(model):
    return RowsDensity(model, X, Y)


def test_the_log_posterior_of_every_step_is_that_of_pymc_but_for_one_constant(model, density):
    gaps = [
        density.at(density.place(model._posterior_of(step.summary)))[0] - step.log_posterior
        for step in first_steps(model, X, Y, np.ones(len(Y)), 4)
    ]
    assert_allclose(gaps, gaps[0], atol=1e-9)


def test_em_ends_at_the_mode_that_an_optimiser_finds_in_pymcs_density(model, density):
    """By quasi-Newton steps from the mode of the labelled rows alone; EM stops when a step gains under 3e-9 nats."""
    is_known = np.array([label is not None for label in Y])
    start = density.place(NaiveBayes(FAMILIES).fit(X[is_known], Y[is_known])._posterior)
    found = minimize(lambda u: [-v for v in density.at(u)], start, jac=True, method="BFGS", options={"gtol": 1e-7})
    ours = density.place(model._posterior)
    assert_allclose(density.at(ours)[0], -found.fun, rtol=0, atol=1e-8)
    assert_allclose(ours, found.x, rtol=0, atol=np.sqrt(2e-8))  # of a curvature of 1 or more
    assert abs(start - ours).max() > 0.5


@pytest.mark.parametrize("weight", [np.ones(len(Y)), WEIGHT])
def test_no_step_goes_down(model, weight):
    values = [step.log_posterior for step in first_steps(model, X, Y, weight, 60)]
    assert np.diff(values).min() >= -1e-12 * abs(values[-1])  # rounding
    assert values[-1] - values[0] > 0.1


def test_with_every_label_it_is_the_plain_fit():
    y = np.array(["a", "b"] * 20)
    plain = NaiveBayes(FAMILIES).fit(X, y)
    same = NaiveBayes(FAMILIES, unlabelled="marginalize").fit(X, y)
    assert same.describe() == plain.describe()
    assert same.log_evidence() == plain.log_evidence()


def test_a_fixed_point_by_hand():
    """One feature: p(A), p(r given A) and p(r given B) at the mode, by the equations of the mode, iterated."""
    share = 0.5
    for _ in range(300):  # rows r of A, g of B, and two r without a label, under Laplace's rule
        a, in_a, in_b = (2 + 2 * share) / 6, (2 + 2 * share) / (3 + 2 * share), (3 - 2 * share) / (5 - 2 * share)
        share = a * in_a / (a * in_a + (1 - a) * in_b)
    nb = NaiveBayes(Categorical(), unlabelled="marginalize").fit([["r"], ["g"], ["r"], ["r"]], ["A", "B", None, None])
    assert_allclose(nb.predict_proba([["r"]])[0, 0], share, atol=1e-4)
    assert_allclose(nb.statistics_.label_counts, [1 + 2 * share, 3 - 2 * share], atol=1e-4)


def test_weights_are_repeats():
    weight = np.where(np.arange(len(Y)) % 3 == 0, 2, 1)
    repeated = np.repeat(np.arange(len(Y)), weight)
    nb = NaiveBayes(FAMILIES, unlabelled="marginalize")
    weighted = nb.fit(X, Y, weight).predict_proba(X)
    assert_allclose(weighted, nb.fit(X.iloc[repeated], Y[repeated]).predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_every_way_to_lack_a_label(missing, model):
    y = Y.copy()
    y[12:] = missing
    nb = NaiveBayes(FAMILIES, unlabelled="marginalize").fit(X, y)
    assert nb.describe() == model.describe()


def test_a_polars_frame_with_its_labels_by_name(model):
    frame = pl.from_pandas(X).with_columns(y=pl.Series(list(Y)))
    assert NaiveBayes(FAMILIES, unlabelled="marginalize").fit(frame, "y").describe() == model.describe()


@pytest.mark.parametrize("family", [Multinomial(), Bernoulli()])
def test_a_sparse_matrix_stays_sparse(family, monkeypatch):
    rng = np.random.default_rng(0)
    x = (rng.random((60, 30)) < np.where(np.arange(60)[:, None] % 2, 0.1, 0.3)).astype(int)
    y = np.array(["few", "many"] * 30, dtype=object)
    y[10:] = None
    nb = NaiveBayes(family, unlabelled="marginalize")
    dense = nb.fit(x, y).predict_proba(x)
    toarray = sparse.csr_array.toarray

    def of_sums_only(array, **options):
        assert array.shape[0] <= 2
        return toarray(array, **options)

    monkeypatch.setattr(sparse.csr_array, "toarray", of_sums_only)
    nb.fit(sparse.csr_matrix(x), y)  # the sums of two labels are dense, rows are not
    assert_allclose(nb.predict_proba(sparse.csr_matrix(x)), dense, atol=1e-9)


def test_a_column_that_does_not_vary_is_left_out_as_ever(model):
    with pytest.warns(UserWarning, match="'year' do not vary"):
        nb = NaiveBayes(FAMILIES, unlabelled="marginalize").fit(X.assign(year=2007.1), Y)
    assert_allclose(nb.predict_proba(X.assign(year=2008)), model.predict_proba(X), atol=1e-12)


def test_known_label_probabilities_stay():
    nb = NaiveBayes(FAMILIES, unlabelled="marginalize", label_prob=[0.9, 0.1]).fit(X, Y)
    assert_allclose(nb.estimates().label_prob, [0.9, 0.1])


def test_a_mode_that_is_not_reached_is_told(monkeypatch):
    monkeypatch.setattr(unlabelled, "MAX_STEPS", 3)
    with pytest.warns(ConvergenceWarning, match="not reached the mode in 3 steps") as caught:
        NaiveBayes(FAMILIES, unlabelled="marginalize").fit(X, Y)
    assert caught[0].filename == __file__


# --- what the result says of itself -----------------------------------------------------------------------------------


def test_intervals_are_called_too_sure(model):
    assert "28 unlabelled rows count as their expected labels" in model.describe()
    for asked in (model.predict_uncertainty, model.explain, model.decide):
        with pytest.warns(UserWarning, match="too sure.*likelihood=") as caught:
            asked(X[:2])
        assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="too sure"):
        tree = model.draw(2)
    with pytest.warns(UserWarning, match="too sure"):
        model.simulate(2, tokens=3)
    model.predict_uncertainty(X[:2], posterior=tree)  # whose width is that of the draws


@pytest.mark.parametrize(
    "ask",
    [
        lambda nb: nb.log_evidence(),
        lambda nb: nb.log_bayes_factor(nb),
        lambda nb: nb.loo(X, Y),
        lambda nb: nb.calibration(X, Y, leave_one_out=True),
        lambda nb: nb.sample(),
        lambda nb: nb.to_pymc(),
    ],
)
def test_what_needs_every_label_is_refused(ask, model):
    with pytest.raises(ValueError, match="needs every label, but 28 unlabelled rows"):
        ask(model)


def test_further_rows_models_and_files_keep_what_is_expected(model, tmp_path):
    model.save(tmp_path / "model.nc")
    again = bayesnb.load(tmp_path / "model.nc")
    assert again.describe() == model.describe()
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-15)
    assert (model + again).statistics_.expected_rows == 56
    assert again.partial_fit(X[:12], Y[:12]).statistics_.expected_rows == 28
    assert_allclose(again.forget(X[:12], Y[:12]).predict_proba(X), model.predict_proba(X), rtol=1e-9)


def test_a_missing_label_is_refused_by_default_with_the_way_out():
    message = r"row 12 is missing \(28 in all\): leave out.*unlabelled=\"marginalize\""
    with pytest.raises(ValueError, match=message):
        NaiveBayes().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        NaiveBayes(unlabelled="marginalize").partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"is missing in 28 rows.*table in memory"):
        NaiveBayes(unlabelled="marginalize").fit(pl.from_pandas(X).with_columns(y=pl.Series(list(Y))).lazy(), "y")


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, [None] * len(Y), "No row has a label"),
        ({"unlabelled": "drop"}, Y, 'unlabelled must be "error" or "marginalize"'),
        ({"concentration": 0}, Y, "need a concentration above 0"),
        ({"feature_weights": "loo"}, Y, "with every label"),
        ({"families": {"wet": Bernoulli(dict)}}, Y, "has no closed form"),
    ],
)
def test_what_can_not_be_summed_out_is_refused(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        NaiveBayes(**{"unlabelled": "marginalize", **parameters}).fit(X, y)


def test_unlabelled_rows_mend_a_model_of_few_labels():
    """Two far clusters, three labels each: the means are those of all rows, to their standard errors."""
    rng = np.random.default_rng(1)
    kind = np.arange(2000) % 2
    x = rng.normal(6.0 * kind, 1.0)[:, None]
    y = np.where(np.arange(2000) < 6, np.array(["a", "b"], dtype=object)[kind], None)
    nb = NaiveBayes(Gaussian(), unlabelled="marginalize").fit(x, y)
    assert_allclose(nb.estimates().x0_mean, [x[kind == k].mean() for k in (0, 1)], atol=4 / np.sqrt(1000))
