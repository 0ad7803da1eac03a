"""The tour that ``bayesnb demo`` gives: one table, closed form beside PyMC, and birds that the model has not seen."""

from __future__ import annotations

from bayesnb.datasets import load_penguins
from bayesnb.naive_bayes import NaiveBayes

BIRDS = {0: "a clear one", 43: "a doubtful one", 271: "one without measurements"}


def run() -> None:
    """Print the tour."""
    penguins = load_penguins().drop(columns="year")
    held_out = penguins.loc[list(BIRDS)]
    rest = penguins.drop(index=list(BIRDS))
    model = NaiveBayes().fit(rest.drop(columns="species"), rest["species"])
    print(model.describe())
    print(held_out.assign(predicted=model.predict(held_out)))
