"""How far the closed-form credible bounds are from those of a million exact draws, over random models.

Models have 2 to 6 labels, 1 to 60 features of all families mixed, and 5 to 5,000 training rows, few as likely as many.
For a single row, one Gamma, Beta or pair of them for each label and feature is all that its scores need, so a million
draws of the scores are exact and affordable. Rows that the closed form leaves to draws are compared as they are
returned. The rule that leaves them was set on other models of this kind, and no seed used here had a part in it.

    python benchmarks/interval_accuracy.py --models 220 --draws 1000000
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.special import softmax

from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes, Poisson
from bayesnb.score_draws import DRAWS_FOR_FEW, exact_draws
from bayesnb.uncertainty import by_cumulants, by_draws

PROB = 0.94
FIRST_SEED = 1000
CHUNK = 1 << 15  # draws made together: they stay in the processor's cache
LEVELS = np.array([(1 - PROB) / 2, (1 + PROB) / 2])


def log_uniform(rng, low, high):
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def random_model(seed):
    """Return a fitted model and a further row as a table."""
    rng = np.random.default_rng(seed)
    n_labels, n_features, n_rows = int(rng.integers(2, 7)), log_uniform(rng, 1, 60), log_uniform(rng, 5, 5000)
    labels = rng.choice(n_labels, n_rows + 1, p=rng.dirichlet(np.ones(n_labels)))
    columns, families = {}, {}
    for j in range(n_features):
        name, distance = f"x{j}", rng.uniform(0, 1)
        family = rng.choice(["categorical", "bernoulli", "gaussian", "poisson"])
        columns[name], families[name] = random_column(rng, family, labels, n_labels, distance)
    if rng.random() < 0.3:
        terms = tuple(f"term{v}" for v in range(rng.integers(2, 30)))
        prob = rng.dirichlet(np.ones(len(terms)), n_labels)
        counts = np.array([rng.multinomial(rng.poisson(8), prob[label]) for label in labels])
        columns |= dict(zip(terms, counts.T, strict=True))
        families[terms] = Multinomial()
    table = pd.DataFrame(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column that does not vary
        model = NaiveBayes(families).partial_fit(table[:-1], labels[:-1], classes=range(n_labels))
    return model, table[-1:], rng


def random_column(rng, family, labels, n_labels, distance):
    if family == "categorical":
        n_levels = int(rng.integers(2, 8))
        prob = (1 - distance) * rng.dirichlet(np.ones(n_levels)) + distance * rng.dirichlet(np.ones(n_levels), n_labels)
        return (rng.random((len(labels), 1)) > prob.cumsum(1)[labels]).sum(1), Categorical(levels=range(n_levels + 1))
    if family == "bernoulli":
        prob = (1 - distance) * rng.random() + distance * rng.random(n_labels)
        return rng.random(len(labels)) < prob[labels], Bernoulli()
    if family == "gaussian":
        return rng.normal(2 * distance * rng.normal(size=n_labels)[labels], 1), Gaussian()
    return rng.poisson(np.exp(1 + distance * rng.normal(size=n_labels))[labels]), Poisson()


def gamma(rng, shape, n_draws):
    """Return Gamma(shape, 1) draws; single precision is enough for the shapes from 1 that all priors here give."""
    return rng.standard_gamma(shape, n_draws, dtype=np.float32)


def score_draws(model, row, rng, n_draws):
    """Return exact draws of the scores of a row's labels, less what all share: (label, draw)."""
    posterior, (_, encoded) = model._posterior, model._encoded(row)  # noqa: SLF001
    scores = np.empty((len(posterior.classes), n_draws), dtype=np.float32)
    for start in range(0, n_draws, CHUNK):
        for label, concentration in enumerate(posterior.labels.posterior.concentration):
            chunk = scores[label, start : start + CHUNK]
            chunk[:] = np.log(gamma(rng, concentration, len(chunk)))
            for part, arrays in zip(posterior.parts, encoded, strict=True):
                of_label = part.posterior.map(lambda a, label=label: a[label])
                for term in TERMS[part.family.name](rng, of_label, arrays.x, len(chunk)):
                    chunk += term
    return scores


def log_prob_terms(rng, concentrations, n_draws):
    for chosen, others in concentrations:
        value = gamma(rng, chosen, n_draws)
        yield np.log(value / (value + gamma(rng, others, n_draws)))


def categorical_terms(rng, p, x, n_draws):
    chosen = p.concentration[x[0]]
    return log_prob_terms(rng, [(chosen, p.concentration.sum() - chosen)], n_draws)


def bernoulli_terms(rng, p, x, n_draws):
    pairs = [(a, b) if one else (b, a) for a, b, one in zip(p.a, p.b, x[0], strict=True)]
    return log_prob_terms(rng, pairs, n_draws)


def gaussian_terms(rng, p, x, n_draws):
    for m, k, a, b, value in zip(p.location, p.pseudo_count, p.shape, p.scale, x[0], strict=True):
        precision = gamma(rng, a, n_draws) / np.float32(b)
        distance = np.sqrt(precision) * np.float32(value - m)
        distance -= rng.standard_normal(n_draws, dtype=np.float32) / np.float32(np.sqrt(k))
        yield 0.5 * (np.log(precision) - distance**2)


def poisson_terms(rng, p, x, n_draws):
    for a, b, value in zip(p.shape, p.rate, x[0], strict=True):
        rate = gamma(rng, a, n_draws) / np.float32(b)
        yield np.float32(value) * np.log(rate) - rate


def multinomial_terms(rng, p, x, n_draws):
    counts = x.toarray()[0]
    met = [gamma(rng, a, n_draws) for a in p.concentration[counts > 0]]
    unmet = p.concentration[counts == 0].sum()
    total = sum(met) + (gamma(rng, unmet, n_draws) if unmet else 0)
    for n, value in zip(counts[counts > 0], met, strict=True):
        yield np.float32(n) * np.log(value / total)


TERMS = {
    "Categorical": categorical_terms,
    "Bernoulli": bernoulli_terms,
    "Gaussian": gaussian_terms,
    "Poisson": poisson_terms,
    "Multinomial": multinomial_terms,
}


def study(seed, n_draws):
    """Return errors of every label's bounds, by cumulants and as returned, their standard errors, and errors of the sd.

    The standard errors are the reference's own.
    """
    model, row, rng = random_model(seed)
    posterior, (_, encoded) = model._posterior, model._encoded(row)  # noqa: SLF001
    closed, unfit = by_cumulants(posterior, encoded, 1, PROB, "eti")
    drawn = (
        by_draws(posterior, encoded, 1, exact_draws(posterior, DRAWS_FOR_FEW, rng), PROB, "eti") if unfit else closed
    )
    exact, standard_error, sd = reference(model, row, rng, n_draws)
    error, returned = (np.abs(np.stack([e.lower[0], e.upper[0]], axis=1) - exact) for e in (closed, drawn))
    size = (len(exact), len(posterior.features), int(posterior.labels.counts.sum()))
    return size, bool(unfit[0]), error.ravel(), returned.ravel(), standard_error.ravel(), np.abs(drawn.sd[0] - sd)


def reference(model, row, rng, n_draws):
    """Return bounds by exact draws, (label, bound), their standard errors, and standard deviations, (label,)."""
    with np.errstate(divide="ignore"):  # one draw of ten million may be 0
        ordered = np.sort(softmax(score_draws(model, row, rng, n_draws), axis=0), axis=1)
    slack = np.sqrt(LEVELS * (1 - LEVELS) / n_draws)
    less, exact, more = (quantiles(ordered, LEVELS + step * slack) for step in (-1, 0, 1))
    return exact, (more - less) / 2, ordered.std(1, dtype=float)


def quantiles(ordered, levels):
    return ordered[:, np.round(levels * (ordered.shape[1] - 1)).astype(int)]


def show(name, errors):
    if errors:
        errors = np.nan_to_num(np.concatenate(errors), nan=np.inf)  # where no cubic has the cumulants
        cells = f"{np.median(errors):9.5f} {np.quantile(errors, 0.99, method='lower'):9.5f} {errors.max():9.5f}"
        print(f"{name:48} {len(errors):7} {cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=220)
    parser.add_argument("--draws", type=int, default=1_000_000)
    options = parser.parse_args()
    studies = []
    for seed in range(FIRST_SEED, FIRST_SEED + options.models):
        studies.append(study(seed, options.draws))
        (n_labels, n_features, n_rows), unfit, error, returned, slack, _ = studies[-1]
        figures = f"{error.max():.4f} {returned.max():.4f} {slack.max():.4f}"
        print(f"{seed:4} {n_labels} labels {n_features:3} features {n_rows:5} rows {figures} {'*' * unfit}", flush=True)
    fit, unfit = ([s for s in studies if s[1] is which] for which in (False, True))
    print(f"\n{'error of a bound':48} {'bounds':>7} {'median':>9} {'99 %':>9} {'largest':>9}")
    show(f"cumulants, {len(fit)} models where they do", [s[2] for s in fit])
    show(f"cumulants, {len(unfit)} models (*) left to draws", [s[2] for s in unfit])
    show(f"{DRAWS_FOR_FEW:,} draws, the same (*) models", [s[3] for s in unfit])
    show("as returned", [s[3] for s in studies])
    show("one standard error of the reference", [s[4] for s in studies])
    show("the standard deviation, as returned", [s[5] for s in studies])


if __name__ == "__main__":
    main()
