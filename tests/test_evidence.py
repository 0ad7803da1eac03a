"""Evidence by feature, Bayes factors, and the refusal to compare models of different rows."""

import numpy as np
import pandas as pd
import pytest

from bayesnb import Bernoulli, Categorical, Dirichlet, Gamma, Gaussian, Multinomial, NaiveBayes, Poisson


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "colour": rng.choice(["r", "g"], 30),
            "size": rng.normal(size=30),
            "hits": rng.integers(0, 2, 30),
            "apple": rng.poisson(2, 30),
            "pear": rng.poisson(1, 30),
        }
    )
    return rows, rng.choice(["A", "B", "C"], 30)


FAMILIES = {"hits": Bernoulli(), ("apple", "pear"): Multinomial()}


def test_parts_add_up_and_bear_the_users_names(table):
    model = NaiveBayes(FAMILIES).fit(*table)
    by_feature = model.log_evidence(by="feature")
    total = by_feature.label_log_evidence + by_feature.feature_log_evidence.sum()
    assert float(total) == pytest.approx(model.log_evidence())
    assert list(by_feature.feature.values) == ["colour", "size", "hits", "term"]


def test_a_feature_has_the_evidence_of_a_model_with_it_alone(table):
    rows, labels = table
    by_feature = NaiveBayes(FAMILIES).fit(rows, labels).log_evidence(by="feature")
    alone = NaiveBayes().fit(rows[["size"]], labels).log_evidence(by="feature")
    assert float(by_feature.feature_log_evidence.sel(feature="size")) == pytest.approx(
        float(alone.feature_log_evidence.sel(feature="size"))
    )


def test_the_feature_evidence_of_cases():
    """Counts A (3, 0, 1), B (0, 2, 0) of three declared values at λ = 1, ½, ⅓."""
    rows, labels = [["u"], ["u"], ["u"], ["w"], ["v"], ["v"]], list("AAAABB")
    for prior, expected in [("laplace", -5.886104), ("jeffreys", -5.752573), ("perks", -5.744376)]:
        model = NaiveBayes(Categorical(prior, levels=["u", "v", "w"])).fit(rows, labels)
        assert float(model.log_evidence(by="feature").feature_log_evidence[0]) == pytest.approx(expected, abs=1e-6)


def test_bayes_factor_is_the_product_of_one_step_predictions():
    """By the chain rule the evidence is the product of each row's predictive given the rows before it."""
    rng = np.random.default_rng(2)
    rows, labels = rng.integers(0, 3, (12, 2)), rng.integers(0, 2, 12)

    def chain(prior):
        model, total = NaiveBayes(Categorical(prior, levels=[0, 1, 2])), 0.0
        for i in range(1, 12):
            model.partial_fit(rows[i - 1 : i], labels[i - 1 : i], classes=[0, 1])
            total += model._log_joint(rows[i : i + 1], None)[0, labels[i]]
        return total

    laplace = NaiveBayes(Categorical("laplace", levels=[0, 1, 2])).fit(rows, labels)
    sharp = NaiveBayes(Categorical(Dirichlet([5, 1, 1]), levels=[0, 1, 2])).fit(rows, labels)
    first = 2 * np.log(1 / 3) - sum(np.log([5, 1, 1][v] / 7) for v in rows[0])
    assert laplace.log_bayes_factor(sharp) == pytest.approx(chain("laplace") - chain(Dirichlet([5, 1, 1])) + first)
    assert sharp.log_bayes_factor(laplace) == pytest.approx(-laplace.log_bayes_factor(sharp))


def test_order_batches_and_repeats_do_not_matter(table):
    rows, labels = table
    whole = NaiveBayes(FAMILIES).fit(rows, labels)
    order = np.random.default_rng(1).permutation(30)
    pieces = NaiveBayes({**FAMILIES, "colour": Categorical("jeffreys")})
    for batch in np.array_split(order, 3):
        pieces.partial_fit(rows.iloc[batch], labels[batch], classes=["A", "B", "C"])
    assert np.isfinite(whole.log_bayes_factor(pieces))
    doubled = NaiveBayes(FAMILIES).fit(rows, labels, np.full(30, 2.0))
    repeated = NaiveBayes(FAMILIES).fit(pd.concat([rows, rows]), [*labels, *labels])
    assert doubled.log_bayes_factor(repeated) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("other", [Poisson(Gamma(1, 1)), Categorical(), Multinomial()])
def test_probabilities_of_different_families_have_a_bayes_factor(table, other):
    rows, labels = table
    rows = rows[["hits"]]
    model = NaiveBayes(other).fit(rows, labels)
    assert np.isfinite(NaiveBayes(Bernoulli()).fit(rows, labels).log_bayes_factor(model))
    changed = rows.copy()
    changed.loc[0, "hits"] = 1 - changed.loc[0, "hits"]
    with pytest.raises(ValueError, match=r"different rows.*hits"):
        NaiveBayes(Bernoulli()).fit(changed, labels).log_bayes_factor(model)


def test_a_density_has_no_ratio_to_a_probability(table):
    rows, labels = table
    gaussian = NaiveBayes({"apple": Gaussian()}).fit(rows[["apple"]], labels)
    with pytest.raises(ValueError, match=r"'apple' are Gaussian in one model only"):
        gaussian.log_bayes_factor(NaiveBayes({"apple": Poisson()}).fit(rows[["apple"]], labels))


@pytest.mark.parametrize("column", ["colour", "size", "hits", "apple"])
def test_one_other_cell_is_other_rows(table, column):
    rows, labels = table
    changed = rows.copy()
    changed.loc[3, column] = rows[column][rows[column] != rows.loc[3, column]].iloc[0]
    with pytest.raises(ValueError, match=f"different rows.*{column}"):
        NaiveBayes(FAMILIES).fit(rows, labels).log_bayes_factor(NaiveBayes(FAMILIES).fit(changed, labels))


def test_other_labels_rows_and_columns_are_refused(table):
    rows, labels = table
    model = NaiveBayes(FAMILIES).fit(rows, labels)
    with pytest.raises(ValueError, match=r"the label '.' has \d+ rows in one and \d+"):
        model.log_bayes_factor(NaiveBayes(FAMILIES).fit(rows[:-1], labels[:-1]))
    fewer = NaiveBayes({"hits": Bernoulli()}).fit(rows[["hits"]], labels)
    with pytest.raises(ValueError, match="only one of them has the columns"):
        model.log_bayes_factor(fewer)


def test_by_takes_only_feature(table):
    with pytest.raises(ValueError, match='by must be "feature"'):
        NaiveBayes(FAMILIES).fit(*table).log_evidence(by="label")


def test_there_is_no_bayes_factor_against_what_is_no_model():
    nb = NaiveBayes(Categorical()).fit([["r"], ["g"]], ["A", "B"])
    with pytest.raises(TypeError, match="not an estimator"):
        nb.log_bayes_factor("another")
