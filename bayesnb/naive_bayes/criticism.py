"""Criticism: evidence, leave-one-out, calibration and the count of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import xarray as xr
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from bayesnb.calibration import calibration, chance_of_surprise, warn_if_overconfident
from bayesnb.evidence import check_comparable, evidence_by_feature
from bayesnb.naive_bayes.fitted import Fitted, _check_prob
from bayesnb.tree import row_coordinate

if TYPE_CHECKING:
    from arviz import ELPDDataLOO


class Criticism(Fitted):
    """How well the model describes its rows."""

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
        self._check_labelled("The evidence")
        if by not in (None, "feature"):
            raise ValueError(f'by must be "feature" or None, not {by!r}.')
        return self._posterior.log_evidence() if by is None else evidence_by_feature(self._posterior)

    def log_bayes_factor(self, other: Fitted) -> float:
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
        self._check_labelled("The evidence")
        check_is_fitted(other, "statistics_")
        other._check_labelled("The evidence")  # noqa: SLF001 - a model of the same kind
        theirs = other._posterior  # noqa: SLF001 - a model of the same kind
        check_comparable(self._posterior, theirs, (self.statistics_, other.statistics_))
        return self._posterior.log_evidence() - theirs.log_evidence()

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

    def calibration(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        leave_one_out: bool = False,
        prob: float = 0.94,
        random_seed: Any = None,
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
        random_seed : int, Generator or None
            Of the labels that ``p_value`` is found by, for rows that the model has not seen.

        Returns
        -------
        xarray.Dataset
            By ``bin``, ten of equal width, of the probability of the most probable label: ``count`` of rows, their
            mean ``predicted`` probability and the ``observed`` share where that label is right, with ``lower`` and
            ``upper`` from Beta(1 + right, 1 + wrong). Over all rows: ``log_score`` (nats, 0 is best) and
            ``brier_score`` (summed over labels, 0 to 2) with their standard errors, ``ece``, the mean distance of
            predicted from observed; ``exponent`` with its error, the power of the probabilities that fits the labels
            best, below 1 if they are overconfident; and ``p_value``, the probability of a log score as bad as this
            where the model holds: of the training rows, an upper bound.

        Warns
        -----
        OverconfidenceWarning
            Where ``p_value`` is below 0.01.

        Raises
        ------
        ValueError
            If X or y can't be read or have no rows, with ``leave_one_out`` they are not the training rows, or a
            concentration is 0: a label that is called impossible has no log score.

        Notes
        -----
        Rows that the model has not seen share one error of the parameters, which after few training rows makes many
        labels come as a surprise at once. So their ``p_value`` is a posterior predictive check, by a thousand draws of
        the parameters and, given these, of all labels. Training rows left out take the labels for independent given
        the predictions.

        Examples
        --------
        >>> table, label = [["r"]] * 8 + [["g"]] * 8, ["A"] * 7 + ["B"] * 8 + ["A"]
        >>> result = NaiveBayes(Categorical()).fit(table, label).calibration(table, label, leave_one_out=True)
        >>> float(result.observed[7])  # of the 14 labels that are predicted at .75 or so, all are right
        1.0
        """
        _check_prob(prob)
        table, encoded, codes, weight = self._rows_with_labels(X, y, sample_weight, of_training=leave_one_out)
        if not weight.any():
            raise ValueError("There are no rows to judge by: X is empty, or every sample_weight is zero.")
        if leave_one_out:
            log_joint = self._posterior.log_joint_left_out(encoded, codes, weight)
        else:
            log_joint = self._posterior.log_joint(encoded, table.n_rows)
        log_prob = log_joint - logsumexp(log_joint, axis=1, keepdims=True)
        result = calibration(log_prob, codes, weight, prob)
        if not leave_one_out:
            rng = np.random.default_rng(random_seed)
            result["p_value"] = chance_of_surprise(self._posterior, encoded, log_prob, codes, weight, rng)
        warn_if_overconfident(result)
        return result

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
