"""Draws: exact ones, those of PyMC, and tables simulated from them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr
from sklearn.utils.validation import check_is_fitted

from bayesnb.families.base import Array
from bayesnb.frame import read_labels
from bayesnb.naive_bayes.fitted import Fitted, _check_sizes
from bayesnb.posterior import check_proper_prior
from bayesnb.summary import label_codes
from bayesnb.tree import row_coordinate


class Drawing(Fitted):
    """Draws of the parameters, exact or by PyMC, and simulated tables."""

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
            If the posterior is improper (a concentration of 0 with a value that a label has not met), or a number is
            less than 1.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> posterior = model.draw(draws=500, random_seed=1)["posterior"]
        >>> posterior["x0_prob"].dims, posterior["x0_prob"].shape
        (('chain', 'draw', 'label', 'x0'), (4, 500, 2, 2))
        """
        _check_sizes(draws=draws, chains=chains)
        self._check_proper()
        self._warn_if_too_sure()
        draws_of = self._posterior.draw(np.random.default_rng(random_seed), (chains, draws))
        return xr.DataTree.from_dict({"posterior": self._layout.dataset(*draws_of, ("chain", "draw"))})

    def prior_draw(self, draws: int = 1000, chains: int = 4, random_seed: Any = None) -> xr.DataTree:
        """Return independent draws from the prior, for prior checks; by PyMC where a prior has no closed form.

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
            If the prior is improper (a concentration of 0), or a number is less than 1.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> model.prior_draw(draws=500, random_seed=1)["prior"]["x0_prob"].shape
        (4, 500, 2, 2)
        """
        from bayesnb.groups import prior

        check_is_fitted(self, "statistics_")
        _check_sizes(draws=draws, chains=chains)
        check_proper_prior(self._posterior)
        drawn = prior(self._posterior, np.random.default_rng(random_seed), (chains, draws))
        return xr.DataTree.from_dict({"prior": drawn})

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
        """Return draws from the posterior by NUTS, from prior and likelihood.

        The model has the size of the statistics: a billion rows cost as much as a thousand. Of the closed form it has
        the units only that Gaussian means are sampled in.

        Parameters
        ----------
        draws, tune : int
            How many draws of each chain to keep, after how many to adapt to the posterior (nutpie takes one at least).
        chains : int
        random_seed : int, Generator or None
        progressbar : bool
        nuts_sampler : {"nutpie", "pymc", "numpyro", "blackjax"}
            Who runs NUTS; none but the one named. "nutpie" is the fastest and needs no compiler.
        **options
            Further settings of ``nutpie.sample``, such as ``cores``, ``target_accept`` and ``maxdepth``; with another
            sampler, arguments of ``pymc.sample``. Not those that change what is returned.

        Returns
        -------
        xarray.DataTree
            Group ``posterior``: the same variables, dims and coords as from ``draw``. Group ``sample_stats``.

        Raises
        ------
        ValueError
            If a prior is improper (a concentration of 0) or has a discrete parameter, rows without a label were
            fitted, a number is too small, or there is no such sampler.

        Warns
        -----
        bayesnb.diagnostics.ConvergenceWarning
            Of variables with r-hat above 1.01 or fewer than 100 effective draws a chain, and of divergences.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> sampled = model.sample(random_seed=1, progressbar=False)["posterior"]
        >>> sampled["x0_prob"].dims, sampled["x0_prob"].shape
        (('chain', 'draw', 'label', 'x0'), (4, 1000, 2, 2))
        """
        from bayesnb.sampling import sample

        self._check_labelled("sample()")
        _check_sizes(draws=draws, chains=chains)
        _check_sizes(0, tune=tune)
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
            If a prior is improper (a concentration of 0), which PyMC has no distribution for; rows are given for
            "statistics", or not for "rows"; or with "statistics" rows without a label were fitted.

        Examples
        --------
        >>> model = NaiveBayes(Categorical()).fit([["r"], ["r"], ["g"]], ["A", "A", "B"])
        >>> [variable.name for variable in model.to_pymc().basic_RVs]
        ['label_prob', 'x0_prob', 'label_count', 'x0_count']
        """
        from bayesnb.generative import rows_model, statistics_model

        check_is_fitted(self, "statistics_")
        if likelihood not in ("statistics", "rows"):
            raise ValueError(f'likelihood must be "statistics" or "rows", not {likelihood!r}.')
        if (X is None or y is None) == (likelihood == "rows"):
            raise ValueError('X and y go with likelihood="rows", which needs both; the statistics are those of fit.')
        if likelihood == "statistics":
            self._check_labelled('likelihood="statistics"')
            return statistics_model(self._posterior)
        table, encoded = self._encoded(X)
        labels = read_labels(y, table.n_rows, may_lack=True)
        return rows_model(
            self._posterior, encoded, label_codes(labels, self.statistics_.classes), row_coordinate(table)
        )

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
            If the tree is of another model or without draws, the prior is improper, X or y can't be read, or
            ``replicates`` is less than 1.
        TypeError
            If the tree is no DataTree with a group ``posterior``.

        Examples
        --------
        >>> table, label = [["r"], ["r"], ["g"]], ["A", "A", "B"]
        >>> model = NaiveBayes(Categorical()).fit(table, label)
        >>> tree = model.with_groups(model.draw(draws=200, random_seed=1), table, label, random_seed=1)
        >>> tree["log_likelihood"]["rows"].dims, tree["posterior_predictive"]["x0_value"].shape
        (('chain', 'draw', 'row'), (4, 25, 3))
        """
        from bayesnb.groups import Rows, groups_of_parameters, groups_of_rows

        _check_sizes(replicates=replicates)
        check_proper_prior(self._posterior)
        rng = np.random.default_rng(random_seed)
        draws = self._layout.arrays_of(tree)
        groups = groups_of_parameters(self._posterior, tree["posterior"].dataset, rng)
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
        X : data frame, array or sparse matrix, of n rows
            The kind of table that the model was fitted to (of a lazy frame, what collecting it gives), with all of its
            columns in their order and types: categories have all levels, and whole numbers read as Gaussian become
            floats. A column that did not vary has its one value. No cell is missing but where None is a level of its
            own, or no row had a value.
        y : ndarray, shape (n,)

        Raises
        ------
        ValueError
            If the distribution of the parameters is improper, or tokens are needed and not given, or are no counts.

        Examples
        --------
        >>> model = NaiveBayes().fit(pd.DataFrame({"a": ["r", "g", "r"], "b": [1.0, 2, 4]}), ["u", "v", "v"])
        >>> X, y = model.simulate(2, random_seed=0)
        >>> list(X.columns), X["b"].dtype, y.shape
        (['a', 'b'], dtype('float64'), (2,))
        """
        from bayesnb.simulation import simulated_table

        check_is_fitted(self, "statistics_")
        _check_sizes(0, n=n)
        if prior:
            check_proper_prior(self._posterior)
        else:
            self._check_proper()
            self._warn_if_too_sure()
        rng = np.random.default_rng(random_seed)
        draw = (self._posterior.draw_prior if prior else self._posterior.draw)(rng, ())
        X, codes = simulated_table(self._posterior, self.statistics_, draw, n, tokens, rng)
        return X, self.classes_[codes]
