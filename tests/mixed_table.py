"""A table of all families with missing cells, for tests that go through the whole model."""

import numpy as np
import pandas as pd

from bayesnb import Bernoulli, Categorical, Gamma, Gaussian, Multinomial, NaiveBayes, NormalInverseGamma, Poisson

FAMILIES = {
    "colour": Categorical(levels=["r", "g", "b"]),
    "shape": Categorical("jeffreys", levels=["o", "x"]),
    ("wet", "cold"): Bernoulli("jeffreys"),
    ("length", "width"): Gaussian(NormalInverseGamma([0.5, -3.0], 1.5, 2.0, [1.0, 4.0])),
    "visits": Poisson(Gamma(2.0, 0.5)),
    ("apple", "pear", "plum"): Multinomial(0.7),
}
LABELS = ["rare", "few", "many"]


def mixed_table(seed=20, n_rows=24):
    """Rows with a named index, and labels of which "rare" has a single row."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "colour": rng.choice(["r", "g", "b"], n_rows).astype(object),
            "shape": rng.choice(["o", "x"], n_rows),
            "wet": rng.integers(0, 2, n_rows).astype(float),
            "cold": rng.integers(0, 2, n_rows).astype(float),
            "length": rng.normal(0, 1, n_rows),
            "width": rng.normal(-3, 2, n_rows),
            "visits": rng.poisson(3, n_rows).astype(float),
            "apple": rng.poisson(2, n_rows),
            "pear": rng.poisson(1, n_rows),
            "plum": rng.poisson(0.2, n_rows),
        },
        index=[f"row {i}" for i in range(n_rows)],
    )
    for position, name in enumerate(["colour", "wet", "length", "visits"]):
        rows.loc[rows.index[position::7], name] = None if name == "colour" else np.nan
    return rows, np.array(["rare", *rng.choice(["few", "many"], n_rows - 1, p=[0.3, 0.7])])


def fitted(rows, labels, weight=None, **options):
    model = NaiveBayes(FAMILIES, label_concentration=0.8, **options)
    return model.partial_fit(rows, labels, classes=LABELS, sample_weight=weight)
