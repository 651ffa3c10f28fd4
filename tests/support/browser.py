"""An annotator at a real browser: signs up, opens a project's stream, presses keys."""

import contextlib
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from opened import STANDARD
from playwright.sync_api import Browser, Page, expect, sync_playwright
from support.campaign_folder import PASSWORD
from support.studio import Studio

from annotation.label_studio import guideline
from annotation.label_studio.page import label_config, task_data
from annotation.label_studio.records import OPTIONS

LAPTOP = {"width": 1280, "height": 800}
SECONDS = 30_000
INSTRUCTION = ".lsf-modal-ls__body"


class Person:
    """An annotator without a mouse: what they see, and every host that their browser asks."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser, self.url = browser, url
        self.hosts: set[str | None] = set()
        self.page = self._new_page()

    def open_beside(self) -> "Person":
        """Return somebody else at the same browser; one's own page is left, and plays no clip."""
        self.page.goto("about:blank")
        return Person(self._browser, self.url)

    def sign_up(self, invite: str, email: str) -> None:
        """Make an account at the link that the lead sent."""
        self.page.goto(invite)
        self._send_form(email)
        self.page.wait_for_url(lambda url: "/user/signup" not in url)

    def log_in(self, email: str) -> None:
        """Log in, as on every later day."""
        self.page.context.close()
        self.page = self._new_page()
        self.page.goto(f"{self.url}/user/login/")
        self._send_form(email)
        self.page.wait_for_url(lambda url: "/user/login" not in url)

    def begin(self, project: int) -> None:
        """Open the stream of a project; the instruction lies over it until Escape is pressed."""
        self.page.goto(f"{self.url}/projects/{project}/data?labeling=1")
        expect(self.page.locator(INSTRUCTION)).to_be_visible()
        self.page.keyboard.press("Escape")
        expect(self.page.locator(INSTRUCTION)).to_be_hidden()

    def sees(self, query: str) -> None:
        """Wait until a query stands at the top."""
        expect(self.page.locator(".momentrank h3")).to_have_text(query)

    def press(self, *keys: str) -> None:
        """Press one key after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def _new_page(self) -> Page:
        page = self._browser.new_context(viewport=LAPTOP).new_page()
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname))
        page.set_default_timeout(SECONDS)
        return page

    def _send_form(self, email: str) -> None:
        self.page.fill("input[name=email]", email)
        self.page.fill("input[name=password]", PASSWORD)
        self.page.press("input[name=password]", "Enter")


@contextlib.contextmanager
def annotator(url: str) -> Iterator[Person]:
    """Open a browser; skip the test where there is none."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu"])
        with contextlib.closing(browser):
            yield Person(browser, url)


def campaign_page(lead: Studio, clip: str, queries: list[str]) -> int:
    """Make a project with the annotator's page, and a task for each query; return its number."""
    guide = guideline.current(STANDARD)
    config = label_config(guide)
    project = lead.project("Page", config, expert_instruction=guide.html, **OPTIONS)
    lead.storage(project, lead.media / "clips")
    address = f"/data/local-files/?d=clips/{clip}"
    lead.add(project, [task_data(query, address, f"key-{query}") for query in queries])
    return project
