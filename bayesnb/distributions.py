"""Distributions of PyMC as priors are given them, held and named without importing PyMC."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count
from typing import Any, Self


@dataclass(frozen=True)
class Distribution:
    """A distribution that belongs to no PyMC model yet, as ``pymc.Normal.dist(0, 1)`` returns it.

    It equals only itself, and a copy is the thing itself: features whose priors hold it share what they may share.
    """

    variable: Any

    def __repr__(self) -> str:
        """Return a text that no other distribution has."""
        return f"<{self} at {id(self.variable):#x}>"

    def __str__(self) -> str:
        """Return PyMC's own description, such as Normal(0, 1)."""
        from pymc.printing import str_for_dist

        return str_for_dist(self.variable)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def declare(self, name: str, dims: tuple[str, ...]) -> Any:
        """Declare a variable of this distribution in the PyMC model on the stack, independent along the dims."""
        import pymc as pm
        from pymc.distributions.shape_utils import change_dist_size

        model = pm.modelcontext(None)
        shape = tuple(len(model.coords[dim]) for dim in dims)
        size = shape[: len(shape) - self.variable.owner.op.ndim_supp]
        return model.register_rv(change_dist_size(self.variable, size), name, dims=dims)

    def shared(self, name: str) -> Any:
        """Return the one variable of this distribution in the PyMC model on the stack, declared when first asked for.

        It bears the variable's own name, or else the one given, with a number behind it if another has that.
        """
        import pymc as pm

        model = pm.modelcontext(None)
        for declared in model.free_RVs:
            if getattr(declared.tag, "declares", None) is self.variable:
                return declared
        name = self.variable.name or name
        names = chain([name], (f"{name}_{number}" for number in count(2)))
        variable = self.declare(next(free for free in names if free not in model.named_vars), ())
        variable.tag.declares = self.variable
        return variable


def is_distribution(value: Any) -> bool:
    """Whether a value is a distribution of PyMC: a variable that an operation of random variables has made."""
    return hasattr(getattr(getattr(value, "owner", None), "op", None), "ndim_supp")


def held(value: Any) -> Any:
    """Return a distribution of PyMC in its holder, and any other value as it is."""
    return Distribution(value) if is_distribution(value) else value
