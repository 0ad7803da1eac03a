"""PyMC models sampled by nutpie through our own compilation, against what is known of them."""

import ctypes

import arviz as az
import numpy as np
import nutpie
import pymc as pm
import pytest
from pytensor.raise_op import Assert

from bayesnb.nuts import nutpie_draws

OPTIONS = {"draws": 1000, "tune": 500, "chains": 2, "random_seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def model():
    """Every transform, with named dims, with none and with data that could change."""
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        shift = pm.Data("shift", [-1.0, 2.0])
        x = pm.Normal("x", shift, 1, dims="side")
        pm.Gamma("positive", 3, 2, initval="prior")
        pm.Uniform("bounded", -1, 3)
        pm.Dirichlet("simplex", np.array([1.0, 2, 3]))
        pm.Deterministic("square", x**2, dims="side")
    return model


@pytest.fixture(scope="module")
def tree(model):
    return nutpie_draws(model, ["x", "positive", "bounded", "simplex", "square"], **OPTIONS)


def test_draws_have_the_moments_of_the_model(tree):
    posterior = tree["posterior"].dataset
    expected = {
        "x": [-1, 2],
        "positive": 3 / 2,
        "bounded": 1,
        "simplex": [1 / 6, 2 / 6, 3 / 6],
        "square": [1 + 1, 4 + 1],
    }
    error = az.mcse(posterior, method="mean")
    for name, mean in expected.items():
        gap = posterior[name].mean(("chain", "draw")) - mean
        assert (abs(gap) <= 4 * error[name]).all(), name


def test_draws_have_the_dims_of_the_model(tree):
    dims = {name: values.dims[2:] for name, values in tree["posterior"].data_vars.items()}
    assert dims == {
        "x": ("side",),
        "positive": (),
        "bounded": (),
        "simplex": ("simplex_dim_0",),
        "square": ("side",),
    }
    assert dict(tree["posterior"].sizes) == {"chain": 2, "draw": 1000, "side": 2, "simplex_dim_0": 3}


def test_a_seed_repeats_the_draws_and_another_does_not(model, tree):
    again, other = (nutpie_draws(model, ["x"], **OPTIONS | {"random_seed": seed}) for seed in (1, 2))
    np.testing.assert_array_equal(again["posterior"]["x"], tree["posterior"]["x"])
    assert (other["posterior"]["x"] != tree["posterior"]["x"]).any()


def test_the_compiled_density_is_pymcs(model, monkeypatch):
    """Its value and its gradient, at two starting points; and the draws are stored as they are."""
    given = []
    monkeypatch.setattr(nutpie, "sample", lambda compiled, **_: given.append(compiled))
    with pytest.raises(TypeError):
        nutpie_draws(model, ["x"], **OPTIONS)
    start = model.initial_point()
    value, slope = model.compile_logp(), model.compile_dlogp()
    for seed in (1, 2):
        x = given[0].initial_point_func(seed)
        ends = np.cumsum([start[variable.name].size for variable in model.value_vars])[:-1]
        parts = zip(model.value_vars, np.split(x, ends), strict=True)
        point = {variable.name: part.reshape(start[variable.name].shape) for variable, part in parts}
        found, stored, logp = np.empty(len(x)), np.empty(len(x)), np.empty(1)
        address = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (x, found, logp, stored)]
        assert given[0].compiled_logp_func.ctypes(len(x), *address[:3], None) == 0
        np.testing.assert_allclose(logp[0], value(point), rtol=1e-12)
        np.testing.assert_allclose(found, slope(point), rtol=1e-10, atol=1e-12)
        assert given[0].compiled_expand_func.ctypes(len(x), len(x), address[0], address[3], None) == 0
        np.testing.assert_array_equal(stored, x)
    spread = np.ptp([given[0].initial_point_func(seed) for seed in range(100)], axis=0)
    assert ((spread > 1.8) & (spread <= 2)).all()


@pytest.mark.parametrize(
    "log_density",
    [
        pm.math.log,
        lambda x: pm.math.switch(x > 0, pm.math.log(abs(x)), -np.inf),
        lambda x: Assert("x is positive")(pm.math.log(abs(x)), x > 0),
    ],
    ids=["not a number", "zero", "refused"],
)
def test_where_there_is_no_density_no_draw_is(log_density):
    """A Rayleigh distribution, from x on the right of a normal; half of all starting points are on its left."""
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("side", log_density(x))
    drawn = nutpie_draws(model, ["x"], **OPTIONS | {"chains": 6})["posterior"].dataset
    assert float(drawn["x"].min()) > 0
    assert abs(float(drawn["x"].mean()) - np.sqrt(np.pi / 2)) <= 4 * float(az.mcse(drawn, method="mean")["x"])


def test_no_tuning_is_one_step_of_it(model):
    assert nutpie_draws(model, ["x"], **OPTIONS | {"draws": 5, "tune": 0})["posterior"].sizes["draw"] == 5


def test_settings_are_those_of_nutpie(model):
    tree = nutpie_draws(model, ["x"], **OPTIONS | {"draws": 20, "maxdepth": 1, "cores": 1})
    assert int(tree["sample_stats"]["depth"].max()) == 1
    with pytest.raises(AttributeError, match="step_sise"):
        nutpie_draws(model, ["x"], **OPTIONS, step_sise=1)


def test_a_discrete_parameter_is_refused():
    with pm.Model() as model:
        pm.Normal("x", pm.Poisson("k", 3), 1)
    with pytest.raises(ValueError, match="there is none for discrete parameters: 'k'"):
        nutpie_draws(model, ["x"], **OPTIONS)
