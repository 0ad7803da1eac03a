"""NaiveBayes, the scikit-learn estimator: the only class that changes after it is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import xarray as xr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bayesnb import storage
from bayesnb.blocks import Missing, Unseen, shown
from bayesnb.families import Bernoulli, Categorical, Multinomial
from bayesnb.naive_bayes.criticism import Criticism
from bayesnb.naive_bayes.drawing import Drawing
from bayesnb.naive_bayes.judgement import Judgement
from bayesnb.naive_bayes.learning import Learning
from bayesnb.naive_bayes.prediction import Prediction
from bayesnb.posterior import Part, posterior_of
from bayesnb.weights import described_weights, labelled_weights


class NaiveBayes(Learning, Prediction, Judgement, Criticism, Drawing, ClassifierMixin, BaseEstimator):
    """Naive Bayes as a generative model: exact conjugate posterior, exact predictions, and draws of both.

    Parameters
    ----------
    families : Family, mapping or None, default None
        How columns are read. One family for all; or a mapping from a column name (for an array: its position), a tuple
        of them, or a slice of positions, to a family. Columns that it does not name, and all with None, are read by
        their type: numbers as Gaussian(), text and categories as Categorical(), booleans as Bernoulli().
    concentration : number or str, default 1.0
        The λ of every Dirichlet and Beta prior that a family does not set: a number, "laplace" (1), "jeffreys" (½) or
        "perks" (1/number of values). 0 is maximum likelihood: such a prior can't be drawn from,
        nor a posterior where a label has not met every value.
    label_concentration : number, str, array_like or mapping, default 1.0
        The λ of the label probabilities, or one for each label.
    label_prob : array_like or mapping, optional
        Known label probabilities, such as the prevalence of a disease, in place of learnt ones. They add up to 1.
    missing : {"ignore", "level", "error"}, default "ignore"
        What a missing cell is, in training and in prediction: left out of the product for its feature; a value of its
        own, None, of a categorical feature (others leave it out); or an error. Leave it out where cells are missing by
        chance, make it a level where that they are missing tells something. ``Categorical(missing=…)`` overrides it.
    na_values : sequence of str, default ()
        Texts that stand for a missing cell of X, such as "?". A column of text stays one, though what is left may look
        like numbers: cast it.
    unseen : {"error", "ignore"}, default "error"
        Whether a categorical value that is not among the levels is an error, or treated as a missing cell.
    unlabelled : {"error", "marginalize"}, default "error"
        What ``fit`` makes of a row whose label is missing (None, NaN, NA). "marginalize" sums over the label: EM finds
        the mode of the posterior, and the row counts under each label as far as that is probable at the mode.
        Predictions use what such rows tell; intervals and draws are then too sure, as they take expected labels for
        known ones, and say so. Evidence and leave-one-out need every label.
    feature_weights : None, "loo", "loo-shared" or mapping, default None
        How many times each feature's evidence counts at prediction; None: once. Features that depend on each other
        repeat the same evidence, and plain naive Bayes is overconfident. "loo" learns a weight for each feature from
        the exact leave-one-out predictions of the training rows, copies of a column sharing the weight of one;
        "loo-shared" learns one weight for all. Both need ``fit`` on a table in memory. A mapping gives weights from 0
        by name, 1 to features that it leaves out. The columns of a Multinomial() are one feature, called "term". All
        predictions use the weights; the posterior does not.

    Attributes
    ----------
    classes_ : ndarray, shape (label,)
        The labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray, shape (column,)
        Names of the columns, where all are strings.
    statistics_ : Summary
        All that the model keeps of the rows: labels, counts, and the sufficient statistics of every block.
    posterior_ : dict
        The posterior of the label probabilities, by the key "label", and of every feature by its name, of a block of
        features by the tuple of their names; a feature that is itself called "label" is "label_", as in draws.
    feature_weights_ : xarray.DataArray
        The weights in use, (feature,), with what they were learnt from in its attributes.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"colour": ["red", "red", "green", "green", "green"]})
    >>> model = NaiveBayes().fit(table, ["A", "A", "A", "B", "B"])
    >>> model.predict_proba(table.iloc[:1]).round(4)
    array([[0.7619, 0.2381]])
    """

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one NetCDF file, which ``bayesnb.load`` reads.

        Parameters
        ----------
        path : str or Path
            A file there is replaced.

        Raises
        ------
        TypeError
            If a label, a level or a parameter is of a type that can't be saved, such as a date.

        Examples
        --------
        >>> import tempfile, bayesnb
        >>> model = NaiveBayes().fit([[0.0], [1.0], [2.0]], [True, True, "no"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.nc")
        ...     bayesnb.load(f"{folder}/model.nc").classes_
        array([True, 'no'], dtype=object)
        """
        check_is_fitted(self, "statistics_")
        weights = None if self._weighing["method"] == "none" else self._posterior.weights
        about = {"parameters": self.get_params(deep=False), "weighing": self._weighing, "weights": weights}
        storage.save(storage.model_tree(self.statistics_, about), path)

    def __init__(
        self,
        families: Any = None,
        *,
        concentration: Any = 1.0,
        label_concentration: Any = 1.0,
        label_prob: Any = None,
        missing: Missing = "ignore",
        na_values: Sequence[str] = (),
        unseen: Unseen = "error",
        unlabelled: Literal["error", "marginalize"] = "error",
        feature_weights: Any = None,
    ) -> None:
        self.families = families
        self.concentration = concentration
        self.label_concentration = label_concentration
        self.label_prob = label_prob
        self.missing = missing
        self.na_values = na_values
        self.unseen = unseen
        self.unlabelled = unlabelled
        self.feature_weights = feature_weights

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.sparse = isinstance(self.families, Bernoulli | Multinomial)
        return tags

    @property
    def posterior_(self) -> dict[Any, Any]:
        """The posterior distributions by feature."""
        check_is_fitted(self, "statistics_")
        result: dict[Any, Any] = {"label": self._posterior.labels.posterior}
        for part in self._posterior.parts:
            key = part.features if len(part.features) > 1 else part.features[0]
            result["label_" if key == "label" else key] = part.posterior
        return result

    @property
    def feature_weights_(self) -> xr.DataArray:
        """The weight of every feature at prediction.

        Examples
        --------
        >>> table, label = [["r"], ["r"], ["g"], ["g"], ["g"], ["r"]], list("AAABBB")
        >>> model = NaiveBayes(Categorical(), feature_weights={"x0": 0.5}).fit(table, label)
        >>> model.feature_weights_.to_series().to_dict()
        {'x0': 0.5}
        >>> prob = model.predict_proba([["r"]])[0]
        >>> round(float(prob[0] / prob[1]) ** 2, 4)  # the odds 3/5 : 2/5, weighed by ½
        1.5
        """
        check_is_fitted(self, "statistics_")
        return labelled_weights(self._posterior, self._weighing)

    def describe(self) -> str:
        """Return how the model read each column, and the labels with their counts, as text.

        Examples
        --------
        >>> print(NaiveBayes().fit([["r", 2.5], ["r", 1.0], ["g", 3.5]], ["A", "A", "B"]).describe())
        labels: 'A' (2), 'B' (1)
        'x0': Categorical, 2 seen levels: 'g', 'r'
        'x1': Gaussian
        """
        check_is_fitted(self, "statistics_")
        summary = self.statistics_
        counted = zip(summary.classes, summary.label_counts, strict=True)
        lines = ["labels: " + ", ".join(f"{label!r} ({count:g})" for label, count in counted)]
        if summary.expected_rows:
            lines.append(f"{self._expected_rows()}: intervals are too sure")
        lines += [_line(part) for part in self._posterior.parts]
        silent = self._uninformative()
        if silent:
            lines.append(f"left out, as they do not vary: {shown(silent)}")
        if self._weighing["method"] != "none":
            lines.append(described_weights(self.feature_weights_))
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the description once fitted, the constructor call before."""
        return self.describe() if hasattr(self, "statistics_") else repr(self)


def _line(part: Part) -> str:
    if not isinstance(part.family, Categorical):
        return f"{shown(part.features)}: {part.family.name}"
    levels, how = part.family.levels, "declared" if part.block.is_closed else "seen"
    return f"{part.features[0]!r}: Categorical, {len(levels)} {how} levels: {shown(levels)}"


def load(path: str | Path) -> NaiveBayes | xr.DataTree:
    """Return the model that ``NaiveBayes.save`` wrote to a file, or the tree that ``bayesnb.save`` wrote.

    A loaded model predicts as the saved one did, and learns on from there.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    NaiveBayes or xarray.DataTree

    Raises
    ------
    OSError
        If there is no such file, or it is not a NetCDF file.

    Examples
    --------
    >>> import tempfile, bayesnb
    >>> tree = NaiveBayes().fit([[0.0], [1.0], [2.0]], ["A", "A", "B"]).draw(draws=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bayesnb.save(tree, f"{folder}/draws.nc")
    ...     bayesnb.load(f"{folder}/draws.nc").identical(tree)
    True
    """
    tree = storage.read(path)
    if not storage.is_model(tree):
        return tree
    summary, about = storage.model_of(tree)
    model = NaiveBayes(**about["parameters"])
    posterior = posterior_of(summary, model.concentration, model.label_concentration, model.label_prob)
    weights = about["weights"]
    posterior = posterior if weights is None else posterior.with_weights(weights)
    model._take(summary, posterior, about["weighing"])  # noqa: SLF001
    return model
