"""The code on the pages at the root runs, and prints what stands below it."""

import contextlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import bayesnb

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_code_on_a_page_prints_what_the_page_says(page, monkeypatch):
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert any(expected for _, expected in blocks)
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # a dataclass looks its module up
    for code, expected in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, vars(module))  # noqa: S102 - the pages are ours
        if expected:
            assert printed.getvalue() == expected


def test_the_reference_lists_every_public_name():
    page = (ROOT / "docs" / "api" / "index.md").read_text()
    modules = {"datasets", "plots"}
    assert {name for name in bayesnb.__all__ if name not in modules} <= set(page.split())
