"""What a fitted model is to all of its methods."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_scalar

from bayesnb.blocks import Encoded, Unseen, encode
from bayesnb.families.base import Array
from bayesnb.frame import Column, Table, read_labels, read_table, read_weights, take_named
from bayesnb.posterior import Posterior
from bayesnb.same_rows import difference
from bayesnb.summary import Summary, label_codes
from bayesnb.tree import Layout, layout_of

EXACT_POSTERIOR = (
    'The exact posterior is that of to_pymc(X, y, likelihood="rows"), or of the labelled rows alone without the others.'
)


class Fitted:
    """What a fitted model is to its methods: the posterior, and the rows that it can read."""

    unseen: Unseen
    na_values: Sequence[str]
    classes_: Array
    statistics_: Summary
    _posterior: Posterior

    @property
    def _layout(self) -> Layout:
        check_is_fitted(self, "statistics_")
        return layout_of(self._posterior)

    def _encoded(self, X: Any) -> tuple[Table, list[Encoded]]:
        check_is_fitted(self, "statistics_")
        table = read_table(X).without(self.na_values)
        summary = self.statistics_
        if summary.is_named != table.is_named:
            warnings.warn(
                "X has column names, but NaiveBayes was fitted without: columns are taken by position."
                if table.is_named
                else "X does not have valid feature names, but NaiveBayes was fitted with feature names: "
                "columns are taken by position.",
                UserWarning,
                stacklevel=4,
            )
        return table, _arrays(self._posterior, summary, table, self.unseen)

    def _check_proper(self) -> None:
        check_is_fitted(self, "statistics_")
        if not self._posterior.is_proper:
            raise ValueError(
                "The posterior is improper: with a concentration of 0, a value that a label has not met has no density "
                "to draw from. Use a concentration above 0."
            )

    def _warn_if_too_sure(self) -> None:
        """Warn of what the posterior of expected labels makes of unlabelled rows, where its width matters."""
        if self.statistics_.expected_rows:
            warnings.warn(
                f"{self._expected_rows()}: intervals and draws are too sure. {EXACT_POSTERIOR}",
                UserWarning,
                stacklevel=3,
            )

    def _expected_rows(self) -> str:
        return f"{self.statistics_.expected_rows:g} unlabelled rows count as their expected labels, as if known"

    def _check_labelled(self, what: str) -> None:
        """Raise if rows without a label were fitted, for what has a closed form only where every label is known."""
        check_is_fitted(self, "statistics_")
        if self.statistics_.expected_rows:
            raise ValueError(f"{what} needs every label, but {self._expected_rows()}. {EXACT_POSTERIOR}")

    def _rows_with_labels(
        self, X: Any, y: Any, sample_weight: Any, *, of_training: bool
    ) -> tuple[Table, list[Encoded], Array, Array]:
        """Arrays, label codes and weights of rows for leave-one-out or a log score, without those of weight 0."""
        check_is_fitted(self, "statistics_")
        if of_training:
            self._check_labelled("Leave-one-out")
        if not self._posterior.has_proper_prior:
            raise ValueError(
                "Under a concentration of 0, values and labels that have not been met are impossible: a row that has "
                "one, or is the only one to have it and left out, has no log score. Use a concentration above 0."
            )
        table, labels, weight = self._read_rows(X, y, sample_weight)
        if of_training:
            self._check_training_rows(table, labels, weight)
        codes = label_codes(labels, self.statistics_.classes, table)
        table, encoded = self._encoded(table)
        return table, encoded, codes, np.ones(table.n_rows) if weight is None else weight

    def _read_rows(
        self, X: Any, y: Any, sample_weight: Any, *, may_lack: bool = False
    ) -> tuple[Table, Column, Array | None]:
        """Rows, labels and weights, without the rows of weight 0."""
        X, y, sample_weight = take_named(X, y, sample_weight)
        table = read_table(X).without(self.na_values)
        labels = read_labels(y, table.n_rows, may_lack=may_lack)
        if sample_weight is None:
            return table, labels, None
        weight = read_weights(sample_weight, table.n_rows)
        kept = weight > 0
        return table.take(kept), labels.take(kept), weight[kept]

    def _check_training_rows(self, table: Table, labels: Column, weight: Array | None) -> None:
        emptied = self.statistics_.emptied().with_levels_of(table)
        gap = difference(self.statistics_, emptied.met(table, labels, weight, self.unseen))
        if gap is not None:
            raise ValueError(
                f"X, y and sample_weight are not the rows that the model was fitted to: {gap}. Only a training row can "
                "be left out; score other rows with predict_log_proba, or calibration without leave_one_out."
            )


def _check_prob(prob: float) -> None:
    if not 0 < prob < 1:
        raise ValueError(f"prob, the probability of an interval, must lie between 0 and 1, not {prob!r}.")


def _check_sizes(least: int = 1, **sizes: int) -> None:
    for name, size in sizes.items():
        check_scalar(size, name, Integral, min_val=least)


def _arrays(posterior: Posterior, summary: Summary, table: Table, unseen: Unseen) -> list[Encoded]:
    """The arrays that every part reads."""
    return [
        part.encoded(encode(part.block, table, summary.positions(table, part.block), unseen))
        for part in posterior.parts
    ]
