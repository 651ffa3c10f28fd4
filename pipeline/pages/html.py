"""From figures to a page: one file without scripts or requests; everything in it is escaped."""

from pathlib import Path
from typing import Any

from pipeline.pages.html_tables import Num

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:  # noqa: ANN401  (the template's own)
    """Return a page; a name that the template does not know is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  (--help needs none)

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.tests["num"] = lambda cell: isinstance(cell, Num)
    return templates.get_template(template).render(**values)
