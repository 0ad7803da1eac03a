import numpy as np
import pytest
from mixed_table import fitted, mixed_table
from numpy.testing import assert_allclose
from scipy.special import softmax

from bayesnb import (
    Bernoulli,
    Categorical,
    Gaussian,
    Multinomial,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
    score_draws,
)
from bayesnb.score_draws import exact_draws, given_draws, score_blocks

ROWS, LABELS = mixed_table()


def probabilities(posterior, encoded, draws):
    """Label probabilities of all rows, (draw, row, label)."""
    blocks = list(score_blocks(posterior, encoded, len(ROWS), draws))
    assert [rows.start for rows, _ in blocks] == [0, *(rows.stop for rows, _ in blocks[:-1])]
    return softmax(np.concatenate([scores for _, scores in blocks]).transpose(2, 0, 1).astype(float), axis=2)


@pytest.mark.parametrize("weights", [None, [0.0, 0.5, 1.0, 2.0, 1.0, 0.3, 1.0, 1.5]])
def test_scores_are_those_of_the_likelihood_of_every_family(weights):
    model = fitted(ROWS, LABELS)
    posterior = model._posterior if weights is None else model._posterior.with_weights(weights)
    _, encoded = model._encoded(ROWS)
    label_prob, parameters = posterior.draw(np.random.default_rng(1), (1, 5))
    expected = [
        softmax(
            np.log(label_prob[0, d])
            + sum(
                part.log_likelihood({name: values[0, d] for name, values in of_part.items()}, arrays)
                for part, of_part, arrays in zip(posterior.parts, parameters, encoded, strict=True)
            ),
            axis=1,
        )
        for d in range(5)
    ]
    found = probabilities(posterior, encoded, given_draws(posterior, label_prob, parameters))
    assert_allclose(found, expected, atol=2e-5)  # single precision


def test_a_large_offset_costs_no_digits():
    rng = np.random.default_rng(2)
    x = np.stack([1e6 + rng.normal(size=40), rng.poisson(1e6, 40)], axis=1)
    labels = np.repeat([0, 1], 20)
    model = NaiveBayes({1: Poisson()}).fit(x, labels)
    _, encoded = model._encoded(x)
    label_prob, parameters = model._posterior.draw(rng, (1, 1))
    first = [{name: values[0, 0] for name, values in of_part.items()} for of_part in parameters]
    terms = zip(model._posterior.parts, first, encoded, strict=True)
    expected = softmax(np.log(label_prob[0, 0]) + sum(p.log_likelihood(f, e) for p, f, e in terms), axis=1)
    draws = given_draws(model._posterior, label_prob, parameters)
    _, scores = next(score_blocks(model._posterior, encoded, 40, draws))
    assert_allclose(softmax(scores[..., 0], axis=1), expected[: len(scores)], atol=1e-4)


def test_draws_in_several_tables_are_the_same_for_all_rows(monkeypatch):
    model = fitted(ROWS, LABELS)
    _, encoded = model._encoded(ROWS)
    draws = exact_draws(model._posterior, 40, np.random.default_rng(3))
    monkeypatch.setattr(score_draws, "TABLE_CELLS", 1000)
    one_block = probabilities(model._posterior, encoded, draws)
    monkeypatch.setattr(score_draws, "SCORE_CELLS", 1000)
    assert_allclose(probabilities(model._posterior, encoded, draws), one_block, rtol=1e-5)


@pytest.mark.parametrize("family", [Categorical("perks"), Bernoulli(1e-4), Multinomial(1e-4)])
def test_tiny_concentrations_never_give_nan(family):
    x = np.array([[1, 0], [1, 0], [0, 1]]) if not isinstance(family, Categorical) else np.array([["a", "b"]] * 3)
    model = NaiveBayes(family, concentration=1e-4, label_concentration=1e-4).fit(x, ["A", "A", "B"])
    uncertainty = model.predict_uncertainty(x, method="draws", draws=500, random_seed=4)
    assert np.isfinite(uncertainty.to_array()).all()
    assert_allclose(uncertainty["mean"].sum("label"), 1, rtol=1e-5)


@pytest.mark.parametrize("x", [2.0, 3.5, 1e12])
def test_labels_far_apart_do_not_round_the_near_ones_away(x):
    """The first label is narrow, so that a row is some 1e8 nats from it; float32 has 7 digits of that."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1e-4, 50), rng.normal(3, 1, 6), rng.normal(4, 1, 6)][:, None]
    model = NaiveBayes(Gaussian(NormalInverseGamma(0, 1, 1, 1e-8))).fit(X, ["a"] * 50 + ["b"] * 6 + ["c"] * 6)
    _, [encoded] = model._encoded([[x]])
    draws = exact_draws(model._posterior, 1000, np.random.default_rng(1))
    (_, scores), *_ = score_blocks(model._posterior, [encoded], 1, draws)
    (_, exact), *_ = score_blocks(model._posterior, [encoded], 1, draws, complete=True)
    np.testing.assert_allclose(softmax(scores, 1), softmax(exact, 1), atol=1e-5)
