"""The screenplay: what the committed one holds, wrong ones, and queries read by its words."""

from collections import Counter

import pytest

from pipeline.core import files
from pipeline.sample import annotate
from pipeline.sitcom.query_reading import QueryError, read_query
from pipeline.sitcom.screenplay import SCREENPLAY, ScreenplayError, load_screenplay
from pipeline.sitcom.staging.schedule import Plot
from pipeline.sitcom.true_levels import parse_scene, true_level


@pytest.fixture(scope="module")
def script(repository):
    return load_screenplay(repository / SCREENPLAY)


def test_no_action_has_a_phrasing_twice(script):
    phrasings = [text for action in script.actions.values() for text in action.phrasings]
    assert len(set(phrasings)) == len(phrasings)


def test_phrasings_vary_in_naming_object_and_place(script):
    for name, action in script.actions.items():
        for people in action.people:
            texts = action.phrasings_for(people)
            placed = [
                any(f"{{{word}}}" in t for word in ("place", "into", "out_of")) for t in texts
            ]
            assert any(placed), f"{name} never says where"
            assert not all(placed), f"{name} always says where"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("hair: long,", "hairs: long,", "cast.Nora.hairs: unknown key; did you mean 'hair'?"),
        ('"#cf2f3c"', '"red"', "cast.Nora.top: string should match pattern"),
        ("    family: drinks", "    family: food", "actions.pour.family: 'food' is not among the"),
        ("akin: [sitting, openings]", "akin: [flying]", "families.coming and going.akin: 'flying'"),
        (
            "takes a seat {at} {place}",
            "takes a seat {at} {palace}",
            "{palace}, which is not a placeholder",
        ),
        ('"{who} sits down {at}."', '"Somebody sits down {at}."', "lacks {who}"),
        ('"{who} smiles and waves."', '"{who} waves {object}."', "the action has none"),
        ("a letter}", "a letter", "DIR/screenplay.yaml, line"),
        ('      - "{who} opens the {object}."\n', '      - "{who} meets {other}."\n', "is for 2"),
        (", pot: coffee pot", "", "{pot}, which 'coffee' does not have"),
        (
            '      - "{who} smiles and waves."\n',
            "",
            "actions.wave.phrasings: fewer than 3 where people is 1",
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_field(repository, tmp_path, old, new, message):
    text = (repository / SCREENPLAY).read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "screenplay.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises((ScreenplayError, files.FileError)) as caught:
        load_screenplay(path)
    error = str(caught.value).replace(str(tmp_path), "DIR")
    assert error.startswith("DIR/screenplay.yaml")
    assert message in error
    assert "\n" not in error


# Queries, read by its words

NOUNS = {"woman": "a woman", "man": "a man", "unknown": "someone"}


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
