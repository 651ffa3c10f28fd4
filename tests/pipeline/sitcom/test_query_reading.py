"""Queries are read by the screenplay's words: its own sentences exactly, others as they allow."""

from collections import Counter

import pytest

from pipeline.sample import annotate
from pipeline.sitcom.query_reading import QueryError, read_query
from pipeline.sitcom.screenplay import SCREENPLAY, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.sitcom.true_levels import parse_scene, true_level

NOUNS = {"woman": "a woman", "man": "a man", "unknown": "someone"}


@pytest.fixture(scope="module")
def script(repository):
    return load_screenplay(repository / SCREENPLAY)


@pytest.fixture(scope="module")
def records(script):
    return list(annotate(script, Plot(script, 2024, 12).takes(64), 2024))


def without_names(text, script):
    for name, person in script.cast.items():
        text = text.replace(name, NOUNS[person.gender])
    return text


def test_each_sentence_of_the_sample_is_read_as_what_was_staged(script, records):
    for record in records:
        scene = parse_scene(record)
        text = without_names(record["desc"], script)
        read = read_query(text, script)
        assert read.action == scene.action, text
        assert read.mentions == scene.mentions, text
        for facet in {"object", "place"} & scene.mentions:
            assert getattr(read, facet) == getattr(scene, facet), text
        assert true_level(read, scene, script) == 4, text


def test_levels_by_words_are_those_by_scenes(script, records):
    scenes = [parse_scene(record) for record in records]
    for record, scene in list(zip(records, scenes, strict=True))[::9]:
        read = read_query(without_names(record["desc"], script), script)
        counts = [Counter(true_level(q, m, script) for m in scenes) for q in (read, scene)]
        assert counts[0] == counts[1], record["desc"]


@pytest.mark.parametrize(
    ("query", "action", "thing", "place"),
    [
        ("someone having an argument on the terrace", "argue", None, "roof terrace"),
        ("A lady is sitting on a couch with a newspaper", "sit_down", "sofa", ""),
        ("The one where he opens the refrigerator", "open", "fridge", ""),
        ("A man closing the window in the office", "close", "window", "office"),
        ("A man reads something.", "read", None, ""),
        ("A man drinks.", "drink", None, ""),
        ("A man drinks a beer.", "drink", "beer", ""),
        ("Two women hug in the attic.", "hug", None, "attic"),
        ("A woman gives a man a present.", "hand_over", "present", ""),
        ("She rises from the bench on a balcony.", "stand_up", "bench", "balcony"),
        ("A woman throws the letter in the kitchen.", "", "letter", "kitchen"),
        ("Somebody plays the piano.", "", None, ""),
    ],
)
def test_other_words_are_read_as_far_as_they_go(script, query, action, thing, place):
    read = read_query(query, script)
    assert (read.action, read.object, read.place) == (action, thing, place)


@pytest.mark.parametrize(
    ("query", "genders"),
    [
        ("Two women argue.", ["woman", "woman"]),
        ("She waves at a man.", ["woman", "man"]),
        ("A man takes the book that a woman is holding out.", ["woman", "man"]),
        ("He reads her letter.", ["man"]),
        ("Three people are dancing.", ["unknown", "unknown"]),
        ("Music plays.", []),
    ],
)
def test_people_are_their_number_gender_and_order(script, query, genders):
    if not genders:
        with pytest.raises(QueryError):
            read_query(query, script)
        return
    assert [script.cast[name].gender for name in read_query(query, script).who] == genders


def test_an_action_that_the_screenplay_does_not_have_is_level_0_with_everything(script, records):
    query = read_query("A woman paints the window in the kitchen.", script)
    assert {true_level(query, parse_scene(record), script) for record in records} == {0}
