"""λ-smoothing is a Dirichlet prior: shown in exact rational arithmetic on the counts of a table.

With counts N_l of S values, N = Σ N_l and Λ = Σ λ_l, the smoothed estimate (N_l + λ_l)/(N + Λ) is held against what it
is said to be, each by what defines it and not by that formula: a mean by integration by parts, a mode by the conditions
of a constrained maximum, a predictive probability by the evidence with and without one further value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm, prod
from typing import Any

from bayesnb.equivalence.checks import Check, Claim
from bayesnb.posterior import Posterior
from bayesnb.priors import NAMED_CONCENTRATIONS, Beta, Dirichlet
from bayesnb.tree import layout_of

Rationals = tuple[Fraction, ...]
MOST_VALUES = 5  # whose predictive probability is computed, among those of one label that differ in count

SMOOTHED = "The λ-smoothed estimate"
MEAN = Claim("smoothed = posterior mean", SMOOTHED, "the mean of the posterior under a Dirichlet(λ) prior", "exact")
MODE = Claim("smoothed = posterior mode", SMOOTHED, "the mode of the posterior under a Dirichlet(λ + 1) prior", "exact")
PREDICTIVE = Claim(
    "smoothed = predictive", SMOOTHED, "the predictive probability p(D, x)/p(D) of one further value x", "exact"
)
LIMIT = Claim(
    "λ → 0 is maximum likelihood", f"{SMOOTHED}, as λ → 0,", "the maximum-likelihood estimate (in the limit)", "exact"
)
UNITY = Claim("probabilities add up to 1", "The sum of the smoothed estimates over all values", "1", "exact")


@dataclass(frozen=True)
class Counts:
    """How often each value of a variable was met: a row for each label; of the labels themselves one row."""

    name: str
    counts: tuple[tuple[int, ...], ...]
    prior: tuple[Rationals, ...]  # the model's own λ of every value

    @property
    def n_values(self) -> int:
        """S, the number of values that the variable can take."""
        return len(self.counts[0])


def counts_of(posterior: Posterior) -> Iterator[Counts]:
    """Yield the counts of the labels, and of every variable with a Dirichlet or Beta prior."""
    if posterior.labels.prior is not None:
        yield _counts("label_prob", posterior.labels.counts[None], posterior.labels.prior.concentration[None])
    for variable in layout_of(posterior).variables:
        part = posterior.parts[variable.part]
        statistics: Any = part.statistics
        if isinstance(part.prior, Dirichlet):
            yield _counts(variable.name, statistics.counts, part.prior.concentration)
        elif isinstance(part.prior, Beta):
            column = variable.position
            ones_and_zeros = zip(statistics.ones[:, column], statistics.zeros[:, column], strict=True)
            pairs = zip(part.prior.a[:, column], part.prior.b[:, column], strict=True)
            yield _counts(variable.name, ones_and_zeros, pairs)


def _counts(name: str, counts: Any, prior: Any) -> Counts:
    return Counts(
        name,
        tuple(tuple(int(n) for n in row) for row in counts),
        tuple(tuple(Fraction(float(a)) for a in row) for row in prior),
    )


def rational(concentration: Any, n_values: int) -> Fraction:
    """Return λ as a rational number: of a name, a Fraction, an integer or a float.

    Examples
    --------
    >>> rational("perks", 3), rational(0.5, 3)
    (Fraction(1, 3), Fraction(1, 2))
    """
    if isinstance(concentration, str):
        return Fraction(NAMED_CONCENTRATIONS[concentration](n_values)).limit_denominator(10**9)
    return Fraction(concentration)


def smoothed(counts: Sequence[int], concentration: Rationals) -> Rationals:
    """Return the λ-smoothed estimates (N_l + λ_l)/(N + Λ).

    Examples
    --------
    >>> smoothed((3, 1), (Fraction(1), Fraction(1)))
    (Fraction(2, 3), Fraction(1, 3))
    """
    total = _total(counts, concentration)
    return tuple((n + a) / total for n, a in zip(counts, concentration, strict=True))


def _total(counts: Sequence[int], concentration: Sequence[Fraction]) -> Fraction:
    """N + Λ."""
    return sum(concentration, Fraction(sum(counts)))


def exact_checks(posterior: Posterior, concentrations: Sequence[Any]) -> Iterator[Check]:
    """Yield the checks in rational arithmetic: claim by claim, variable by variable, λ by λ."""
    tables = list(counts_of(posterior))
    for claim, gap in GAPS.items():
        for table in tables:
            for text, rows in _concentrations(table, concentrations):
                pairs = [(n, a) for n, a in zip(table.counts, rows, strict=True) if _is_defined(claim, n, a)]
                if pairs:
                    yield Check(claim, table.name, max(float(gap(n, a)) for n, a in pairs), concentration=text)
    for table in tables:
        yield Check(LIMIT, table.name, max(float(limit_gap(n)) for n in table.counts if sum(n)))


def _concentrations(table: Counts, concentrations: Sequence[Any]) -> Iterator[tuple[str, tuple[Rationals, ...]]]:
    """The model's own prior, then each λ for all values, as text and by label."""
    yield "the model's", table.prior
    for value in dict.fromkeys(rational(c, table.n_values) for c in concentrations):
        yield str(value), ((value,) * table.n_values,) * len(table.counts)


def _is_defined(claim: Claim, counts: Sequence[int], concentration: Rationals) -> bool:
    """Whether the two sides exist: a mean needs a proper posterior, a predictive a proper prior."""
    if claim is PREDICTIVE:
        return min(concentration) > 0
    if claim is MEAN:
        return all(n + a > 0 for n, a in zip(counts, concentration, strict=True))
    return _total(counts, concentration) > 0


def mean_gap(counts: Sequence[int], concentration: Rationals) -> Fraction:
    """Return how far the smoothed estimates m are from the means of the posterior.

    Value l against the rest is Beta(a, b), a = N_l + λ_l, b = N − N_l + Λ − λ_l. As x^a (1 − x)^b vanishes at 0 and 1
    and has the derivative (a (1 − x) − b x) · x^(a−1) (1 − x)^(b−1), the mean of a (1 − x) − b x is 0: m is the mean
    just if a (1 − m) = b m.
    """
    total = _total(counts, concentration)
    return max(
        abs((n + a) * (1 - m) - (total - n - a) * m) / total
        for n, a, m in zip(counts, concentration, smoothed(counts, concentration), strict=True)
    )


def mode_gap(counts: Sequence[int], concentration: Rationals) -> Fraction:
    """Return how far the smoothed estimates are from the mode of the posterior under a Dirichlet(λ + 1) prior.

    Its density is ∏ θ_l^{e_l}, e_l = N_l + λ_l, and its logarithm is concave; so θ is its maximum on the simplex just
    if the slopes e_l/θ_l are equal (to Σ e, as Σ θ = 1), and θ_l = 0 where e_l = 0.
    """
    exponents = [n + a for n, a in zip(counts, concentration, strict=True)]
    theta = smoothed(counts, concentration)
    slopes = [e / t if t else Fraction(0) for e, t in zip(exponents, theta, strict=True) if t or e]
    return max(abs(slope - _total((), exponents)) for slope in slopes) + abs(_total((), theta) - 1)


def predictive_gap(counts: Sequence[int], concentration: Rationals) -> float:
    """Return how far the smoothed estimates are from p(D, x)/p(D), the evidence with and without one further value.

    Values with the same count and λ have the same probability; of many that differ, a few are taken, from the rarest to
    the commonest.
    """
    distinct = sorted(set(zip(counts, concentration, smoothed(counts, concentration), strict=True)))
    step = max(1, -(-len(distinct) // MOST_VALUES))
    chosen = {*distinct[::step], distinct[-1]}
    n, a = sum(counts), _total((), concentration)
    return max(_gap(m, *predictive(n_l, n, a_l, a)) for n_l, a_l, m in chosen)


def _gap(probability: Fraction, numerator: int, denominator: int) -> float:
    """The difference of two fractions; that it is 0 is found without a division, which would take long."""
    if numerator * probability.denominator == denominator * probability.numerator:
        return 0.0
    return float(abs(probability - Fraction(numerator, denominator)))


def predictive(count: int, total: int, concentration: Fraction, total_concentration: Fraction) -> tuple[int, int]:
    """Return numerator and denominator of p(D, x)/p(D), x a value that D has so many times among so many.

    The evidence is p(D) = ∏ λ_l^(N_l) / Λ^(N), with rising factorials a^(n) = a (a + 1) … (a + n − 1); the factors of
    the values that x is not stand in both.

    Examples
    --------
    >>> predictive(1, 1, Fraction(1), Fraction(2))
    (4, 6)
    """
    common = lcm(concentration.denominator, total_concentration.denominator)
    with_x = _rising(concentration, count + 1, common), _rising(total_concentration, total + 1, common)
    without = _rising(concentration, count, common), _rising(total_concentration, total, common)
    return with_x[0] * without[1], with_x[1] * without[0]


@lru_cache(maxsize=64)  # the long ones return for every value
def _rising(a: Fraction, n: int, common: int) -> int:
    """The rising factorial a^(n), times common^n to make it whole."""
    start = int(a * common)
    return _product(range(start, start + n * common, common))


def _product(factors: range) -> int:
    """Halves are multiplied first: two long numbers at a time are faster than a long and a short one many times."""
    if len(factors) < 32:
        return prod(factors)
    middle = len(factors) // 2
    return _product(factors[:middle]) * _product(factors[middle:])


def unity_gap(counts: Sequence[int], concentration: Rationals) -> Fraction:
    """Return how far the smoothed estimates are from adding up to 1."""
    return abs(_total((), smoothed(counts, concentration)) - 1)


def limit_gap(counts: Sequence[int]) -> Fraction:
    """Return by how much the smoothed estimates at λ = 10⁻¹, 10⁻², … 10⁻³⁰ leave the bound λ S/N about N_l/N.

    As the bound goes to 0 with λ, 0 shows that maximum likelihood is the limit.
    """
    n, size = sum(counts), len(counts)
    likeliest = smoothed(counts, (Fraction(0),) * size)
    excess = Fraction(0)
    for small in (Fraction(1, 10**k) for k in range(1, 31)):
        gaps = (abs(t - m) for t, m in zip(smoothed(counts, (small,) * size), likeliest, strict=True))
        excess = max(excess, max(gaps) - small * size / n)
    return excess


GAPS: dict[Claim, Callable[[Sequence[int], Rationals], Fraction | float]] = {
    MEAN: mean_gap,
    MODE: mode_gap,
    PREDICTIVE: predictive_gap,
    UNITY: unity_gap,
}
