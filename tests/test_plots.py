import numpy as np
import pytest
import xarray as xr

from bayesnb import plots


def of_two_labels(first):
    return ("row", "label"), np.array([[first, 1 - first], [0.5, 0.5]])


UNCERTAINTY = xr.Dataset(
    {"prob": of_two_labels(0.75), "lower": of_two_labels(0.625), "upper": of_two_labels(0.875)},
    {"row": [4, 9], "label": ["A", "B"]},
)


def test_a_row_is_named_and_its_probability_and_interval_are_where_they_belong():
    ax = plots.plot_uncertainty(UNCERTAINTY)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["4", "9"]
    dots = {line.get_label(): line.get_xdata()[0] for line in ax.lines}
    assert dots == {"A": 0.75, "B": 0.25}
    bars = [collection for collection in ax.collections if len(collection.get_segments()) == 2]
    assert bars[0].get_segments()[0][:, 0].tolist() == [0.625, 0.875]


def test_a_route_has_a_line_and_a_filling_for_each_label():
    rng = np.random.default_rng(0)

    def tree(size):
        means = rng.normal([0.0, 5.0], 1.0, (2, size, 2))
        posterior = xr.Dataset({"m": (("chain", "draw", "label"), means)}, {"label": ["A", "B"]})
        return xr.DataTree.from_dict({"posterior": posterior})

    ax = plots.plot_routes(tree(4000), tree(1000), "m")
    peaks = [line.get_xdata()[np.argmax(line.get_ydata())] for line in ax.lines]
    np.testing.assert_allclose(peaks, [0, 5], atol=0.5)
    assert [line.get_label() for line in ax.lines] == ["A", "B"]
    assert len(ax.patches) == 2 * 40


def test_rows_are_named_one_by_one():
    ax = plots.plot_uncertainty(UNCERTAINTY, ["first", "second"])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "second"]
    with pytest.raises(ValueError, match="each of the 2 rows, not 1"):
        plots.plot_uncertainty(UNCERTAINTY, ["first"])
