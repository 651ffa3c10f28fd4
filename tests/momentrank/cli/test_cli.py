"""The command, as it is typed."""

import gzip
import hashlib
import json
import os
import subprocess
import sys

import pytest

from momentrank.cli.main import main
from momentrank.ids import query_number

QRELS = """q1 Q0 v1 0 10 4
q1 Q0 v1 20 30 2
q1 Q0 v2 5 9 0
q2 Q0 v3 0 4 3
"""
A = """q1 Q0 v1 1 10 1 0.9 a
q1 Q0 v2 5 9 2 0.8 a
q1 Q0 v1 19 30 3 0.7 a
q3 Q0 v9 0 4 1 0.9 a
"""
B = """q1 Q0 v1 20 30 1 0.9 b
q2 Q0 v3 0 4 1 0.9 b
"""
MEASURE = "nDCG(iou=0.5)@10"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels and two runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.qrels").write_text(QRELS)
    (tmp_path / "a.run").write_text(A)
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(B.encode()))
    return tmp_path


def call(capsys, *arguments, code=0):
    assert main(arguments) == code
    return capsys.readouterr()


def rows(text):
    return [tuple(line.split("\t")) for line in text.splitlines()]


def test_one_run_gives_three_columns_with_where_they_come_from(files, capsys):
    out = call(capsys, "evaluate", "test.qrels", "a.run", MEASURE, "R@1,0.5")
    sha = hashlib.sha256(QRELS.encode()).hexdigest()
    assert rows(out.out) == [
        ("momentrank", "all", __import__("momentrank").__version__),
        ("convention", "all", "paper"),
        ("qrels", "all", "test.qrels"),
        ("qrels_sha256", "all", sha),
        ("release", "all", "unknown"),
        (MEASURE, "all", "0.4751"),
        ("R(iou=0.5,strict=True)@1", "all", "0.5000"),
        ("Judged(iou=0.5)@10", "all", "0.1500"),
    ]
    assert out.err.splitlines() == [
        "momentrank: a.run: queries in the qrels but not in the run: 1 (q2)",
        "momentrank: a.run: queries in the run but not in the qrels: 1 (q3)",
    ]


def test_per_query_rows_come_before_all(files, capsys):
    out = call(capsys, "evaluate", "-q", "test.qrels", "a.run", MEASURE, "--no-judged").out
    assert rows(out)[5:] == [
        (MEASURE, "q1", "0.9502"),
        (MEASURE, "q2", "0.0000"),
        (MEASURE, "all", "0.4751"),
    ]


def test_names_may_stand_behind_options(files, capsys):
    out = call(capsys, "evaluate", "test.qrels", "--digits", "2", "a.run", MEASURE, "--no-judged")
    assert rows(out.out)[-1] == (MEASURE, "all", "0.48")


def test_without_measures_it_is_ndcg_and_how_much_was_judged(files, capsys):
    names = [row[0] for row in rows(call(capsys, "evaluate", "test.qrels", "a.run").out)[5:]]
    assert names[:9] == [f"nDCG(iou={mu})@{k}" for mu in (0.3, 0.5, 0.7) for k in (10, 20, 40)]
    assert names[9:] == [f"Judged(iou={mu})@{k}" for mu in (0.3, 0.5, 0.7) for k in (10, 20, 40)]


def test_several_runs_make_a_table_with_the_best_marked(files, capsys):
    out = call(capsys, "evaluate", "test.qrels", "a.run", "b.run.gz", MEASURE, "--no-judged",
               "--group", "both=a.run,b.run.gz").out  # fmt: skip
    assert out.splitlines()[-2].split() == ["measure", "a.run", "b.run.gz", "both"]
    cells = ["0.4751", "0.6900", "*", "0.5826", "\u00b1", "0.1520"]
    assert out.splitlines()[-1].split() == [MEASURE, *cells]
    assert "# convention: paper" in out


def test_json_says_the_same(files, capsys):
    out = call(capsys, "evaluate", "test.qrels", "a.run", "b.run.gz", MEASURE, "--json", "-q",
               "--group", "both=a.run,b.run.gz").out  # fmt: skip
    content = json.loads(out)
    assert content["momentrank"]["convention"] == "paper"
    assert content["a.run"][MEASURE] == pytest.approx(0.4751, abs=1e-4)
    assert content["a.run"]["queries"]["q2"][MEASURE] == 0.0
    assert content["both"][MEASURE]["sd"] == pytest.approx(0.1520, abs=1e-4)


def test_the_release_version_is_that_of_the_manifest_beside_the_qrels(files, capsys):
    def release():
        return dict(row[::2] for row in rows(call(capsys, "evaluate", "test.qrels", "a.run").out))

    manifest = files / "manifest.json"
    manifest.write_text('{"version": "2.1"}')
    assert release()["release"] == "unknown", "it says nothing of these qrels"
    sha = hashlib.sha256(QRELS.encode()).hexdigest()
    manifest.write_text(json.dumps({"version": "2.1", "files": {"qrels/test.qrels": sha}}))
    assert release()["release"] == "2.1"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["test.qrels"], 2, "no run given"),
        (["test.qrels", "a.run", "a.run"], 2, "a.run is given twice"),
        (["test.qrels", "a.run", "--group", "x"], 2, "--group x: write NAME=a.run,b.run"),
        (["test.qrels", "--group", "x=a.run,a.run"], 2, "each run once"),
        (
            ["test.qrels", "a.run", "--group", "a.run=a.run"],
            2,
            "the name 'a.run' is already in use",
        ),
        (["test.qrels", "runs/a@b.run"], 1, "runs/a@b.run"),
        (["test.qrels", "myrun"], 2, "there is no measure 'myrun'"),
        (["/dev/null", "a.run"], 2, "qrels must be a regular file"),
        (
            ["test.qrels", "a.run", "--convention", "sh-eval", MEASURE],
            2,
            "not a measure",
        ),
    ],
)
def test_errors_are_one_line_and_an_exit_code(files, capsys, arguments, code, message):
    out = call(capsys, "evaluate", *arguments, code=code)
    assert message in out.err.splitlines()[-1]
    assert out.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute", "test.qrels"], "did you mean evaluate?"),
        (["evaluate", "test.qrels", "a.run", "--fomat", "json"], "did you mean --format?"),
        (["evaluate", "test.qrels", "--convention", "chardes"], "did you mean charades?"),
        (["compare", "test.qrels", "--confidence", "0,9"], "'0,9' is not a number (such as 0.5)"),
        (["explain", "test.qrels", "a.run", "q1", "-k", "2,5"], "'2,5' is not a whole number"),
        (["evaluate", "test.qrels", "--xyz"], "comes last, after --)"),
    ],
)
def test_a_mistyped_argument_says_what_was_meant(files, capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert (out, message in err.splitlines()[-1]) == ("", True)


def test_per_query_rows_of_several_runs_are_those_that_count(files, capsys):
    (files / "b.run").write_text(B)
    out = call(capsys, "evaluate", "-q", "test.qrels", "a.run", "b.run", "R@1,0.5",
               "--convention", "tvr-ranking").out  # fmt: skip
    table = [line.split() for line in out.splitlines() if not line.startswith("#")]
    assert table == [
        ["measure", "a.run", "b.run"],
        ["R(iou=0.5,strict=True)@1", "q1", "1.0000", "*", "1.0000", "*"],
        ["R(iou=0.5,strict=True)@1", "q2", "1.0000", "*"],
        ["R(iou=0.5,strict=True)@1", "1.0000", "*", "1.0000", "*"],
    ]


def test_ids_are_one_field_and_a_query_may_be_called_all(files, capsys):
    (files / "odd.qrels").write_text(
        "all Q0 v 0 1 1\na%20b Q0 v 0 1 1\n#1 Q0 v 0 1 1\n# no query\n"
    )
    (files / "odd.run").write_text("a%20b Q0 v 0 1 1 1 t\n")
    names = ["odd.qrels", "odd.run", "R@1,0.5"]
    out = call(capsys, "evaluate", "-q", *names).out
    assert [row[1:] for row in rows(out)[5:]] == [
        ("all", "0.0000"), ("a%20b", "1.0000"), ("#1", "0.0000"), ("all", "0.3333")
    ]  # fmt: skip
    content = json.loads(call(capsys, "evaluate", "-q", "--json", *names).out)
    assert set(content["odd.run"]["queries"]) == {"all", "a b", "#1"}
    assert "v " in call(capsys, "explain", "odd.qrels", "odd.run", "a%20b").out


def test_a_convention_that_is_overruled_is_another_measure(files, capsys):
    out = call(capsys, "evaluate", "test.qrels", "a.run", MEASURE, "nDCG(iou=0.5,dcg='log2')@10",
               "--convention", "tvr-ranking", "--no-judged").out  # fmt: skip
    assert [row[0] for row in rows(out)[5:]] == [MEASURE, "nDCG(iou=0.5,dcg='log2')@10"]


def test_a_link_and_a_pipe_are_written_into_not_over(files, capsys):
    target = files / "target.json"
    target.write_text("")
    (files / "link.json").symlink_to(target)
    call(capsys, "convert", "a.run", "link.json", "--to", "tvr-ranking")
    assert (files / "link.json").is_symlink()
    assert target.read_text().startswith("[")
    err = call(capsys, "convert", "a.run", "a.run", "--to", "segments", code=2).err
    assert "must be different files" in err


def test_whatever_cannot_be_written_is_one_line(files):
    command = f"{sys.executable} -m momentrank.cli.main"
    for tail in (
        "evaluate test.qrels a.run > /dev/full",
        "explain test.qrels a.run q1 --html nowhere/x.html",
        "evaluate test.qrels a.run --digits -1",
        "compare test.qrels a.run b.run.gz 'R@1,0.5' --seed -1",
    ):
        done = subprocess.run(
            ["bash", "-c", f"{command} {tail}"], capture_output=True, text=True, check=False
        )
        assert done.returncode in {1, 2}
        assert "Traceback" not in done.stderr
        assert done.stderr


def test_any_terminal_can_show_any_id(files, capsys):
    (files / "u.qrels").write_text("zo\u00eb Q0 v 0 1 1\n")
    (files / "u.run").write_text("zo\u00eb Q0 v 0 1 1 1 t\n")
    command = [
        sys.executable,
        "-m",
        "momentrank.cli.main",
        "explain",
        "u.qrels",
        "u.run",
        "zo\u00eb",
    ]
    done = subprocess.run(
        command, capture_output=True, check=False, env={"PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr


def test_no_id_steers_the_terminal(files, capsys):
    """Ids may contain anything: an escape sequence, or a mark that turns the text around."""
    (files / "u.qrels").write_text("q1 Q0 v\x1b[2J 0 1 1\nq1 Q0 w 2 3 1\n")
    (files / "u.run").write_text(
        "q1 Q0 v\u202e 0 1 1 1 t\nq\x1b[31m Q0 w 2 3 1 1 t\nq1 Q0 w 2 3 2 0 t\n"
    )
    command = ("u.qrels", "u.run", "q1", "nDCG(iou=0.5)@10")
    shown = "".join(call(capsys, "explain", *command))
    assert all(text in shown for text in (r"v\x1b[2J", r"v\u202e", r"q\x1b[31m"))
    call(capsys, "explain", *command, "--html", "q1.html")
    shown += (files / "q1.html").read_text()
    shown += "".join(call(capsys, "evaluate", "u.qrels", "no\x1b[31m.run", code=1))
    shown += "".join(call(capsys, "validate", "u.run"))
    assert not {"\x1b", "\u202e"} & set(shown)


def test_explain_shows_what_took_what(files, capsys):
    out = call(capsys, "explain", "test.qrels", "a.run", "q1").out
    first = next(line for line in out.splitlines() if line.startswith("1 "))
    assert first.split() == ["1", "v1", "1.00", "10.00", "#1", "0.900", "4", "yes", "4", "0.7602"]
    by_time = call(capsys, "explain", "test.qrels", "a.run", "q1", "AP(match='overlap')",
                   "--convention", "sh-eval", "--time", "seconds", "-k", "2").out  # fmt: skip
    assert "query q1: AP(match='overlap') = 0.8333 (sh-eval)" in by_time
    assert "2 of the first 2 results" in by_time
    call(capsys, "explain", "test.qrels", "a.run", "q1", "--html", "q1.html")
    assert "rank 1" in (files / "q1.html").read_text()


def test_sh_eval_reads_minutes_and_seconds(files, capsys):
    (files / "me.qrels").write_text(
        "q1 Q0 v1 1.00 2.00 1\nq1 Q0 v1 2.00 2.30 1\nq1 Q0 v2 0.00 0.30 0\n"
    )
    (files / "me.run").write_text(
        "q1 Q0 v1 2.10 2.40 2.10 1 0.9 t\nq1 Q0 v3 0.00 0.10 0.00 2 0.8 t\n"
    )
    scores = {row[0]: row[2] for row in rows(
        call(capsys, "evaluate", "me.qrels", "me.run", "--convention", "sh-eval").out)}  # fmt: skip
    assert scores["convention"] == "sh-eval"
    assert scores["num_rel"] == "1"  # two that touch are one
    assert scores["avglength_rel"] == "90"
    assert scores["map"] == scores["map_tol"] == "1.0000"
    assert "use --convention sh-eval" in call(capsys, "evaluate", "me.qrels", "me.run", "MAP").err
    assert (scores["P_5"], scores["Judged_10"], scores["num_ret_bin"]) == ("0.2000", "0.1000", "2")
    measures = ("VideosRet", "P(match='overlap')@5", "MAiSP")
    out = call(capsys, "evaluate", "me.qrels", "me.run", *measures, "--convention", "sh-eval").out
    assert [row[2] for row in rows(out)[-3:]] == ["2", "0.2000", scores["maisp"]]


def test_sh_eval_reads_negative_levels_as_not_relevant_and_prints_zeros(files, capsys):
    lines = "q1 Q0 v1 1.00 2.00 1\nq1 Q0 v2 0.00 0.30 {}\nq2 Q0 v2 0.00 0.30 {}\n"
    run = "q1 Q0 v1 1.10 1.40 1.10 1 0.9 t\nq1 Q0 v2 0.10 0.40 0.10 2 0.8 t\n"
    for name, text in [("me.run", run), ("other.run", run.replace("v", "w"))]:
        (files / name).write_text(text)
    printed = []
    for level in (-1, 0):
        (files / "me.qrels").write_text(lines.format(level, level))
        result = call(capsys, "evaluate", "me.qrels", "me.run", "--convention", "sh-eval")
        assert ("level -1 counts as 0, not relevant (2 such rows)" in result.err) == (level < 0)
        printed.append(rows(result.out)[5:])
    assert printed[0] == printed[1]
    (files / "me.qrels").write_text(lines.format(-1, 0))
    call(capsys, "evaluate", "me.qrels", "me.run", "R@1,0.5", code=1)
    other = call(capsys, "evaluate", "me.qrels", "other.run", "--convention", "sh-eval")
    scores = {row[0]: row[2] for row in rows(other.out)}
    assert "no video in common" in other.err
    assert (scores["map"], scores["maisp_0.05"], scores["num_ret"]) == ("0.0000", "0.0000", "2")


def test_videos_that_meet_below_the_cutoff_are_enough_for_a_score(files, capsys):
    (files / "low.run").write_text("q1 Q0 w 0 4 1 0.9 a\nq1 Q0 v1 0 4 2 0.8 a\n")
    out = call(capsys, "evaluate", "test.qrels", "low.run", "R@1,0.5", "--no-judged")
    assert rows(out.out)[-1][-1] == "0.0000"
    assert out.err.count("queries in the qrels but not in the run: 1 (q2)") == 1
    (files / "none.run").write_text("q1 Q0 w 0 4 1 0.9 a\nq1 Q0 w2 0 4 2 0.8 a\n")
    err = call(capsys, "evaluate", "test.qrels", "none.run", "R@1,0.5", code=1).err
    assert "no video in common" in err


@pytest.mark.integration
def test_the_installed_command_answers_and_ends_quietly_in_a_closed_pipe(files):
    command = [sys.executable, "-m", "momentrank.cli.main"]
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert all(
        verb in done.stdout for verb in ("evaluate", "compare", "explain", "validate", "convert")
    )
    evaluate = " ".join([*command, "evaluate", "-q", "test.qrels", "a.run"])
    piped = subprocess.run(
        ["bash", "-c", f"{evaluate} | true"], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in piped.stderr


def test_evaluating_loads_only_what_it_needs(files, repository):
    code = "import sys; from momentrank.cli.main import main; main(sys.argv[1:]);"
    code += "sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", "test.qrels", "a.run"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repository)},
    )
    others = {"compare", "convert", "explain", "validate", "page"}
    slow = {
        "numpy.ma",
        "pandas",
        "scipy",
        "ir_measures",
        "momentrank.formats.write",
        "statistics",
        "shutil",
    }
    assert not (slow | {f"momentrank.cli.{name}" for name in others}) & set(done.stderr.split())


NUMBER = query_number("q1")


@pytest.mark.parametrize("name", ["test.qrels", "val.json"])
def test_a_run_by_the_numbers_of_the_json_is_scored_as_by_the_own_ids(files, capsys, name):
    """What a model predicts that was trained on a release's JSON, which has integers for ids."""
    moment = {"video_name": "v1", "timestamp": [0, 10], "relevance": 4}
    record = {"query_id": NUMBER, "query_key": "q1", "query": "?", "relevant_moment": [moment]}
    (files / "val.json").write_text(json.dumps([record]))
    predictions = [["v1", 1, 10, 0.9], ["v2", 5, 9, 0.8], ["v1", 19, 30, 0.7]]
    for path, query in (("own.json", "q1"), ("numbers.json", NUMBER)):
        (files / path).write_text(json.dumps([{"query_id": query, "predictions": predictions}]))
    own, numbers = (
        call(capsys, "evaluate", name, path, "-q", MEASURE) for path in ("own.json", "numbers.json")
    )
    assert own.out == numbers.out
    assert f"{MEASURE}\tq1\t0" in own.out.replace("1.0000", "0")
    assert own.err.replace("own.json", "numbers.json") == numbers.err
    explanation = call(capsys, "explain", name, "numbers.json", str(NUMBER)).out
    assert explanation == call(capsys, "explain", name, "own.json", "q1").out


def test_a_query_by_its_id_and_by_its_number_too_is_refused(files, capsys):
    twice = [{"query_id": query, "predictions": []} for query in ("q1", NUMBER)]
    (files / "twice.json").write_text(json.dumps(twice))
    err = call(capsys, "evaluate", "test.qrels", "twice.json", code=1).err
    assert f"twice.json: the run has the query 'q1' twice, also as its number {NUMBER}" in err


def test_a_query_key_of_others_is_no_id(files, capsys):
    moment = {"video_name": "v1", "timestamp": [0, 10], "relevance": 4}
    records = [{"query_id": 7, "query_key": "q1", "query": "?", "relevant_moment": [moment]}]
    (files / "other.json").write_text(json.dumps(records))
    (files / "seven.json").write_text(
        json.dumps([{"query_id": 7, "predictions": [["v1", 0, 1, 1]]}])
    )
    assert not call(capsys, "evaluate", "other.json", "seven.json", "--convention", "paper").err
