"""Feature weights: how they enter predictions, and that they are learnt as the mathematics says."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime, minimize_scalar
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, train_test_split

from bayesnb import (
    Bernoulli,
    Categorical,
    Gamma,
    Gaussian,
    Multinomial,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
    weights,
)
from bayesnb.weights import Margins, margins_of, overlap_of

FAMILIES = {
    "colour": Categorical(levels=["r", "g", "b"]),
    ("wet", "cold"): Bernoulli(),
    ("length", "width"): Gaussian(NormalInverseGamma(0.0, 1.0, 1.0, 1.0)),
    "visits": Poisson(Gamma(1.0, 0.5)),
    ("apple", "pear", "plum"): Multinomial(),
}
FEATURES = ("colour", "wet", "cold", "length", "width", "visits", "term")


@pytest.fixture(scope="module")
def mixed():
    """A table of all families with missing cells, and its labels."""
    rng = np.random.default_rng(1)
    n = 40
    y = rng.choice(["A", "B", "C"], n)
    shift = (y == "B") + 2.0 * (y == "C")
    rows = pd.DataFrame(
        {
            "colour": np.where(rng.random(n) < 0.4, "r", rng.choice(["g", "b"], n)),
            "wet": (rng.random(n) < 0.2 + 0.3 * shift).astype(float),
            "cold": rng.integers(0, 2, n).astype(float),
            "length": rng.normal(shift),
            "width": rng.normal(0, 1, n),
            "visits": rng.poisson(1 + shift).astype(float),
            "apple": rng.poisson(2, n),
            "pear": rng.poisson(1 + shift),
            "plum": rng.poisson(0.2, n),
        }
    )
    for position, name in enumerate(["colour", "wet", "length", "visits"]):
        rows.loc[position::7, name] = None if name == "colour" else np.nan
    return rows, y


@pytest.fixture(scope="module")
def margins(mixed):
    """The margins of the mixed table."""
    rows, y = mixed
    return margins_by(NaiveBayes(FAMILIES).fit(rows, y), rows, y)


def margins_by(model, rows, y):
    _, encoded = model._encoded(rows)
    return margins_of(model._posterior, encoded, np.searchsorted(model.classes_, y), np.ones(len(y)))


def test_contributions_add_up_to_the_score(mixed):
    rows, y = mixed
    w = np.array([0.5, 0.0, 2.0, 1.0, 0.3, 0.7, 1.5])
    posterior = NaiveBayes(FAMILIES).fit(rows, y)._posterior
    weighted = posterior.with_weights(w)
    assert weighted.features == FEATURES
    np.testing.assert_array_equal(weighted.weights, w)
    _, encoded = NaiveBayes(FAMILIES).fit(rows, y)._encoded(rows)
    plain, contributions = posterior.contributions(encoded), weighted.contributions(encoded)
    np.testing.assert_allclose(contributions, plain * w)
    expected = posterior.labels.log_prob() + contributions.sum(2)
    np.testing.assert_allclose(weighted.log_joint(encoded, len(rows)), expected)
    for part, arrays in zip(weighted.parts, encoded, strict=True):
        unweighted = part.family.cumulants(part.posterior, arrays.x, arrays.observed)
        unweighted = unweighted if unweighted.ndim == 4 else unweighted[..., None]
        for order, of_order in enumerate(part.cumulants(arrays), start=1):
            np.testing.assert_allclose(of_order, unweighted[order - 1] * part.weights**order)


def test_equal_weights_temper(mixed):
    rows, y = mixed
    plain = NaiveBayes(FAMILIES).fit(rows, y)
    tempered = NaiveBayes(FAMILIES, feature_weights=dict.fromkeys(FEATURES, 0.4)).fit(rows, y)
    label = plain._posterior.labels.log_prob()
    expected = log_softmax(label + 0.4 * (plain.predict_log_proba(rows) - label), axis=1)
    np.testing.assert_allclose(tempered.predict_log_proba(rows), expected, rtol=1e-10)


@pytest.mark.parametrize("plug_in", [None, "mean"])
def test_a_weight_of_zero_is_a_column_that_is_not_there(mixed, plug_in):
    rows, y = mixed
    dropped = NaiveBayes(FAMILIES, feature_weights={"colour": 0}).fit(rows, y)
    families = {key: family for key, family in FAMILIES.items() if key != "colour"}
    without = NaiveBayes(families).fit(rows.drop(columns="colour"), y)
    expected = without.predict_proba(rows.drop(columns="colour"), plug_in)
    np.testing.assert_allclose(dropped.predict_proba(rows, plug_in), expected, rtol=1e-10)


def test_a_weight_of_zero_drops_the_impossible():
    x, y = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], dtype=bool), ["A", "A", "B", "B"]
    model = NaiveBayes(concentration=0, feature_weights={"x0": 0.0}).fit(x, y)
    for query in ([[False, False]], sparse.csr_array([[False, False]])):
        fitted = NaiveBayes(Bernoulli(), concentration=0, feature_weights={"x0": 0.0}).fit(x, y)
        np.testing.assert_allclose(fitted.predict_proba(query), [[2 / 3, 1 / 3]])
    np.testing.assert_allclose(model.predict_proba(np.array([[False, False]])), [[2 / 3, 1 / 3]])


def test_sparse_and_dense_rows_are_weighed_alike():
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 5)) < 0.4, rng.integers(0, 2, 60)
    model = NaiveBayes(Bernoulli(), feature_weights={"x1": 2.5, "x3": 0.0, "x4": 0.2}).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(x)), model.predict_proba(x), rtol=1e-10)


def test_margins_equal_refits_without_each_row(mixed, margins):
    rows, y = mixed
    for i in (0, 1, 7, 13, 39):
        others = np.arange(len(y)) != i
        model = NaiveBayes(FAMILIES).partial_fit(rows[others], y[others], classes=["A", "B", "C"])
        _, encoded = model._encoded(rows.iloc[[i]])
        own, label = list("ABC").index(y[i]), model._posterior.labels.log_prob()
        contributions = model._posterior.contributions(encoded)[0]
        rivals = [k for k in range(3) if k != own]
        np.testing.assert_allclose(margins.evidence[i], contributions[rivals] - contributions[own], atol=1e-10)
        np.testing.assert_allclose(margins.offset[i], label[rivals] - label[own], atol=1e-12)


def test_a_missing_cell_gives_no_evidence(mixed, margins):
    rows, _ = mixed
    for j, name in enumerate(["colour", "wet"]):
        missing = rows[name].isna().to_numpy()
        assert missing.any()
        assert (margins.evidence[missing][:, :, j] == 0).all()


def test_objective_is_the_penalised_log_loss_of_left_out_predictions(mixed, margins):
    rows, y = mixed
    w = np.linspace(0, 1.5, len(FEATURES))
    model = NaiveBayes(FAMILIES, feature_weights=dict(zip(FEATURES, w, strict=True))).fit(rows, y)
    value, _ = margins.objective(w, centre=0.5, precision=3.0)
    penalty = 1.5 * (w @ margins.overlap @ w - 2 * 0.5 * w.sum())
    assert value == pytest.approx(-model.loo(rows, y).elpd + penalty)


def test_gradient_is_that_of_the_objective(margins):
    w = np.random.default_rng(2).random(len(FEATURES))
    _, gradient = margins.objective(w, 0.3, 2.0)
    numerical = approx_fprime(w, lambda w: margins.objective(w, 0.3, 2.0)[0], 1e-6)
    np.testing.assert_allclose(gradient, numerical, rtol=1e-4, atol=1e-4)


def test_objective_is_convex(margins):
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b = rng.exponential(2, (2, len(FEATURES)))
        low, high, middle = (margins.objective(w, 0.5, 3.0)[0] for w in (a, b, (a + b) / 2))
        assert middle <= (low + high) / 2 + 1e-9


def test_sample_weights_repeat_rows(margins):
    count = np.random.default_rng(4).integers(1, 4, len(margins.weight))
    repeated = margins.take(np.repeat(np.arange(len(count)), count))
    once = Margins(margins.offset, margins.evidence, count.astype(float), margins.overlap)
    np.testing.assert_allclose(once.fit(0.5, 1.0), repeated.fit(0.5, 1.0), atol=1e-4)


@pytest.mark.parametrize("precision", [0.1, 10.0])
def test_fit_meets_the_conditions_of_a_minimum(margins, precision):
    w = margins.fit(0.5, precision)
    _, gradient = margins.objective(w, 0.5, precision)
    assert (w >= 0).all()
    np.testing.assert_allclose(gradient[w > 0], 0, atol=2e-3)
    assert (gradient[w == 0] > 0).all()


def test_shared_weight_minimises_the_left_out_log_loss(mixed):
    rows, y = mixed
    model = NaiveBayes(FAMILIES, feature_weights="loo-shared").fit(rows, y)

    def loss(weight):
        shared = NaiveBayes(FAMILIES, feature_weights=dict.fromkeys(FEATURES, weight)).fit(rows, y)
        return -shared.loo(rows, y).elpd + (weight - 1) ** 2 / 2

    best = minimize_scalar(loss, bounds=(0, 3), method="bounded").x
    np.testing.assert_allclose(model.feature_weights_, best, atol=1e-3)


def test_shared_weight_is_finite_where_no_row_is_in_doubt():
    model = NaiveBayes(feature_weights="loo").fit([["r"], ["r"], ["r"], ["g"], ["g"], ["g"]], list("AAABBB"))
    assert 1 < float(model.feature_weights_[0]) < 4


def independent_columns(n, n_columns, seed):
    """Binary columns, independent given the label, as the model assumes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    prob = rng.uniform(0.2, 0.8, (2, n_columns))
    return rng.random((n, n_columns)) < prob[y], y


def test_independent_features_weigh_about_one():
    x, y = independent_columns(4000, 6, 5)
    margins = margins_by(NaiveBayes().fit(x, y), x, y)
    w = margins.fit(1.0, 1e-3)
    hessian = approx_fprime(w, lambda w: margins.objective(w, 1.0, 1e-3)[1], 1e-5)
    assert (np.abs(w - 1) < 4 * np.sqrt(np.diag(np.linalg.inv(hessian)))).all()
    shared = margins.fit_shared()
    step, slope = 1e-5, lambda w: margins.pooled().objective(np.array([w]), 1.0, 1.0)[1][0]
    assert abs(shared - 1) < 4 / np.sqrt((slope(shared + step) - slope(shared)) / step)


def test_overlap_is_the_squared_correlation_given_the_label():
    rng = np.random.default_rng(8)
    n, y = 20_000, rng.integers(0, 2, 20_000)
    noise = rng.multivariate_normal([0, 0, 0], [[1, 0.6, 0], [0.6, 1, 0], [0, 0, 1]], n)
    evidence = (noise * [1, 2, 3] + np.array([[-1, -2, -3], [-4, 5, 6]])[y])[:, None, :]
    overlap = overlap_of(evidence, y, np.ones(n))
    error = 2 * 0.6 * (1 - 0.6**2) / np.sqrt(n)  # of r², by the delta method from that of r
    assert abs(overlap[0, 1] - 0.36) < 4 * error
    assert (overlap[:2, 2] < 4**2 / n).all()
    count = rng.integers(0, 3, n)
    repeated = np.repeat(np.arange(n), count)
    weighted = overlap_of(evidence, y, count.astype(float))
    np.testing.assert_allclose(weighted, overlap_of(evidence[repeated], y[repeated], np.ones(len(repeated))))


def test_evidence_without_variation_overlaps_with_its_copies_alone():
    varying = np.random.default_rng(9).normal(size=100)
    evidence = np.column_stack([np.full(100, -3.0), varying, np.full(100, -3.0), np.zeros(100)])[:, None, :]
    overlap = overlap_of(evidence, np.repeat([0, 1], 50), np.ones(100))
    assert overlap[0, 2] == pytest.approx(1)
    assert overlap[0, 1] < 0.01
    np.testing.assert_array_equal(overlap[3], [0, 0, 0, 1])


def test_copies_have_equal_shares_of_one(margins):
    copied = np.concatenate([margins.evidence, margins.evidence[..., :1], margins.evidence[..., :1]], axis=2)
    overlap = np.pad(margins.overlap, (0, 2), "edge")
    overlap[:, -2:] = overlap[:, :1]
    overlap[-2:] = overlap[:1]
    share = Margins(margins.offset, copied, margins.weight, overlap).share
    np.testing.assert_allclose(share[[0, -2, -1]], margins.share[0] / 3, atol=1e-4)
    np.testing.assert_allclose(share[1:-2], margins.share[1:], atol=1e-4)
    np.testing.assert_allclose(margins.overlap @ margins.share, 1, atol=1e-4)


@pytest.mark.parametrize("n", [60, 100, 2000])
@pytest.mark.parametrize("seed", [6, 7, 8])
def test_copies_of_a_column_share_its_weight(n, seed):
    x, y = independent_columns(n, 13, seed)
    copied = np.hstack([x[:, :1]] * 10 + [x[:, 1:]])
    once = NaiveBayes(feature_weights="loo").fit(x, y)
    ten_times = NaiveBayes(feature_weights="loo").fit(copied, y)
    weight = ten_times.feature_weights_.to_numpy()
    expected = once.feature_weights_.to_numpy()
    np.testing.assert_allclose([weight[:10].sum(), *weight[10:]], expected, atol=1e-3)
    np.testing.assert_allclose(ten_times.predict_proba(copied), once.predict_proba(x), atol=1e-3)


def test_copies_of_a_column_that_tells_the_labels_share_its_weight():
    y = np.repeat(["A", "B"], 20)
    x = (y == "B")[:, None]
    once = NaiveBayes(feature_weights="loo").fit(x, y)
    ten_times = NaiveBayes(feature_weights="loo").fit(np.repeat(x, 10, axis=1), y)
    np.testing.assert_allclose(ten_times.feature_weights_, float(once.feature_weights_[0]) / 10, rtol=1e-3)


def test_the_order_of_rows_does_not_matter(mixed):
    rows, y = mixed
    order = np.random.default_rng(7).permutation(len(y))
    straight = NaiveBayes(FAMILIES, feature_weights="loo").fit(rows, y)
    mixed_up = NaiveBayes(FAMILIES, feature_weights="loo").fit(rows.iloc[order], y[order])
    np.testing.assert_allclose(straight.feature_weights_, mixed_up.feature_weights_, atol=1e-3)


def test_from_more_evidence_than_fits_a_sample_of_rows_is_taken(mixed, monkeypatch):
    rows, y = mixed
    monkeypatch.setattr(weights, "MAX_CELLS", 20 * 2 * len(FEATURES))
    models = [NaiveBayes(FAMILIES, feature_weights="loo").fit(rows, y) for _ in range(2)]
    assert models[0].feature_weights_.attrs["rows"] == 20
    np.testing.assert_array_equal(models[0].feature_weights_, models[1].feature_weights_)


def test_blocks_of_rows_give_the_same_margins(mixed, margins, monkeypatch):
    rows, y = mixed
    monkeypatch.setattr(weights, "BLOCK_CELLS", 100)
    blocked = margins_by(NaiveBayes(FAMILIES).fit(rows, y), rows, y)
    np.testing.assert_allclose(blocked.evidence, margins.evidence, atol=1e-12)


def test_mapping_gives_weights_by_name(mixed):
    rows, y = mixed
    model = NaiveBayes(FAMILIES, feature_weights={"width": 0.5, "term": 2}).fit(rows, y)
    assert model.feature_weights_.sel(feature="width") == 0.5
    assert model.feature_weights_.sel(feature="term") == 2
    assert float(model.feature_weights_.sum()) == 7.5
    learnt = NaiveBayes(FAMILIES, feature_weights="loo").fit(rows, y)
    again = NaiveBayes(FAMILIES, feature_weights=learnt.feature_weights_.to_series().to_dict()).fit(rows, y)
    np.testing.assert_array_equal(again.predict_proba(rows), learnt.predict_proba(rows))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"colou": 1.0}, r"feature_weights names 'colou', which .* its features are 'colour', 'wet'"),
        ({"pear": 1.0}, "feature_weights names 'pear'"),
        ({"colour": -0.5}, "the weight of 'colour' must be finite and not negative, not -0.5"),
        ({"colour": np.nan}, "the weight of 'colour'"),
        ("los", "not 'los'"),
        (0.5, "not 0.5"),
    ],
)
def test_wrong_weights_are_named(mixed, spec, message):
    with pytest.raises(ValueError, match=message):
        NaiveBayes(FAMILIES, feature_weights=spec).fit(*mixed)


def test_a_mapping_may_name_a_column_that_does_not_vary():
    x = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 1.0, 1.0]})
    with pytest.warns(UserWarning, match="do not vary"):
        model = NaiveBayes(feature_weights={"a": 0.5, "b": 0.5}).fit(x, list("AAB"))
    assert model.feature_weights_.feature.values.tolist() == ["a"]


def test_learning_needs_all_rows_at_once(mixed):
    rows, y = mixed
    model = NaiveBayes(FAMILIES, feature_weights="loo").fit(rows, y)
    before = model.predict_proba(rows)
    with pytest.raises(ValueError, match="learns from all rows at once"):
        model.partial_fit(rows, y)
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    given = {"colour": 0.3}
    at_once = NaiveBayes(FAMILIES, feature_weights=given).fit(rows, y)
    batches = NaiveBayes(FAMILIES, feature_weights=given).partial_fit(rows[:20], y[:20], classes=list("ABC"))
    batches.partial_fit(rows[20:], y[20:])
    np.testing.assert_allclose(batches.predict_proba(rows), at_once.predict_proba(rows), rtol=1e-10)


def test_learning_needs_a_concentration(mixed):
    rows, y = mixed
    with pytest.raises(ValueError, match="needs a concentration above 0"):
        NaiveBayes(FAMILIES, concentration=0, feature_weights="loo").fit(rows, y)


def test_rows_of_weight_zero_teach_no_weights(mixed):
    rows, y = mixed
    weight = np.r_[np.ones(30), np.zeros(10)]
    all_rows = NaiveBayes(FAMILIES, feature_weights="loo").fit(rows, y, sample_weight=weight)
    fewer = NaiveBayes(FAMILIES, feature_weights="loo").fit(rows[:30], y[:30])
    np.testing.assert_allclose(all_rows.feature_weights_, fewer.feature_weights_)


def test_scikit_learn_tunes_and_clones(mixed):
    rows, y = mixed
    search = GridSearchCV(NaiveBayes(FAMILIES), {"feature_weights": [None, "loo-shared", {"term": 0.0}]}, cv=3)
    search.fit(rows, y)
    copy = clone(search.best_estimator_)
    assert copy.get_params()["feature_weights"] == search.best_params_["feature_weights"]


def test_description_says_what_was_dropped(mixed):
    rows, y = mixed
    model = NaiveBayes(FAMILIES, feature_weights={"colour": 0, "width": 1.25}).fit(rows, y)
    assert model.describe().splitlines()[-1] == (
        "feature weights (given): 'width' 1.25, 'wet' 1, 'cold' 1, 'length' 1, 'visits' 1, 'term' 1; dropped: 'colour'"
    )
    assert "weights" not in NaiveBayes(FAMILIES).fit(rows, y).describe()
    assert "(loo-shared)" in NaiveBayes(FAMILIES, feature_weights="loo-shared").fit(rows, y).describe()


@pytest.mark.parametrize("spec", ["loo", "loo-shared"])
def test_tables_that_teach_nothing(spec):
    one_label = NaiveBayes(feature_weights=spec).fit([["r"], ["g"]], ["A", "A"])
    np.testing.assert_allclose(one_label.feature_weights_, 1.0)
    no_columns = NaiveBayes(feature_weights=spec).fit(np.ones((3, 0)), ["A", "B", "B"])
    assert no_columns.feature_weights_.size == 0
    one_row = NaiveBayes(feature_weights=spec).fit([["r"]], ["A"])
    np.testing.assert_allclose(one_row.predict_proba([["r"]]), 1.0)


@pytest.mark.slow
def test_real_votes_are_predicted_better(shared_data):
    votes = pd.read_csv(shared_data / "house-votes-84.data", na_values="?").astype("category")
    y = votes.pop("Class")

    def held_out_loss(spec, seed):
        x_train, x_test, y_train, y_test = train_test_split(votes, y, test_size=0.2, random_state=seed)
        model = NaiveBayes(feature_weights=spec).fit(x_train, y_train)
        log_prob = model.predict_log_proba(x_test)
        return -log_prob[np.arange(len(y_test)), np.searchsorted(model.classes_, y_test)].mean()

    plain, shared, each = (
        np.mean([held_out_loss(spec, seed) for seed in range(5)]) for spec in (None, "loo-shared", "loo")
    )
    assert each < 0.7 * shared < 0.7 * 0.7 * plain
