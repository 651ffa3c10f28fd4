"""Which characters a text may have: Unicode's own classes, and what a terminal is shown."""

import sys
import unicodedata

import pandas as pd
import pytest

from pipeline.core import cli
from pipeline.core.text import (
    is_damaged,
    list_unreadable,
    reveal,
    strip_invisible,
    strip_unreadable,
)
from pipeline.show import format_queries

SIGNS_AROUND_NUMBERS = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
HIEROGLYPHS = set(range(0x13430, 0x13440))
"""Format characters that are seen."""


def of_category(*names):
    letters = (chr(code) for code in range(sys.maxunicode + 1))
    return [letter for letter in letters if unicodedata.category(letter) in names]


def test_no_format_character_is_left_but_those_that_are_seen():
    left = {ord(c) for c in of_category("Cf") if strip_invisible(f"a{c}b") != "ab"}
    assert left <= SIGNS_AROUND_NUMBERS | HIEROGLYPHS


def test_controls_and_private_use_are_damage_and_letters_are_not():
    assert all(map(is_damaged, of_category("Cc", "Co", "Cs", "Zl", "Zp")))
    seen = "".join(of_category("Lu", "Ll", "Lt", "Lm", "Nd", "Nl", "No", "Pd", "Po", "Ps", "Pe"))
    assert not is_damaged(seen)
    assert list_unreadable(seen) == []


def test_each_character_is_named_once():
    text = "a\u202eb\0\u202e\U000e0041"
    assert list_unreadable(text) == ["U+202E", "U+0000", "U+E0041"]
    assert strip_unreadable(text) == "ab"


@pytest.mark.parametrize("word", ["\u0646\u200c\u0647", "\u0915\u094d\u200d\u0937"])
def test_joiners_stay_where_they_are_part_of_the_spelling(word):
    assert strip_invisible(word) == word
    assert strip_invisible(f"a\u200c{word}\u200d") == f"a{word}"


def test_a_terminal_is_shown_what_would_steer_it():
    assert reveal("a\u202eb\x1b[2J\n\tc\u2800") == "a\\u202eb\\x1b[2J\n\tc\\u2800"


def test_neither_messages_nor_shown_queries_steer_a_terminal(capsys):
    cli.log("s01\x1b[2J: no video")
    assert capsys.readouterr().err == "s01\\x1b[2J: no video\n"
    row = {"query": "a\u202eb", "rank": 1, "similarity": 1.0, "caption": "c\x07d"}
    shown = format_queries(pd.DataFrame([row]), top=1)
    assert "a\\u202eb" in shown
    assert "c\\x07d" in shown
