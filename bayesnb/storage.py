"""Models, and trees of draws, in a file: NetCDF by way of xarray, every value read back equal in value and type.

NetCDF knows numbers and text. What it does not know (None, True, tuples, priors, families, coordinates of mixed types)
is written as JSON, in which everything that JSON has no type for is ``{type: contents}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import xarray as xr

from bayesnb.blocks import Block
from bayesnb.distributions import Distribution
from bayesnb.families import Family, Statistics
from bayesnb.frame import object_array, plain
from bayesnb.priors import Prior
from bayesnb.schema import Schema
from bayesnb.summary import Summary
from bayesnb.tree import index_of

ENGINE: Final = "h5netcdf"
TEXT = "json"  # name of the variable, or of the mark on one, that holds JSON


def to_json(value: Any) -> str:
    """Return a value as JSON text.

    Raises
    ------
    TypeError
        If the value, or one inside it, is not a number, a text, a boolean, None, a list, a tuple, a mapping, an array,
        a prior with a closed form or a family.
    """
    return json.dumps(_encoded(value))


def from_json(text: str) -> Any:
    """Return the value that ``to_json`` wrote."""
    return _decoded(json.loads(text))


def _encoded(value: Any) -> Any:
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        parts = [_encoded(v) for v in value]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, Mapping):
        return {"dict": [[_encoded(k), _encoded(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, _encoded(value.tolist())]}
    if is_dataclass(value) and type(value).__name__ in _types():
        return {type(value).__name__: {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}}
    if callable(value) or isinstance(value, Distribution):
        raise TypeError(
            f"The prior {value!r} is PyMC's and can't be saved with a model: save its draws, "
            "bayesnb.save(model.sample(), path), and fit the model anew with the prior to predict from them."
        )
    raise TypeError(
        f"{value!r} of the type {type(value).__name__} can't be saved: use numbers, text or tuples of them."
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(v) for v in value]
    if not isinstance(value, dict):
        return value
    ((name, contents),) = value.items()
    if name in ("tuple", "slice"):
        return tuple(_decoded(contents)) if name == "tuple" else slice(*contents)
    if name == "dict":
        return {_decoded(k): _decoded(v) for k, v in contents}
    if name == "array":
        return np.array(_decoded(contents[1]), dtype=contents[0])
    return _types()[name](**{field: _decoded(v) for field, v in contents.items()})


def _types() -> dict[str, type[Any]]:
    """The families and priors by name, those that were defined elsewhere too."""
    return {cls.__name__: cls for base in (Family, Prior) for cls in base.__subclasses__()}


def model_tree(summary: Summary, about: Mapping[str, Any]) -> xr.DataTree:
    """Return all that a model has learnt, and what else is to be known about it, as a tree that can be saved."""
    blocks = [
        {**{field.name: getattr(block, field.name) for field in fields(Block)}, "statistics": type(statistics).__name__}
        for block, statistics in zip(summary.blocks, summary.statistics, strict=True)
    ]
    described = {
        "about": dict(about),
        **{name: getattr(summary, name) for name in ("classes", "names", "is_named", "schema", "expected_rows")},
        "blocks": blocks,
    }
    nodes = {"/": xr.Dataset({TEXT: to_json(described), "label_counts": ("label", summary.label_counts)})}
    for number, statistics in enumerate(summary.statistics):
        arrays = {f.name: np.asarray(getattr(statistics, f.name)) for f in fields(statistics)}
        nodes[f"/block_{number}"] = xr.Dataset(
            {name: (("label", "position")[: array.ndim], array) for name, array in arrays.items()}
        )
    return xr.DataTree.from_dict(nodes)


def model_of(tree: xr.DataTree) -> tuple[Summary, dict[str, Any]]:
    """Return what ``model_tree`` was given."""
    described = from_json(tree[TEXT].item())
    kinds = {cls.__name__: cls for cls in Statistics.__subclasses__()}
    statistics = []
    for number, block in enumerate(described["blocks"]):
        node = tree[f"block_{number}"]
        kind = kinds[block.pop("statistics")]
        statistics.append(kind(*(node[f.name].to_numpy() for f in fields(kind))))
    summary = Summary(
        described["classes"],
        tree["label_counts"].to_numpy(),
        tuple(Block(**block) for block in described["blocks"]),
        tuple(statistics),
        described["names"],
        described["is_named"],
        Schema(*described["schema"]),
        described["expected_rows"],
    )
    return summary, described["about"]


def is_model(tree: xr.DataTree) -> bool:
    """Whether a tree is that of a model, not one of draws."""
    return TEXT in tree.data_vars


def save(tree: xr.DataTree, path: str | Path) -> None:
    """Write a tree, such as ``draw`` and ``sample`` return, to one NetCDF file that ``bayesnb.load`` reads.

    Parameters
    ----------
    tree : xarray.DataTree
    path : str or Path
        A file there is replaced.

    Raises
    ------
    TypeError
        If an attribute or a value of a coordinate is of a type that can't be saved.

    Examples
    --------
    >>> import tempfile, bayesnb
    >>> tree = NaiveBayes().fit([[0.0], [1.0], [2.0]], ["A", "A", "B"]).draw(draws=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bayesnb.save(tree, f"{folder}/draws.nc")
    ...     bayesnb.load(f"{folder}/draws.nc")["posterior"].sizes["draw"]
    10
    """
    nodes = {node.path: _storable(node.to_dataset(inherit=False)) for node in tree.subtree}
    xr.DataTree.from_dict(nodes).to_netcdf(path, engine=ENGINE)


def read(path: str | Path) -> xr.DataTree:
    """Return the tree of a file that ``save`` wrote, in memory."""
    with xr.open_datatree(path, engine=ENGINE) as tree:
        nodes = {node.path: _restored(node.to_dataset(inherit=False).load()) for node in tree.subtree}
    return xr.DataTree.from_dict(nodes)


def _storable(dataset: xr.Dataset) -> xr.Dataset:
    result = dataset.copy()
    for name, variable in dataset.variables.items():
        attrs = _storable_attrs(variable.attrs)
        values = variable.to_numpy()
        if values.dtype == object:
            values = np.array([to_json(v) for v in values.ravel()], dtype=str).reshape(values.shape)
            attrs[TEXT] = "values"
        result[name] = (variable.dims, values, attrs)
    result.attrs = _storable_attrs(dataset.attrs)
    return result


def _restored(dataset: xr.Dataset) -> xr.Dataset:
    result = dataset.copy()
    for name, variable in dataset.variables.items():
        attrs, values = dict(variable.attrs), variable.to_numpy()
        if attrs.pop(TEXT, None) == "values":
            values = object_array(from_json(v) for v in values.ravel()).reshape(values.shape)
            values = index_of(values) if variable.dims == (name,) else values
        elif values.dtype == object:
            values = values.astype(str)
        result[name] = (variable.dims, values, _restored_attrs(attrs))
    result.attrs = _restored_attrs(dataset.attrs)
    return result


PREFIX = "json:"  # before an attribute that NetCDF refuses


def _storable_attrs(attrs: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: value if _is_known(value) else PREFIX + to_json(value) for name, value in attrs.items()}


def _is_known(value: Any) -> bool:
    if isinstance(value, str):
        return not value.startswith(PREFIX)
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _restored_attrs(attrs: Mapping[Any, Any]) -> dict[Any, Any]:
    return {
        name: from_json(value.removeprefix(PREFIX))
        if isinstance(value, str) and value.startswith(PREFIX)
        else plain(value)
        for name, value in attrs.items()
    }
