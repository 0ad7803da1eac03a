"""The same label probabilities as scikit-learn's naive Bayes classifiers give, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from bayesnb.blocks import Encoded
from bayesnb.equivalence.checks import Check, Claim
from bayesnb.equivalence.exact import rational
from bayesnb.equivalence.floating import with_concentration
from bayesnb.families import Bernoulli, Categorical, Family, Gaussian, Multinomial
from bayesnb.families.base import Array
from bayesnb.labels import LabelModel
from bayesnb.posterior import Part, Posterior
from bayesnb.priors import Dirichlet

TOLERANCE = 1e-9  # of a probability; both sides are right to rounding, which grows with the number of columns

CATEGORICAL = Claim(
    "scikit-learn CategoricalNB",
    "The exact prediction from categorical features",
    "scikit-learn's CategoricalNB(alpha=λ)",
)
BERNOULLI = Claim(
    "scikit-learn BernoulliNB", "The exact prediction from Bernoulli features", "scikit-learn's BernoulliNB(alpha=λ)"
)
MULTINOMIAL = Claim(
    "scikit-learn MultinomialNB", "The plug-in prediction from counts", "scikit-learn's MultinomialNB(alpha=λ)"
)
GAUSSIAN = Claim(
    "scikit-learn GaussianNB",
    "The plug-in prediction from Gaussian features at maximum likelihood",
    "scikit-learn's GaussianNB(var_smoothing=0)",
)
KINDS: dict[type[Family], Any] = {
    Categorical: None,
    Bernoulli: None,
    Multinomial: "mean",
    Gaussian: "mle",
}  # of estimate; None is exact
CLAIMS: dict[type[Family], Claim] = {
    Categorical: CATEGORICAL,
    Bernoulli: BERNOULLI,
    Multinomial: MULTINOMIAL,
    Gaussian: GAUSSIAN,
}


@dataclass(frozen=True)
class Group:
    """Parts of one family on the rows where all of their cells are observed, as scikit-learn needs them."""

    posterior: Posterior
    encoded: tuple[Encoded, ...]
    y: Array

    @property
    def family(self) -> type[Family]:
        """The family of all parts."""
        return type(self.posterior.parts[0].family)

    @property
    def table(self) -> Any:
        """The columns side by side: (row, column)."""
        if self.family is Categorical:
            return np.column_stack([arrays.x for arrays in self.encoded])
        return self.encoded[0].x

    def probabilities(self, kind: str | None) -> Array:
        """Return our label probabilities: exact, or with a kind of estimate those of the plug-in."""
        if kind is None:
            return softmax(self.posterior.log_joint(self.encoded, len(self.y)), axis=1)
        return softmax(self.posterior.log_joint_plug_in(self.encoded, len(self.y), kind), axis=1)


def reference_checks(
    posterior: Posterior, encoded: Sequence[Encoded], y: Array, concentrations: Sequence[Any]
) -> Iterator[Check]:
    """Yield the checks against scikit-learn, for every family, λ > 0 and both of its label priors."""
    for parts in parts_by_family(posterior, encoded):
        group = complete(posterior, parts, y)
        if group is not None and group.family in CLAIMS:
            for fit_prior in (True, False):
                yield from _checks(group, concentrations, fit_prior=fit_prior)


def parts_by_family(posterior: Posterior, encoded: Sequence[Encoded]) -> Iterator[list[tuple[Part, Encoded]]]:
    """Yield the categorical parts together, as they are a column each; any other part by itself."""
    pairs = list(zip(posterior.parts, encoded, strict=True))
    together = [pair for pair in pairs if isinstance(pair[0].family, Categorical)]
    yield from ([together] if together else [])
    yield from ([pair] for pair in pairs if not isinstance(pair[0].family, Categorical))


def complete(posterior: Posterior, parts: list[tuple[Part, Encoded]], y: Array) -> Group | None:
    """Return the parts learnt anew from their complete rows; None where no such row or no usable column is left."""
    complete = np.ones(len(y), dtype=bool)
    for _, arrays in parts:
        if arrays.observed is not None:
            complete &= arrays.observed.reshape(len(y), -1).all(1)
    present, codes = np.unique(y[complete], return_inverse=True)
    if len(present) == 0:
        return None
    encoded = [Encoded(arrays.x[complete]) for _, arrays in parts]
    learnt = [
        replace(
            part,
            statistics=part.family.statistics(arrays.x, codes, len(present)),
            prior=part.prior.map(lambda a: a[present]),
        )
        for (part, _), arrays in zip(parts, encoded, strict=True)
    ]
    classes = tuple(posterior.classes[label] for label in present)
    labels = LabelModel(np.bincount(codes).astype(float))
    return _with_spread(Group(Posterior(classes, labels, tuple(learnt)), tuple(encoded), codes))


def _with_spread(group: Group) -> Group | None:
    """The group without Gaussian columns that are constant within a label, of which scikit-learn has no density."""
    if group.family is not Gaussian:
        return group
    (part,), (arrays,) = group.posterior.parts, group.encoded
    varies = (part.estimate("mle")["sd"] > 0).all(0)
    if not varies.any():
        return None
    is_informative = part.is_informative.copy()
    is_informative[is_informative] = varies
    kept = replace(
        part,
        statistics=part.statistics.map(lambda a: a[:, varies]),
        prior=part.prior.map(lambda a: a[:, varies]),
        is_informative=is_informative,
    )
    return replace(group, posterior=replace(group.posterior, parts=(kept,)), encoded=(Encoded(arrays.x[:, varies]),))


def _checks(group: Group, concentrations: Sequence[Any], *, fit_prior: bool) -> Iterator[Check]:
    labels = "observed label shares" if fit_prior else "equal label probabilities"
    names = ", ".join(str(name) for part in group.posterior.parts for name in part.features)
    variable = f"{shorten(names, 40, placeholder=' …')} ({labels})"
    numbers = sorted({rational(c, 2) for c in concentrations} - {0})  # one λ for all columns: they take no other
    for concentration in (None,) if group.family is Gaussian else numbers:
        ours = with_priors(group, concentration, fit_prior=fit_prior).probabilities(KINDS[group.family])
        theirs = _classifier(group, concentration, fit_prior=fit_prior).fit(group.table, group.y)
        gap = float(np.abs(ours - theirs.predict_proba(group.table)).max())
        yield Check(CLAIMS[group.family], variable, gap, TOLERANCE, "" if concentration is None else str(concentration))


def with_priors(group: Group, concentration: Any = None, *, fit_prior: bool = True) -> Group:
    """Return the group under λ and scikit-learn's label prior: observed shares, or without ``fit_prior`` equal ones."""
    posterior = group.posterior if concentration is None else with_concentration(group.posterior, concentration)
    counts = posterior.labels.counts
    none, equal = Dirichlet(np.zeros(len(counts))), np.full(len(counts), 1 / len(counts))
    labels = LabelModel(counts, prior=none) if fit_prior else LabelModel(counts, known=equal)
    return replace(group, posterior=replace(posterior, labels=labels))


def _classifier(group: Group, concentration: Any, *, fit_prior: bool) -> Any:
    """Their classifier with the same λ and label prior."""
    if group.family is Gaussian:
        n_labels = len(group.posterior.classes)
        return GaussianNB(priors=None if fit_prior else np.full(n_labels, 1 / n_labels), var_smoothing=0)
    options = {"alpha": float(concentration), "fit_prior": fit_prior}
    if group.family is Bernoulli:
        return BernoulliNB(binarize=None, **options)
    if group.family is Multinomial:
        return MultinomialNB(**options)
    return CategoricalNB(min_categories=[len(part.family.levels) for part in group.posterior.parts], **options)
