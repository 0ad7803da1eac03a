"""The picture of the checks: where equality is claimed, and where it is not."""

from __future__ import annotations

from typing import Any

from bayesnb.equivalence.checks import Check, Equivalence

SMALLEST = 1e-8  # share of the tolerance at which differences of exactly 0 are drawn
COLOURS = {"holds": "C0", "fails": "C3", "differs": "C1"}


def draw(result: Equivalence) -> Any:
    """Return a figure of two panels: each difference as a share of its tolerance, and the sizes of true differences."""
    from matplotlib.figure import Figure

    equal = [(c, checks) for c, checks in result.by_claim() if not c.why_not]
    unequal = [(c, checks) for c, checks in result.by_claim() if c.why_not]
    panels = [rows for rows in (equal, unequal) if rows]
    figure = Figure(figsize=(9, 1.6 + 0.34 * (len(equal) + len(unequal))), layout="constrained")
    heights = [len(rows) + 1 for rows in panels]
    axes = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axis, rows in zip(axes, panels, strict=True):
        for place, (_, checks) in enumerate(rows):
            axis.scatter(
                [_share(check) for check in checks],
                [place] * len(checks),
                c=[COLOURS[check.verdict] for check in checks],
                alpha=0.6,
                clip_on=False,
                zorder=3,
            )
        axis.set_yticks(range(len(rows)), [claim.name for claim, _ in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.grid(axis="x", alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    if equal:
        _mark_tolerance(axes[0])
    if unequal:
        axes[-1].set_xlim(left=0)
        axes[-1].set_xlabel("differ, and should: largest difference of a label probability")
    figure.suptitle(f"{result.about}: {'every claim holds' if result.holds else 'a claim fails'}")
    return figure


def _share(check: Check) -> float:
    if check.claim.why_not:
        return check.difference
    return max(check.difference / (check.tolerance or 1.0), SMALLEST)


def _mark_tolerance(axis: Any) -> None:
    axis.set_xscale("log")
    axis.axvline(1, color="C3", linewidth=1)
    axis.set_xlim(SMALLEST, max(10.0, axis.get_xlim()[1]))
    axis.set_xlabel(f"claimed to be equal: difference as a share of what is allowed ({SMALLEST:g}: exactly equal)")


def draw_ranks(ranks: dict[str, Any], bins: int, size: float) -> Any:
    """Return a figure of a rank histogram for each quantity, with the band that all bars together stay in."""
    from matplotlib.figure import Figure
    from scipy import stats

    columns = 4
    rows = -(-len(ranks) // columns)
    figure = Figure(figsize=(11, 2.2 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes[len(ranks) :]:
        axis.set_axis_off()
    for axis, (name, values) in zip(axes, ranks.items(), strict=False):
        tail = size / 2 / (bins * len(ranks))
        low, high = stats.binom(len(values), 1 / bins).ppf([tail, 1 - tail])
        axis.hist(values, bins, color="C0", alpha=0.7)
        axis.axhspan(low, high, color="0.5", alpha=0.2)
        axis.set_title(name, fontsize=10)
        axis.set_yticks([])
        axis.spines[["left", "top", "right"]].set_visible(False)
    figure.supxlabel("rank of the truth among the draws")
    return figure
