"""Leave-one-out in one pass against refits without each row, the prior held fixed by writing it out."""

import numpy as np
import pytest
from mixed_table import FAMILIES, fitted, mixed_table
from scipy import sparse

from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes, NormalInverseGamma


@pytest.fixture
def table():
    return mixed_table()


def by_refits(rows, labels, weight, *, joint, **options):
    """Log predictive of every row by a model that was fitted without it."""
    values = []
    for i in range(len(rows)):
        others = np.arange(len(rows)) != i
        model = fitted(rows[others], labels[others], None if weight is None else weight[others], **options)
        row, code = rows.iloc[[i]], list(model.classes_).index(labels[i])
        log_prob = model._log_joint(row, None) if joint else model.predict_log_proba(row)
        values.append(log_prob[0, code])
    return np.array(values)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_refitting_without_each_row(table, joint, weighted):
    rows, labels = table
    weight = np.random.default_rng(3).choice([0.4, 1.0, 2.5], len(rows)) if weighted else None
    result = fitted(rows, labels, weight).loo(rows, labels, weight, joint=joint)
    expected = by_refits(rows, labels, weight, joint=joint)
    np.testing.assert_allclose(result.elpd_i, expected, rtol=0, atol=1e-10)
    assert result.elpd == pytest.approx(expected.sum())
    assert list(result.elpd_i.row.values) == list(rows.index)


def test_known_label_probabilities_are_not_left_out(table):
    rows, labels = table
    known = {"rare": 0.1, "few": 0.2, "many": 0.7}
    result = fitted(rows, labels, label_prob=known).loo(rows, labels)
    np.testing.assert_allclose(result.elpd_i, by_refits(rows, labels, None, joint=False, label_prob=known), atol=1e-10)


def test_default_priors_stay_as_they_were_fixed_by_all_rows():
    rng = np.random.default_rng(4)
    rows, labels = rng.normal(1e6, 1, (15, 2)), np.arange(15) % 2
    model = NaiveBayes().fit(rows, labels)
    prior = NormalInverseGamma(rows.mean(0), 1, 1, rows.var(0))
    for i, value in enumerate(model.loo(rows, labels).elpd_i.values):
        refit = NaiveBayes(Gaussian(prior)).fit(np.delete(rows, i, 0), np.delete(labels, i))
        assert value == pytest.approx(refit.predict_log_proba(rows[[i]])[0, labels[i]], abs=1e-8)


def test_the_textbook_counts():
    """Counts A (3, 1) and B (1, 3), λ = 1: without an (A, r), 4/9 · 3/5 against 5/9 · 2/6 is .590164."""
    rows, labels = [[v] for v in "rrrgrggg"], list("AAAABBBB")
    result = NaiveBayes(Categorical()).fit(rows, labels).loo(rows, labels)
    assert np.exp(result.elpd_i.values[0]) == pytest.approx(0.590164, abs=1e-6)


def test_rows_in_another_order_are_the_training_rows(table):
    rows, labels = table
    order = np.random.default_rng(1).permutation(len(rows))
    model = fitted(rows.iloc[:10], labels[:10]).partial_fit(rows.iloc[10:], labels[10:])
    shuffled = model.loo(rows.iloc[order], labels[order]).elpd_i.values
    np.testing.assert_allclose(shuffled, model.loo(rows, labels).elpd_i.values[order], atol=1e-12)


def test_rows_of_weight_zero_are_not_there(table):
    rows, labels = table
    weight = np.ones(len(rows))
    weight[5] = 0
    result = fitted(rows, labels, weight).loo(rows, labels, weight)
    assert result.n_data_points == len(rows) - 1
    assert "row 5" not in result.elpd_i.row.values


@pytest.mark.parametrize("column", ["colour", "wet", "length", "visits", "plum"])
@pytest.mark.parametrize("to_missing", [False, True])
def test_a_single_other_cell_is_noticed(table, column, to_missing):
    rows, labels = table
    present = rows.index[rows[column].notna() & (rows[column] != 0)][0]
    other = rows.copy()
    values = rows[column].dropna()
    other[column] = other[column].astype(object)
    other.loc[present, column] = None if to_missing else values[values != rows.loc[present, column]].iloc[0]
    with pytest.raises(ValueError, match=f"not the rows that the model was fitted to.*{column}"):
        fitted(rows, labels).loo(other, labels)


def test_other_labels_and_weights_are_refused(table):
    rows, labels = table
    model = fitted(rows, labels)
    swapped = np.where(labels == "few", "many", labels)
    with pytest.raises(ValueError, match=r"the label 'few' has \d+ rows in one and 0"):
        model.loo(rows, swapped)
    with pytest.raises(ValueError, match="not the rows"):
        model.loo(rows, labels, np.full(len(rows), 2.0))


@pytest.mark.parametrize("option", [{"concentration": 0.0}, {"label_concentration": 0.0}])
def test_a_concentration_of_0_is_refused(option):
    rows, labels = [["r"], ["g"], ["r"], ["g"]], list("AABB")
    model = NaiveBayes(Categorical(), **option).fit(rows, labels)
    with pytest.raises(ValueError, match="concentration above 0"):
        model.loo(rows, labels)


def test_arviz_compares_models(table):
    import arviz as az

    rows, labels = table
    plain = fitted(rows, labels).loo(rows, labels)
    one = NaiveBayes(FAMILIES["colour"]).fit(rows[["colour"]], labels).loo(rows[["colour"]], labels)
    comparison = az.compare({"all": plain, "colour": one}, round_to="none")
    assert comparison.loc["all", "elpd"] == pytest.approx(plain.elpd)
    assert comparison["elpd_diff"].abs().max() == pytest.approx(abs(plain.elpd - one.elpd))


def test_joint_is_what_psis_loo_estimates_from_draws():
    """PSIS-LOO over 4,000 exact posterior draws of p(row, label given θ); many rows, so that its k are small."""
    import arviz as az
    import xarray as xr

    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 60)
    rows = rng.normal(labels[:, None], 1, (60, 2))
    model = NaiveBayes().fit(rows, labels)
    exact = model.loo(rows, labels, joint=True)
    label_prob, (parameters,) = model._posterior.draw(np.random.default_rng(7), (4, 1000))
    mean, sd = parameters["mean"], parameters["sd"]  # (chain, draw, label, feature)
    at = mean[:, :, labels], sd[:, :, labels]
    log_density = -0.5 * np.log(2 * np.pi) - np.log(at[1]) - 0.5 * ((rows - at[0]) / at[1]) ** 2
    log_likelihood = np.log(label_prob[:, :, labels]) + log_density.sum(-1)
    draws = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"label_prob": (("chain", "draw", "label"), label_prob)}),
            "log_likelihood": xr.Dataset({"obs": (("chain", "draw", "row"), log_likelihood)}),
        }
    )
    estimate = az.loo(draws, pointwise=True)
    assert estimate.pareto_k.max() < 0.5
    ratios = np.exp(-log_likelihood)
    standard_error = ratios.std((0, 1)) / ratios.mean((0, 1)) / np.sqrt(4000)
    assert (np.abs(estimate.elpd_i.values - exact.elpd_i.values) / standard_error).max() < 4
    assert exact.p == pytest.approx(estimate.p, abs=0.2)


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial()])
def test_sparse_rows_leave_as_dense_ones_do(family):
    rng = np.random.default_rng(9)
    rows, labels = rng.integers(0, 2, (12, 5)), rng.integers(0, 2, 12)
    model = NaiveBayes(family).fit(rows, labels)
    expected = model.loo(rows, labels).elpd_i
    np.testing.assert_allclose(model.loo(sparse.csr_array(rows), labels).elpd_i, expected, atol=1e-12)
