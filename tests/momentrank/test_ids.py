"""Ids as formats write them: one id is one field, whatever it holds, or one integer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentrank.ids import (
    IdError,
    as_integers,
    decode_id,
    encode_id,
    own_ids,
    query_number,
    query_numbers,
)

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


numerals = st.text(st.sampled_from("0129-+ \u0661\u0662\uff11\xb2"), min_size=1, max_size=4)


@given(st.lists(numerals | st.integers().map(str), unique=True))
def test_distinct_ids_stay_distinct_as_integers(ids):
    numbers = as_integers(ids)
    assert len(set(numbers)) == len(ids)
    assert [str(number) for number in numbers] == ids


@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1)))
def test_ids_that_are_integers_come_back_as_they_were(numbers):
    assert as_integers(map(str, numbers)) == numbers


@pytest.mark.parametrize("odd", ["1\u0662", "07", "+7", "-0", "7\n", "1_0", "9" * 19, ""])
def test_one_id_that_is_no_integer_leaves_all_as_texts(odd):
    assert as_integers(["12", odd]) == ["12", odd]


# A query's integer in the JSON of TVR-Ranking


def test_an_integer_is_its_own_number_and_a_text_has_one_that_json_and_floats_hold():
    assert [query_number(text) for text in ("0", "13", str(2**52 - 1))] == [0, 13, 2**52 - 1]
    for text in ("qid_0", "0013", "-5", str(2**52), "1\u0662", "", "9" * 30):
        number = query_number(text)
        assert 2**52 <= number < 2**53
        assert int(float(number)) == number
    assert query_number("qid_0") == 8178288390011732, "for ever: models were trained with it"


@given(st.lists(texts, unique=True))
def test_a_number_depends_on_the_id_alone_and_leads_back_to_it(ids):
    numbers = query_numbers(ids)
    assert numbers == {name: query_number(name) for name in ids}
    long = {str(number): name for name, number in numbers.items() if number >= 2**52}
    assert own_ids([*map(str, numbers.values()), "5", "x"], ids) == long


def test_two_ids_of_one_number_are_refused(monkeypatch):
    monkeypatch.setattr("momentrank.ids.query_number", len)
    with pytest.raises(IdError, match="'a1' and 'b1' have the same number, 2: change one"):
        query_numbers(["a1", "b1"])
