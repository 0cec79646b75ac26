"""Settings of the documentation site: ``nox -s docs`` builds it, ``docs/decisions/0028-sphinx.md`` says why so."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for docs.building

project = "optimetry"
author = "The optimetry authors"
release = version = version_of(project)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.building.accessible",
    "docs.building.directives",
    "docs.building.formulas",
    "docs.building.links",
]
exclude_patterns = [
    "building",
    "_static",
    "decisions/README.md",
    "search.md",  # Sphinx has a page of that name; formula-search.md includes it
]
suppress_warnings = ["myst.header"]  # pages that are measured have headings of their own depth

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "py:obj"  # `Run` in a docstring links to the class
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures have them; units and shapes stand in the text
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"optimetry {release}"
html_static_path = ["_static"]
html_css_files = ["optimetry.css"]
html_math_renderer = "mathml"  # no script, no fonts from elsewhere
html_show_search_summary = False  # which needs a server
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False  # the licence says what is to be said
pygments_style = "default"
pygments_dark_style = "github-dark"
