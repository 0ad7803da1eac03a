"""Configuration of the documentation."""

from pathlib import Path
from typing import Any

import bayesnb

DOCS = Path(__file__).parent

project = "bayesnb"
author = "the bayesnb developers"
copyright = author
release = bayesnb.__version__
html_title = "bayesnb"

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are typeset by what the site itself serves
    "sphinx_design",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
templates_path = ["_templates"]

# Pages are MyST Markdown. Their code cells run when the pages are built, and an error in one fails the build.
# Notebooks are kept with their outputs, which are shown as they are; a test runs the notebooks.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "auto"
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_merge_streams = True

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
numpydoc_show_class_members = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "comparison": []},  # its table needs the room
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def copy_notebooks() -> None:
    """Put the notebooks among the pages; their links to pages are as a reader of the repository needs them."""
    target = DOCS / "notebooks"
    target.mkdir(exist_ok=True)
    for page in (DOCS.parent / "notebooks").glob("*.*"):
        (target / page.name).write_text(page.read_text().replace("](../docs/", "](../"))


def skip_requests(_app: Any, _what: str, name: str, _object: Any, _skip: bool, _options: Any) -> bool | None:  # noqa: FBT001
    """Leave out what scikit-learn adds to every estimator for its own routing of metadata."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Any) -> None:
    """Let Sphinx know."""
    app.connect("autodoc-skip-member", skip_requests)


copy_notebooks()
