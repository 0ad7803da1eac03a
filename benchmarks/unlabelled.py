"""Held-out log loss with a few labels a class, without and with the other training rows, unlabelled.

``python benchmarks/unlabelled.py [table …]`` prints means over 20 splits, half of the rows held out, the same splits
for every method. Unlabelled rows count once, or by their sample weight a tenth.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from tables import FOLDER, load

from bayesnb import Multinomial, NaiveBayes
from bayesnb.datasets import load_penguins

SPLITS = 20
LABELLED = (3, 10, 20)  # rows of each class
MAX_ROWS = 5_000  # of larger tables a sample is taken
METHODS = ("without", "with", "a tenth", "all labels")


def penguins():
    """Return the penguins' columns and species."""
    birds = load_penguins().drop(columns="year").astype({"island": "category", "sex": "category"})
    return birds, birds.pop("species"), None


def sms():
    """Return the counts of words in text messages, and whether they are spam."""
    lines = (FOLDER / "sms.tsv").read_text(encoding="utf-8").splitlines()
    y, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return CountVectorizer(min_df=2).fit_transform(texts), pd.Series(y), Multinomial()


def shared(name):
    """Return one of the tables of ``tables.load``."""
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
    return X.iloc[rows].reset_index(drop=True), y.iloc[rows].astype(str).reset_index(drop=True), None


OWN = {"penguins": penguins, "sms": sms}
NAMES = ("penguins", "wine", "breast_cancer", "vote", "sms")


def some_of_each(train, y, n, rng):
    """Return n training rows of each class."""
    return np.concatenate([rng.choice(train[y[train] == label], n, replace=False) for label in np.unique(y)])


def losses(X, y, families, n, number):
    """Return the held-out log loss and error of one split: (method, 2)."""
    take = X.iloc.__getitem__ if isinstance(X, pd.DataFrame) else X.__getitem__
    split = StratifiedShuffleSplit(1, train_size=0.5, random_state=number).split(np.zeros(len(y)), y)
    train, test = next(split)
    labelled = some_of_each(train, y, n, np.random.default_rng(number))
    is_labelled = np.isin(train, labelled)
    some, tenth = np.where(is_labelled, y[train], None), np.where(is_labelled, 1.0, 0.1)
    model = NaiveBayes(families, unseen="ignore", unlabelled="marginalize")
    fits = [(labelled, y[labelled], None), (train, some, None), (train, some, tenth), (train, y[train], None)]
    probs = [model.fit(take(rows), *labels).predict_proba(take(test)) for rows, *labels in fits]
    classes = model.classes_
    return [(log_loss(y[test], p, labels=classes), (classes[p.argmax(1)] != y[test]).mean()) for p in probs]


def measure(name):
    """Return by how many labels a class has the mean log loss, and the gain over the labelled rows alone."""
    X, y, families = OWN[name]() if name in OWN else shared(name)
    rows = []
    for n in LABELLED:
        values = np.array([losses(X, y.to_numpy(), families, n, number) for number in range(SPLITS)])
        loss, error = values[..., 0], values[..., 1]
        gain = loss[:, :1] - loss[:, 1:3]
        found = pd.DataFrame(
            {
                "log loss": loss.mean(0),
                "gain": [np.nan, *gain.mean(0), np.nan],
                "(s.e.)": [np.nan, *gain.std(0, ddof=1) / SPLITS**0.5, np.nan],
                "better in": [np.nan, *(gain > 0).mean(0), np.nan],
                "error rate": error.mean(0),
            },
            index=pd.MultiIndex.from_product([[name], [f"{n} a class"], METHODS]),
        )
        rows.append(found)
    return pd.concat(rows)


def main(names):
    warnings.filterwarnings("ignore", message="The columns? .* not vary")
    pd.options.display.width = 200
    for name in names:
        print(measure(name).round(3).to_string(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
