"""Labels, blocks and summaries: levels and labels that come later find their places."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bayesnb import Bernoulli, Categorical, Dirichlet, Gaussian, Multinomial, Poisson
from bayesnb.blocks import code_by_value, in_order, plan
from bayesnb.frame import read_labels, read_table
from bayesnb.labels import label_model
from bayesnb.summary import Summary


@pytest.mark.parametrize(
    ("levels", "values", "codes"),
    [
        ((3, 5, 4), np.array([5, 3, 9, -1, 4]), [1, 0, -1, -1, 2]),
        ((3, 5), np.array([5.0, 3.5]), [1, -1]),
        ((1, 2**60, 2**60 + 1), np.array([2**60 + 1, 2**60]), [2, 1]),
        ((0.7, 1.2), np.array([1.9, 0.7, 1.0]), [-1, 0, -1]),
        (("a", "b"), np.array(["b", 1, None, "a"], dtype=object), [1, -1, -1, 0]),
        (((1, 2), (3, 4)), np.fromiter([(3, 4), (5, 6)], dtype=object), [1, -1]),
        ((250, 3), np.array([250, 4, 3], dtype=np.uint8), [0, -1, 1]),
        ((), np.array([1, 2]), [-1, -1]),
    ],
    ids=str,
)
def test_codes_are_places_among_the_levels(levels, values, codes):
    assert code_by_value(values, levels).tolist() == codes


def test_order_of_values_that_can_not_be_compared():
    assert in_order({3, 1.5, 2}) == (1.5, 2, 3)
    assert in_order({"b", 1, None, "a"}) == (None, 1, "a", "b")


def test_columns_of_equal_families_are_read_together():
    table = read_table(pd.DataFrame({"x": [1.0], "c": ["u"], "y": [2.0], "n": [1], "b": [True], "w": [1], "v": [2]}))
    blocks = plan(table, {"n": Poisson(), ("v", "w"): Multinomial(Dirichlet([1, 2]))})
    assert [(type(block.family), block.names) for block in blocks] == [
        *((Gaussian, ("x", "y")), (Categorical, ("c",)), (Poisson, ("n",)), (Bernoulli, ("b",))),
        (Multinomial, ("v", "w")),  # its prior goes by the order in which they were named
    ]


def summary(frame, y, families=None):
    table, labels = read_table(frame), read_labels(y, len(frame))
    return Summary.empty(table, families, in_order(set(y))).met(table, labels, None, "error")


def test_new_labels_and_levels_find_their_places():
    first = summary(pd.DataFrame({"c": ["m", "m", "z"]}), ["b", "b", "d"])
    wide = first.with_classes(["a", "c"])
    assert wide.classes == ("a", "b", "c", "d")
    assert wide.label_counts.tolist() == [0, 2, 0, 1]
    assert wide.statistics[0].counts.tolist() == [[0, 0], [2, 0], [0, 0], [0, 1]]
    table = read_table(pd.DataFrame({"c": ["a", "n"]}))
    more = wide.with_levels_of(table).met(table, read_labels(["a", "b"], 2), None, "error")
    assert more.blocks[0].family.levels == ("a", "m", "n", "z")
    assert more.statistics[0].counts.tolist() == [[1, 0, 0, 0], [0, 2, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


# --- the label model --------------------------------------------------------------------------------------------------

COUNTS = np.array([3.0, 1, 0])


@pytest.mark.parametrize(
    ("concentration", "mean"),
    [
        (1, [4 / 7, 2 / 7, 1 / 7]),
        ("jeffreys", [3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5]),
        ("perks", [10 / 15, 4 / 15, 1 / 15]),
        ([1, 2, 3], [0.4, 0.3, 0.3]),
        ({"c": 3, "a": 1, "b": 2}, [0.4, 0.3, 0.3]),
        (0, [0.75, 0.25, 0]),
    ],
    ids=str,
)
def test_label_probabilities_are_smoothed(concentration, mean):
    model = label_model(COUNTS, ("a", "b", "c"), concentration, None)
    assert_allclose(model.estimate("mean"), mean)
    assert_allclose(np.exp(model.log_prob()), mean)
    assert_allclose(model.estimate("mle"), [0.75, 0.25, 0])


def test_the_evidence_of_labels_is_the_chain_of_their_predictives():
    # a a b a under Dirichlet(1, 1, 1): 1/3 · 2/4 · 1/5 · 3/6
    assert_allclose(label_model(COUNTS, ("a", "b", "c"), 1, None).log_evidence(), np.log(1 / 3 * 2 / 4 * 1 / 5 * 3 / 6))
    known = label_model(COUNTS, ("a", "b", "c"), 1, [0.5, 0.25, 0.25])
    assert_allclose(known.log_evidence(), np.log(0.5**3 * 0.25))


def test_leaving_a_label_out_takes_its_weight_from_the_counts():
    model = label_model(COUNTS, ("a", "b", "c"), 1, None)
    left_out = np.exp(model.log_prob_left_out(np.array([0, 1]), np.array([1.0, 0.5])))
    assert_allclose(left_out, [[3 / 6, 2 / 6, 1 / 6], [4 / 6.5, 1.5 / 6.5, 1 / 6.5]])
