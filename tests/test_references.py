"""Real tables: values computed elsewhere, and the accuracies that others have published."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from bayesnb import Categorical, Multinomial, NaiveBayes

PUBLISHED = {"vote": 90.1, "soybean": 92.9, "splice": 95.3, "mushroom": 95.8, "nursery": 90.3}


def read_arff(path):
    """Rows of an ARFF file as text, "?" as missing."""
    names, rows, in_data = [], [], False
    for line in path.read_text().splitlines():
        if in_data and line.strip() and not line.startswith("%"):
            rows.append([cell.strip().strip("'\"") for cell in line.split(",")])
        elif line.lower().startswith("@attribute"):
            names.append(re.match(r"@attribute\s+('[^']*'|\S+)", line, re.IGNORECASE)[1].strip("'"))
        in_data = in_data or line.lower().startswith("@data")
    return pd.DataFrame(rows, columns=names).replace("?", None)


def read_table(folder, name):
    """Features and labels of a table of the references."""
    if name in ("vote", "mushroom"):
        file = {"vote": "house-votes-84.data", "mushroom": "agaricus-lepiota.data"}[name]
        frame = pd.read_csv(folder / file, dtype=str).rename(columns=str.strip).replace("?", None)
        return frame.iloc[:, 1:], frame.iloc[:, 0]
    frame = read_arff(folder / f"{name}.arff").drop(columns="Instance_name", errors="ignore")
    label = "Class" if name == "splice" else frame.columns[-1]
    return frame.drop(columns=label), frame[label]


def cross_validated(model, X, y):
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def ece(confidence, correct):
    """Expected calibration error over ten bins of the same width."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [abs(confidence[bins == b].sum() - correct[bins == b].sum()) for b in range(10)]
    return sum(gaps) / len(confidence)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The least populated class")  # of two tables, in fewer than ten folds
@pytest.mark.parametrize(("alpha", "concentration"), [("1", 1), ("0.5", "jeffreys"), ("1/K", "perks")])
@pytest.mark.parametrize("name", PUBLISHED)
def test_agreement_with_values_computed_elsewhere(shared_data, name, alpha, concentration):
    expected = json.loads((shared_data / "reference_values.json").read_text())[name][alpha]
    X, y = read_table(shared_data, name)
    # the number of labels is the K of 1/K for them as it is for the values of a feature
    families = {column: Categorical(levels=sorted(X[column].dropna().unique())) for column in X}
    model = NaiveBayes(families, concentration=concentration, label_concentration=concentration)
    assert_allclose(model.fit(X, y).log_evidence(), expected["log_evidence"], atol=1e-3)
    prob = cross_validated(model, X, y)
    truth = (y.to_numpy()[:, None] == model.classes_).astype(float)
    correct = prob.argmax(1) == truth.argmax(1)
    measured = {
        "acc": correct.mean(),
        "logloss": log_loss(y, prob),
        "brier": ((prob - truth) ** 2).sum(1).mean(),
        "ece10": ece(prob.max(1), correct),
    }
    for measure, value in measured.items():
        assert_allclose(value, expected[measure], atol=1e-4, err_msg=measure)
    if alpha == "1":
        assert abs(100 * correct.mean() - PUBLISHED[name]) < 1


@pytest.mark.parametrize(("name", "published"), [("breast-cancer", 71.7), ("credit-g", 75.4)])
def test_published_accuracies_within_a_point(shared_data, name, published):
    if name == "breast-cancer":
        frame = pd.read_csv(shared_data / "breast-cancer.csv", header=None, quotechar="'", na_values="nan", dtype=str)
    else:
        frame = read_arff(shared_data / "credit.g.arff")
        numbers = [column for column in frame if pd.to_numeric(frame[column], errors="coerce").notna().all()]
        frame[numbers] = frame[numbers].astype(float)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    model = NaiveBayes(unseen="ignore")
    accuracy = 100 * np.mean(model.fit(X, y).classes_[cross_validated(model, X, y).argmax(1)] == y)
    assert abs(accuracy - published) < 1


def test_published_accuracy_of_the_adult_table(shared_data):
    def read(name):
        return pd.read_csv(shared_data / name, header=None, skipinitialspace=True, na_values="?").dropna()

    train, test = read("adult-train.csv.gz"), read("adult-test.csv.gz")
    for numeric in (0, 2, 4, 10, 11, 12):  # cut where the label's entropy falls most, as in the publications
        tree = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=20, min_samples_leaf=30)
        tree.fit(train[[numeric]], train[14])
        for frame in (train, test):
            frame[numeric] = tree.apply(frame[[numeric]]).astype(str)
    model = NaiveBayes(unseen="ignore").fit(train.drop(columns=14), train[14])
    accuracy = accuracy_score(test[14].str.rstrip("."), model.predict(test.drop(columns=14)))
    assert abs(100 * accuracy - 83.9) < 1


def read_spam(path):
    """Token counts and labels of the course's corpus."""
    lines = path.read_text().splitlines()
    tokens = lines[2].split()
    rows, columns, counts, labels = [], [], [], []
    for row, line in enumerate(lines[3:]):
        label, *pairs = map(int, line.split())
        labels.append(label)
        columns += np.cumsum(pairs[:-1:2]).tolist()
        counts += pairs[1:-1:2]
        rows += [row] * (len(counts) - len(rows))
    return sparse.csr_array((counts, (rows, columns)), shape=(len(labels), len(tokens))), labels, np.array(tokens)


def test_spam_corpus_of_a_course(shared_data):
    X, y, tokens = read_spam(shared_data / "cs229_spam" / "MATRIX.TRAIN")
    X_test, y_test, _ = read_spam(shared_data / "cs229_spam" / "MATRIX.TEST")
    model = NaiveBayes(Multinomial(), label_concentration=0).fit(X, y)
    assert (model.predict(X_test, plug_in="mean") != y_test).sum() == 13
    prob = model.estimates("mean")["term_prob"]
    ratio = np.log(prob.sel(label=1)) - np.log(prob.sel(label=0))
    assert tokens[np.argsort(-ratio.to_numpy())[:5]].tolist() == ["httpaddr", "spam", "unsubscrib", "ebai", "valet"]
