"""The stage `judge`: which pairs, which rows, and that a failure is never a level."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from judged_pairs import QUERIES, make_people_levels, write_levels

from pipeline import judge as stage
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables
from pipeline.core.table import TableError
from pipeline.judges.base import Answer
from pipeline.judges.judged_pairs import select_levels_of_people


def run_judge():
    stage.main()
    return tables.MACHINE_JUDGMENTS.read()


def metrics():
    return json.loads((tables.WORK / "metrics/judge.json").read_text())


def test_candidates_extra_pairs_and_the_pool_are_judged_once_but_without_a_clip(folder):
    table = run_judge()
    pairs = [f"{row.query_id} {row.moment_id}" for row in table.itertuples()]
    own = [f"{query} m{n}" for query in QUERIES for n in (*range(8), 10)]
    assert sorted(pairs) == sorted([*own, "v1 m8", "t1 m9"])
    assert pairs == sorted(pairs)
    assert (table["level"].notna() & table["reason"].isna()).all()
    assert set(table["query_sha"]) == {query_sha(f"Text of {query}.") for query in QUERIES}
    assert (table["clip_sha"] == "c-" + table["moment_id"]).all()
    figures = metrics()
    assert (figures["pairs"], figures["with_level"], figures["pairs_without_clip"]) == (38, 38, 4)
    assert figures["judge"]["fitted_on_queries"] == 3


def test_a_level_of_another_text_or_clip_teaches_nothing(folder):
    levels = make_people_levels()
    write_levels(levels, v2="an older text")
    table = run_judge()
    assert metrics()["judge"]["fitted_on_queries"] == 2
    write_levels({key: level for key, level in levels.items() if key[0] != "v2"})
    pd.testing.assert_frame_equal(run_judge(), table)


def test_before_people_judge_rows_have_a_reason_and_it_is_said(folder, capsys):
    write_levels({})
    table = run_judge()
    assert set(table["reason"]) == {"no-judgments"}
    assert "too few validation queries" in capsys.readouterr().err


def test_no_backend_no_rows(folder, capsys):
    text = Path("params.yaml").read_text()
    Path("params.yaml").write_text(text.replace("backend: similarity", "backend: none"))
    assert run_judge().empty
    assert "judge.backend is none" in capsys.readouterr().err


class Odd:
    """A judge that answers what a test says."""

    model, prompt, guideline = "odd", "p@1", "3"

    def __init__(self, *answers):
        self.answers = answers

    def judge(self, pairs):
        for pair in pairs:
            for repeat, (level, reason) in enumerate(self.answers):
                yield Answer(pair.query_id, pair.moment_id, repeat, level, None, reason, "!", 4)

    def metrics(self):
        return {}


def read_shown():
    source = stage.read_tables(stage.load())
    return stage.join_shown(stage.select_pairs(source), source)


def test_every_repeat_is_a_row_that_names_model_prompt_and_guideline(folder):
    table = stage.judge(read_shown(), Odd((3, None), (None, "refused"), (0, None)))
    assert table["repeat"].tolist() == [0, 1, 2] * 38
    assert table["level"].tolist() == [3, pd.NA, 0] * 38
    assert set(table["reason"].dropna()) == {"refused"}
    names = table[["model", "prompt", "guideline", "frames", "remark"]].drop_duplicates()
    assert names.to_numpy().tolist() == [["odd", "p@1", "3", 4, "!"]]


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ((None, None), "must have a level or a reason why it has none, and not both"),
        ((2, "refused"), "must have a level or a reason why it has none, and not both"),
        ((5, None), "5 is not between 0 and 4"),
        ((None, "tired"), "'tired' is not one of refused, malformed"),
    ],
)
def test_an_answer_has_either_a_level_or_a_known_reason(folder, answer, complaint):
    with pytest.raises(TableError, match=complaint):
        stage.judge(read_shown(), Odd(answer))


def test_an_answer_that_is_missing_or_about_another_pair_stops_the_stage(folder):
    pairs = read_shown()

    class Silent(Odd):
        def judge(self, pairs):
            return super().judge(pairs[1:])

    with pytest.raises(stage.JudgeError, match="for t1 m0"):
        stage.judge(pairs, Silent((3, None)))
    with pytest.raises(stage.JudgeError, match="was not asked about"):
        stage.judge(pairs[1:], Fixed(Odd((3, None)).judge(stage.list_pairs(pairs))))


class Fixed(Odd):
    """A judge whose answers are given."""

    def judge(self, pairs):
        return iter(self.answers[0])


def test_levels_of_people_are_those_of_what_is_shown_now(folder):
    pairs = read_shown()
    levels = select_levels_of_people(tables.CONSENSUS.read(), tables.PAIRS.read(), pairs)
    assert len(levels) == 32
    other_pairs = pairs.assign(
        clip_sha=np.where(pairs["moment_id"] == "m3", "new", pairs["clip_sha"])
    )
    fresh = select_levels_of_people(tables.CONSENSUS.read(), tables.PAIRS.read(), other_pairs)
    assert set(fresh["moment_id"]) == set(levels["moment_id"]) - {"m3"}
