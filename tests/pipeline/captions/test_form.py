"""The form of captions: what is added to an answer, what is cut off, and what many share."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.captions.details import Pair
from pipeline.captions.form import (
    NO_CAPITAL,
    NO_MARK,
    excuse,
    find_style,
    list_faults,
    list_faults_alone,
)
from pipeline.captions.habits import find_habits, list_ends, list_examples
from pipeline.core.engine.text_rows import _types
from pipeline.names.base import Span

DESCRIPTION = "Omar pours cold milk into a tall glass on the table."
CAPTION = "A man pours cold milk into a tall glass on the table."


def pair(description, caption):
    """Return a pair whose names are Omar and Nora."""
    named = [Span(*m.span(), m[0], 1.0) for m in re.finditer("Omar|Nora", description)]
    return Pair(description, named, caption, [])


def faults(description, caption, *, english=True):
    return list_faults(english, [pair(description, caption)])[0]


ADDED = [
    ('"</s>"', f"{CAPTION}</s>"),
    ('"<|im_end|>"', f"{CAPTION}<|im_end|>"),
    ('"**"', CAPTION.replace("A man", "**A man**")),
    ('"`"', f"`{CAPTION}`"),
    ('":"', f"Caption: {CAPTION}"),
    ('"caption"', f"Caption. {CAPTION}"),
    ('"("', f"{CAPTION} (Note: the name was removed.)"),
    ('"rewritten"', f"{CAPTION[:-1]}, rewritten."),
    ('"&#39;"', CAPTION.replace("man", "man&#39;s friend")),
    ('"&quot;"', f"{CAPTION}&quot;"),
    (r'"\u"', CAPTION.replace("man", r"man\u2019s friend")),
    ('"-"', f"- {CAPTION}"),
    ('"1."', f"1. {CAPTION}"),
    ('"}"', f"{CAPTION} }}"),
    ('"]"', f"{CAPTION}]"),
    ('"""', f'"{CAPTION}"'),
    ('"""', f"'{CAPTION}'"),
    ('begins with "\'"', f"'{CAPTION}"),
    ('"_"', CAPTION.replace("A man", "PERSON_X")),
    ('digits "1"', CAPTION.replace("A man", "Person 1")),
    ("U+202E", f"\u202e{CAPTION}"),
    ("U+E0041", f"{CAPTION}\U000e0041"),
    ("U+FFFD", CAPTION.replace("a tall", "a\ufffd tall")),
    ("U+200B", CAPTION.replace("a tall", "a\u200b tall")),
    ("U+E000", f"{CAPTION}\ue000"),
    ("U+00A0", CAPTION.replace("a tall", "a\u00a0tall")),
    ("cyrillic letters", CAPTION.replace("milk", "m\u0456lk")),
    ("fullwidth letters", CAPTION.replace("A", "\uff21")),
    ("phonetic letters", CAPTION.replace("n", "\u0274")),
    ("small letters", CAPTION.replace("i", "\u2170")),
    ('"\u3002"', CAPTION.replace(".", "\u3002")),
    ("ligature letters", CAPTION.replace("table", "\ufb02oor")),
    ('accents in "p\u01a1urs"', CAPTION.replace("pours", "p\u01a1urs")),
    ('accents in "m\xe1n"', CAPTION.replace("man", "ma\u0301n")),
    ('"Person A"', CAPTION.replace("A man", "Person A")),
    ('"man B"', CAPTION.replace("man", "man B")),
    ('"In this video"', CAPTION.replace("A man", "In this video, a man")),
    ('"The sentence"', CAPTION.replace("A man", "The sentence describes a man who")),
    ('"unnamed"', CAPTION.replace("A man", "The unnamed person")),
    ('"find"', CAPTION.replace("A man", "Find the moment where a man")),
    ('digits "\u2460"', f"\u2460 {CAPTION}"),
    ('"\u0335"', CAPTION.replace("man", "m\u0335an")),
    ('"\U0001f600"', f"{CAPTION} \U0001f600"),
    ("capitals", CAPTION.upper()),
    ('capitals "MAN"', CAPTION.replace("man", "MAN")),
    ('capitals "X"', CAPTION.replace("A man", "X")),
    ("a capital in each word", CAPTION.title()),
    ("no capital", CAPTION.lower()),
    ("said twice", f"{CAPTION} {CAPTION}"),
    ('"milk milk"', CAPTION.replace("milk", "milk milk")),
    ("repeated", CAPTION.replace("glass", "glass pours cold milk into a tall glass")),
    ('repeated "on the table"', CAPTION.replace("table", "table on the table")),
    ("no final mark", CAPTION[:-1]),
    ("the end is missing", "A man pours cold milk into a tall glass."),
    ("the end is missing", "A man pours cold milk into a tall glass on the tab."),
    ('ends with "he"', f"{CAPTION[:-1]} as he."),
    ('ends with "into"', "A man pours cold milk into."),
    ('ends with "the"', "A man pours cold milk into a tall glass on the."),
    ('"not"', CAPTION.replace("pours", "does not pour")),
    ('"isn\'t"', CAPTION.replace("pours", "isn't pouring")),
    ('"..."', CAPTION.replace(".", "...")),
    ('"i"', f"{CAPTION} I hope this helps."),
    ('"sorry"', f"Sorry, {CAPTION}"),
    ('"ai"', f"As an AI, {CAPTION}"),
    ('added "Strictly anonymous."', f"{CAPTION} Strictly anonymous."),
    ('added "', f"{CAPTION[:-1]}, smiles brightly, hugs seven cheerful children, bows and coughs."),
]


@pytest.mark.parametrize(("fault", "caption"), ADDED)
def test_what_the_description_does_not_have_is_named(fault, caption):
    assert fault in faults(DESCRIPTION, caption)


RIGHT = [
    (DESCRIPTION, CAPTION),
    (DESCRIPTION, "Cold milk is poured into a tall glass on the table by a man."),
    (DESCRIPTION, "A man fills a tall glass on the table with cold milk."),
    ("Omar walks in with Nora.", "A man walks in with a woman."),
    ("Omar sits in a cafe.", "A man sits in a caf\xe9."),
    ("In the clip Omar sits.", "In this clip a man sits."),
    ("Omar finds the scene that Nora wrote.", "A man finds the scene that a woman wrote."),
    ("Omar sees the man I met.", "A man sees the man I met."),
    ("Omar plays with a girl named Nora.", "A man plays with a girl."),
    ("Nora sees many faces of Omar.", "A woman sees many faces of a man."),
    ("Omar apologizes to Nora.", "A doctor says sorry to a nurse."),
    ("Omar gets up from sitting on the sofa.", "A man gets up from the sofa he was sitting on."),
    ("Omar laughs as he has a phone conversation.", "A man laughs as he talks on the phone."),
    ("Omar fails to lift it and leaves alone.", "A man can't lift it and leaves with nobody."),
    ("Nora knocks three times and watches tv.", "A woman knocks 3 times and watches TV."),
    ("Omar says 'I don't know' and leaves.", 'A man leaves and says, "I don\'t know."'),
    ("Omar drives to LA.", "A man drives to L.A."),
    ("Dr. Omar waves. Nora leaves.", "A doctor waves. A woman leaves."),
    ("Omar wears a t-shirt.", "A man wears a t\u2011shirt."),
    ("Omar sits down in the chair.", "A man sits in the chair."),
    ("Omar gives the book to Nora.", "A man gives a woman the book."),
    ("omar waves", "A man waves"),
    ('Omar (left) types "A&B" \U0001f600: 7 < 9!', 'A man (left) types "A&B" \U0001f600: 7 < 9!'),
    ("Omar\u2019s friend isn\u2019t here.", "A man's friend isn't here."),
    ("Omar doesn't answer.", "A man does not answer."),
    ("THE COOK LEAVES THE ROOM.", "THE COOK LEAVES THE ROOM."),
    (
        "Omar puts a hand on Omar's arm and a hand on Nora's arm.",
        "A man puts a hand on another man's arm and a hand on another man's arm.",
    ),
    ("Omar winkt und geht in das Haus hinein.", "Ein Mann winkt und geht in das Haus hinein."),
    ("\u0930\u093e\u092e \u0939\u0948\u0964", "\u0906\u0926\u092e\u0940 \u0939\u0948\u0964"),
]


@pytest.mark.parametrize(("description", "caption"), RIGHT)
def test_what_the_description_has_is_no_fault(description, caption):
    assert faults(description, caption) == ""


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=60))
def test_a_caption_like_its_description_has_only_faults_that_nobody_sees(text):
    assert re.fullmatch(r"(U\+[0-9A-F]{4,}(; )?)*", faults(text, text))


def test_words_are_known_in_english_only():
    polish = ("Omar wchodzi, siada, pije.", "Kobieta wchodzi, siada i pije.")
    assert '"i"' in faults(*polish)
    assert faults(*polish, english=False) == ""


def test_words_for_people_that_are_not_known_are_not_added_ones():
    german = ("Nora trinkt Omars Kaffee.", "Eine Frau trinkt den Kaffee eines Mannes.")
    assert faults(*german, english=False) == ""
    assert 'added "' in faults(
        "Nora winkt.", "Eine Frau winkt, lacht, singt, tanzt, springt.", english=False
    )


@pytest.mark.parametrize("style", [frozenset({NO_MARK}), frozenset({NO_MARK, NO_CAPITAL})])
def test_what_most_captions_lack_is_their_style(style):
    habitual, cut = "; ".join(sorted(style)), f'{NO_MARK}; ends with "into"'
    assert find_style([habitual] * 6 + ["", cut, "said twice"]) == style
    assert excuse(habitual, style) == ""
    assert excuse(cut, style) == 'ends with "into"'


def test_what_few_captions_lack_is_their_fault():
    assert not find_style([NO_MARK] * 5 + [""] * 6)
    assert not find_style([NO_MARK] * 4)
    assert not find_style([f"{NO_MARK}; said twice"] * 9)


WITHOUT = [
    f"{CAPTION}</s>",
    f"Caption: {CAPTION}",
    f"{CAPTION} }}",
    f"\u202e{CAPTION}",
    f"{CAPTION} {CAPTION}",
    CAPTION.replace("milk", "m\u0456lk"),
    CAPTION.replace("A", "&nbsp;A"),
]


@pytest.mark.parametrize("caption", WITHOUT)
def test_some_faults_show_without_a_description(caption):
    assert list_faults_alone(caption)
    assert not list_faults_alone(CAPTION)


ACTS = [
    *("waves to a dog", "cuts an onion", "opens the door", "reads a letter", "ties a shoe"),
    *("paints a fence", "sings on a stage"),
]


def find(begin="A woman", end=".", habitual=7):
    """Return the habits where so many captions have what is added at their ends."""
    pairs = [
        pair(f"Nora {act}.", f"{begin} {act}{end}" if n < habitual else f"A woman {act}.")
        for n, act in enumerate(ACTS)
    ]
    return find_habits("abcdefg", list_ends(None, pairs))


@pytest.mark.parametrize(
    ("added", "text"),
    [
        ({"begin": "In this video, a woman"}, 'begin with "in this video someone"'),
        ({"end": " in the scene."}, 'end with "in the scene"'),
        ({"end": ""}, "end with no final mark"),
        ({"begin": "a woman"}, "begin with no capital"),
        ({"begin": "We see a woman"}, 'begin with "we see someone"'),
    ],
)
def test_a_habit_is_found_once_with_its_count(added, text):
    assert list(map(str, find(**added))) == [f"7 of 7 captions {text}"]
    assert list(map(str, find(**added, habitual=5))) == [f"5 of 7 captions {text}"]
    assert find(**added, habitual=4) == []


def test_people_and_what_descriptions_share_are_no_habit():
    assert find() == []
    pairs = [pair(f"In this video Omar {act}.", f"In this video a man {act}.") for act in ACTS]
    assert find_habits("abcdefg", list_ends(None, pairs)) == []


def test_a_habit_is_listed_with_a_caption_that_is_not_listed_yet():
    [habit] = find(begin="In this video, a woman")
    table = list_examples([habit], {"c", "d"})
    assert table["moment_id"].tolist() == ["c"]
    assert table["form"].tolist() == ['7 of 7 captions begin with "in this video someone"']
    assert list_examples([habit], set()).empty


@pytest.mark.parametrize(("work", "known"), [(list_faults, True), (list_ends, None)])
def test_rows_can_be_worked_on_in_shards(work, known):
    kinds = _types(work)
    results = work(known, [pair(DESCRIPTION, ADDED[0][1])])
    assert kinds.results.validate_json(kinds.results.dump_json(results)) == results
