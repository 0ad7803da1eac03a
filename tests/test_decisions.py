"""Least expected cost by enumeration, its interval against draws, abstaining, and every way of writing costs."""

import numpy as np
import pandas as pd
import pytest
from mixed_table import fitted, mixed_table

from bayesnb import Bernoulli, Categorical, NaiveBayes
from bayesnb.decisions import cost_table, turning_labels

COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [3.0, 4.0, -1.0]])


@pytest.fixture(scope="module")
def rows():
    return mixed_table()[0]


@pytest.fixture(scope="module")
def model():
    return fitted(*mixed_table())


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    return NaiveBayes(Bernoulli()).fit(rng.random((40, 3)) < 0.3 + 0.4 * y[:, None], y)


QUERY = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1]])


def test_without_costs_decisions_are_predictions(model, rows):
    decided = model.decide(rows)
    np.testing.assert_array_equal(decided.decision, model.predict(rows))
    np.testing.assert_allclose(decided.expected_cost, 1 - model.predict_proba(rows).max(1), atol=1e-12)
    assert list(decided.row.values) == list(rows.index)


def test_least_expected_cost_by_enumeration(model, rows):
    decided = model.decide(rows, COSTS, draws=100, random_seed=0)
    for p, label, cost in zip(model.predict_proba(rows), decided.decision.values, decided.expected_cost, strict=True):
        by_decision = [sum(p[k] * COSTS[k, d] for k in range(3)) for d in range(3)]
        assert label == model.classes_[np.argmin(by_decision)]
        assert float(cost) == pytest.approx(min(by_decision))


def test_a_costly_error_turns_the_decision():
    """P(ill) = (3/8 · 3/4) / (3/8 · 3/4 + 5/8 · 2/6) = 27/47: ill at equal costs, well if a false alarm costs 10."""
    table, label = [["r"]] * 3 + [["g"]] * 3, ["ill", "ill", "well", "well", "well", "well"]
    model = NaiveBayes(Categorical()).fit(table, label)
    assert model.decide([["r"]]).decision.item() == "ill"
    costly = model.decide([["r"]], {("ill", "well"): 1, ("well", "ill"): 10})
    assert costly.decision.item() == "well"
    assert float(costly.expected_cost[0]) == pytest.approx(27 / 47)


@pytest.mark.parametrize("reject_cost", [0.0, 0.2, 0.35, 1.0])
def test_no_decision_where_none_is_cheap_enough(model, rows, reject_cost):
    free, held = (model.decide(rows, reject_cost=cost, random_seed=0) for cost in (None, reject_cost))
    dear = free.expected_cost.values > reject_cost
    assert [label is None for label in held.decision.values] == list(dear)
    np.testing.assert_array_equal(held.decision[~dear], free.decision[~dear])
    for name in ["expected_cost", "lower", "upper"]:
        np.testing.assert_allclose(held[name], np.where(dear, reject_cost, free[name]))


@pytest.mark.parametrize("costs", [None, np.array([[0, 3], [1, 0]]), np.array([[-1, 3], [0.5, 0.5]])])
def test_intervals_of_two_labels_are_quantiles_of_draws(binary, costs):
    """Exact Beta and Dirichlet draws of p(label given x, θ); .015 is what intervals by cumulants promise."""
    decided = binary.decide(QUERY, costs)
    assert decided.attrs["method"] == "cumulants"
    matrix = 1 - np.eye(2) if costs is None else costs
    rng = np.random.default_rng(1)
    label_prob = binary.posterior_["label"].draw(rng, (100_000,))["prob"]
    theta = binary.posterior_["x0", "x1", "x2"].draw(rng, (100_000,))["prob"]
    for i, x in enumerate(QUERY):
        joint = label_prob * np.where(x == 1, theta, 1 - theta).prod(2)
        p = joint / joint.sum(1, keepdims=True)
        cost = p @ matrix[:, list(binary.classes_).index(decided.decision.values[i])]
        lower, upper = np.quantile(cost, [0.03, 0.97])
        assert float(decided.lower[i]) == pytest.approx(lower, abs=0.015 * np.ptp(matrix))
        assert float(decided.upper[i]) == pytest.approx(upper, abs=0.015 * np.ptp(matrix))


def test_intervals_by_draws_agree_with_the_closed_form(model, rows):
    """Costs that differ by 1e-9 change nothing but the method; cumulants promise .015, 10,000 draws have errors too."""
    almost = 1 - np.eye(3) + 1e-9 * np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]])
    closed, drawn = (model.decide(rows, costs, random_seed=0) for costs in (None, almost))
    assert (closed.attrs["method"], drawn.attrs["method"]) == ("cumulants", "draws")
    for name in ["lower", "upper"]:
        np.testing.assert_allclose(drawn[name], closed[name], atol=0.03)


def test_a_single_label_costs_nothing():
    decided = NaiveBayes(Categorical()).fit([["r"], ["g"]], ["A", "A"]).decide([["r"]])
    assert decided.decision.item() == "A"
    assert [float(decided[name][0]) for name in ("expected_cost", "lower", "upper")] == [0, 0, 0]


def test_draws_are_seeded(model, rows):
    first, second = (model.decide(rows, COSTS, draws=50, random_seed=3) for _ in range(2))
    assert first.identical(second)


def test_decisions_whose_cost_turns_on_one_label():
    assert turning_labels(1 - np.eye(3)).tolist() == [0, 1, 2]
    assert turning_labels(np.array([[0, 3], [1, 0]])) is not None
    assert turning_labels(COSTS) is None


def test_every_way_of_writing_costs():
    classes = ("a", "b")
    expected = np.array([[0.0, 3.0], [7.0, 0.0]])
    frame = pd.DataFrame([[0, 7], [3, 0]], index=["b", "a"], columns=["b", "a"])
    for costs in (expected, expected.tolist(), frame, {("a", "b"): 3, ("b", "a"): 7}):
        np.testing.assert_array_equal(cost_table(costs, classes), expected)
    np.testing.assert_array_equal(cost_table(None, classes), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones((2, 3)), "not the shape"),
        ([[0, np.inf], [1, 0]], "deciding 'b' where 'a' is true must be finite"),
        ({("a", "b"): 1}, r"\('b', 'a'\) is not given"),
        ({("a", "b"): 1, ("b", "a"): 1, ("a", "c"): 1}, r"\('a', 'c'\) is no such pair"),
        (pd.DataFrame([[0, 1], [1, 0]], index=["a", "b"], columns=["a", "c"]), "is no such pair"),
    ],
)
def test_costs_that_do_not_fit_are_refused(costs, message):
    with pytest.raises(ValueError, match=message):
        cost_table(costs, ("a", "b"))


def test_an_infinite_reject_cost_is_refused(model, rows):
    with pytest.raises(ValueError, match="reject_cost"):
        model.decide(rows, reject_cost=np.inf)
