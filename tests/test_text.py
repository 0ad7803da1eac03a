"""Documents as sparse counts: the same numbers as dense ones, and never a dense table of rows and terms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import dirichlet_multinomial
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from bayesnb import Bernoulli, Categorical, Dirichlet, Gaussian, Multinomial, NaiveBayes, load
from bayesnb.blocks import Encoded

N_LABELS = 3
EACH_LABEL = np.tile(np.eye(N_LABELS), (4, 1, 1))


def documents(n_rows, n_terms, per_row, *, ones=False):
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n_rows), per_row)
    x = sparse.csr_array((np.ones(len(rows)), (rows, rng.integers(0, n_terms, len(rows)))), shape=(n_rows, n_terms))
    x.sum_duplicates()
    if ones:
        x.data[:] = 1
    return x, np.arange(n_rows) % N_LABELS


@pytest.fixture
def no_dense_rows(monkeypatch):
    """Let nothing with more rows than there are labels be made dense."""
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        dense = kind.toarray

        def checked(self, *args, dense=dense, **kwargs):
            assert self.shape[0] <= N_LABELS, f"a sparse array of the shape {self.shape} is made dense"
            return dense(self, *args, **kwargs)

        monkeypatch.setattr(kind, "toarray", checked)


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial()], ids=["bernoulli", "multinomial"])
@pytest.mark.parametrize("weights", [None, 0.7], ids=["plain", "weighted"])
def test_sparse_equals_dense(family, weights):
    x, y = documents(60, 40, 8, ones=isinstance(family, Bernoulli))
    posterior = NaiveBayes(family).fit(x, y)._posterior
    if weights is not None:
        posterior = posterior.with_weights(np.full(len(posterior.weights), weights))
    (part,), thin, thick = posterior.parts, Encoded(x), Encoded(x.toarray())
    mean = part.estimate("mean")
    np.testing.assert_allclose(part.score(thin), part.score(thick), rtol=1e-12)
    np.testing.assert_allclose(part.log_likelihood(mean, thin), part.log_likelihood(mean, thick), rtol=1e-12)
    summed = part.cumulant_scorer(EACH_LABEL)(thin.x, None)
    np.testing.assert_allclose(summed, np.moveaxis(part.cumulants(thick).sum(-1), 0, 1), rtol=1e-9)


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial()], ids=["bernoulli", "multinomial"])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("n_terms", [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("no_dense_rows")
def test_documents_are_never_made_dense(family, form, n_terms):
    x, y = documents(1000, n_terms, 30, ones=isinstance(family, Bernoulli))
    model = NaiveBayes(family).fit(form(x), y)
    for plug_in in (None, "mean"):
        probability = model.predict_proba(form(x), plug_in=plug_in)
        assert (probability.argmax(1) == y).mean() > 0.99  # each row was seen
    (part,) = model._posterior.parts
    mean, variance, *_ = np.moveaxis(part.cumulant_scorer(EACH_LABEL)(x, None), 1, 0)
    assert np.isfinite(mean).all()
    assert (variance > 0).all()


def test_the_exact_predictive_of_a_document_is_dirichlet_multinomial():
    x, y = documents(30, 12, 9)
    model = NaiveBayes(Multinomial(), concentration=0.5).fit(x, y)
    counts = np.array([x.toarray()[y == label].sum(0) for label in range(N_LABELS)])
    expected = [[dirichlet_multinomial.logpmf(n, 0.5 + c, n.sum()) for c in counts] for n in x.toarray().astype(int)]
    (part,) = model._posterior.parts
    np.testing.assert_allclose(part.score(Encoded(x)), expected, rtol=1e-10)


def test_a_pipeline_from_words_to_probabilities():
    texts = ["free prize call now", "call me at lunch", "prize prize free", "lunch at noon"]
    pipeline = make_pipeline(CountVectorizer(), NaiveBayes(Multinomial())).fit(texts, ["spam", "ham", "spam", "ham"])
    assert pipeline.predict(["free prize", "lunch with me"]).tolist() == ["spam", "ham"]


def test_counts_of_any_size_have_the_exact_dirichlet_multinomial():
    alpha, n = np.array([[0.3, 2.0, 40.0], [1.0, 1.0, 1.0]]), np.array([[1, 7, 0], [9, 300, 2], [0, 0, 1000]])
    exact = [[dirichlet_multinomial(a, row.sum()).logpmf(row) for a in alpha] for row in n]
    np.testing.assert_allclose(Multinomial().cgf(Dirichlet(alpha), sparse.csr_array(n)), exact, rtol=1e-12)


@pytest.mark.parametrize("weight", [None, [1.0, 2.5, 0.75] * 20], ids=["plain", "weighted"])
@pytest.mark.parametrize("prior", ["laplace", "jeffreys"])
@pytest.mark.usefixtures("no_dense_rows")
def test_sparse_rows_left_out_are_as_dense_ones(weight, prior):
    x, y = documents(60, 40, 8, ones=True)
    x = sparse.hstack([x, np.ones((60, 1))], format="csr")  # no label has ever met a zero of the last term
    model = NaiveBayes(Bernoulli(prior), feature_weights={"x3": 0.7})
    dense = np.zeros(x.shape)
    dense[x.nonzero()] = 1
    thin, thick = (model.fit(rows, y, weight).loo(rows, y, weight).elpd_i for rows in (x, dense))
    np.testing.assert_allclose(thin, thick, rtol=1e-12)


MESSAGES = pd.DataFrame(
    {
        "text": ["free prize call now", "call me at lunch", "prize prize free", "lunch at noon", "free lunch"],
        "sender": ["shop", "friend", "shop", "friend", None],
        "length": [19.0, 16.0, 16.0, np.nan, 10.0],
    }
)
SPAM = ["spam", "ham", "spam", "ham", "ham"]
FAMILIES = {0: Gaussian(), 1: Categorical(levels=[0, 1]), slice(2, None): Multinomial()}


def test_words_beside_a_category_and_a_number(tmp_path):
    columns = ColumnTransformer(
        [
            ("length", "passthrough", ["length"]),
            ("sender", OrdinalEncoder(), ["sender"]),
            ("words", CountVectorizer(), "text"),
        ],
        sparse_threshold=1,
    )
    pipeline = make_pipeline(columns, NaiveBayes(FAMILIES)).fit(MESSAGES, SPAM)
    joint = 0
    counts = CountVectorizer().fit_transform(MESSAGES["text"])
    sender = NaiveBayes(Categorical(levels=["friend", "shop"])).fit(MESSAGES[["sender"]], SPAM)
    alone = [(NaiveBayes(Multinomial()).fit(counts, SPAM), counts), (sender, MESSAGES[["sender"]])]
    alone.append((NaiveBayes().fit(MESSAGES[["length"]], SPAM), MESSAGES[["length"]]))
    for model, rows in alone:  # the features are independent given the label, whose probabilities count once
        joint = joint + np.log(model.predict_proba(rows)) - np.log([4 / 7, 3 / 7])
    expected = np.exp(joint) * [4 / 7, 3 / 7]
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(pipeline.predict_proba(MESSAGES), expected, rtol=1e-10)
    pipeline[-1].save(tmp_path / "model.nc")
    loaded = load(tmp_path / "model.nc")
    assert loaded.families == FAMILIES
    np.testing.assert_array_equal(loaded.predict(columns.transform(MESSAGES)), pipeline.predict(MESSAGES))


def test_every_column_of_a_sparse_matrix_has_a_family():
    x, y = documents(6, 5, 2)
    with pytest.raises(ValueError, match="must name every column of a sparse matrix, but leaves out 'x1', 'x2'"):
        NaiveBayes({0: Gaussian(), slice(3, None): Multinomial()}).fit(x, y)
    for families in (None, Gaussian()):
        with pytest.raises(ValueError, match="Gaussian does not read a sparse matrix"):
            NaiveBayes(families).fit(x, y)


def test_terms_have_the_vectorizers_names():
    vectorizer = CountVectorizer()
    model = NaiveBayes(Multinomial()).fit(vectorizer.fit_transform(MESSAGES["text"]), SPAM)
    named = model.estimates().assign_coords(term=vectorizer.get_feature_names_out())
    assert float(named.term_prob.sel(label="spam", term="prize")) == 4 / (7 + 8)  # of 7 words three are "prize"


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial()], ids=["bernoulli", "multinomial"])
@pytest.mark.usefixtures("no_dense_rows")
def test_draws_meet_sparse_rows_as_they_are(family):
    x, y = documents(60, 40, 8, ones=True)
    dense = np.zeros(x.shape)
    dense[x.nonzero()] = 1
    model = NaiveBayes(family).fit(x, y)
    thin, thick = (
        model.predict_uncertainty(rows, method="draws", draws=50, random_seed=0)["mean"] for rows in (x, dense)
    )
    np.testing.assert_allclose(thin, thick, atol=1e-5)  # in single precision
