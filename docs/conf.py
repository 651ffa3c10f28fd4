"""Settings of Sphinx, which makes a site of these pages: `make docs`."""

from momentrank import __version__

project = "MomentRank"
author = copyright = "The MomentRank maintainers"  # noqa: A001  (Sphinx's name)
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "tools.manual"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/*.ipynb", "annotation/guideline/*.md"]
exclude_patterns = [".*", "build", "datasets", "tests"]
myst_heading_anchors = 4
nb_execution_mode, nb_execution_raise_on_error, nb_execution_timeout = "force", True, 120
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # a language whose colours are not known
default_role = "code"
autodoc_typehints = "none"

html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = ["manual.css"]
html_css_files = ["manual.css"]
html_copy_source = False
html_use_index = False
