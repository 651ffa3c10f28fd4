"""Letter case as a corpus writes it: what is counted, and what is put right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.names.truecase import Casing, casings, restore, words

CORPUS = [
    *["Water runs while Nora waits for her brother."] * 6,
    *["Then the water is hot, and Nora's brother asks Nora for tea."] * 9,
    *["She tells Will that he will see."] * 6,
    "nora smiles.",
    "Dr. Young reads.",
]
SENTENCES = st.lists(
    st.sampled_from(["Nora", "nora", "Nora's", "water", "Water", "WATER", "Dr.", "13", "'", ". "])
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nora sits.", [("nora", False, True), ("sits", True, False)]),
        ("She says: Go on!", [("she", 0, 1), ("says", 1, 0), ("go", 0, 1), ("on", 1, 0)]),
        ("Nora\u2019s dog", [("nora", False, True), ("dog", True, False)]),
        ("Dr. Omar 13th", [("dr", False, True), ("omar", False, False), ("th", True, False)]),
        ("Zo\u00eb O'Dell", [("zo\u00eb", False, True), ("o'dell", False, False)]),
        ("No. 4 St. James", [("no", 0, 1), ("st", 0, 0), ("james", 0, 0)]),
    ],
)
def test_words_are_letters_without_a_possessive_ending(text, expected):
    assert [(w.key, w.is_lower, w.is_first) for w in words(text)] == expected


@given(st.text())
def test_a_word_is_where_it_says(text):
    ends = 0
    for word in words(text):
        assert ends <= word.start < word.end <= len(text)
        assert text[word.start : word.end].casefold() == word.key
        ends = word.end


def test_capitals_at_the_start_of_a_sentence_are_not_counted():
    counts = casings(CORPUS)
    assert counts["nora"] == (24, 1)
    assert counts["water"] == (0, 9)
    assert counts["will"] == (6, 6)
    assert counts["young"] == (1, 0)
    assert "then" not in counts


def test_name_like_is_what_is_almost_never_written_without_a_capital():
    entries = casings(CORPUS).items()
    assert {key for key, casing in entries if casing.is_name_like} == {"nora", "young"}


@pytest.mark.parametrize(
    ("capitals", "lower", "expected"), [(4, 1, True), (4, 2, False), (0, 0, False), (1, 0, True)]
)
def test_name_like_up_to_a_fifth_without_a_capital(capitals, lower, expected):
    assert Casing(capitals, lower).is_name_like is expected


@pytest.mark.parametrize(
    ("text", "restored"),
    [
        ("Water is cold.", "water is cold."),
        ("WATER is cold.", "WATER is cold."),
        ("Then nora sits.", "Then Nora sits."),
        ("Will sits.", "Will sits."),
        ("Dr. Water sits.", "Dr. Water sits."),
        ("She meets Water.", "She meets water."),
        ("Zed and zed.", "Zed and zed."),
    ],
)
def test_words_get_the_case_that_the_corpus_gives_them(text, restored):
    assert restore(text, casings(CORPUS)) == restored


@given(texts=st.lists(SENTENCES), text=SENTENCES)
def test_restoring_changes_nothing_but_case(texts, text):
    restored = restore(text, casings(texts))
    assert len(restored) == len(text)
    assert restored.casefold() == text.casefold()


def test_a_letter_that_has_no_capital_of_its_own_stays():
    counts = {"\u00dfa": Casing(100, 0), "\u0149b": Casing(100, 0)}
    assert restore("a \u00dfa \u0149b", counts) == "a \u00dfa \u0149b"
