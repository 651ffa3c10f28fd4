"""Variants of captions by rules: what they keep, what they never add, and which are chosen."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.captions.rewriter import Moment, Rewrite
from pipeline.captions.variants import choosing, general_words
from pipeline.captions.variants.changing import list_changed
from pipeline.captions.variants.rules_varier import NO_RULE, RulesVarier
from pipeline.captions.variants.shortening import list_more_general, list_shorter
from pipeline.captions.variants.variant_checks import (
    Checks,
    describe_change,
    list_added,
    share_details,
)
from pipeline.core import params
from pipeline.core.text import words

PEOPLE = ("A woman", "Two men", "He", "A doctor in a white coat")
ACTIONS = (
    "opens the old window",
    "picks up a letter from the table and reads it slowly",
    "walks over to the door and closes it",
    "pours herself a cup of hot coffee, smiling",
    "hands a bouquet of flowers to another man",
    "sits down on the green sofa as a dog barks",
    "puts the book down on the desk",
    "argues with a man on the phone",
)
PLACES = ("", " in the kitchen", " at the café", " before she leaves the room")
CAPTIONS = [f"{who} {what}{where}." for who, what, where in product(PEOPLE, ACTIONS, PLACES)]


@pytest.fixture(scope="module")
def limits(repository):
    return params.load(repository / "params.yaml").vary


@pytest.fixture
def checks(limits):
    return Checks(limits, set(), english=True)


def vaguer(caption):
    shorter = list(list_shorter(caption))
    return [*shorter, *list_more_general(shorter[-1] if shorter else caption)]


@pytest.mark.parametrize(
    ("caption", "variant"),
    [
        ("At the café, a man drinks his juice slowly.", "A man drinks something."),
        ("A man walks over to the window and opens it.", "A man opens the window."),
        (
            "A guy reaches for the letter on the table and picks it up.",
            "A guy picks the letter up.",
        ),
        ("A man opens the door, steps through it and is gone.", "A man opens the door."),
        ("A woman hands a man the old letter in the kitchen.", "A woman hands a man the letter."),
        ("Two women come into the clinic together.", "Two women come in."),
        ("A lady raises an arm and waves in the office.", "A lady waves."),
        ("An old man eats a sandwich.", "A man eats something."),
    ],
)
def test_a_caption_becomes_vaguer(caption, variant):
    assert variant in vaguer(caption)


@pytest.mark.parametrize(
    ("caption", "half"),
    [
        ("A man sits beside another woman sitting at the bar.", "another woman sitting."),
        ("A man puts a cup on the table.", "puts a cup."),
        ("Two people walk side by side.", "walk side."),
        ("A woman asks the man about the bill.", "asks the man."),
        ("A man gets out of bed.", "gets out."),
        ("A man tells a boy how he sings.", "tells a boy."),
        ("A man talks then waves in the office.", "A man talks waves."),
        ("A woman lowers herself into the armchair.", "lowers herself."),
        ("A man takes a bite of pizza.", "takes something to eat."),
        ("A man holds out a hand, and a lady shakes it.", "holds out a hand."),
        ("A man walks to a woman and takes her hand.", "A man takes her hand."),
        ("A man hands her two roses.", "hands some flowers."),
        ("A boy feeds the dog a cookie.", "feeds something to eat."),
    ],
)
def test_no_half_sentence_is_left(caption, half):
    assert not any(text.endswith(half) for text in vaguer(caption))


@given(st.sampled_from(CAPTIONS))
def test_each_step_says_less_and_nothing_else(caption):
    told = caption
    for text in vaguer(caption):
        assert list_added(caption, text) == []
        assert share_details(caption, text) <= share_details(caption, told)
        assert text != told
        told = text


@given(st.sampled_from(CAPTIONS), st.integers(0, 5))
def test_a_changed_caption_differs_in_one_thing(caption, seed):
    for text in list_changed(caption, seed):
        old, new = describe_change(caption, text).split(" -> ")
        assert f" {old} " in f" {' '.join(words(caption))} "
        assert f" {new} " in f" {' '.join(words(text))} "
        assert len(words(text)) - len(words(caption)) == len(new.split()) - len(old.split())


@pytest.mark.parametrize(
    ("caption", "variants"),
    [
        ("A man reads the mail.", []),
        (
            "A man hands a box to a boy.",
            [
                "A man throws a box to a boy.",
                *(f"A man hands a {thing} to a boy." for thing in ("basket", "bucket", "suitcase")),
            ],
        ),
        ("A man sits down.", ["A man lies down.", "A man kneels down."]),
        ("A lady puts a bouquet of flowers away.", ["A lady throws a bouquet of flowers away."]),
        ("A man wags a finger at a hospital bed.", []),
        ("A man never opens the door in the office.", []),
        ("A woman pretends to read a book.", []),
        ("A man reads the newspaper aloud.", []),
        (
            "A man holds a pillow.",
            [
                "A man holds a guitar.",
                "A man holds a parcel.",
                "A man holds an umbrella.",
                "A man kicks a pillow.",
                "A man throws a pillow.",
            ],
        ),
        ("A man drinks from a bottle.", []),
        ("A boy gets out of bed.", []),
        ("A man takes a bite of soup.", []),
        ("A man talks on the phone.", []),
        ("A man waits as a woman waves.", []),
        ("A man stands up and leaves.", []),
        ("The window is open until a man closes it.", []),
        ('A man says "hug me" in the kitchen.', []),
    ],
)
def test_one_thing_is_changed_into_another_of_its_kind(caption, variants):
    assert sorted(list_changed(caption, 1)) == sorted(variants)


@pytest.mark.parametrize(
    ("caption", "variant", "added"),
    [
        ("A woman strokes the dog.", "A woman strokes an animal.", []),
        ("A woman strokes the dog.", "A woman strokes a cat.", ["cat"]),
        ("Two men argue in the living room.", "Some people talk in a room.", []),
        ("Two men argue in the living room.", "Some people talk in a building.", ["building"]),
        ("A man eats soup.", "Mr. Green eats.", ["mr", "green"]),
        ("A man holds a cake.", "A man eats a cake.", ["eats"]),
        ("A man holds a cake.", "A man holds something to eat.", []),
        ("A man tears a book.", "A man reads a book.", ["reads"]),
        ("A man spills a beer.", "A man drinks a beer.", ["drinks"]),
        ("A person opens a door.", "A nurse opens a door.", ["nurse"]),
        ("A person opens a door.", "A man opens a door.", ["man"]),
        ("A guy opens a door.", "A man opens a door.", []),
        ("A woman sits in a park.", "A woman sits in a room.", ["room"]),
    ],
)
def test_what_a_vaguer_caption_adds_is_found(caption, variant, added):
    assert list_added(caption, variant) == added


@pytest.mark.parametrize(
    ("stratum", "caption", "variant", "similarity", "fault"),
    [
        ("vague", "A man reads a red book.", "A man reads a book.", 0.9, ""),
        ("vague", "A man reads a red book.", "A man reads.", 0.9, "details: keeps 0.33, no more"),
        ("gist", "A man reads a red book.", "A man reads.", 0.9, ""),
        (
            "gist",
            "A man reads a red book.",
            "A man reads a book.",
            0.9,
            "details: keeps 0.67, more",
        ),
        ("gist", "A man reads a red book.", "A man reads.", 0.2, "similarity: 0.20 is not between"),
        ("gist", "A man reads a red book.", "A man studies.", 0.9, "added: studies"),
        ("gist", "A man does not open it.", "A man opens it.", 0.9, "denial is lost: not"),
        ("changed", "A man stops a car.", "A man washes a car.", 0.9, "denial is lost: stops"),
        ("changed", "A man opens a door.", "A man opens doors.", 0.9, "more than one thing"),
        ("gist", "A man reads a red book.", "Sure! A man reads.", 0.9, "form: "),
        ("changed", "A man reads.", "A man reads.", 0.9, "more than one thing"),
        ("changed", "A man reads.", "A woman sings.", 0.9, ""),
        ("changed", "A man reads a book.", "A woman reads a map.", 0.9, "more than one thing"),
        ("changed", "A man reads.", "A man naps.", 0.9, "it is a caption of the corpus"),
    ],
)
def test_a_variant_that_is_too_near_too_far_or_another_sentence_fails(
    limits, stratum, caption, variant, similarity, fault
):
    checks = Checks(limits, {"a man naps"}, english=True)
    found = checks.find_fault(stratum, caption, variant, similarity)
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


def test_the_words_lists_do_not_contradict_each_other():
    for verb, others in {**general_words.DONE, **general_words.DONE_TO_THINGS}.items():
        assert verb not in others
    for lines in (general_words.ALIKE_THINGS, general_words.ALIKE_PLACES):
        listed = [word for line in lines.values() for word in line]
        assert len(listed) == len(set(listed))


def asked(limits, **numbers):
    return limits.model_copy(update=numbers)


def make_pool(captions):
    rows = {"moment_id": [f"m{n:03}" for n in range(len(captions))], "caption": captions}
    return pd.DataFrame(rows)


def alike(first, second):
    return np.full(len(first), 0.8)


def make(limits, captions, **numbers):
    """Return the variants of captions, of which all are 0.8 similar."""
    checks = Checks(asked(limits, **numbers), set(), english=True)
    rewriters = {stratum: RulesVarier(stratum, checks) for stratum in choosing.STRATA}
    ordered = choosing.order_captions(make_pool(captions), limits.seed)
    return choosing.vary(ordered, rewriters, checks, alike)


def test_as_many_as_wanted_pass_and_each_moment_is_used_once(limits):
    variants = make(limits, CAPTIONS, vague=9, gist=7, changed=5)
    passed = variants[variants["status"] == "passed"]
    assert passed["stratum"].value_counts().to_dict() == {"vague": 9, "gist": 7, "changed": 5}
    assert not passed["moment_id"].duplicated().any()
    assert not passed["query"].duplicated().any()
    assert (variants.loc[variants["status"] == "failed", "note"].str.len() > 0).all()
    shares = passed.set_index("stratum")["detail"]
    assert (shares["vague"] > limits.max_detail.gist).all()
    assert (shares["vague"] <= limits.max_detail.vague).all()
    assert (shares["gist"] <= limits.max_detail.gist).all()


def test_the_order_of_the_corpus_does_not_matter(limits):
    pool = make_pool(CAPTIONS)
    shuffled = pool.sample(frac=1, random_state=3)
    first, second = (choosing.order_captions(rows, 7) for rows in (pool, shuffled))
    assert [m.moment_id for m in first] == [m.moment_id for m in second]
    assert first != choosing.order_captions(pool, 8)


def test_fewer_than_wanted_is_told_and_no_error(limits):
    variants = make(limits, ["A man waves.", "A man sleeps soundly."], vague=3)
    counts = choosing.count_outcomes(variants, asked(limits, vague=3, gist=0, changed=0))
    assert counts["vague"] == {
        "wanted": 3, "tried": 2, "passed": 0, "failed": {"details": 1, NO_RULE: 1},
    }  # fmt: skip
    assert counts["gist"]["tried"] == 0


class Refuses:
    """A model that writes nothing."""

    source, model, prompt = "llm", "m", "p"

    def __init__(self):
        self.asked = 0

    def rewrite(self, moments, attempt):
        self.asked += len(moments)
        return [Rewrite(moment.moment_id, None, "refused") for moment in moments]


def test_what_a_model_refuses_is_no_query_and_it_is_not_asked_forever(limits):
    model = Refuses()
    checks = Checks(asked(limits, gist=2), set(), english=True)
    ordered = [Moment(f"m{n}", f"A man reads book {n}.") for n in range(1000)]
    variants = choosing.vary(ordered, {"gist": model}, checks, alike)
    assert model.asked == len(variants) == 2 * choosing.TRIES
    assert set(variants["status"]) == {"failed"}
    assert set(variants["note"]) == {"refused"}
