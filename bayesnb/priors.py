"""Distributions of a family's parameters: the prior before the data, the posterior after them.

Every distribution holds arrays whose leading axes are free (a number, a feature, a label and a feature)
and knows its log-normaliser, its point estimates, its own random draws and how to declare itself to PyMC.
Parameters go by the names they have in every table and tree: ``prob``, ``mean`` and ``sd``, ``rate``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, poch, xlog1py, xlogy

from bayesnb.distributions import Distribution, held

LOG_2PI = float(np.log(2 * np.pi))
NAMED_CONCENTRATIONS: dict[str, Callable[[int], float]] = {
    "laplace": lambda _: 1.0,
    "jeffreys": lambda _: 0.5,
    "perks": lambda n_values: 1.0 / n_values,
}

Parameters = dict[str, Any]
Array = Any  # array_like in the constructor, a float array ever after


@dataclass(frozen=True, eq=False)
class Prior:
    """What Beta, Dirichlet, Gamma and NormalInverseGamma share: checked float arrays, equality, selection.

    In a family's prior, a PyMC distribution may stand in place of a parameter, ``Dirichlet(pymc.Exponential.dist(1))``:
    a hyperprior, which the features that are given this one object share. Only ``declare`` can then be asked for.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = held(getattr(self, field.name))
            if not isinstance(value, Distribution):
                value = np.asarray(value, dtype=float)
                self._check(field.name, value)
            object.__setattr__(self, field.name, value)

    def _check(self, name: str, value: NDArray[np.float64]) -> None:
        if not (np.isfinite(value) & (value > 0)).all():
            raise ValueError(f"{type(self).__name__}: {name} must be positive and finite, not {_first_bad(value)}.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), *(np.asarray(getattr(self, f.name)).tobytes() for f in fields(self))))

    def log_normalizer(self) -> Any:
        """Return log Z of the parameters, shape (...)."""
        raise TypeError(f"{type(self).__name__} has no log-normaliser of its own.")

    def declare(self, stem: str, dims: tuple[str, ...]) -> Parameters:  # noqa: ARG002
        """Declare the parameters, named ``<stem>_<parameter>``, in the PyMC model on the stack."""
        raise TypeError(f"{type(self).__name__} has no distribution of PyMC.")

    def mean(self) -> Parameters:
        """Return the mean of every parameter; nan where there is none."""
        raise TypeError(f"{type(self).__name__} has no mean of its own.")

    def unconstrained_mode(self) -> Parameters:
        """Return the mode in unconstrained parameters, log odds and logarithms: that of probabilities is their mean."""
        return self.mean()

    def map(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Self:
        """Apply one function to every parameter array: an index, a broadcast, a reshape."""
        return type(self)(*(function(getattr(self, f.name)) for f in fields(self)))

    @property
    def is_scalar(self) -> bool:
        """Whether every parameter is one number, for however many features."""
        return all(np.ndim(getattr(self, f.name)) == 0 for f in fields(self))

    @property
    def has_hyperprior(self) -> bool:
        """Whether a PyMC distribution stands in place of a parameter, so that only PyMC can update it."""
        return any(isinstance(getattr(self, f.name), Distribution) for f in fields(self))

    def in_model(self, name: str) -> Any:
        """Return a parameter as the PyMC model on the stack has it: a number, or the variable ``prior_<name>``."""
        value = getattr(self, name)
        return value.shared(f"prior_{name}") if isinstance(value, Distribution) else value

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to one; only a concentration of 0 makes it not so."""
        return all((getattr(self, f.name) > 0).all() for f in fields(self) if f.name != "location")


def _first_bad(value: NDArray[np.float64]) -> float:
    return float(value[~(np.isfinite(value) & (value > 0))].flat[0])


@dataclass(frozen=True, eq=False)
class Dirichlet(Prior):
    """Dirichlet distribution of probabilities that add up to one.

    Parameters
    ----------
    concentration : array_like, shape (..., level)
        The λ of λ-smoothing, one for each value; 0 stands for maximum likelihood and is improper.
        A single number stands for the same λ on every value that a feature can take.

    Raises
    ------
    ValueError
        If a concentration is negative or not finite.

    Examples
    --------
    >>> Dirichlet([3, 1]).mean()["prob"]
    array([0.75, 0.25])
    """

    concentration: Array = 1.0

    def _check(self, name: str, value: NDArray[np.float64]) -> None:
        _check_concentration(f"Dirichlet: {name}", value)

    def log_normalizer(self) -> NDArray[np.float64]:
        """Σ lnΓ(α) − lnΓ(Σ α), shape (...)."""
        return gammaln(self.concentration).sum(-1) - gammaln(self.concentration.sum(-1))

    def mean(self) -> Parameters:
        """α / Σα; nan where every α is 0."""
        return {"prob": _ratio(self.concentration, self.concentration.sum(-1, keepdims=True))}

    def mode(self) -> Parameters:
        """(α − 1) / (Σα − S); nan where there is no unique mode (an α below 1, or all equal to 1)."""
        excess = self.concentration - 1
        prob = _ratio(excess, excess.sum(-1, keepdims=True))
        return {"prob": np.where((excess < 0).any(-1, keepdims=True), np.nan, prob)}

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> Parameters:
        """Independent draws, shape ``(*size, ..., level)``."""
        return {"prob": np.exp(log_dirichlet(rng, self.concentration, size))}

    def log_density(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of ``prob``, shape (...)."""
        return xlogy(self.concentration - 1, parameters["prob"]).sum(-1) - self.log_normalizer()

    def log_jacobian(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of the log odds of ``prob`` less that of ``prob``: Σ ln θ."""
        return np.asarray(np.log(parameters["prob"]).sum(-1))

    def declare(self, stem: str, dims: tuple[str, ...]) -> Parameters:
        """Declare ``<stem>_prob`` in the PyMC model on the stack."""
        import pymc as pm

        shape = [len(pm.modelcontext(None).coords[dim]) for dim in dims]
        concentration = self.in_model("concentration") * np.ones(shape)
        return {"prob": pm.Dirichlet(f"{stem}_prob", concentration, dims=dims)}


@dataclass(frozen=True, eq=False)
class Beta(Prior):
    """Beta distribution of the probability of a one.

    Parameters
    ----------
    a, b : array_like, shape (...)
        Concentrations of one and of zero; 0 stands for maximum likelihood and is improper.

    Raises
    ------
    ValueError
        If a concentration is negative or not finite.

    Examples
    --------
    >>> float(Beta(3, 1).mean()["prob"])
    0.75
    """

    a: Array = 1.0
    b: Array = 1.0

    def _check(self, name: str, value: NDArray[np.float64]) -> None:
        _check_concentration(f"Beta: {name}", value)

    def log_normalizer(self) -> NDArray[np.float64]:
        """ln B(a, b), shape (...)."""
        return betaln(self.a, self.b)

    def mean(self) -> Parameters:
        """a / (a + b); nan where both are 0."""
        return {"prob": _ratio(self.a, self.a + self.b)}

    def mode(self) -> Parameters:
        """(a − 1) / (a + b − 2); nan where there is no unique mode (one below 1, or both equal to 1)."""
        prob = _ratio(self.a - 1, self.a + self.b - 2)
        return {"prob": np.where(np.minimum(self.a, self.b) < 1, np.nan, prob)}

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> Parameters:
        """Independent draws, shape ``(*size, ...)``."""
        return {"prob": rng.beta(self.a, self.b, (*size, *np.shape(self.a)))}

    def log_density(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of ``prob``, shape (...)."""
        prob = parameters["prob"]
        return xlogy(self.a - 1, prob) + xlog1py(self.b - 1, -prob) - self.log_normalizer()

    def log_jacobian(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of the log odds of ``prob`` less that of ``prob``: ln θ + ln(1 − θ)."""
        return np.asarray(np.log(parameters["prob"]) + np.log1p(-parameters["prob"]))

    def declare(self, stem: str, dims: tuple[str, ...]) -> Parameters:
        """Declare ``<stem>_prob`` in the PyMC model on the stack."""
        import pymc as pm

        return {"prob": pm.Beta(f"{stem}_prob", self.in_model("a"), self.in_model("b"), dims=dims)}


@dataclass(frozen=True, eq=False)
class Gamma(Prior):
    """Gamma distribution of a Poisson rate.

    Parameters
    ----------
    shape, rate : array_like, shape (...)
        The mean is shape / rate; rate is in the inverse unit of the count.

    Raises
    ------
    ValueError
        If a parameter is not positive and finite.

    Examples
    --------
    >>> float(Gamma(3, 2).mean()["rate"])
    1.5
    """

    shape: Array = 1.0
    rate: Array = 1.0

    def log_normalizer(self) -> NDArray[np.float64]:
        """LnΓ(shape) − shape · ln(rate), shape (...)."""
        return gammaln(self.shape) - self.shape * np.log(self.rate)

    def mean(self) -> Parameters:
        """Shape / rate."""
        return {"rate": self.shape / self.rate}

    def mode(self) -> Parameters:
        """(shape − 1) / rate, and 0 where shape is below 1."""
        return {"rate": np.maximum(self.shape - 1, 0) / self.rate}

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> Parameters:
        """Independent draws, shape ``(*size, ...)``."""
        return {"rate": _standard_gamma(rng, self.shape, size) / self.rate}

    def log_density(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of ``rate``, shape (...)."""
        rate = parameters["rate"]
        return xlogy(self.shape - 1, rate) - self.rate * rate - self.log_normalizer()

    def log_jacobian(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of ln ``rate`` less that of ``rate``: ln θ."""
        return np.asarray(np.log(parameters["rate"]))

    def declare(self, stem: str, dims: tuple[str, ...]) -> Parameters:
        """Declare ``<stem>_rate`` in the PyMC model on the stack."""
        import pymc as pm

        return {"rate": pm.Gamma(f"{stem}_rate", self.in_model("shape"), self.in_model("rate"), dims=dims)}


@dataclass(frozen=True, eq=False)
class NormalInverseGamma(Prior):
    """Joint distribution of a Gaussian's mean μ and variance σ².

    σ² ~ InverseGamma(shape, scale) and, given σ², μ ~ Normal(location, variance σ² / pseudo_count).

    Parameters
    ----------
    location : array_like, shape (...)
        In the unit of the feature.
    pseudo_count : array_like, shape (...)
        How many rows the location is worth.
    shape : array_like, shape (...)
        Half the rows that the scale is worth.
    scale : array_like, shape (...)
        In the squared unit of the feature.

    Raises
    ------
    ValueError
        If a parameter other than the location is not positive, or any is not finite.

    Examples
    --------
    >>> float(NormalInverseGamma(5, 1, 2, 8).mean()["mean"])
    5.0
    """

    location: Array = 0.0
    pseudo_count: Array = 1.0
    shape: Array = 1.0
    scale: Array = 1.0

    def _check(self, name: str, value: NDArray[np.float64]) -> None:
        if name != "location":
            super()._check(name, value)
        elif not np.isfinite(value).all():
            raise ValueError("NormalInverseGamma: location must be finite.")

    def log_normalizer(self) -> NDArray[np.float64]:
        """LnΓ(a) − a ln b + ½ ln(2π / κ), shape (...)."""
        return gammaln(self.shape) - self.shape * np.log(self.scale) + 0.5 * (LOG_2PI - np.log(self.pseudo_count))

    def mean(self) -> Parameters:
        """E μ = location and E σ = √scale Γ(a − ½) / Γ(a); sd is nan where shape ≤ ½."""
        above = np.where(self.shape > 0.5, self.shape, np.nan)
        return {"mean": self.location, "sd": np.sqrt(self.scale) * poch(above, -0.5)}

    def mode(self) -> Parameters:
        """Joint mode of (μ, σ²): location and scale / (shape + 3/2), the latter as a standard deviation."""
        return {"mean": self.location, "sd": np.sqrt(self.scale / (self.shape + 1.5))}

    def unconstrained_mode(self) -> Parameters:
        """Joint mode of (μ, ln σ²): location and scale / (shape + ½), the latter as a standard deviation."""
        return {"mean": self.location, "sd": np.sqrt(self.scale / (self.shape + 0.5))}

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> Parameters:
        """Independent draws of mean and sd, each of shape ``(*size, ...)``."""
        sd = np.sqrt(self.scale / _standard_gamma(rng, self.shape, size))
        return {"mean": rng.normal(self.location, sd / np.sqrt(self.pseudo_count)), "sd": sd}

    def log_density(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of (``mean``, square of ``sd``), shape (...)."""
        mean, variance = parameters["mean"], parameters["sd"] ** 2
        squares = 2 * self.scale + self.pseudo_count * (mean - self.location) ** 2
        return -(self.shape + 1.5) * np.log(variance) - squares / (2 * variance) - self.log_normalizer()

    def log_jacobian(self, parameters: Parameters) -> NDArray[np.float64]:
        """Log density of (``mean``, ln of the square of ``sd``) less that of (``mean``, square of ``sd``): ln σ²."""
        return np.asarray(2 * np.log(parameters["sd"]))

    def declare(self, stem: str, dims: tuple[str, ...]) -> Parameters:
        """Declare ``<stem>_variance``, ``<stem>_mean`` and ``<stem>_sd`` in the PyMC model on the stack."""
        import pymc as pm

        variance = pm.InverseGamma(f"{stem}_variance", self.in_model("shape"), self.in_model("scale"), dims=dims)
        spread = pm.math.sqrt(variance / self.in_model("pseudo_count"))
        mean = pm.Normal(f"{stem}_mean", self.in_model("location"), spread, dims=dims)
        return {"mean": mean, "sd": pm.Deterministic(f"{stem}_sd", pm.math.sqrt(variance), dims=dims)}


def _standard_gamma(rng: np.random.Generator, shape: NDArray[np.float64], size: tuple[int, ...]) -> NDArray[np.float64]:
    """Gamma(shape, 1) draws, ``(*size, ...)``; one that underflowed, as of a shape of 0.001, is the least float."""
    return np.maximum(rng.standard_gamma(shape, (*size, *np.shape(shape))), np.finfo(float).tiny)


def log_dirichlet(
    rng: np.random.Generator, concentration: NDArray[np.float64], size: tuple[int, ...]
) -> NDArray[np.float64]:
    """Natural logarithms of Dirichlet draws, shape ``(*size, ..., level)``.

    Gamma(α) is Gamma(α + 1) · U^(1/α): in logarithms, a concentration of 0.001 does not underflow to 0.
    """
    shape = (*size, *concentration.shape)
    log_gamma = np.log(rng.standard_gamma(concentration + 1, shape)) - rng.standard_exponential(shape) / concentration
    log_gamma -= log_gamma.max(-1, keepdims=True)
    log_gamma -= np.log(np.exp(log_gamma).sum(-1, keepdims=True))
    return log_gamma


def concentration_vector(spec: object, values: Sequence[Any], what: str) -> NDArray[np.float64]:
    """Return one concentration for each value from any way of writing a Dirichlet prior.

    Parameters
    ----------
    spec : number, str, array_like, mapping or Dirichlet
        The same λ for all; "laplace" (1), "jeffreys" (½) or "perks" (1 / number of values); one λ a value, in order;
        or a mapping from each value to its λ.
    values : sequence
        The values that the feature can take.
    what : str
        What the error message calls the prior.

    Returns
    -------
    ndarray, shape (level,)

    Raises
    ------
    ValueError
        If a name is unknown, a length or a key does not fit, or a concentration is negative or not finite.
    TypeError
        If a concentration is a PyMC distribution.
    """
    if isinstance(spec, Dirichlet):
        spec = spec.concentration
    if isinstance(held(spec), Distribution):
        raise TypeError(f"{what}: give a PyMC distribution to a family, as in Categorical(Dirichlet({held(spec)})).")
    if isinstance(spec, str):
        if spec not in NAMED_CONCENTRATIONS:
            raise ValueError(f"{what}: unknown prior {spec!r}; the names are {', '.join(NAMED_CONCENTRATIONS)}.")
        return np.full(len(values), NAMED_CONCENTRATIONS[spec](max(len(values), 1)))
    if isinstance(spec, Mapping):
        return _from_mapping(spec, values, what)
    vector = np.asarray(spec, dtype=float)
    _check_concentration(what, vector)
    if vector.ndim and vector.shape != (len(values),):
        raise ValueError(f"{what}: {vector.size} concentrations for the {len(values)} values {_listed(values)}.")
    return np.broadcast_to(vector, len(values)).astype(float)


def _from_mapping(spec: Mapping[Any, Any], values: Sequence[Any], what: str) -> NDArray[np.float64]:
    unknown = [value for value in spec if value not in values]
    absent = [value for value in values if value not in spec]
    if unknown or absent:
        raise ValueError(
            f"{what}: the mapping must name each of {_listed(values)} once"
            + (f"; {_listed(unknown)} is not among them" if unknown else "")
            + (f"; {_listed(absent)} is not given" if absent else "")
            + "."
        )
    vector = np.array([spec[value] for value in values], dtype=float)
    _check_concentration(what, vector)
    return vector


def _check_concentration(what: str, value: NDArray[np.float64]) -> None:
    if not (np.isfinite(value) & (value >= 0)).all():
        bad = float(value[~(np.isfinite(value) & (value >= 0))].flat[0])
        raise ValueError(f"{what}: a concentration must be finite and not negative, not {bad}.")


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(v.item() if isinstance(v, np.generic) else v) for v in list(values)[:8])
    return shown + (", …" if len(values) > 8 else "")


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan), where=whole != 0)
