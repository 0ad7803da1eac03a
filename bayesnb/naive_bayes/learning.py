"""Learning: fit, partial_fit, forget, and models added up."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayesnb import engines
from bayesnb.blocks import Missing, distinct, in_order, shown
from bayesnb.families.base import Array
from bayesnb.frame import Column, Table, plain
from bayesnb.merging import check_same_parameters, remainder, union
from bayesnb.naive_bayes.fitted import Fitted, _arrays
from bayesnb.posterior import Posterior, posterior_of
from bayesnb.summary import Summary, label_codes
from bayesnb.tree import coordinate
from bayesnb.unlabelled import with_expected_labels
from bayesnb.weights import Rows, check_weights, weigh


class Learning(Fitted):
    """Rows to a posterior, and rows forgotten."""

    families: Any
    concentration: Any
    label_concentration: Any
    label_prob: Any
    missing: Missing
    unlabelled: Literal["error", "marginalize"]
    feature_weights: Any
    get_params: Callable[..., dict[str, Any]]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting what was learnt before.

        Parameters
        ----------
        X : data frame, array, sparse matrix or path, shape (row, column)
            A lazy or remote frame (Polars, DuckDB, Dask, PySpark, Ibis) and the path of a Parquet or CSV file are
            learnt from where they lie, by group-bys: only statistics are fetched.
        y : sequence, shape (row,), or str
            Labels of any hashable type but dates and times; those that a categorical type declares count whether seen
            or not. Or the name of the column of a frame that holds them. With ``unlabelled="marginalize"`` a label may
            be missing.
        sample_weight : sequence, shape (row,), or str, optional
            A weight of 2 is a repeated row; a row of weight 0 is as if it were not there. Or a column's name.

        Returns
        -------
        NaiveBayes
            The estimator itself.

        Raises
        ------
        ValueError
            If the table, a label or a weight can't be read, naming column, value and row; or no row has a label.
        TypeError
            If families holds what is no family, or y is a name and X has none.

        Warns
        -----
        UserWarning
            Of columns that do not vary: they are left out.
        sklearn.exceptions.ConvergenceWarning
            If EM, for unlabelled rows, has not reached the mode in 1,000 steps.

        Examples
        --------
        >>> table, label = [["r"], ["g"], ["r"], ["r"]], ["A", "B", None, None]
        >>> model = NaiveBayes(Categorical(), unlabelled="marginalize").fit(table, label)
        >>> model.predict_proba([["r"]]).round(2)  # without the last two rows 2/3, 1/3
        array([[0.69, 0.31]])
        """
        self._learn(X, y, sample_weight, classes=None, start=None, is_whole=True)
        silent = self._uninformative()
        if silent:
            warnings.warn(
                f"The columns {shown(silent)} do not vary: they say nothing about the label and are left out.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows; any batching gives the same as one fit.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : sequence, optional
            Labels that may come later, needed where the first batch does not have them all.

        Returns
        -------
        NaiveBayes
            The estimator itself; unchanged if the rows can't be read.

        Raises
        ------
        ValueError
            If the rows can't be read, naming column, value and row.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).partial_fit([["r"], ["r"]], ["A", "A"], classes=["A", "B"])
        >>> model.partial_fit([["g"]], ["B"]).predict_proba([["g"]]).round(2)
        array([[0.36, 0.64]])
        """
        return self._learn(X, y, sample_weight, classes, start=getattr(self, "statistics_", None), is_whole=False)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take back rows that were learnt from, as a sliding window does.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``. The prior, where it is the default, is that of the rows that stay.

        Returns
        -------
        NaiveBayes
            The estimator itself; unchanged if the rows can't be read.

        Raises
        ------
        ValueError
            If the model has not met so many rows of a label, or values of a column.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["r"], ["g"]], ["B", "A", "A", "B"])
        >>> model.forget([["r"]], ["B"]).predict_proba([["g"]]).round(2)
        array([[0.36, 0.64]])
        """
        check_is_fitted(self, "statistics_")
        emptied = self.statistics_.emptied()
        forgotten, _ = self._met(lambda table, _labels: emptied.with_levels_of(table), X, y, sample_weight)
        self._set(remainder(self.statistics_, forgotten), rows=None)
        return self

    def __add__(self, other: Self) -> Self:
        """Return a new model of the rows of both, the prior counted once."""
        check_is_fitted(self, "statistics_")
        check_is_fitted(other, "statistics_")
        check_same_parameters(self.get_params(), other.get_params())
        model = clone(self)
        model._set(union(self.statistics_, other.statistics_), rows=None)
        return model

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, start: Summary | None, *, is_whole: bool
    ) -> Self:
        self._check_parameters()
        may_lack = is_whole and self.unlabelled == "marginalize"
        summary, rows = self._met(
            lambda table, labels: self._start(table, labels, classes, start), X, y, sample_weight, may_lack=may_lack
        )
        self._set(summary, rows if is_whole else None)
        return self

    def _met(
        self,
        start: Callable[[Table, Column], Summary],
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        may_lack: bool = False,
    ) -> tuple[Summary, Callable[[Posterior], Rows] | None]:
        """The summary that starts from the kind of table and its labels, with the rows of X; and the rows, if here."""
        if engines.is_lazy(X):
            remote = engines.read_rows(X, y, sample_weight, self.na_values)
            return engines.met(start(remote.table, remote.labels), remote, self.unseen), None
        table, labels, weight = self._read_rows(X, y, sample_weight, may_lack=may_lack)
        if labels.missing is not None:
            return self._met_unlabelled(start, table, labels, weight), None
        summary = start(table, labels).met(table, labels, weight, self.unseen)

        def rows(posterior: Posterior) -> Rows:
            codes = label_codes(labels, summary.classes, table)
            weights = np.ones(table.n_rows) if weight is None else weight
            return _arrays(posterior, summary, table, self.unseen), codes, weights

        return summary, rows

    def _met_unlabelled(
        self, start: Callable[[Table, Column], Summary], table: Table, labels: Column, weight: Array | None
    ) -> Summary:
        """The summary of rows of which some lack a label."""
        lacking = np.asarray(labels.missing)
        if lacking.all():
            raise ValueError("No row has a label: each label needs rows that have it to be told from the others.")
        weight = np.ones(table.n_rows) if weight is None else weight
        named = replace(labels.take(~lacking), missing=None)
        labelled = start(table, named).met(table.take(~lacking), named, weight[~lacking], self.unseen)
        encoded = labelled.encoded(table.take(lacking), self.unseen)
        return with_expected_labels(labelled, encoded, weight[lacking], self._posterior_of)

    def _start(self, table: Table, labels: Column, classes: Any, start: Summary | None) -> Summary:
        """The summary that further rows are added to, with room for their labels."""
        declared = [*(() if classes is None else map(plain, classes)), *(labels.levels or ())]
        if start is not None:
            start = start.with_levels_of(table)
        else:
            declared = declared or list(distinct(labels))
            start = Summary.empty(table, self.families, in_order(set(declared)), self.missing)
        if len(labels.values) == 0 and not start.label_counts.any():
            raise ValueError("There is no row to learn from: X is empty, or every sample_weight is zero.")
        return start.with_classes(declared)

    def _check_parameters(self) -> None:
        if self.unseen not in ("error", "ignore"):
            raise ValueError(f'unseen must be "error" or "ignore", not {self.unseen!r}.')
        if self.missing not in ("ignore", "level", "error"):
            raise ValueError(f'missing must be "ignore", "level" or "error", not {self.missing!r}.')
        if isinstance(self.na_values, str) or not all(isinstance(value, str) for value in self.na_values):
            raise ValueError(f'na_values must be a sequence of texts such as ("?",), not {self.na_values!r}.')
        if self.unlabelled not in ("error", "marginalize"):
            raise ValueError(f'unlabelled must be "error" or "marginalize", not {self.unlabelled!r}.')
        check_weights(self.feature_weights)

    def _set(self, summary: Summary, rows: Callable[[Posterior], Rows] | None) -> None:
        """Take over a summary; the posterior follows from it and the priors, learnt feature weights from the rows."""
        self._take(summary, *weigh(self._posterior_of(summary), self.feature_weights, summary.names, rows))

    def _posterior_of(self, summary: Summary) -> Posterior:
        return posterior_of(summary, self.concentration, self.label_concentration, self.label_prob)

    def _take(self, summary: Summary, posterior: Posterior, weighing: dict[str, Any]) -> None:
        self._posterior, self._weighing = posterior, weighing
        self.statistics_ = summary
        self.classes_ = coordinate(summary.classes)
        self.n_features_in_ = len(summary.names)
        if summary.is_named and all(isinstance(name, str) for name in summary.names):
            self.feature_names_in_ = np.array(summary.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit

    def _uninformative(self) -> list[Any]:
        """Names of the columns that no part reads, in the order of the table."""
        read = {name for part in self._posterior.parts for name in part.features}
        return [name for name in self.statistics_.names if name not in read]
