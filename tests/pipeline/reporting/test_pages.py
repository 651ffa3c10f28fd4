"""Both pages: what they say in every state, that they escape everything, and in a browser."""

import contextlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
import small_collection

from momentrank.cli.main import main as momentrank
from pipeline import reference_runs, report
from pipeline.campaign import next_step
from pipeline.core import cli, files
from pipeline.pages import report_inputs

NAMELESS = """() => {
    const named = (one) => one.getAttribute('aria-label') || one.textContent.trim()
        || (one.getAttribute('aria-labelledby') || '').split(' ').some(
            id => document.getElementById(id)?.textContent.trim());
    return [...document.querySelectorAll('img:not([alt]), svg:not([role=img]), th:not([scope])')]
        .concat([...document.querySelectorAll('svg, a, nav, section, table, [role=region]')]
            .filter(one => !named(one)))
        .concat([...document.querySelectorAll('svg')].filter(
            one => !['title', 'desc'].every(name => one.querySelector(name)?.textContent)))
        .concat([...document.querySelectorAll('table')].filter(
            one => !one.caption?.textContent.trim()))
        .map(one => one.outerHTML.slice(0, 120));
}"""
FAINT = """() => {
    const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
    const luminance = (c) => c.slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (one) => {
        for (; one; one = one.parentElement) {
            const c = rgb(getComputedStyle(one).backgroundColor);
            if (c.length < 4 || c[3] > 0) return c;
        }
        return [255, 255, 255];
    };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const own = (one) => [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    return [...document.body.querySelectorAll('*')].filter(own)
        .filter(one => !one.closest('title, desc, style, .hidden, .skip'))
        .map(one => [one.textContent.trim().slice(0, 40), ratio(
            luminance(rgb(getComputedStyle(one)[one.closest('svg') ? 'fill' : 'color'])),
            luminance(behind(one)))])
        .filter(([, found]) => found < 4.5);
}"""


@pytest.fixture(scope="module")
def small_pages(small):
    """Return both pages of the small collection."""
    return small_collection.pages(small)


def make_pages(folder, **options):
    """Make a collection in `folder`; return its pages."""
    small_collection.make(folder, **options)
    return small_collection.pages(folder)


def strip_tags(page):
    return " ".join(re.sub("<[^>]+>", " ", page.partition("</head>")[2]).split())


def test_it_says_incomplete_with_numbers_while_pairs_wait(small_pages):
    for page in small_pages:
        assert (
            "Incomplete: 4 of 5 pairs are decided; 1 waiting, the campaign is open."
            in strip_tags(page)
        )
        assert "Rehearsal" not in page


def test_the_first_screen_holds_seven_checks_at_most(small_pages):
    header = re.search("<header>.*</header>", small_pages[0], re.DOTALL)[0]
    assert 1 <= header.count('<li class="check') <= 7
    assert header.count("Required:") == header.count('class="verdict"') == 7


def test_a_rehearsal_is_named_on_both_pages_and_on_every_printed_one(tmp_path):
    for page in make_pages(tmp_path, rehearsal=True):
        assert "Rehearsal: simulated answers" in strip_tags(page)
        assert '@top-center { content: "Rehearsal: simulated answers"' in page


@pytest.mark.parametrize("campaign", [None, small_collection.OPEN])
def test_without_a_campaign_or_judgments_everything_succeeds(tmp_path, campaign):
    public, own = make_pages(tmp_path, campaign=campaign, votes={})
    assert "Incomplete: nothing is judged yet." in strip_tags(public)
    assert "Nothing to show yet." in strip_tags(public)
    assert ("No campaign yet" in strip_tags(public)) == (campaign is None)
    assert "No pair is disputed." in strip_tags(own)
    verdicts = files.read_json(tmp_path / cli.METRICS / "report.json")["checks"]
    assert verdicts["judged"] == verdicts["agreement"] == verdicts["scorer"] == "open"
    figures = [path.name for path in (tmp_path / report.REPORT / "figures").iterdir()]
    assert sorted(name for name in figures if name.endswith(".svg")) == [
        "moment-seconds.svg", "query-words.svg"  # the corpus's own: nothing else is there yet
    ]  # fmt: skip
    assert len(figures) == 2 + 8


def make_state():
    """Return the plan's state of a campaign in which people are judging."""
    who = {"role": "annotator", "active": True, "hours": 1.5, "per_hour": 120, "hours_left": 0.25}
    idle = who | {"hours": 0.0, "per_hour": None, "last_judged": None, "done": 0}
    numbers = {"low": 0.9, "high": 1.7, "open": 0.3}
    return {
        "campaign": "Small",
        "as_of": "2026-11-30T12:34:56Z",
        "pairs": {"all": 5, "waiting": 1, "without_clip": 0, "unjudgeable": 0, "nobody_left": 0},
        "queries": {"for_the_lead": []},
        "annotators": {
            "1": who | {"open": 12, "done": 5, "refused": 0, "last_judged": "2026-11-21T08:00:00Z"},
            "2": idle | {"open": 7, "refused": 3},
        },
        "prospects": [
            {
                "step": "first batch",
                "queries": 3,
                "done": 9,
                "judgments": 120,
                "relevant": 17.4,
                "low": 5,
                "high": 31,
            },
        ],
        "not_begun": ["2"],
        "not_seen": {"1": 9},
        "pace": {
            "days": 7.0,
            "judgments_per_day": 3.25,
            "people": 2,
            "by_day": [{"date": "2026-11-30", "judgments": 4, "people": 2}],
        },
        "forecast": {
            "open": 19,
            "to_come": {"low": 30, "high": 44},
            "hours": numbers,
            "dates": {"open": "2026-12-06", "low": "2026-12-10", "high": None},
        },
    }


def test_the_lead_sees_who_is_missing_the_pace_and_the_forecast_and_nobody_else_does(copied):
    (copied / small_collection.tables.STATE).write_text(json.dumps(make_state()))
    public, own = map(strip_tags, small_collection.pages(copied))
    step = "Next : people are judging, 19 open; when they have judged : dvc repro"
    assert step in own
    assert step in public
    for sentence in (
        "As of 2026-11-30 12:34 (UTC)",
        "Annotator 1: not seen for 9 days, with 12 pairs open.",
        "Annotator 2: has not begun; 3 answers in their project don\u2019t count.",
        "Open now 19 0.3 2026-12-06",
        "To come, at most 44 1.7 \u2013",
        "2026-11-30 4 2",
        "3.2 judgments a day by 2 people",
        "2 annotator 0 7 0.00 \u2013 0.25 3 \u2013",
        "Reason All Annotator 1",
        "bad-level 1 1",
    ):
        assert sentence in own
    expected = "First batch of 3 queries: about 17 more moments of level 2 or higher (5 to 31)"
    assert expected in public
    assert expected in own
    for personal in ("Annotator 1", "not seen", "has not begun", "2026-11-21 08:00"):
        assert personal not in public


@pytest.mark.parametrize("running", [True, False])
def test_the_lead_sees_who_was_stopped_and_why_when_all_is_over_too(copied, running):
    why = "failed the exam twice (9 of 16 more than 1 off the second time)"
    stop = {"since": "2026-11-29T08:00:00", "reason": "gold", "last": "2026-11-28T08:00:00"}
    state = make_state() | {"checks": {"stopped": {"1": stop}}} if running else {"campaign": None}
    state |= {"stopped": {"1": "gold", "2": why}}
    (copied / small_collection.tables.STATE).write_text(json.dumps(state))
    public, own = map(strip_tags, small_collection.pages(copied))
    when = "no new tasks since 2026-11-29" if running else "was stopped"
    for sentence in (f"Annotator 1: {when}: gold.", f"Annotator 2: was stopped: {why}."):
        assert sentence in own
        assert sentence not in public


def test_a_closed_campaign_is_told_and_a_released_one_has_no_next_step(tmp_path):
    pages = make_pages(tmp_path, closed_at="2026-11-23T08:53:12Z")
    for page in pages:
        assert "dvc repro release report" in strip_tags(page)
    # What waited is discarded, but it never got its votes.
    assert "Incomplete: 5 of 5 pairs are decided; 1 given up" in strip_tags(pages[0])
    assert "the campaign is closed" in strip_tags(pages[0])
    with contextlib.chdir(tmp_path):
        campaign = small_collection.opened_campaign.load_campaign()
        files.write_json(next_step.MANIFEST, {"campaign": campaign.model_dump()})
    assert [page for page in small_collection.pages(tmp_path) if "Next" in strip_tags(page)] == []


def test_a_late_run_has_a_line_in_the_pool(copied):
    path = copied / cli.METRICS / "calibration.json"
    late = {"run": "clip", "depth": 10, "before": 0.25, "now": 1.0}
    files.write_json(path, files.read_json(path) | {"late": [late]})
    public, _ = small_collection.pages(copied)
    assert "clip 10 25.0 % 100.0 %" in strip_tags(public)


def test_people_and_captions_of_pairs_stand_on_the_leads_page_alone(small_pages):
    public, own = small_pages
    assert "../clips/m2.mp4" in own
    assert "1: 0" in own
    assert "clips/" not in public
    assert "Annotator 1" not in strip_tags(public)
    assert "A woman opens the door." not in public.replace(
        '<q class="text">A woman opens the door.</q>', ""
    ), "a query may be shown, the caption of a pair not"


def test_everything_from_corpora_and_people_is_escaped(hostile):
    for page in (hostile / report.REPORT / "index.html", hostile / report.LEAD_PAGE):
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "<img" not in text
        assert "&lt;script&gt;" in text
        assert "{{ 7 * 7 }}" in text  # as it was written, not 49


def test_the_links_to_clips_are_encoded(hostile):
    with contextlib.chdir(hostile):
        collection = small_collection.read()
    assert "/" in collection.clips["clip"].iloc[0]
    from pipeline.pages.lead import link_clip

    link = link_clip(collection.clips["clip"].iloc[0])
    assert link.count("/") == 2
    assert not set('<>{}" ') & set(link)


def test_the_same_inputs_give_the_same_bytes(small, small_pages):
    assert small_collection.pages(small) == small_pages


def test_runs_are_accepted_by_momentrank_where_there_is_something_to_rank(small):
    runs = sorted((small / reference_runs.RUNS).iterdir())
    assert len(runs) == 8
    assert momentrank(["validate", *map(str, runs)]) == 0


def test_figures_are_csv_for_plots(small, small_pages):
    table = pd.read_csv(small / report.REPORT / "figures" / "figure-4b.csv")
    assert table[["rank", "pairs", "mean"]].to_numpy().tolist() == [[1, 1, 3.0], [2, 2, 1.0]]
    declared = files.read_yaml(small_collection.REPOSITORY / "dvc.yaml")["plots"]
    plots = {Path(path): own for entry in declared for path, own in entry.items()}
    own = {path: plot for path, plot in plots.items() if path.stem in report.PLOTTED}
    assert {path.parent for path in own} == {report.PLOTS}
    for path, plot in own.items():
        assert {plot["x"], plot["y"]} <= set(pd.read_csv(small / path).columns)
    assert len(own) == len(report.PLOTTED)


def test_the_leads_files_are_ignored_by_git_and_kept_out_of_the_cache():
    own = files.read_yaml(small_collection.REPOSITORY / "dvc.yaml")["stages"]
    outs = [out for name in own for out in own[name]["outs"]]
    lead = [out for out in outs if "/lead/" in str(out)]
    assert all(next(iter(out.values())) == {"cache": False} for out in lead)
    assert {str(report.LEAD_PAGE): {"cache": False}} in lead
    assert report_inputs.LEAD.parts[:2] == ("datasets", "work")


@pytest.fixture(scope="module")
def browser(chromium):
    """Return a real browser."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", [report.REPORT / "index.html", report.LEAD_PAGE])
@pytest.mark.parametrize("folder", ["small", "hostile"])
def test_in_a_browser(browser, request, small_pages, folder, where, scheme):
    path = request.getfixturevalue(folder) / where
    with contextlib.closing(
        browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    ) as page:
        asked, messages = [], []
        page.on("request", lambda event: asked.append(event.url))
        page.on("console", lambda event: messages.append(event.text))
        page.on("pageerror", lambda event: messages.append(str(event)))
        page.on("dialog", lambda event: messages.append(event.message))
        page.goto(path.as_uri())
        clips = (small_collection.tables.WORK / "clips").as_posix()
        own = [url for url in asked if not url.startswith("data:")]
        assert own[0] == path.as_uri()
        assert all(url.startswith("file:") and f"/{clips}/" in url for url in own[1:])
        assert len(own) == 1 or where == report.LEAD_PAGE
        assert messages == []

        headings = page.query_selector_all("h1, h2, h3")
        levels = [int(heading.evaluate("one => one.tagName[1]")) for heading in headings]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert page.locator("main").count() == page.locator("header").count() == 1
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(FAINT) == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        assert len(ids) == len(set(ids))
        right = page.evaluate(
            "[...document.querySelectorAll('td.num')].every("
            "one => getComputedStyle(one).textAlign === 'right')"
        )
        assert right
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 1280
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"light": "rgb(251, 250, 247)", "dark": "rgb(20, 22, 26)"}[scheme]


@pytest.mark.slow
@pytest.mark.integration
def test_all_checks_stand_on_the_first_screen_and_paper_is_white(browser, small, small_pages):
    path = small / report.REPORT / "index.html"
    size = {"width": 1280, "height": 800}
    with contextlib.closing(browser.new_page(viewport=size, color_scheme="dark")) as page:
        page.goto(path.as_uri())
        boxes = [element.bounding_box() for element in page.query_selector_all(".check")]
        assert len(boxes) == 7
        assert all(box["y"] + box["height"] <= 800 for box in boxes)
        page.emulate_media(media="print")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"


@pytest.mark.slow
@pytest.mark.integration
def test_the_lead_plays_a_disputed_clip_right_there(browser, small, small_pages):
    with contextlib.closing(browser.new_page()) as page:
        page.goto((small / report.LEAD_PAGE).as_uri())
        played = page.evaluate("""async () => {
            const [clip] = document.querySelectorAll('video.clip');
            await clip.play();
            await new Promise(done => { clip.ontimeupdate = () => clip.currentTime && done(); });
            return [clip.videoWidth, clip.duration, clip.controls];
        }""")
        page.get_by_role("link", name="Open clip").first.click()
        page.wait_for_function("document.querySelector('video')?.videoWidth")
        assert page.url == (small / small_collection.tables.WORK / "clips/m2.mp4").as_uri()
    assert played == [48, 2, True]


def test_a_gif_is_shown_as_a_picture_with_its_words(copied):
    with contextlib.chdir(copied):
        clips = small_collection.tables.CLIPS
        clips.write(clips.read().assign(clip=["m1.gif", "m2.gif"]))
        report.main()
        own = report.LEAD_PAGE.read_text()
    assert '<img class="clip" src="../clips/m2.gif"' in own
    assert 'alt="Clip of: A woman opens the door."' in own
    assert "<video" not in own


def test_the_pages_ask_no_host(small_pages):
    loading = re.compile(r'\b(?:src|srcset|poster|data|action|xlink:href)="([^"]*)"')
    for page in small_pages:
        urls = loading.findall(page) + re.findall(r'<(?:link|use|image)\b[^>]*href="([^"]*)"', page)
        assert not [url for url in urls if not url.startswith(("data:", "../clips/"))]
        assert not re.search(r"https?://|@import|url\((?!data:)", page)
    assert "<script" not in small_pages[0].lower()
