"""What replaced a name, read from any pair of description and caption."""

import pytest

from pipeline.captions.replacements import Replacement, extract, people_words


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("A man", [("man", "man")]),
        ("another woman's", [("woman", "woman")]),
        ("two other men", [("two men", "man")]),
        ("a doctor and two ladies", [("doctor", "unknown"), ("two ladies", "woman")]),
        ("one of the men", [("men", "man")]),
        ("his", [("his", "man")]),
        ("the open door", []),
    ],
)
def test_words_for_people_in_a_phrase(phrase, words):
    assert list(people_words(phrase)) == words


@pytest.mark.parametrize(
    ("description", "caption", "replaced"),
    [
        ("Ada waves.", "A woman waves.", [("Ada", "woman", "woman")]),
        ("Ada's cup is red.", "Someone's cup is red.", [("Ada", "someone", "unknown")]),
        (
            "Ada and Dr. Brook wave at Carl.",
            "Two people wave at a guy.",
            [("Ada and Dr Brook", "two people", "unknown"), ("Carl", "guy", "man")],
        ),
        ("She opens a door.", "She closes a door.", []),
        ("A dog barks.", "A dog barks.", []),
        ("", "", []),
    ],
)
def test_replacements_from_the_difference(description, caption, replaced):
    assert extract(description, caption) == [Replacement(*fields) for fields in replaced]
