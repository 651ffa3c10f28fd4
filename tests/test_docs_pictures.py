"""The docs' pictures show the pages as the code draws them now."""

import re

import pytest
from support import pictures

from pipeline.core import files


@pytest.mark.parametrize("picture", pictures.SOURCES)
def test_a_picture_is_as_new_as_the_code_of_its_page(picture):
    made_with = files.read_json(pictures.MADE_WITH)[picture]
    assert made_with == pictures.measure(picture), (
        f"docs/{picture} is older than its page: make demo pictures, and look at it"
    )


def test_every_picture_of_the_docs_is_made_by_the_command():
    pages = [*pictures.DOCS.glob("*.md"), pictures.REPOSITORY / "README.md"]
    shown = [name for page in pages for name in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text())]
    shown.remove("docs/pipeline.svg")  # drawn by hand
    assert {name.removeprefix("docs/") for name in shown} == set(pictures.SOURCES)


def test_another_page_makes_a_picture_old_and_the_leads_does_not():
    drawn = {path.name for path in pictures.list_sources("report.png")}
    assert {"report.html.j2", "style.css", "charts.py", "report.py"} <= drawn
    assert not drawn & set(pictures.UNSEEN)
