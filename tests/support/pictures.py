"""Make the pictures of docs/, and its sample release, from the demo: `make pictures`.

docs/pictures.json says what each was made with: the hashes of the picture and of its sources.
"""

import contextlib
import hashlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from support.browser import LAPTOP, annotator, campaign_page
from support.sample_release import write_sample
from support.studio import studio

from annotation.local_server import layout
from momentrank.cli.main import main as momentrank
from momentrank.errors import UsageError
from pipeline.core import cli, files, tables

REPOSITORY = Path(__file__).parents[2]
DOCS, DEMO = REPOSITORY / "docs", REPOSITORY / ".demo"
MADE_WITH = DOCS / "pictures.json"
SOURCES = {
    "annotation.png": ("annotation/label_studio/page.py", "annotation/guideline/en.md"),
    "report.png": ("pipeline/report.py", "pipeline/pages", "momentrank/svg.py"),
    "measures.png": ("momentrank/meta/page.py", "momentrank/meta/charts.py", "momentrank/svg.py"),
}
"""The code that draws what a picture shows: modules, templates, folders of them."""
UNSEEN = ("lead.py", "lead.html.j2", "second_looks.py")
"""Sources in those folders that draw nothing that a picture shows."""
COLUMN = LAPTOP | {"width": 720}
TWO_SCREENS = {"x": 0, "y": 0, "width": 1280, "height": 1732}


def list_sources(picture: str) -> Iterator[Path]:
    """Yield the sources of a picture."""
    for path in map(REPOSITORY.joinpath, SOURCES[picture]):
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        kinds = (".py", ".j2", ".css", ".md")
        yield from (it for it in inside if it.suffix in kinds and it.name not in UNSEEN)


def measure(picture: str) -> dict[str, str]:
    """Return the hashes of a picture and of its sources as they are."""
    texts = (
        f"{path.relative_to(REPOSITORY)}\n{path.read_text()}" for path in list_sources(picture)
    )
    return {
        "picture": hashlib.sha256((DOCS / picture).read_bytes()).hexdigest(),
        "sources": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
    }


def take_annotation(folder: Path) -> None:
    """Show the annotator's page with a moment of the demo and its own caption as the query."""
    with contextlib.chdir(DEMO):
        queries = tables.FROZEN_QUERIES.read()[["query_id", "query"]]
        pairs = tables.CONSENSUS.read().merge(queries, on="query_id")
        clips = tables.CLIPS.read().merge(tables.CAPTIONS.read(), on="moment_id")
        pairs = pairs.merge(clips, on="moment_id").query("caption == query and level == 4")
    query, clip = max(zip(pairs["query"], pairs["clip"], strict=True), key=lambda it: len(it[0]))
    with (
        studio(folder, REPOSITORY / layout.PROGRAM.parts[0]) as lead,
        annotator(lead.url) as person,
    ):
        (lead.media / "clips").mkdir(exist_ok=True)
        shutil.copy(DEMO / "datasets/work/clips" / clip, lead.media / "clips")
        person.sign_up(lead.invite(), "annotator@example.org")
        person.begin(campaign_page(lead, clip, [query]))
        person.sees(query)
        person.page.wait_for_function("document.querySelector('video').currentTime > 0.7")
        person.press("4")
        person.page.wait_for_timeout(500)
        person.page.screenshot(path=DOCS / "annotation.png")


def take_report(browser: Browser) -> None:
    """Show the first two screens of the demo's report."""
    page = browser.new_page(viewport=LAPTOP)
    page.goto((DEMO / "datasets/report/index.html").as_uri())
    page.screenshot(path=DOCS / "report.png", full_page=True, clip=TWO_SCREENS)
    _shrink(DOCS / "report.png")


def take_measures(browser: Browser, folder: Path) -> None:
    """Show how stable the order of the demo's reference runs is."""
    runs = map(str, sorted((DEMO / "datasets/work/runs").glob("*.test.run")))
    qrels, shown = DEMO / "datasets/release/qrels/test.qrels", folder / "meta.html"
    with contextlib.redirect_stdout(io.StringIO()):
        momentrank(["meta", str(qrels), *runs, "--only", "stability", "--html", str(shown)])
    page = browser.new_page(viewport=COLUMN)
    page.goto(shown.as_uri())
    page.locator(".figures").screenshot(path=DOCS / "measures.png")
    _shrink(DOCS / "measures.png")


def _shrink(path: Path) -> None:
    """Save a picture with 64 colours: git keeps every version."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(64)
    small.save(path, optimize=True)


def main() -> None:
    """Take all pictures.

    Raises:
        UsageError: there is no finished demo, or no browser.
    """
    chromium = shutil.which("chromium")
    if not (DEMO / "datasets/report/index.html").is_file() or chromium is None:
        raise UsageError("pictures are taken of the demo, with chromium: run make demo first")
    with tempfile.TemporaryDirectory() as folder:
        take_annotation(Path(folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu"])
            with contextlib.closing(browser):
                take_report(browser)
                take_measures(browser, Path(folder))
    write_sample(DEMO, DOCS / "sample")
    files.write_json(MADE_WITH, {picture: measure(picture) for picture in SOURCES})


if __name__ == "__main__":
    cli.run_command(main)
