"""Posterior draws by Markov chain Monte Carlo, held against the closed form in Monte Carlo standard errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from bayesnb.equivalence.checks import Check, Claim
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior
from bayesnb.priors import Beta, Dirichlet, Gamma, NormalInverseGamma
from bayesnb.tree import layout_of

QUANTILES = (0.05, 0.5, 0.95)
STANDARD_ERRORS = 4.0
FALSE_ALARM = 0.001  # of all comparisons together
MAX_RHAT = 1.01

EXACT = "its closed form"
MEANS = Claim("sampled mean", "The mean of every parameter over the MCMC draws", EXACT, "standard errors")
SDS = Claim("sampled sd", "The standard deviation of every parameter over the MCMC draws", EXACT, "standard errors")
SHARES = Claim(
    "sampled quantiles",
    "The share of MCMC draws up to the exact 5 %, 50 % and 95 % quantile of every parameter",
    "5 %, 50 % and 95 %",
    "standard errors",
)
MIXING = Claim("r-hat", "The r-hat of every parameter", "1, as when all chains have found the same distribution")


@dataclass(frozen=True)
class Marginal:
    """The closed-form distribution of a parameter, an array of them at once."""

    mean: Array
    sd: Array
    quantile: Callable[[float], Array]


def marginals(posterior: Posterior) -> dict[str, Marginal]:
    """Return the closed-form distribution of every variable of the posterior, shape (label,) or (label, level)."""
    result = {}
    if posterior.labels.posterior is not None:
        result["label_prob"] = _marginal(posterior.labels.posterior, "prob")
    for variable in layout_of(posterior).variables:
        joint = posterior.parts[variable.part].posterior
        if variable.position is not None:
            joint = joint.map(lambda a, at=variable.position: a[..., at])
        result[variable.name] = _marginal(joint, variable.parameter)
    return result


def _marginal(joint: Any, parameter: str) -> Marginal:
    if isinstance(joint, NormalInverseGamma) and parameter == "sd":
        variance = stats.invgamma(joint.shape, scale=joint.scale)
        mean = joint.mean()["sd"]
        return Marginal(mean, np.sqrt(variance.mean() - mean**2), lambda prob: np.sqrt(variance.ppf(prob)))
    distribution = _distribution(joint)
    return Marginal(distribution.mean(), distribution.std(), distribution.ppf)


def _distribution(joint: Any) -> Any:
    if isinstance(joint, Dirichlet):
        return stats.beta(joint.concentration, joint.concentration.sum(-1, keepdims=True) - joint.concentration)
    if isinstance(joint, Beta):
        return stats.beta(joint.a, joint.b)
    if isinstance(joint, Gamma):
        return stats.gamma(joint.shape, scale=1 / joint.rate)
    return stats.t(2 * joint.shape, joint.location, np.sqrt(joint.scale / (joint.shape * joint.pseudo_count)))


def sampled_checks(posterior: Posterior, draws: xr.Dataset) -> Iterator[Check]:
    """Yield the checks of sampled against closed-form means, standard deviations and quantiles, and of r-hat.

    Where n numbers are compared, the largest of n differences is allowed more than four standard errors if a right
    sampler would exceed four too often: all comparisons together give a false alarm once in a thousand tables.
    """
    exact = {name: m for name, m in marginals(posterior).items() if (m.sd > 0).all()}
    gaps = {claim: {name: gap(draws[name], m) for name, m in exact.items()} for claim, gap in GAPS.items()}
    n = sum(values.size for by_name in gaps.values() for values in by_name.values())
    allowed = max(STANDARD_ERRORS, float(stats.norm.isf(FALSE_ALARM / 2 / n)))
    for claim, by_name in gaps.items():
        compared = sum(values.size for values in by_name.values())
        expected = stats.norm.isf((1 - 0.5 ** (1 / compared)) / 2)
        note = f"Of {compared:,} right ones the worst is typically {expected:.1f} off"
        note += f"; {allowed:.1f} is what all {n:,} together exceed once in {1 / FALSE_ALARM:,.0f} tables."
        for name, values in by_name.items():
            yield Check(claim, name, float(values.max()), allowed, note=note)
    for name in exact:
        yield Check(MIXING, name, float(_array("rhat", draws[name]).max()) - 1, MAX_RHAT - 1)


def _mean_gap(draws: xr.DataArray, exact: Marginal) -> Array:
    return np.abs(draws.mean(("chain", "draw")).values - exact.mean) / _array("mcse", draws, method="mean")


def _sd_gap(draws: xr.DataArray, exact: Marginal) -> Array:
    return np.abs(draws.std(("chain", "draw"), ddof=1).values - exact.sd) / _array("mcse", draws, method="sd")


def _quantile_gap(draws: xr.DataArray, exact: Marginal) -> Array:
    """The shares of draws up to the exact quantiles: steadier than the sample's own quantiles and their errors."""
    gaps = []
    for prob in QUANTILES:
        below = (draws <= exact.quantile(prob)).astype(float)
        standard_error = np.sqrt(prob * (1 - prob) / _array("ess", below, method="mean"))
        gaps.append(np.abs(below.mean(("chain", "draw")).values - prob) / standard_error)
    return np.stack(gaps)


def _array(diagnostic: str, draws: xr.DataArray, **options: Any) -> Array:
    """One of ArviZ's diagnostics."""
    import arviz as az

    return np.asarray(getattr(az, diagnostic)(draws, **options))


GAPS = {MEANS: _mean_gap, SDS: _sd_gap, SHARES: _quantile_gap}
