"""NaiveBayes, the scikit-learn estimator: the only class that changes after it is made."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import xarray as xr
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bayesnb.blocks import Encoded, Unseen, encode, in_order, shown
from bayesnb.families import Bernoulli, Categorical, Multinomial
from bayesnb.families.base import Array
from bayesnb.frame import Table, read_labels, read_table, read_weights
from bayesnb.posterior import Part, posterior_of
from bayesnb.summary import Summary
from bayesnb.tree import Layout, coordinate, layout_of

Estimate = Literal["mean", "mode", "mle"]


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes as a generative model: exact conjugate posterior, exact predictions, and draws of both.

    Parameters
    ----------
    families : Family, mapping or None, default None
        How columns are read. One family for all; or a mapping from a column name (for an array: its position), or a
        tuple of them, to a family. Columns that it does not name, and all with None, are read by their type: numbers
        as Gaussian(), text and categories as Categorical(), booleans as Bernoulli().
    concentration : number or str, default 1.0
        The λ of every Dirichlet and Beta prior that a family does not set: a number, "laplace" (1), "jeffreys" (½) or
        "perks" (1/number of values). 0 is maximum likelihood: point predictions, but no draws.
    label_concentration : number, str, array_like or mapping, default 1.0
        The λ of the label probabilities, or one for each label.
    label_prob : array_like or mapping, optional
        Known label probabilities, such as the prevalence of a disease, in place of learnt ones. They add up to 1.
    unseen : {"error", "ignore"}, default "error"
        Whether a categorical value that is not among the levels is an error, or treated as a missing cell.

    Attributes
    ----------
    classes_ : ndarray, shape (label,)
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray, shape (n_features_in_,)
        Names of the columns, where all are strings.
    statistics_ : Summary
        All that the model keeps of the rows: labels, counts, and the sufficient statistics of every block.
    posterior_ : dict
        The posterior of the label probabilities, by the key "label", and of every feature by its name, of a block of
        features by the tuple of their names; a feature that is itself called "label" is "label_", as in draws.

    Notes
    -----
    A missing cell is left out of the product for its feature, in training and in prediction.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"colour": ["red", "red", "green", "green", "green"]})
    >>> model = NaiveBayes().fit(table, ["A", "A", "A", "B", "B"])
    >>> model.predict_proba(table.iloc[:1]).round(4)
    array([[0.7742, 0.2258]])
    """

    def __init__(
        self,
        families: Any = None,
        *,
        concentration: Any = 1.0,
        label_concentration: Any = 1.0,
        label_prob: Any = None,
        unseen: Unseen = "error",
    ) -> None:
        self.families = families
        self.concentration = concentration
        self.label_concentration = label_concentration
        self.label_prob = label_prob
        self.unseen = unseen

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.sparse = isinstance(self.families, Bernoulli | Multinomial)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting what was learnt before.

        Parameters
        ----------
        X : data frame, array or sparse matrix, shape (row, column)
        y : sequence, shape (row,)
            Labels of any hashable type; those that a categorical type declares count whether seen or not.
        sample_weight : sequence, shape (row,), optional
            A weight of 2 is a repeated row; a row of weight 0 is as if it were not there.

        Returns
        -------
        NaiveBayes
            The estimator itself.

        Raises
        ------
        ValueError
            If the table, a label or a weight can't be read, naming column, value and row.
        """
        self._learn(X, y, sample_weight, classes=None, start=None)
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
        """
        return self._learn(X, y, sample_weight, classes, start=getattr(self, "statistics_", None))

    def _learn(self, X: Any, y: Any, sample_weight: Any, classes: Any, start: Summary | None) -> Self:
        self._check_parameters()
        table = read_table(X)
        labels = read_labels(y, table.n_rows)
        weight = None if sample_weight is None else read_weights(sample_weight, table.n_rows)
        if weight is not None and not weight.all():
            kept = weight > 0
            table, labels, weight = table.take(kept), labels.take(kept), weight[kept]
        declared = [*(classes if classes is not None else ()), *(labels.levels or ())]
        if start is None:
            if not declared:
                declared = np.unique(labels.values).tolist() if labels.kind != "mixed" else list(labels.values)
            start = Summary.empty(table, self.families, in_order(set(declared)))
        if table.n_rows == 0 and not start.label_counts.any():
            raise ValueError("There is no row to learn from: X is empty, or every sample_weight is zero.")
        self._set(start.with_classes(declared).met(table, labels, weight, self.unseen))
        return self

    def _check_parameters(self) -> None:
        if self.unseen not in ("error", "ignore"):
            raise ValueError(f'unseen must be "error" or "ignore", not {self.unseen!r}.')

    def _set(self, summary: Summary) -> None:
        """Take over a summary; the posterior follows from it and the priors."""
        self._posterior = posterior_of(summary, self.concentration, self.label_concentration, self.label_prob)
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

    def _encoded(self, X: Any) -> tuple[Table, list[Encoded]]:
        check_is_fitted(self, "statistics_")
        table = read_table(X)
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
        return table, [
            part.encoded(encode(part.block, table, summary.positions(table, part.block), self.unseen))
            for part in self._posterior.parts
        ]

    def _log_joint(self, X: Any, plug_in: Estimate | None) -> Array:
        """Return log p(y, x given the training data), or with a plug-in log p(y, x given θ̂): (row, label)."""
        self._check_estimate(plug_in)
        table, encoded = self._encoded(X)
        if plug_in is None:
            log_joint = self._posterior.log_joint(encoded, table.n_rows)
        else:
            log_joint = self._posterior.log_joint_plug_in(encoded, table.n_rows, plug_in)
        self._check_possible(table, log_joint)
        return log_joint

    def _check_possible(self, table: Table, log_joint: Array) -> None:
        undefined = np.isnan(log_joint)
        if undefined.any():
            row, label = np.argwhere(undefined)[0]
            raise ValueError(
                f"The probability of {table.row_name(int(row))} under the label {self.statistics_.classes[label]!r} "
                "does not exist: the label has too few values of some feature for this estimate. A concentration "
                "above 0 and the exact prediction always exist."
            )
        impossible = np.isneginf(log_joint).all(1)
        if impossible.any():
            raise ValueError(
                f"Every label gives probability 0 to {table.row_name(int(np.argmax(impossible)))}: with a "
                "concentration of 0, a value that a label has not met is impossible. Use a concentration above 0."
            )

    def predict_log_proba(self, X: Any, plug_in: Estimate | None = None) -> Array:
        """Return the natural logarithms of the label probabilities.

        Parameters
        ----------
        X : data frame, array or sparse matrix, shape (row, column)
        plug_in : {"mean", "mode", "mle"}, optional
            By default the exact posterior predictive, which integrates the parameters out. A name takes the
            probability given that point estimate instead, as scikit-learn's classifiers do.

        Returns
        -------
        ndarray, shape (row, label)

        Raises
        ------
        ValueError
            If X can't be read, or every label gives a row probability 0.
        """
        log_joint = self._log_joint(X, plug_in)
        return log_joint - logsumexp(log_joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any, plug_in: Estimate | None = None) -> Array:
        """Return the label probabilities, p(y given x and the training data).

        Parameters
        ----------
        X, plug_in
            As for ``predict_log_proba``.

        Returns
        -------
        ndarray, shape (row, label)
            Each row adds up to 1.
        """
        log_joint = self._log_joint(X, plug_in)
        log_joint -= log_joint.max(1, keepdims=True)
        np.exp(log_joint, out=log_joint)
        log_joint /= log_joint.sum(1, keepdims=True)
        return log_joint

    def predict(self, X: Any, plug_in: Estimate | None = None) -> Array:
        """Return the most probable label of each row, shape (row,)."""
        most_probable = self._log_joint(X, plug_in).argmax(1)
        return self.classes_[most_probable]

    def estimates(self, kind: Estimate = "mean") -> xr.Dataset:
        """Return point estimates of all parameters as tables to lay beside a textbook's.

        Parameters
        ----------
        kind : {"mean", "mode", "mle"}
            The posterior mean (of a categorical feature: the λ-smoothed estimate), the posterior mode, or maximum
            likelihood. nan stands where an estimate does not exist.

        Returns
        -------
        xarray.Dataset
            ``label_prob`` (label,), ``<feature>_prob`` (label, <feature>), ``<feature>_mean`` and ``_sd``, … (label,).
        """
        self._check_estimate(kind)
        return self._layout.dataset(
            self._posterior.labels.estimate(kind), [part.estimate(kind) for part in self._posterior.parts]
        )

    @staticmethod
    def _check_estimate(kind: str | None) -> None:
        if kind not in (None, "mean", "mode", "mle"):
            raise ValueError(f'An estimate is "mean", "mode" or "mle", not {kind!r}.')

    @property
    def _layout(self) -> Layout:
        check_is_fitted(self, "statistics_")
        return layout_of(self._posterior)

    def draw(self, draws: int = 1000, chains: int = 4, random_seed: Any = None) -> xr.DataTree:
        """Return exact, independent draws from the posterior: no Markov chain, no warm-up.

        Parameters
        ----------
        draws, chains : int
            How many draws in each of how many groups; they are independent, "chains" only for ArviZ's sake.
        random_seed : int, Generator or None

        Returns
        -------
        xarray.DataTree
            Group ``posterior``: the same variables, dims and coords as from ``sample``.

        Raises
        ------
        ValueError
            If the posterior is improper (a concentration of 0 with a value that a label has not met).
        """
        layout, size = self._layout, (chains, draws)
        self._check_proper()
        label_prob, parameters = self._posterior.draw(np.random.default_rng(random_seed), size)
        return xr.DataTree.from_dict({"posterior": layout.dataset(label_prob, parameters, ("chain", "draw"))})

    def _check_proper(self) -> None:
        if not self._posterior.is_proper:
            raise ValueError(
                "The posterior is improper: with a concentration of 0, a value that a label has not met has no density "
                "to draw from. Use a concentration above 0."
            )

    @property
    def posterior_(self) -> dict[Any, Any]:
        """The posterior distributions by feature."""
        check_is_fitted(self, "statistics_")
        result: dict[Any, Any] = {"label": self._posterior.labels.posterior}
        for part in self._posterior.parts:
            key = part.features if len(part.features) > 1 else part.features[0]
            result["label_" if key == "label" else key] = part.posterior
        return result

    def log_evidence(self) -> float:
        """Return log p(X, y), the joint evidence of all rows under the priors, in nats."""
        check_is_fitted(self, "statistics_")
        return self._posterior.log_evidence()

    def describe(self) -> str:
        """Return how the model read each column, and the labels with their counts, as text."""
        check_is_fitted(self, "statistics_")
        summary = self.statistics_
        counted = zip(summary.classes, summary.label_counts, strict=True)
        lines = ["labels: " + ", ".join(f"{label!r} ({count:g})" for label, count in counted)]
        lines += [_line(part) for part in self._posterior.parts]
        silent = self._uninformative()
        if silent:
            lines.append(f"left out, as they do not vary: {shown(silent)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the description once fitted, the constructor call before."""
        return self.describe() if hasattr(self, "statistics_") else repr(self)


def _line(part: Part) -> str:
    if not isinstance(part.family, Categorical):
        return f"{shown(part.features)}: {part.family.name}"
    levels, how = part.family.levels, "declared" if part.block.is_closed else "seen"
    return f"{part.features[0]!r}: Categorical, {len(levels)} {how} levels: {shown(levels)}"
