"""ArviZ's own functions on draws of the penguins' model, exact ones; and what the groups hold."""

import arviz as az
import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

from bayesnb import NaiveBayes
from bayesnb.datasets import load_penguins

mpl.use("agg")
ITS_OWN_DIMS = pytest.mark.filterwarnings("ignore:Found chain dimension to be longer")  # of what ArviZ makes itself


@pytest.fixture(scope="module")
def rows():
    penguins = load_penguins()
    return penguins.drop(columns="species"), penguins["species"]


@pytest.fixture(scope="module")
def model(rows):
    return NaiveBayes().fit(*rows)


@pytest.fixture(scope="module", params=["draw", pytest.param("sample", marks=pytest.mark.slow)])
def tree(model, rows, request):
    options = {"progressbar": False} if request.param == "sample" else {}
    return model.with_groups(getattr(model, request.param)(random_seed=1, **options), *rows, random_seed=2)


@pytest.fixture
def renamed(tree):
    """ArviZ calls an axis of its own tables "label", so that ours needs another name there."""
    return tree.map_over_datasets(lambda group: group.rename(label="species") if "label" in group.dims else group)


@pytest.fixture
def close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_groups(tree):
    assert set(tree.children) - {"sample_stats"} == {
        "posterior",
        "prior",
        "log_prior",
        "constant_data",
        "log_likelihood",
        "observed_data",
        "posterior_predictive",
    }
    assert list(tree["prior"].data_vars) == list(tree["posterior"].data_vars)


def test_pointwise_psis_loo_is_the_exact_leave_one_out_within_its_error(model, rows, tree):
    """Pointwise, for the rows of light weights, in standard errors of 1/p(row given θ)'s mean; and in total."""
    exact = model.loo(*rows, joint=True)
    psis = az.loo(tree, pointwise=True)
    assert abs(psis.elpd - exact.elpd) < psis.se
    gap = (psis.elpd_i - exact.elpd_i).to_numpy()
    log_likelihood = tree["log_likelihood"]["rows"]
    inverse = np.exp(-log_likelihood - (-log_likelihood).max(("chain", "draw")))
    relative = (az.mcse(inverse, method="mean") / inverse.mean(("chain", "draw"))).to_numpy()
    reliable = psis.pareto_k.to_numpy() < 0.5
    assert reliable.mean() > 0.9
    assert (abs(gap) <= 4 * relative)[reliable].all()


def test_compare(rows, tree):
    half = NaiveBayes().fit(rows[0].drop(columns="bill_length_mm"), rows[1])
    X = rows[0].drop(columns="bill_length_mm")
    other = half.with_groups(half.draw(random_seed=3), X, rows[1], random_seed=4)
    assert list(az.compare({"all": tree, "without": other}, var_name="rows").index)


def test_psense_summary(renamed):
    summary = az.psense_summary(renamed, var_names=["label_prob", "body_mass_g_mean"])
    assert (summary["prior"].astype(float) < 0.05).all()  # 344 rows outweigh the prior
    assert (summary["likelihood"].astype(float) > 0.05).any()


def test_summary(renamed):
    summary = az.summary(renamed, var_names=["label_prob"])
    expected = renamed["posterior"]["label_prob"].mean(("chain", "draw"))
    np.testing.assert_allclose(summary["mean"].astype(float), expected, atol=5e-5)


@pytest.mark.usefixtures("close")
def test_plot_prior_posterior(tree):
    assert az.plot_prior_posterior(tree, var_names=["label_prob"])


@pytest.mark.usefixtures("close")
@pytest.mark.parametrize(
    ("plot", "variable"),
    [
        (az.plot_ppc_dist, "body_mass_g_value"),
        (az.plot_ppc_interval, "body_mass_g_value"),
        (az.plot_ppc_pit, "body_mass_g_value"),
        (az.plot_ppc_tstat, "body_mass_g_value"),
        (az.plot_ppc_pava, "label_value"),
        pytest.param(az.plot_ppc_rootogram, "island_value", marks=ITS_OWN_DIMS),
    ],
)
def test_posterior_predictive_plots(tree, plot, variable):
    assert plot(tree, var_names=[variable])


def test_log_prior_is_that_of_scipy(tree):
    draw = {"chain": 0, "draw": 3}
    at = tree["posterior"].dataset.isel(draw)
    constant = tree["constant_data"].dataset
    dirichlet = stats.dirichlet.logpdf(at.label_prob, constant.label_prior_concentration)
    np.testing.assert_allclose(tree["log_prior"]["label"].isel(draw), dirichlet)
    name = "body_mass_g"
    a, b, m, k = (constant[f"{name}_prior_{f}"] for f in ("shape", "scale", "location", "pseudo_count"))
    variance = at[f"{name}_sd"] ** 2
    expected = stats.invgamma.logpdf(variance, a, scale=b) + stats.norm.logpdf(
        at[f"{name}_mean"], m, np.sqrt(variance / k)
    )
    np.testing.assert_allclose(tree["log_prior"][name].isel(draw), expected.sum())
    island = sum(stats.dirichlet.logpdf(at.island_prob[k], constant.island_prior_concentration[k]) for k in range(3))
    np.testing.assert_allclose(tree["log_prior"]["island"].isel(draw), island)


def test_observed_cells_and_their_replicates_have_the_same_rows(rows, tree):
    observed, replicated = tree["observed_data"].dataset, tree["posterior_predictive"].dataset
    present = rows[0]["body_mass_g"].dropna()
    np.testing.assert_array_equal(observed["body_mass_g_value"], present)
    assert list(observed["body_mass_g_row"]) == list(present.index)
    for name, values in observed.data_vars.items():
        assert replicated[name].dims[2:] == values.dims
        assert replicated[name].shape[2:] == values.shape
    assert replicated.sizes["chain"] * replicated.sizes["draw"] == 100
