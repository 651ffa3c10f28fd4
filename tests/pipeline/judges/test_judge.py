"""The stage `judge`: which pairs, which rows, and that a failure is never a level."""

import contextlib
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline import judge as stage
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables
from pipeline.core.table import TableError
from pipeline.judges.base import Answer
from pipeline.judges.pairs import select_levels_of_people

REPOSITORY = Path(__file__).parents[3]
MOMENTS = [f"m{number}" for number in range(12)]
QUERIES = {"v1": "val", "v2": "val", "v3": "val", "t1": "test"}


def write(table, rows):
    table.write(table.check(pd.DataFrame(rows, columns=table.columns)))


def similarity(query, number):
    return round(0.9 - 0.05 * number - 0.01 * list(QUERIES).index(query), 6)


def ranked(query, numbers, *more):
    return [(query, MOMENTS[n], n + 1, similarity(query, n), *more) for n in numbers]


def level_of(number):
    return max(0, 4 - number // 2)


@pytest.fixture
def folder(tmp_path):
    """Return a checkout in which people have judged the candidates of each query."""
    shutil.copy(REPOSITORY / "params.yaml", tmp_path)
    with contextlib.chdir(tmp_path):
        write(tables.QUERIES, [(query, f"Text of {query}.", at) for query, at in QUERIES.items()])
        write(tables.MOMENTS, [(m, f"v-{m}", 1.0, 3.5, "He waves.", "v") for m in MOMENTS])
        write(tables.CAPTIONS, [
            (m, f"Caption {m}.", "rules", None, None, 0, 0.9, 0.0, "passed") for m in MOMENTS
        ])  # fmt: skip
        clips = [(m, f"c-{m}.mp4", f"c-{m}", 2.5) for m in MOMENTS if m != "m11"]
        write(tables.CLIPS, clips)
        write(tables.CANDIDATES, [row for q in QUERIES for row in ranked(q, range(8), 1)])
        write(tables.MACHINE_POOL, [row for q in QUERIES for row in ranked(q, (10, 11))])
        write(tables.AUDIT, ranked("v1", (0, 8), "top"))
        write(tables.TOPUP, ranked("t1", (9,), "run"))
        write_levels({(query, n): level_of(n) for query in QUERIES for n in range(8)})
        yield tmp_path


def write_levels(levels, **shown):
    """Write what people came to, and the ledger of what they were shown."""
    sha = {query: query_sha(f"Text of {query}.") for query in QUERIES} | shown
    write(tables.PAIRS, [
        (at, q, MOMENTS[n], f"v-{MOMENTS[n]}", 1.0, 3.5, 60.0, "A man waves.", 0.5, n + 1, sha[q],
         f"c-{MOMENTS[n]}")
        for at, (q, n) in enumerate(levels)
    ])  # fmt: skip
    write(tables.CONSENSUS, [
        (q, MOMENTS[n], level, float(level), [level, level], "two", level, float(level), level,
         "two")
        for (q, n), level in levels.items()
    ])  # fmt: skip


def judged():
    stage.main()
    return tables.MACHINE_JUDGMENTS.read()


def metrics():
    return json.loads((tables.WORK / "metrics/judge.json").read_text())


def test_candidates_extra_pairs_and_the_pool_are_judged_once_but_without_a_clip(folder):
    table = judged()
    pairs = [f"{row.query_id} {row.moment_id}" for row in table.itertuples()]
    own = [f"{query} m{n}" for query in QUERIES for n in (*range(8), 10)]
    assert sorted(pairs) == sorted([*own, "v1 m8", "t1 m9"])
    assert pairs == sorted(pairs)
    assert (table["level"].notna() & table["reason"].isna()).all()
    assert set(table["query_sha"]) == {query_sha(f"Text of {query}.") for query in QUERIES}
    assert (table["clip_sha"] == "c-" + table["moment_id"]).all()
    told = metrics()
    assert (told["pairs"], told["with_level"], told["pairs_without_clip"]) == (38, 38, 4)
    assert told["judge"]["fitted_on_queries"] == 3


def test_the_same_inputs_give_the_same_bytes(folder):
    judged()
    before = tables.MACHINE_JUDGMENTS.path.read_bytes()
    judged()
    assert tables.MACHINE_JUDGMENTS.path.read_bytes() == before


def test_a_level_of_another_text_or_clip_teaches_nothing(folder):
    levels = {(query, n): level_of(n) for query in QUERIES for n in range(8)}
    write_levels(levels, v2="an older text")
    table = judged()
    assert metrics()["judge"]["fitted_on_queries"] == 2
    write_levels({key: level for key, level in levels.items() if key[0] != "v2"})
    pd.testing.assert_frame_equal(judged(), table)


def test_before_people_judge_rows_have_a_reason_and_it_is_said(folder, capsys):
    write_levels({})
    table = judged()
    assert set(table["reason"]) == {"no-judgments"}
    assert "have not judged enough validation queries" in capsys.readouterr().err


def test_no_backend_no_rows(folder, capsys):
    text = Path("params.yaml").read_text()
    Path("params.yaml").write_text(text.replace("backend: similarity", "backend: none"))
    assert judged().empty
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

    def figures(self):
        return {}


def shown_now():
    source = stage.read_tables()
    return stage.join_shown(stage.select_pairs(source), source)


def test_every_repeat_is_a_row_that_names_model_prompt_and_guideline(folder):
    table = stage.judge(shown_now(), Odd((3, None), (None, "refused"), (0, None)))
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
        stage.judge(shown_now(), Odd(answer))


def test_an_answer_that_is_missing_or_about_another_pair_stops_the_stage(folder):
    shown = shown_now()

    class Silent(Odd):
        def judge(self, pairs):
            return super().judge(pairs[1:])

    with pytest.raises(stage.JudgeError, match="for t1 m0"):
        stage.judge(shown, Silent((3, None)))
    with pytest.raises(stage.JudgeError, match="was not asked about"):
        stage.judge(shown[1:], Fixed(Odd((3, None)).judge(stage.list_pairs(shown))))


class Fixed(Odd):
    """A judge whose answers are given."""

    def judge(self, pairs):
        return iter(self.answers[0])


def test_levels_of_people_are_those_of_what_is_shown_now(folder):
    shown = shown_now()
    known = select_levels_of_people(tables.CONSENSUS.read(), tables.PAIRS.read(), shown)
    assert len(known) == 32
    other = shown.assign(clip_sha=np.where(shown["moment_id"] == "m3", "new", shown["clip_sha"]))
    fresh = select_levels_of_people(tables.CONSENSUS.read(), tables.PAIRS.read(), other)
    assert set(fresh["moment_id"]) == set(known["moment_id"]) - {"m3"}
