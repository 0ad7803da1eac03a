"""Whether Markov chains have converged: looked at, not only stored."""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr

from bayesnb.blocks import shown

RHAT = 1.01  # Vehtari et al. 2021
ESS_PER_CHAIN = 100  # likewise


class ConvergenceWarning(UserWarning):
    """Draws that can't be trusted: chains that disagree, too few effective draws, divergences."""


def warn_of_convergence(tree: xr.DataTree) -> None:
    """Warn of variables with r-hat above 1.01 or fewer than 100 effective draws a chain, and of divergences."""
    problems = _problems(tree["posterior"].dataset)
    divergences = int(tree["sample_stats"]["diverging"].sum())
    if divergences:
        problems.append(f"{divergences} draws diverged")
    if problems:
        warnings.warn(
            "The draws can't be trusted yet: "
            + "; ".join(problems)
            + ". Draw and tune longer, raise target_accept, or "
            "look for a prior or a feature that leaves a parameter undetermined.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _problems(draws: xr.Dataset) -> list[str]:
    import arviz as az

    with np.errstate(invalid="ignore"):  # of what does not vary
        rhat = {name: float(values.max()) for name, values in az.rhat(draws).data_vars.items()}
        ess = {name: float(values.min()) for name, values in az.ess(draws).data_vars.items()}
    least = ESS_PER_CHAIN * draws.sizes["chain"]
    apart = [name for name, value in rhat.items() if value > RHAT]
    few = [name for name, value in ess.items() if not value >= least]  # of three draws it is not a number
    problems = []
    if apart:
        worst = max(apart, key=rhat.__getitem__)
        problems.append(f"r-hat is above {RHAT} for {shown(apart)} (up to {rhat[worst]:.3f})")
    if few:
        worst = min(few, key=ess.__getitem__)
        problems.append(f"the effective sample size is below {least} for {shown(few)} (down to {ess[worst]:.0f})")
    return problems
