"""NaiveBayes, the scikit-learn estimator: the only class that changes after it is made."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, overload

import numpy as np
import xarray as xr
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bayesnb import engines, storage
from bayesnb.blocks import Encoded, Missing, Unseen, encode, in_order, shown
from bayesnb.calibration import calibration, warn_if_overconfident
from bayesnb.decisions import cost_table, decide
from bayesnb.evidence import check_comparable, evidence_by_feature
from bayesnb.explanation import explain
from bayesnb.families import Bernoulli, Categorical, Multinomial
from bayesnb.families.base import Array
from bayesnb.frame import Column, Table, read_labels, read_table, read_weights, take_named
from bayesnb.merging import check_same_parameters, remainder, union
from bayesnb.posterior import Part, Posterior, check_proper_prior, posterior_of
from bayesnb.same_rows import difference
from bayesnb.score_draws import DEFAULT_DRAWS, DRAWS_FOR_FEW, exact_draws, given_draws
from bayesnb.summary import Summary, label_codes
from bayesnb.tree import Layout, coordinate, layout_of, row_coordinate
from bayesnb.uncertainty import Kind, Method, predict_uncertainty
from bayesnb.weights import Rows, check_weights, described_weights, labelled_weights, weigh

if TYPE_CHECKING:
    from arviz import ELPDDataLOO

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
    missing : {"ignore", "level", "error"}, default "ignore"
        What a missing cell is, in training and in prediction: left out of the product for its feature; a value of its
        own, None, of a categorical feature (others leave it out); or an error. Leave it out where cells are missing by
        chance, make it a level where that they are missing tells something. ``Categorical(missing=…)`` overrides it.
    unseen : {"error", "ignore"}, default "error"
        Whether a categorical value that is not among the levels is an error, or treated as a missing cell.
    feature_weights : None, "loo", "loo-shared" or mapping, default None
        How many times each feature's evidence counts at prediction; None: once. Features that depend on each other
        repeat the same evidence, and plain naive Bayes is overconfident. "loo" learns a weight for each feature from
        the exact leave-one-out predictions of the training rows, "loo-shared" one weight for all; both need ``fit`` on
        a table in memory. A mapping gives weights from 0 by name, 1 to features that it leaves out. The columns of a
        Multinomial() are one feature, called "term". All predictions use the weights; the posterior does not.

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

    Notes
    -----
    A missing cell is left out of the product for its feature, in training and in prediction.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"colour": ["red", "red", "green", "green", "green"]})
    >>> model = NaiveBayes().fit(table, ["A", "A", "A", "B", "B"])
    >>> model.predict_proba(table.iloc[:1]).round(4)
    array([[0.7619, 0.2381]])
    """

    def __init__(
        self,
        families: Any = None,
        *,
        concentration: Any = 1.0,
        label_concentration: Any = 1.0,
        label_prob: Any = None,
        missing: Missing = "ignore",
        unseen: Unseen = "error",
        feature_weights: Any = None,
    ) -> None:
        self.families = families
        self.concentration = concentration
        self.label_concentration = label_concentration
        self.label_prob = label_prob
        self.missing = missing
        self.unseen = unseen
        self.feature_weights = feature_weights

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.sparse = isinstance(self.families, Bernoulli | Multinomial)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting what was learnt before.

        Parameters
        ----------
        X : data frame, array, sparse matrix or path, shape (row, column)
            A lazy or remote frame (Polars, DuckDB, Dask, PySpark, Ibis) and the path of a Parquet or CSV file are
            learnt from where they lie, by group-bys: only statistics are fetched.
        y : sequence, shape (row,), or str
            Labels of any hashable type; those that a categorical type declares count whether seen or not. Or the name
            of the column of a frame that holds them.
        sample_weight : sequence, shape (row,), or str, optional
            A weight of 2 is a repeated row; a row of weight 0 is as if it were not there. Or a column's name.

        Returns
        -------
        NaiveBayes
            The estimator itself.

        Raises
        ------
        ValueError
            If the table, a label or a weight can't be read, naming column, value and row.
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
        """
        check_is_fitted(self, "statistics_")
        emptied = self.statistics_.emptied()
        forgotten, _ = self._met(lambda _table, _labels: emptied, X, y, sample_weight)
        self._set(remainder(self.statistics_, forgotten), rows=None)
        return self

    def __add__(self, other: NaiveBayes) -> NaiveBayes:
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
        summary, rows = self._met(lambda table, labels: self._start(table, labels, classes, start), X, y, sample_weight)
        self._set(summary, rows if is_whole else None)
        return self

    def _met(
        self, start: Callable[[Table, Column], Summary], X: Any, y: Any, sample_weight: Any
    ) -> tuple[Summary, Callable[[Posterior], Rows] | None]:
        """The summary that starts from the kind of table and its labels, with the rows of X; and the rows, if here."""
        if engines.is_lazy(X):
            remote = engines.read_rows(X, y, sample_weight)
            return engines.met(start(remote.table, remote.labels), remote, self.unseen), None
        table, labels, weight = _read_rows(X, y, sample_weight)
        summary = start(table, labels).met(table, labels, weight, self.unseen)

        def rows(posterior: Posterior) -> Rows:
            codes = label_codes(labels, summary.classes, table)
            weights = np.ones(table.n_rows) if weight is None else weight
            return _arrays(posterior, summary, table, self.unseen), codes, weights

        return summary, rows

    def _start(self, table: Table, labels: Column, classes: Any, start: Summary | None) -> Summary:
        """The summary that further rows are added to, with room for their labels."""
        declared = [*(classes if classes is not None else ()), *(labels.levels or ())]
        if start is None:
            if not declared:
                declared = np.unique(labels.values).tolist() if labels.kind != "mixed" else list(labels.values)
            start = Summary.empty(table, self.families, in_order(set(declared)), self.missing)
        if len(labels.values) == 0 and not start.label_counts.any():
            raise ValueError("There is no row to learn from: X is empty, or every sample_weight is zero.")
        return start.with_classes(declared)

    def _check_parameters(self) -> None:
        if self.unseen not in ("error", "ignore"):
            raise ValueError(f'unseen must be "error" or "ignore", not {self.unseen!r}.')
        if self.missing not in ("ignore", "level", "error"):
            raise ValueError(f'missing must be "ignore", "level" or "error", not {self.missing!r}.')
        check_weights(self.feature_weights)

    def _set(self, summary: Summary, rows: Callable[[Posterior], Rows] | None) -> None:
        """Take over a summary; the posterior follows from it and the priors, learnt feature weights from the rows."""
        posterior = posterior_of(summary, self.concentration, self.label_concentration, self.label_prob)
        self._take(summary, *weigh(posterior, self.feature_weights, summary.names, rows))

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
        return table, _arrays(self._posterior, summary, table, self.unseen)

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
            If X can't be read, or every label gives a row probability 0.
        """
        log_joint = self._log_joint(X, plug_in)
        return log_joint - logsumexp(log_joint, axis=1, keepdims=True)

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
            If X can't be read, every label gives a row probability 0, or ``posterior`` is of another model.
        """
        if posterior is not None:
            return self._predict_from_draws(X, posterior)
        log_joint = self._log_joint(X, plug_in)
        log_joint -= log_joint.max(1, keepdims=True)
        np.exp(log_joint, out=log_joint)
        log_joint /= log_joint.sum(1, keepdims=True)
        return log_joint

    def _predict_from_draws(self, X: Any, posterior: xr.DataTree) -> xr.Dataset:
        from bayesnb.reweighting import predictive

        table, encoded = self._encoded(X)
        draws = self._layout.arrays(posterior["posterior"].dataset)
        return predictive(self._posterior, encoded, row_coordinate(table), *draws)

    def predict(self, X: Any, plug_in: Estimate | None = None) -> Array:
        """Return the most probable label of each row, shape (row,)."""
        most_probable = self._log_joint(X, plug_in).argmax(1)
        return self.classes_[most_probable]

    def predict_uncertainty(
        self,
        X: Any,
        prob: float = 0.94,
        kind: Kind = "eti",
        *,
        method: Method | None = None,
        posterior: xr.DataTree | None = None,
        draws: int | None = None,
        random_seed: Any = None,
    ) -> xr.Dataset:
        """Return how sure the label probabilities are: intervals and entropies over the posterior of the parameters.

        Parameters
        ----------
        X : data frame, array or sparse matrix, shape (row, column)
        prob : float, default 0.94
            Probability of the intervals.
        kind : {"eti", "hdi"}
            Equal-tailed intervals, or the narrowest ones, of highest density.
        method : {"cumulants", "draws"}, optional
            In closed form by four cumulants, the default, or by draws of the parameters. The few rows where four
            cumulants are too few are done by draws, and the attributes say how many and why.
        posterior : DataTree, optional
            Draws from ``draw`` or ``sample`` to take, all of them; so ``method="draws"``.
        draws : int, optional
            How many exact draws to take where draws are needed; by default 10,000, and 100,000 for the few rows.
        random_seed : int, Generator or None

        Returns
        -------
        xarray.Dataset
            (row, label): ``prob``, the exact prediction of ``predict_proba``; ``mean``, ``sd``, ``lower`` and
            ``upper`` of p(label given x, θ). (row,), in nats: ``entropy_total`` of the mean, ``entropy_aleatoric``,
            the mean entropy, which no further training rows would take away, and ``entropy_epistemic``, the rest.
            Attributes name the interval's kind and probability and the method.

        Raises
        ------
        ValueError
            If X can't be read, an argument is none of those above, the posterior is improper, or the draws are of
            another model.

        Notes
        -----
        ``prob`` is not the mean over θ: x itself tells something about θ, by which the exact prediction reweights it.
        A bound by n draws has a Monte Carlo error: it is a quantile of n independent values.

        Examples
        --------
        >>> table = [["r"]] * 30 + [["g"]] * 30
        >>> model = NaiveBayes(Categorical()).fit(table, ["A"] * 20 + ["B"] * 10 + ["A"] * 10 + ["B"] * 20)
        >>> sure = model.predict_uncertainty([["r"]]).sel(label="A", row=0)
        >>> [round(float(sure[name]), 2) for name in ("lower", "prob", "upper")]
        [0.49, 0.66, 0.81]
        """
        _check_prob(prob)
        if kind not in get_args(Kind):
            raise ValueError(f'kind, of an interval, is "eti" or "hdi", not {kind!r}.')
        if method not in (None, *get_args(Method)):
            raise ValueError(f'method is "cumulants" or "draws", not {method!r}.')
        if posterior is not None and (method == "cumulants" or draws is not None):
            raise ValueError('With a posterior given, all of its draws are taken: leave out draws and "cumulants".')
        table, encoded = self._encoded(X)
        self._check_proper()
        if posterior is None:
            n_draws = draws or (DEFAULT_DRAWS if method == "draws" else DRAWS_FOR_FEW)
            given = exact_draws(self._posterior, n_draws, np.random.default_rng(random_seed))
        else:
            given = given_draws(self._posterior, *self._layout.arrays(posterior["posterior"].to_dataset()))
            method = "draws"
        row = row_coordinate(table)
        return predict_uncertainty(self._posterior, encoded, row, prob, kind, given, method or "cumulants")

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
        self._check_proper()
        draws_of = self._posterior.draw(np.random.default_rng(random_seed), (chains, draws))
        return xr.DataTree.from_dict({"posterior": self._layout.dataset(*draws_of, ("chain", "draw"))})

    def prior_draw(self, draws: int = 1000, chains: int = 4, random_seed: Any = None) -> xr.DataTree:
        """Return exact, independent draws from the prior, for prior checks.

        Parameters
        ----------
        draws, chains, random_seed
            As for ``draw``.

        Returns
        -------
        xarray.DataTree
            Group ``prior``: the same variables, dims and coords as those of ``draw``.

        Raises
        ------
        ValueError
            If the prior is improper (a concentration of 0).
        """
        layout = self._layout
        check_proper_prior(self._posterior)
        draws_of = self._posterior.draw_prior(np.random.default_rng(random_seed), (chains, draws))
        return xr.DataTree.from_dict({"prior": layout.dataset(*draws_of, ("chain", "draw"))})

    def with_groups(
        self, tree: xr.DataTree, X: Any = None, y: Any = None, *, replicates: int = 100, random_seed: Any = None
    ) -> xr.DataTree:
        """Return draws of either route with the other groups that ArviZ's functions look for.

        Parameters
        ----------
        tree : DataTree
            From ``draw`` or ``sample``.
        X, y
            Rows with their labels, as many as memory has room for draws of; without them, no group is made that has a
            row dimension.
        replicates : int
            How many tables like X and y to simulate, each from its own draw.
        random_seed : int, Generator or None

        Returns
        -------
        xarray.DataTree
            The tree with the groups ``prior``, as many draws as of the posterior; ``log_prior``; ``constant_data``, the
            hyperparameters and statistics; and with rows ``log_likelihood`` (``rows``: log p(label, row given θ)),
            ``observed_data`` and ``posterior_predictive`` (``label_value`` and ``<feature>_value``, levels and labels
            by their position; the rows that have the cell).

        Raises
        ------
        ValueError
            If the tree is of another model, the prior is improper, or X or y can't be read.
        """
        from bayesnb.groups import Rows, groups_of_parameters, groups_of_rows

        check_proper_prior(self._posterior)
        rng = np.random.default_rng(random_seed)
        draws = self._layout.arrays(tree["posterior"].dataset)
        groups = groups_of_parameters(self._posterior, draws, rng)
        if X is not None:
            table, encoded, codes, _ = self._rows_with_labels(X, y, None, of_training=False)
            rows = Rows(encoded, codes, row_coordinate(table))
            groups |= groups_of_rows(self._posterior, rows, draws, replicates, rng)
        return xr.DataTree.from_dict({**{name: group.dataset for name, group in tree.children.items()}, **groups})

    def simulate(
        self, n: int, random_seed: Any = None, *, prior: bool = False, tokens: Any = None
    ) -> tuple[Any, Array]:
        """Return a random table and its labels, from one draw of the parameters: a predictive simulation.

        Parameters
        ----------
        n : int
            Number of rows.
        random_seed : int, Generator or None
        prior : bool, default False
            Whether the parameters are drawn from the prior, and not from the posterior.
        tokens : int or array_like, shape (n,), optional
            How many tokens each row of a Multinomial has, which the model takes as given.

        Returns
        -------
        X : pandas.DataFrame, or ndarray for a model fitted to an array
            The columns that the model reads, in the order and type that it reads them: numbers, counts, booleans, and
            categories with all levels. No cell is missing.
        y : ndarray, shape (n,)

        Raises
        ------
        ValueError
            If the distribution of the parameters is improper, or tokens are needed and not given.

        Examples
        --------
        >>> model = NaiveBayes().fit({"a": ["r", "g", "r"], "b": [1.0, 2.0, 4.0]}, ["u", "v", "v"])
        >>> X, y = model.simulate(2, random_seed=0)
        >>> list(X.columns), X.shape, y.shape
        (['a', 'b'], (2, 2), (2,))
        """
        from bayesnb.simulation import simulated_table

        check_is_fitted(self, "statistics_")
        if prior:
            check_proper_prior(self._posterior)
        else:
            self._check_proper()
        rng = np.random.default_rng(random_seed)
        draw = (self._posterior.draw_prior if prior else self._posterior.draw)(rng, ())
        X, codes = simulated_table(self._posterior, self.statistics_, draw, n, tokens, rng)
        return X, self.classes_[codes]

    def sample(
        self,
        draws: int = 1000,
        tune: int = 1000,
        chains: int = 4,
        random_seed: Any = None,
        progressbar: bool = True,  # noqa: FBT001, FBT002  pymc.sample's own
        *,
        nuts_sampler: str = "nutpie",
        **options: Any,
    ) -> xr.DataTree:
        """Return draws from the posterior by NUTS, from the generative model and without the closed form.

        The model has the size of the statistics: a billion rows cost as much as a thousand.

        Parameters
        ----------
        draws, tune : int
            How many draws of each chain to keep, after how many to adapt to the posterior.
        chains : int
        random_seed : int, Generator or None
        progressbar : bool
        nuts_sampler : {"nutpie", "pymc", "numpyro", "blackjax"}
            Who runs NUTS; none but the one named. "nutpie" is the fastest and needs no compiler.
        **options
            Further arguments of ``pymc.sample``.

        Returns
        -------
        xarray.DataTree
            Group ``posterior``: the same variables, dims and coords as from ``draw``. Group ``sample_stats``.

        Raises
        ------
        ValueError
            If a prior is improper (a concentration of 0).

        Warns
        -----
        ConvergenceWarning
            Of variables with r-hat above 1.01 or fewer than 100 effective draws a chain, and of divergences.
        """
        from bayesnb.sampling import sample

        check_is_fitted(self, "statistics_")
        return sample(
            self._posterior,
            draws=draws,
            tune=tune,
            chains=chains,
            random_seed=random_seed,
            progressbar=progressbar,
            nuts_sampler=nuts_sampler,
            **options,
        )

    def to_pymc(self, X: Any = None, y: Any = None, *, likelihood: Literal["statistics", "rows"] = "statistics") -> Any:
        """Return the generative model as a PyMC model, to read, to change and to build on.

        Parameters
        ----------
        X, y
            Rows to observe, with likelihood "rows"; a label may be missing, and is then summed out.
        likelihood : {"statistics", "rows"}
            What is observed: the sufficient statistics of the rows that the model was fitted to, so that the size does
            not depend on their number; or each cell of X and y by itself. The posterior is the same for the same rows.

        Returns
        -------
        pymc.Model
            Variables, dims and coords have the names that ``draw`` and ``sample`` give them.

        Raises
        ------
        ValueError
            If a prior is improper (a concentration of 0), which PyMC has no distribution for; or rows are given for
            "statistics", or not for "rows".
        """
        from bayesnb.generative import rows_model, statistics_model

        check_is_fitted(self, "statistics_")
        if likelihood not in ("statistics", "rows"):
            raise ValueError(f'likelihood must be "statistics" or "rows", not {likelihood!r}.')
        if (X is None or y is None) == (likelihood == "rows"):
            raise ValueError('X and y go with likelihood="rows", which needs both; the statistics are those of fit.')
        if likelihood == "statistics":
            return statistics_model(self._posterior)
        table, encoded = self._encoded(X)
        labels = read_labels(y, table.n_rows, may_lack=True)
        return rows_model(
            self._posterior, encoded, label_codes(labels, self.statistics_.classes), row_coordinate(table)
        )

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

    @overload
    def log_evidence(self) -> float: ...

    @overload
    def log_evidence(self, by: Literal["feature"]) -> xr.Dataset: ...

    def log_evidence(self, by: Literal["feature"] | None = None) -> float | xr.Dataset:
        """Return log p(X, y), the joint evidence of all rows under the priors, in nats.

        Parameters
        ----------
        by : {"feature"}, optional
            Take it apart: what the labels have, and what each feature has given the labels; they add up to the whole.

        Returns
        -------
        float or xarray.Dataset
            By feature, the variables ``label_log_evidence`` () and ``feature_log_evidence`` (feature,).

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> by_feature = model.log_evidence(by="feature")
        >>> by_feature.feature_log_evidence.round(4).values  # ln(1/3) + ln(1/2): r, r of A; then g of B
        array([-1.7918])
        >>> round(model.log_evidence() - float(by_feature.label_log_evidence), 4)
        -1.7918
        """
        check_is_fitted(self, "statistics_")
        if by not in (None, "feature"):
            raise ValueError(f'by must be "feature" or None, not {by!r}.')
        return self._posterior.log_evidence() if by is None else evidence_by_feature(self._posterior)

    def log_bayes_factor(self, other: NaiveBayes) -> float:
        """Return ln p(X, y given this model) − ln p(X, y given another one), in nats.

        Parameters
        ----------
        other : NaiveBayes
            A model with other priors or families, fitted to the same rows: the evidence of different rows has no
            ratio. Rows are the same where they give the same counts and sums, whatever their order and batches; more
            than that, no naive Bayes model can tell.

        Returns
        -------
        float
            Above 0 where the rows speak for this model.

        Raises
        ------
        ValueError
            If the models were fitted to different rows or columns, or one has a density (Gaussian) where the other
            has a probability.

        Examples
        --------
        >>> table, label = [["r"], ["r"], ["g"]], ["A", "A", "B"]
        >>> laplace = NaiveBayes(Categorical()).fit(table, label)
        >>> jeffreys = NaiveBayes(Categorical("jeffreys")).fit(table, label)
        >>> round(jeffreys.log_bayes_factor(laplace), 4)  # of A's two r: ½·¾ against ½·⅔
        0.1178
        """
        check_is_fitted(self, "statistics_")
        check_is_fitted(other, "statistics_")
        check_comparable(self._posterior, other._posterior, (self.statistics_, other.statistics_))
        return self.log_evidence() - other.log_evidence()

    def loo(self, X: Any, y: Any, sample_weight: Any = None, *, joint: bool = False) -> ELPDDataLOO:
        """Return the exact leave-one-out log predictive of the training rows, as ArviZ's object.

        Each row is predicted by the model without it, in one pass and without a refit: its statistics are taken out of
        its own label's. ``arviz.compare`` takes the result.

        Parameters
        ----------
        X, y, sample_weight
            The rows that the model was fitted to, in any order.
        joint : bool, default False
            By default log p(label given row, other rows), how well labels are predicted, with the feature weights.
            True takes log p(row, label given other rows) of the generative model, without feature weights: what
            PSIS-LOO estimates from draws.

        Returns
        -------
        arviz.ELPDDataLOO
            ``elpd`` is the sum of the pointwise ``elpd_i``, (row,); ``p`` the effective number of parameters.

        Raises
        ------
        ValueError
            If the rows do not give the statistics that the model holds, or a concentration is 0: without the only row
            that has a value, such a model calls the row impossible.

        Notes
        -----
        Equal to refitting without each row under the same prior: defaults that are fixed from the pooled column stay,
        and so do feature weights. A row leaves with its whole weight, and counts once in the sum; repeated rows leave
        one by one.

        Examples
        --------
        >>> table = [["r"]] * 3 + [["g"]] + [["r"]] + [["g"]] * 3
        >>> model = NaiveBayes(Categorical()).fit(table, list("AAAABBBB"))
        >>> bool(np.isclose(np.exp(model.loo(table, list("AAAABBBB")).elpd_i[0]), 0.590164))
        True
        """
        from bayesnb.loo import elpd

        table, encoded, codes, weight = self._rows_with_labels(X, y, sample_weight, of_training=True)
        posterior = self._posterior.with_weights(np.ones(len(self._posterior.features))) if joint else self._posterior
        left_out = posterior.log_joint_left_out(encoded, codes, weight)
        within = posterior.log_joint(encoded, table.n_rows)
        if not joint:
            left_out, within = (values - logsumexp(values, axis=1, keepdims=True) for values in (left_out, within))
        own = np.arange(table.n_rows), codes
        return elpd(left_out[own], within[own], row_coordinate(table))

    def explain(self, X: Any, reference: Any = None, *, prob: float = 0.94) -> xr.Dataset:
        """Return what each feature of each row adds to the log odds of each label, and how sure that is.

        The contribution of a feature is its weight of evidence, ln p(x_j given label) − ln p(x_j given reference), from
        the exact predictives. Contributions and the prior's add up to the log odds of ``predict_proba``.

        Parameters
        ----------
        X : data frame, array or sparse matrix, shape (row, column)
        reference : label, optional
            The label that the others are held against. Without it, each is held against all the others together,
            ln p/(1 − p); among more than two labels, the others then count by how probable they are in the row.
        prob : float, default 0.94
            Probability of the equal-tailed credible intervals.

        Returns
        -------
        xarray.Dataset
            ``log_odds``, and the part of the label probabilities, ``prior``, ``prior_lower`` and ``prior_upper``, each
            (row, label); ``contribution``, ``lower`` and ``upper`` (row, label, feature); in nats. The reference is
            not among the labels.

        Raises
        ------
        ValueError
            If X can't be read, the reference is not a label, there is but one label, or the posterior is improper.

        Notes
        -----
        Intervals are of ln p(x_j given label, θ) − ln p(x_j given reference, θ) over the posterior of θ, from its first
        four cumulants. A value that a label has hardly met has a wide one, far from symmetric.

        Examples
        --------
        >>> table = [["r", "x"]] * 3 + [["g", "x"]] * 2 + [["g", "o"]] * 3
        >>> model = NaiveBayes(Categorical()).fit(table, list("AAAABBBB"))
        >>> parts = model.explain([["r", "x"]]).sel(label="A", row=0)
        >>> parts.contribution.round(3).values  # ln (4/6 ÷ 1/6), ln (5/6 ÷ 2/6)
        array([1.386, 0.916])
        >>> bool(np.isclose(parts.log_odds, parts.prior + parts.contribution.sum()))
        True
        """
        _check_prob(prob)
        table, encoded = self._encoded(X)
        self._check_proper()
        classes = self.statistics_.classes
        if len(classes) < 2:
            raise ValueError(f"Log odds need two labels, but the model has only {classes[0]!r}.")
        if reference is not None and reference not in classes:
            raise ValueError(f"reference {reference!r} is not among the labels {shown(classes)}.")
        position = None if reference is None else classes.index(reference)
        return explain(self._posterior, encoded, row_coordinate(table), position, prob)

    def decide(
        self,
        X: Any,
        costs: Any = None,
        reject_cost: float | None = None,
        *,
        prob: float = 0.94,
        draws: int = DEFAULT_DRAWS,
        random_seed: Any = None,
    ) -> xr.Dataset:
        """Return the label of least expected cost for each row, or None where none is cheap enough.

        Parameters
        ----------
        X : data frame, array or sparse matrix, shape (row, column)
        costs : array_like, DataFrame or mapping, optional
            What it costs to decide for a label (columns) where another is true (rows); or a mapping from
            (true, decided), in which right decisions, if absent, cost 0. Without it, every error costs 1, and decisions
            are those of ``predict``.
        reject_cost : float, optional
            What it costs not to decide: no label is chosen where the least expected cost is above it.
        prob : float, default 0.94
            Probability of the equal-tailed credible interval.
        draws : int, default 10,000
            How many draws to take where the interval has no closed form.
        random_seed : int, Generator or None

        Returns
        -------
        xarray.Dataset
            By (row,): ``decision``, its ``expected_cost`` under ``predict_proba``, and ``lower`` and ``upper``, the
            interval of the expected cost given θ over the posterior of θ. Attributes name its kind, probability and
            method: in closed form where the cost of each decision turns on one label, as with two labels and with
            equal costs; else by draws.

        Raises
        ------
        ValueError
            If X can't be read, a cost is absent or not finite, or the posterior is improper.

        Examples
        --------
        >>> table, label = [["r"]] * 3 + [["g"]] * 3, ["ill", "ill", "well", "well", "well", "well"]
        >>> model = NaiveBayes(Categorical()).fit(table, label)
        >>> model.predict([["r"]])
        array(['ill'], dtype='<U4')
        >>> costs = {("ill", "well"): 1, ("well", "ill"): 10}
        >>> model.decide([["r"]], costs, reject_cost=0.4).decision.item() is None  # p(ill) is .57
        True
        """
        _check_prob(prob)
        check_is_fitted(self, "statistics_")
        table_of_costs = cost_table(costs, self.statistics_.classes)
        if reject_cost is not None and not np.isfinite(reject_cost):
            raise ValueError(f"reject_cost must be a finite number, not {reject_cost!r}.")
        table, encoded = self._encoded(X)
        self._check_proper()
        given = exact_draws(self._posterior, draws, np.random.default_rng(random_seed))
        return decide(self._posterior, encoded, row_coordinate(table), table_of_costs, reject_cost, prob, given)

    def calibration(
        self, X: Any, y: Any, sample_weight: Any = None, *, leave_one_out: bool = False, prob: float = 0.94
    ) -> xr.Dataset:
        """Return whether predicted probabilities mean what they say, and warn where they are too extreme.

        Parameters
        ----------
        X, y, sample_weight
            Rows that the model has not seen; or the training rows, with ``leave_one_out``.
        leave_one_out : bool, default False
            Whether the rows are the training rows, each to be predicted without itself.
        prob : float, default 0.94
            Probability of the equal-tailed credible intervals.

        Returns
        -------
        xarray.Dataset
            By ``bin``, ten of equal width, of the probability of the most probable label: ``count`` of rows, their
            mean ``predicted`` probability and the ``observed`` share where that label is right, with ``lower`` and
            ``upper`` from Beta(1 + right, 1 + wrong). Over all rows: ``log_score`` (nats, 0 is best) and
            ``brier_score`` (summed over labels, 0 to 2) with their standard errors, ``ece``, the mean distance of
            predicted from observed; ``exponent`` with its error, the power of the probabilities that fits the labels
            best, below 1 if they are overconfident; and ``p_value``, a bound on the probability of an exponent as low
            as this where labels do come from the predictions.

        Warns
        -----
        OverconfidenceWarning
            Where ``p_value`` is below 0.01.

        Raises
        ------
        ValueError
            If X or y can't be read, with ``leave_one_out`` they are not the training rows, or a concentration is 0: a
            label that is called impossible has no log score.

        Notes
        -----
        Predictions are exact averages over what is not known of the parameters. Many held-out rows share one error of
        these, so that after few training rows they may look overconfident by chance more often than ``p_value`` says;
        leave-one-out of the training rows does not have this flaw.

        Examples
        --------
        >>> table, label = [["r"]] * 8 + [["g"]] * 8, ["A"] * 7 + ["B"] * 8 + ["A"]
        >>> result = NaiveBayes(Categorical()).fit(table, label).calibration(table, label, leave_one_out=True)
        >>> float(result.observed[7])  # of the 14 labels that are predicted at .75 or so, all are right
        1.0
        """
        _check_prob(prob)
        table, encoded, codes, weight = self._rows_with_labels(X, y, sample_weight, of_training=leave_one_out)
        if leave_one_out:
            log_joint = self._posterior.log_joint_left_out(encoded, codes, weight)
        else:
            log_joint = self._posterior.log_joint(encoded, table.n_rows)
        log_prob = log_joint - logsumexp(log_joint, axis=1, keepdims=True)
        result = calibration(log_prob, codes, weight, prob)
        warn_if_overconfident(result)
        return result

    def _rows_with_labels(
        self, X: Any, y: Any, sample_weight: Any, *, of_training: bool
    ) -> tuple[Table, list[Encoded], Array, Array]:
        """Arrays, label codes and weights of rows for leave-one-out or a log score, without those of weight 0."""
        check_is_fitted(self, "statistics_")
        if not self._posterior.has_proper_prior:
            raise ValueError(
                "Under a concentration of 0, values and labels that have not been met are impossible: a row that has "
                "one, or is the only one to have it and left out, has no log score. Use a concentration above 0."
            )
        table, labels, weight = _read_rows(X, y, sample_weight)
        if of_training:
            self._check_training_rows(table, labels, weight)
        codes = label_codes(labels, self.statistics_.classes, table)
        table, encoded = self._encoded(table)
        return table, encoded, codes, np.ones(table.n_rows) if weight is None else weight

    def _check_training_rows(self, table: Table, labels: Column, weight: Array | None) -> None:
        gap = difference(self.statistics_, self.statistics_.emptied().met(table, labels, weight, self.unseen))
        if gap is not None:
            raise ValueError(
                f"X, y and sample_weight are not the rows that the model was fitted to: {gap}. Only a training row can "
                "be left out; score other rows with predict_log_proba, or calibration without leave_one_out."
            )

    def n_parameters(self, *, naive: bool = True) -> int:
        """Return how many free parameters the model has.

        Parameters
        ----------
        naive : bool, default True
            Without the naive assumption, every label has a probability for each combination of all features' values.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If without the naive assumption a feature is neither Categorical nor Bernoulli.

        Examples
        --------
        >>> model = NaiveBayes(Bernoulli()).fit([[0, 1, 1], [1, 1, 0]], ["A", "B"])
        >>> model.n_parameters(), model.n_parameters(naive=False)
        (7, 15)
        """
        check_is_fitted(self, "statistics_")
        return self._posterior.n_parameters if naive else self._posterior.n_parameters_of_all_cells

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

    def n_parameters(self, *, naive: bool = True) -> int:
        """Return how many free parameters the model has.

        Parameters
        ----------
        naive : bool, default True
            Without the naive assumption, every label has a probability for each combination of all features' values.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If without the naive assumption a feature is neither Categorical nor Bernoulli.

        Examples
        --------
        >>> model = NaiveBayes(Bernoulli()).fit([[0, 1, 1], [1, 1, 0]], ["A", "B"])
        >>> model.n_parameters(), model.n_parameters(naive=False)
        (7, 15)
        """
        check_is_fitted(self, "statistics_")
        return self._posterior.n_parameters if naive else self._posterior.n_parameters_of_all_cells

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
        if self._weighing["method"] != "none":
            lines.append(described_weights(self.feature_weights_))
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the description once fitted, the constructor call before."""
        return self.describe() if hasattr(self, "statistics_") else repr(self)


def _read_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Table, Column, Array | None]:
    """Rows, labels and weights, without the rows of weight 0."""
    X, y, sample_weight = take_named(X, y, sample_weight)
    table = read_table(X)
    labels = read_labels(y, table.n_rows)
    if sample_weight is None:
        return table, labels, None
    weight = read_weights(sample_weight, table.n_rows)
    kept = weight > 0
    return table.take(kept), labels.take(kept), weight[kept]


def _check_prob(prob: float) -> None:
    if not 0 < prob < 1:
        raise ValueError(f"prob, the probability of an interval, must lie between 0 and 1, not {prob!r}.")


def _arrays(posterior: Posterior, summary: Summary, table: Table, unseen: Unseen) -> list[Encoded]:
    """The arrays that every part reads."""
    return [
        part.encoded(encode(part.block, table, summary.positions(table, part.block), unseen))
        for part in posterior.parts
    ]


def _line(part: Part) -> str:
    if not isinstance(part.family, Categorical):
        return f"{shown(part.features)}: {part.family.name}"
    levels, how = part.family.levels, "declared" if part.block.is_closed else "seen"
    return f"{part.features[0]!r}: Categorical, {len(levels)} {how} levels: {shown(levels)}"


def load(path: str | Path) -> NaiveBayes | xr.DataTree:
    """Return the model that ``NaiveBayes.save`` wrote to a file, or the tree that ``bayesnb.save`` wrote.

    A loaded model predicts as the saved one did, and learns on from there.
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
