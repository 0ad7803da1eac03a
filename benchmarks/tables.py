"""Real tables as frames of typed columns: the shared ones and scikit-learn's."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from sklearn import datasets

FOLDER = Path(os.environ.get("BAYESNB_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name):
    """Return the table's columns and its labels; text is categorical, its levels those of the whole table."""
    if name in ("breast_cancer", "wine", "iris", "digits"):
        return getattr(datasets, f"load_{name}")(as_frame=True, return_X_y=True)
    frame, label = _SHARED[name]()
    y = frame.pop(label)
    return frame.apply(lambda column: column if column.dtype.kind in "ifb" else column.astype("category")), y


def _csv(file, label, **options):
    return lambda: (pd.read_csv(FOLDER / file, skipinitialspace=True, na_values="?", **options), label)


def _arff(file, label, drop=()):
    def read():
        lines = (FOLDER / file).read_text().splitlines()
        start = next(i for i, line in enumerate(lines) if line.lower().startswith("@data"))
        names = [line.split()[1].strip("'") for line in lines[:start] if line.lower().startswith("@attribute")]
        options = {"names": names, "skiprows": start + 1, "comment": "%", "quotechar": "'"}
        frame, _ = _csv(file, label, **options)()
        return frame.drop(columns=[*drop]), label

    return read


def _dna():
    frame = pd.read_csv(FOLDER / "mlbench_DNA.csv.gz")
    label = frame.columns[-1]
    return frame.astype(dict.fromkeys(frame.columns[:-1], bool)), label


_CANCER = ("age", "menopause", "size", "nodes", "caps", "malignancy", "breast", "quadrant", "irradiated", "recurrence")
_ADULT = (
    *("age", "workclass", "weight", "education", "years", "married", "occupation", "relationship", "race", "sex"),
    *("gain", "loss", "hours", "country", "income"),
)
_TITANIC = ["survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
_SHARED = {
    "vote": _csv("house-votes-84.data", "Class"),
    "mushroom": _csv("agaricus-lepiota.data", "edibility"),
    "soybean": _arff("soybean.arff", "class"),
    "splice": _arff("splice.arff", "Class", drop=["Instance_name"]),
    "nursery": _arff("nursery.arff", "class"),
    "breast-cancer": _csv("breast-cancer.csv", "recurrence", names=_CANCER, quotechar="'"),
    "credit-g": _arff("credit.g.arff", "class"),
    "adult": _csv("adult-train.csv.gz", "income", names=_ADULT),
    "dna": _dna,
    "titanic": _csv("titanic-891.csv", "survived", usecols=_TITANIC),
    "penguins": _csv("penguins.csv", "species"),
}
NAMES = (*_SHARED, "breast_cancer", "wine", "iris", "digits")
