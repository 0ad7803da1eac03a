"""Feature weights, the remedy for overconfidence: docs/mathematics/features.md.

Dependent features repeat each other's evidence, and naive Bayes counts it every time. The posterior stays as it is;
the evidence is weighed at prediction, p(y given x) ∝ p(y) ∏_j p(x_j given y)^{w_j}, by weights that minimise the log
loss of the exact leave-one-out predictions. Features that repeat each other share one weight, and how far weights may
spread about the best single one is chosen by cross-validation over these predictions: docs/decisions/feature-weights.md
says why.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import xarray as xr
from scipy.optimize import minimize
from scipy.special import softmax

from bayesnb.blocks import Encoded, shown
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.tree import coordinate

LEARNT = ("loo", "loo-shared")
MAX_CELLS = 1 << 23  # of evidence held at once, 64 MB; where all rows have more, a sample of the rows is taken
BLOCK_CELLS = 1 << 20  # of contributions computed at once
N_FOLDS = 5
PRECISIONS = 10.0 ** np.arange(4, -3, -1)  # 1/spread² of the weights, which are of order 1: spreads of 0.01 to 10

Rows = tuple[Sequence[Encoded], Array, Array]  # arrays of every part, label codes and sample weights


@dataclass(frozen=True)
class Margins:
    """How far the left-out evidence of each row speaks for each rival label rather than for the row's own.

    ``offset`` (row, rival) comes from the label probabilities, ``evidence`` (row, rival, feature) from the features,
    ``weight`` (row,) from the sample weights. Under feature weights w, the log loss of a row is
    ln(1 + Σ_rivals exp(offset + evidence · w)): convex in w. ``overlap`` (feature, feature) is 1 for features that
    repeat each other and 0 for those that do not depend on each other.
    """

    offset: Array
    evidence: Array
    weight: Array
    overlap: Array

    def take(self, rows: Array) -> Self:
        """Return the margins of some rows."""
        return type(self)(self.offset[rows], self.evidence[rows], self.weight[rows], self.overlap)

    def pooled(self) -> Self:
        """Return the margins for one weight that all features share, each with its share."""
        return type(self)(self.offset, (self.evidence @ self.share)[..., None], self.weight, np.ones((1, 1)))

    @cached_property
    def share(self) -> Array:
        """How much of each feature counts where all count once: 1, or 1/m for each of m copies, (feature,).

        What overlaps with a feature, itself among it, adds up to 1: S d = 1, as nearly as d ≥ 0 allows.
        """

        def objective(d: Array) -> tuple[float, Array]:
            total = self.overlap @ d
            return float(d @ total / 2 - d.sum()), total - 1

        return _least(objective, 1 / self.overlap.sum(1))

    def losses(self, w: Array) -> Array:
        """Return the log loss of each row in nats, (row,)."""
        return self._losses(w)[0]

    def _losses(self, w: Array) -> tuple[Array, Array]:
        """The log loss of each row, (row,), and the probabilities of the rivals, (row, rival)."""
        margin = self.offset + (self._flat @ w).reshape(self.offset.shape)
        top = margin.max(1, initial=0.0)
        odds = np.exp(margin - top[:, None])
        total = np.exp(-top) + odds.sum(1)
        return top + np.log(total), odds / total[:, None]

    def objective(self, w: Array, centre: float, precision: float) -> tuple[float, Array]:
        """Return the total log loss plus (ρ/2) (wᵀSw − 2β Σ_j w_j), S the overlap, and its gradient, (feature,)."""
        losses, rivals = self._losses(w)
        total = self.overlap @ w
        slope = (rivals * self.weight[:, None]).ravel() @ self._flat
        penalty = precision * (w @ total / 2 - centre * w.sum())
        return float(self.weight @ losses + penalty), slope + precision * (total - centre)

    def fit(self, centre: float, precision: float, start: Array | None = None) -> Array:
        """Return the weights, none negative, that minimise the objective: (feature,)."""
        start = centre * self.share if start is None else start
        unit = 1 / np.sqrt(self._curvature(start) + precision)  # about the same curvature along every axis

        def scaled(u: Array) -> tuple[float, Array]:
            value, gradient = self.objective(u * unit, centre, precision)
            return value, gradient * unit

        return _least(scaled, start / unit) * unit

    def fit_shared(self) -> float:
        """Return the best single weight under a Normal(1, 1) prior, which keeps it finite where no row is in doubt."""
        return float(self.pooled().fit(1.0, 1.0)[0])

    def path(self) -> Iterator[Array]:
        """Yield the weights for each of the precisions, about the best single weight."""
        shared, w = self.fit_shared(), None
        for precision in PRECISIONS:
            w = self.fit(shared, precision, w)
            yield w

    def expected_precision(self, y: Array) -> float:
        """Return exp E ln ρ over the precisions, each as probable as the rows that it predicts from other folds.

        The product of these predictions stands for the marginal likelihood (Geisser & Eddy 1979).
        """
        fold = self._folds(y)
        total = np.zeros(len(PRECISIONS))
        for number in range(N_FOLDS):
            held_out, rest = self.take(fold == number), self.take(fold != number)
            total -= [held_out.weight @ held_out.losses(w) for w in rest.path()]
        return float(np.exp(softmax(total) @ np.log(PRECISIONS)))

    def _folds(self, y: Array) -> Array:
        """The fold of each row, (row,): dealt out by label and strongest rival, whatever the order of the rows."""
        strongest = (self.offset + self.evidence @ self.share).max(1, initial=-np.inf)
        fold = np.empty(len(y), dtype=int)
        fold[np.lexsort((strongest, y))] = np.arange(len(y)) % N_FOLDS
        return fold

    @property
    def _flat(self) -> Array:
        return self.evidence.reshape(self.offset.size, self.evidence.shape[2])

    def _curvature(self, w: Array) -> Array:
        rivals = self._losses(w)[1]
        return np.einsum("i,ij,ij->j", (rivals * (1 - rivals) * self.weight[:, None]).ravel(), self._flat, self._flat)


def _least(objective: Callable[[Array], tuple[float, Array]], start: Array) -> Array:
    """Return where a convex function, given with its gradient, is least among vectors without negative elements."""
    options = {"ftol": 1e-10, "gtol": 1e-5, "maxiter": 1000}
    bounds = [(0, None)] * len(start)
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x


def check_weights(spec: object) -> None:
    """Raise unless ``feature_weights`` is None, the name of a way to learn them, or a mapping to numbers from 0."""
    if spec is None or (isinstance(spec, str) and spec in LEARNT):
        return
    if not isinstance(spec, Mapping):
        raise ValueError(f'feature_weights must be None, "loo", "loo-shared" or a mapping, not {spec!r}.')  # noqa: TRY004
    for name, weight in spec.items():
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(f"feature_weights: the weight of {name!r} must be finite and not negative, not {weight}.")


def weigh(
    posterior: Posterior, spec: Any, columns: Sequence[Hashable], rows: Callable[[Posterior], Rows] | None
) -> tuple[Posterior, dict[str, Any]]:
    """Return the posterior with the weights that ``feature_weights`` stands for, and how they came about.

    Parameters
    ----------
    posterior : Posterior
    spec : None, "loo", "loo-shared" or mapping
    columns : sequence
        Names of all columns, of those too that do not vary and so are no feature: a mapping may name them.
    rows : function or None
        Gives the training rows, where they are at hand.

    Raises
    ------
    ValueError
        If weights are to be learnt and the rows are not there or a concentration is 0, or a name is unknown.
    """
    if spec is None or not posterior.features:
        return posterior, {"method": "none"}
    if isinstance(spec, Mapping):
        return posterior.with_weights(_given(posterior, spec, columns)), {"method": "given"}
    if rows is None:
        raise ValueError(
            f"feature_weights={spec!r} learns from all rows at once, by fit on a table in memory with every label. To "
            "use elsewhere what it has learnt, give feature_weights=model.feature_weights_.to_series().to_dict()."
        )
    if not posterior.has_proper_prior:
        raise ValueError(
            f"feature_weights={spec!r} needs a concentration above 0: without the only row that has a value, the value "
            "is impossible."
        )
    return (_learnt_shared if spec == "loo-shared" else _learnt)(posterior, *rows(posterior))


def _given(posterior: Posterior, spec: Mapping[Any, float], columns: Sequence[Hashable]) -> Array:
    """The weights of a mapping, 1 where it names none: (feature,)."""
    read = {name for part in posterior.parts for name in part.features}
    known = {*posterior.features, *(name for name in columns if name not in read)}
    unknown = [name for name in spec if name not in known]
    if unknown:
        raise ValueError(
            f"feature_weights names {shown(unknown)}, which the model does not have; its features are "
            f"{shown(posterior.features)}."
        )
    return np.array([spec.get(name, 1.0) for name in posterior.features], dtype=float)


def _learnt_shared(
    posterior: Posterior, encoded: Sequence[Encoded], y: Array, weight: Array
) -> tuple[Posterior, dict[str, Any]]:
    labels = posterior.labels.log_prob_left_out(y, weight)
    evidence = posterior.log_joint_left_out(encoded, y, weight) - labels
    margins = Margins(_against_own(labels, y), _against_own(evidence, y)[..., None], weight, np.ones((1, 1)))
    shared = margins.fit_shared()
    weighted = posterior.with_weights(np.full(len(posterior.features), shared))
    return weighted, {"method": "loo-shared", "shared_weight": shared, "rows": len(y)}


def _learnt(
    posterior: Posterior, encoded: Sequence[Encoded], y: Array, weight: Array
) -> tuple[Posterior, dict[str, Any]]:
    n_rows = MAX_CELLS // max(1, (len(posterior.classes) - 1) * len(posterior.features))
    if n_rows < len(y):
        sample = np.sort(np.random.default_rng(0).choice(len(y), max(n_rows, 1), replace=False))
        encoded, y, weight = [arrays.take(sample) for arrays in encoded], y[sample], weight[sample]
    margins = margins_of(posterior, encoded, y, weight)
    shared, precision = margins.fit_shared(), margins.expected_precision(y)
    attrs = {"method": "loo", "shared_weight": shared, "precision": precision, "rows": len(y)}
    return posterior.with_weights(margins.fit(shared, precision)), attrs


def margins_of(posterior: Posterior, encoded: Sequence[Encoded], y: Array, weight: Array) -> Margins:
    """Return the margins of training rows, computed block by block."""
    n_labels, n_features = len(posterior.classes), len(posterior.features)
    evidence = np.zeros((len(y), n_labels - 1, n_features))
    step = max(1, BLOCK_CELLS // max(1, n_labels * n_features))
    for start in range(0, len(y), step):
        rows = slice(start, start + step)
        place = 0
        for part, arrays in zip(posterior.parts, encoded, strict=True):
            values = part.leave_one_out(arrays.take(rows), y[rows], weight[rows])
            evidence[rows, :, place : place + part.n_features] = _against_own(values, y[rows])
            place += part.n_features
    offset = _against_own(posterior.labels.log_prob_left_out(y, weight), y)
    return Margins(offset, evidence, weight, overlap_of(evidence, y, weight))


def overlap_of(evidence: Array, y: Array, weight: Array) -> Array:
    """Return the squared correlations, given the label, of the evidence of every two features: (feature, feature).

    The mean counts as one row, since evidence that never varies within a label can only be compared by it.
    """
    within = evidence.copy()
    for label in np.unique(y):
        rows = y == label
        within[rows] -= np.average(evidence[rows], axis=0, weights=weight[rows])
    within *= np.sqrt(weight)[:, None, None]
    flat, mean = within.reshape(-1, evidence.shape[2]), np.average(evidence, axis=0, weights=weight)
    products = flat.T @ flat + mean.T @ mean
    length = np.sqrt(np.diag(products))
    length[length == 0] = 1.0  # a feature without any evidence overlaps with no other
    squared = (products / length / length[:, None]) ** 2
    np.fill_diagonal(squared, 1.0)
    return squared


def _against_own(values: Array, y: Array) -> Array:
    """Values of every other label less those of the row's own: (row, rival, …) from (row, label, …)."""
    is_rival = np.arange(values.shape[1]) != y[:, None]
    gaps = values - values[np.arange(len(y)), y][:, None]
    return gaps[is_rival].reshape(len(y), values.shape[1] - 1, *values.shape[2:])


def labelled_weights(posterior: Posterior, attrs: Mapping[str, Any]) -> xr.DataArray:
    """Return the weights with the names of the features, (feature,)."""
    return xr.DataArray(
        posterior.weights, {"feature": coordinate(posterior.features)}, name="feature_weights", attrs=dict(attrs)
    )


def described_weights(weights: xr.DataArray) -> str:
    """Return the weights as text, the largest first; a weight of 0 reads as dropped."""
    if weights.method == "loo-shared":
        return f"feature weights ({weights.method}): {weights.shared_weight:.3g} each"
    pairs = sorted(zip(weights.feature.values.tolist(), weights.values, strict=True), key=lambda pair: -pair[1])
    kept = [f"{name!r} {w:.3g}" for name, w in pairs if w > 0]
    dropped = [name for name, w in pairs if w == 0]
    text = ", ".join(kept[:8]) + (", …" if len(kept) > 8 else "")
    return f"feature weights ({weights.method}): {text}" + (f"; dropped: {shown(dropped)}" if dropped else "")
