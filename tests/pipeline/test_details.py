"""What a caption must keep of its description: names masked, function words left out."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.captions.details import (
    Asked,
    Pair,
    compare,
    detail_share,
    details,
    mask,
    mask_people,
)
from pipeline.names.base import Span


def find_spans(text, *words):
    return [Span(at := text.index(name), at + len(name), name, 1.0) for name in words]


@pytest.mark.parametrize(
    ("text", "names", "masked"),
    [
        ("Nora hands Omar a letter.", ["Nora", "Omar"], "Someone hands someone a letter."),
        ("Then Dr. Reed's dog barks.", ["Reed"], "Then someone's dog barks."),
        ("Detective Lee and Mrs Ray sit.", ["Lee", "Ray"], "Someone and someone sit."),
        ("The doctor meets Nora.", ["Nora"], "The doctor meets someone."),
        ("ann waves", ["ann"], "Someone waves"),
        ("A dog barks.", [], "A dog barks."),
    ],
)
def test_a_name_is_masked_with_its_title(text, names, masked):
    assert mask(text, find_spans(text, *names)) == masked


@pytest.mark.parametrize(
    ("description", "names", "caption"),
    [
        ("Nora hugs Omar.", ["Nora", "Omar"], "A woman hugs another man."),
        ("Nora, Omar and Lee  sit.", ["Nora", "Omar", "Lee"], "Three people sit."),
        ("Nora and Omar leave Lee's car.", ["Nora", "Omar", "Lee"], "They leave his car."),
        ("Dr. Reed reads.", ["Reed"], "The doctor reads."),
        ("Nora waves to Omar and Omar nods.", ["Nora", "Omar"],
         "A lady waves to a guy and the first man nods."),
    ],
)  # fmt: skip
def test_a_caption_tells_the_same_whoever_it_is_about(description, names, caption):
    spans, start = [], 0
    for name in [*names, *names[-1:] * (description.count(names[-1]) - 1)]:
        start = description.index(name, start)
        spans.append(Span(start, start + len(name), name, 1.0))
        start += 1
    assert mask_people(description, spans) == mask_people(caption)


@pytest.mark.parametrize(
    ("description", "caption"),
    [
        ("Soap is in a dish.", "Someone is in a dish."),
        ("The man-eater waits.", "The dog waits."),
        ("Two boxes fall.", "Two people fall."),
    ],
)
def test_what_is_no_person_is_told(description, caption):
    assert mask_people(description) != mask_people(caption)


def test_spans_that_overlap_are_one_name():
    spans = [Span(start, end, "", 1.0) for start, end in ((0, 4), (0, 9), (5, 9))]
    assert mask("Nora Reed sits.", spans) == "Someone sits."


def test_details_are_what_happens_and_with_what():
    text = "Nora quickly carries the red boxes into Omar's car, and he is with her."
    assert details(text, find_spans(text, "Nora", "Omar")) == Counter(
        ["carri", "red", "box", "car"]
    )


@pytest.mark.parametrize(
    ("description", "names", "caption", "share"),
    [
        ("Soap is in a dish.", [], "Someone is in a dish.", 0.5),
        ("Soap is in a dish.", [], "Soap is in a dish.", 1.0),
        ("Nora carries the box.", ["Nora"], "Two women carry boxes.", 1.0),
        ("Nora carries the box and drops it.", ["Nora"], "Someone carries the box.", 2 / 3),
        ("Nora carries the box.", ["Nora"], "Someone does something.", 0.0),
        ("Nora hits Omar twice, then hits Lee.", ["Nora", "Omar", "Lee"], "She hits him.", 1 / 3),
        ("Nora is with Omar.", ["Nora", "Omar"], "A woman is with a man.", 1.0),
    ],
)
def test_the_share_of_details_that_a_caption_keeps(description, names, caption, share):
    pair = Pair(description, find_spans(description, *names), caption, [])
    (compared,) = compare(Asked(masked=False, measured=True), [pair])
    assert compared == (None, None, pytest.approx(share))


COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 3)).map(Counter)


@given(COUNTS, COUNTS, COUNTS)
def test_a_caption_that_says_more_keeps_no_less(description, caption, more):
    captions = caption, caption + more, description
    shares = [detail_share(description, longer) for longer in captions]
    assert [0, *shares] == sorted([0, *shares])
    assert shares[-1] == 1


@given(st.lists(st.sampled_from(["Nora", "Omar", "sings", "and", "Dr.", "soap"]), max_size=8))
def test_no_name_is_left_and_all_else_is(words):
    text, spans, end = " ".join(words), [], 0
    for word in words:
        if word in {"Nora", "Omar"}:
            spans.append(Span(end, end + 4, word, 1.0))
        end += len(word) + 1
    remaining = mask(text, spans).lower().split()
    assert not {"nora", "omar"} & set(remaining)
    others = [word.lower() for word in words if word not in {"Nora", "Omar", "Dr."}]
    assert [word for word in remaining if word not in {"someone", "dr."}] == others
