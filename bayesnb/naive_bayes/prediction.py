"""Prediction: labels, their probabilities, and the estimates behind a plug-in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import xarray as xr
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from bayesnb import engines
from bayesnb.blocks import shown
from bayesnb.families.base import Array
from bayesnb.frame import Table
from bayesnb.naive_bayes.fitted import Fitted
from bayesnb.reweighting import predictive
from bayesnb.score_draws import given_draws
from bayesnb.tree import row_coordinate

Estimate = Literal["mean", "mode", "mle"]


class Prediction(Fitted):
    """Labels and their probabilities, exact or from a point estimate."""

    def predict(self, X: Any, plug_in: Estimate | None = None) -> Array:
        """Return the most probable label of each row.

        Parameters
        ----------
        X, plug_in
            As for ``predict_log_proba``.

        Returns
        -------
        ndarray, shape (row,)

        Raises
        ------
        ValueError
            As for ``predict_log_proba``.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> model.predict([["g"], ["r"]])
        array(['B', 'A'], dtype='<U1')
        """
        most_probable = self._log_joint(X, plug_in).argmax(1)
        return self.classes_[most_probable]

    @overload
    def predict_proba(self, X: Any, plug_in: Estimate | None = None) -> Array: ...

    @overload
    def predict_proba(self, X: Any, plug_in: None = None, *, posterior: xr.DataTree) -> xr.Dataset: ...

    def predict_proba(
        self, X: Any, plug_in: Estimate | None = None, *, posterior: xr.DataTree | None = None
    ) -> Array | xr.Dataset:
        """Return the label probabilities, p(y given x and the training data).

        Parameters
        ----------
        X, plug_in
            As for ``predict_log_proba``.
        posterior : DataTree, optional
            Draws of ``sample``, or of any model with the same variables, to take in place of the closed form. They are
            weighted by p(x given θ), which estimates the same exact predictive.

        Returns
        -------
        ndarray, shape (row, label)
            Each row adds up to 1. With ``posterior`` a Dataset: ``prob``, its Monte Carlo standard error ``mcse``, both
            (row, label), and ``ess`` (row,), how many equal weights the weights of the draws are worth.

        Raises
        ------
        ValueError
            If X can't be read, every label gives a row probability 0, or ``posterior`` is of another model or without
            draws.
        TypeError
            If ``posterior`` is no DataTree with a group of that name.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> model.predict_proba([["g"]]).round(2)  # .6·¼ against .4·⅔
        array([[0.36, 0.64]])
        >>> model.predict_proba([["g"]], plug_in="mle")
        array([[0., 1.]])
        >>> draws = model.draw(random_seed=1)  # or model.sample()
        >>> model.predict_proba([["g"]], posterior=draws)["prob"].values.round(2)
        array([[0.36, 0.64]])
        """
        if posterior is not None:
            return self._predict_from_draws(X, posterior)
        log_joint = self._log_joint(X, plug_in)
        log_joint -= log_joint.max(1, keepdims=True)
        np.exp(log_joint, out=log_joint)
        log_joint /= log_joint.sum(1, keepdims=True)
        return log_joint

    def predict_log_proba(self, X: Any, plug_in: Estimate | None = None) -> Array:
        """Return the natural logarithms of the label probabilities.

        Parameters
        ----------
        X : data frame, array, sparse matrix or path, shape (row, column)
            A lazy or remote frame and the path of a file are read in batches, and never held as a whole; the rows come
            in the engine's own order, which for Polars, Dask and files is that of the table.
        plug_in : {"mean", "mode", "mle"}, optional
            By default the exact posterior predictive, which integrates the parameters out. A name takes the
            probability given that point estimate instead, as scikit-learn's classifiers do.

        Returns
        -------
        ndarray, shape (row, label)

        Raises
        ------
        ValueError
            If X can't be read, every label gives a row probability 0, or there is no such estimate.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> model.predict_log_proba([["g"]]).round(3)
        array([[-1.022, -0.446]])
        """
        log_joint = self._log_joint(X, plug_in)
        return log_joint - logsumexp(log_joint, axis=1, keepdims=True)

    def predict_to_parquet(
        self, X: Any, path: str | Path, *, keep: Sequence[str] = (), plug_in: Estimate | None = None
    ) -> None:
        """Write the predictions for a lazy frame or a file to a Parquet file, batch by batch, holding neither table.

        Parameters
        ----------
        X : lazy or remote frame, or path
        path : str or Path
            A file there is replaced, once all is written. Its columns are those kept; ``label``, the most probable
            label, as text unless all labels are numbers or all booleans; and one of probabilities for each label, by
            its name.
        keep : sequence of str
            Columns of X to write beside the predictions, such as the one that tells rows apart: the order of the rows
            is the engine's.
        plug_in
            As for ``predict_log_proba``.

        Raises
        ------
        ImportError
            If PyArrow is not installed.
        TypeError
            If X is in memory.
        ValueError
            If X can't be read, lacks a column, or two columns would have the same name.

        Examples
        --------
        >>> import tempfile, polars as pl
        >>> table = pl.DataFrame({"id": [7, 8, 9], "x": ["r", "r", "g"], "y": ["a", "a", "b"]})
        >>> model = NaiveBayes().fit(table.drop("id"), "y")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.predict_to_parquet(table.lazy(), f"{folder}/out.parquet", keep=["id"])
        ...     written = pl.read_parquet(f"{folder}/out.parquet")
        >>> written.columns, written["id"].to_list(), written["label"].to_list()
        (['id', 'label', 'a', 'b'], [7, 8, 9], ['a', 'a', 'b'])
        >>> round(written["a"][0], 4)  # .6·¾ / (.6·¾ + .4·⅓)
        0.7714
        """
        check_is_fitted(self, "statistics_")
        if not engines.is_lazy(X):
            raise TypeError("X is in memory: write what predict_proba returns, or give a lazy frame or a file.")
        labels = [str(label) for label in self.statistics_.classes]
        names = [*keep, "label", *labels]
        if len(set(names)) < len(names):
            raise ValueError(f"The file would have two columns of one name among {shown(names)}: rename one in X.")
        read = dict.fromkeys([*self.statistics_.names, *keep])
        values = np.array(labels) if self.classes_.dtype == object else self.classes_

        def predicted(batch: Any) -> dict[str, Array]:
            prob = self.predict_proba(batch, plug_in)
            return dict(zip(["label", *labels], [values[prob.argmax(1)], *prob.T], strict=True))

        engines.write_parquet(engines.batches(X, list(read)), keep, predicted, path)

    def _log_joint(self, X: Any, plug_in: Estimate | None) -> Array:
        """Return log p(y, x given the training data), or with a plug-in log p(y, x given θ̂): (row, label)."""
        self._check_estimate(plug_in)
        if engines.is_lazy(X):
            check_is_fitted(self, "statistics_")
            return np.concatenate([self._log_joint(b, plug_in) for b in engines.batches(X, self.statistics_.names)])
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

    def _predict_from_draws(self, X: Any, posterior: xr.DataTree) -> xr.Dataset:
        table, encoded = self._encoded(X)
        draws = given_draws(self._posterior, *self._layout.arrays_of(posterior))
        return predictive(self._posterior, encoded, row_coordinate(table), draws)

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

        Raises
        ------
        ValueError
            If there is no such estimate.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> model.estimates()["x0_prob"].sel(label="A").to_series().to_dict()  # (0 + 1)/(2 + 2), (2 + 1)/(2 + 2)
        {'g': 0.25, 'r': 0.75}
        """
        self._check_estimate(kind)
        return self._layout.dataset(
            self._posterior.labels.estimate(kind), [part.estimate(kind) for part in self._posterior.parts]
        )

    @staticmethod
    def _check_estimate(kind: str | None) -> None:
        if kind not in (None, "mean", "mode", "mle"):
            raise ValueError(f'An estimate is "mean", "mode" or "mle", not {kind!r}.')
