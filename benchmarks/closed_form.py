"""Fit and predict_proba beside scikit-learn's classifier of the same family: python benchmarks/closed_form.py

scikit-learn's probabilities are plug-ins. Of Categorical and Bernoulli features they are the exact predictive too, of
the others a cheaper thing: the line "plug-in" predicts the same with this package. Medians of interleaved runs.
"""

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from timing import seconds

from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes


def tables(rng, n):
    """A table of every family that scikit-learn has, with its classifier for it."""
    text = sparse.random_array((n // 5, 50_000), density=0.002, format="csr", rng=rng)
    text.data = np.ceil(3 * text.data)
    yield "20 Categorical", Categorical(), CategoricalNB(), rng.integers(0, 4, (n, 20)).astype(np.uint8)
    yield "50 Bernoulli", Bernoulli(), BernoulliNB(), (rng.random((n, 50)) < 0.3).astype(np.uint8)
    yield "30 Gaussian", Gaussian(), GaussianNB(), rng.normal(size=(n, 30))
    yield "50,000 terms", Multinomial(), MultinomialNB(), text


def main(n_rows=200_000, n_labels=3):
    rng = np.random.default_rng(1)
    print(f"{n_rows:,} rows ({n_rows // 5:,} of text), {n_labels} labels: seconds here, there, and their ratio")
    for name, family, theirs, x in tables(rng, n_rows):
        y = rng.integers(0, n_labels, x.shape[0])
        ours = NaiveBayes(family)
        report(name, "fit", lambda m=ours, x=x, y=y: m.fit(x, y), lambda m=theirs, x=x, y=y: m.fit(x, y))
        report(name, "exact", lambda m=ours, x=x: m.predict_proba(x), lambda m=theirs, x=x: m.predict_proba(x))
        report(
            name,
            "plug-in",
            lambda m=ours, x=x: m.predict_proba(x, plug_in="mean"),
            lambda m=theirs, x=x: m.predict_proba(x),
        )


def report(name, work, ours, theirs):
    here, there = seconds(ours, theirs)
    print(f"{name:15} {work:8} {here:8.3f} {there:8.3f} {there / here:6.1f}", flush=True)


if __name__ == "__main__":
    main()
