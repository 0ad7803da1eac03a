"""Weights of evidence: they add up to the log odds, and their intervals hold what posterior draws hold."""

import numpy as np
import pandas as pd
import pytest
from mixed_table import LABELS, fitted, mixed_table
from scipy.special import logsumexp

from bayesnb import Categorical, NaiveBayes


@pytest.fixture(scope="module")
def rows():
    return mixed_table()[0]


@pytest.fixture(scope="module")
def model():
    return fitted(*mixed_table())


def log_odds(log_proba, reference):
    if reference is not None:
        return log_proba - log_proba[:, [reference]]
    rest = [logsumexp(np.delete(log_proba, k, 1), axis=1) for k in range(log_proba.shape[1])]
    return log_proba - np.stack(rest, 1)


@pytest.mark.parametrize("reference", [None, "few"])
def test_contributions_and_the_priors_add_up_to_the_log_odds(model, rows, reference):
    parts = model.explain(rows, reference)
    position = None if reference is None else list(model.classes_).index(reference)
    expected = log_odds(model.predict_log_proba(rows), position)
    kept = [label != reference for label in model.classes_]
    np.testing.assert_allclose(parts.log_odds, expected[:, kept], atol=1e-10)
    np.testing.assert_allclose(parts.prior + parts.contribution.sum("feature"), parts.log_odds, atol=1e-12)


def test_weighted_contributions_add_up_as_well(model, rows):
    posterior = model._posterior
    weights = np.random.default_rng(0).choice([0.0, 0.3, 2.0], len(posterior.features))
    weighted = fitted(*mixed_table())
    weighted._posterior = posterior.with_weights(weights)
    parts = weighted.explain(rows)
    np.testing.assert_allclose(parts.log_odds, log_odds(weighted.predict_log_proba(rows), None), atol=1e-10)
    plain, doubled = (m.explain(rows, "few") for m in (model, weighted))
    np.testing.assert_allclose(doubled.contribution, plain.contribution * weights, atol=1e-12)
    np.testing.assert_allclose(doubled.upper, plain.upper * weights, atol=1e-10)


def test_the_rest_of_two_labels_is_the_other_one():
    table, labels = [["r", "x"]] * 3 + [["g", "x"]] * 2 + [["g", "o"]] * 3, list("AAAABBBB")
    model = NaiveBayes(Categorical()).fit(table, labels)
    rest, against = model.explain(table), model.explain(table, "B")
    assert list(against.label.values) == ["A"]
    for name in rest.data_vars:
        np.testing.assert_allclose(rest[name].sel(label=["A"]), against[name], atol=1e-12)


def test_a_row_without_evidence_has_the_log_odds_of_the_labels(model, rows):
    empty = pd.DataFrame(np.nan, index=["nothing"], columns=rows.columns)
    parts = model.explain(empty)
    label_prob = model.estimates().label_prob.values
    np.testing.assert_allclose(parts.prior[0], np.log(label_prob / (1 - label_prob)), atol=1e-12)
    assert not parts.contribution.any()
    assert not parts.lower.any()


def test_names_and_attributes(model, rows):
    parts = model.explain(rows, prob=0.8)
    assert list(parts.row.values) == list(rows.index)
    assert list(parts.label.values) == sorted(LABELS)
    assert parts.sizes["feature"] == len(model._posterior.features)
    assert (parts.attrs["interval"], parts.attrs["interval_prob"], parts.attrs["method"]) == ("eti", 0.8, "cumulants")


def drawn_terms(model, rows, draws=20_000):
    """Draws of ln p(label given θ), ln p(colour given label, θ) and ln p(length …): (draw, row, label) each."""
    rng = np.random.default_rng(8)
    posterior = model.posterior_
    label_prob = posterior["label"].draw(rng, (draws,))["prob"]
    prob = posterior["colour"].draw(rng, (draws,))["prob"]
    length = posterior["length"].draw(rng, (draws,))
    mean, sd = length["mean"][:, None, :, 0], length["sd"][:, None, :, 0]
    codes = [sorted("rgb").index(value) for value in rows["colour"]]
    x = rows["length"].to_numpy()[:, None]
    log_density = -0.5 * np.log(2 * np.pi) - np.log(sd) - 0.5 * ((x - mean) / sd) ** 2
    log_prob = np.moveaxis(np.log(prob[..., codes]), 1, 2)
    return np.broadcast_to(np.log(label_prob)[:, None], log_prob.shape), log_prob, log_density


@pytest.mark.parametrize("reference", [None, "many"])
@pytest.mark.parametrize("n_rows", [8, 60])
def test_intervals_hold_what_exact_draws_hold(reference, n_rows):
    """Tail masses of exact draws, nominal .03; .02 is the error that the documentation owns up to."""
    rng = np.random.default_rng(n_rows)
    labels = rng.permutation(np.resize(["few", "many", "some"], n_rows))
    rows = pd.DataFrame(
        {"colour": rng.choice(list("rgb"), n_rows, p=[0.7, 0.2, 0.1]), "length": rng.normal(size=n_rows)}
    )
    model = NaiveBayes({"colour": Categorical(levels=["b", "g", "r"])}).fit(rows, labels)
    rows = rows.iloc[:8]
    parts = model.explain(rows, reference)
    others = np.repeat(model.predict_proba(rows)[:, None, :], 3, 1) * ~np.eye(3, dtype=bool)
    if reference is not None:
        others = np.broadcast_to(model.classes_ == reference, (len(rows), 3, 3)).astype(float)
    others = others / others.sum(2, keepdims=True)
    kept = model.classes_ != reference
    entropy = -(others * np.log(np.where(others > 0, others, 1))).sum(2)
    prior, *features = (d - np.einsum("rlo,dro->drl", others, d) for d in drawn_terms(model, rows))
    bounds = [(prior - entropy, parts.prior_lower, parts.prior_upper)]
    bounds += [
        (d, parts.lower.sel(feature=f), parts.upper.sel(feature=f))
        for d, f in zip(features, ["colour", "length"], strict=True)
    ]
    for drawn, lower, upper in bounds:
        below = (drawn[..., kept] < lower.values).mean(0)
        above = (drawn[..., kept] > upper.values).mean(0)
        assert np.abs(below - 0.03).max() < 0.02
        assert np.abs(above - 0.03).max() < 0.02


def test_a_reference_that_is_no_label_and_a_single_label_are_refused(model, rows):
    with pytest.raises(ValueError, match="reference 'none' is not among the labels"):
        model.explain(rows, "none")
    with pytest.raises(ValueError, match="two labels"):
        NaiveBayes(Categorical()).fit([["r"]], ["A"]).explain([["r"]])
    with pytest.raises(ValueError, match="prob"):
        model.explain(rows, prob=94)
