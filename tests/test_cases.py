"""Small inputs that break naive Bayes software, each with its right value, and the other inputs of its kind.

Dirichlet(1) on declared levels and labels unless stated; NIG(m, κ, a, b) has σ² ~ InverseGamma(a, b), μ ~ N(m, σ²/κ).
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from bayesnb import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Gaussian,
    Multinomial,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
    conjugacy,
)

EVEN = [0.5, 0.5]


def fitted(columns, y, families=None, weight=None, **options):
    return NaiveBayes(families, **options).fit(pd.DataFrame(columns), y, weight)


def prob(model, *cells, plug_in=None):
    names = model.statistics_.names
    row = pd.DataFrame({name: pd.Series([cell], dtype=object) for name, cell in zip(names, cells, strict=True)})
    return model.predict_proba(row, plug_in)[0]


# --- unseen and undeclared values -------------------------------------------------------------------------------------

COLOURS = {"c": ["r", "r", "g", "g", "g"]}


def test_a_declared_level_that_training_lacks_has_a_probability():
    for model in (
        fitted(COLOURS, list("AAABB"), Categorical(levels=["r", "g", "b"])),
        fitted({"c": pd.Categorical(COLOURS["c"], categories=["r", "g", "b"])}, list("AAABB")),
    ):
        assert_allclose(prob(model, "b")[0], 0.526316, atol=5e-7)
        assert_allclose(prob(model, None)[0], 4 / 7)


@pytest.mark.parametrize("levels", [None, ["r", "g", "b"]])
def test_an_undeclared_level_is_an_error_or_missing_on_request(levels):
    model = fitted(COLOURS, list("AAABB"), Categorical(levels=levels))
    with pytest.raises(
        ValueError, match=r"Column 'c' has the value 'z' in row 0, which is not among its levels 'g|'r'"
    ):
        prob(model, "z")
    lenient = fitted(COLOURS, list("AAABB"), Categorical(levels=levels), unseen="ignore")
    assert_allclose(prob(lenient, "z")[0], 4 / 7)


def test_an_undeclared_level_in_training_is_an_error_or_missing_on_request():
    with pytest.raises(ValueError, match="Column 'c' has the value 'g' in row 2"):
        fitted(COLOURS, list("AAABB"), Categorical(levels=["r", "b"]))
    model = fitted(COLOURS, list("AAABB"), Categorical(levels=["r", "b"]), unseen="ignore")
    assert_allclose(prob(model, "r")[0], (4 / 7 * 3 / 4) / (4 / 7 * 3 / 4 + 3 / 7 * 1 / 2))


@pytest.mark.parametrize("cell", [1.9, 1, 1.0, "1.2", 1.2000001, True])
def test_codes_that_are_not_levels_are_never_rounded_to_one(cell):
    model = fitted({"x": [0.7, 1.2]}, ["A", "B"], Categorical())
    with pytest.raises(ValueError, match="not among its levels"):
        prob(model, cell)
    assert_allclose(prob(model, 1.2)[1], 2 / 3)


def test_large_integers_are_told_apart():
    big = 2**60
    for values in ([big, big + 1], np.array([big, big + 1], dtype=object), pd.array([big, big + 1], dtype="Int64")):
        assert_allclose(prob(fitted({"x": values}, ["A", "B"], Categorical()), big + 1)[1], 2 / 3)


def test_a_column_of_integers_with_a_hole_keeps_its_levels():
    model = fitted({"x": [1, 2, 2]}, ["A", "B", "B"], Categorical())
    holed = pd.DataFrame({"x": [2.0, np.nan]})  # pandas makes floats of integers with a hole
    assert_allclose(
        model.predict_proba(holed)[:, 0], [(2 / 5) * (1 / 3) / ((2 / 5) * (1 / 3) + (3 / 5) * (3 / 4)), 2 / 5]
    )


# --- a concentration of 0 ---------------------------------------------------------------------------------------------

DOCUMENTS = pd.DataFrame({"p": [2, 0], "q": [0, 3]})


def test_a_row_that_is_impossible_under_every_label_is_an_error_that_names_it():
    model = NaiveBayes(Multinomial(), concentration=0).fit(DOCUMENTS, ["A", "B"])
    for plug_in in (None, "mean", "mle"):
        with pytest.raises(ValueError, match=r"probability 0 to row 1: .*concentration above 0"):
            model.predict_proba(pd.DataFrame({"p": [1, 1], "q": [0, 1]}), plug_in)
    with pytest.raises(ValueError, match="improper"):
        model.draw()


@pytest.mark.parametrize(("plug_in", "limit"), [("mean", 0.6), (None, 4 / 7)])
def test_the_limit_of_no_concentration(plug_in, limit):
    model = NaiveBayes(Multinomial(), concentration=1e-9).fit(DOCUMENTS, ["A", "B"])
    assert_allclose(model.predict_proba(pd.DataFrame({"p": [1], "q": [1]}), plug_in)[0, 0], limit, 1e-7)


@pytest.mark.parametrize("family", [Categorical(), Bernoulli()])
def test_without_concentration_possible_rows_have_a_probability_and_others_an_error(family):
    model = fitted({"x": [1, 1, 0], "z": [1, 0, 0]}, list("AAB"), family, concentration=0, label_concentration=0)
    assert_allclose(prob(model, 1, 0), [1, 0])
    assert_allclose(prob(model, 0, 0), [0, 1])
    with pytest.raises(ValueError, match="Every label gives probability 0 to row 0"):
        prob(model, 0, 1)


@pytest.mark.parametrize("family", [Categorical(levels=[0, 1]), Bernoulli(), Multinomial()])
def test_without_concentration_a_label_without_rows_is_undefined_or_impossible(family):
    frame = pd.DataFrame({"x": [1, 0]})

    def model(label_concentration):
        options = {"concentration": 0, "label_concentration": label_concentration}
        return NaiveBayes(family, **options).partial_fit(frame, ["A", "A"], classes=["A", "B"])

    assert_allclose(model(0).predict_proba(frame[:1]), [[1, 0]])
    assert_allclose(model(1).predict_proba(frame[:1], "mle"), [[1, 0]])
    with pytest.raises(ValueError, match="probability of row 0 under the label 'B' does not exist"):
        model(1).predict_proba(frame[:1])


def test_no_prediction_is_ever_nan():
    rng = np.random.default_rng(0)
    for _ in range(50):
        X, y = rng.integers(0, 2, (4, 3)), ["A", "A", "B", "B"]
        for family in (Categorical(), Bernoulli(), Multinomial()):
            model = NaiveBayes(family, concentration=0, unseen="ignore").fit(X, y)
            with suppress(ValueError):  # an impossible row
                assert np.isfinite(model.predict_proba(rng.integers(0, 2, (1, 3)))).all()


# --- Bernoulli, Gaussian ----------------------------------------------------------------------------------------------


def test_the_bernoulli_denominator_counts_values_not_labels():
    model = fitted({"x": [1, 1, 0, 0, 0, 1]}, list("AAABBC"), Bernoulli())
    assert_allclose(prob(model, 1), [0.535316, 0.167286, 0.297398], atol=5e-7)


@pytest.mark.parametrize(("x", "p"), [(2, 0.621462), (2.5, 0.541942), (4, 0.256274)])
def test_no_variance_within_a_label(x, p):
    family = Gaussian(NormalInverseGamma(0, 1, 1, 1))
    model = fitted({"x": [2.0, 2, 2, 1, 3, 5]}, list("AAABBB"), family, label_prob=EVEN)
    assert_allclose(prob(model, x)[0], p, atol=5e-7)


SCALES = pd.DataFrame({"a": [1e6, 2e6, 3e6, 4e6], "b": [0.001, 0.002, 0.011, 0.013]})
SCALE_QUERY = pd.DataFrame({"a": [2.6e6], "b": [0.0015]})


@pytest.mark.parametrize("factor", [1e-12, 1e-6, -3.7, 1e5, 1e20, 1e70, 1e-70])
@pytest.mark.parametrize("column", ["a", "b"])
def test_the_unit_of_a_column_does_not_matter(factor, column):
    expected = NaiveBayes().fit(SCALES, list("AABB")).predict_proba(SCALE_QUERY)
    train, query = SCALES.copy(), SCALE_QUERY.copy()
    train[column], query[column] = train[column] * factor, query[column] * factor
    assert_allclose(NaiveBayes().fit(train, list("AABB")).predict_proba(query), expected, 1e-9)


@pytest.mark.parametrize("offset", [-5, 1e3, 1e7])
def test_the_origin_of_a_column_does_not_matter(offset):
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(0, 1, (40, 2)) * 1024) / 1024, rng.integers(0, 3, 40)  # exact at every offset
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    assert_allclose(NaiveBayes().fit(X + offset, y).predict_proba(X + offset), expected, 1e-9, 1e-9)


@pytest.mark.parametrize("factor", [2.0**-30, 1e-3, 1e6])
def test_missing_cells_weights_and_batches_leave_it_so(factor):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(0, 1, (40, 2)), rng.integers(0, 2, 40), rng.uniform(0, 2, 40)
    X[rng.random(X.shape) < 0.2] = np.nan

    def predicted(scale):
        model = NaiveBayes()
        for rows in (slice(0, 13), slice(13, 40)):
            model.partial_fit(scale * X[rows], y[rows], [0, 1], weight[rows])
        return model.predict_proba(scale * X)

    assert_allclose(predicted(factor), predicted(1.0), 1e-9)


def test_a_far_point():
    family = Gaussian(NormalInverseGamma(5, 1, 1, 1))
    model = fitted({"x": [-1.0, 0, 1, 9, 10, 11]}, list("AAABBB"), family)
    assert_allclose(prob(model, 200.0)[0], 0.442598, atol=5e-7)
    for x in (1e10, -1e100, 1e149):
        assert 0 < prob(model, x)[0] < 1


def test_products_do_not_underflow():
    X = np.repeat([[0], [1]], [3, 3], axis=0) * np.ones((1, 1000), int)
    query = (np.arange(1000) < 501).astype(int)[None]
    for as_given in (np.asarray, sparse.csr_array):
        model = NaiveBayes(Bernoulli()).fit(as_given(X), list("AAABBB"))
        assert_allclose(model.predict_proba(as_given(query))[0, 0], 1 / 17)
    # 501 ones and 499 zeros: odds of A against B are (1/5)^501 (4/5)^499 / ((4/5)^501 (1/5)^499) = 1/16
    model = NaiveBayes(Categorical(levels=[0, 1])).fit(X, list("AAABBB"))
    assert_allclose(model.predict_proba(query)[0, 0], 1 / 17)


# --- priors -----------------------------------------------------------------------------------------------------------


def test_known_label_probabilities_must_add_up():
    X, y = np.zeros((10, 0)), list("abcdefghij")
    assert_allclose(NaiveBayes(label_prob=[0.1] * 10).fit(X, y).predict_proba(X[:1]), [[0.1] * 10])
    for bad in ([0.2, 0.3, 0.4], [3, 1], [1.5, -0.5], [1.0, 0.0], [np.nan, 1], [0.5, 0.25, 0.25, 0.0]):
        with pytest.raises(ValueError, match="label_prob must"):
            NaiveBayes(label_prob=bad).fit(X[: len(bad)], y[: len(bad)])
    with pytest.raises(ValueError, match="label_prob must give a probability to each of the labels 'a', 'b'"):
        NaiveBayes(label_prob={"a": 0.5, "c": 0.5}).fit(X[:2], y[:2])


@pytest.mark.parametrize("p", [0.999, 0.001])
def test_a_label_prior_is_used(p):
    model = fitted({"x": [0, 0, 1, 1]}, list("AABB"), Bernoulli(), label_prob={"B": 1 - p, "A": p})
    assert_allclose(prob(model, 0)[0], p * 3 / (p * 3 + (1 - p) * 1))


@pytest.mark.parametrize(
    ("families", "column"),
    [
        (Categorical(prior=[9, 1]), [0, 1]),
        (Categorical(prior={0: 9, 1: 1}), [0, 1]),
        (Categorical(prior=Dirichlet([9, 1])), [0, 1]),
        (Bernoulli(prior=[1, 9]), [0, 1]),
        (Bernoulli(prior={0: 9, 1: 1}), [0, 1]),
        (Bernoulli(prior=Beta(1, 9)), [0, 1]),
    ],
    ids=str,
)
def test_every_way_to_write_a_feature_prior_is_used(families, column):
    model = fitted({"x": column}, ["A", "B"], families)
    odds = (9 + 1) / 11 / (9 / 11)
    assert_allclose(prob(model, 0)[0], odds / (1 + odds))


def test_priors_that_do_not_fit_are_refused():
    frame = {"x": [0, 1]}
    for family, message in (
        (Categorical(prior=[1, 2, 3]), "3 concentrations for the 2 values 0, 1"),
        (Categorical(prior={0: 1}), "1 is not given"),
        (Categorical(prior={0: 1, 1: 1, 2: 1}), "2 is not among them"),
        (Categorical(prior="jeffrey"), "unknown prior 'jeffrey'"),
        (Categorical(prior=-1), "not negative"),
        (Bernoulli(prior=[1, 2, 3]), "3 concentrations for the 2 values 1, 0"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted(frame, ["A", "B"], family)
    for family, prior in (
        *((Gaussian, 1.0), (Gaussian, Beta(1, 1)), (Poisson, "jeffreys"), (Bernoulli, Gamma(1, 1))),
        *((Categorical, Beta(1, 1)), (Multinomial, NormalInverseGamma(0, 1, 1, 1))),
    ):
        with pytest.raises(TypeError, match=f"The prior of a {family.__name__} is a"):
            family(prior)
    with pytest.raises(ValueError, match="The prior of Gaussian does not fit its 2 columns 'a', 'b'"):
        fitted({"a": [0.0, 1], "b": [0.0, 1]}, ["A", "B"], Gaussian(NormalInverseGamma([1, 2, 3])))


def test_a_prior_of_one_number_a_column_goes_by_the_columns_order_in_families():
    frame = {"a": [1.0, 2, 3, 4], "b": [10.0, 20, 30, 50]}
    location = NormalInverseGamma([15, 2], 1, 1, [100, 1])
    both = fitted(frame, list("AABB"), {("b", "a"): Gaussian(location)})
    apart = fitted(
        frame, list("AABB"),
        {"a": Gaussian(NormalInverseGamma(2, 1, 1, 1)), "b": Gaussian(NormalInverseGamma(15, 1, 1, 100))},
    )  # fmt: skip
    assert_allclose(prob(both, 2.5, 12.0), prob(apart, 2.5, 12.0), 1e-12)


# --- weights, labels, missing cells -----------------------------------------------------------------------------------


def test_weights_are_repeats():
    weighted = fitted({"c": ["r", "g", "r", "g"]}, list("AABB"), weight=[3, 1, 1, 3])
    repeated = fitted({"c": list("rrrgrggg")}, list("AAAABBBB"))
    for model in (weighted, repeated):
        assert_allclose(prob(model, "r")[0], 2 / 3)
        assert_allclose(model.log_evidence(), -12.437184, atol=5e-7)


def test_a_row_of_weight_zero_is_as_if_it_were_not_there():
    columns = {"c": ["r", "g", "zz"], "x": [1.0, 2, 1e9], "n": [0, 1, 5], "b": [True, False, True]}
    families = {"n": Poisson()}
    weighted = fitted(columns, ["A", "B", "C"], families, weight=[1, 1, 0])
    without = fitted({name: values[:2] for name, values in columns.items()}, ["A", "B"], families)
    assert weighted.classes_.tolist() == ["A", "B"]
    row = ("r", 1.5, 1, True)
    assert_allclose(prob(weighted, *row), prob(without, *row), 1e-14)
    with pytest.raises(ValueError, match=r"every sample_weight is zero"):
        fitted(columns, ["A", "B", "C"], weight=[0, 0, 0])


def test_an_error_behind_a_row_of_weight_zero_names_the_users_row():
    with pytest.raises(ValueError, match=r"'n' has the value -1 in row 3"):
        fitted({"n": [1, 1, 2, -1]}, list("ABAB"), Poisson(), weight=[0, 1, 1, 1])


def test_a_single_label():
    for X in (pd.DataFrame({"x": [1.0, 2, 3, 4, 5]}), np.zeros((5, 0)), pd.DataFrame(index=range(5))):
        model = NaiveBayes().fit(X, ["k"] * 5)
        assert_allclose(model.predict_proba(X), 1)
        model = NaiveBayes().partial_fit(X[:5], ["k"] * 5, classes=["k", "m"])
    assert_allclose(model.predict_proba(X)[0], [6 / 7, 1 / 7])
    declared = NaiveBayes().fit(np.zeros((5, 0)), pd.Categorical(["k"] * 5, categories=["m", "k"]))
    assert_allclose(declared.predict_proba(np.zeros((1, 0))), [[6 / 7, 1 / 7]])


@pytest.mark.parametrize(("x", "p"), [(3.0, 0.782234), (None, 0.75)])
def test_missing_cells_are_left_out(x, p):
    families = {"c": Categorical(levels=[0, 1]), "x": Gaussian(NormalInverseGamma(3, 1, 1, 1))}
    model = fitted({"c": [0, 0, 1, 1], "x": [1.0, np.nan, 4, 6]}, list("AABB"), families)
    assert_allclose(prob(model, 0, x)[0], p, atol=5e-7)


def test_a_missing_cell_poisons_no_other():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "c": pd.Categorical(rng.choice(list("abc"), 30)), "x": rng.normal(size=30), "n": rng.poisson(3, 30),
        "b": pd.array(rng.random(30) < 0.5, dtype="boolean"),
    }).astype({"n": "Int64"})  # fmt: skip
    y, families = rng.choice(list("AB"), 30), {"n": Poisson()}
    names = list(frame)
    for hidden in names:
        holed = frame.copy()
        holed.loc[holed.index % 3 == 0, hidden] = None
        model = NaiveBayes(families).fit(holed, y)
        others = [name for name in names if name != hidden]
        alone = NaiveBayes({k: v for k, v in families.items() if k != hidden}).fit(frame[others], y)
        empty = holed[holed[hidden].isna()]
        assert_allclose(model.predict_proba(empty), alone.predict_proba(empty[others]), 1e-12)


# --- text -------------------------------------------------------------------------------------------------------------


def test_predicting_does_not_change_the_vocabulary():
    counts = pd.DataFrame({"p": [3, 0], "q": [1, 2], "r": [0, 2]})
    model = NaiveBayes(Multinomial()).fit(counts, ["s", "h"])
    query = pd.DataFrame({"p": [1], "q": [0], "r": [0], "zz": [2]})
    for _ in range(2):
        assert_allclose(model.predict_proba(query)[0, list(model.classes_).index("s")], 0.8)
    model = fitted({"c": list("rg")}, ["A", "B"], unseen="ignore")
    before = prob(model, "r")
    prob(model, "new")
    assert_allclose(prob(model, "r"), before, 0)
    assert model.statistics_.blocks[0].family.levels == ("g", "r")


def test_textbook_documents_about_china_and_japan():
    terms = ["Beijing", "Chinese", "Japan", "Macao", "Shanghai", "Tokyo"]
    train = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
    counts = np.array(
        [[text.split().count(term) for term in terms] for text in [*train, "Chinese Chinese Chinese Tokyo Japan"]]
    )
    y = ["China"] * 3 + ["Japan"]
    words = NaiveBayes(Multinomial(), label_concentration=0).fit(counts[:4], y)
    assert_allclose(words.predict_proba(counts[4:], plug_in="mean")[0, 0], 0.689759, atol=5e-7)
    events = NaiveBayes(Bernoulli(), label_concentration=0).fit(counts[:4] > 0, y)
    assert_allclose(events.predict_proba(counts[4:] > 0)[0, 0], 0.191067, atol=5e-7)


# --- exact constants --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("concentration", "p", "evidence"),
    [
        (1, 0.284091, -5.886104),
        (0.5, 0.175, -5.752573),
        ("jeffreys", 0.175, -5.752573),
        (1 / 3, 0.125, -5.744376),
        ("perks", 0.125, -5.744376),
    ],
)
def test_smoothing_constants(concentration, p, evidence):
    model = fitted({"x": [1, 1, 1, 3, 2, 2]}, list("AAAABB"), Categorical(), concentration=concentration)
    part = model._posterior.parts[0]
    assert_allclose(part.log_evidence().sum(), evidence, atol=5e-7)
    assert_allclose(prob(model, 2)[0], p, atol=5e-7)


def test_leaving_one_row_out():
    model = fitted({"x": [0, 0, 0, 1, 0, 1, 1, 1]}, list("AAAABBBB"), Categorical())
    part, labels = model._posterior.parts[0], model._posterior.labels
    x, y, weight = np.zeros(1, int), np.zeros(1, int), np.ones(1)
    joint = labels.log_prob_left_out(y, weight) + conjugacy.leave_one_out(part.family, part.posterior, x, y)
    assert_allclose(np.exp(joint[0, 0] - np.logaddexp(*joint[0])), 0.590164, atol=5e-7)
    assert_allclose(prob(model, 0)[0], 2 / 3)


FIFTEEN = pd.DataFrame({"x1": [1] * 5 + [2] * 5 + [3] * 5, "x2": list("SMMSSSMMLLLMMLL")})
FIFTEEN_LABELS = [-1, -1, 1, 1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, -1]


@pytest.mark.parametrize(
    ("concentration", "kind", "scores"),
    [(0, "mle", (Fraction(1, 15), Fraction(1, 45))), (1, "mean", (Fraction(28, 459), Fraction(5, 153)))],
)
def test_textbook_table_of_fifteen_rows(concentration, kind, scores):
    options = {"concentration": concentration, "label_concentration": concentration}
    model = NaiveBayes(Categorical(), **options).fit(FIFTEEN, FIFTEEN_LABELS)
    tables = model.estimates(kind)
    product = tables.label_prob * tables.x1_prob.sel(x1=2) * tables.x2_prob.sel(x2="S")
    assert_allclose(product.sel(label=[-1, 1]), [float(score) for score in scores], 1e-14)
    query = pd.DataFrame({"x1": [2], "x2": ["S"]})
    assert model.predict(query).tolist() == [-1]
    expected = float(scores[0] / sum(scores))
    for plug_in in (None, kind):
        assert_allclose(model.predict_proba(query, plug_in)[0, 0], expected, 1e-14)
