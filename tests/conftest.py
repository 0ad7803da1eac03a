"""What tests of several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real tables that lies beside the project, or skip the test where it is absent."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BAYESNB_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of real tables at {folder}: set BAYESNB_DATA to where it is")
    return folder
