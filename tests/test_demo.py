"""The demo in its parts that don't need a sampler; the whole of it runs where all the checks run."""

import pytest
import xarray as xr

from bayesnb import demo


def test_every_estimate_is_a_row_and_every_label_a_column():
    parameters = xr.Dataset(
        {"rate": ("label", [1.0, 2.0]), "prob": (("label", "colour"), [[0.1, 0.9], [0.3, 0.7]])},
        {"label": ["A", "B"], "colour": ["red", "green"]},
    )
    table = demo._by_species(parameters)
    assert table.loc["rate"].to_dict() == {"A": 1.0, "B": 2.0}
    assert table.loc["prob green"].to_dict() == {"A": 0.9, "B": 0.7}


@pytest.mark.slow
def test_the_tour_ends_with_a_picture(tmp_path, monkeypatch, capsys):
    import matplotlib.image

    monkeypatch.chdir(tmp_path)
    demo.run()
    printed = capsys.readouterr().out
    assert "'island': Categorical, 3 seen levels" in printed
    assert "never measured     Gentoo" in printed
    assert matplotlib.image.imread(tmp_path / demo.PICTURE).std() > 0.05
