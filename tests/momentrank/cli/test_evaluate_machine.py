"""`evaluate --machine`: means over all queries, where people judged a part of them."""

import csv
import io
import json

import numpy as np
import pytest

import momentrank as mr
from momentrank.cli.main import main

MEASURE = "nDCG(iou=0.5)@10"
QUERIES, JUDGED = 30, 12


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels of people and of a machine, and two runs."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    levels = random.integers(0, 5, (QUERIES, 6))
    guesses = np.clip(levels + random.integers(-1, 2, levels.shape), 0, 4)
    for name, queries, grades in (("p.qrels", JUDGED, levels), ("m.qrels", QUERIES, guesses)):
        lines = [f"q{q} Q0 v{k} 0 9 {grades[q, k]}" for q in range(queries) for k in range(6)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    for name in ("a.run", "b.run"):
        order = [random.permutation(6) for _ in range(QUERIES)]
        lines = [f"q{q} Q0 v{k} 0 9 {at + 1} {-at} x" for q, row in enumerate(order)
                 for at, k in enumerate(row)]  # fmt: skip
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def out(capsys, *words, code=0, qrels="p.qrels", machine="m.qrels"):
    assert main(["evaluate", qrels, *words, "--machine", machine]) == code
    return capsys.readouterr()


def test_people_alone_and_with_the_machine_stand_side_by_side(files, capsys):
    output = out(capsys, "a.run", "b.run", MEASURE)
    assert output.err == ""
    head, rows = output.out.split("\nrun ")
    assert "# people: 12 of 30 queries, assumed to be a random sample\n# intervals: 95%" in head
    assert "# machine: m.qrels\n# machine_sha256: " in head
    assert rows.split("\n")[0].split("  ")[-1] == "machine alone"
    estimate = mr.evaluate_with_machine("p.qrels", "b.run", "m.qrels", MEASURE)[MEASURE]
    span = "{:.4f} [{:.4f}, {:.4f}]"
    cells = [span.format(*estimate.people), span.format(*estimate.combined)]
    line = rows.splitlines()[2]
    assert line.startswith(f"b.run  {MEASURE}  12 of 30  {cells[0]}  {cells[1]}")
    alone = mr.evaluate("m.qrels", "b.run", MEASURE)[MEASURE]
    assert line.split()[-3:] == [
        f"{estimate.effective:.1f}",
        f"{estimate.weight:.2f}",
        f"{alone:.4f}",
    ]


def test_json_and_csv_have_the_same_figures(files, capsys):
    content = json.loads(out(capsys, "a.run", "b.run", MEASURE, "AxIoU@5", "--json").out)
    rows = list(csv.DictReader(io.StringIO(
        out(capsys, "a.run", "b.run", MEASURE, "AxIoU@5", "--format", "csv").out
    )))  # fmt: skip
    assert [(row["run"], row["measure"]) for row in rows] == [
        (run, measure) for run in ("a.run", "b.run") for measure in (MEASURE, "AxIoU@5")
    ]
    for row in rows:
        own = content[row["run"]][row["measure"]]
        assert {name: float(row[name]) for name in own} == own
        assert row["machine_sha256"] == content["momentrank"]["machine_sha256"]
        assert (own["queries"], own["population"]) == (12, 30)


def test_percent_and_papers(files, capsys):
    text = out(capsys, "a.run", MEASURE, "--percent", "--format", "markdown").out
    shares = json.loads(out(capsys, "a.run", MEASURE, "--json").out)["a.run"][MEASURE]
    percent = json.loads(out(capsys, "a.run", MEASURE, "--json", "--percent").out)["a.run"][MEASURE]
    assert percent["low"] == pytest.approx(100 * shares["low"])
    assert percent["effective_queries"] == shares["effective_queries"]
    assert f"| {percent['people_value']:.2f} [{percent['people_low']:.2f}, " in text


def test_no_interval_is_null_and_a_dash(files, capsys):
    (files / "none.run").write_text("q0 Q0 v9 0 9 1 1 x\nq1 Q0 v0 90 99 1 1 x\n")
    json_text = out(capsys, "none.run", MEASURE, "--json").out
    figures = json.loads(json_text)["none.run"][MEASURE]
    assert (figures["value"], figures["low"], figures["people_high"]) == (0.0, None, None)
    assert "  0.0000 [\u2013]  " in out(capsys, "none.run", MEASURE).out


def test_where_people_judged_all_a_warning_says_so(files, capsys):
    output = out(capsys, "a.run", MEASURE, qrels="m.qrels")
    assert output.err == "momentrank: m.qrels: people judged all of its queries: it adds nothing\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([MEASURE, "-q"], "--machine: can't be combined with --per-query"),
        ([MEASURE, "--by", "length"], "--machine: can't be combined with --by"),
        ([MEASURE, "--group", "x=a.run"], "--machine: can't be combined with --group"),
        (["b.run", MEASURE, "--marks"], "--machine: can't be combined with --marks"),
    ],
)
def test_what_cannot_be_combined_is_refused(files, capsys, words, message):
    assert message in out(capsys, "a.run", *words, code=2).err


def test_a_query_that_the_machine_lacks_is_one_line(files, capsys):
    err = out(capsys, "a.run", MEASURE, qrels="m.qrels", machine="p.qrels", code=2).err
    message = (
        "momentrank: p.qrels: lacks 18 of 30 queries that people judged (q12, q13, q14, ...): "
    )
    assert err.startswith(message)
    assert err.count("\n") == 1
    (files / "m.qrels").write_text("q0 Q0 v0 0 9 4\nq0 Q0 v0 0 9 x\n")
    assert "m.qrels, line 2" in out(capsys, "a.run", MEASURE, code=1).err
