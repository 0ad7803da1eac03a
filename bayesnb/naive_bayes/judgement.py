"""Judgement: intervals, explanations and decisions."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import xarray as xr
from sklearn.utils.validation import check_is_fitted

from bayesnb.blocks import shown
from bayesnb.decisions import cost_table, decide
from bayesnb.explanation import explain
from bayesnb.naive_bayes.fitted import Fitted, _check_prob, _check_sizes
from bayesnb.score_draws import DEFAULT_DRAWS, DRAWS_FOR_FEW, exact_draws, given_draws
from bayesnb.tree import row_coordinate
from bayesnb.uncertainty import Kind, Method, predict_uncertainty


class Judgement(Fitted):
    """How sure predictions are, why, and what to decide."""

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
            How many exact draws to take where draws are needed; by default 10,000, and 400,000 for the few rows.
        random_seed : int, Generator or None

        Returns
        -------
        xarray.Dataset
            (row, label): ``prob``, the exact prediction of ``predict_proba``; ``mean``, ``sd``, ``lower`` and
            ``upper`` of p(label given x, θ). (row,), in nats: ``entropy_total`` of the mean, ``entropy_aleatoric``,
            the mean entropy, which no further training rows would take away, and ``entropy_epistemic``, the rest.
            Attributes name the interval's kind and probability, the method, and where the prediction is from: with a
            prior that has no closed form, from the given draws, and ``mcse`` is its Monte Carlo standard error.

        Raises
        ------
        ValueError
            If X can't be read, an argument is none of those above, the posterior is improper, or the draws are of
            another model or none.
        TypeError
            If ``posterior`` is no DataTree with a group of that name.

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
        [0.49, 0.66, 0.8]
        """
        _check_prob(prob)
        if kind not in get_args(Kind):
            raise ValueError(f'kind, of an interval, is "eti" or "hdi", not {kind!r}.')
        if method not in (None, *get_args(Method)):
            raise ValueError(f'method is "cumulants" or "draws", not {method!r}.')
        if posterior is not None and (method == "cumulants" or draws is not None):
            raise ValueError('With a posterior given, all of its draws are taken: leave out draws and "cumulants".')
        if draws is not None:
            _check_sizes(draws=draws)
        table, encoded = self._encoded(X)
        if posterior is None or self._posterior.is_conjugate:
            self._check_proper()
        if posterior is None:
            self._warn_if_too_sure()
            n_draws = draws or (DEFAULT_DRAWS if method == "draws" else DRAWS_FOR_FEW)
            given = exact_draws(self._posterior, n_draws, np.random.default_rng(random_seed))
        else:
            given = given_draws(self._posterior, *self._layout.arrays_of(posterior))
            method = "draws"
        row = row_coordinate(table)
        return predict_uncertainty(self._posterior, encoded, row, prob, kind, given, method or "cumulants")

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
        four cumulants. A value that a label has hardly met has a wide one, far from symmetric. Where the distribution
        is too skewed for four cumulants, as under a prior worth a hundredth of a row, bounds are rough, or nan.

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
        self._warn_if_too_sure()
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
            How many draws to take where the interval has no closed form, or not in a row.
        random_seed : int, Generator or None

        Returns
        -------
        xarray.Dataset
            By (row,): ``decision``, its ``expected_cost`` under ``predict_proba``, and ``lower`` and ``upper``, the
            interval of the expected cost given θ over the posterior of θ; without a decision, all three are the reject
            cost. Attributes name its kind, probability and
            method: in closed form where the cost of each decision turns on one label, as with two labels and with
            equal costs; else by draws.

        Raises
        ------
        ValueError
            If X can't be read, a cost is absent or not finite, the posterior is improper, or ``draws`` is less than 1.

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
        _check_sizes(draws=draws)
        check_is_fitted(self, "statistics_")
        table_of_costs = cost_table(costs, self.statistics_.classes)
        if reject_cost is not None and not np.isfinite(reject_cost):
            raise ValueError(f"reject_cost must be a finite number, not {reject_cost!r}.")
        table, encoded = self._encoded(X)
        self._check_proper()
        self._warn_if_too_sure()
        given = exact_draws(self._posterior, draws, np.random.default_rng(random_seed))
        return decide(self._posterior, encoded, row_coordinate(table), table_of_costs, reject_cost, prob, given)
