"""NUTS draws of the compact model against the closed form, which knows every answer."""

import numpy as np
import pytest

from bayesnb import NaiveBayes


@pytest.fixture(scope="module")
def penguins():
    import os
    from pathlib import Path

    import pandas as pd

    return pd.read_csv(Path(os.environ["BAYESNB_DATA"]) / "penguins.csv")


@pytest.fixture(scope="module")
def model(penguins):
    return NaiveBayes().fit(penguins.drop(columns="species"), penguins["species"])


@pytest.fixture(scope="module")
def sampled(model):
    return model.sample(draws=1000, tune=500, chains=2, random_seed=1, progressbar=False)


def test_sampled_and_exact_draws_have_the_same_variables_dims_and_coords(model, sampled):
    exact = model.draw(draws=1000, chains=2, random_seed=1)["posterior"].dataset
    nuts = sampled["posterior"].dataset
    assert list(nuts.data_vars) == list(exact.data_vars)
    for name in exact.variables:
        assert nuts[name].dims == exact[name].dims
        assert nuts[name].dtype == exact[name].dtype
        assert nuts[name].attrs == exact[name].attrs
    assert list(nuts.coords) == list(exact.coords)
    for name, coordinate in exact.coords.items():
        np.testing.assert_array_equal(nuts.coords[name].to_numpy(), coordinate.to_numpy(), strict=True)


def test_sampled_means_are_those_of_the_closed_form(model, sampled):
    import arviz as az

    exact = model.estimates("mean")
    error = az.mcse(sampled, method="mean")
    for name, values in exact.data_vars.items():
        gap = sampled["posterior"][name].mean(("chain", "draw")) - values
        assert (abs(gap) <= 4 * error[name]).all(), name
