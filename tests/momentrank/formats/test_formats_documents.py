"""A release's own documents are held against the files beside them."""

import hashlib
import json
import re

import pytest
from formats_cases import refusal

from momentrank.cli.main import main
from momentrank.formats import FormatError
from momentrank.formats.validation import describe


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def release(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "val.qrels").write_text("q Q0 v 0 1 3\n")
    (tmp_path / "val.json").write_text("[]\n")
    return tmp_path


def manifest(release, **changes):
    names = ("qrels/val.qrels", "val.json")
    files = {name: {"sha256": sha256((release / name).read_text())} for name in names}
    path = release / "manifest.json"
    path.write_text(json.dumps({"name": "x", "files": files | changes}))
    return path


def croissant(release, *more):
    files = [{"contentUrl": "val.json", "sha256": sha256("[]\n")}, {"@type": "cr:FileSet"}, *more]
    path = release / "croissant.json"
    path.write_text(json.dumps({"conformsTo": "x", "distribution": files}))
    return path


def test_a_manifest_is_accepted_while_its_files_are_what_it_says(release):
    path = manifest(release)
    description = describe(path)
    assert (description.kind, description.counted, description.remarks) == (
        "manifest",
        "2 files, all with matching SHA-256",
        [],
    )
    (release / "val.json").write_text("[] \n")
    place = f'{path}: files["val.json"]: '
    assert refusal(describe, path).startswith(place)
    assert refusal(describe, path).endswith(sha256("[] \n"))
    (release / "val.json").unlink()
    assert (
        refusal(describe, path)
        == f"{release / 'val.json'}: no such file or directory, but {path} names it"
    )


@pytest.mark.parametrize("name", ["../val.json", "/etc/passwd", "a/../../b", "a\\b", "a\0b"])
def test_a_name_that_leads_elsewhere_is_not_opened(release, name):
    assert "must name a file in this folder" in refusal(
        describe, manifest(release, **{name: {"sha256": "x"}})
    )


@pytest.mark.parametrize("entry", [None, "x", {}, {"sha256": 3}])
def test_a_file_needs_its_hash(release, entry):
    path = manifest(release, x=entry)
    assert "files.x: must be an object with sha256" in refusal(describe, path)


def test_a_croissant_names_what_lies_beside_it_or_on_the_web(release):
    elsewhere = {"contentUrl": "https://example.org/x.json", "sha256": "0"}
    assert describe(croissant(release, elsewhere)).counted == "1 file, all with matching SHA-256"
    path = croissant(release, {"sha256": "0"})
    assert refusal(describe, path) == f"{path}: distribution[2]: must name a file in this folder"


def test_levels_are_numbers_with_a_name_and_a_meaning(tmp_path):
    path = tmp_path / "levels.json"
    good = {"name": "No", "meaning": "Nothing of it."}
    path.write_text(json.dumps({"guideline": "1", "levels": {"0": good, "1": good}}))
    assert describe(path).counted == "2 levels"
    path.write_text(json.dumps({"levels": {"high": good}}))
    assert refusal(describe, path) == f"{path}: levels.high: must be a level: 0, 1, 2, ..."
    path.write_text(json.dumps({"levels": {"0": {"name": "No"}}}))
    message = f'{path}: levels["0"]: must be an object with name and meaning'
    assert refusal(describe, path).startswith(message)


@pytest.mark.parametrize(
    ("name", "text"), [("a.qrels", ""), ("a.run", "\n"), ("a.run.gz", ""), ("a.json", "[]")]
)
def test_before_anything_is_judged_files_are_empty_and_that_is_said(tmp_path, name, text, capsys):
    path = tmp_path / name
    path.write_text(text)
    assert describe(path).kind == "empty file"
    assert main(["validate", str(path)]) == 0
    assert "the file contains no queries" in capsys.readouterr().out
    assert main(["convert", str(path), str(tmp_path / "out"), "--to", "segments"]) == 2
    assert "only qrels and runs of segments can be converted" in capsys.readouterr().err


def test_any_other_empty_file_is_an_error(tmp_path):
    (tmp_path / "x.txt").write_text("")
    assert refusal(describe, tmp_path / "x.txt") == f"{tmp_path / 'x.txt'}: the file is empty"


REMARK = r"ids of moments, too: 1 \(such as 'm 1'\); .* without reading anything, and BEIR"


def test_qrels_of_moments_whose_ids_are_queries_too_are_remarked_on(release):
    """A run that returns the moment of the query's id would be right."""
    qrels = release / "qrels" / "val.moments.qrels"
    qrels.write_text("m%201 0 m2 3\nq2 0 m%201 0\n")
    [remark] = describe(qrels).remarks
    assert re.search(REMARK, remark)
    path = manifest(release, **{"qrels/val.moments.qrels": {"sha256": sha256(qrels.read_text())}})
    [remark] = describe(path).remarks
    assert remark.startswith(f"{qrels}: ")
    assert re.search(REMARK, remark)
    assert main(["validate", str(path)]) == 0


@pytest.mark.parametrize("text", ["q1 0 m1 3\nq2 0 m1 0\n", "", "q Q0 v 0 1 3\n"])
def test_qrels_whose_queries_have_ids_of_their_own_are_not(release, text):
    qrels = release / "qrels" / "val.moments.qrels"
    qrels.write_text(text)
    path = manifest(release, **{"qrels/val.moments.qrels": {"sha256": sha256(text)}})
    assert describe(path).remarks == []


def test_what_changed_since_the_version_before_is_counted(tmp_path):
    path = tmp_path / "changes.json"
    kinds = ("queries_added", "queries_removed", "queries_reworded", "pairs_added", "pairs_removed")
    split = {kind: [] for kind in kinds} | {"levels": [["q", "v", 0.0, 1.0, 2, 3]], "kept": 4}
    split["pairs_added"] = [["q", "v", 2.0, 3.0]]
    path.write_text(
        json.dumps({"old": "1.0.0", "new": "1.1.0", "files": [], "splits": {"t": split}})
    )
    assert (describe(path).kind, describe(path).counted) == ("changes", "2 changes")
    path.write_text(json.dumps({"splits": {"t": {**split, "levels": 3}}}))
    with pytest.raises(FormatError, match="must have the list levels"):
        describe(path)
