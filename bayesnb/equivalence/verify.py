"""The claims of the package, all of them, on one table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesnb.blocks import code_by_value, encode
from bayesnb.equivalence.checks import Equivalence
from bayesnb.equivalence.differences import difference_checks
from bayesnb.equivalence.exact import exact_checks
from bayesnb.equivalence.floating import floating_checks
from bayesnb.equivalence.identity import identity_checks
from bayesnb.equivalence.reference import reference_checks
from bayesnb.equivalence.sampled import sampled_checks
from bayesnb.frame import read_labels, read_table
from bayesnb.naive_bayes import NaiveBayes
from bayesnb.posterior import posterior_of
from bayesnb.priors import concentration_vector

CONCENTRATIONS = (0, "perks", "jeffreys", "laplace", Fraction(2, 7))


def verify_equivalence(
    model: NaiveBayes,
    X: Any,
    y: Any,
    *,
    concentrations: Sequence[Any] = CONCENTRATIONS,
    sampling: bool = True,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Any = None,
) -> Equivalence:
    """Return what holds of the package's claims on a table, and where two things differ, by how much.

    In exact rational arithmetic: the λ-smoothed estimate is the posterior mean under Dirichlet(λ), the mode under
    Dirichlet(λ + 1), and the predictive probability of one further value; maximum likelihood is its limit. In floating
    point: the same numbers, and scikit-learn's. By simulation: PyMC's draws have the closed form's means, standard
    deviations and quantiles, within their Monte Carlo error.

    Parameters
    ----------
    model : NaiveBayes
        Families and priors; it is not changed, a clone is fitted.
    X, y
        The table and its labels, as for ``fit``. Exact arithmetic has numbers of as many digits as there are rows: it
        takes seconds for ten thousand rows; of more, give a sample.
    concentrations : sequence of Fraction, number or str
        The λ to check, besides the model's own: 0 is maximum likelihood, and a name stands for "laplace" (1),
        "jeffreys" (½) or "perks" (1/number of values).
    sampling : bool, default True
        Whether to draw from the posterior with PyMC as well.
    draws, chains : int
        How many draws to take in each of how many chains.
    random_seed : int, Generator or None

    Returns
    -------
    Equivalence
        ``holds``, ``frame``, ``summary()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the table can't be read, a concentration is unknown or negative, or with ``sampling`` the posterior is
        improper (a concentration of 0).

    Examples
    --------
    >>> from bayesnb import Categorical, NaiveBayes, verify_equivalence
    >>> model = NaiveBayes(Categorical())
    >>> result = verify_equivalence(model, [["a"], ["a"], ["b"]], [1, 1, 0], sampling=False, random_seed=1)
    >>> result.holds
    True
    >>> result.frame.query("claim == 'smoothed = posterior mean'").difference.max()
    np.float64(0.0)
    """
    for concentration in concentrations:
        concentration_vector(concentration, ("any",), "concentrations")
    table = read_table(X).without(model.na_values)
    fitted = clone(model).fit(table, y)
    rng = np.random.default_rng(random_seed)
    posterior = posterior_of(
        fitted.statistics_, fitted.concentration, fitted.label_concentration, fitted.label_prob
    )  # features count once each, whatever their weights
    codes = code_by_value(read_labels(y, table.n_rows).values, posterior.classes)
    encoded = [part.encoded(encode(part.block, table, part.block.columns, fitted.unseen)) for part in posterior.parts]
    checks = [
        *exact_checks(posterior, concentrations),
        *floating_checks(posterior, concentrations),
        *reference_checks(posterior, encoded, codes, concentrations),
        *difference_checks(posterior, encoded, codes, rng),
    ]
    if sampling:
        checks += identity_checks(posterior, encoded, codes, rng)
        tree = fitted.sample(draws=draws, chains=chains, random_seed=rng)
        checks += sampled_checks(posterior, tree["posterior"].dataset)
    n_labels, n_columns = len(posterior.classes), fitted.n_features_in_
    return Equivalence(tuple(checks), f"{table.n_rows:,} rows, {n_labels} labels and {n_columns} columns")
