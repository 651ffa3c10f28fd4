"""`evaluate`, `compare` and `explain` say what unjudged results leave open."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest

from momentrank.cli.main import main

MEASURES = ("P(iou=0.5)@2", "Judged(iou=0.5)@2")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels and two runs of two queries."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.qrels").write_text("q1 Q0 v 0 10 3\nq2 Q0 v 0 10 1\nq2 Q0 v 20 30 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 v 0 10 1 .9 t\nq1 Q0 w 0 9 2 .8 t\nq2 Q0 v 0 9 1 .9 t\n")
    (tmp_path / "b.run").write_text("q1 Q0 v 0 10 1 .9 t\nq2 Q0 v 21 30 1 .9 t\n")
    (tmp_path / "rates.csv").write_text("rank_low,rank_high,level,share\n1,,2,0.5\n")


def out(capsys, *arguments, command="evaluate", code=0):
    assert main([command, "my.qrels", *arguments]) == code
    return capsys.readouterr()


def test_one_run_has_a_fourth_column(capsys):
    text = out(capsys, "a.run", *MEASURES, "--unjudged", "bounds", "-q").out
    assert "P(iou=0.5)@2\tq1\t0.5000\t1.0000\n" in text
    assert "P(iou=0.5)@2\tall\t0.5000\t0.7500\nJudged(iou=0.5)@2\tall\t0.5000\n" in text
    assert "had other people drawn the moments, who agree by a mean IoU of 0.725" in text


@pytest.mark.parametrize("fmt", [None, "table", "json", "csv", "latex"])
def test_on_a_release_boundary_noise_is_told_beside_the_output(capsys, fmt):
    options = ["a.run", *MEASURES, *(["--format", fmt] if fmt else [])]
    Path("manifest.json").write_text(json.dumps({"version": "2.1", "files": {}}))
    assert "drawn the moments" not in out(capsys, *options).err
    sha256 = hashlib.sha256(Path("my.qrels").read_bytes()).hexdigest()
    Path("manifest.json").write_text(json.dumps({"version": "2.1", "files": {"my.qrels": sha256}}))
    told = out(capsys, *options)
    assert "had other people drawn the moments" in told.err
    assert "drawn the moments" not in told.out
    assert "for a.run (-" in told.err
    official = out(capsys, "a.run", "--convention", "qvhighlights", "mAP")
    assert "drawn the moments" not in official.err + official.out


@pytest.mark.parametrize(
    ("unjudged", "shown"), [("bounds", "50.00 to 75.00"), ("rates.csv", "50.00 (62.50)")]
)
@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_tables_show_both_values(capsys, unjudged, shown, fmt):
    text = out(capsys, "a.run", "b.run", *MEASURES, "--unjudged", unjudged, "--percent",
               "--format", fmt).out  # fmt: skip
    bold = {"markdown": "**", "latex": r"\textbf{"}.get(fmt, "")
    assert f"{bold}{shown}" in text


def test_json_and_csv_have_them_by_run_group_and_query(capsys):
    groups = "--by", "length:15", "--group", "ab=a.run,b.run"
    options = ("a.run", *MEASURES, "--unjudged", "rates.csv", "-q", *groups)
    content = json.loads(out(capsys, *options, "--json").out)
    expected = {"P(iou=0.5)@2": 0.625}
    assert content["a.run"]["expected"] == expected
    assert content["a.run"]["queries"]["q1"]["expected"] == {"P(iou=0.5)@2": 0.75}
    [group] = content["a.run"]["groups"].values()
    assert group["expected"] == expected
    assert content["ab"]["P(iou=0.5)@2"]["expected"] == pytest.approx((0.625 + 0.25) / 2)
    rows = list(csv.DictReader(io.StringIO(out(capsys, *options, "--format", "csv").out)))
    found = {
        (row["run"], row["group"], row["query"], row["measure"]): row["expected"] for row in rows
    }
    assert found["a.run", "", "", "P(iou=0.5)@2"] == "0.625"
    assert found["a.run", "", "q1", "P(iou=0.5)@2"] == "0.75"
    assert found["a.run", "", "", "Judged(iou=0.5)@2"] == ""
    assert all(len(row["unjudged_sha256"]) == 64 for row in rows)


def test_without_the_option_nothing_is_added(capsys):
    text = out(capsys, "a.run", *MEASURES, "--json").out
    assert json.loads(text)["a.run"] == {"P(iou=0.5)@2": 0.5, "Judged(iou=0.5)@2": 0.5}
    assert "boundaries" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--unjudged", "bound"], "write bounds, or a file of rates"),
        (["--unjudged", "bounds", "--convention", "charades"], "use the convention paper"),
        (["--unjudged", "bounds", "--machine", "my.qrels"], "can't be combined with --unjudged"),
        (["MAiSP", "--unjudged", "bounds"], "over seconds"),
    ],
)
def test_what_has_no_bounds_is_an_error(capsys, options, words):
    assert words in out(capsys, "a.run", *options, code=2).err


def test_compare_says_when_a_difference_is_within(capsys):
    options = ("a.run", "b.run", "P(iou=0.5)@2", "nDCG(iou=0.5)@1", "--unjudged", "bounds")
    text = out(capsys, *options, command="compare").out
    assert "[-0.5000, -0.2500]\n" in text  # nobody judged one result, of the better run
    [row, other] = json.loads(out(capsys, *options, "--json", command="compare").out)["pairs"]
    assert (row["unjudged_low"], row["unjudged_high"]) == (-0.5, -0.25)
    assert row["within_unjudged"] is False
    assert other["unjudged_low"] == other["unjudged_high"] == other["difference"]
    options = ("b.run", "a.run", "P(iou=0.5)@2", "--unjudged", "bounds")
    with Path("b.run").open("a") as stream:
        stream.write("q2 Q0 w 5 9 2 .7 t\n")
    assert "within" in out(capsys, *options, command="compare").out.splitlines()[-1]


def test_explain_says_what_the_others_could_add(capsys):
    text = out(capsys, "a.run", "q1", "P(iou=0.5)@2", command="explain").out
    assert "1 of the first 2 results matched a judged moment; with the others" in text
    assert text.split("allows: ")[1].startswith("1.0000\n")
    assert "allows" not in out(capsys, "a.run", "q1", "MAiSP", command="explain").out
