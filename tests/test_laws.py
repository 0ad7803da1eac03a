"""Every law on every family, from a prior and from a posterior."""

from __future__ import annotations

import pytest
from laws import EXAMPLES, LAWS


@pytest.mark.parametrize("state", ["prior", "posterior"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law, example, state):
    law(example, example.start(state))
