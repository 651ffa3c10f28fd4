"""The command `compare`: all pairs of runs, and marks of significance."""

import csv
import io
import json
import weakref
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from momentrank.cli import inputs
from momentrank.cli.main import main
from momentrank.significance import holm

MEASURES = ("nDCG(iou=0.5)@10", "AxIoU@5")
QUERIES = 40


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Go to a folder with qrels, a good run, its copy, and a bad one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    spans = {f"q{n}": (start := rng.uniform(0, 50), start + rng.uniform(5, 9))
             for n in range(QUERIES)}  # fmt: skip
    write = {name: [] for name in ("test.qrels", "good.run", "copy.run", "bad_one.run")}
    for n, (query, (start, end)) in enumerate(spans.items()):
        write["test.qrels"].append(f"{query} Q0 v {start} {end} {1 + n % 4}")
        good = f"{query} Q0 v {start + rng.uniform(0, 2)} {end} 1 0.9 t"
        write["good.run"].append(good)
        write["copy.run"].append(good)
        write["bad_one.run"].append(
            f"{query} Q0 {'w' if n % 5 else 'v'} {start} {end + rng.uniform(0, 1)} 1 0.9 t"
        )
    for name, lines in write.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


RUNS = ("good.run", "copy.run", "bad_one.run")


def out(capsys, *arguments, code=0):
    assert main(["compare", "test.qrels", *arguments]) == code
    return capsys.readouterr()


def test_all_pairs_and_measures_are_one_family(files, capsys):
    content = json.loads(out(capsys, *RUNS, *MEASURES, "--json").out)
    pairs = content["pairs"]
    assert [(row["measure"], row["first"], row["second"]) for row in pairs] == [
        (measure, *pair) for measure in MEASURES for pair in combinations(RUNS, 2)
    ]
    for test in ("randomisation", "t", "wilcoxon"):
        p_values = [row[f"p_{test}"] for row in pairs]
        assert [row[f"p_{test}_holm"] for row in pairs] == pytest.approx(holm(p_values))
    copies = pairs[0]
    assert (copies["ties"], copies["p_randomisation"], copies["p_t"]) == (QUERIES, 1.0, 1.0)
    for row in pairs:
        means = content["means"]
        assert row["difference"] == pytest.approx(
            means[row["second"]][row["measure"]] - means[row["first"]][row["measure"]]
        )
    assert "Judged(iou=0.5)@10" in content["means"]["good.run"], "shown, but not tested"


def test_the_p_values_are_scipys_on_the_values_of_queries(files, capsys):
    pairs = json.loads(out(capsys, *RUNS, "AxIoU@5", "--json").out)["pairs"]
    assert main(["evaluate", "test.qrels", *RUNS, "AxIoU@5", "-q", "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)
    values = {run: np.array([v["AxIoU@5"] for v in metrics[run]["queries"].values()])
              for run in RUNS}  # fmt: skip
    for row in pairs[1:]:
        first, second = values[row["first"]], values[row["second"]]
        assert row["p_t"] == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=1e-10)
        assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(first, second).pvalue, abs=1e-10)


def test_a_run_is_marked_with_those_that_it_is_significantly_better_than(files, capsys):
    table = out(capsys, *RUNS, "AxIoU@5").out
    cells = [line.split() for line in table.splitlines() if "_one" in line or "y.run" in line]
    assert cells[0][:3] == ["b", "copy.run", cells[0][2]]
    assert cells[0][3:] == ["*", "^c"], "as good as its copy, better than the bad one"
    assert cells[1][3:] == []
    strict = out(capsys, *RUNS, "AxIoU@5", "--confidence", "0.99999").out
    assert "^c" not in strict


def test_latex_and_markdown_have_marks_too(files, capsys):
    table = out(capsys, *RUNS, "AxIoU@5", "--format", "latex", "--percent").out
    assert r"\textbf{" in table
    assert "}$^{c}$" in table
    assert r"bad\_one.run" in table
    assert "**<sup>c</sup>" in out(capsys, *RUNS, "AxIoU@5", "--format", "markdown").out


def test_a_baseline_leaves_the_other_pairs_out(files, capsys):
    table = out(capsys, *RUNS, "AxIoU@5", "--baseline", "bad_one.run", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["first"], row["second"]) for row in rows] == [
        ("bad_one.run", "good.run"),
        ("bad_one.run", "copy.run"),
    ]
    assert float(rows[0]["difference"]) > 0
    assert rows[0]["convention"] == "paper"


def test_percent_scales_means_differences_and_intervals(files, capsys):
    plain, percent = (
        json.loads(out(capsys, *RUNS, "AxIoU@5", "--json", *more).out)
        for more in ([], ["--percent"])
    )
    for name in ("difference", "low", "high"):
        assert percent["pairs"][1][name] == pytest.approx(100 * plain["pairs"][1][name])
    assert percent["pairs"][1]["effect"] == plain["pairs"][1]["effect"]
    run = plain["means"]["good.run"]
    assert percent["means"]["good.run"]["AxIoU@5"] == pytest.approx(100 * run["AxIoU@5"])


def test_different_queries_cannot_be_paired(files, capsys):
    (files / "short.run").write_text((files / "good.run").read_text().split("\n")[0] + "\n")
    err = out(capsys, "good.run", "short.run", *MEASURES, "--convention", "tvr-ranking", code=2).err
    assert "the runs have different queries" in err


@pytest.mark.parametrize("names", [["good.run", "AxIoU@5"], ["good.run", "copy.run"]])
def test_two_runs_and_a_measure_are_needed(files, capsys, names):
    assert "are needed" in out(capsys, *names, code=2).err


def test_a_difference_within_the_noise_of_the_labels_is_told(files, capsys):
    """bad_one is far worse, shifted differs by hairs, and no noise parts copy from good."""
    lines = (files / "good.run").read_text().splitlines()
    rows = [line.split() for line in lines]
    shifted = [" ".join([*row[:4], str(float(row[4]) + 0.01), *row[5:]]) for row in rows]
    (files / "shifted.run").write_text("\n".join(shifted) + "\n")
    chosen = ["good.run", "copy.run", "shifted.run", "bad_one.run", "AxIoU@5", "--label-noise", "1"]
    output = out(capsys, *chosen)
    assert "# label noise: boundaries (variance 1 s^2), 100 noisy truths, seed 2024" in output.out
    pairs = json.loads(out(capsys, *chosen, "--json").out)["pairs"]
    within = {(row["first"], row["second"]): row["within_noise"] for row in pairs}
    assert within == {
        (first, second): "shifted.run" in (first, second) and second != "bad_one.run"
        for first, second in combinations(chosen[:4], 2)
    }
    for row in pairs:
        assert row["noise_low"] <= row["noise_high"]
    assert pairs == json.loads(out(capsys, *chosen, "--json").out)["pairs"], "by the seed"
    plain = json.loads(out(capsys, *chosen[:-2], "--json").out)["pairs"]
    assert "within_noise" not in plain[0]
    assert "noise_low" in out(capsys, *chosen, "--format", "csv").out.splitlines()[0]


def test_levels_are_drawn_again_for_a_difference_of_ndcg(files, capsys):
    rows = [line.split() for line in (files / "test.qrels").read_text().splitlines()]
    pairs = [f"{n},{row[0]},v,{row[3]},{row[4]}" for n, row in enumerate(rows)]
    (files / "pairs.csv").write_text("pair_id,query_id,video_name,start,end\n" + "\n".join(pairs))
    votes = [f"{n},{who},{row[5]}" for n, row in enumerate(rows) for who in (1, 2)]
    (files / "raw.csv").write_text("pair_id,worker,relevance\n" + "\n".join(votes))
    chosen = [*RUNS, "nDCG(iou=0.5)@10", "--judgments", "raw.csv", "--json"]
    output = out(capsys, *chosen)
    assert f"votes drawn again: {QUERIES}; with their level kept: 0" in output.err
    for row in json.loads(output.out)["pairs"]:  # two equal votes can't move
        assert row["noise_low"] == pytest.approx(row["difference"])
        assert row["noise_high"] == pytest.approx(row["difference"])


def test_noise_of_what_orders_no_runs_is_refused(files, capsys):
    errors = out(capsys, *RUNS, "NumRel", "--label-noise", "1", code=2).err
    assert errors.splitlines()[-1].startswith("momentrank: NumRel does not order runs")


def test_a_run_is_dropped_when_it_is_scored(files, capsys, monkeypatch):
    starts, load_for = [], inputs.load_for

    def load(*arguments):
        assert sum(reference() is not None for reference in starts) <= 1, "only the run before it"
        [run] = (lists := load_for(*arguments)).values()
        starts.append(weakref.ref(run.start))
        return lists

    monkeypatch.setattr(inputs, "load_for", load)
    out(capsys, *RUNS, "AxIoU@5")
    assert len(starts) == len(RUNS) > 2
