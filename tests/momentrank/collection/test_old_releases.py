"""Releases of every format that was ever published are read; expected numbers by hand."""

import json
import shutil
from pathlib import Path

import pytest

import momentrank as mr
from momentrank.cli.main import main
from momentrank.collection.declarations import read_declared
from momentrank.collection.release import Moment
from momentrank.collection.versions import FORMAT

RELEASES = Path(__file__).parents[2] / "fixtures/releases"
OLD_IDS, IDS = ("7", "b 2", "12"), ("q0f3a1c5e7d92", "q1b2c3d4e5f60", "q2a4b6c8d0e1f")
NEGATIVE = "q3f5e7d9c1b3a"
FORMATS = {
    "unnumbered": (None, OLD_IDS),
    "1": (1, OLD_IDS),
    "2": (2, IDS),
    "2-strata": (2, (*IDS, NEGATIVE)),
}
"""The number in the manifest, and the ids of the queries, by the fixture's folder."""
LEVELS = [0, 3, 2, 1, 2]
"""Of test; B has the first three moments, C the others."""
NDCG = 0.956701
"""nDCG@10 of `write_run`.

B's levels by rank are 2, 3, 0, whose best order is 3, 2, 0. A gain is a level:
(2 + 3 / log2(3)) / (3 + 2 / log2(3)) = 3.892789 / 4.261860 = 0.913401. C is in the best order: 1.
"""


def write_run(path, ids):
    """Write a run over test: B by levels 2, 3, 0, then C by levels 2, 1."""
    _, b, c = (name.replace(" ", "%20") for name in ids[:3])
    rows = [(b, "v3 1.5 3.5"), (b, "v%202 5 9"), (b, "v1 0 4"), (c, "v1 6 8"), (c, "v3 1.5 3.5")]
    lines = [f"{query} Q0 {moment} {n} {9 - n} x\n" for n, (query, moment) in enumerate(rows, 1)]
    path.write_text("".join(lines))
    return path


def test_there_is_a_fixture_of_each_format():
    numbers = {json.loads(path.read_text()).get("format") for path in RELEASES.glob("*/man*.json")}
    assert numbers == {None, *range(1, FORMAT + 1)}
    assert sorted(path.name for path in RELEASES.iterdir()) == sorted(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_release_of_each_format_is_loaded_and_scored(name, tmp_path):
    number, ids = FORMATS[name]
    collection = mr.load(RELEASES / name)
    assert collection.manifest.get("format") == number
    assert collection.splits == ["val", "test"]
    assert list(collection["val"].queries.items()) == [(ids[0], "A woman waves.")]
    assert list(collection["test"].queries) == list(ids[1:])
    levels = [row.level for row in collection["test"].qrels_iter() if row.query_id != NEGATIVE]
    assert levels == LEVELS
    assert collection.moments[0] == Moment("v 2", 5.0, 9.0)
    assert collection.videos == {"v1": 20.0, "v2": 30.0, "v 2": 12.5, "v3": 9.0}
    run = write_run(tmp_path / "x.run", ids)
    for truth in (collection["test"].qrels, collection["test"].qrels_path):
        scores = mr.evaluate(truth, run, ["nDCG(iou=0.5)@10"])
        assert scores["nDCG(iou=0.5)@10"] == pytest.approx(NDCG, abs=1e-6)


def test_strata_and_negatives_are_those_of_the_newest_alone():
    declared = {name: read_declared(RELEASES / name) for name in FORMATS}
    newest = declared.pop("2-strata")
    assert all(not columns for columns in declared.values())
    assert newest["stratum"][IDS[2]] == "paraphrase"
    assert [query for query, word in newest["negative"].items() if word] == [NEGATIVE]
    qrels = mr.load(RELEASES / "2-strata")["test"].qrels
    row = [qrels.queries[query] for query in qrels.query].index(NEGATIVE)
    assert qrels.value[row] == 0  # people's level is 1


@pytest.mark.parametrize("name", FORMATS)
def test_every_file_of_a_release_is_valid(name, capsys):
    paths = [*RELEASES.glob(f"{name}/*.json"), *RELEASES.glob(f"{name}/qrels/*.qrels")]
    valid = [str(path) for path in paths if path.name != "video_corpus.json"]
    assert main(["validate", *valid]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("old", "new", "kept", "removed", "part"),
    [
        ("unnumbered", "1", 5, 0, "major"),
        ("unnumbered", "2", 0, 5, "major"),
        ("1", "2", 0, 5, "major"),
        ("2", "2-strata", 5, 0, "minor"),
        ("2", "2", 5, 0, None),
    ],
)
def test_the_differences_of_two_formats_are_listed(old, new, kept, removed, part, capsys, tmp_path):
    run = write_run(tmp_path / "x.test.run", FORMATS[new][1])
    main(["diff", str(RELEASES / old), str(RELEASES / new), str(run), "--json"])
    found = json.loads(capsys.readouterr().out)
    test = found["splits"]["test"]
    assert (test["kept"], len(test["pairs_removed"]), test["levels"]) == (kept, removed, [])
    assert next((change["part"] for change in found["files"]), None) == part
    score = next(row for row in found["scores"] if row["measure"] == "nDCG(iou=0.5)@10")
    assert score["new"] == pytest.approx(NDCG, abs=1e-6)
    assert score["old"] == (None if removed else pytest.approx(NDCG, abs=1e-6))


@pytest.mark.parametrize("name", FORMATS)
def test_a_board_is_made_of_a_release_of_each_format(name, tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    write_run(runs / "a.run", FORMATS[name][1])
    (runs / "a.yaml").write_text(
        "name: A\nauthors: B\nlink: https://example.org\ndate: 2026-11-27\nreads: [video]\n"
    )
    qrels = str(RELEASES / name / "qrels/test.qrels")
    words = [str(runs), "nDCG(iou=0.5)@10", "--qrels", qrels, "--out", str(tmp_path / "site")]
    assert main(["board", *words]) == 0
    assert f"{NDCG:.4f}"[1:] in (tmp_path / "site/index.html").read_text()


def change_format(folder, number):
    shutil.copytree(RELEASES / "2", folder)
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": number}))
    return folder


@pytest.mark.parametrize("number", [FORMAT + 1, "2", True, None])
def test_a_newer_format_is_refused_wherever_it_is_read(number, tmp_path, capsys):
    folder = change_format(tmp_path / "new", number)
    with pytest.raises(mr.FormatError, match=r"new/manifest\.json: .*format"):
        mr.load(folder)
    run = write_run(tmp_path / "x.run", IDS)
    assert main(["evaluate", str(folder / "qrels/test.qrels"), str(run)]) != 0
    message = capsys.readouterr().err
    assert "manifest.json" in message
    assert ("upgrade momentrank" in message) == (number == FORMAT + 1)
