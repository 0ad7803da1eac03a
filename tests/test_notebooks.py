"""The notebooks run, are short, show what they computed, and end with what to read next."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_short_has_its_outputs_and_ends_with_what_to_read_next(path):
    notebook = read(path)
    assert sum(len(cell.source.splitlines()) for cell in code_cells(notebook)) < 150
    assert all(cell.execution_count for cell in code_cells(notebook))
    assert not [output for cell in code_cells(notebook) for output in cell.outputs if output.output_type == "error"]
    assert notebook.cells[-1].source.startswith("## What to read next")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    notebook = read(path)
    shown = [len(cell.outputs) > 0 for cell in code_cells(notebook)]
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": FOLDER}}).execute()
    assert [len(cell.outputs) > 0 for cell in code_cells(notebook)] == shown
