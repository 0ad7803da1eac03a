"""Examples in docstrings may use the public names, NumPy as np and pandas as pd without importing them."""

import numpy as np
import pandas as pd
import pytest

import bayesnb


@pytest.fixture(autouse=True)
def names_of_examples(doctest_namespace):
    """Give every docstring's example the public names."""
    doctest_namespace.update({name: getattr(bayesnb, name) for name in bayesnb.__all__}, np=np, pd=pd)
