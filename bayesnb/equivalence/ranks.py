"""Simulation-based calibration: is the truth behind simulated tables anywhere among the draws, equally often?

Parameters are drawn from the prior, a table from the parameters, and the posterior given the table by one of the two
routes. The rank of the true parameter among the draws is uniform just if the route draws from the posterior (Talts and
others 2018). Ranks of the log likelihood are taken too: they tell of a route that ignores the table, which the ranks of
parameters can't (Modrák and others 2023). Given the labels, features and labels are independent of each other, so that
each feature of each label is a simulation of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.utils.validation import check_is_fitted, check_scalar

from bayesnb.families import Categorical, Family, Multinomial
from bayesnb.families.base import Array
from bayesnb.naive_bayes import NaiveBayes
from bayesnb.posterior import Posterior, posterior_of
from bayesnb.priors import Parameters
from bayesnb.simulation import simulate
from bayesnb.tree import layout_of

BINS = 20
DRAWS = 5 * BINS - 1  # so that the 100 possible ranks fill the bins evenly
TOKENS = 10  # of a simulated document
SIZE = 0.01

Draws = tuple[Array, list[Parameters]]  # label probabilities and the parameters of every part, draws on the first axis


@dataclass(frozen=True)
class Ranks:
    """Ranks of true values among posterior draws, and whether they are uniform.

    Parameters
    ----------
    ranks : dict
        From what was ranked, such as "Gaussian mean", to its ranks, 0 to 99, shape (simulation,).
    """

    ranks: dict[str, Array]

    @property
    def frame(self) -> pd.DataFrame:
        """One row a quantity: how many ranks, the χ² of 20 bins, its p-value, and the verdict.

        All tests together find fault with a right route once in a hundred times (Bonferroni).
        """
        rows = []
        for quantity, ranks in self.ranks.items():
            counts = np.bincount(ranks // (DRAWS // BINS + 1), minlength=BINS)
            chi2, p_value = stats.chisquare(counts)
            verdict = "holds" if p_value > SIZE / len(self.ranks) else "fails"
            rows.append((quantity, len(ranks), float(chi2), float(p_value), verdict))
        return pd.DataFrame(rows, columns=["quantity", "simulations", "chi2", "p_value", "verdict"])

    @property
    def holds(self) -> bool:
        """Whether all ranks may be uniform."""
        return bool((self.frame["verdict"] == "holds").all())

    def plot(self) -> Any:
        """Return a matplotlib figure of rank histograms; all bars of a right route stay in the band, to 99 %."""
        from bayesnb.equivalence.picture import draw_ranks

        return draw_ranks(self.ranks, BINS, SIZE)


def simulation_based_calibration(
    model: NaiveBayes,
    *,
    simulations: int = 100,
    n_rows: int = 20,
    route: Literal["draw", "sample"] | Callable[[Posterior, np.random.Generator], Draws] = "draw",
    random_seed: Any = None,
) -> Ranks:
    """Return the ranks of simulated truths among posterior draws.

    Parameters
    ----------
    model : NaiveBayes
        A fitted one, for its families and priors; its rows are forgotten.
    simulations : int
        How many tables to simulate. Each gives a rank for every label of every feature.
    n_rows : int
        How many rows each table has.
    route : {"draw", "sample"} or callable
        Closed-form draws or NUTS; or a function that takes a Posterior and a Generator and returns 99 draws.
    random_seed : int, Generator or None

    Returns
    -------
    Ranks
        ``holds``, ``frame``, ``ranks`` and ``plot()``.

    Raises
    ------
    ValueError
        If there are too few simulations or rows, or the route is none of these.

    Examples
    --------
    >>> from bayesnb import Categorical, NaiveBayes
    >>> from bayesnb.equivalence import simulation_based_calibration
    >>> model = NaiveBayes(Categorical()).fit([["a"], ["b"], ["b"]], [1, 1, 0])
    >>> simulation_based_calibration(model, simulations=200, random_seed=1).holds
    True
    """
    check_is_fitted(model, "statistics_")
    check_scalar(simulations, "simulations", Integral, min_val=1)
    check_scalar(n_rows, "n_rows", Integral, min_val=0)
    if isinstance(route, str) and route not in ROUTES:
        raise ValueError(f'route must be "draw", "sample" or a function, not {route!r}.')
    rng = np.random.default_rng(random_seed)
    prior = without_rows(
        posterior_of(model.statistics_, model.concentration, model.label_concentration, model.label_prob)
    )
    draw = ROUTES[route] if isinstance(route, str) else route
    ranks = defaultdict(list)
    for number in range(simulations):
        truth = prior.draw(rng, (1,))
        codes, values = simulate(prior, truth, n_rows, [TOKENS] * len(prior.parts), rng)
        y, tables = codes[0], [x[0] for x in values]
        both = zip(
            _quantities(prior, truth, y, tables, number),
            _quantities(prior, draw(_met(prior, y, tables), rng), y, tables, number),
            strict=True,
        )
        for (name, true), (_, drawn) in both:
            ranks[name].append(_rank(true[0], drawn, rng).ravel())
    return Ranks({name: np.concatenate(parts) for name, parts in ranks.items()})


def without_rows(posterior: Posterior) -> Posterior:
    """Return the posterior of no rows: the prior."""
    labels = replace(posterior.labels, counts=np.zeros_like(posterior.labels.counts))
    parts = tuple(replace(part, statistics=part.statistics * 0.0) for part in posterior.parts)
    return replace(posterior, labels=labels, parts=parts)


def _met(prior: Posterior, y: Array, tables: list[Any]) -> Posterior:
    """The posterior that has met a table."""
    n_labels = len(prior.classes)
    labels = replace(prior.labels, counts=np.bincount(y, minlength=n_labels).astype(float))
    parts = (
        replace(part, statistics=part.family.statistics(x, y, n_labels))
        for part, x in zip(prior.parts, tables, strict=True)
    )
    return replace(prior, labels=labels, parts=tuple(parts))


def _by_closed_form(posterior: Posterior, rng: np.random.Generator) -> Draws:
    return posterior.draw(rng, (DRAWS,))


def _by_sampling(posterior: Posterior, rng: np.random.Generator) -> Draws:
    """Draws by NUTS, of 4 × 1,000 so few that they are as good as independent."""
    from bayesnb.sampling import sample

    options = {"draws": 1000, "tune": 1000, "chains": 4, "progressbar": False}
    tree = sample(posterior, nuts_sampler="nutpie", random_seed=rng, **options)
    sampled = tree["posterior"].dataset.stack(of_all=("chain", "draw")).isel(of_all=slice(None, None, 4000 // DRAWS))
    sampled = sampled.isel(of_all=slice(DRAWS)).transpose("of_all", "label", ...)
    parameters: list[Parameters] = [{} for _ in posterior.parts]
    for variable in layout_of(posterior).variables:
        values = sampled[variable.name].to_numpy()
        if variable.position is None:
            parameters[variable.part][variable.parameter] = values
        else:
            parameters[variable.part].setdefault(variable.parameter, []).append(values)
    stacked = [{name: np.stack(v, -1) if isinstance(v, list) else v for name, v in p.items()} for p in parameters]
    return sampled["label_prob"].to_numpy(), stacked


ROUTES = {"draw": _by_closed_form, "sample": _by_sampling}


def _quantities(
    prior: Posterior, draws: Draws, y: Array, tables: list[Any], number: int
) -> Iterator[tuple[str, Array]]:
    """Yield what is ranked, by name, draws on the first axis: parameters and log likelihoods of every label."""
    label_prob, parameters = draws
    counts = np.bincount(y, minlength=len(prior.classes))
    if prior.labels.prior is not None:
        yield "label prob", label_prob[:, number % len(counts)]
        yield "label log likelihood", np.log(label_prob) @ counts
    for part, theta, x in zip(prior.parts, parameters, tables, strict=True):
        for name, values in theta.items():
            one = _one_level(values) if isinstance(part.family, Categorical | Multinomial) else values
            yield f"{part.family.name} {name}", one
        yield f"{part.family.name} log likelihood", _log_likelihood(part.family, theta, x, y, len(counts))


def _one_level(prob: Array) -> Array:
    """One probability of every label's simplex, as the rest depend on it: another level for each label."""
    labels = np.arange(prob.shape[1])
    return prob[:, labels, labels % prob.shape[2]]


def _log_likelihood(family: Family, theta: Parameters, x: Any, y: Array, n_labels: int) -> Array:
    """Log likelihood of each label's rows by draw: (draw, label, feature), or (draw, label).

    The draws of one label stand where a family has its labels.
    """
    of_label = (
        family.log_likelihood({name: values[:, label] for name, values in theta.items()}, x[y == label]).sum(0)
        for label in range(n_labels)
    )
    return np.stack(list(of_label), axis=1)


def _rank(true: Array, drawn: Array, rng: np.random.Generator) -> Array:
    """How many draws lie below the truth; among equal ones its place is random."""
    return (drawn < true).sum(0) + rng.integers(0, (drawn == true).sum(0) + 1)
