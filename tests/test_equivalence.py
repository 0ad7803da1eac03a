"""The checks on a whole table: that they hold where they should, and fail where something is wrong."""

import numpy as np
import pandas as pd
import pytest
from mixed_table import FAMILIES, mixed_table

from bayesnb import Categorical, Gaussian, Multinomial, NaiveBayes, NormalInverseGamma, verify_equivalence
from bayesnb.cli import main
from bayesnb.equivalence import differences, identity, reference, sampled
from bayesnb.equivalence.identity import identity_checks
from bayesnb.equivalence.sampled import marginals, sampled_checks

MODEL = NaiveBayes(FAMILIES, label_concentration=0.8)


@pytest.fixture(scope="module")
def result():
    return verify_equivalence(MODEL, *mixed_table(), sampling=False, random_seed=1)


@pytest.fixture(scope="module")
def fitted():
    return NaiveBayes(FAMILIES, label_concentration=0.8).fit(*mixed_table())


# --- the result -------------------------------------------------------------------------------------------------------


def test_a_table_of_all_families(result):
    assert result.holds
    assert set(result.frame["verdict"]) == {"holds", "differs"}
    expected = {"CategoricalNB", "BernoulliNB", "MultinomialNB"}  # and no GaussianNB: "rare" has a single row
    assert {f"scikit-learn {name}" for name in expected} <= set(result.frame["claim"])


def test_the_frame_is_tidy(result):
    frame = result.frame
    assert list(frame) == [
        *("claim", "variable", "concentration", "left", "right", "difference", "tolerance", "unit", "verdict", "note")
    ]
    assert not frame.duplicated(["claim", "variable", "concentration"]).any()
    exact = frame[frame["unit"] == "exact"]
    assert (exact["tolerance"] == 0).all()


def test_the_summary_has_a_sentence_a_claim(result):
    lines = result.summary().splitlines()
    assert lines[0].startswith("24 rows, 3 labels and 10 columns: ")
    assert lines[0].endswith("every claim holds.")
    assert len(lines) - 1 == result.frame["claim"].nunique()
    assert all(line.startswith(("  ✓", "  ≠")) for line in lines[1:])


def test_the_picture_has_a_row_a_claim(result):
    figure = result.plot()
    names = [tick.get_text() for axis in figure.axes for tick in axis.get_yticklabels()]
    equal_first = result.frame.sort_values("verdict", key=lambda verdict: verdict == "differs", kind="stable")
    assert names == list(dict.fromkeys(equal_first["claim"]))


def test_the_model_is_not_fitted():
    model = NaiveBayes(Categorical())
    verify_equivalence(model, [["a"], ["b"]], [0, 1], sampling=False)
    assert not hasattr(model, "statistics_")


def test_a_failing_claim_is_seen_everywhere(monkeypatch):
    original = reference.BernoulliNB
    monkeypatch.setattr(reference, "BernoulliNB", lambda alpha, **options: original(alpha=alpha + 0.01, **options))
    broken = verify_equivalence(MODEL, *mixed_table(), sampling=False, random_seed=1)
    assert not broken.holds
    failing = broken.frame[broken.frame["verdict"] == "fails"]
    assert set(failing["claim"]) == {"scikit-learn BernoulliNB"}
    assert "✗ The exact prediction from Bernoulli features should equal" in broken.summary()
    broken.plot()


def test_maximum_likelihood_has_its_claims_too():
    model = NaiveBayes(Categorical(), concentration=0, label_concentration=0)
    result = verify_equivalence(model, [["a"], ["b"], ["a"]], [0, 1, 1], sampling=False)
    own = result.frame.query('concentration == "the model\'s"')
    assert result.holds
    assert "smoothed = posterior mode" in set(own["claim"])  # the mode under Dirichlet(1) is maximum likelihood
    assert "smoothed = predictive" not in set(own["claim"])  # an improper prior predicts nothing
    with pytest.raises(ValueError, match="improper"):
        verify_equivalence(model, [["a"], ["b"], ["a"]], [0, 1, 1])


# --- scikit-learn -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "family", "changed"),
    [
        ("CategoricalNB", Categorical(), {"alpha": 1.5}),
        ("MultinomialNB", Multinomial(), {"alpha": 1.5}),
        ("GaussianNB", Gaussian(), {"var_smoothing": 1e-3}),
    ],
)
def test_another_smoothing_than_scikit_learns_fails(monkeypatch, theirs, family, changed):
    X, y = np.array([[1, 2], [3, 1], [0, 1], [2, 2], [1, 0]]), [0, 0, 1, 1, 1]
    model = NaiveBayes(family)
    assert verify_equivalence(model, X, y, sampling=False).holds
    original = getattr(reference, theirs)
    monkeypatch.setattr(reference, theirs, lambda **options: original(**(options | changed)))
    failing = verify_equivalence(model, X, y, sampling=False).frame.query("verdict == 'fails'")
    assert set(failing["claim"]) == {f"scikit-learn {theirs}"}


def test_constant_columns_and_single_rows_are_left_out_of_the_gaussian_comparison():
    X = pd.DataFrame({"flat": [1.0, 1, 2, 3], "wide": [0.0, 1, 5, 9]})
    model = NaiveBayes(Gaussian(NormalInverseGamma(0, 1, 1, 1)))
    frame = verify_equivalence(model, X, list("aabb"), sampling=False).frame
    compared = frame[frame["claim"] == reference.GAUSSIAN.name]["variable"]
    assert set(compared) == {"wide (observed label shares)", "wide (equal label probabilities)"}
    alone = verify_equivalence(model, X, list("abbb"), sampling=False).frame
    assert reference.GAUSSIAN.name not in set(alone["claim"])


# --- where equality does not hold -------------------------------------------------------------------------------------


def test_documents_of_one_token_agree_and_longer_ones_differ_by_hand():
    counts, labels = np.array([[3, 0], [0, 1], [1, 0]]), ["a", "b", "b"]
    frame = verify_equivalence(NaiveBayes(Multinomial()), counts, labels, sampling=False).frame.set_index("claim")
    assert frame.loc[differences.ONE_TOKEN.name, "difference"] < 1e-15
    # (3, 0) given a: α = (4, 1): plug-in .8³, exact 4·5·6/(5·6·7); given b: α = (2, 2): .5³, exact 2·3·4/(4·5·6);
    # label shares 1/3 and 2/3
    plug_in = 0.8**3 / (0.8**3 + 2 * 0.5**3)
    exact = (4 / 7) / (4 / 7 + 2 * 0.2)
    assert frame.loc[differences.DOCUMENTS.name, "difference"] == pytest.approx(abs(exact - plug_in), rel=1e-12)
    assert frame.loc[differences.DOCUMENTS.name, "verdict"] == "differs"


def test_draws_weighted_by_the_row_recover_the_exact_prediction(result):
    check = next(check for check in result.checks if check.claim is differences.OVER_DRAWS)
    weighted = float(check.note.split()[-1].rstrip("."))
    assert weighted < check.difference / 2


# --- densities and draws ----------------------------------------------------------------------------------------------


def densities(model):
    table, labels = mixed_table()
    _, encoded = model._encoded(table)
    codes = np.searchsorted(model.classes_, labels)
    return list(identity_checks(model._posterior, encoded, codes, np.random.default_rng(1)))


def test_the_densities_of_both_routes_are_one(fitted):
    checks = densities(fitted)
    assert [check.claim for check in checks] == [identity.ON_STATISTICS, identity.ON_ROWS]
    assert [check.verdict for check in checks] == ["holds", "holds"]


def test_a_wrong_prior_in_either_density_fails(fitted, monkeypatch):
    other = NaiveBayes(FAMILIES, label_concentration=0.81).fit(*mixed_table())._posterior
    original = identity.log_density
    monkeypatch.setattr(identity, "log_density", lambda _, point: original(other, point))
    assert [check.verdict for check in densities(fitted)] == ["fails", "fails"]


def test_exact_draws_pass_for_sampled_ones(fitted):
    draws = fitted.draw(1000, 4, 3)["posterior"].dataset
    checks = list(sampled_checks(fitted._posterior, draws))
    assert {check.verdict for check in checks} == {"holds"}
    assert {check.variable for check in checks} == set(draws.data_vars)


def test_draws_under_another_prior_fail(fitted):
    draws = NaiveBayes(FAMILIES, label_concentration=2.0).fit(*mixed_table()).draw(1000, 4, 3)["posterior"].dataset
    failing = {(c.claim.name, c.variable) for c in sampled_checks(fitted._posterior, draws) if c.verdict == "fails"}
    assert failing == {(claim.name, "label_prob") for claim in (sampled.MEANS, sampled.SDS, sampled.SHARES)}


def test_chains_that_disagree_fail(fitted):
    draws = fitted.draw(1000, 4, 3)["posterior"].dataset
    draws["visits_rate"][0] += 0.5 * draws["visits_rate"].std()
    failing = {(c.claim.name, c.variable) for c in sampled_checks(fitted._posterior, draws) if c.verdict == "fails"}
    assert (sampled.MIXING.name, "visits_rate") in failing


def test_closed_form_marginals_are_those_of_many_draws(fitted):
    draws = fitted.draw(200_000, 1, 4)["posterior"].dataset.isel(chain=0)
    for name, exact in marginals(fitted._posterior).items():
        values = draws[name].to_numpy()
        assert (np.abs(values.mean(0) - exact.mean) <= 4 * values.std(0) / np.sqrt(200_000)).all(), name
        for prob in (0.05, 0.5, 0.95):
            below = (values <= exact.quantile(prob)).mean(0)
            assert (np.abs(below - prob) <= 4 * np.sqrt(prob * (1 - prob) / 200_000)).all(), name
        spread = ((values - exact.mean) ** 2).std(0) / np.sqrt(200_000)
        assert (np.abs(((values - exact.mean) ** 2).mean(0) - exact.sd**2) <= 4 * spread).all(), name


@pytest.mark.slow
def test_both_routes_agree_on_a_table_of_all_families():
    result = verify_equivalence(MODEL, *mixed_table(), random_seed=1)
    assert result.holds, result.summary()
    assert {"PyMC on rows = posterior × evidence", "sampled mean", "r-hat"} <= set(result.frame["claim"])


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame({"colour": list("rrgb"), "size": [1.0, 2.5, 3.0, 4.0], "kind": list("aabb")}).to_csv(path, index=False)
    return str(path)


def test_verify_prints_the_checks_of_a_file(table, capsys):
    assert main(["verify", table, "--target", "kind", "--no-sampling"]) == 0
    assert "4 rows, 2 labels and 2 columns" in capsys.readouterr().out


def test_verify_exits_with_1_if_a_claim_fails(table, capsys, monkeypatch):
    monkeypatch.setattr(reference, "TOLERANCE", -1.0)
    assert main(["verify", table, "--target", "kind", "--no-sampling"]) == 1
    assert "✗" in capsys.readouterr().out


def test_verify_names_the_columns_there_are(table):
    with pytest.raises(ValueError, match=r"'species'.*colour, size, kind"):
        main(["verify", table, "--no-sampling"])


@pytest.mark.parametrize("concentration", ["perk", -1, np.nan])
def test_a_concentration_that_is_none_is_named(concentration):
    with pytest.raises(ValueError, match=r"concentrations: .*(unknown prior 'perk'|not negative, not (-1|nan))"):
        verify_equivalence(NaiveBayes(), [["a"], ["b"]], [1, 0], concentrations=[concentration], sampling=False)
