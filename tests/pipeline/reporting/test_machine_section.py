"""The machine judge on the pages: its verdict and tables, and second looks for the lead alone."""

import contextlib
import html
import re

import pandas as pd
import pytest
import small_collection

from annotation import calibration, consensus
from annotation.machine import calibrate, second_looks
from annotation.machine.verdicts import Verdict
from pipeline.core import csv_files, tables
from pipeline.pages.machine import calibration as section


def judge(folder, levels, least=100, **columns):
    """Write what a machine says of the small collection's pairs, and hold it against people's."""
    with contextlib.chdir(folder):
        pairs = tables.PAIRS.read()[["query_id", "moment_id", "query_sha", "clip_sha"]]
        rows = pairs.assign(level=levels, expected=None, reason=None, remark="A door opens.")
        rows = rows.assign(model="a-model", prompt="p", guideline="1", frames=8, repeat=0)
        rows.loc[rows["level"].isna(), "reason"] = "refused"
        tables.MACHINE_JUDGMENTS.write(rows.assign(**columns)[tables.MACHINE_JUDGMENTS.columns])
        path = folder / "params.yaml"
        path.write_text(path.read_text().replace("min_pairs: 100 ", f"min_pairs: {least} "))
        calibration.main()
    return small_collection.pages(folder)


def strip_tags(page):
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", page)).split())


def read_section(page):
    return strip_tags(page.partition('<section id="machine"')[2].partition("</section>")[0])


def test_without_a_machine_the_section_says_so(small):
    public, own = small_collection.pages(small)
    assert "The machine has no levels" in read_section(public)
    assert "0 pairs, in random order" in strip_tags(own)


def test_the_section_shows_verdict_failures_and_tables(copied):
    public, _ = judge(copied, [3, 2, 1, None, None], least=2)
    text = read_section(public)
    assert "Fails too often: 40.0% of 5 answers have no level" in text
    assert "Of 5 answers on pairs that people were shown, 3 have a level." in text
    assert "The others have none (refused: 2)." in text
    assert "enters neither the consensus nor people\u2019s qrels" in text
    for title in ("The machine beside people", "Levels by people and by the machine"):
        assert title in text
    path = copied / "datasets/report/tables/levels-by-people-and-by-the-machine.csv"
    assert pd.read_csv(path).iloc[3].tolist() == ["Level 3", 0, 0, 0, 1, 0]


SURE = {"levels": [3, 2, 1, 4, 4], "expected": [3.0, 2.0, 1.0, 3.9, 4.0]}
"""A machine whose fourth level is far from people's."""


@pytest.fixture
def faultless(monkeypatch):
    """Find no fault in any machine."""
    good = [Verdict("good", "No fault was found.")]
    monkeypatch.setattr(calibrate, "judge", lambda *_, **__: good)


def read_looks(own):
    return own.partition('<section aria-labelledby="h-looks"')[2]


def test_second_looks_are_on_the_lead_s_page_alone_and_blind_until_decided(copied, faultless):
    public, own = judge(copied, **SURE)
    text = strip_tags(read_looks(own))
    assert "2 pairs, in random order" in text
    assert "adjudicate --second-looks" in text
    assert read_looks(own).count('<td colspan="5">open</td>') == 2
    for told in ("A door opens.", "(expected 3.9)", "2 doubted 0"):
        assert told not in text
    assert '<video class="clip" src="../clips/m2.mp4"' in read_looks(own)
    assert "A door opens." not in public
    assert "Annotators beside the machine" in strip_tags(own)
    assert "Annotators beside the machine" not in public
    assert "Pairs for a second look, on the lead\u2019s page: 2." in read_section(public)
    with contextlib.chdir(copied):
        rows = tables.PAIRS.read().assign(annotator=9, level=2, reason=None, seconds=3.0)
        rows = rows.assign(submitted_at=pd.Timestamp("2026-11-23", tz="UTC"), guideline="1")
        rows["origin"] = rows["pair_id"].astype(str)
        decided = rows[tables.ADJUDICATIONS.columns].iloc[3:4]
        tables.ADJUDICATIONS.write(tables.ADJUDICATIONS.check(decided))
        consensus.main()
    public, own = judge(copied, **SURE)
    assert "2 doubted 0 (0 0) 4 (expected 3.9) A door opens." in strip_tags(read_looks(own))
    assert "1 of 1 doubted pairs changed (mean change +2.00)" in read_section(public)


def test_of_a_model_shown_captions_it_says_that_no_clip_was_looked_at(copied, faultless):
    public, own = judge(copied, **SURE, frames=0)
    assert "It was shown captions instead of pictures" in read_section(public)
    assert "0 pairs, in random order" in strip_tags(own)
    assert "No second looks: only a judge that looks at clips" in strip_tags(read_looks(own))


def test_hostile_remarks_and_names_are_text(copied, faultless):
    harm = small_collection.HOSTILE
    judge(copied, **SURE)
    path = copied / second_looks.FILE
    looks = csv_files.read_csv(path).assign(decided="4", remark=harm, machine="4")
    csv_files.write_csv(path, looks)
    public, own = small_collection.pages(copied)
    assert "alert(" in read_looks(own)
    for page in (public, own):
        assert "<script>" not in page
        assert "<img src=http" not in page


def test_every_sentence_has_its_numbers():
    figures = {
        "answers": {"asked": 10, "with_level": 9, "reasons": {"cut": 1}, "stale": 2},
        "standing": {
            "annotators": 4,
            "below_machine": 3,
            "lowest": 0.5,
            "median": 0.6,
            "highest": 0.7,
            "machine_mean": 0.65,
        },
        "alternative_test": {
            "epsilon": 0.15,
            "passed": True,
            "why": None,
            "counted": 4,
            "winning_rate": 0.75,
            "advantage": 0.9,
            "published": {"passed": False, "winning_rate": 0.25},
        },
        "control": {"beyond": {"value": 0.5, "low": 0.4, "high": 0.6}},
        "audit": {
            "machine": "owl",
            "widths": [
                {"level": level, "width_ratio": ratio}
                for level, ratio in ((1, 0.8), (2, 1.1), (3, None))
            ],
        },
        "second_looks": 7,
        "decided_again": {
            "doubted": {"decided": 2, "changed": 2, "mean_change": None},  # unjudgeable
            "control": {"decided": 4, "changed": 3, "mean_change": -0.25},
        },
    }
    text = " ".join(section.describe(figures))
    for part in ("9 have a level", "cut: 1", "2 more are for an older", "3 of 4 annotators",
                 "0.50 to 0.70", "0.65 on average", "yes", "75\u202f%",
                 "others: no, the better alternative to 25\u202f%.", "0.50 (0.40 to 0.60)",
                 "lead\u2019s page: 7",
                 "2 of 2 doubted pairs changed;", "changed (mean change -0.25)",
                 "the levels of owl. Width of its intervals",
                 "outside the pool", "0.80 (level 1 or above), 1.10 (level 2 or above)."
                 ):  # fmt: skip
        assert part in text
    rows = [{"level": 1, "rank": 20, "width_ratio": None}]
    text = " ".join(section.describe(figures | {"audit": {"machine": "owl", "widths": rows}}))
    assert "the levels of owl; too little of it is judged" in text
    text = " ".join(section.describe(figures | {"audit": None}))
    assert "No audit was drawn using a machine\u2019s levels." in text
    unsure = figures["alternative_test"] | {"passed": None, "why": "2 annotators are too few"}
    text = " ".join(section.describe(figures | {"alternative_test": unsure}))
    assert "gives no verdict: 2 annotators are too few." in text
