"""Scores against scikit-learn and published reference values; the warning on dependent and on honest features."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold

from bayesnb import Bernoulli, Categorical, NaiveBayes, OverconfidenceWarning
from bayesnb.calibration import calibration


@pytest.fixture
def predictions():
    """Honest predictions of three labels, the labels drawn from them, and weights."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 0.5], 300)
    y = (p.cumsum(1) > rng.random((300, 1))).argmax(1)
    return np.log(p), y, rng.integers(1, 4, 300).astype(float)


def test_scores_are_scikit_learns(predictions):
    log_prob, y, weight = predictions
    result = calibration(log_prob, y, weight, 0.9)
    p = np.exp(log_prob)
    assert float(result.log_score) == pytest.approx(log_loss(y, p, sample_weight=weight))
    brier = brier_score_loss(y, p, sample_weight=weight, labels=[0, 1, 2], scale_by_half=False)
    assert float(result.brier_score) == pytest.approx(brier)


def test_weights_are_repeats(predictions):
    log_prob, y, weight = predictions
    repeats = weight.astype(int)
    weighted = calibration(log_prob, y, weight, 0.9)
    repeated = calibration(np.repeat(log_prob, repeats, 0), np.repeat(y, repeats), np.ones(repeats.sum()), 0.9)
    for name in weighted.data_vars:
        np.testing.assert_allclose(weighted[name], repeated[name], rtol=1e-6, err_msg=name)


def test_standard_errors_are_the_spread_over_tables():
    """Over 200 tables of honest predictions, scores and exponent spread as their errors say; 4 Monte Carlo errors."""
    rng, results = np.random.default_rng(1), []
    for _ in range(200):
        p = rng.dirichlet([1, 1, 0.5], 200)
        y = (p.cumsum(1) > rng.random((200, 1))).argmax(1)
        results.append(calibration(np.log(p), y, np.ones(200), 0.9))
    for name in ["log_score", "brier_score", "exponent"]:
        spread = np.std([float(r[name]) for r in results])
        error = np.mean([float(r[name + "_se"]) for r in results])
        assert abs(spread - error) < 4 * spread / np.sqrt(2 * 200), name
    assert np.mean([float(r.p_value) < 0.01 for r in results]) <= 0.01


def test_bins_by_hand():
    p = np.array([[0.62, 0.38], [0.68, 0.32], [0.03, 0.97], [0.5, 0.5], [1.0 - 1e-12, 1e-12]])
    result = calibration(np.log(p), np.array([0, 1, 1, 0, 0]), np.ones(5), 0.9)
    assert result["count"].values.tolist() == [0, 0, 0, 0, 0, 1, 2, 0, 0, 2]
    assert float(result.predicted[6]) == pytest.approx(0.65)
    assert float(result.observed[6]) == 0.5
    assert np.isnan(result.observed[0])
    # uniform before data; after one right and one wrong Beta(2, 2), whose distribution function is 3x² − 2x³
    assert [float(result.lower[0]), float(result.upper[0])] == pytest.approx([0.05, 0.95])
    assert 3 * float(result.lower[6]) ** 2 - 2 * float(result.lower[6]) ** 3 == pytest.approx(0.05)
    assert float(result.ece) == pytest.approx((0.5 + 2 * 0.15 + (0.03 + 1e-12) / 2 * 2) / 5)


@pytest.mark.parametrize("copies", [3, 10])
def test_a_column_copied_is_overconfident_by_the_number_of_copies(copies):
    rng = np.random.default_rng(copies)
    y = rng.integers(0, 2, 200)
    column = (rng.random(200) < np.where(y == 1, 0.9, 0.1)).astype(str)[:, None]
    table = column.repeat(copies, 1)
    with pytest.warns(OverconfidenceWarning, match="depend on each other"):
        result = NaiveBayes(Categorical()).fit(table, y).calibration(table, y, leave_one_out=True)
    alone = NaiveBayes(Categorical()).fit(column, y).calibration(column, y, leave_one_out=True)
    assert float(alone.p_value) > 0.01
    assert float(result.exponent) == pytest.approx(float(alone.exponent) / copies, rel=0.02)
    assert float(result.ece) > 0.05


@pytest.mark.parametrize("n_rows", [20, 200])
def test_an_honest_model_is_not_called_overconfident(n_rows):
    """60 tables from the model itself, parameters from the prior; no more than 1 % of alarms and 4 of its errors."""
    rng = np.random.default_rng(n_rows)
    alarms = 0
    for _ in range(60):
        y = rng.choice(3, n_rows, p=rng.dirichlet(np.ones(3)))
        table = rng.random((n_rows, 12)) < rng.beta(1, 1, (3, 12))[y]
        model = NaiveBayes(Bernoulli()).partial_fit(table, y, classes=[0, 1, 2])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.calibration(table, y, leave_one_out=True)
        alarms += any(issubclass(w.category, OverconfidenceWarning) for w in caught)
    assert alarms <= 60 * 0.01 + 4 * np.sqrt(60 * 0.01 * 0.99)


def test_held_out_labels_without_features_are_beta_binomial():
    """Of rows that all have one prediction, the log score is as bad as the rarer label is frequent."""
    labels = np.repeat([0, 1], [17, 3])
    model = NaiveBayes(Categorical(levels=["a"])).fit([["a"]] * 20, labels)
    for n_rare in (4, 8, 12):
        exact = stats.betabinom.sf(n_rare - 1, 30, 4, 18)
        found = model.calibration([["a"]] * 30, np.repeat([1, 0], [n_rare, 30 - n_rare]), random_seed=4).p_value
        assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 1000) + 1 / 1001  # labels are one of the draws


def test_an_honest_model_is_not_called_overconfident_by_many_rows_after_few():
    """As above, with 200 held-out rows after 20 training rows: if taken as independent, one table in five alarms."""
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(60):
        y = rng.choice(2, 220, p=rng.dirichlet(np.ones(2)))
        table = rng.random((220, 2)) < rng.beta(1, 1, (2, 2))[y]
        model = NaiveBayes(Bernoulli()).partial_fit(table[:20], y[:20], classes=[0, 1])
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            p_values.append(float(model.calibration(table[20:], y[20:], random_seed=rng).p_value))
    assert np.mean(np.less(p_values, 0.01)) <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / 60)


def test_held_out_rows_tell_of_a_column_copied_ten_times():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 250)
    table = (rng.random(250) < np.where(y == 1, 0.9, 0.1)).astype(str)[:, None].repeat(10, 1)
    with pytest.warns(OverconfidenceWarning, match="depend on each other"):
        NaiveBayes(Categorical()).fit(table[:50], y[:50]).calibration(table[50:], y[50:], random_seed=6)


def test_rare_surprises_do_not_alarm():
    """100 rows at 1 − .001: one error, which is 10 % probable, would be a normal test's z of −3."""
    log_prob = np.log(np.tile([0.999, 0.001], (100, 1)))
    y = np.zeros(100, int)
    y[0] = 1
    assert float(calibration(log_prob, y, np.ones(100), 0.9).p_value) > 0.1


def test_predictions_that_are_always_right_or_worse_than_none():
    log_prob = np.log(np.tile([0.9, 0.1], (10, 1)))
    always_right = calibration(log_prob, np.zeros(10, int), np.ones(10), 0.9)
    assert (float(always_right.exponent), float(always_right.p_value)) == (np.inf, 1.0)
    always_wrong = calibration(log_prob, np.ones(10, int), np.ones(10), 0.9)
    assert float(always_wrong.exponent) == 0
    assert float(always_wrong.p_value) == pytest.approx((0.1 / 0.5) ** 10)


def test_held_out_vote_table_has_the_reference_values(shared_data):
    reference = json.loads((shared_data / "reference_values.json").read_text())["vote"]["1"]
    table = pd.read_csv(shared_data / "house-votes-84.data", skipinitialspace=True)
    X, y = table.iloc[:, 1:].replace("?", None), table.iloc[:, 0].to_numpy()
    log_prob = np.zeros((len(y), 2))
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        log_prob[test] = NaiveBayes().fit(X.iloc[train], y[train]).predict_log_proba(X.iloc[test])
    result = calibration(log_prob, np.unique(y, return_inverse=True)[1], np.ones(len(y)), 0.9)
    assert float(result.log_score) == pytest.approx(reference["logloss"], abs=5e-6)
    assert float(result.brier_score) == pytest.approx(reference["brier"], abs=5e-6)
    assert float(result.ece) == pytest.approx(reference["ece10"], abs=5e-5)


def test_held_out_rows_are_scored_as_predicted():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    table = rng.normal(y[:, None], 1, (60, 2))
    model = NaiveBayes().fit(table[:40], y[:40])
    result = model.calibration(table[40:], y[40:])
    assert float(result.log_score) == pytest.approx(log_loss(y[40:], model.predict_proba(table[40:])))
    with pytest.raises(ValueError, match="label 7 in row 0 is not among"):
        model.calibration(table[40:], np.full(20, 7))


def test_a_concentration_of_0_has_no_log_score():
    model = NaiveBayes(Categorical(), concentration=0.0).fit([["r"], ["g"]], ["A", "B"])
    with pytest.raises(ValueError, match="concentration above 0"):
        model.calibration([["r"]], ["A"])


@pytest.mark.parametrize("weight", [[], [0, 0]])
def test_there_must_be_rows_to_judge_by(weight):
    nb = NaiveBayes(Categorical()).fit([["r"], ["g"]], ["A", "B"])
    rows = np.array([["r"], ["g"]], dtype=object)[: len(weight)]
    with pytest.raises(ValueError, match="no rows to judge by"):
        nb.calibration(rows, np.array(["A", "B"])[: len(weight)], weight)
