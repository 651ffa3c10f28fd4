"""The stages consensus and agreement in a folder, and agreement as a command."""

import json

import numpy as np
import pandas as pd
import pytest
from opened import OPEN
from support.campaign_cases import (
    NONE_VOIDED,
    START,
    judgments_of,
    ledger_of,
    make_judgments,
    shown_of,
    write_empty,
)

from annotation import agreement, consensus
from annotation.votes import campaign_votes, raw
from pipeline.campaign.campaign import FILE, Pilot, write_campaign
from pipeline.core import files, tables
from pipeline.core.params import load_defaults


def full_ledger(pairs, similarity=0.5):
    """Return a whole ledger of `(query_id, moment_id)`."""
    rows = shown_of(ledger_of(pairs)).assign(similarity=similarity)
    return tables.PAIRS.check(rows[tables.PAIRS.columns])


@pytest.fixture
def project(folder, tmp_path, repository):
    """Return a function that puts a campaign into a folder and runs both stages there."""
    (tmp_path / "params.yaml").write_text((repository / "params.yaml").read_text())

    def _project(judgments, ledger, campaign=OPEN):
        FILE.parent.mkdir(parents=True, exist_ok=True)
        write_campaign(campaign)
        tables.JUDGMENTS.write(judgments)
        tables.PAIRS.write(ledger)
        write_empty()
        consensus.main()
        agreement.main()
        names = ("consensus", "agreement")
        return [files.read_json(tmp_path / f"datasets/work/metrics/{name}.json") for name in names]

    return _project


def some_campaign():
    """Return a campaign in which something of every kind has happened."""
    pairs = [("q", name) for name in "abcdefg"]
    rows = [
        *(("a", 1, 3), ("a", 2, 4), ("b", 1, 0), ("b", 2, 4), ("b", 3, 1), ("b", 4, 1)),
        *(("c", 1, 0), ("c", 2, 4), ("c", 3, 0), ("c", 4, 4), ("d", 1, 1), ("d", 2, 4)),
        *(("e", 1, None), ("e", 2, None), ("f", 1, 2)),
    ]
    votes = judgments_of([("q", *row) for row in rows])
    others = make_judgments(
        [
            {"query_id": "q", "moment_id": "a", "annotator": 8, "level": 0, "kind": "gold"},
            {"query_id": "q", "moment_id": "a", "annotator": 9, "level": 0, "clip_sha": "older"},
            {"query_id": "q", "moment_id": "a", "annotator": 7, "level": 0}
            | {"submitted_at": START + pd.Timedelta(days=1)},
        ]
    )
    return pd.concat([votes, others], ignore_index=True), full_ledger(pairs)


def test_the_stages_count_what_became_of_every_pair_and_judgment(project):
    figures, measures = project(*some_campaign())
    one_each = dict.fromkeys(("two", "four", "discarded", "unjudgeable"), 1)
    assert figures["outcomes"] == {**one_each, "adjudicated": 0, "waiting": 3}
    assert (figures["pairs"], figures["with_level"], figures["nothing_waits"]) == (7, 2, False)
    assert figures["levels"] == {"0": 0, "1": 1, "2": 0, "3": 0, "4": 1}
    rest = {"late": 1, "stale": 1, "voided": 0, "checks": 1}
    counts = {"all": 18, "counted": 15, "without_level": 2, "of_pilot": 0, **rest}
    assert figures["judgments"] == counts
    assert (measures["pairs"], measures["scores"], measures["annotators"]) == (5, 13, 4)
    groups = {name: group["pairs"] for name, group in measures["groups"].items()}
    assert groups == {"all": 4, "two": 2, "four": 2, "first_two": 4}


@pytest.mark.parametrize("closed", [False, True])
def test_once_the_campaign_is_closed_what_waits_is_discarded(project, closed):
    end = "2024-06-01T08:00:00Z" if closed else None
    figures, _ = project(*some_campaign(), campaign=OPEN.model_copy(update={"closed_at": end}))
    assert (figures["closed"], figures["nothing_waits"]) == (closed, closed)
    assert figures["outcomes"]["waiting"] == (0 if closed else 3)
    assert figures["discarded_with_too_few_votes"] == (3 if closed else 0)


def test_judgments_of_a_pilot_that_is_kept_apart_are_neither_counted_nor_stale(project):
    pilot = Pilot(queries=["q"], ended_at="2024-06-01T08:00:00Z")
    figures, _ = project(*some_campaign(), campaign=OPEN.model_copy(update={"pilot": pilot}))
    judgments = figures["judgments"]
    assert (judgments["of_pilot"], judgments["stale"], judgments["all"]) == (18, 0, 0)


def test_figures_of_persons_are_written_for_the_lead_alone(project, tmp_path):
    project(*some_campaign())
    work = tmp_path / "datasets/work"
    persons = pd.read_csv(work / "lead/annotators.csv")
    assert persons["annotator"].tolist() == [1, 2, 3, 4]
    assert persons["seconds"].tolist() == [4.0] * 4
    assert {"number", "mean", "bias", "spread", "drift", "escalated", "flags"} <= set(persons)
    couples = pd.read_csv(work / "lead/annotator_pairs.csv")
    assert couples[["annotator", "other"]].to_numpy().tolist()[0] == [1, 2]
    shared = (work / "metrics/agreement.json").read_text()
    assert "bias" not in shared
    assert "drift" not in shared


def test_the_data_of_figure_5(project, tmp_path):
    project(*some_campaign())
    plots = tmp_path / "datasets/work/plots"
    span = pd.read_csv(plots / "min_max.csv").query("pairs > 0")
    assert span["range"].tolist() == ["0 to 4", "1 to 4", "3 to 4"]
    assert span["pairs"].tolist() == [2, 1, 1]
    assert pd.read_csv(plots / "final_levels.csv")["pairs"].tolist() == [0, 1, 0, 0, 1]


NOBODY = judgments_of([])
ONE = judgments_of([("q", "a", 1, 3)])


@pytest.mark.parametrize(
    ("judgments", "pairs"), [(NOBODY, []), (NOBODY, [("q", "a")]), (ONE, [("q", "a"), ("q", "b")])]
)
def test_an_empty_or_partial_campaign_is_a_normal_state(project, capsys, judgments, pairs):
    figures, measures = project(judgments, full_ledger(pairs))
    expected = {"pairs": len(pairs), "with_level": 0, "nothing_waits": False}
    assert {name: figures[name] for name in expected} == expected
    assert measures["exact"] is None
    assert measures["groups"]["all"]["alpha"]["ordinal"]["alpha"] is None
    assert measures["kappa"]["mean_over_annotator_pairs"] == {"plain": None, "quadratic": None}
    message = capsys.readouterr().err
    assert ("nothing has been shown yet" if not pairs else f"{len(pairs)} wait") in message


def test_flagged_annotators_are_counted_and_the_lead_is_told_where(project, capsys):
    pairs = [("q", f"m{number}") for number in range(60)]
    rows = [
        (*pair, who, 3 if who == 1 else at % 5) for at, pair in enumerate(pairs) for who in (1, 2)
    ]
    _, measures = project(judgments_of(rows), full_ledger(pairs))
    assert measures["flagged"] == 1
    assert "1 annotators flagged: datasets/work/lead/annotators.csv" in capsys.readouterr().err


def test_the_campaign_and_its_raw_file_agree(tmp_path):
    judgments, ledger = some_campaign()
    table = campaign_votes.consensus(judgments, ledger, NONE_VOIDED, closed=True)
    names = {"moment_id": "pair_id", "annotator": "worker", "level": "relevance"}
    votes = judgments[judgments["annotator"] < 7].rename(columns=names)
    path = tmp_path / "raw.csv"
    votes[[*raw.REQUIRED, "submitted_at", "seconds"]].to_csv(path, index=False)
    ours = agreement.measure_campaign(
        judgments, ledger, NONE_VOIDED, table, load_defaults().agreement
    )
    theirs = agreement.measure_raw(raw.read(path), load_defaults())
    same = ours.metrics.keys() - {"similarity_1", "by_guideline"}
    assert ours.metrics["first_two_limits"] is None  # times are known
    assert all(ours.metrics[name] == theirs.metrics[name] for name in same)
    pd.testing.assert_frame_equal(ours.lead["annotators.csv"], theirs.lead["annotators.csv"])


def test_the_first_batch_has_an_agreement_of_its_own(project):
    judgments, ledger = some_campaign()
    first = ledger["moment_id"].isin(["a", "b", "c"])
    project(judgments, ledger.assign(rank=first.map({True: 20, False: 21})))
    by_batch = files.read_json(tables.WORK / "metrics/agreement.json")["by_batch"]
    # First two levels of a, b, c: 3 4, 0 4, 0 4; of d: 1 4. The others have fewer than two.
    shares = {name: (own["pairs"], own["exact"], own["within_1"]) for name, own in by_batch.items()}
    assert shares == {"first_batch": (3, 0.0, pytest.approx(1 / 3, abs=1e-6)),
                      "otherwise": (1, 0.0, 0.0)}  # fmt: skip


def test_agreement_is_told_by_the_version_of_the_guideline():
    pairs = [("q", f"m{n}") for n in range(4)]
    rows = [(*pair, who, (0, 3, 2, 2)[n] if who == 2 else n) for n, pair in enumerate(pairs)
            for who in (1, 2)]  # fmt: skip
    judgments, ledger = judgments_of(rows), shown_of(ledger_of(pairs))
    second = judgments["moment_id"].isin(["m2", "m3"])
    judgments = judgments.assign(guideline=second.map({True: "2", False: "1"}))
    table = campaign_votes.consensus(judgments, ledger, NONE_VOIDED)
    measured = agreement.measure_campaign(
        judgments, ledger, NONE_VOIDED, table, load_defaults().agreement
    )
    by_version = measured.metrics["by_guideline"]
    assert {
        name: (figures["pairs"], figures["within_1"]) for name, figures in by_version.items()
    } == {
        "1": (2, 0.5),
        "2": (2, 1.0),
    }


@pytest.fixture
def raw_file(tmp_path, monkeypatch):
    """Return a raw file of three annotators, in the current folder."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    lines = [
        f"{pair},{who},{np.clip(pair % 5 + random.integers(-1, 2), 0, 4)}"
        for pair in range(40)
        for who in (f"w{pair % 2}", "w2")
    ]
    path = tmp_path / "raw.csv"
    path.write_text("\n".join(["pair_id,worker,relevance", *lines]))
    return path


def test_the_command_tells_it_as_text(command, tmp_path, raw_file):
    code, output, errors = command("annotation.agreement", "--raw", raw_file)
    assert (code, errors) == (0, "")
    assert output.startswith("pairs: 40\nscores: 80\nannotators: 3\n")
    assert "      ordinal: {alpha: " in output
    assert "  four:\n    pairs: 0\n    couples: 0\n    exact: null\n" in output
    assert [path.name for path in tmp_path.iterdir()] == ["raw.csv"]


def test_the_command_tells_who_answered_twice_and_where_the_rule_was_not_kept(command, tmp_path):
    votes = {0: "a1 a1", 1: "a0 b4", 2: "a0 b4 a2 b2", 3: "a2 b2 c2 d2"}
    rows = [f"{pair},{who},{level}" for pair, own in votes.items() for who, level in own.split()]
    path = tmp_path / "raw.csv"
    path.write_text("\n".join(["pair_id,worker,relevance", *rows]))
    _, output, _ = command("annotation.agreement", "--raw", path)
    assert "  two:\n    pairs: 2\n" in output
    assert output.count("one_person_twice: {couples: 1, exact: 1.0, within_1: 1.0}") == 1
    assert "- {scores: 4, people: 2, pairs: 1}\n" in output
    assert "- {min: 0, max: 4, pairs: 2}\n" in output
    _, output, _ = command("annotation.agreement", "--raw", path, "--repeated", "distinct")
    assert "one_person_twice: {couples: 1" not in output


def test_the_command_tells_it_as_json_and_persons_in_a_folder(command, raw_file):
    _, output, _ = command("annotation.agreement", "--raw", raw_file, "--json", "--lead", "lead")
    figures = json.loads(output)
    assert figures["groups"]["four"]["alpha"]["nominal"]["alpha"] is None
    assert figures["similarity_1"] is None
    assert "w1" not in output
    persons = pd.read_csv("lead/annotators.csv")
    assert persons["annotator"].tolist() == ["w0", "w1", "w2"]


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        ("--json", 2, "error: these options need --raw FILE"),
        ("--raw no.csv", 1, "error: no.csv: no such file or directory"),
        ("--raw raw.csv --lead raw.csv", 1, "error: raw.csv/annotators.csv: can't be written"),
        ("", 1, "error: params.yaml: no such file"),
    ],
)
def test_mistakes_are_one_line(command, raw_file, arguments, code, problem):
    exit_code, _, errors = command("annotation.agreement", *arguments.split())
    assert exit_code == code
    assert errors.startswith(problem)
    assert errors.count("\n") == 1
