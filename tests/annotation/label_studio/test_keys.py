"""Keys: what we signed is ours; everything else is nobody's, and never an error."""

import base64
import json
from collections import namedtuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.label_studio import keys, page, settings
from annotation.label_studio.keys import Key, Signer
from annotation.label_studio.records import Task
from annotation.tasks.annotator_project import compare_tasks
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables

SECRET = "a secret of thirty-two bytes, or so"  # noqa: S105
OURS = Signer("6f1c2a34-0000-0000-0000-000000000001", SECRET)
KEY = Key("q", "m", 3, "first", "text", "clip", "1")
DIGEST = page.digest("a person sings", "<video>")
TEXT = OURS.sign(KEY, DIGEST)


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
any_key = st.builds(
    Key, ids, ids, st.integers(0, 10**6), st.sampled_from(["first", "gold"]), ids, ids, ids
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(any_key)
def test_what_was_signed_is_read(key):
    assert OURS.read(OURS.sign(key, DIGEST)) == key


def test_a_kind_keeps_its_place_in_keys_for_ever():
    places = ("first", "escalated", "gold", "repeat", "exam", "feedback", "adjudication", "link")
    assert places == tables.TASK_KINDS
    assert set(tables.KINDS) < set(places)


@given(any_key)
def test_another_secret_or_campaign_reads_nothing(key):
    text = OURS.sign(key, DIGEST)
    assert Signer("6f1c2a34-0000-0000-0000-000000000001", SECRET + "!").read(text) is None
    assert Signer("6f1c2a34-0000-0000-0000-000000000002", SECRET).read(text) is None


@given(st.integers(0, len(TEXT) - 1), st.sampled_from("AZaz09-_.="))
def test_a_changed_letter_never_makes_another_key(place, letter):
    changed = TEXT[:place] + letter + TEXT[place + 1 :]
    assert OURS.read(changed) in (None, KEY), "base64 has letters that mean nothing"


@given(any_key)
def test_a_key_says_nothing_to_who_has_not_the_secret(key):
    text = OURS.sign(key, DIGEST)
    assert text == OURS.sign(key, DIGEST), "equal keys are equal texts"
    content = base64.urlsafe_b64decode(text)
    for value in (OURS._campaign, *(str(value) for value in key if len(str(value)) > 3)):
        assert value.encode() not in content
        assert json.dumps(value).encode() not in content


@given(any_key)
def test_the_kind_of_a_task_does_not_show_in_the_length_of_its_key(key):
    assert len({len(OURS.sign(key._replace(kind=kind), DIGEST)) for kind in tables.KINDS}) == 1


def test_keys_of_one_pair_have_nothing_in_common():
    """No part of a key is a part of another: not of the same pair, nor of the same kind."""
    texts = [
        OURS.sign(KEY._replace(kind=kind, annotator=who), DIGEST)
        for kind in tables.KINDS
        for who in (3, 4)
    ]
    for begin in range(0, len(TEXT) - 8, 4):
        assert len({text[begin : begin + 8] for text in texts}) == len(texts)


@given(st.none() | st.booleans() | st.integers() | st.text() | st.binary() | json_values)
@example("..")
@example("\ud800")
@example("." * 5000)
@example("[" * 100_000)
def test_garbage_is_nobodys_and_no_error(garbage):
    assert OURS.read(garbage) is None


def test_a_first_and_an_escalated_vote_are_one_task_and_gold_is_another():
    assert KEY.identity == KEY._replace(kind="escalated", guideline="2").identity
    others = [KEY._replace(kind="gold"), KEY._replace(annotator=4), KEY._replace(clip_sha="new")]
    assert len({KEY.identity, *(key.identity for key in others)}) == 4


def test_the_secret_stands_in_env_alone_and_shows_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(keys.SECRET, raising=False)
    with pytest.raises(CampaignError, match=f"{keys.SECRET} is missing.*copy .env from"):
        keys.signer("c")
    secret = keys.ensure_secret()
    assert keys.ensure_secret() == secret == settings.read()[keys.SECRET]
    assert settings.ENV.stat().st_mode & 0o777 == 0o600
    signer = keys.signer("c")
    assert signer.read(signer.sign(KEY, DIGEST)) == KEY
    assert secret not in repr(signer)
    assert secret.encode() not in base64.urlsafe_b64decode(signer.sign(KEY, DIGEST))


# What a task shows


Shown = namedtuple("Shown", "pair query clip")  # as somebody may have left a task's data
QUERY, URL = "a person sings", "/data/local-files/?d=clips/ab12.mp4"
HTML = page.clip_html(URL)
SHOWN_KEY = KEY._replace(query_sha=query_sha(QUERY), clip_sha="ab12")
WRITTEN = OURS.sign(SHOWN_KEY, page.digest(QUERY, HTML))
SWAPPED = {
    "another query": ("a dog barks", HTML),
    "a query and more": (f"{QUERY} ", HTML),
    "no query": (None, HTML),
    "another clip": (QUERY, page.clip_html("/data/local-files/?d=clips/cd34.mp4")),
    "no clip": (QUERY, None),
    "HTML beside the clip": (QUERY, f"{HTML}<p>It is a 4.</p>"),
    "HTML before the clip": (QUERY, f"<p>It is a 4.</p>{HTML}"),
    "an attribute": (QUERY, HTML.replace("<video", '<video style="display:none"')),
    "half a character": ("\ud800", HTML),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_a_task_that_shows_something_else_is_found_out(name):
    assert OURS.shows(Shown(WRITTEN, QUERY, HTML))
    assert OURS.read_shown(Shown(WRITTEN, QUERY, HTML)) == SHOWN_KEY
    assert not OURS.shows(Shown(WRITTEN, *SWAPPED[name]))
    assert OURS.read_shown(Shown(WRITTEN, *SWAPPED[name])) is None


def test_push_finds_its_task_by_its_key_and_makes_another_of_one_that_was_swapped():
    there = Task(1, WRITTEN, False, 0, QUERY, HTML)
    wanted = [SHOWN_KEY._replace(kind="escalated", guideline="2")]
    assert compare_tasks(wanted, [there], OURS.read_shown) == ([], [], [])
    swapped = there._replace(query="a dog barks")
    assert compare_tasks(wanted, [swapped], OURS.read_shown) == (wanted, [1], [])


def test_a_clip_of_that_name_from_elsewhere_is_found_out():
    elsewhere = Shown(WRITTEN, QUERY, page.clip_html("https://evil.example.org/ab12.mp4"))
    assert not OURS.shows(elsewhere)


@pytest.mark.parametrize(
    "url",
    [URL, "https://clips.example.org/of/ab12.gif?at=1&b=2#t=3", "s3://bucket/of/clips/ab12.mp4"],
)
def test_the_name_of_a_clip_is_read_from_what_shows_it(url):
    assert page.clip_of(page.clip_html(url)) == "ab12"


@given(st.text(), st.text())
def test_any_content_is_no_error(query, clip):
    for key in (WRITTEN, query):
        OURS.shows(Shown(key, query, clip))
        page.clip_of(page.clip_html(clip))
