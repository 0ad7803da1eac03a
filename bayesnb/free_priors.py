"""Priors that PyMC knows and the closed form does not, in every way of writing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NoReturn

import numpy as np

from bayesnb.distributions import Distribution
from bayesnb.priors import Parameters, Prior


@dataclass(frozen=True)
class FreePrior:
    """A prior of the user's own, which needs no conjugacy: it is declared in a PyMC model, and sampled.

    Parameters
    ----------
    name : str
        What errors call it.
    declare : callable
        Called with the stem and the dims of a feature, in a PyMC model. It returns variables with these dims, by the
        names of the family's parameters: ``prob``; ``mean`` and ``sd``; ``rate``. Each is named ``<stem>_<parameter>``.

    Examples
    --------
    >>> def lengths(stem, dims):
    ...     import pymc as pm
    ...     mean, sd = pm.Normal(f"{stem}_mean", 40, 10, dims=dims), pm.HalfNormal(f"{stem}_sd", 5, dims=dims)
    ...     return {"mean": mean, "sd": sd}
    >>> FreePrior.of(lengths, {}).refusal[:38]
    'The prior lengths has no closed form: '
    """

    name: str
    declare: Callable[[str, tuple[str, ...]], Parameters]
    is_proper: ClassVar[bool] = True

    @classmethod
    def of(cls, prior: Any, distributions: Mapping[str, Distribution]) -> FreePrior | None:
        """Return the prior that a family was given, or None if it has a closed form.

        It is free if it is a function; if distributions of PyMC stand in its place, one for each parameter; or if it is
        conjugate, but a distribution stands in place of a hyperparameter.
        """
        if distributions:
            return cls(_listed(distributions), partial(_declare_each, distributions))
        if callable(prior):
            return cls(getattr(prior, "__name__", repr(prior)), prior)
        if isinstance(prior, Prior) and prior.has_hyperprior:
            return cls(f"{type(prior).__name__}({_listed(vars(prior))})", prior.declare)
        return None

    @property
    def refusal(self) -> str:
        """What an error says where the closed form is asked for."""
        return (
            f"The prior {self.name} has no closed form: take draws with sample(), and predict from them with "
            "predict_proba(X, posterior=…) or predict_uncertainty(X, posterior=…)."
        )

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> NoReturn:  # noqa: ARG002
        """Raise: there are no exact draws."""
        raise ValueError(self.refusal)


def _declare_each(distributions: Mapping[str, Distribution], stem: str, dims: tuple[str, ...]) -> Parameters:
    return {name: of_parameter.declare(f"{stem}_{name}", dims) for name, of_parameter in distributions.items()}


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
