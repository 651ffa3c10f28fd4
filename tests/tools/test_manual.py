"""The documentation's site: complete, without a broken link, and it asks no other machine."""

import contextlib
import functools
import http.server
import inspect
import re
import shutil
import subprocess
import sys
import threading
import time
import warnings
from importlib.util import find_spec

import pytest
from playwright.sync_api import expect
from support import browser
from test_help import COMMANDS

import momentrank
from pipeline.core import files
from tools import manual

QUICK = 180
"""Seconds for the whole site."""
BUILD = [sys.executable, "-m", "sphinx", "-qEW", "--keep-going"]
COMMAND = re.compile(
    r"python -m\s+((?:annotation|baselines|pipeline)\.\w+)(?:\s+([a-z][\w-]*))?([^`\n#]*)"
)
PHONE = {"width": 390, "height": 800}
needs_sphinx = pytest.mark.skipif(find_spec("sphinx") is None, reason="make docs")


@pytest.fixture(scope="module")
def helps():
    """Return the page of all commands, and its titles: commands and verbs."""
    with warnings.catch_warnings():  # other tests have imported some
        warnings.filterwarnings("ignore", message=".*found in sys.modules")
        page = manual.commands()
    return page, {line.lstrip("# ") for line in page.splitlines() if line.startswith("###")}


def test_the_help_of_every_command_and_verb_is_there(helps):
    page, titles = helps
    assert {f"python -m {module}" for module in COMMANDS} <= titles
    verbs = {"momentrank explain", "python -m annotation.campaign close", "momentrank"}
    assert verbs <= titles
    assert "--unaudited" in page.split("### python -m annotation.campaign close")[1]
    assert "`make demo`" in page


def test_every_command_on_a_page_has_the_verb_and_the_options_that_it_is_given(helps, repository):
    page, titles = helps
    with_verbs = {title.rpartition(" ")[0] for title in titles if title.count(" ") > 2}
    parts = re.split(r"^#{3,4} ", page, flags=re.MULTILINE)
    texts = dict(part.partition("\n")[::2] for part in parts)
    for path in [repository / "README.md", *(repository / "docs").glob("*.md")]:
        for module, verb, rest in COMMAND.findall(path.read_text()):
            command = f"python -m {module}"
            assert command in titles, path
            if verb and command in with_verbs:
                command = f"{command} {verb}"
                assert command in titles, path
            for option in re.findall(r"--[a-z][a-z-]*", rest):
                assert option in texts[command], f"{path}: {command} {option}"


def leaves(section, *path):
    for key, value in section.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, *path, key)
        else:
            yield ".".join([*path, key])


def test_every_setting_is_there_with_its_default_and_its_comment():
    page = manual.settings()
    for key in leaves(files.read_yaml(manual.ROOT / manual.PARAMS)):
        assert f"\n* `{key}: " in page
    assert "\n* `plan.queue: 200`: open tasks per person" in page
    assert "\n* `rewrite.openai.timeout: 120`: seconds for one answer" in page
    assert page.count("\n## ") == len(files.read_yaml(manual.ROOT / manual.PARAMS))


def test_every_public_name_of_the_scorer_is_there():
    page = manual.functions()
    for name in (name for name in dir(momentrank) if not name.startswith("_")):
        if not isinstance(getattr(momentrank, name), dict):
            assert f"\n### {name}\n" in page
            assert inspect.getdoc(getattr(momentrank, name))
    assert "* `iou`: " in page.split("\n### nDCG\n")[1].split("\n###")[0]


def test_the_table_of_contents_has_four_parts_and_every_page_once(repository):
    parts = manual.list_parts((repository / "docs/index.md").read_text())
    assert list(parts) == ["Tutorials", "How to", "Reference", "Explanation"]
    listed = [page for pages in parts.values() for page in pages]
    docs = (repository / "docs").iterdir()
    pages = {f"docs/{path.stem}" for path in docs if path.suffix in {".md", ".ipynb"}}
    assert sorted(listed) == sorted(
        pages - {manual.CONTENTS} | {"CHANGELOG", "CONTRIBUTING", "SECURITY"}
    )


def test_a_page_of_the_demo_is_copied_with_its_files_that_are_there(tmp_path, monkeypatch):
    files_of = {"figures/x.svg": "<svg/>", "tables/x.csv": "a,b", "../clips/01-0.mp4": "film"}
    links = "".join(f'<a href="{name}">' for name in [*files_of, "tables/gone.csv", "#top"])
    page = tmp_path / "demo/work/lead/index.html"
    for name, text in {"index.html": links, **files_of}.items():
        path = page.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setattr(manual, "DEMO", tmp_path / "demo")
    manual.add_examples(site)
    assert (site / "explain/index.html").is_file()
    assert not (site / "report").exists(), "this demo has none"
    for name, text in {"index.html": links, **files_of}.items():
        assert (site / "lead" / name).read_text() == text
    assert not (site / "lead/tables/gone.csv").exists()


@needs_sphinx
@pytest.mark.integration
@pytest.mark.parametrize(
    ("link", "broken"),
    [
        ("[a](docs/index.md#part)", False),
        ("[a](other/notes.md)", False),  # a file that is no page
        ("[a](docs/index.md#nowhere)", True),
        ("[a](docs/nowhere.md)", True),
        ("[a](nowhere.csv)", True),
    ],
)
def test_a_broken_link_stops_the_build(repository, tmp_path, link, broken):
    for name in ("docs/more.md", "other/notes.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("# More\n")
    (tmp_path / "README.md").write_text(f"# Front\n\n{link}\n")
    (tmp_path / "docs/index.md").write_text("# All\n\n## Part\n\n* [More](more.md)\n")
    shutil.copy(repository / "docs/manual.css", tmp_path / "docs")
    done = subprocess.run(
        [*BUILD, "-c", "docs", tmp_path, tmp_path / "out"],
        cwd=repository, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert bool(done.returncode) == broken, done.stderr


@pytest.fixture(scope="module")
def site(repository, tmp_path_factory):
    """Build the site as `make docs` does; return its folder."""
    if find_spec("sphinx") is None:
        pytest.skip("make docs")
    trees, out = tmp_path_factory.mktemp("trees"), tmp_path_factory.mktemp("site")
    started = time.monotonic()
    done = subprocess.run(
        [*BUILD, "-c", "docs", "-d", trees, ".", out],
        cwd=repository, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < QUICK
    return out


@contextlib.contextmanager
def serve(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            """Say nothing."""

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.slow
@pytest.mark.integration
def test_a_reader_searches_and_no_other_machine_is_asked(site):
    with serve(site) as url, browser.annotator(url) as reader:
        reader.page.goto(f"{url}/")
        expect(reader.page.locator("h1")).to_contain_text("MomentRank")
        for words, found in (
            ("krippendorff", "docs/agreement.html"),
            ("max_rejected", "docs/settings.html"),
            ("--unaudited", "docs/commands.html"),
            ("calc_aggregate", "docs/functions.html"),
        ):
            reader.page.fill(".sidebar-search", words)
            reader.page.press(".sidebar-search", "Enter")
            result = reader.page.locator(f"ul.search a[href*='{found}']").first
            expect(result).to_be_visible()
        result.click()
        expect(reader.page.locator("h1")).to_contain_text("Functions")
        reader.page.set_viewport_size(PHONE)
        for path in site.rglob("*.html"):
            reader.page.goto(f"{url}/{path.relative_to(site)}")
            width = reader.page.evaluate("document.documentElement.scrollWidth")
            assert width <= PHONE["width"], path
        assert reader.hosts == {"127.0.0.1"}
