"""Simulation-based calibration: both routes pass, a wrong prior and a route that ignores the table don't."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixed_table import FAMILIES, fitted, mixed_table

from bayesnb import Bernoulli, Categorical, Gamma, Gaussian, Multinomial, NaiveBayes, NormalInverseGamma, Poisson
from bayesnb.equivalence import simulation_based_calibration
from bayesnb.equivalence.ranks import DRAWS, Ranks, without_rows

QUANTITIES = {
    *("label prob", "Categorical prob", "Bernoulli prob", "Multinomial prob"),
    *("Gaussian mean", "Gaussian sd", "Poisson rate"),
}


@pytest.fixture(scope="module")
def model():
    return fitted(*mixed_table())


def failing(ranks):
    return set(ranks.frame.query("verdict == 'fails'")["quantity"])


def test_the_closed_form_is_calibrated_on_every_family(model):
    ranks = simulation_based_calibration(model, simulations=300, random_seed=1)
    assert set(ranks.ranks) >= QUANTITIES
    assert {f"{family.name} log likelihood" for family in FAMILIES.values()} <= set(ranks.ranks)
    assert ranks.holds, ranks.frame
    assert min(map(len, ranks.ranks.values())) == 300


def under_a_wrong_prior(posterior, rng):
    """The closed form, every prior parameter but the Gaussian's location five times too large."""

    def inflated(prior):
        location = {"location": prior.location} if hasattr(prior, "location") else {}
        return replace(prior.map(lambda a: 5 * a), **location)

    parts = tuple(replace(part, prior=inflated(part.prior)) for part in posterior.parts)
    labels = replace(posterior.labels, prior=inflated(posterior.labels.prior))
    return replace(posterior, labels=labels, parts=parts).draw(rng, (DRAWS,))


def test_a_wrong_prior_fails_in_every_family(model):
    ranks = simulation_based_calibration(model, simulations=300, route=under_a_wrong_prior, random_seed=1)
    assert {name.split()[0] for name in failing(ranks)} == {name.split()[0] for name in QUANTITIES}


def test_a_route_that_ignores_the_table_fails_by_its_log_likelihoods_only(model):
    def ignores(posterior, rng):
        return without_rows(posterior).draw(rng, (DRAWS,))

    ranks = simulation_based_calibration(model, simulations=100, route=ignores, random_seed=1)
    assert failing(ranks) == {name for name in ranks.ranks if name.endswith("log likelihood")}


def test_the_size_of_the_test_is_the_stated_one():
    rng = np.random.default_rng(3)
    p_values = Ranks({str(i): rng.integers(0, DRAWS + 1, 400) for i in range(2000)}).frame["p_value"]
    for size in (0.01, 0.1, 0.5):
        assert abs((p_values < size).mean() - size) <= 4 * np.sqrt(size * (1 - size) / 2000)


def test_ranks_are_seen(model):
    figure = simulation_based_calibration(model, simulations=100, random_seed=2).plot()
    assert [axis.get_title() for axis in figure.axes if axis.get_title()][:1] == ["label prob"]


def wide(n_features=25):
    """A model of three labels and many features of every family: a simulation of each in one table."""
    columns, families = {}, {}
    for j in range(n_features):
        families |= {f"c{j}": Categorical([0.5, 1, 2], levels="abc"), f"b{j}": Bernoulli((2, 0.5))}
        families |= {f"g{j}": Gaussian(NormalInverseGamma(1, 0.5, 2, 3)), f"p{j}": Poisson(Gamma(2, 0.5))}
        families |= {(f"m{j}", f"n{j}", f"o{j}"): Multinomial([0.5, 1, 2])}
        columns |= {f"c{j}": list("abc")} | {f"{stem}{j}": [0, 1, 1] for stem in "bgpmno"}
    return NaiveBayes(families).fit(pd.DataFrame(columns), [0, 1, 2])


@pytest.mark.slow
def test_nuts_is_calibrated_on_every_family():
    # Four tables of 25 features a family and 3 labels: 300 ranks a quantity, but for the labels' own probabilities.
    ranks = simulation_based_calibration(wide(), simulations=4, n_rows=30, route="sample", random_seed=1)
    of_features = Ranks({name: values for name, values in ranks.ranks.items() if not name.startswith("label")})
    assert {len(values) for values in of_features.ranks.values()} == {300}
    assert of_features.holds, of_features.frame


@pytest.mark.slow
def test_a_wrong_prior_fails_at_the_size_of_the_nuts_test():
    ranks = simulation_based_calibration(wide(), simulations=4, n_rows=30, route=under_a_wrong_prior, random_seed=1)
    assert {name.split()[0] for name in failing(ranks)} >= {
        "Categorical",
        "Bernoulli",
        "Multinomial",
        "Gaussian",
        "Poisson",
    }


@pytest.mark.parametrize("options", [{"simulations": 0}, {"n_rows": -1}, {"route": "nuts"}])
def test_what_can_not_be_simulated_is_refused(model, options):
    with pytest.raises(ValueError, match=r"simulations == 0|n_rows == -1|route must be .* not 'nuts'"):
        simulation_based_calibration(model, **options)
