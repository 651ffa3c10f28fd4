"""Ids in formats that are separated by spaces: one id is one field, whatever it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentrank.ids import decode_id, encode_id

texts = st.text()  # hypothesis draws no lone surrogates here: they are no UTF-8
SPACES = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"


@given(texts)
def test_an_id_comes_back_as_it_was(text):
    assert decode_id(encode_id(text)) == text


@given(texts.filter(bool))
def test_an_id_is_one_field_of_visible_ascii(text):
    field = encode_id(text)
    assert all("!" <= character <= "~" for character in field)
    assert f"q {field} 1".split() == ["q", field, "1"]


@given(texts, texts)
def test_two_ids_are_two_fields(one, two):
    assert (encode_id(one) == encode_id(two)) == (one == two)


@pytest.mark.parametrize("space", SPACES)
def test_every_kind_of_white_space_is_encoded(space):
    assert len(f"a{space}b".split()) == 2, "not white space: the case says nothing"
    assert encode_id(f"a{space}b").split() == [encode_id(f"a{space}b")]


@pytest.mark.parametrize("control", ["\0", "\x07", "\x1b", "\x7f", "\u200b", "\ufeff", "\u202e"])
def test_what_cannot_be_seen_is_encoded(control):
    assert encode_id(control).startswith("%")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("attic_s01e03_seg02_clip_19", "attic_s01e03_seg02_clip_19"),
        ("bP5KfdFJzC4_660.0_810.0", "bP5KfdFJzC4_660.0_810.0"),
        ("a/b.mp4", "a/b.mp4"),
        ("12090392@N02_13482799053.mov", "12090392@N02_13482799053.mov"),
        ("~{a}[b](c)|'d'\"e\"#f&g=h+i*!", "~{a}[b](c)|'d'\"e\"#f&g=h+i*!"),
        ("my video", "my%20video"),
        ("100%", "100%25"),
        ("%20", "%2520"),
        ("é", "%C3%A9"),
        ("", ""),
    ],
)
def test_ids_without_specials_stay_readable(text, field):
    assert encode_id(text) == field
    assert decode_id(field) == text


def test_a_field_that_is_no_utf8_is_refused():
    with pytest.raises(UnicodeDecodeError):
        decode_id("%ff")


def test_a_lone_surrogate_has_no_encoding():
    with pytest.raises(UnicodeEncodeError):
        encode_id("\ud800")
