"""What a caption lost or broke beside the people, though both texts are masked alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.taggers import make_finder

from pipeline.captions.damage import list_damage
from pipeline.captions.details import Pair
from pipeline.captions.rules.rules_rewriter import RulesRewriter

find = make_finder("Nora", "Omar", "Reed", "Eve", "Quill")


def damage(description, caption):
    [spans] = find([description])
    return list_damage(None, [Pair(description, spans, caption, [])])[0]


@pytest.mark.parametrize(
    ("description", "caption", "mark"),
    [
        ("On New Year's Eve they sing.", "On New Year's a woman they sing.", "broken: Year's a"),
        ("Staff Sergeant Reed waves.", "Staff a sergeant waves.", "broken: Staff a"),
        ("They see Captain Reed.", "They see Captain a man.", "broken: Captain a"),
        ("Fr. Reed prays.", "Fr. A man prays.", "broken: Fr. A"),
        ("Pvt. Omar Reed runs.", "Someone. A man runs.", "broken: Someone"),
        ("She is gonna miss Nora.", "She is gonna a woman.", "lost: miss"),
        ("She will hug Nora.", "She will a woman.", "lost: hug"),
        ('"Lucky" Omar Reed deals.', '"Lucky" a man deals.', 'broken: y" a'),
        ("They fear hurricane Quill.", "They fear hurricane a person.", "broken: hurricane a"),
        ("They look at the Quill.", "They look at the a man.", "broken: the a"),
        ("His friend Omar sings.", "His a man sings.", "broken: His a"),
        ("The Nora and Omar sing.", "A two people sing.", "broken: A two"),
        ("Omar Reed Jr. sits.", "A man. sits.", "broken: A man"),
        ("She pets Mr. Reed Sr. on a sofa.", "She pets a man. on a sofa.", "broken: man. on"),
        ("Nora feeds the dog.", "A woman feeds.", "lost: dog"),
        ("On Quill Day they sing.", "On a person Day they sing.", "broken: person Day"),
        ("They cross Reed Bridge.", "They cross a man Bridge.", "broken: man Bridge"),
        ("Nora van der Reed bows.", "A woman van der a man bows.", "broken: van der a"),
        ("They greet Omar de la Quill.", "They greet Omar de la someone.", "broken: de la someone"),
    ],
)
def test_a_lost_word_and_a_broken_phrase_have_a_mark(description, caption, mark):
    assert mark in damage(description, caption).split("; ")


@pytest.mark.parametrize(
    ("description", "caption"),
    [
        ("Nora feeds the dog.", "A woman feeds the dog."),
        ("he sees Nora. she waves.", "he sees a woman. she waves."),
        ("Nora and Omar walks out.", "Two people walk out."),
        ("Nora says they're in.", "A woman says they are in."),
        ("Nora, wearing a hat, sings.", "A woman in a hat sings."),
        ("Nora nods while they sit.", "A woman nods while the two sit."),
        ("They meet a man named Omar.", "They meet a man."),
        ("Dr. Reed reads to Captain Quill.", "A doctor reads to a captain."),
        ("Nora tells the doctor Omar is ill.", "She tells the doctor a man is ill."),
        ("That's Omar at the door.", "That's a man at the door."),
        ("Nora enter's Omar's room.", "A woman enter's a man's room."),
        ("The Blue Quill is shut.", "A place is shut."),
        ("On Monday Nora sings.", "On Monday a woman sings."),
        ("Nora quickly feeds the dog.", "A woman gives her dog some food."),  # in other words
        ("He sits. Nora runs away and Omar follows.", "He sits. A woman runs away. A man follows."),
    ],
)  # fmt: skip
def test_a_caption_of_the_same_words_or_of_other_words_has_none(description, caption):
    assert damage(description, caption) == ""


WORDS = ["sings", "and", "as", "the", "dog", "gladly", "lamp", "holds"]


@given(st.lists(st.sampled_from(WORDS), max_size=8), st.integers(0, 7))
def test_a_content_word_that_is_left_out_is_lost(words, number):
    text, content = " ".join(["Nora", *words]), {"sings", "dog", "gladly", "lamp", "holds"}
    cut = words[:number] + words[number + 1 :]
    caption = " ".join(["A woman", *cut])
    is_lost = number < len(words) and words[number] in content
    assert ("lost" in damage(text, caption)) == is_lost


def test_what_the_rules_write_has_no_damage():
    texts = [
        "Nora hands Omar the lamp.",
        "Dr. Reed and Nora walks to the Quill.",
        "Omar sings as his friend Nora holds a dog.",
        'Nora says, "Omar, come here."',
    ]
    captions = RulesRewriter(find).rewrite_texts(texts)
    assert [damage(*pair) for pair in zip(texts, captions, strict=True)] == [""] * len(texts)
