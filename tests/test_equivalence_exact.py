"""The rational checks themselves: right on numbers worked out another way, and wrong formulas don't pass."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from mixed_table import fitted, mixed_table

from bayesnb import Categorical, NaiveBayes
from bayesnb.equivalence import exact
from bayesnb.equivalence.exact import counts_of, exact_checks, predictive, rational, smoothed
from bayesnb.equivalence.floating import floating_checks

LAMBDAS = (0, "perks", "jeffreys", "laplace", Fraction(2, 7))


@pytest.fixture(scope="module")
def posterior():
    rows, labels = mixed_table()
    return fitted(rows, labels)._posterior


def test_every_rational_claim_holds_on_labels_and_discrete_features(posterior):
    checks = list(exact_checks(posterior, LAMBDAS))
    assert {check.verdict for check in checks} == {"holds"}
    assert all(check.difference == 0 for check in checks if check.claim is not exact.LIMIT)
    variables = {"label_prob", "colour_prob", "shape_prob", "wet_prob", "cold_prob", "term_prob"}
    for claim in (exact.MEAN, exact.MODE, exact.PREDICTIVE, exact.UNITY, exact.LIMIT):
        assert {check.variable for check in checks if check.claim is claim} == variables


def test_counts_are_those_of_the_table(posterior):
    rows, labels = mixed_table()
    tables = {table.name: table for table in counts_of(posterior)}
    for name, values in (("colour", "rgb"), ("wet", (1, 0))):
        expected = pd.crosstab(labels, rows[name]).reindex(index=["few", "many", "rare"], columns=list(values))
        assert tables[f"{name}_prob"].counts == tuple(map(tuple, expected.fillna(0).astype(int).to_numpy().tolist()))
    assert tables["label_prob"].prior == ((Fraction(0.8),) * 3,)
    assert tables["shape_prob"].prior == ((Fraction(1, 2),) * 2,) * 3


WRONG = {
    "λ counted for each label, not each value": lambda n, a: sum(n) + 3 * a[0] + 1,
    "one value too few": lambda n, a: sum(n) + sum(a) - a[0],
    "twice the λ": lambda n, a: sum(n) + 2 * sum(a),
}


@pytest.mark.parametrize("denominator", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("claim", [exact.MEAN, exact.MODE, exact.PREDICTIVE], ids=lambda claim: claim.name)
def test_a_wrong_formula_fails_every_claim(posterior, monkeypatch, claim, denominator):
    def wrong(n, a):
        return tuple((m + b) / Fraction(denominator(n, a)) for m, b in zip(n, a, strict=True))

    monkeypatch.setattr(exact, "smoothed", wrong)
    verdicts = {c.verdict for c in exact_checks(posterior, ["laplace"]) if c.claim is claim and c.concentration == "1"}
    assert verdicts == {"fails"}


def test_a_wrong_limit_fails():
    assert exact.limit_gap((3, 0, 1)) <= 0
    original, exact.smoothed = exact.smoothed, lambda n, a: original(n, [b + Fraction(1, 5) * (sum(a) > 0) for b in a])
    try:
        assert exact.limit_gap((3, 0, 1)) > 0
    finally:
        exact.smoothed = original


def moments_of_beta(a, b, power):
    """E θ^power under Beta(a, b), a and b whole: by the binomial theorem and ∫ x^m dx = 1/(m + 1)."""

    def beta_function(a, b):
        return sum(Fraction((-1) ** j * comb(b - 1, j), a + j) for j in range(b))

    return beta_function(a + power, b) / beta_function(a, b)


@pytest.mark.parametrize("counts", [(3, 0, 1), (5, 7, 2), (0, 0, 4)])
def test_the_smoothed_estimate_is_the_mean_by_integration_of_polynomials(counts):
    for value, n in enumerate(counts):
        a, b = n + 1, sum(counts) - n + 2  # against the rest, under Dirichlet(1, 1, 1)
        assert smoothed(counts, (Fraction(1),) * 3)[value] == moments_of_beta(a, b, 1)


def integral(n, m):
    """∫ θ^n (1 − θ)^m dθ, the evidence under a uniform prior."""
    return Fraction(1, (n + m + 1) * comb(n + m, n))


@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 1), (0, 3)])
def test_the_predictive_is_a_ratio_of_integrals(n, m):
    found = Fraction(*predictive(n, n + m, Fraction(1), Fraction(2)))
    assert found == integral(n + 1, m) / integral(n, m)


def test_chained_predictives_of_all_sequences_add_up_to_one():
    concentration = (Fraction(1, 3), Fraction(2, 7), Fraction(5))

    def probability(sequence):
        steps = [(sequence[:i].count(v), i, concentration[v], sum(concentration)) for i, v in enumerate(sequence)]
        return np.prod([Fraction(*predictive(*step)) for step in steps])

    assert sum(probability(sequence) for sequence in product(range(3), repeat=4)) == 1


def test_the_mode_has_no_better_neighbour():
    counts, concentration = (3, 0, 1), (Fraction(1, 2),) * 3
    best = smoothed(counts, concentration)

    def density_squared(theta):  # ∏ θ^(N + ½), squared to be rational
        return np.prod([t ** (2 * n + 1) for t, n in zip(theta, counts, strict=True)])

    for step in (Fraction(1, 10**k) for k in range(2, 12)):
        for up, down in ((0, 1), (1, 0), (1, 2), (2, 0)):
            moved = list(best)
            moved[up], moved[down] = moved[up] + step, moved[down] - step
            assert density_squared(moved) < density_squared(best)


def test_names_and_numbers_become_rationals():
    found = [rational(spec, 3) for spec in ("perks", "jeffreys", "laplace", 0, 0.25, Fraction(2, 7))]
    assert found == [Fraction(1, 3), Fraction(1, 2), 1, 0, Fraction(1, 4), Fraction(2, 7)]


def test_floating_point_is_right_to_rounding(posterior):
    checks = list(floating_checks(posterior, LAMBDAS))
    assert {check.verdict for check in checks} == {"holds"}
    assert max(check.tolerance for check in checks) < 1e-13
    assert len(checks) == 3 * (3 * 4 + 3 * 3)  # three quantities; four λ > 0, of two values three as 1/S is ½


def test_floating_point_off_by_a_billionth_fails(posterior, monkeypatch):
    original = Categorical.cgf
    monkeypatch.setattr(Categorical, "cgf", lambda *arguments, **options: original(*arguments, **options) + 1e-9)
    failing = {check.variable for check in floating_checks(posterior, ["laplace"]) if check.verdict == "fails"}
    assert failing == {"colour_prob", "shape_prob"}


def test_many_values_are_checked_at_a_few_counts():
    model = NaiveBayes(Categorical()).fit([[i] for n in range(60) for i in [n] * (n + 1)], ["a"] * 1830)
    checks = [c for c in exact_checks(model._posterior, ["jeffreys"]) if c.claim is exact.PREDICTIVE]
    assert {check.verdict for check in checks} == {"holds"}
