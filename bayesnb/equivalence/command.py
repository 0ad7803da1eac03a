"""What ``bayesnb verify`` does."""

from __future__ import annotations

import pandas as pd

from bayesnb.datasets import load_penguins
from bayesnb.equivalence.checks import Equivalence
from bayesnb.equivalence.verify import verify_equivalence
from bayesnb.naive_bayes import NaiveBayes


def verify(path: str | None, target: str, *, sampling: bool, random_seed: int) -> Equivalence:
    """Return the checks of a CSV file, its columns read by their types; without a path, of the penguins.

    Raises
    ------
    ValueError
        If the target is not a column.
    """
    table = load_penguins().drop(columns="year") if path is None else pd.read_csv(path)
    if target not in table:
        raise ValueError(f"The table has no column {target!r}: name one of {', '.join(map(str, table))} with --target.")
    rest = table.drop(columns=target)
    return verify_equivalence(NaiveBayes(), rest, table[target], sampling=sampling, random_seed=random_seed)
