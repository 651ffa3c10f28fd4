"""The command `meta`: tables as TSV and JSON, and what it refuses."""

import json

import pytest

from momentrank.cli.main import main

QRELS = "".join(f"q{n} Q0 v 0 10 1\n" for n in range(8))
RUNS = {  # the end of each run's only result, of eight queries
    "a.run": [10, 10, 10, 10, 10, 10, 10, 0],
    "b.run": [10, 10, 9, 9, 9, 6, 6, 0],
    "c.run": [10, 4, 4, 4, 4, 4, 0, 0],
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels and three runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.qrels").write_text(QRELS)
    for name, ends in RUNS.items():
        lines = [f"q{n} Q0 v 0 {end} 1 0.5 t\n" for n, end in enumerate(ends)]
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def out(capsys, *arguments, code=0):
    assert main(["meta", "test.qrels", *arguments]) == code
    return capsys.readouterr()


def test_all_experiments_as_json(files, capsys):
    shown = json.loads(out(capsys, *RUNS, "AxIoU@1", "R@1,0.5", "--json", "--trials", "50").out)
    assert [(row["measure"], row["tau_ap"]) for row in shown["agreement"]] == [
        ("AxIoU@1", 1.0),
        ("R(iou=0.5,strict=True)@1", 0.5),  # it ties the two best runs
    ]
    assert [row["tau_b"] for row in shown["agreement"]] == pytest.approx([2 / 6**0.5] * 2)
    assert shown["ties"] == [
        {"measure": "AxIoU@1", "queries": 8, "tied": 0.25, "all_zero": 0.125},
        {"measure": "R(iou=0.5,strict=True)@1", "queries": 8, "tied": 0.25, "all_zero": 0.125},
    ]
    assert [row["pairs"] for row in shown["power"]] == [3, 3]
    assert [row["queries"] for row in shown["stability"]] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [row["goal"] for row in shown["needed"]] == ["tau", "difference"] * 2
    assert shown["momentrank"] | {"runs": "3", "queries": "8"} == shown["momentrank"]


def test_one_experiment_as_tsv_with_a_header(files, capsys):
    text = out(capsys, *RUNS, "AxIoU@1", "--only", "ties").out
    head, table = text.split("\n# table: ")
    assert "# seed: 2024" in head
    assert table == "ties\nmeasure\tqueries\ttied\tall_zero\nAxIoU@1\t8\t0.25\t0.125\n"


def test_a_seed_gives_the_same_numbers(files, capsys):
    chosen = [*RUNS, "AxIoU@1", "--only", "stability", "--sizes", "2,4", "--trials", "30"]
    first = out(capsys, *chosen).out
    assert out(capsys, *chosen).out == first
    assert out(capsys, *chosen, "--seed", "5").out != first
    overlapping = out(capsys, *chosen[:-3], "8", "--trials", "30", "--overlap").out
    assert "AxIoU@1\t8\t" in overlapping, "a half can be all queries"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.run", "AxIoU@1"], "at least two runs are needed"),
        ([*RUNS, "NumRel"], "NumRel does not order runs"),
        ([*RUNS, "AxIoU@1", "--only", "ties,noise"], "--only: 'noise' is not one of agreement"),
        ([*RUNS, "AxIoU@1", "--sizes", "2,x"], "--sizes: 'x' is not a number of queries"),
        ([*RUNS, "AxIoU@1", "--sizes", "5"], "5 queries: there are 8, so sizes are 1 to 4"),
        ([*RUNS, "AxIoU@1", "--tau", "2"], "--tau must be from -1 to 1"),
        ([*RUNS, "--convention", "qvhighlights"], "name the measures to examine"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(files, capsys, arguments, told):
    lines = out(capsys, *arguments, code=2).err.splitlines()
    assert lines[-1].startswith(f"momentrank: {told}")
