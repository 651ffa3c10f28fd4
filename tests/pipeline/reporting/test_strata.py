"""Every table with a mean over queries or pairs has it by stratum, if there are several."""

import contextlib
import csv
import shutil

import pandas as pd
import pytest

from annotation import agreement, consensus
from momentrank.functions import evaluate
from pipeline import reference_runs, report
from pipeline.core import cli, files, tables
from pipeline.pages import strata_section

STRATA = {"m1": "caption", "m2": "changed", "m3": "vague"}
ORIGINS = {"caption": "corpus", "changed": "model", "vague": "model"}


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    """Return the small collection with a stratum for each judged query, and its report."""
    copied = shutil.copytree(small, tmp_path_factory.mktemp("strata") / "small")
    with contextlib.chdir(copied):
        for table in (tables.QUERIES, tables.FROZEN_QUERIES):
            queries = table.read()
            queries["stratum"] = queries["query_id"].map(STRATA).fillna("caption")
            queries["origin"] = queries["stratum"].map(ORIGINS)
            table.write(table.check(queries))
        for stage in (consensus, agreement, reference_runs, report):
            stage.main()
    return copied


@pytest.fixture(scope="module")
def read(folder):
    """Return a function that reads a table of the report as rows."""
    tables_of = folder / report.REPORT / "tables"
    return lambda name: list(csv.reader((tables_of / f"{name}.csv").read_text().splitlines()))


def read_metrics(folder, name):
    return files.read_json(folder / cli.METRICS / f"{name}.json")


def test_queries_and_means_have_a_row_or_column_for_each_stratum(read):
    rows = {row[0]: row[1:4] for row in read("table-1")}
    assert rows["Stratum caption"] == rows["Validation"], "m1 is the one of validation"
    assert rows["Stratum changed"] == ["1", "1", "2"]
    head, *means = read("table-4")
    assert head[-2:] == ["caption", "changed"]
    by_name = {name: cells for name, *cells in means}
    assert float(by_name["Relevant candidates of a query"][-2]) == 2
    assert float(by_name["Relevant candidates of a query"][-1]) == 0


def test_levels_and_negatives_are_counted_by_stratum(read, folder):
    head, *rows = read("strata")
    told = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["Stratum"] for row in told] == ["caption", "changed"], "m3 has no level"
    assert [(row["Queries"], row["Negative"]) for row in told] == [("1", "0"), ("1", "1")]
    assert [float(row["Mean level"]) for row in told] == [2.5, 0]
    page = (folder / report.REPORT / "index.html").read_text()
    said = (
        "`caption`, 1 queries (captions of the corpus); `changed`, 1 queries (made from captions)"
    )
    assert said in page


def test_the_pool_of_each_stratum_has_its_yield(read):
    rows = {row[0]: [float(cell) for cell in row[1:3]] for row in read("yield")[1:]}
    assert rows["Pool of stratum caption"] == [2, 4]
    assert rows["Pool of stratum changed"] == [2, 6]
    assert sum(rows[f"Pool of stratum {name}"][1] for name in ("caption", "changed")) == 10
    found = {row[0]: row[2] for row in read("leave-one-out-by-stratum")[1:]}
    assert found == {"caption": "2", "changed": "0"}


def test_agreement_is_that_of_the_votes_of_a_stratum_alone(folder):
    by_stratum = read_metrics(folder, "agreement")["by_stratum"]
    assert {name: own["pairs"] for name, own in by_stratum.items()} == {
        "caption": 2, "changed": 2, "vague": 0,
    }  # fmt: skip
    assert [by_stratum[name]["exact"] for name in ("caption", "changed")] == [0.5, 0.5]
    assert [by_stratum[name]["within_1"] for name in ("caption", "changed")] == [1, 0.5]
    released = read_metrics(folder, "consensus")["agreement"]["by_stratum"]
    assert released["changed"]["within_1"] == 0.5


def test_a_run_is_scored_on_the_queries_of_a_stratum_alone(folder, read):
    [val, test] = (read_metrics(folder, "reference_runs")[split] for split in ("val", "test"))
    assert val["strata"]["caption"]["runs"] == val["runs"]
    assert val["strata"]["changed"]["judged_queries"] == 0
    assert test["strata"]["changed"]["judged_queries"] == 1
    assert test["strata"]["changed"]["runs"]["ideal"] is None, "nothing can be gained"
    [row] = [
        row
        for row in read("ndcg-iou-0-5-20-by-stratum-validation")
        if row[0] == "Ideal order, exact boundaries"
    ]
    assert row[1:] == ["1.0", "", ""]


def test_strata_of_a_split_are_scored_apart():
    names = ("m1", "m2")
    segments = [("v", 0.0, 2.0), ("v", 5.0, 9.0)]
    qrels = pd.DataFrame(
        [
            (name, *place, level)
            for name in names
            for place, level in zip(segments, (4, 1), strict=True)
        ],
        columns=["query_id", *reference_runs.SEGMENT, "level"],
    )
    best = reference_runs.ideal(qrels)
    swapped = best.assign(rank=best["rank"].where(best["query_id"] == "m1", 3 - best["rank"]))
    queries = pd.DataFrame({"query_id": names, "stratum": ["caption", "changed"]})
    told = reference_runs.by_stratum({"run": swapped}, qrels, queries, ["caption", "changed"])
    measure = reference_runs.GAINS[0]
    own = swapped[swapped["query_id"] == "m2"].assign(score=-swapped["rank"])
    alone = evaluate(qrels[qrels["query_id"] == "m2"], own, [measure])
    assert told["caption"]["runs"]["run"][measure] == 1
    assert told["changed"]["runs"]["run"][measure] == pytest.approx(alone[measure], abs=1e-6)


def test_what_an_audit_missed_is_shown_by_stratum():
    part = {"share": 0.25, "low": 0.1, "high": 0.5, "queries": 3}
    unknown = dict.fromkeys(("share", "low", "high")) | {"queries": 1}
    missed = part | {"by_stratum": {"caption": part, "changed": unknown}}
    [grid] = strata_section.missed_grids(missed)
    assert [row[0] for row in grid.rows] == ["caption", "changed"]
    assert grid.rows[0][1].value == 0.25
    assert grid.rows[1][1] == "\u2013"
    assert strata_section.missed_grids(part) == strata_section.missed_grids(None) == []


BOUND = {
    "batch": 20, "depth": 1000, "missed": 0.3, "missed_anywhere": None, "found": 7, "later": 1,
    "negative": 40, "at_most": 0.125, "at_most_anywhere": None, "unknown": None,
}  # fmt: skip


def test_the_bound_is_said_with_what_it_rests_on_or_not_at_all():
    parts = {
        "changed": BOUND | {"negative": 30, "at_most": 0.1},
        "vague": BOUND | {"at_most": None},
    }
    text = strata_section.negatives_text(BOUND | {"by_stratum": parts})
    assert "at most 12.5% of the negatives" in text
    assert "among the 1,000 most similar" in text
    assert "changed 10.0% of 30" in text
    assert "if it ranks as others do" in text
    assert "among all (" not in text
    assert "all" in strata_section.negatives_text(
        BOUND | {"by_stratum": {}, "at_most_anywhere": 0.9}
    )
    unknown = BOUND | {"at_most": None, "unknown": "no audit", "by_stratum": {}}
    assert "%" not in strata_section.negatives_text(unknown)
    assert strata_section.negatives_text({}) == ""
