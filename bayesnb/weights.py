"""Feature weights, the remedy for overconfidence: section 9 of the mathematics.

Dependent features repeat each other's evidence, and naive Bayes counts it each time. The posterior stays as it is;
the evidence is weighed at prediction, p(y given x) ∝ p(y) ∏_j p(x_j given y)^{w_j}, by weights that minimise the log loss
of the exact leave-one-out predictions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr
from scipy.optimize import minimize

from bayesnb.blocks import Encoded, shown
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.tree import coordinate

LEARNT = ("loo", "loo-shared")
MAX_CELLS = 1 << 24  # of evidence held at once, 128 MB; where all rows have more, a sample of the rows is taken
BLOCK_CELLS = 1 << 20  # of contributions computed at once
SEED = 0  # of the sample and of the folds
N_FOLDS = 5
PRECISIONS = (np.inf, *10.0 ** np.arange(3, -2, -0.5))  # weights are of order 1: spreads from none to about 6


@dataclass(frozen=True)
class Margins:
    """How far the left-out evidence of each row speaks for each rival label rather than for the row's own.

    ``offset`` (row, rival) comes from the label probabilities, ``evidence`` (row, rival, feature) from the features,
    ``weight`` (row,) from the sample weights. Under feature weights w, the log loss of a row is
    ln(1 + Σ_rivals exp(offset + evidence · w)): convex in w.
    """

    offset: Array
    evidence: Array
    weight: Array

    def take(self, rows: Array) -> Self:
        """Return the margins of some rows."""
        return type(self)(self.offset[rows], self.evidence[rows], self.weight[rows])

    def pooled(self) -> Self:
        """Return the margins for one weight that all features share."""
        return type(self)(self.offset, self.evidence.sum(2, keepdims=True), self.weight)

    def losses(self, w: Array) -> Array:
        """Return the log loss of each row in nats, (row,)."""
        return self._losses(w)[0]

    def _losses(self, w: Array) -> tuple[Array, Array]:
        """The log loss of each row, (row,), and the probabilities of the rivals, (row, rival)."""
        margin = self.offset + self.evidence @ w
        top = margin.max(1, initial=0.0)
        odds = np.exp(margin - top[:, None])
        total = np.exp(-top) + odds.sum(1)
        return top + np.log(total), odds / total[:, None]

    def objective(self, w: Array, centre: float, precision: float) -> tuple[float, Array]:
        """Return the total log loss plus (ρ/2) Σ_j (w_j − β)², and its gradient, (feature,)."""
        losses, rivals = self._losses(w)
        pull = precision * (w - centre)
        slope = (rivals * self.weight[:, None]).ravel() @ self._flat
        return float(self.weight @ losses + pull @ (w - centre) / 2), slope + pull

    def fit(self, centre: float, precision: float, start: Array | None = None) -> Array:
        """Return the weights, none negative, that minimise the objective: (feature,)."""
        start = np.full(self.evidence.shape[2], centre) if start is None else start
        unit = 1 / np.sqrt(self._curvature(start) + precision)  # about the same curvature along every axis

        def scaled(u: Array) -> tuple[float, Array]:
            value, gradient = self.objective(u * unit, centre, precision)
            return value, gradient * unit

        options = {"ftol": 1e-10, "gtol": 1e-5, "maxiter": 1000}
        found = minimize(
            scaled, start / unit, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start), options=options
        )
        return found.x * unit

    def fit_shared(self) -> float:
        """Return the best single weight under a Normal(1, 1) prior, which keeps it finite where no row is in doubt."""
        return float(self.pooled().fit(1.0, 1.0)[0])

    def path(self, precisions: Sequence[float]) -> Iterator[Array]:
        """Yield the weights for each precision, falling from inf: there all are the best single weight."""
        shared = self.fit_shared()
        w = np.full(self.evidence.shape[2], shared)
        for precision in precisions:
            w = w if np.isinf(precision) else self.fit(shared, precision, w)
            yield w

    @property
    def _flat(self) -> Array:
        return self.evidence.reshape(-1, self.evidence.shape[2])

    def _curvature(self, w: Array) -> Array:
        rivals = self._losses(w)[1]
        return np.einsum("i,ij,ij->j", (rivals * (1 - rivals) * self.weight[:, None]).ravel(), self._flat, self._flat)
