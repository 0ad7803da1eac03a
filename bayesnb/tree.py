"""Named arrays to labelled ones: the variables of a model, their dimensions and coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesnb.blocks import shown
from bayesnb.families import Categorical, Multinomial
from bayesnb.families.base import Array
from bayesnb.frame import Table, object_array
from bayesnb.posterior import Posterior
from bayesnb.priors import Parameters

RESERVED = ("label", "row", "chain", "draw", "feature", "term", "order")
SUFFIXES = ("prob", "mean", "sd", "rate", "variance", "count", "average", "spread", "total", "rest", "value")


@dataclass(frozen=True)
class Variable:
    """One variable of a posterior: its name, where its numbers are in the arrays of a part, and its axes."""

    stem: str  # what its name starts with: that of the feature, made unique
    part: int
    parameter: str
    position: int | None  # on the feature axis of the part; None takes the whole array
    dims: tuple[str, ...]
    feature: Any  # the user's own name of the column, or None

    @property
    def name(self) -> str:
        """The name in every tree, ``<stem>_<parameter>``."""
        return f"{self.stem}_{self.parameter}"


@dataclass(frozen=True)
class Layout:
    """Names, dimensions and coordinates of every variable, the same for both routes."""

    variables: tuple[Variable, ...]
    coords: dict[str, Any]

    @property
    def features(self) -> tuple[Variable, ...]:
        """The first variable of each feature, for its stem, its place and its dimensions."""
        return tuple({v.stem: v for v in reversed(self.variables)}.values())[::-1]

    def dataset(
        self, label_prob: Array, parameters: Sequence[Parameters], sample_dims: tuple[str, ...] = ()
    ) -> xr.Dataset:
        """Return a Dataset from the label probabilities and the arrays of every part, sample axes in front."""
        data: dict[str, Any] = {"label_prob": ((*sample_dims, "label"), label_prob, {})}
        for v in self.variables:
            array = np.asarray(parameters[v.part][v.parameter])
            values = array if v.position is None else array[..., v.position]
            data[v.name] = ((*sample_dims, *v.dims), values, {} if v.feature is None else {"feature": str(v.feature)})
        sizes = dict(zip(sample_dims, label_prob.shape, strict=False))
        return xr.Dataset(data, {**{dim: np.arange(size) for dim, size in sizes.items()}, **self.coords})

    def arrays_of(self, tree: Any) -> tuple[Array, list[Parameters]]:
        """Return the label probabilities and the arrays of every part from the group ``posterior`` of a user's tree.

        Raises
        ------
        TypeError
            If it is no tree with such a group.
        ValueError
            As for ``arrays``.
        """
        if not isinstance(tree, xr.DataTree) or "posterior" not in tree.children:
            raise TypeError(
                "Draws are a DataTree with a group 'posterior', as draw() and sample() return it, and not "
                f"{'one without' if isinstance(tree, xr.DataTree) else type(tree).__name__}."
            )
        return self.arrays(tree["posterior"].to_dataset())

    def arrays(self, posterior: xr.Dataset) -> tuple[Array, list[Parameters]]:
        """Return the label probabilities and the arrays of every part from a posterior's Dataset.

        The inverse of ``dataset``: the axes are (chain, draw, …), the parameters those of each part in turn.

        Raises
        ------
        ValueError
            If the Dataset is of another model, naming the variables, labels or levels that differ; or has no draws.
        """
        self._check_same(posterior)
        if not posterior.sizes["chain"] * posterior.sizes["draw"]:
            raise ValueError("The posterior has no draws.")
        parts = dict.fromkeys(v.part for v in self.variables)
        label_prob = posterior["label_prob"].transpose("chain", "draw", "label").to_numpy()
        return label_prob, [self.parameters_of(part, posterior) for part in parts]

    def parameters_of(self, part: int, posterior: xr.Dataset) -> Parameters:
        """Return the arrays of one part, (chain, draw, …)."""
        by_name: dict[str, list[Array]] = {}
        for v in self.variables:
            if v.part == part:
                values = posterior[v.name].transpose("chain", "draw", *v.dims).to_numpy()
                by_name.setdefault(v.parameter, []).append(values if v.position is None else values[..., None])
        return {name: np.concatenate(arrays, axis=-1) for name, arrays in by_name.items()}

    def _check_same(self, posterior: xr.Dataset) -> None:
        names = ["label_prob", *(v.name for v in self.variables)]
        lacking = [name for name in names if name not in posterior]
        if lacking:
            raise ValueError(f"The posterior is of another model: it lacks the variables {shown(lacking)}.")
        further = [name for name, v in posterior.data_vars.items() if "feature" in v.attrs and name not in names]
        if further:
            raise ValueError(f"The posterior is of another model: it has the further variables {shown(further)}.")
        for dim, values in self.coords.items():
            theirs = posterior[dim].to_numpy().tolist()
            if theirs != values.tolist():
                raise ValueError(
                    f"The posterior is of another model: along {dim!r} it has {shown(theirs)}, "
                    f"but this model {shown(values.tolist())}."
                )


def layout_of(posterior: Posterior) -> Layout:
    """Return the layout of a model: a variable for each feature and parameter, dims and coords by the user's names."""
    taken = {*RESERVED, "label_prob", "label_count"}
    coords = {"label": index_of(posterior.classes)}
    variables: list[Variable] = []
    for number, part in enumerate(posterior.parts):
        parameters = part.family.parameters
        if isinstance(part.family, Multinomial):
            stem = _claimed("term", taken - {"term"}, taken)
            coords[stem] = index_of(part.features)
            variables += [Variable(stem, number, p, None, ("label", stem), None) for p in parameters]
            continue
        for position, feature in enumerate(part.features):
            stem = _claimed(str(feature).replace("/", "_"), taken, taken)
            has_levels = isinstance(part.family, Categorical)
            if has_levels:
                coords[stem] = index_of(part.family.levels)
            dims = ("label", stem) if has_levels else ("label",)
            place = None if has_levels else position
            variables += [Variable(stem, number, p, place, dims, feature) for p in parameters]
    return Layout(tuple(variables), coords)


def _claimed(stem: str, in_use: set[str], taken: set[str]) -> str:
    """The stem, with underscores behind it until neither it nor its variables have a name in use; now taken."""
    while stem in in_use or any(f"{stem}_{suffix}" in in_use for suffix in SUFFIXES):
        stem += "_"
    taken |= {stem, *(f"{stem}_{suffix}" for suffix in SUFFIXES)}
    return stem


def row_coordinate(table: Table) -> Array:
    """Return the names of the rows: the index of a data frame that has one, else 0, 1, 2, …"""
    return np.arange(table.n_rows) if table.index is None else table.index.to_numpy()


def index_of(values: Iterable[Any]) -> Any:
    """Return values as a coordinate that XArray does not read anew: None would become nan."""
    array = coordinate(list(values))
    return pd.Index(array, dtype=object, tupleize_cols=False) if array.dtype == object else array


def coordinate(values: Sequence[Any]) -> Array:
    """Return values as a coordinate that keeps their types: [1, "a"] does not become text."""
    values = list(values)
    if len({type(value) for value in values}) == 1 and isinstance(values[0], bool | int | float | str):
        return np.array(values)
    return object_array(values)
