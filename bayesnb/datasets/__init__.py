"""Tables that ship with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any


def load_penguins() -> Any:
    """Return 344 penguins of three species as a pandas DataFrame, with its 19 missing cells.

    Columns: ``species`` (Adelie, Chinstrap, Gentoo; the usual label), ``island``, ``bill_length_mm``,
    ``bill_depth_mm``, ``flipper_length_mm``, ``body_mass_g``, ``sex`` and ``year``. Two birds miss all four
    measurements, eleven their sex.

    Notes
    -----
    Collected from 2007 to 2009 around Palmer Station, Antarctica, by Kristen Gorman and the Palmer Station Long Term
    Ecological Research programme (Gorman, Williams and Fraser, 2014, doi:10.1371/journal.pone.0090081); published by
    Allison Horst, Alison Hill and Kristen Gorman as the palmerpenguins data package. Licence of the data: CC0.

    Examples
    --------
    >>> from bayesnb.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> penguins.shape, int(penguins.isna().sum().sum())
    ((344, 8), 19)
    """
    import pandas as pd

    with as_file(files(__name__) / "penguins.csv") as path:
        return pd.read_csv(path)
