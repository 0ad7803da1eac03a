import numpy as np
import pytest
from mixed_table import fitted, mixed_table
from numpy.testing import assert_allclose
from scipy import stats

from bayesnb.labels import LabelModel
from bayesnb.log_odds import log_odds_cumulants, score_cumulants
from bayesnb.posterior import Posterior
from bayesnb.priors import Dirichlet


def labels_only(*concentration):
    concentration = np.array(concentration)
    labels = LabelModel(np.zeros(len(concentration)), Dirichlet(concentration))
    return Posterior(tuple(range(len(concentration))), labels, ())


@pytest.mark.parametrize("weights", [None, [0.0, 0.5, 1.0, 2.0, 1.0, 0.3, 1.0, 1.5]])
def test_score_cumulants_are_the_sum_of_those_of_the_features(weights):
    rows, labels = mixed_table()
    model = fitted(rows, labels)
    posterior = model._posterior if weights is None else model._posterior.with_weights(weights)
    _, encoded = model._encoded(rows)
    terms = [part.cumulants(arrays).sum(-1) for part, arrays in zip(posterior.parts, encoded, strict=True)]
    expected = posterior.labels.cumulants()[:, None] + sum(terms)
    for contrast in (np.tile(np.eye(3), (4, 1, 1)), np.random.default_rng(1).normal(size=(4, 3, 2))):
        ((_, cumulants),) = score_cumulants(posterior, encoded, len(rows), contrast)
        assert_allclose(cumulants, expected @ contrast, rtol=1e-9, atol=1e-9)


def of_one_row(posterior):
    ((_, cumulants),) = log_odds_cumulants(posterior, [], 1)
    return cumulants[:, 0]


def test_two_labels_are_a_difference_of_log_gammas():
    (second,) = of_one_row(labels_only(3.0, 2.0)).T
    mean, variance, skewness, kurtosis = np.transpose([stats.loggamma(a).stats("mvsk") for a in (3.0, 2.0)])
    assert_allclose(second[0], mean[1] - mean[0])
    assert_allclose(second[1], variance.sum())
    assert_allclose(second[2], (skewness * variance**1.5) @ [-1, 1])
    assert_allclose(second[3], kurtosis @ variance**2)


@pytest.mark.parametrize("concentration", [(3, 2, 5), (1, 4, 1, 9), (20, 1, 2, 3, 30, 6)])
def test_several_labels_fold_into_the_log_odds_of_a_beta(concentration):
    cumulants = of_one_row(labels_only(*concentration))
    for alpha, of_label in zip(concentration, cumulants.T, strict=True):
        chosen, others = stats.loggamma(alpha), stats.loggamma(sum(concentration) - alpha)
        assert_allclose(of_label[0], chosen.mean() - others.mean(), atol=0.02)
        assert_allclose(of_label[1], chosen.var() + others.var(), rtol=0.01)


def test_a_single_label_has_infinite_log_odds():
    assert np.isposinf(of_one_row(labels_only(3.0))[0, 0])
