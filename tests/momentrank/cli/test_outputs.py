"""The outputs of `evaluate`: for terminals, papers and programs, and by group of queries."""

import csv
import io
import json

import pytest

from momentrank.cli.main import main
from momentrank.cli.tables import Cell, write
from momentrank.query_groups import by_length, select_queries
from momentrank.segments import build_qrels

QRELS = """q1 Q0 v1 0 10 4
q1 Q0 v1 20 30 2
q2 Q0 v3 0 40 3
q3 Q0 v3 0 4 0
"""
A = "q1 Q0 v1 0 10 1 0.9 a\n"
B_1 = "q2 Q0 v3 0 40 1 0.9 b\nq1 Q0 v1 0 6 1 0.9 b\n"
MEASURE = "nDCG(iou=0.5)@10"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels, two runs and groups of queries."""
    monkeypatch.chdir(tmp_path)
    texts = {"test.qrels": QRELS, "a.run": A, "b_1.run": B_1}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "groups").write_text("# asked for\nq1 an action\nq2 an object\nq3 an object\n")
    return tmp_path


def out(capsys, *arguments, code=0):
    assert main(["evaluate", "test.qrels", *arguments]) == code
    return capsys.readouterr()


def test_latex_has_a_row_per_run_and_the_best_value_in_bold(files, capsys):
    lines = out(capsys, "a.run", "b_1.run", MEASURE, "NumRel", "--format", "latex",
                "--percent").out.splitlines()  # fmt: skip
    assert r"run & nDCG(iou=0.5)@10 & NumRel & Judged(iou=0.5)@10 \\" in lines
    assert r"a.run & 38.01 & 3 & 3.33 \\" in lines
    assert r"b\_1.run & \textbf{88.01} & 3 & 6.67 \\" in lines
    assert (
        "% left_out: 1 of 3 queries, without a relevant moment, by measures of relevance" in lines
    )
    assert "% convention: paper" in lines
    assert r"\begin{tabular}{lrrr}" in lines


def test_markdown_is_the_same_table(files, capsys):
    lines = out(capsys, "a.run", "b_1.run", MEASURE, "--format", "markdown").out.splitlines()
    assert r"| b\_1.run | **0.8801** | 0.0667 |" in lines
    assert "| --- | ---: | ---: |" in lines
    assert "<!-- convention: paper -->" in lines


def test_what_differs_from_the_first_run_significantly_is_marked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    right = {"a": 3, "b": 4, "c": 30}
    (tmp_path / "test.qrels").write_text("".join(f"{n} Q0 v 0 10 1\n" for n in range(40)))
    for name, hits in right.items():
        starts = [0 if n < hits else 50 for n in range(40)]
        lines = [f"{n} Q0 v {start} {start + 9} 1 1 x\n" for n, start in enumerate(starts)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    runs = [f"{name}.run" for name in right]
    lines = out(capsys, *runs, "mIoU", "Judged(iou=0.5)@1", "--marks").out.splitlines()
    method = "p < 0.05, randomisation, Holm's correction over 2 comparisons"
    assert f"# marks: \u2020: differs from a.run ({method})" in lines
    assert [line.split()[1:] for line in lines[-2:]] == [
        ["0.0675", "0.0900", "0.6750", "*", "^\u2020"],
        ["0.0750", "0.1000", "0.7500"],
    ]
    lines = out(capsys, *runs, "mIoU", "--marks", "--format", "latex").out.splitlines()
    assert r"c.run & \textbf{0.6750}$^{\dagger}$ \\" in lines


def test_judged_is_never_the_best(files, capsys):
    lines = out(capsys, "a.run", "b_1.run", MEASURE).out.splitlines()
    assert [line.count("*") for line in lines[-2:]] == [1, 0]


def test_what_prints_alike_is_marked_alike(files, capsys):
    (files / "c.run").write_text(B_1 + "q1 Q0 v1 20 29 2 0.1 c\n")
    runs = ["b_1.run", "c.run", MEASURE, "--no-judged"]
    assert out(capsys, *runs).out.splitlines()[-1].count("*") == 1
    assert out(capsys, *runs, "--digits", "0").out.splitlines()[-1].count("*") == 2


def test_csv_has_a_row_per_value_and_says_where_it_comes_from(files, capsys):
    text = out(capsys, "a.run", "b_1.run", MEASURE, "NumRel", "-q", "--by", "groups",
               "--group", "both=a.run,b_1.run", "--format", "csv", "--no-judged").out  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(text)))
    assert all(row["convention"] == "paper" and row["qrels_sha256"] for row in rows)
    key = ("run", "group", "query", "measure")
    values = {tuple(row[name] for name in key): float(row["value"]) for row in rows}
    q3 = 2  # which has no relevant moment: no nDCG
    assert len(values) == len(rows) == 2 * 2 * (3 + 2 + 1) + 2 - q3
    assert values["a.run", "", "", MEASURE] == pytest.approx(0.7602 / 2, abs=1e-4)
    assert values["b_1.run", "an object", "", MEASURE] == 1
    assert {row["group"]: row["n"] for row in rows} == {"": "", "an action": "1", "an object": "2"}
    assert values["b_1.run", "", "q2", MEASURE] == 1.0
    assert rows[-2]["sd"]


def test_percent_leaves_counts_and_dcg_alone(files, capsys):
    names = ["a.run", "NumRel", "DCG(iou=0.5)@10", "R@1,0.5", "--json"]
    plain = json.loads(out(capsys, *names).out)["a.run"]
    percent = json.loads(out(capsys, *names, "--percent").out)["a.run"]
    ratio = [percent[name] / plain[name] for name in plain]
    assert ratio == pytest.approx([1, 1, 100])


def test_values_by_group_are_the_means_over_its_queries(files, capsys):
    output = out(capsys, "b_1.run", MEASURE, "NumRel", "--by", "groups", "--no-judged").out
    rows = dict(line.rsplit("\t", 1) for line in output.splitlines())
    assert rows[f"{MEASURE}\tgroup:an action"] == "0.7602"
    assert rows[f"{MEASURE}\tgroup:an object"] == "1.0000"
    assert rows["queries\tgroup:an object"] == "2"
    assert rows["NumRel\tgroup:an object"] == "1"
    content = json.loads(out(capsys, "b_1.run", MEASURE, "--by", "groups", "--json").out)
    assert content["b_1.run"]["groups"]["an object"]["n"] == 2
    table = out(capsys, "a.run", "b_1.run", MEASURE, "--by", "groups").out
    assert f"{MEASURE} an action (n=1)" in table
    latex = out(capsys, "a.run", MEASURE, "--by", "groups", "--format", "latex").out
    assert r"a.run & an action (n=1) & 0.7602" in latex


def test_values_by_the_length_of_relevant_moments(files, capsys):
    content = json.loads(out(capsys, "b_1.run", MEASURE, "--by", "length", "--json").out)
    groups = content["b_1.run"]["groups"]
    assert {name: group["n"] for name, group in groups.items()} == {
        "up to 10 s": 1, "over 30 s": 1, "no relevant moment": 1
    }  # fmt: skip


def test_a_bound_belongs_to_the_lower_group_and_irrelevant_moments_have_no_say():
    qrels = build_qrels(
        ["a", "a", "b", "c", "d"], ["v"] * 5, [0, 0, 0, 0, 0], [10, 99, 11, 30, 31], [1, 0, 1, 2, 1]
    )
    assert by_length(qrels, (10, 30)) == {
        "up to 10 s": ["a"], "over 10, up to 30 s": ["b", "c"], "over 30 s": ["d"]
    }  # fmt: skip
    part = select_queries(qrels, ["d", "b"])
    assert (part.queries, part.query.tolist(), part.end.tolist()) == (["b", "d"], [0, 1], [11, 31])


def test_what_only_one_of_both_files_has_is_reported(files, capsys):
    (files / "groups").write_text("q1 x\nq9 x\n")
    err = out(capsys, "b_1.run", MEASURE, "--by", "groups").err
    assert "groups: queries which the qrels lack: 1 (q9)" in err
    assert "groups: queries in no group: 2 (q2, q3)" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1\n", "groups, line 1: must be a query and its group"),
        ("q1 a\nq1 b\n\nq1 a\n", "groups, line 4: the query 'q1' is in the group 'a' since line 1"),
        ("x a\n", "none of its queries is in the qrels: 'x' here, 'q1' there"),
        ("%FF a\n", "groups, line 1: the query '%FF' is not percent-encoded"),
        ("", "groups: the file is empty"),
    ],
)
def test_a_malformed_file_of_groups_is_one_line(files, capsys, content, message):
    (files / "groups").write_text(content)
    assert message in out(capsys, "a.run", MEASURE, "--by", "groups", code=1).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "length:30,10"], "--by length:30,10: write length:10,30"),
        (["--by", "length:x"], "write length:10,30"),
        (["-q", "--format", "latex"], "not in --format latex"),
        (["--marks"], "--marks: only in a table of several runs"),
        (["b_1.run", "--marks", "--json"], "--marks: only in a table of several runs"),
    ],
)
def test_options_that_cannot_be_are_refused(files, capsys, arguments, message):
    assert message in out(capsys, "a.run", MEASURE, *arguments, code=2).err


def test_every_character_that_latex_or_markdown_would_read_is_escaped():
    lines = list(write([["x"], [Cell(r"a&b_c%d$e#f{g}~h^i\j", best=True)]], "latex"))
    assert lines[-2] == (
        r"\textbf{a\&b\_c\%d\$e\#f\{g\}\textasciitilde{}h\textasciicircum{}i\textbackslash{}j} \\"
        "\n"
    )
    assert list(write([["a|b"], ["<i>*"]], "markdown"))[::2] == ["| a\\|b |\n", "| \\<i>\\* |\n"]


QV = [{"qid": n, "query": "?", "duration": 150, "vid": "v", "relevant_windows": windows}
      for n, windows in enumerate([[[0, 10], [20, 50]], [[30, 90]]])]  # fmt: skip
QV_RUN = [{"qid": n, "query": "?", "vid": "v", "pred_relevant_windows": windows}
          for n, windows in enumerate([[[0, 9, 0.9], [90, 99, 0.1]], [[0, 29, 0.9]]])]  # fmt: skip


def test_a_benchmarks_own_table_is_brief_as_text_and_whole_as_json(files, capsys):
    for name, rows in (("qv.jsonl", QV), ("qv_run.jsonl", QV_RUN)):
        (files / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["evaluate", "qv.jsonl", "qv_run.jsonl", "mIoU"]) == 0
    errors = capsys.readouterr().err
    assert errors.endswith("of qvhighlights use --convention qvhighlights\n")
    names = ["evaluate", "qv.jsonl", "qv_run.jsonl", "--convention", "qvhighlights"]
    assert main(names) == 0
    lines = [line.split("\tall\t") for line in capsys.readouterr().out.splitlines()[5:]]
    assert lines[:2] == [["MR-full-R1@0.5", "50.00"], ["MR-full-R1@0.7", "50.00"]]
    assert [name for name, _ in lines[2:]] == [
        "MR-full-mAP", "MR-full-mAP@0.5", "MR-full-mAP@0.75", "MR-long-mAP", "MR-middle-mAP",
        "MR-short-mAP"
    ]  # fmt: skip
    assert main([*names, "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["qv_run.jsonl"]
    assert len(cells) == 4 * (10 + 10 + 1)
    assert cells["MR-short-R1@0.9"] == 100.0
    assert main([*names, "--digits", "4"]) == 0
    assert "MR-full-R1@0.5\tall\t50.0000" in capsys.readouterr().out
    assert main([*names, "-q"]) == 2
    assert "name a measure" in capsys.readouterr().err
