"""Held-out log loss where the choice of likelihood, predictive or missing cells matters, over repeated splits.

``python benchmarks/text.py`` prints two tables: messages (exact predictive, plug-in, scikit-learn), and tables of
questions with missing cells, left out and as a value of their own. Means over 20 stratified splits, 20 % held out.
"""

from itertools import chain, product

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from tables import FOLDER, load

from bayesnb import Bernoulli, Multinomial, NaiveBayes

SPLITS = StratifiedShuffleSplit(20, test_size=0.2, random_state=0)
FEW = StratifiedShuffleSplit(20, train_size=0.02, test_size=0.2, random_state=0)
LIKELIHOODS = {"Multinomial": (Multinomial(), MultinomialNB(), False), "Bernoulli": (Bernoulli(), BernoulliNB(), True)}


def messages():
    """Log loss and accuracy by likelihood and prediction: λ = 1 a term, the vocabulary of the training messages."""
    table = pd.read_csv(FOLDER / "sms.tsv", sep="\t", quoting=3, names=["label", "text"], keep_default_na=False)
    splits = chain.from_iterable(splits.split(table, table["label"]) for splits in (SPLITS, FEW))
    for (train, test), (name, (family, theirs, binary)) in product(splits, LIKELIHOODS.items()):
        rows, held_out = table.iloc[train], table.iloc[test]
        vectorizer = CountVectorizer(binary=binary)
        x, new = vectorizer.fit_transform(rows["text"]), vectorizer.transform(held_out["text"])
        model = NaiveBayes(family).fit(x, rows["label"])
        theirs.fit(x, rows["label"])
        predictions = {
            "exact": model.predict_proba(new),
            "plug-in": model.predict_proba(new, plug_in="mean"),
            "scikit-learn": theirs.predict_proba(new),
        }
        for kind, prob in predictions.items():
            yield scores((len(rows), name, kind), held_out["label"], prob, model.classes_)


def questions():
    """Log loss and accuracy by table, what a missing cell is, and how much the features count."""
    for name in ("vote", "soybean", "breast-cancer", "mushroom"):
        X, y = load(name)
        for train, test in SPLITS.split(X, y):
            for missing, weights in product(("ignore", "level"), (None, "loo-shared")):
                model = NaiveBayes(missing=missing, feature_weights=weights).fit(X.iloc[train], y.iloc[train])
                yield scores((name, missing, weights), y.iloc[test], model.predict_proba(X.iloc[test]), model.classes_)


def scores(key, y, prob, classes):
    return {
        "what": key,
        "log loss": log_loss(y, prob, labels=classes),
        "accuracy": accuracy_score(y, classes[prob.argmax(1)]),
    }


def summarised(rows):
    """Mean and standard error over the splits."""
    by_what = pd.DataFrame(rows).groupby("what", sort=False)
    return by_what.agg(["mean", "sem"]).round(4)


if __name__ == "__main__":
    for rows in (messages(), questions()):
        print(summarised(rows).to_string(), flush=True)
