"""What must hold for every likelihood family: the examples, one or two a family, and the laws that run on each.

A new family needs an example here, and no test of its own for anything that follows from conjugacy. Every law starts
from a distribution ``start`` that it takes for the prior: once a prior, once a posterior that has met rows already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.testing import assert_allclose
from scipy import sparse, stats

from bayesnb import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Gaussian,
    Multinomial,
    NormalInverseGamma,
    Poisson,
    conjugacy,
)

N_LABELS = 3  # the last of them has no row


@dataclass(frozen=True)
class Example:
    """Rows of one family, a prior, and what SciPy calls their predictive distribution."""

    name: str
    family: Any
    prior: Any
    x: Any
    y: Any
    weight: Any
    oracle: Callable[[Any, Any], Any]  # (posterior, x) -> log predictive, axes as of cgf
    support: Any = None  # values whose probabilities add up to one, feature by feature
    observed: Any = None

    def rows(self, index: Any) -> Example:
        observed = None if self.observed is None else self.observed[index]
        return replace(self, x=self.x[index], y=self.y[index], weight=self.weight[index], observed=observed)

    def statistics(self, weight: Any = None) -> Any:
        return self.family.statistics(self.x, self.y, N_LABELS, weight, self.observed)

    def start(self, state: str) -> Any:
        """The prior in full shape ("prior"), or what it becomes once it has met the rows, weighted ("posterior")."""
        prior = conjugacy.full_prior(self.family, self.prior, self.statistics())
        return prior if state == "prior" else self.family.update(prior, self.statistics(self.weight))

    def cgf(self, posterior: Any, t: Any = 1.0, y: Any = None) -> Any:
        return self.family.cgf(posterior, self.x, t, y, self.observed)


# --- the examples -----------------------------------------------------------------------------------------------------

rng = np.random.default_rng(20)
N_ROWS = 12
Y = np.array([0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0], dtype=np.uint8)
WEIGHT = np.array([1, 2, 0.5, 1, 0.25, 3, 1, 1, 0, 1, 1.5, 1])
CELLS = rng.random((N_ROWS, 3)) < 0.7
ONES = rng.random((N_ROWS, 3)) < 0.4
CODES = rng.integers(0, 4, N_ROWS).astype(np.uint8)
MEASURES = rng.normal([3, -40, 1e3], [1, 10, 0.1], (N_ROWS, 3))
EVENTS = rng.poisson([0.5, 3, 40], (N_ROWS, 3)).astype(float)
WORDS = sparse.csr_array(rng.poisson([0.2, 1, 2, 0.6], (N_ROWS, 4)).astype(float))
DOCUMENTS_OF_3 = np.array([n for n in product(range(4), repeat=4) if sum(n) == 3], dtype=float)


def student_t(p: Any, x: Any) -> Any:
    scale = np.sqrt(p.scale * (p.pseudo_count + 1) / (p.shape * p.pseudo_count))
    return stats.t.logpdf(x[:, None], 2 * p.shape, p.location, scale)


def negative_binomial(p: Any, x: Any) -> Any:
    return stats.nbinom.logpmf(x[:, None], p.shape, p.rate / (p.rate + 1))


def beta_binomial(p: Any, x: Any) -> Any:
    return stats.betabinom.logpmf(dense(x)[:, None].astype(int), 1, p.a, p.b)


def dirichlet_multinomial(p: Any, counts: Any) -> Any:
    counts = dense(counts).astype(int)
    rows = [[stats.dirichlet_multinomial.logpmf(n, a, n.sum()) if n.any() else 0.0 for a in p.concentration]
            for n in counts]  # fmt: skip
    return np.array(rows)


def one_of_four(p: Any, x: Any) -> Any:
    return dirichlet_multinomial(p, np.eye(4)[x])


def dense(x: Any) -> Any:
    return x.toarray() if sparse.issparse(x) else x


BETA = Beta([1.5, 2, 0.7], [1, 3.5, 0.7])
DIRICHLET = Dirichlet([1.5, 2.0, 0.6, 1.0])
NIG = NormalInverseGamma([2, -30, 1e3], [1, 0.5, 2], [2.5, 3, 4], [2, 60, 0.05])
GAMMA = Gamma([1.5, 2, 3], [1, 0.7, 0.1])
NOUGHT_OR_ONE = np.repeat([[False], [True]], 3, axis=1)
TO_2000 = np.repeat(np.arange(2000.0)[:, None], 3, axis=1)

EXAMPLES = [
    Example("bernoulli", Bernoulli(), BETA, ONES, Y, WEIGHT, beta_binomial, NOUGHT_OR_ONE),
    Example("bernoulli, missing cells", Bernoulli(), BETA, ONES, Y, WEIGHT, beta_binomial, NOUGHT_OR_ONE, CELLS),
    Example("bernoulli, sparse", Bernoulli(), BETA, sparse.csr_array(ONES), Y, WEIGHT, beta_binomial, NOUGHT_OR_ONE),
    Example("categorical", Categorical(levels="abcd"), DIRICHLET, CODES, Y, WEIGHT, one_of_four, np.arange(4)),
    Example(
        *("categorical, missing cells", Categorical(levels="abcd"), DIRICHLET, CODES, Y, WEIGHT, one_of_four),
        *(np.arange(4), CELLS[:, 0]),
    ),
    Example("gaussian", Gaussian(), NIG, MEASURES, Y, WEIGHT, student_t),
    Example("gaussian, missing cells", Gaussian(), NIG, MEASURES, Y, WEIGHT, student_t, None, CELLS),
    Example("multinomial", Multinomial(), DIRICHLET, WORDS, Y, WEIGHT, dirichlet_multinomial, DOCUMENTS_OF_3),
    Example(
        *("multinomial, missing rows", Multinomial(), DIRICHLET, WORDS, Y, WEIGHT, dirichlet_multinomial),
        *(DOCUMENTS_OF_3, CELLS[:, 0]),
    ),
    Example("poisson", Poisson(), GAMMA, EVENTS, Y, WEIGHT, negative_binomial, TO_2000),
    Example("poisson, missing cells", Poisson(), GAMMA, EVENTS, Y, WEIGHT, negative_binomial, TO_2000, CELLS),
]


def same(first: Any, second: Any, rtol: float = 1e-12) -> None:
    """Assert that two distributions have the same parameters."""
    for field in fields(first):
        assert_allclose(getattr(first, field.name), getattr(second, field.name), rtol, err_msg=field.name)


# --- the laws ---------------------------------------------------------------------------------------------------------


def posterior_of_nothing_is_the_prior(e: Example, start: Any) -> None:
    # Suspects: `statistics` of no rows is not zero; `update` does more than add.
    assert e.family.update(start, e.rows(slice(0, 0)).statistics()) == start


def statistics_add(e: Example, start: Any) -> None:
    # Suspects: `__add__` (a Gaussian's common shift), `statistics` of a part that lacks a label.
    first, second = e.rows(slice(0, 5)).statistics(), e.rows(slice(5, None)).statistics()
    whole = e.family.update(start, e.statistics())
    same(e.family.update(start, first + second), whole)
    same(e.family.update(start, second + first), whole)
    same(e.family.update(e.family.update(start, first), second), whole)


def statistics_subtract(e: Example, start: Any) -> None:
    # Suspects: `__sub__` (a Gaussian's common shift when counts are taken away).
    first, second = e.rows(slice(0, 5)).statistics(), e.rows(slice(5, None)).statistics()
    same(e.family.update(start, (first + second) - second), e.family.update(start, first), 1e-10)


def rows_have_no_order(e: Example, start: Any) -> None:
    # Suspects: y, weight or observed indexed apart from x.
    shuffled = e.rows(np.random.default_rng(1).permutation(N_ROWS))
    same(e.family.update(start, shuffled.statistics(shuffled.weight)), e.family.update(start, e.statistics(e.weight)))


def statistics_are_sums_of_row_statistics(e: Example, start: Any) -> None:
    # Suspects: `row_statistics` (its mask), the sums by label (blocks, dtypes), `pooled`.
    single = e.family.row_statistics(e.x, e.observed) * e.weight
    for label in range(N_LABELS):
        mine = single.map(lambda a, rows=e.y == label: a[rows, 0])
        total = sum(
            (mine.map(lambda a, i=i: a[[i]]) for i in range(1, (e.y == label).sum())), mine.map(lambda a: a[:1])
        )
        of_label = e.statistics(e.weight).map(lambda a, k=label: a[[k]])
        part = start.map(lambda a, k=label: a[[k]])
        if (e.y == label).any():
            same(e.family.update(part, total), e.family.update(part, of_label))
    pooled = e.rows(slice(None))
    pooled = replace(pooled, y=np.zeros_like(e.y)).statistics(e.weight).map(lambda a: a[:1])
    part = start.map(lambda a: a[:1])
    same(e.family.update(part, e.statistics(e.weight).pooled()), e.family.update(part, pooled))


def weight_two_is_a_repeated_row(e: Example, start: Any) -> None:
    # Suspects: a sum that forgets the weight; the log base measure.
    repeated, twice = e.rows(np.repeat(np.arange(N_ROWS), 2)).statistics(), e.statistics(np.full(N_ROWS, 2.0))
    for other in (twice, e.statistics() * 2.0, e.statistics() + e.statistics()):
        same(e.family.update(start, other), e.family.update(start, repeated))
        assert_allclose(other.log_base, repeated.log_base)


def fractional_weights_add(e: Example, start: Any) -> None:
    # Suspects: as above, and integer arithmetic.
    share = np.linspace(0, 1, N_ROWS)
    parts = e.statistics(share * e.weight) + e.statistics((1 - share) * e.weight)
    same(e.family.update(start, parts), e.family.update(start, e.statistics(e.weight)))
    counted = e.weight > 0
    same(
        e.family.update(start, e.statistics(e.weight)),
        e.family.update(start, e.rows(counted).statistics(e.weight[counted])),
    )


def chain_of_predictives_is_the_evidence(e: Example, start: Any) -> None:
    # Suspects: `cgf` at 1, `log_normalizer`, the log base measure, `update`.
    posterior, chain = start, 0.0
    for i in range(N_ROWS):
        row = e.rows(slice(i, i + 1))
        chain += row.cgf(posterior, 1.0, row.y).sum()
        posterior = e.family.update(posterior, row.statistics())
    assert_allclose(chain, conjugacy.log_evidence(e.family, start, e.statistics()).sum(), 1e-11)


def predictives_sum_to_one(e: Example, start: Any) -> None:
    # Suspects: `cgf` at 1; a base measure that is forgotten.
    if e.support is not None:
        assert_allclose(np.exp(e.family.cgf(start, e.support)).sum(0), 1, 1e-11)


def predictive_agrees_with_scipy(e: Example, start: Any) -> None:
    # Suspects: `cgf` at 1 (degrees of freedom, scale), the mask.
    expected = e.oracle(start, e.x)
    if e.observed is not None:
        expected = np.where(e.observed[:, None], expected, 0)
    assert_allclose(e.cgf(start), expected, 1e-10, 1e-12)


def cgf_is_a_difference_of_normalizers(e: Example, start: Any) -> None:
    # Suspects: `cgf` at a t other than 1; with y, the label picked or the mask.
    row, t_of_row = np.arange(N_ROWS), np.linspace(-0.9, 2, N_ROWS)
    met = e.family.update(start, e.statistics())
    for t in (0.0, 0.3, 1.0, 2.5):
        expected = conjugacy.cgf_from_normalizer(e.family, met, e.x, t, e.observed)
        assert_allclose(e.cgf(met, t), expected, 1e-9, 1e-11)
        assert_allclose(e.cgf(met, t, e.y), expected[row, e.y], 1e-9, 1e-11)
    for i, of_row in enumerate(e.cgf(met, t_of_row, e.y)):  # a row that was met can be taken away: t from −1 on
        one, label = e.rows(slice(i, i + 1)), slice(e.y[i], e.y[i] + 1)
        mine = met.map(lambda a, label=label: a[label])
        expected = conjugacy.cgf_from_normalizer(e.family, mine, one.x, t_of_row[i], one.observed)
        assert_allclose(of_row, expected[0, 0], 1e-9, 1e-11)


def cumulants_are_derivatives(e: Example, start: Any) -> None:
    # Suspects: `cumulants`. Of a row that was met, K is analytic within 1 of t = 0, so that the polynomial through its
    # values at 20 points of (−0.3, 0.3) has all four derivatives to about 1e-9.
    met = e.family.update(start, e.statistics())
    cumulants = e.family.cumulants(met, e.x, e.observed)[:, np.arange(N_ROWS), e.y].reshape(4, -1)
    points = 0.3 * np.cos(np.pi * (np.arange(20) + 0.5) / 20)
    values = np.array([e.cgf(met, t, e.y).ravel() for t in points])
    for cumulant, of_cell in zip(cumulants.T, values.T, strict=True):
        polynomial = Chebyshev.fit(points, of_cell, 19, [-0.3, 0.3])
        assert_allclose(cumulant, [polynomial.deriv(order)(0) for order in range(1, 5)], 1e-6, 1e-6)


def cumulants_agree_with_draws(e: Example, start: Any) -> None:
    # Suspects: `cumulants`, `log_likelihood`, `draw`; unbiased estimates from 200 batches, within 4 standard errors.
    n_batches, size = 200, 500
    draws = start.draw(np.random.default_rng(5), (n_batches * size,))
    row = e.rows(slice(1, 2))
    cumulants = e.family.cumulants(start, row.x, row.observed)[:, 0]
    for label in range(N_LABELS):
        theta = {name: array[:, label] for name, array in draws.items()}  # a draw stands where a label stands
        values = e.family.log_likelihood(theta, row.x, row.observed)[0].reshape(n_batches, size, -1)
        for order in range(1, 5):
            estimates = stats.kstat(values, order, axis=1)
            error = estimates.std(0, ddof=1) / np.sqrt(n_batches)
            assert (np.abs(estimates.mean(0) - cumulants[order - 1, label]) <= 4 * error + 1e-12).all(), (label, order)


def leaving_one_out_is_refitting(e: Example, start: Any) -> None:
    # Suspects: `cgf` with y at 1 − w and −w; `conjugacy.leave_one_out`.
    for weight in (None, np.where(e.weight > 0, e.weight, 1)):
        posterior = e.family.update(start, e.statistics(weight))
        left_out = conjugacy.leave_one_out(e.family, posterior, e.x, e.y, weight, e.observed)
        for i in range(N_ROWS):
            others = np.arange(N_ROWS) != i
            refit = e.family.update(start, e.rows(others).statistics(None if weight is None else weight[others]))
            expected = e.rows(slice(i, i + 1)).cgf(posterior)[0]
            expected[e.y[i]] = e.rows(slice(i, i + 1)).cgf(refit)[0, e.y[i]]
            assert_allclose(left_out[i], expected, 1e-10, 1e-10)


def score_is_the_sum_of_predictives(e: Example, start: Any) -> None:
    # Suspects: the fast path of `score`, its blocks.
    predictive = e.cgf(start)
    expected = predictive if predictive.ndim == 2 else predictive.sum(-1)
    assert_allclose(e.family.score(start, e.x, e.observed), expected, 1e-12, 1e-12)


def unobserved_cells_count_for_nothing(e: Example, start: Any) -> None:
    # Suspects: a sum or a look-up before the mask.
    if e.observed is None:
        return
    changed = replace(e, x=e.x[::-1].copy())
    hidden = ~e.observed
    if sparse.issparse(e.x):
        changed = replace(e, x=sparse.csr_array(np.where(hidden[:, None], e.x.toarray()[::-1], e.x.toarray())))
    else:
        changed = replace(e, x=np.where(hidden, changed.x, e.x).astype(e.x.dtype))
    same(e.family.update(start, changed.statistics(e.weight)), e.family.update(start, e.statistics(e.weight)))
    assert_allclose(changed.cgf(start), e.cgf(start), 1e-13)
    assert_allclose(changed.cgf(start, 0.3, e.y), e.cgf(start, 0.3, e.y), 1e-13)
    assert not e.cgf(start).swapaxes(1, -1)[hidden].any()
    assert not e.family.cumulants(start, e.x, e.observed).swapaxes(2, -1)[:, hidden].any()
    nowhere = replace(e, observed=np.zeros_like(e.observed))
    same(e.family.update(start, nowhere.statistics(e.weight)), start)


def dense_and_sparse_agree(e: Example, start: Any) -> None:
    # Suspects: `_sparse_score`, `sum_by_label` of a sparse matrix.
    if not sparse.issparse(e.x):
        return
    other = replace(e, x=dense(e.x))
    same(e.family.update(start, other.statistics(e.weight)), e.family.update(start, e.statistics(e.weight)))
    assert_allclose(other.cgf(start), e.cgf(start), 1e-13)
    assert_allclose(e.family.score(start, other.x, e.observed), e.family.score(start, e.x, e.observed), 1e-13)


def maximum_likelihood_is_the_limit_of_much_data(e: Example, start: Any) -> None:
    # Suspects: `maximum_likelihood`, `mean` and `mode` of the prior.
    statistics = e.statistics(e.weight)
    posterior = e.family.update(start, statistics * 1e10)
    for name, estimate in e.family.maximum_likelihood(statistics).items():
        assert np.isnan(estimate[2]).all()  # the label without rows
        assert_allclose(posterior.mean()[name][:2], estimate[:2], 1e-6, 1e-8)
        assert_allclose(posterior.mode()[name][:2], estimate[:2], 1e-6, 1e-8)


LAWS = [
    posterior_of_nothing_is_the_prior,
    statistics_add,
    statistics_subtract,
    rows_have_no_order,
    statistics_are_sums_of_row_statistics,
    weight_two_is_a_repeated_row,
    fractional_weights_add,
    chain_of_predictives_is_the_evidence,
    predictives_sum_to_one,
    predictive_agrees_with_scipy,
    cgf_is_a_difference_of_normalizers,
    cumulants_are_derivatives,
    cumulants_agree_with_draws,
    leaving_one_out_is_refitting,
    score_is_the_sum_of_predictives,
    unobserved_cells_count_for_nothing,
    dense_and_sparse_agree,
    maximum_likelihood_is_the_limit_of_much_data,
]
