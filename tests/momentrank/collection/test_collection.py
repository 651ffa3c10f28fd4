"""Loading a release, and what changed between two of them; on a small one written here."""

import hashlib
import json
import re
import shutil
import sys
import types
from importlib.util import find_spec

import pytest

import momentrank as mr
from momentrank.cli.main import main
from momentrank.collection.release import Moment, Qrel, Query

FILES = {
    "queries.tsv": "query_id\tquery\tsplit\tnumber\n"
    "q1\tShe waves.\tval\t1\nq%202\tHe sits.\ttest\t2\nq3\tHe reads.\ttest\t3\n",
    "pairs.csv": "pair_id,query_id,video_name,start,end\n"
    '1,q1,"a, b",1.5,3.0\n2,q 2,v1,0.0,2.0\n3,q 2,v2,5.0,9.0\n4,q3,v1,0.0,2.0\n',
    "qrels/val.qrels": "q1 Q0 a,%20b 1.5 3.0 4\n",
    "qrels/test.qrels": "q%202 Q0 v1 0.0 2.0 0\nq%202 Q0 v2 5.0 9.0 3\nq3 Q0 v1 0.0 2.0 2\n",
    "README.md": "# A card\n",
}
TRAINING = {"video_corpus.json": '{"a, b": [60.5, 0], "v1": [10, 1], "v2": [20.0, 2]}'}
RUN = "q%202 Q0 v1 0.0 2.0 1 0.9 x\nq%202 Q0 v2 5.0 9.0 2 0.8 x\nq3 Q0 v1 0.0 2.0 1 0.7 x\n"


def write(folder, version="1.0.0", training=TRAINING, **changes):
    """Write a release; `changes` replace texts of its files."""
    files = dict(FILES)
    for path, edits in changes.items():
        for before, after in edits.items():
            assert before in files[path]
            files[path] = files[path].replace(before, after)
    for name, listed in (("manifest.json", files), ("train_manifest.json", training or {})):
        for path, text in listed.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        hashes = {p: {"sha256": hashlib.sha256(t.encode()).hexdigest()} for p, t in listed.items()}
        content = {"name": "Kitchens", "version": version, "files": hashes}
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.fixture
def old(tmp_path):
    return write(tmp_path / "old")


def test_a_folder_is_loaded_with_its_own_ids_texts_and_times(old):
    collection = mr.load(old)
    assert (collection.name, collection.version) == ("Kitchens", "1.0.0")
    assert collection.splits == ["val", "test"]
    assert list(collection["val"].queries_iter()) == [Query("q1", "She waves.")]
    assert list(collection["val"].qrels_iter()) == [Qrel("q1", "a, b", 1.5, 3.0, 4)]
    assert collection["val"].qrels is collection["val"].qrels, "a file is read once"
    assert collection["test"].queries == {"q 2": "He sits.", "q3": "He reads."}
    assert collection.moments == [
        Moment("a, b", 1.5, 3.0), Moment("v1", 0.0, 2.0), Moment("v2", 5.0, 9.0),
    ]  # fmt: skip
    assert collection.videos == {"a, b": 60.5, "v1": 10.0, "v2": 20.0}
    run = [("q 2", "v2", 5, 9), ("q3", "v1", 0, 2)]
    assert mr.evaluate(collection["test"].qrels, run, ["nDCG(iou=0.5)@10"])["nDCG(iou=0.5)@10"] == 1


def test_what_is_not_the_release_is_refused(old, tmp_path):
    with pytest.raises(mr.FormatError, match=r"nothing: not the folder of a release"):
        mr.load(tmp_path / "nothing")
    collection = mr.load(old)
    with pytest.raises(mr.UsageError, match="'train' is not a split"):
        collection["train"]
    with pytest.raises(mr.UsageError, match=r"no manifest lists 'other.csv'"):
        collection.path("other.csv")
    with pytest.raises(mr.UsageError, match=r"revision is only for the hub"):
        mr.load(old, revision="v1.0.0")
    (old / "qrels/test.qrels").write_text(FILES["qrels/test.qrels"].replace(" 3\n", " 4\n"))
    with pytest.raises(mr.FormatError, match=r"test\.qrels: not the release's file"):
        _ = collection["test"].qrels
    (old / "pairs.csv").unlink()
    with pytest.raises(mr.FormatError, match=r"pairs.csv: no such file, but the manifest lists it"):
        _ = collection.moments
    for text in ("[]", '{"files": {"a": 1}}', '{"files": {"a": {"sha256": 1}}}', "{"):
        (old / "manifest.json").write_text(text)
        with pytest.raises(mr.FormatError, match=r"manifest.json"):
            mr.load(old)


def test_a_split_without_judgments_has_empty_qrels(tmp_path):
    edits = {FILES["qrels/val.qrels"]: ""}
    folder = write(tmp_path, training=None, **{"qrels/val.qrels": edits})
    assert list(mr.load(folder)["val"].qrels_iter()) == []
    with pytest.raises(mr.UsageError, match=r"no manifest lists 'video_corpus.json'"):
        _ = mr.load(folder).videos


def test_of_the_hub_only_what_is_small_is_fetched_and_at_one_revision(old, monkeypatch):
    calls = []
    stand_in = types.SimpleNamespace(
        snapshot_download=lambda *a, **k: calls.append((a, k)) or old, hf_hub_download=None
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    assert mr.load("hf:ann/kitchen", revision="v1.0.0").version == "1.0.0"
    [(words, how)] = calls
    assert (words, how["repo_type"], how["revision"]) == (("ann/kitchen",), "dataset", "v1.0.0")
    assert not any(
        "parquet" in pattern or "train_top" in pattern for pattern in how["allow_patterns"]
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(mr.UsageError, match="pip install huggingface_hub"):
        mr.load("hf:ann/kitchen")


def test_a_machines_manifest_that_a_download_left_out_is_fetched_when_asked_for(
    tmp_path, monkeypatch
):
    whole, partial = tmp_path / "whole", write(tmp_path / "left")
    text = "q1 Q0 v1 0.0 2.0 3\n"
    path = "qrels/val.machine.qrels"
    (whole / path).parent.mkdir(parents=True)
    (whole / path).write_text(text)
    listed = {path: {"sha256": hashlib.sha256(text.encode()).hexdigest()}}
    (whole / "machine_manifest.json").write_text(json.dumps({"files": listed}))
    downloads = []

    def hf_hub_download(_, name, **how):
        downloads.append(name)
        if not (whole / name).is_file():
            raise LookupError("404")
        shutil.copy(whole / name, partial / name)

    stand_in = types.SimpleNamespace(
        snapshot_download=lambda *_, **__: partial, hf_hub_download=hf_hub_download
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    collection = mr.load("hf:ann/kitchen")
    with pytest.raises(mr.UsageError, match=r"no manifest lists 'other\.csv'"):
        collection.path("other.csv")
    assert downloads == []
    assert collection.path(path).read_text() == text
    assert downloads == ["machine_manifest.json", path]
    (partial / "machine_manifest.json").unlink()
    (whole / "machine_manifest.json").unlink()  # a release without a machine's levels
    with pytest.raises(mr.UsageError, match=r"machine_manifest\.json is not in the cache.*404"):
        mr.load("hf:ann/kitchen").path(path)
    with pytest.raises(mr.UsageError, match="no manifest lists"):
        mr.load(partial).path(path)


@pytest.mark.parametrize("kind", [ConnectionError, ValueError, LookupError])
def test_whatever_its_library_raises_is_told_as_one_error(monkeypatch, kind):
    def snapshot_download(*_, **__):
        raise kind("read\n timed out")

    stand_in = types.SimpleNamespace(snapshot_download=snapshot_download, hf_hub_download=None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    with pytest.raises(mr.UsageError, match=f"hf:a/b: can't be fetched: {kind.__name__}: read tim"):
        mr.load("hf:a/b")


@pytest.fixture
def new(tmp_path):
    changes = {
        "queries.tsv": {"He reads.": "He reads a book.", "q1\tShe waves.": "q9\tShe waves."},
        "qrels/val.qrels": {"q1": "q9"},
        "qrels/test.qrels": {"v1 0.0 2.0 0": "v1 0.0 2.0 2", "q3 Q0 v1 0.0": "q3 Q0 v1 0.5"},
    }
    return write(tmp_path / "release", version="1.0.1", **changes)


def test_each_change_is_listed_and_what_it_does_to_a_run(old, new, tmp_path, capsys):
    runs = tmp_path / "work/runs"
    runs.mkdir(parents=True)
    (runs / "mine.test.run").write_text(RUN)
    (runs / "empty.val.run").write_text("")
    assert main(["diff", str(old), str(new), "nDCG(iou=0.3)@10"]) == 1
    output = capsys.readouterr()
    for line in (
        "val: queries 1 added, 1 removed, 0 reworded; judged pairs 1 added, 1 removed",
        "test: queries 0 added, 0 removed, 1 reworded; judged pairs 1 added, 1 removed",
        "1 removed; levels 1 of 2 changed: 0 -> 2 (1)",
        "test level: q 2 v1 0-2: 0 -> 2",
        "test query reworded: q3",
        "val query added: q9",
        "qrels/test.qrels changed (minor)",
    ):
        assert line in output.out
    assert "version 1.0.1 must be 1.1.0 or higher" in output.err
    [row] = [line.split() for line in output.out.splitlines() if line.startswith("mine.test.run")]
    measure = ["nDCG(iou=0.3)@10"]
    expected = [
        mr.evaluate(folder / "qrels/test.qrels", runs / "mine.test.run", measure)[measure[0]]
        for folder in (old, new)
    ]
    assert [float(cell) for cell in row[3:5]] == [round(value, 4) for value in expected]
    assert float(row[5]) == round(expected[1] - expected[0], 4) > 0
    assert "empty.val.run" not in output.out


def test_as_json_nothing_is_left_out_and_equal_releases_are_equal(old, new, tmp_path, capsys):
    (tmp_path / "mine.run").write_text(RUN)
    assert main(["diff", str(old), str(new), str(tmp_path / "mine.run"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["required"] == "1.1.0"
    assert report["splits"]["test"]["levels"] == [["q 2", "v1", 0.0, 2.0, 0, 2]]
    assert report["splits"]["test"]["pairs_added"] == [["q3", "v1", 0.5, 2.0]]
    assert {score["split"] for score in report["scores"]} == {"test"}, "no query of val is in it"
    shutil.copytree(old, tmp_path / "same")
    assert main(["diff", str(old), str(tmp_path / "same")]) == 0
    assert "no file changed" in capsys.readouterr().out


INDEXED = [
    {"query_id": "q 2", "predictions": [[2, 5.0, 9.0, 0.9]]},
    {"query_id": "q3", "predictions": [[1, 0.0, 2.0, 0.9]]},
]


def test_as_json_a_mean_over_no_queries_is_null(old, tmp_path, capsys):
    (tmp_path / "mine.test.run").write_text(RUN)
    command = ["diff", str(old), str(old), str(tmp_path / "mine.test.run"), "NullAcc", "--json"]
    assert main(command) == 0
    [score] = json.loads(capsys.readouterr().out)["scores"]
    assert (score["old"], score["new"]) == (None, None)


def test_a_run_with_video_indices_is_scored_by_the_releases_own_corpus(old, new, tmp_path, capsys):
    path = tmp_path / "indexed.json"
    path.write_text(json.dumps(INDEXED))
    assert main(["diff", str(old), str(new), str(path), "P(iou=0.5)@1", "--json"]) == 1
    [score] = json.loads(capsys.readouterr().out)["scores"]
    results = [("q 2", "v2", 5.0, 9.0), ("q3", "v1", 0.0, 2.0)]
    expected = mr.evaluate(old / "qrels/test.qrels", results, ["P(iou=0.5)@1"])["P(iou=0.5)@1"]
    assert score["old"] == expected == 1


def test_a_split_that_only_the_newer_release_has_is_scored_too(old, tmp_path, capsys):
    edits = {"queries.tsv": {"\ttest\t": "\tval\t"}}
    first = write(tmp_path / "first", version="0.9.0", **edits)
    for name, text in (
        ("mine.run", RUN),
        ("other.run", RUN.replace("q%202", "z").replace("q3", "z2")),
    ):
        (tmp_path / name).write_text(text)
    runs = [str(tmp_path / name) for name in ("mine.run", "other.run")]
    assert main(["diff", str(first), str(old), *runs, "nDCG(iou=0.5)@10"]) == 0
    output = capsys.readouterr().out
    [row] = [line.split() for line in output.splitlines() if line.startswith("mine.run")]
    assert row[:3] == ["mine.run", "test", "nDCG(iou=0.5)@10"]
    assert "other.run: has no query" in output


class StandIn:
    """What the example needs of PyTerrier, where that is not installed.

    It was run with PyTerrier 1.1.2 itself, which brings much that nothing else here needs.
    """

    def __init__(self, transform):
        self.transform = transform

    def __mod__(self, cutoff):
        return StandIn(lambda topics: self.transform(topics).query(f"rank < {cutoff}"))

    @staticmethod
    def add_ranks(results):
        rank = results.groupby("qid")["score"].rank(method="first", ascending=False) - 1
        return results.assign(rank=rank.astype(int)).sort_values(["qid", "rank"])


@pytest.fixture
def pyterrier(monkeypatch):
    if find_spec("pyterrier") is None:
        parts = {"apply": {"generic": StandIn}, "model": {"add_ranks": StandIn.add_ranks}}
        module = {name: types.SimpleNamespace(**part) for name, part in parts.items()}
        monkeypatch.setitem(sys.modules, "pyterrier", types.SimpleNamespace(**module))


def test_the_examples_of_the_page_run_on_a_folder(
    repository, tmp_path, monkeypatch, capsys, pyterrier
):
    write(tmp_path / "release")
    monkeypatch.chdir(tmp_path)
    page = (repository / "docs/load.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for example in examples:
        exec(compile(example, "load.md", "exec"), {})  # noqa: S102  (our own page)
    output = capsys.readouterr().out
    assert "<Kitchens 1.0.0: val, test> 2 queries, 3 judged moments" in output
    assert "q 2 v2 5-9 3" in output
    scores = [float(line.split()[-1]) for line in output.splitlines() if line.startswith("nDCG")]
    assert scores == [0.5655, 0.5655]
    assert len(examples) == 3
