"""The tour that ``bayesnb demo`` gives: one table, closed form beside PyMC, and birds that the model has not seen."""

from __future__ import annotations

import textwrap
import time
import warnings
from typing import Any

import pandas as pd
import xarray as xr

from bayesnb.datasets import load_penguins
from bayesnb.naive_bayes import NaiveBayes

BIRDS = {0: "clear", 43: "doubtful", 271: "never measured"}
PICTURE = "bayesnb-demo.png"
PROB = 0.94


def run() -> None:
    """Print the tour, and write its picture into the current folder."""
    birds = load_penguins().drop(columns="year")
    new, train = birds.loc[list(BIRDS)], birds.drop(index=list(BIRDS))
    _title("The question")
    _say(
        f"Which species is a penguin, and how sure is that? The table has {len(birds)} birds of three species, with "
        f"{int(birds.isna().sum().sum())} missing cells. {len(BIRDS)} birds are held out to ask about at the end; "
        f"the model learns from the other {len(train)}."
    )
    model = _learn(train)
    sampled = _sample(model)
    uncertainty = _ask(model, new)
    _draw(model, sampled, uncertainty)
    print(f"\nThe picture of it: {PICTURE}")


def _learn(train: pd.DataFrame) -> NaiveBayes:
    _title("How each column is read")
    start = time.perf_counter()
    model = NaiveBayes().fit(train.drop(columns="species"), train["species"])
    seconds = time.perf_counter() - start
    print("\n" + textwrap.indent(model.describe(), "  "))
    _say("A missing cell is left out of the product for its feature; nothing is imputed.")
    _title("What the model learnt, in closed form")
    _say(
        f"Every feature has a conjugate prior, so the posterior is exact, and took {1000 * seconds:.0f} ms. Its means "
        "for each species (the islands' and sexes' are what textbooks call λ-smoothed estimates, with λ = 1):"
    )
    _show(_by_species(model.estimates()).round(2))
    return model


def _sample(model: NaiveBayes) -> xr.DataTree:
    _title("The same posterior, sampled")
    _say("PyMC gets the same generative model: prior and likelihood, not their posterior. It compiles, then samples …")
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the sampler's own dependencies say nothing of this model
        sampled = model.sample(draws=1000, tune=500, chains=4, random_seed=1, progressbar=False)
    seconds = time.perf_counter() - start
    compared = _compare(model.estimates(), sampled)
    _show(compared.iloc[:: len(compared) // 8].round(4))
    _say(
        f"That took {seconds:.0f} s. MCSE is the Monte Carlo standard error of the sampled mean. Over all "
        f"{len(compared)} parameters, the two means differ by at most "
        f"{compared['difference / MCSE'].abs().max():.1f} of them."
    )
    return sampled


def _ask(model: NaiveBayes, new: pd.DataFrame) -> xr.Dataset:
    _title(f"{len(BIRDS)} birds that the model has not seen")
    _show(new.drop(columns="species").set_index(pd.Index(BIRDS.values(), name="bird")))
    uncertainty = model.predict_uncertainty(new, prob=PROB, random_seed=1)
    _show(_predictions(uncertainty, new["species"]))
    _say(
        f"The probability has the parameters integrated out. The {PROB:.0%} equal-tailed credible interval says where "
        "it would settle if training went on for ever, as far as the posterior knows."
    )
    return uncertainty


def _title(text: str) -> None:
    print(f"\n\n{text}\n{'─' * len(text)}")


def _say(text: str) -> None:
    print("\n" + textwrap.fill(text, 100))


def _show(table: pd.DataFrame) -> None:
    print("\n" + textwrap.indent(table.to_string(), "  "))


def _by_species(parameters: xr.Dataset) -> pd.DataFrame:
    """One row for each parameter and its level, the labels as columns."""
    table = parameters.transpose("label", ...)
    rows = {
        name if array.ndim == 1 else f"{name} {level}": values
        for name, array in table.items()
        for level, values in zip(_levels(array), array.to_numpy().reshape(array.sizes["label"], -1).T, strict=True)
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=table["label"].to_numpy())


def _levels(array: xr.DataArray) -> Any:
    return array[array.dims[-1]].to_numpy() if array.ndim > 1 else [None]


def _compare(exact: xr.Dataset, sampled: xr.DataTree) -> pd.DataFrame:
    """Posterior means of all parameters by both routes, with the sampled one's Monte Carlo standard error."""
    import arviz as az

    draws = sampled["posterior"].to_dataset()
    columns = {
        "closed form": exact,
        "sampled": draws.mean(("chain", "draw")),
        "MCSE": az.mcse(draws, method="mean"),
    }
    table = pd.DataFrame({name: _by_species(values).stack() for name, values in columns.items()})
    table["difference / MCSE"] = (table["sampled"] - table["closed form"]) / table["MCSE"]
    return table


def _predictions(uncertainty: xr.Dataset, truth: pd.Series) -> pd.DataFrame:
    """What is predicted for each bird: the most probable label, its probability and credible interval."""
    best = uncertainty.isel(label=uncertainty["prob"].argmax("label"))
    bounds = zip(best["lower"].values, best["upper"].values, strict=True)
    return pd.DataFrame(
        {
            "predicted": best["label"].values,
            "probability": best["prob"].values.round(3),
            f"{PROB:.0%} interval": [f"{lower:.3f} to {upper:.3f}" for lower, upper in bounds],
            "truth": truth.to_numpy(),
        },
        index=pd.Index(BIRDS.values(), name="bird"),
    )


def _draw(model: NaiveBayes, sampled: xr.DataTree, uncertainty: xr.Dataset) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from bayesnb.plots import plot_routes, plot_uncertainty

    figure = Figure(figsize=(11, 4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    plot_routes(model.draw(draws=20_000, random_seed=1), sampled, "bill_length_mm_mean", left)
    left.set(title="Two routes, one posterior", xlabel="mean bill length (mm); line: closed form, filled: PyMC")
    plot_uncertainty(uncertainty, [f"{name}\n(bird {number})" for number, name in BIRDS.items()], right)
    right.set(
        title="How sure is a prediction?", xlabel=f"probability of the species, with {PROB:.0%} credible interval"
    )
    left.legend(frameon=False)
    figure.savefig(PICTURE, dpi=150)
