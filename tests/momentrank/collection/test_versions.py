"""How far a version must be raised."""

import pytest

from momentrank.collection.versions import (
    list_changes,
    next_version,
    parse_version,
    required_version,
)
from momentrank.errors import UsageError

QRELS, PAIRS, CARD = "qrels/val.qrels", "pairs.csv", "README.md"


def manifest(columns="x", form=1, **changes):
    """Return a manifest of three files; `changes` are by the last letter of their names."""
    files = {
        path: {"sha256": changes.get(path[-1].lower(), "same")} for path in (QRELS, PAIRS, CARD)
    }
    return {"files": files, "columns": {PAIRS: [columns]}, "format": form}


def without(path):
    files = {name: entry for name, entry in manifest()["files"].items() if name != path}
    return {**manifest(), "files": files}


OLD = manifest()


@pytest.mark.parametrize(
    ("old", "new", "expected", "gravest"),
    [
        (OLD, OLD, "1.2.3", None),
        (OLD, manifest(d="new"), "1.2.4", CARD),
        (OLD, manifest(s="new", d="new"), "1.3.0", QRELS),
        (OLD, manifest(v="new", columns="y"), "2.0.0", PAIRS),
        (OLD, without(PAIRS), "2.0.0", PAIRS),
        (without(PAIRS), OLD, "1.3.0", PAIRS),
        (OLD, manifest(form=2), "2.0.0", "manifest.json"),
        ({**OLD, "columns": {}}, manifest(v="new"), "1.3.0", PAIRS),
        ({**OLD, "format": None}, OLD, "2.0.0", "manifest.json"),
        ({"files": OLD["files"]}, manifest(v="new"), "2.0.0", "manifest.json"),
    ],
)
def test_the_gravest_change_says_which_number_is_raised(old, new, expected, gravest):
    changes = list_changes(old, new)
    assert required_version("1.2.3", changes) == expected
    assert (changes[0].path if changes else None) == gravest


def test_versions_are_numbers_and_no_texts():
    assert parse_version("0.10.0") > parse_version("0.9.9")
    assert [next_version("1.2.3", part) for part in ("major", "minor", "patch")] == [
        "2.0.0", "1.3.0", "1.2.4",
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"'1\.0' is not a version"):
        parse_version("1.0")
