"""Pictures: what two routes say of a posterior, and how sure a prediction is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by colour-blind eyes


def plot_routes(exact: xr.DataTree, sampled: xr.DataTree, variable: str, ax: Any = None) -> Any:
    """Return axes with one parameter's posterior by both routes, a hump for each label.

    Parameters
    ----------
    exact, sampled : DataTree
        From ``draw`` and from ``sample``: a line and a filled histogram.
    variable : str
        A variable whose only dimension is the label, such as ``bill_length_mm_mean``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    KeyError
        If a tree has no such variable.

    Examples
    --------
    >>> from bayesnb.plots import plot_routes
    >>> model = NaiveBayes().fit([[0.0], [1.0], [2.0], [4.0]], ["A", "A", "B", "B"])
    >>> ax = plot_routes(model.draw(random_seed=1), model.draw(random_seed=2), "x0_mean")
    >>> ax.get_xlabel()
    'x0_mean'
    """
    ax = _axes(ax)
    lines, fillings = (tree["posterior"].to_dataset()[variable] for tree in (exact, sampled))
    labels = lines["label"].values
    for colour, label in zip(_cycle(len(labels)), labels, strict=True):
        line, filled = (values.sel(label=label).to_numpy().ravel() for values in (lines, fillings))
        edges = np.linspace(np.quantile(line, 0.0005), np.quantile(line, 0.9995), 41)
        ax.hist(filled, edges, density=True, color=colour, alpha=0.3)
        height, _ = np.histogram(line, edges, density=True)
        ax.plot((edges[1:] + edges[:-1]) / 2, height, color=colour, label=str(label))
    ax.set(xlabel=variable, yticks=[])
    ax.spines[["left", "top", "right"]].set_visible(False)
    return ax


def plot_uncertainty(uncertainty: xr.Dataset, names: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Return axes with the label probabilities of a few rows and their credible intervals.

    Parameters
    ----------
    uncertainty : xarray.Dataset
        From ``predict_uncertainty``: a dot is the exact predictive, a bar the interval.
    names : sequence of str, optional
        What to call the rows; by default their index.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is not one name for each row.

    Examples
    --------
    >>> from bayesnb.plots import plot_uncertainty
    >>> model = NaiveBayes().fit([[0.0], [1.0], [2.0], [4.0]], ["A", "A", "B", "B"])
    >>> ax = plot_uncertainty(model.predict_uncertainty([[0.5], [2.5]]), names=["left", "right"])
    >>> ax.get_xlabel()
    'probability of the label'
    """
    shown = [str(name) for name in (uncertainty["row"].values if names is None else names)]
    if len(shown) != uncertainty.sizes["row"]:
        raise ValueError(f"names must name each of the {uncertainty.sizes['row']} rows, not {len(shown)} of them.")
    ax = _axes(ax)
    labels = uncertainty["label"].values
    places = np.arange(uncertainty.sizes["row"])[::-1].astype(float)
    offsets = np.linspace(0.22, -0.22, len(labels))
    for colour, offset, label in zip(_cycle(len(labels)), offsets, labels, strict=True):
        of_label = uncertainty.sel(label=label)
        ax.hlines(places + offset, of_label["lower"], of_label["upper"], color=colour, lw=5, alpha=0.35)
        ax.plot(of_label["prob"], places + offset, "o", color=colour, label=str(label))
    ax.hlines(places[1:] + 0.5, 0, 1, color="#808080", lw=0.5, alpha=0.5)
    ax.set(xlim=(-0.02, 1.02), xlabel="probability of the label")
    ax.set_yticks(places, shown)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "top", "right"]].set_visible(False)
    return ax


def _axes(ax: Any) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots()[1] if ax is None else ax


def _cycle(n: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(n)]
