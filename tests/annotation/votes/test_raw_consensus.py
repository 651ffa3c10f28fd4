"""The command on raw judgments: what it reads, its options, and one line for each mistake."""

import builtins
import importlib
import json
import math
from functools import partial
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.votes import crowd, raw, raw_consensus
from annotation.votes.raw_consensus import Options
from momentrank.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore:The .* keyword:DeprecationWarning")

HEAD = "pair_id,worker,relevance\n"
TIMED = "pair_id,worker,relevance,submitted_at,seconds\n"
FOUR_PAIRS = """pair_id,worker,relevance
10,1,3
10,2,4
9,1,0
9,2,4
9,3,0
9,4,4
2,7,1
2,8,3
11,3,0
11,3,0
"""
rows_of_pairs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from([*range(5), None])),
    min_size=1,
    max_size=24,
)


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a raw file, from text or from rows."""

    def _file(content):
        path = tmp_path / "raw.csv"
        if isinstance(content, list):
            content = pd.DataFrame(content, columns=raw.REQUIRED, dtype=object).to_csv(index=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _file


@pytest.fixture
def consensus_command(command):
    """Return a function that runs the command: exit code, stdout, stderr."""
    return partial(command, "annotation.consensus")


def levels(path, **options):
    table = raw_consensus.levels(raw.read(path), **options)
    return dict(zip(table["pair_id"], table["level"].astype(object), strict=True))


def test_it_prints_what_became_of_the_pairs(file, consensus_command, tmp_path):
    out = tmp_path / "levels.csv"
    code, output, errors = consensus_command("--raw", file(FOUR_PAIRS), "--out", out)
    assert (code, errors) == (0, "")
    assert {"pairs: 4", "kept: 2", "discarded: 2"} <= {*output.splitlines()}
    assert "levels: {'0': 1, '1': 0, '2': 0, '3': 0, '4': 1}" in output
    assert out.read_text() == (
        "pair_id,level,mean,scores,outcome\n"
        "2,,,1 3,discarded\n"
        "9,,,0 0 4 4,discarded\n"
        "10,4,3.5,3 4,two\n"
        "11,0,0.0,0 0,two\n"
    )


def test_it_prints_json(file, consensus_command):
    code, output, _ = consensus_command("--raw", file(FOUR_PAIRS), "--json")
    figures = json.loads(output)
    assert (code, figures["pairs"], figures["kept"]) == (0, 4, 2)
    assert (figures["discarded_by_four_votes"], figures["discarded_with_too_few_votes"]) == (1, 1)
    assert consensus_command("--raw", "no.csv")[0] == 1


ROUNDED = {"up": math.ceil, "nearest": round, "exact": float}


@pytest.mark.parametrize("rounding", ROUNDED)
@pytest.mark.parametrize("number", [2, 4])
def test_every_combination_is_rounded_as_asked_and_its_mean_is_kept_beside(file, number, rounding):
    cases = list(product(range(5), repeat=number))
    rows = [(p, w, level) for p, case in enumerate(cases) for w, level in enumerate(case)]
    table = raw_consensus.levels(raw.read(file(rows)), rounding=rounding)
    for row, case in zip(table.itertuples(), cases, strict=True):
        low, high = sorted(case)[number // 2 - 1 : number // 2 + 1]
        mean = (low + high) / 2
        if high - low > 1:
            assert pd.isna(row.level)
        else:
            assert (row.level, row.mean) == (ROUNDED[rounding](mean), mean)


def test_what_one_person_answered_twice_counts_as_two_or_as_one(file):
    path = file([("p", 1, 0), ("p", 2, 4), ("p", 1, 4)])
    both, distinct = (raw.read(path, repeated) for repeated in ("both", "distinct"))
    assert (both.level.tolist(), distinct.level.tolist()) == ([0, 4, 4], [4, 4])
    assert raw_consensus.levels(both)["outcome"].tolist() == ["discarded"]
    assert raw_consensus.levels(distinct)["level"].tolist() == [4]


def test_the_newer_answer_counts_where_times_are_known(file):
    newer, older = "p,1,3,2024-05-02T08:00:00+02:00,2", "p,1,0,2024-05-01T08:00:00Z,3"
    text = f"{TIMED}{newer}\n{older}\np,2,4,2024-05-01T09:00:00Z,4\n"
    votes = raw.read(file(text), "distinct")
    assert (votes.level.tolist(), votes.seconds.tolist()) == ([3, 4], [2, 4])


@pytest.mark.parametrize("number", [0, 1, 3, 5, 6])
def test_another_number_of_levels_is_never_guessed(file, number):
    rows = [("p", worker, 2) for worker in range(number)] or [("p", 1, None)]
    figures = raw_consensus.summarize(raw_consensus.levels(raw.read(file(rows))))
    assert (figures["kept"], figures["discarded_with_too_few_votes"]) == (0, 1)
    assert figures["discarded_by_number_of_votes"] == {str(number): 1}


def test_an_answer_without_a_level_is_no_0(file):
    table = raw_consensus.levels(raw.read(file(HEAD + "a,1,\na,2,\nb,1,\nb,2,3\nb,3,3\n")))
    assert table["outcome"].tolist() == ["unjudgeable", "two"]
    assert table["level"].tolist() == [pd.NA, 3]


@settings(max_examples=20)
@given(rows_of_pairs, st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_annotators_numbers_matter(file, rows, random):
    numbers = random.sample(range(100, 200), 5)
    shuffled = random.sample(
        [(pair, numbers[worker], level) for pair, worker, level in rows], len(rows)
    )
    original, renumbered = (raw_consensus.levels(raw.read(file(each))) for each in (rows, shuffled))
    pd.testing.assert_frame_equal(
        original.astype({"scores": str, "outcome": str}),
        renumbered.astype({"scores": str, "outcome": str}),
    )


def test_ids_are_numbers_where_all_are_and_text_elsewhere(file):
    assert raw.read(file(FOUR_PAIRS)).pairs.tolist() == [2, 9, 10, 11]
    mixed = raw.read(file(HEAD + "9,a,1\n10,b,1\n010,b,1\n"))
    assert mixed.pairs.tolist() == ["010", "10", "9"]
    assert mixed.annotators.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffpair_id,worker,relevance\r\n1,1,2\r\n\r\n1,2,3\r\n",
        '"pair_id","extra\nname","worker","relevance"\n"1","x, ""y""\nz","1","2"\n1,,2,3\n',
        "relevance,worker,pair_id\n2,1,1\n3,2,1\n",
        HEAD + "1,'=a,2\n1,=a,3\n",
    ],
)
def test_forms_of_csv(file, text):
    votes = raw.read(file(text))
    assert (votes.pairs.tolist(), votes.level.tolist()) == ([1], [2, 3])
    assert len(votes.annotators) == (1 if "=a" in text else 2)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ", line 1: column 'pair_id' is missing (found: [])"),
        (HEAD, ": no judgments"),
        ("pair_id,relevance\n1,2\n", ", line 1: column 'worker' is missing"),
        ("pair_id,worker,worker,relevance\n1,1,1,2\n", ", line 1: a column name appears twice"),
        (HEAD + "1,1,2\n\n1,2,5\n", ", line 4, relevance: '5' is not a level from 0 to 4"),
        (HEAD + "1,1,2\n1,2\n", ", line 3: 2 cells where the header has 3"),
        (HEAD + ",1,2\n", ", line 2, pair_id: '' is not an id"),
        (HEAD + '1,"1,2\n', ", line 2: unexpected end of data"),
        (HEAD.encode() + b"1,1,2\n1,\xff,2\n", ", line 3, worker: '\\udcff' is not UTF-8"),
        (TIMED + "1,1,2,yesterday,1\n", ", line 2, submitted_at: 'yesterday' is not a date"),
        (TIMED + "1,1,2,2024-05-01,nan\n", ", line 2, seconds: 'nan' is not a number of seconds"),
    ],
)
def test_bad_input_is_told_by_file_line_and_field(file, consensus_command, text, problem):
    path = file(text)
    code, output, errors = consensus_command("--raw", path)
    assert (code, output) == (1, "")
    assert errors.startswith(f"error: {path}{problem}")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("--json", "need --raw"),
        ("--out levels.csv", "need --raw"),
        ("--raw raw.csv --method mace --rounding up", "does not round"),
        ("--raw raw.csv --out raw.csv", "would overwrite"),
    ],
)
def test_options_that_do_not_go_together(file, consensus_command, monkeypatch, arguments, problem):
    path = file(FOUR_PAIRS)
    monkeypatch.chdir(path.parent)
    code, _, errors = consensus_command(*arguments.split())
    assert code == 2
    assert problem in errors
    assert path.read_text() == FOUR_PAIRS


# Four of five always agree, the fifth says the opposite.
CROWD = [
    (pair, worker, 4 - pair % 5 if worker == 4 else pair % 5)
    for pair in range(25)
    for worker in range(5)
]


@pytest.mark.parametrize("method", get_args(crowd.Aggregator))
def test_crowd_kit_decides_every_pair_that_has_a_level(file, method, monkeypatch):
    kit = pytest.importorskip("crowdkit.aggregation")
    monkeypatch.setattr(kit, "MACE", partial(kit.MACE, n_restarts=1))  # for speed
    table = raw_consensus.levels(raw.read(file([*CROWD, (99, 1, None)])), method=method)
    assert table["level"].tolist() == [pair % 5 for pair in range(25)] + [pd.NA]
    assert table["outcome"].tolist() == [method] * 25 + ["discarded"]
    assert table["mean"].iloc[0] == pytest.approx(4 / 5)
    assert np.isnan(table["mean"].iloc[-1])


@pytest.mark.parametrize("rows", [[(1, 1, 2), (1, 2, 4)], [(1, 2, 4), (1, 1, 2)]])
def test_a_tie_of_heads_goes_to_the_higher_level_and_no_level_needs_no_aggregator(file, rows):
    pytest.importorskip("crowdkit")
    assert levels(file(rows), method="majority") == {1: 4}
    assert levels(file([(1, 1, None)]), method="mace") == {1: pd.NA}


def test_without_crowd_kit_the_command_that_installs_it_is_named(file, monkeypatch):
    def _missing(name):
        raise builtins.ImportError(name)

    monkeypatch.setattr(importlib, "import_module", _missing)
    with pytest.raises(UsageError, match="pip install crowd-kit"):
        raw_consensus.run(Options(file(FOUR_PAIRS), method="mace"))
