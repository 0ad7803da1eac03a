"""Where two things that are often taken for one are not: how far apart they are on the table, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import logsumexp

from bayesnb.blocks import Encoded
from bayesnb.equivalence.checks import Check, Claim
from bayesnb.equivalence.reference import TOLERANCE, Group, complete, parts_by_family, with_priors
from bayesnb.families import Family, Gaussian, Multinomial, Poisson
from bayesnb.families.base import Array
from bayesnb.posterior import Posterior

DRAWS = 1000
MOST_ROWS = 1000  # that predictions are averaged over draws for; of more, as many are taken evenly

ONE_TOKEN = Claim(
    "one token: exact = plug-in",
    "The exact prediction for a document of one token",
    "the plug-in prediction from the smoothed estimates",
)
DOCUMENTS = Claim(
    "documents: exact ≠ plug-in",
    "The exact prediction for documents of several tokens",
    "the plug-in prediction from the smoothed estimates",
    why_not="The plug-in takes the tokens as independent; in the exact one (a Dirichlet-multinomial) each token also "
    "teaches what the next will be, so a repeated word says less.",
)
GAUSSIANS = Claim(
    "Gaussian: exact ≠ plug-in",
    "The exact prediction from Gaussian features",
    "the plug-in prediction at maximum likelihood",
    why_not="The exact predictive is a Student-t, wider than the normal as mean and variance are not known but learnt.",
)
RATES = Claim(
    "Poisson: exact ≠ plug-in",
    "The exact prediction from Poisson features",
    "the plug-in prediction at the posterior mean",
    why_not="The exact predictive is a negative binomial, wider than the Poisson as the rate is not known but learnt.",
)
OVER_DRAWS = Claim(
    "exact ≠ mean over draws",
    "The exact prediction",
    "the mean of p(y given x, θ) over posterior draws of θ",
    why_not="The exact prediction weighs every θ by p(x given θ), as x itself is evidence about θ.",
)
PLUG_INS: dict[type[Family], tuple[Claim, str]] = {
    Multinomial: (DOCUMENTS, "mean"),
    Gaussian: (GAUSSIANS, "mle"),
    Poisson: (RATES, "mean"),
}


def difference_checks(
    posterior: Posterior, encoded: Sequence[Encoded], y: Array, rng: np.random.Generator
) -> Iterator[Check]:
    """Yield the sizes of the differences, as differences of label probabilities over the rows of the table."""
    for parts in parts_by_family(posterior, encoded):
        group = complete(posterior, parts, y)
        if group is not None and group.family in PLUG_INS:
            yield from _plug_in_checks(with_priors(group))
    if posterior.is_proper:
        yield _over_draws(posterior, *_some_rows(encoded, len(y)), rng)


def _plug_in_checks(group: Group) -> Iterator[Check]:
    claim, kind = PLUG_INS[group.family]
    gap = np.abs(group.probabilities(None) - group.probabilities(kind)).max(1)
    names = group.posterior.parts[0].features
    variable = f"{names[0]} … {names[-1]}" if len(names) > 1 else str(names[0])
    if group.family is not Multinomial:
        yield Check(claim, variable, float(gap.max()))
        return
    tokens = group.table.sum(1)
    if (tokens == 1).any():
        yield Check(ONE_TOKEN, variable, float(gap[tokens == 1].max()), TOLERANCE)
    if (tokens > 1).any():
        yield Check(claim, variable, float(gap[tokens > 1].max()))


def _some_rows(encoded: Sequence[Encoded], n_rows: int) -> tuple[list[Encoded], int]:
    """At most so many rows, evenly, and how many they are."""
    rows = np.arange(0, n_rows, -(-n_rows // MOST_ROWS))
    some = [Encoded(e.x[rows], None if e.observed is None else e.observed[rows]) for e in encoded]
    return some, len(rows)


def _over_draws(posterior: Posterior, encoded: Sequence[Encoded], n_rows: int, rng: np.random.Generator) -> Check:
    """How far the mean over draws is from the exact prediction, and the draws weighted by p(x given θ)."""
    joint = posterior.log_joint(encoded, n_rows)
    log_evidence = logsumexp(joint, axis=1, keepdims=True)
    exact, plain, weighted = np.exp(joint - log_evidence), np.zeros(joint.shape), np.zeros(joint.shape)
    label_prob, parameters = posterior.draw(rng, (DRAWS,))
    for draw in range(DRAWS):
        of_draw = np.tile(np.log(label_prob[draw]), (n_rows, 1))
        for part, theta, arrays in zip(posterior.parts, parameters, encoded, strict=True):
            of_draw += part.log_likelihood({name: values[draw] for name, values in theta.items()}, arrays)
        plain += np.exp(of_draw - logsumexp(of_draw, axis=1, keepdims=True)) / DRAWS
        weighted += np.exp(of_draw - log_evidence)
    weighted /= weighted.sum(1, keepdims=True)
    note = f"Weighted so, the same {DRAWS:,} draws come within {np.abs(weighted - exact).max():.2g}."
    return Check(OVER_DRAWS, "label probabilities", float(np.abs(plain - exact).max()), note=note)
