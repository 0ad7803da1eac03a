"""The contract of a likelihood family, and the sums by label that the families share."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from bayesnb.priors import Beta, Dirichlet, Parameters, Prior

Array = NDArray[Any]
CumulantScorer = Callable[[Any, Array | None], Array]
STIRLING_FROM = 100.0  # above it, Stirling's series to z⁻⁵ is exact to rounding (next term 6e-18)
SAME = 1e-9  # relative difference below which sums are of the same rows: order and batches cost some 1e-12
ORDERS = np.arange(1, 5)[:, None]  # of the cumulants that are kept
LARGEST = np.float64(1e150)  # the squares of larger numbers overflow; a Python float would become a float32 with x
BLOCK_CELLS = 1 << 16  # cells of one block of work: its arrays stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sufficient statistics of rows by label: they add, subtract, and multiply by a weight.

    Every array has the label on its first axis, then the feature or the level;
    of single rows (``Family.row_statistics``), the row comes before and the label axis has length one.
    """

    def _combine(self, function: Callable[..., Any], *others: Self) -> Self:
        return type(self)(*(function(*(getattr(s, f.name) for s in (self, *others))) for f in fields(self)))

    def __add__(self, other: Self) -> Self:
        return self._combine(operator.add, other)

    def __sub__(self, other: Self) -> Self:
        return self._combine(operator.sub, other)

    def __mul__(self, weight: float | Array) -> Self:
        """Statistics of every row repeated ``weight`` times; an array broadcasts against the leading axes."""
        return self._combine(lambda a: a * against(weight, a))

    def pooled(self) -> Self:
        """Return the sum over labels, the label axis kept with length one."""
        return self._combine(lambda a: a.sum(0, keepdims=True))

    def map(self, function: Callable[[Array], Array]) -> Self:
        """Apply one function to every array: an index, a broadcast, a reordering."""
        return self._combine(function)

    def beside(self, *others: Self) -> Self:
        """Return the statistics of several features together, side by side on the last axis."""
        return type(self)(*(np.concatenate([getattr(s, f.name) for s in (self, *others)], -1) for f in fields(self)))

    def above(self, *others: Self) -> Self:
        """Return the statistics of several labels together, one below the other on the first axis."""
        return type(self)(*(np.concatenate([getattr(s, f.name) for s in (self, *others)]) for f in fields(self)))

    def agrees_with(self, other: Self) -> bool:
        """Whether two statistics are the same but for rounding, as those of the same rows in another order are."""
        return all(
            np.allclose(getattr(self, f.name), getattr(other, f.name), rtol=SAME, atol=SAME) for f in fields(self)
        )

    @property
    def log_base(self) -> Array | float:
        """Σ log h(x) of the rows, the part of the likelihood that no parameter touches."""
        return 0.0


class Family(ABC):
    """A likelihood with its conjugate prior: all that the rest of the package asks of it.

    A family sees arrays only. ``x`` is (row, feature), or (row,) of level codes for a Categorical; ``y`` holds label
    codes; ``observed``, where given, is False at cells to leave out: their statistic is the empty one. Results have
    the axes (row, label, feature); a family whose value is a whole row (``whole_row``) or a single column of codes has
    no feature axis.
    """

    prior: Any
    missing: Any = None  # what a missing cell is, one of missing_choices; None: what the model says
    missing_choices: ClassVar[tuple[str, ...]] = ("ignore", "error")
    prior_type: ClassVar[type[Prior]]
    whole_row: ClassVar[bool] = False
    name: ClassVar[str]
    support: ClassVar[str] = "finite numbers of size below 1e150"  # the values that ``takes`` takes, in words
    parameters: ClassVar[tuple[str, ...]]  # by the names that trees have them under

    def __post_init__(self) -> None:
        """Refuse a prior of another family; keep an array as a tuple, so that equal families are equal."""
        is_concentration = not isinstance(self.prior, Prior) and self.prior_type in (Beta, Dirichlet)
        is_of_family = self.prior is None or is_concentration or isinstance(self.prior, self.prior_type)
        if not (is_of_family or callable(self.prior)):
            raise TypeError(f"The prior of a {self.name} is a {self.prior_type.__name__}, not {self.prior!r}.")
        if isinstance(self.prior, np.ndarray | list):
            object.__setattr__(self, "prior", tuple(np.asarray(self.prior).tolist()))
        if self.missing not in (None, *self.missing_choices):
            choices = " or ".join(f'"{choice}"' for choice in self.missing_choices)
            raise ValueError(f"{self.name}: missing must be {choices}, not {self.missing!r}.")

    def takes(self, x: Array) -> Array:
        """Return whether each value has a likelihood, elementwise."""
        return np.abs(x) < LARGEST

    @abstractmethod
    def resolve_prior(self, concentration: object, statistics: Any, values: Sequence[Any]) -> Prior:
        """Return the prior that the family's ``prior`` stands for, fixed from the statistics where it is the default.

        ``concentration`` is what None stands for in a family of probabilities, ``values`` what its last axis counts.
        """

    def is_informative(self, statistics: Any) -> Array:
        """Return which features can tell labels apart at all: (feature,)."""
        return np.ones(next(iter(vars(statistics).values())).shape[-1], dtype=bool)

    @abstractmethod
    def statistics(
        self, x: Any, y: Array, n_labels: int, weight: Array | None = None, observed: Array | None = None
    ) -> Statistics:
        """Return the statistics of the rows, summed by label."""

    @abstractmethod
    def row_statistics(self, x: Any, observed: Array | None = None) -> Statistics:
        """Return the statistics of each row by itself: axes (row, 1, feature or level)."""

    @abstractmethod
    def update(self, prior: Prior, statistics: Any) -> Prior:
        """Return η ⊕ s: the posterior of a prior that meets the statistics."""

    @abstractmethod
    def cgf(
        self, posterior: Any, x: Any, t: float | Array = 1.0, y: Array | None = None, observed: Array | None = None
    ) -> Array:
        """Return K(t), the cumulant generating function of log p(x given θ) over the posterior.

        K(1) is the exact log predictive. With ``y``, each row meets its own label only, the label axis is dropped
        and t may differ by row.
        """

    @abstractmethod
    def cumulants(self, posterior: Any, x: Any, observed: Array | None = None) -> Array:
        """Return the first four cumulants of log p(x given θ) over the posterior: (4, row, label, feature)."""

    @abstractmethod
    def log_likelihood(self, parameters: Parameters, x: Any, observed: Array | None = None) -> Array:
        """Return log p(x given θ) for parameters with the label on their first axis."""

    @abstractmethod
    def design(self, posterior: Any, x: Any, observed: Array | None = None) -> Any:
        """Return what of x the likelihood depends on, s(x), as a matrix (row, m).

        With ``natural`` it gives log p(x given θ) as a product of matrices, all rows, labels and draws at once, but for
        what is the same for every label. The posterior fixes the origin and the unit, so that float32 is enough. m
        counts one term after the other, each with all features; but for whole rows, the last term is ``observed``.
        """

    @abstractmethod
    def natural(self, posterior: Any, parameters: Parameters) -> Array:
        """Return the natural parameters that belong to the columns of ``design``: (..., label, m)."""

    def draw_natural(self, posterior: Any, rng: np.random.Generator, size: tuple[int, ...]) -> Array:
        """Return exact draws of the natural parameters: (*size, label, m)."""
        return self.natural(posterior, posterior.draw(rng, size))

    @abstractmethod
    def maximum_likelihood(self, statistics: Any) -> Parameters:
        """Return the maximum-likelihood estimates; nan where there is none."""

    @abstractmethod
    def observe(self, stem: str, parameters: Parameters, statistics: Any, dims: tuple[str, ...]) -> None:
        """Observe the statistics of one feature, (label,) or (label, level), in the PyMC model on the stack.

        ``parameters`` are the model's own variables, with the dimensions ``dims``. As a function of them, the
        likelihood is that of the rows, up to a constant factor.
        """

    @abstractmethod
    def simulate(self, rng: np.random.Generator, parameters: Parameters, tokens: Array) -> Array:
        """Return random values x for parameters that have the row in place of the label, sample axes in front.

        ``tokens``, (row,), is how many a row has, for a family that takes that as given.
        """

    @abstractmethod
    def row_distribution(self, parameters: Parameters, x: Array) -> tuple[str, dict[str, Any]]:
        """Return the name of PyMC's distribution of the values x of one feature, and its arguments.

        ``parameters`` broadcast against x: those of each row, or with x (row, 1) those of every label.
        """

    def score(self, posterior: Any, x: Any, observed: Array | None = None, weights: Array | None = None) -> Array:
        """Return the log predictive summed over the features: (row, label).

        With ``weights``, (feature,) or (1,) for a family without a feature axis, each feature's counts so many times.
        """
        return blocked(lambda x, seen: weighted(self.cgf(posterior, x, observed=seen), weights).sum(-1), x, observed)

    def score_at(
        self, parameters: Parameters, x: Any, observed: Array | None = None, weights: Array | None = None
    ) -> Array:
        """Return log p(x given θ) summed over the features, weighted as ``score`` is: (row, label)."""

        def block(x: Any, seen: Array | None) -> Array:
            values = self.log_likelihood(parameters, x, seen)
            return weighted(values if values.ndim == 3 else values[..., None], weights).sum(-1)

        return blocked(block, x, observed)

    def cumulant_scorer(self, posterior: Any, contrast: Array, weights: Array | None = None) -> CumulantScorer:
        """Return a function of blocks (x, observed): four cumulants of sums over the features, (row, 4, column).

        Of Σ w·log p(x given θ), the r-th cumulants of the labels times ``contrast``, (4, label, column), are added. The
        r-th cumulant of a weighted term is w^r times its own; those of the independent features add.
        """
        powers = np.ones((4, 1)) if weights is None else weights**ORDERS

        def cumulants(x: Any, observed: Array | None) -> Array:
            values = self.cumulants(posterior, x, observed)
            values = values if values.ndim == 4 else values[..., None]
            by_label = np.einsum("rnkf,rf->rnk", values, np.broadcast_to(powers, (4, values.shape[-1])))
            return (by_label @ contrast).swapaxes(0, 1)

        return cumulants


def log_positive(prob: Array) -> Array:
    """Return ln p, that of a probability that underflowed to 0 as of the smallest float: it was at most that."""
    return np.log(np.maximum(prob, np.finfo(float).tiny))


def weighted(values: Array, weights: Array | None) -> Array:
    """Return values times the weight of their feature, the last axis; a weight of 0 drops even an infinite one."""
    if weights is None:
        return values
    return np.multiply(values, weights, out=np.zeros(values.shape), where=weights > 0)


def blocked(function: Callable[[Any, Array | None], Array], x: Any, observed: Array | None) -> Array:
    """Apply a function of (rows of x, rows of observed) block by block and return the rows together."""
    step = max(1, BLOCK_CELLS // max(1, x[:1].size))
    if x.shape[0] <= step:
        return function(x, observed)
    parts = (slice(i, i + step) for i in range(0, x.shape[0], step))
    return np.concatenate([function(x[rows], None if observed is None else observed[rows]) for rows in parts])


def label_blocks(y: Array, n_labels: int, weight: Array | None, width: int) -> Iterator[tuple[slice, Array]]:
    """Yield row slices with their (label, row) matrix of weights, so that ``matrix @ x`` sums x by label."""
    step = max(256, BLOCK_CELLS // max(1, width))
    dtype = np.float32 if weight is None else np.float64
    labels = np.arange(n_labels, dtype=y.dtype)[:, None]
    for start in range(0, len(y), step):
        rows = slice(start, start + step)
        indicator = (labels == y[rows]).astype(dtype)
        yield rows, indicator if weight is None else indicator * weight[rows]


def sum_by_label(x: Any, y: Array, n_labels: int, weight: Array | None = None) -> Array:
    """Return the sums of the columns of x, dense or sparse, over the rows of each label: (label, column)."""
    if sparse.issparse(x):
        weight = np.ones(len(y)) if weight is None else weight
        indicator = sparse.csr_array((weight, (y, np.arange(len(y)))), shape=(n_labels, len(y)))
        return np.asarray((indicator @ x).todense(), dtype=float)
    total = np.zeros((n_labels, x.shape[1]))
    for rows, indicator in label_blocks(y, n_labels, weight, x.shape[1]):
        exact = indicator.dtype if x.dtype.itemsize == 1 else total.dtype  # 65,536 bytes add up exactly in float32
        total += indicator @ x[rows].astype(exact)
    return total


def matmul_log(x: Any, log_table: Array) -> Array:
    """Return x @ log_tableᵀ with 0 · −inf = 0: what has not happened does not count, however impossible it is."""
    possible = np.isfinite(log_table)
    if possible.all():
        return np.asarray(x @ log_table.T)
    score = np.asarray(x @ np.where(possible, log_table, 0.0).T)
    for value, places in ((-np.inf, np.isneginf(log_table)), (np.nan, np.isnan(log_table))):
        score[np.asarray(x @ places.T.astype(float)) > 0] = value
    return score


def log_ratio(part: Array, whole: Array) -> Array:
    """Return a difference of logarithms; nan is meant for 0/0, a label without rows under a concentration of 0."""
    with np.errstate(invalid="ignore"):
        return part - whole


def observe_counts(name: str, prob: Any, counts: Array, dims: tuple[str, ...]) -> None:
    """Observe counts, (..., level), of values with probabilities of the same shape in the PyMC model on the stack."""
    import pymc as pm

    if is_whole(counts):
        pm.Multinomial(name, counts.sum(-1).astype(int), prob, observed=counts.astype(int), dims=dims)
    else:  # fractional weights
        pm.Potential(name, (counts * pm.math.log(prob)).sum())


def is_count(x: Array) -> Array:
    """Return whether each value is a whole number from 0."""
    return (x >= 0) & (np.floor(x) == x) & np.isfinite(x)


def is_whole(counts: Array) -> bool:
    """Whether all counts are whole numbers, as PyMC's discrete distributions need them."""
    return bool((counts == np.floor(counts)).all())


def laid_out(
    posterior: Any, x: Array, t: float | Array, y: Array | None = None, observed: Array | None = None
) -> tuple[Any, Array, Array]:
    """Return parameters, cells and t that broadcast to (row, label, feature), or with y to (row, feature).

    With y, t is 0 where a cell is not observed, as K(0) = 0.
    """
    if y is None:
        return posterior.map(lambda a: a[None]), x[:, None, :], np.asarray(t)
    t = np.broadcast_to(np.asarray(t, float)[..., None], x.shape)
    return posterior.map(lambda a: a[y]), x, t if observed is None else t * observed


def only(values: Array, observed: Array | None) -> Array:
    """Return (…, row, label, feature) values with those of unobserved (row, feature) cells set to 0."""
    return values if observed is None else np.where(observed[:, None], values, 0.0)


def against(weight: float | Array, array: Array) -> Array:
    """Return a weight reshaped so that its axes meet the leading axes of the array."""
    weight = np.asarray(weight)
    return weight.reshape(weight.shape + (1,) * (array.ndim - weight.ndim))


def log_rising(a: Array, n: float | Array) -> Array:
    """Return lnΓ(a + n) − lnΓ(a): a logarithm where n is 1 or −1, and never a difference of two large numbers."""
    a, n = np.broadcast_arrays(np.asarray(a, float), np.asarray(n, float))
    with np.errstate(divide="ignore"):  # ln 0 = -inf is the logarithm of something impossible, and meant
        if (n == 1).all():
            return np.log(a)
        if (n == -1).all():
            return -np.log(a - 1)
    a = np.where(n == 0, 1.0, a)  # Γ(0) is infinite, but nothing more rises by nothing
    large = np.minimum(a, a + n) > STIRLING_FROM
    if not large.any():
        return gammaln(a + n) - gammaln(a)
    return np.where(
        large, _stirling_rising(np.where(large, a, 1e3), np.where(large, n, 0.0)), gammaln(a + n) - gammaln(a)
    )


def _stirling_rising(a: Array, n: Array) -> Array:
    """lnΓ(a + n) − lnΓ(a) where both are large; a + n is never taken back from a, which would round n away."""
    tails = _stirling_tail(a + n) - _stirling_tail(a)
    return (a - 0.5) * np.log1p(n / a) + n * (np.log(a + n) - 1) + tails


def _stirling_tail(z: Array) -> Array:
    return (1 / 12 - (1 / 360 - (1 / 1260) / z**2) / z**2) / z
