"""The examples of the sources that the package's formulas come from, to the digit."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes, NormalInverseGamma
from bayesnb.equivalence.exact import smoothed

FIFTEEN = pd.DataFrame({"x1": [1] * 5 + [2] * 5 + [3] * 5, "x2": list("SMMSSSMMLLLMMLL")})
Y = np.array([-1, -1, 1, 1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, -1])
QUERY = pd.DataFrame({"x1": [2], "x2": ["S"]})


def fifteen(concentration):
    return NaiveBayes(Categorical(), concentration=concentration, label_concentration=concentration).fit(FIFTEEN, Y)


def exact_scores(concentration):
    """p(y) ∏ p(x_j given y) of the query in fractions, from counts made here."""
    scores = {}
    for label in (1, -1):
        rows = FIFTEEN[label == Y]
        prior = smoothed([sum(label == Y), sum(label != Y)], (concentration,) * 2)[0]
        of_features = [
            smoothed([sum(rows[name] == v) for v in values], (concentration,) * 3)[values.index(QUERY[name][0])]
            for name, values in (("x1", [1, 2, 3]), ("x2", ["S", "M", "L"]))
        ]
        scores[label] = prior * of_features[0] * of_features[1]
    return scores


# --- the fifteen-row table --------------------------------------------------------------------------------------------


def test_scores_of_the_fifteen_rows_in_fractions():
    assert exact_scores(Fraction(0)) == {1: Fraction(1, 45), -1: Fraction(1, 15)}
    assert exact_scores(Fraction(1)) == {1: Fraction(5, 153), -1: Fraction(28, 459)}


@pytest.mark.parametrize(
    ("concentration", "plug_in", "scores"),
    [(0, None, (1 / 15, 1 / 45)), (1, "mle", (1 / 15, 1 / 45)), (1, None, (28 / 459, 5 / 153))],
)
def test_our_scores_of_the_fifteen_rows(concentration, plug_in, scores):
    model = fifteen(concentration)
    estimates = model.estimates("mean" if plug_in is None else plug_in)
    found = estimates.label_prob * estimates.x1_prob.sel(x1=2) * estimates.x2_prob.sel(x2="S")
    assert_allclose(found.sel(label=[-1, 1]), scores, rtol=1e-14)
    assert_allclose(model.predict_proba(QUERY, plug_in)[0], np.array(scores) / sum(scores), rtol=1e-13)
    assert model.predict(QUERY, plug_in) == -1


def test_do_probabilities_add_up_to_one_after_smoothing():
    # The unnormalised scores of one x need not, and never did; summed over every x as well they do, exactly, and so do
    # the label probabilities given x: for any λ.
    for concentration in (Fraction(0), Fraction(1), Fraction(2, 7)):
        assert sum(exact_scores(concentration).values()) < 1
        total = Fraction(0)
        for label in (1, -1):
            rows = FIFTEEN[label == Y]
            prior = smoothed([sum(label == Y), sum(label != Y)], (concentration,) * 2)[0]
            x1 = smoothed([sum(rows["x1"] == v) for v in (1, 2, 3)], (concentration,) * 3)
            x2 = smoothed([sum(rows["x2"] == v) for v in "SML"], (concentration,) * 3)
            total += sum(prior * a * b for a, b in product(x1, x2))
        assert total == 1
    everything = pd.DataFrame(list(product([1, 2, 3], "SML")), columns=["x1", "x2"])
    model = fifteen(1)
    assert_allclose(model.predict_proba(everything).sum(1), 1, rtol=1e-15)
    assert_allclose(np.exp(model._log_joint(everything, None)).sum(), 1, rtol=1e-14)


def test_the_most_probable_label_has_the_least_risk_under_zero_one_loss():
    model = fifteen(1)
    everything = pd.DataFrame(list(product([1, 2, 3], "SML")), columns=["x1", "x2"])
    prob = model.predict_proba(everything)
    risk = np.array([[sum(p * (decided != true) for true, p in enumerate(row)) for decided in (0, 1)] for row in prob])
    assert (model.predict(everything) == model.classes_[risk.argmin(1)]).all()
    # and so of all 2⁹ classifiers it has the least expected loss under the model's own law of (x, y)
    joint = np.exp(model._log_joint(everything, None))
    losses = {
        rule: sum(joint[row, 1 - decided] for row, decided in enumerate(rule)) for rule in product((0, 1), repeat=9)
    }
    assert min(losses, key=losses.get) == tuple((model.predict(everything) == 1).astype(int))


def test_free_parameters_with_and_without_the_naive_assumption():
    model = fifteen(1)
    assert model.n_parameters() == 1 + 2 * (2 + 2)
    assert model.n_parameters(naive=False) == 2 * 3 * 3 - 1
    binary = NaiveBayes(Bernoulli()).fit(np.eye(60), [0, 1] * 30)
    assert binary.n_parameters() == 1 + 2 * 60
    assert binary.n_parameters(naive=False) == 2 * 2**60 - 1


def test_free_parameters_of_every_family():
    X = np.array([[0, 1.5, 3, 2, 1], [1, 2.0, 1, 0, 4], [1, 0.5, 2, 2, 2]])
    model = NaiveBayes({"x0": Bernoulli(), ("x3", "x4"): Multinomial()}).fit(X, [0, 1, 1])
    assert model.n_parameters() == 1 + 2 * (1 + 2 * 2 + 1)  # a Bernoulli, two Gaussians, a document of two terms
    with pytest.raises(ValueError, match="'x1'"):
        model.n_parameters(naive=False)
    known = NaiveBayes(Bernoulli(), label_prob=[0.5, 0.5]).fit(np.eye(2), [0, 1])
    assert (known.n_parameters(), known.n_parameters(naive=False)) == (4, 6)


# --- documents: the multinomial event model ---------------------------------------------------------------------------


def train(matrix, category):
    """The trainer of the course notes: φ_{k|y} = (1 + Σ_y n_k)/(V + Σ_y n), φ = share of y = 1."""
    V = matrix.shape[1]
    phi_1 = (matrix[category == 1].sum(0) + 1) / (matrix[category == 1].sum() + V)
    phi_0 = (matrix[category == 0].sum(0) + 1) / (matrix[category == 0].sum() + V)
    return phi_0, phi_1, category.mean()


def test_our_estimates_are_those_of_the_two_label_trainer():
    rng = np.random.default_rng(1)
    matrix, category = rng.poisson(0.7, (30, 8)), rng.integers(0, 2, 30)
    phi_0, phi_1, phi = train(matrix, category)
    estimates = NaiveBayes(Multinomial(), label_concentration=0).fit(matrix, category).estimates()
    assert_allclose(estimates.term_prob, [phi_0, phi_1], rtol=1e-14)
    assert_allclose(estimates.label_prob, [1 - phi, phi], rtol=1e-14)


def read_spam(path):
    """Three header lines; then a row a message: its label, and pairs of (gap to the next column, count) until −1."""
    lines = path.read_text().splitlines()
    tokens = lines[2].split()
    y, rows, columns, counts = [], [], [], []
    for number, line in enumerate(lines[3:]):
        values = np.array(line.split(), dtype=int)
        y.append(values[0])
        gaps, found = values[1:-1:2], values[2:-1:2]
        rows += [number] * len(gaps)
        columns += gaps.cumsum().tolist()
        counts += found.tolist()
    return tokens, sparse.csr_array((counts, (rows, columns)), shape=(len(y), len(tokens))), np.array(y)


@pytest.mark.slow
def test_spam_corpus(shared_data):
    tokens, train_rows, train_y = read_spam(shared_data / "cs229_spam" / "MATRIX.TRAIN")
    _, test_rows, test_y = read_spam(shared_data / "cs229_spam" / "MATRIX.TEST")
    assert (train_rows.shape, test_rows.shape) == ((2144, 1448), (800, 1448))
    model = NaiveBayes(Multinomial(), label_concentration=0).fit(train_rows, train_y)
    assert (model.predict(test_rows, "mean") != test_y).sum() == 13
    phi_0, phi_1, phi = train(train_rows.toarray(), train_y)
    estimates = model.estimates()
    assert_allclose(estimates.term_prob, [phi_0, phi_1], rtol=1e-12)
    assert_allclose(estimates.label_prob, [1 - phi, phi], rtol=1e-12)
    ratio = np.log(estimates.term_prob[1] / estimates.term_prob[0]).to_numpy()
    assert [tokens[t] for t in np.argsort(-ratio)[:5]] == ["httpaddr", "spam", "unsubscrib", "ebai", "valet"]


def test_bernoulli_is_the_multinomial_of_one_token_over_two_terms():
    rng = np.random.default_rng(2)
    ones, y = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)
    both = np.column_stack([ones, 1 - ones])
    pairs = {(f"x{j}", f"x{j + 3}"): Multinomial() for j in range(3)}
    bernoulli, multinomial = NaiveBayes(Bernoulli()).fit(ones, y), NaiveBayes(pairs).fit(both, y)
    assert_allclose(multinomial.predict_proba(both), bernoulli.predict_proba(ones), rtol=1e-12)
    assert_allclose(multinomial.log_evidence(), bernoulli.log_evidence(), rtol=1e-12)


def test_the_bernoulli_event_model_counts_absent_words_and_the_multinomial_does_not():
    # Four documents on China and Japan: textbook values by either event model.
    words = ["Beijing", "Chinese", "Japan", "Macao", "Shanghai", "Tokyo"]
    counts = pd.DataFrame(
        [[1, 2, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]], columns=words
    )
    y, query = ["yes", "yes", "yes", "no"], pd.DataFrame([[0, 3, 1, 0, 0, 1]], columns=words)
    multinomial = NaiveBayes(Multinomial(), label_concentration=0).fit(counts, y)
    bernoulli = NaiveBayes(Bernoulli(), label_concentration=0).fit(counts > 0, y)
    assert_allclose(multinomial.predict_proba(query, "mean")[0, 1], 0.689759, atol=5e-7)
    assert_allclose(bernoulli.predict_proba(query > 0)[0, 1], 0.191067, atol=5e-7)


# --- continuous features: Gaussian, or cut into bins ------------------------------------------------------------------

IRIS = load_iris(as_frame=True)


def cut(strategy, unseen="error", levels=None):
    bins = KBinsDiscretizer(5, encode="ordinal", strategy=strategy, quantile_method="averaged_inverted_cdf")
    return make_pipeline(bins, NaiveBayes(Categorical(levels=levels), unseen=unseen))


def test_a_continuous_feature_cut_into_bins_beside_the_gaussian():
    binned = cut("uniform").fit(IRIS.data, IRIS.target)
    gaussian = NaiveBayes().fit(IRIS.data, IRIS.target)
    assert min(binned.score(IRIS.data, IRIS.target), gaussian.score(IRIS.data, IRIS.target)) > 0.93
    # by hand: each bin's share, smoothed by λ = 1 over the five bins
    codes = np.clip(((IRIS.data - IRIS.data.min()) / (IRIS.data.max() - IRIS.data.min()) * 5).astype(int), 0, 4)
    of_first = codes.iloc[:, 0].groupby(IRIS.target).value_counts().unstack(fill_value=0)
    expected = (of_first + 1) / (50 + 5)
    assert_allclose(binned[-1].estimates()["x0_prob"], expected, rtol=1e-12)


def test_bins_that_training_never_met():
    values = np.array([[0.0], [0.1], [0.2], [1.0]])  # of five uniform bins the second to fourth are empty
    query = np.array([[0.5]])
    with pytest.raises(ValueError, match=r"2\.0.*not among its levels"):
        cut("uniform").fit(values, [0, 0, 1, 1]).predict_proba(query)
    ignored = cut("uniform", unseen="ignore").fit(values, [0, 0, 1, 1])
    assert_allclose(ignored.predict_proba(query), [[0.5, 0.5]])
    declared = cut("uniform", levels=range(5)).fit(values, [0, 0, 0, 1]).predict_proba(query)
    assert_allclose(declared[0, 0], (4 / 6 * 1 / 8) / (4 / 6 * 1 / 8 + 2 / 6 * 1 / 6), rtol=1e-12)


def test_bins_for_some_columns_of_a_table():
    names = list(IRIS.data.columns)
    cutter = ColumnTransformer(
        [("bins", KBinsDiscretizer(4, encode="ordinal", strategy="uniform", subsample=None), names[:2])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(cutter, NaiveBayes({tuple(names[:2]): Categorical(levels=range(4))}))
    assert model.fit(IRIS.data, IRIS.target).score(IRIS.data, IRIS.target) > 0.93
    assert "Categorical, 4 declared levels" in model[-1].describe()


def test_iris_by_the_reference_prior_and_by_plug_in():
    # The reference prior p(μ, σ²) ∝ 1/σ² is improper: no NormalInverseGamma. Its posterior is one all the same:
    # location x̄, pseudo_count n, shape (n − 1)/2, scale Σ(x − x̄)²/2, so that the predictive is a Student-t with n − 1
    # degrees of freedom. It is put together here from the statistics.
    x, y = IRIS.data.to_numpy(), IRIS.target.to_numpy()
    model = NaiveBayes(Gaussian(), label_concentration=0).fit(x, y)
    statistics = model.statistics_.statistics[0]
    n = statistics.count
    reference = NormalInverseGamma(statistics.mean, n, (n - 1) / 2, statistics.squares_about_mean / 2)
    log_joint = Gaussian().score(reference, x)  # equal label probabilities
    assert (log_joint.argmax(1) == y).sum() == 143
    assert (model.predict(x, "mle") == y).sum() == 144
