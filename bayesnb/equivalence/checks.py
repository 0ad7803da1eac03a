"""What was claimed, what was found, and whether it holds: as a frame, as sentences and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Literal

import pandas as pd

Unit = Literal["exact", "absolute", "nats", "standard errors"]
WORDS = {"exact": "as rational numbers", "absolute": "", "nats": "nats", "standard errors": "standard errors"}


@dataclass(frozen=True)
class Claim:
    """Something said of two sides: that they are equal, or why they are not."""

    name: str
    left: str
    right: str
    unit: Unit = "absolute"
    why_not: str = ""  # of two sides that differ, and should: the reason


@dataclass(frozen=True)
class Check:
    """One comparison of the two sides of a claim: the largest difference found, and how large it may be."""

    claim: Claim = field(repr=False)
    variable: str
    difference: float
    tolerance: float = 0.0
    concentration: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """What is found: "holds" or "fails"; "differs" where that is what is claimed."""
        if self.claim.why_not:
            return "differs"
        return "holds" if self.difference <= self.tolerance else "fails"


@dataclass(frozen=True)
class Equivalence:
    """The result of ``verify_equivalence``: every check, and three ways to read them.

    Parameters
    ----------
    checks : tuple of Check
    about : str
        What was checked: the table in a few words.
    """

    checks: tuple[Check, ...] = field(repr=False)
    about: str

    @property
    def holds(self) -> bool:
        """Whether no claim fails."""
        return all(check.verdict != "fails" for check in self.checks)

    @property
    def frame(self) -> pd.DataFrame:
        """One row a check: claim, variable, λ, the two sides, the largest difference, its tolerance, the verdict."""
        columns = ("variable", "concentration", "left", "right", "difference", "tolerance", "unit", "verdict", "note")
        rows = [{**asdict(c.claim), "claim": c.claim.name, **_facts(c)} for c in self.checks]
        return pd.DataFrame(rows, columns=["claim", *columns])

    def by_claim(self) -> Iterator[tuple[Claim, list[Check]]]:
        """Yield every claim with its checks."""
        for claim, checks in groupby(self.checks, key=lambda check: check.claim):
            yield claim, list(checks)

    def summary(self) -> str:
        """Return a sentence a claim."""
        failed = sum(check.verdict == "fails" for check in self.checks)
        verdict = f"{failed} of them fail" if failed else "every claim holds"
        lines = [f"{self.about}: {len(self.checks)} checks, {verdict}."]
        return "\n".join([*lines, *(_sentence(claim, checks) for claim, checks in self.by_claim())])

    __str__ = summary

    def plot(self) -> Any:
        """Return a matplotlib figure: differences as shares of what is allowed, and sizes where sides do differ."""
        from bayesnb.equivalence.picture import draw

        return draw(self)


def _facts(check: Check) -> dict[str, Any]:
    names = ("variable", "concentration", "difference", "tolerance", "verdict", "note")
    return {name: getattr(check, name) for name in names}


def _sentence(claim: Claim, checks: list[Check]) -> str:
    worst = max(checks, key=_severity)
    size = f"{worst.difference:.2g} {WORDS[claim.unit]}".strip()
    note = f" {worst.note}" if worst.note else ""
    where = f"{worst.variable}{f', λ = {worst.concentration}' if worst.concentration else ''}"
    if claim.why_not:
        return (
            f"  ≠ {claim.left} is not {claim.right}: the largest difference is {size} ({where}). {claim.why_not}{note}"
        )
    if worst.verdict == "fails":
        allowed = f"allowed {worst.tolerance:.2g}"
        return f"  ✗ {claim.left} should equal {claim.right}, but differs by {size} ({where}; {allowed}).{note}"
    how = "exactly, as rational numbers" if claim.unit == "exact" else f"to {size}, of {worst.tolerance:.2g} allowed"
    times = f"{len(checks)} times" if len(checks) > 1 else "once"
    return f"  ✓ {claim.left} equals {claim.right} {how} (checked {times}).{note}"


def _severity(check: Check) -> float:
    """How near a check is to failing: the difference as a share of its tolerance."""
    return check.difference / check.tolerance if check.tolerance else check.difference
