"""The screenplay: what the committed one holds, and how a wrong one is refused."""

import pytest

from pipeline.core import files
from pipeline.sitcom.screenplay import SCREENPLAY, ScreenplayError, load_screenplay


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
