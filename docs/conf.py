"""How Sphinx builds the documentation: ``make docs``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from sphinx.application import Sphinx

from counted import print_counts
from reference_pages import write_reference
from texts_for_models import write_texts

project = "chatmemory"
author = "the chatmemory authors"
copyright = author  # noqa: A001  Sphinx names it

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Fails with", "params_style")]

html_theme = "furo"
html_title = "chatmemory"
html_static_path: list[str] = []
html_show_copyright = False
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"


def setup(app: Sphinx) -> None:
    """Write the pages that are made from the code before Sphinx reads, and count what it has built."""
    app.connect("config-inited", lambda app, _: write_reference(Path(app.srcdir)))
    app.connect("build-finished", write_texts)
    app.connect("build-finished", print_counts)
