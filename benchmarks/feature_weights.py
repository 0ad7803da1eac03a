"""Held-out log loss, Brier score and calibration error with and without feature weights, beside scikit-learn.

``python benchmarks/feature_weights.py [table …]`` prints one table: means over repeated, stratified 80/20 splits, and
the time that each method takes to fit, in times that of plain naive Bayes.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from tables import NAMES, load

from bayesnb import NaiveBayes

MAX_ROWS = 10_000  # of larger tables a sample is taken
MIN_SPLITS, MAX_SPLITS, SPLIT_ROWS = 5, 30, 15_000  # so many splits, and between them as many as make up 15,000 rows
MIN_LABEL = 8  # rows; a rarer label leaves the five folds of isotonic calibration without it


def sample(name):
    """Return the table that is measured: not too many rows, and no label that is too rare to calibrate."""
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
    X, y = X.iloc[rows], y.iloc[rows]
    common = (y.map(y.value_counts()) >= MIN_LABEL).to_numpy()
    return X[common].reset_index(drop=True), y[common].astype(str).reset_index(drop=True)


def competitors(X):
    """Return scikit-learn's nearest naive Bayes, raw and calibrated, and logistic regression."""
    text = [name for name in X if X[name].dtype == "category"]
    numbers = [name for name in X if X[name].dtype.kind in "if"]
    n_levels = [len(X[name].cat.categories) + 1 for name in text]
    if text:
        levels = [[*X[name].cat.categories, "missing"] for name in text]
        encode = make_pipeline(
            SimpleImputer(strategy="constant", fill_value="missing"), OrdinalEncoder(categories=levels)
        )
        bins = KBinsDiscretizer(5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
        codes = make_column_transformer((encode, text), (make_pipeline(SimpleImputer(), bins), numbers))
        nearest = make_pipeline(codes, CategoricalNB(min_categories=n_levels + [5] * len(numbers)))
    else:
        nearest = GaussianNB() if numbers else BernoulliNB()
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), text),
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        remainder="passthrough",
    )
    return {
        "scikit-learn": nearest,
        "isotonic": CalibratedClassifierCV(nearest, method="isotonic", cv=5),
        "logistic": make_pipeline(one_hot, LogisticRegression(max_iter=5000)),
    }


def scores(prob, y, classes):
    """Return log loss in nats, Brier score summed over labels, and 10-bin calibration error of the top label."""
    codes = np.searchsorted(classes, y)
    top = prob.max(1)
    gap = (prob.argmax(1) == codes) - top
    bins = np.minimum((top * 10).astype(int), 9)
    error = sum(abs(gap[bins == b].sum()) for b in range(10)) / len(y)
    return log_loss(y, prob, labels=classes), ((prob - np.eye(len(classes))[codes]) ** 2).sum(1).mean(), error


def measure(name):
    """Return the mean scores of every method on a table, the standard error of each log loss, and the time to fit."""
    X, y = sample(name)
    methods = {
        "plain": NaiveBayes(unseen="ignore"),
        "one weight": NaiveBayes(unseen="ignore", feature_weights="loo-shared"),
        "a weight each": NaiveBayes(unseen="ignore", feature_weights="loo"),
        **competitors(X),
    }
    repeats = int(np.clip(SPLIT_ROWS // len(y), MIN_SPLITS, MAX_SPLITS))
    results = {method: [] for method in methods}
    for train, test in StratifiedShuffleSplit(repeats, train_size=0.8, random_state=0).split(X, y):
        for method, model in methods.items():
            start = time.perf_counter()
            fitted = model.fit(X.iloc[train], y.iloc[train])
            seconds = time.perf_counter() - start
            prob = fitted.predict_proba(X.iloc[test])
            results[method].append((*scores(prob, y.iloc[test], fitted.classes_), seconds))
    of_splits = np.array(list(results.values()))  # (method, split, score)
    error = of_splits[:, :, 0].std(1, ddof=1) / repeats**0.5
    seconds = np.median(of_splits[:, :, 3], axis=1)
    table = np.vstack([of_splits[:, :, :3].mean(1).T, error, seconds / seconds[0]])
    names = ["log loss", "Brier", "ECE", "(s.e.)", "fit time"]
    index = pd.MultiIndex.from_product([[f"{name} ({len(y)} rows, {repeats} splits)"], names])
    return pd.DataFrame(table, index, list(methods))


def main(names):
    warnings.filterwarnings("ignore", message="The columns .* do not vary")
    warnings.filterwarnings("ignore", message="Bins whose width")
    pd.options.display.width = 200
    print(pd.concat([measure(name) for name in names]).round(4).to_string())


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
