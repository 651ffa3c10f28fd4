"""The page without a server: guideline, configuration, a task's data, and what an answer says."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened import LABELS, STANDARD

from annotation.label_studio import guideline
from annotation.label_studio.page import (
    ALOUD,
    NO_KEY,
    Answer,
    clip_html,
    clip_of,
    instruction,
    label_config,
    read_answer,
    read_guideline_sha,
    result_of,
    task_data,
)
from annotation.label_studio.records import Purpose
from pipeline.campaign.guideline import GuidelineError
from pipeline.video.cutter import ClipFormat, Interval
from pipeline.video.plan import clip_name

FILE = Path("annotation/guideline/en.md")
TEXT = (guideline.CHECKOUT / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("submitted", [*range(5), "broken-clip", "senseless-query"])
def test_what_the_page_submits_is_read_as_what_it_says_in_any_order(submitted):
    answer = Answer(level=submitted) if isinstance(submitted, int) else Answer(reason=submitted)
    result = [region | {"id": "abc"} for region in result_of(LABELS, answer.level, answer.reason)]
    assert read_answer(result, LABELS) == read_answer(result[::-1], LABELS) == answer
    assert read_guideline_sha(result) is None
    sha = choice("guideline_sha", "ab12")
    for whole in ([sha, *result], [*result, sha]):
        assert (read_answer(whole, LABELS), read_guideline_sha(whole)) == (answer, "ab12")


FOUR = LABELS["4"]


def choice(name, *chosen, to="clip"):
    value = {"choices": list(chosen)}
    return {"from_name": name, "to_name": to, "type": "choices", "id": "abc", "value": value}


# The guideline


def test_it_has_a_version_five_levels_and_two_reasons():
    guide = guideline.current(STANDARD)
    assert guide.version == "1"
    assert sorted(guide.levels) == [0, 1, 2, 3, 4]
    assert set(guide.reasons) == {"broken-clip", "senseless-query"}
    assert all(html.escape(level.meaning) in guide.html for level in guide.levels.values())


def test_it_is_read_in_two_minutes():
    words = re.sub(r"<[^>]+>", " ", guideline.current(STANDARD).html).split()
    assert len(words) < 2 * 300


EVERY = [
    STANDARD.model_copy(update={"language": language, "guideline": variant})
    for language, variant in [("en", "standard"), ("en", "paper"), ("de", "standard")]
]


@pytest.mark.parametrize(
    "settings", EVERY, ids=lambda variant: f"{variant.language}-{variant.guideline}"
)
def test_every_guideline_makes_a_page_of_its_own_words(settings):
    guide = guideline.current(settings)
    root = ElementTree.fromstring(label_config(guide))  # noqa: S314  (our own)
    texts = {value for item in root.iter() for value in item.attrib.values()}
    words = guide.page.model_dump()
    assert texts >= {words[name] for name in ("cant_judge", "choose", "say_why", "guideline")}
    assert [item.get("value") for item in root.iter("Choice")][:5] == [
        guide.levels[number].name for number in range(5)
    ]
    page = instruction(guide, 1234, 5)
    assert "1,234" in page
    assert page.endswith(guide.html)
    assert len({variant.path for variant in map(guideline.current, EVERY)}) == len(EVERY)


def test_a_language_without_a_guideline_is_said_with_those_there_are():
    missing = STANDARD.model_copy(update={"language": "fi"})
    with pytest.raises(GuidelineError, match=r"fi\.md: no such guideline .*de\.md, en\.md"):
        guideline.current(missing)


def test_markup_in_it_is_shown_and_not_run():
    guide = guideline.read(TEXT + "\n<script>alert(1)</script>\n", FILE)
    assert "<script" not in guide.html
    assert "&lt;script" in guide.html


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\n", "", "must begin with a YAML head"),
        ("---\n", "\ufeff---\n", "byte order mark"),
        ('version: "1"', "version: 1", r"guideline/en\.md: version: .* valid string \(it is 1\)$"),
        ("  4: {", "  5: {", "levels.5: unknown key; must be 0, 1, 2, 3 or 4$"),
        ("  4: {", "  3: {", "duplicate key"),
        ("broken-clip:", "broken:", "reasons.broken: unknown key; must be 'broken-clip' or"),
        ("key: b", "key: x", "reasons.broken-clip.key: string should match pattern"),
        ("key: b", "key: s", "two reasons have the same key"),
        ("Slightly relevant", "Irrelevant", "two choices are called 'Irrelevant'"),
        ("Slightly relevant", "Can't judge", "two choices are called"),
        ("Irrelevant", "$query", "can't begin with [$]"),
        ("Can't judge", "No, can't judge", "no comma"),
        ("{{ levels }}", "", "must appear exactly once"),
        (re.search(r"\n  2: .*", TEXT)[0], "", "levels: must be 0 to 4"),
        ('version: "1"', 'version: "1', "guideline/en.md"),
    ],
)
def test_a_wrong_guideline_is_refused(old, new, message):
    with pytest.raises(GuidelineError, match=message):
        guideline.read(TEXT.replace(old, new, 1), FILE)


# The configuration


def test_the_configuration_has_every_key_once_and_nothing_left_to_fill_in():
    guide = guideline.current(STANDARD)
    text = label_config(guide)
    root = ElementTree.fromstring(text)  # noqa: S314  (our own)
    [sha] = [item.get("value") for item in root.iter("Choice") if item.get("selected")]
    assert sha == guide.sha
    keys = {item.get("hotkey"): item.get("value") for item in root.iter("Choice")}
    assert keys.pop(NO_KEY) == guide.sha
    names = {"x": "cant-judge", "b": "broken-clip", "s": "senseless-query"}
    names |= {str(level): str(level) for level in guide.levels}
    assert keys == {key: guide.labels[name] for key, name in names.items()}
    assert "alias" not in text, "what is stored is what was shown"
    [when] = {item.get("whenChoiceValue") for item in root.iter("Choices")} - {None}
    assert when == guide.labels["cant-judge"]
    assert len(list(root.iter("Choice"))) == len(keys) + 1
    for place in ("levels", "reasons", "guideline"):
        assert f"<!-- {place} -->" not in text
    [panel] = [item.get("value") for item in root.iter("HyperText") if item.get("name") != "clip"]
    assert panel.split() == guide.html.split()


def test_only_feedback_shows_what_was_expected_and_the_exam_looks_as_the_campaign_does():
    texts = {name: label_config(guideline.current(STANDARD), name) for name in get_args(Purpose)}
    for name in ("$truth", "$before"):
        assert [purpose for purpose, text in texts.items() if name in text] == ["feedback"]
    assert texts["exam"] == texts["campaign"]


def test_a_task_shows_query_and_clip_alone():
    root = ElementTree.fromstring(label_config(guideline.current(STANDARD)))  # noqa: S314  (our own)
    fields = {value for item in root.iter() if (value := item.get("value", "")).startswith("$")}
    assert fields == {"$query", "$clip_html"}
    expected = {"query": "a man sits", "clip_html": clip_html("/c.mp4"), "pair": "k"}
    assert task_data("a man sits", "/c.mp4", "k") == expected


# The clip


def test_a_clip_with_sound_is_not_muted():
    name = clip_name("ab", Interval(0, 1), ClipFormat("mp4", 480, audio=True))
    assert name.endswith(ALOUD)
    pages = {name: clip_html(f"/data/local-files/?d=clips/{name}") for name in (name, "ab.mp4")}
    assert [" muted " in html for html in pages.values()] == [False, True]
    assert [clip_of(html) for html in pages.values()] == [name.removesuffix(".mp4"), "ab"]


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


# A carriage return or NUL is no part of a URL, and HTML can't carry it.
urls = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"))


@given(urls)
def test_a_url_is_an_attribute_whatever_it_holds(url):
    tags = Tags(clip_html(url))
    [(tag, attributes)] = tags.elements
    assert attributes["src"] == url
    assert not tags.text
    allowed = {"src", "autoplay", "loop", "muted", "playsinline", "controls"}
    assert set(attributes) == allowed if tag == "video" else {"src", "alt"}


@pytest.mark.parametrize(
    ("url", "tag"),
    [
        ("/data/local-files/?d=clips/a.mp4", "video"),
        ("/data/local-files/?d=clips/a.gif", "img"),
        ("https://example.org/a.GIF?signature=1#t", "img"),
        ("https://example.org/a.mp4?name=b.gif", "video"),
    ],
)
def test_a_gif_is_a_picture_and_all_else_a_video(url, tag):
    assert Tags(clip_html(url)).elements[0][0] == tag


# The answer


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ({"level": 3}, "malformed"),
        ([choice("level", FOUR, "4")], "malformed"),
        ([choice("level")], "malformed"),
        ([choice("level", 3)], "malformed"),
        ([choice("level", FOUR, to="query")], "malformed"),
        ([choice("level", FOUR) | {"type": "rating"}], "malformed"),
        ([choice("level", FOUR), choice("other", FOUR)], "foreign"),
        ([FOUR], "foreign"),
        ([choice("guideline_sha", "ab12")], "empty"),
        ([choice("guideline_sha", "ab12", "cd34"), choice("level", FOUR)], "foreign"),
        ([choice("guideline_sha", "ab12"), *[choice("level", FOUR)] * 2], "twice"),
        *(([choice("level", text)], "bad-level") for text in ("4", f"{FOUR} ", FOUR.lower())),
    ],
)
def test_what_the_page_never_submits_is_a_named_problem(result, problem):
    assert read_answer(result, LABELS) == Answer(problem=problem)


words = st.sampled_from(["level", "reason", "clip", "choices", "0", "4", *LABELS.values()])
words |= st.sampled_from(["broken-clip", "senseless-query"]) | st.text()
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner) | st.dictionaries(words, inner),
    max_leaves=5,
)
regions = st.fixed_dictionaries(
    {
        "from_name": words,
        "to_name": st.just("clip") | words,
        "type": st.just("choices") | words,
        "value": st.fixed_dictionaries({"choices": st.lists(words, max_size=2)}) | values,
    }
)


@given(values | st.lists(regions | values, max_size=3))
def test_whatever_comes_there_is_one_answer_and_a_level_only_where_one_was_given(result):
    answer = read_answer(result, LABELS)
    assert sum(part is not None for part in answer) == 1
    if answer.level is not None:
        [region] = result
        assert region["value"]["choices"] == [LABELS[str(answer.level)]]
    if answer.reason is not None:
        assert len(result) == 2
        assert f'"{LABELS[answer.reason]}"' in json.dumps(result)
