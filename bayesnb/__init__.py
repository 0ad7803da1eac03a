"""Naive Bayes as a generative model: exact conjugate answers beside full posterior sampling."""

from __future__ import annotations

import importlib
from typing import Any

_ROOMS = {
    "NaiveBayes": "naive_bayes",
    "OverconfidenceWarning": "calibration",
    **dict.fromkeys(("Bernoulli", "Categorical", "Gaussian", "Multinomial", "Poisson"), "families"),
    **dict.fromkeys(("Beta", "Dirichlet", "Gamma", "NormalInverseGamma"), "priors"),
    "merge": "merging",
    "verify_equivalence": "equivalence",
}
_MODULES = ("datasets", "plots")

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "Gamma",
    "Gaussian",
    "Multinomial",
    "NaiveBayes",
    "NormalInverseGamma",
    "OverconfidenceWarning",
    "Poisson",
    "datasets",
    "merge",
    "plots",
    "verify_equivalence",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that ``import bayesnb`` is light."""
    if name in _ROOMS:
        return getattr(importlib.import_module(f"bayesnb.{_ROOMS[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"bayesnb.{name}")
    raise AttributeError(f"module 'bayesnb' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
