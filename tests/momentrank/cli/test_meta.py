"""The command `meta`: tables as TSV and JSON, and what it refuses."""

import json
import re
from xml.etree import ElementTree

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
    chosen = ["--json", "--trials", "50", "--copies", "3", "--val", "test.qrels"]
    figures = json.loads(out(capsys, *RUNS, "AxIoU@1", "R@1,0.5", *chosen).out)
    assert [(row["measure"], row["tau_ap"]) for row in figures["agreement"]] == [
        ("AxIoU@1", 1.0),
        ("R(iou=0.5,strict=True)@1", 0.5),  # it ties the two best runs
    ]
    assert [row["tau_b"] for row in figures["agreement"]] == pytest.approx([2 / 6**0.5] * 2)
    assert figures["ties"] == [
        {"measure": "AxIoU@1", "queries": 8, "tied": 0.25, "all_zero": 0.125},
        {"measure": "R(iou=0.5,strict=True)@1", "queries": 8, "tied": 0.25, "all_zero": 0.125},
    ]
    assert [row["pairs"] for row in figures["power"]] == [3, 3]
    assert [row["queries"] for row in figures["stability"]] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [row["goal"] for row in figures["needed"]] == ["tau", "difference"] * 2
    axioms = {(row["axiom"], row["measure"]): row for row in figures["axioms"]}
    assert axioms["MON", "AxIoU@1"]["cases"] == 3 * (1 + 6 + 7), "three for each that is not exact"
    broken = [row["broken"] for row in axioms.values()]
    assert broken == [0, 0, 0, 2 + 17 + 9], "hits that were hits before, and misses that stay"
    example = axioms["MON", "R(iou=0.5,strict=True)@1"]
    assert [example[name] for name in ("run", "query", "rank", "old_iou", "new_iou", "after")] == [
        *("a.run", "q7", 1, 0.0, pytest.approx(0.1), 0.0)
    ]
    assert [row["variance"] for row in figures["label-noise"]] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert {row["run"] for row in figures["selection"]} == {"a.run"}
    assert {row["z_selected"] for row in figures["selection"]} == {None}, "all chose the same"
    source = figures["momentrank"]
    assert (source["runs"], source["queries"]) == ("a.run, b.run, c.run", "8")
    assert source["draws"].startswith("50 pairs of disjoint sets for each size; 10,000 permut")


def test_one_experiment_as_tsv_with_a_header(files, capsys):
    text = out(capsys, *RUNS, "AxIoU@1", "--only", "ties").out
    head, table = text.split("\n# table: ")
    assert "# seed: 2024" in head
    assert table == "ties\nmeasure\tqueries\ttied\tall_zero\nAxIoU@1\t8\t0.25\t0.125\n"


def test_a_seed_gives_the_same_numbers(files, capsys):
    chosen = [*RUNS, "AxIoU@1", "--only", "stability", "--sizes", "2,4", "--trials", "30"]
    first = out(capsys, *chosen).out
    assert out(capsys, *chosen).out == first
    assert len({out(capsys, *chosen, "--seed", seed).out for seed in "05"} | {first}) == 3
    overlapping = out(capsys, *chosen[:-3], "8", "--trials", "30", "--overlap").out
    assert "AxIoU@1\t8\t" in overlapping, "a half can be all queries"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.run", "AxIoU@1"], "at least two runs are needed"),
        ([*RUNS, "NumRel"], "NumRel does not order runs"),
        ([*RUNS, "AxIoU@1", "--sizes", "5"], "5 queries: there are 8, so sizes must be 1 to 4"),
        ([*RUNS, "AxIoU@1", "--tau", "2"], "--tau must be from -1 to 1"),
        ([*RUNS, "--convention", "qvhighlights"], "name the measures to examine"),
        ([*RUNS, "AxIoU@1", "--only", "selection"], "selection: name the validation qrels (--val)"),
        (
            [*RUNS, "AxIoU@1", "--only", "label-noise", "--noise", "none"],
            "label-noise: name a kind",
        ),
        ([*RUNS, "AxIoU@1", "--html", "none/m.html"], "--html: none: no such folder"),
        (
            [*RUNS, "--val", "test.qrels", "--val-runs", "a.run,b.run"],
            "2 runs on validation and 3 on",
        ),
        (
            [*RUNS, "--val", "test.qrels", "--val-runs", "a.run,a.run"],
            "--val-runs: a run is given tw",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(files, capsys, arguments, message):
    lines = out(capsys, *arguments, code=2).err.splitlines()
    assert lines[-1].startswith(f"momentrank: {message}")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--only", "ties,noise", "'noise' is not one of effectiveness"),
        ("--sizes", "2,x", "must be a whole number above 0, not 'x'"),
        ("--seed", "-1", "must be a whole number of 0 or more, not '-1'"),
        ("--variances", "1,-1", "must be a variance in square seconds, not '-1'"),
    ],
)
def test_a_value_that_is_not_valid_is_told(files, capsys, option, value, message):
    with pytest.raises(SystemExit):
        out(capsys, *RUNS, "AxIoU@1", f"{option}={value}")
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_a_page_has_a_figure_for_each_experiment_and_no_other_file(files, capsys):
    page = files / "meta.html"
    arguments = ["AxIoU@1", "nDCG(iou=0.5)@1", "--trials", "20", "--copies", "2"]
    out(capsys, *RUNS, *arguments, "--val", "test.qrels", "--html", str(page))
    text = page.read_text()
    names = ["Effectiveness", "Agreement", "Stability", "Needed", "Power", "Ties", "Axioms"]
    parts = dict(zip(re.findall("<h2>(.*?)</h2>", text), text.split("<h2>")[1:], strict=True))
    assert list(parts) == [*names, "Label-noise", "Estimation", "Selection"]
    assert [name for name, part in parts.items() if "<svg" not in part] == ["Needed"]
    assert [name for name, part in parts.items() if "<details open>" in part] == ["Needed"]
    assert not re.search("(src|href)=", text)
    for svg in re.findall("<svg.*?</svg>", text):
        ElementTree.fromstring(svg)  # noqa: S314  (written by us)
    assert "nan" not in text


def test_levels_are_drawn_again_from_raw_judgments(files, capsys):
    pairs = "".join(f"{n},q{n},v,0,10\n" for n in range(8))
    (files / "pairs.csv").write_text(f"pair_id,query_id,video_name,start,end\n{pairs}")
    votes = "".join(f"{n},1,{n % 2}\n{n},2,1\n" for n in range(8))
    (files / "raw.csv").write_text(f"pair_id,worker,relevance\n{votes}")
    chosen = ["nDCG(iou=0.5)@1", "--only", "label-noise", "--noise", "none"]
    output = out(capsys, *RUNS, *chosen, "--judgments", "raw.csv", "--json")
    [row] = json.loads(output.out)["label-noise"]
    assert (row["noise"], row["variance"]) == ("levels", None)
    assert 0.8 < row["kept"] < 0.95, "of half of the pairs a quarter falls to 0"
    assert row["rmse"] > 0
    assert "votes drawn again: 8; with their level kept: 0 without" in output.err
