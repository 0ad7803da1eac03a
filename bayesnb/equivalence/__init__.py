"""The claims that this package rests on, checked on the user's own table."""

from __future__ import annotations

from bayesnb.equivalence.checks import Check, Claim, Equivalence
from bayesnb.equivalence.ranks import Ranks, simulation_based_calibration
from bayesnb.equivalence.verify import verify_equivalence

__all__ = ["Check", "Claim", "Equivalence", "Ranks", "simulation_based_calibration", "verify_equivalence"]
