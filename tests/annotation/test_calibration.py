"""The stage `calibration` on the judged sample: five judges told apart; and the command."""

import contextlib
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from opened import OPEN
from scipy import stats
from support.campaign_cases import decisions_of, write_candidates, write_empty
from support.judges import judges, people
from support.rehearsed import rehearsed

from annotation import adjudicate, calibration, consensus
from annotation.machine import second_looks
from annotation.machine.second_looks import TOLD
from annotation.votes.votes import NO_LEVEL
from momentrank.errors import MomentRankError, UsageError
from momentrank.formats import read_run
from pipeline import reference_runs
from pipeline.campaign import design
from pipeline.campaign.campaign import CampaignError, write_campaign
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.core import cli, csv_files, files, tables

METRICS = cli.METRICS / "calibration.json"
LATER = pd.Timestamp("2024-05-03T08:00:00Z")
CAMPAIGN = OPEN.model_copy(update={"rehearsal": True, "closed_at": "2024-05-02T09:00:00Z"})


@pytest.fixture(scope="module")
def sample(tmp_path_factory, repository):
    """Return the folder of a judged sample: what people made, and runs; no machine yet."""
    folder, rehearsal_data = tmp_path_factory.mktemp("calibrated"), rehearsed()
    shutil.copy(repository / "params.yaml", folder)
    with contextlib.chdir(folder):
        tables.JUDGMENTS.write(rehearsal_data.judgments)
        tables.PAIRS.write(rehearsal_data.ledger)
        tables.QUERIES.write(rehearsal_data.queries)
        tables.FROZEN_QUERIES.write(rehearsal_data.queries)
        write_empty(tables.FAILED_CLIPS, tables.MACHINE_JUDGMENTS)
        moments = rehearsal_data.ledger["moment_id"].drop_duplicates().tolist()
        clips = {"moment_id": moments, "clip": [f"{moment}.mp4" for moment in moments]}
        tables.CLIPS.write(pd.DataFrame(clips).assign(clip_sha="c", seconds=3.5))
        write_campaign(CAMPAIGN)
        consensus.main()
        _write_runs(rehearsal_data)
    return folder


def _write_runs(rehearsal_data):
    levels = tables.CONSENSUS.read().dropna(subset=["level"])[[*PAIR_KEY, "level"]]
    test = rehearsal_data.queries.loc[rehearsal_data.queries["split"] == "test", "query_id"]
    own = rehearsal_data.ledger[rehearsal_data.ledger["query_id"].isin(test)]
    moments = rehearsal_data.ledger.drop_duplicates("moment_id")
    columns = [*PAIR_KEY, "rank", "similarity"]
    segments = ["query_id", *reference_runs.SEGMENT, "level"]
    runs = {
        "captions": reference_runs.by_captions(own[columns], moments),
        "random": reference_runs.random_moments(sorted(test), moments, seed=1),
        "ideal": reference_runs.ideal(own.merge(levels, on=PAIR_KEY)[segments]),
    }
    for name, run in runs.items():
        reference_runs.write(calibration.RUNS / f"{name}{calibration.TEST}", run, name)


@pytest.fixture
def folder(sample, tmp_path, monkeypatch):
    """Return a copy of the sample, and stand in it."""
    copy = shutil.copytree(sample, tmp_path / "copy")
    monkeypatch.chdir(copy)
    return copy


def machine_table(level, **columns):
    """Return a machine's judgments of every pair that people were shown."""
    pairs = select_newest(rehearsed().ledger).sort_values(PAIR_KEY, ignore_index=True)
    levels = pd.Series(level, dtype="Int64").mask(pd.Series(level) == NO_LEVEL)
    rows = pairs[[*PAIR_KEY, "query_sha", "clip_sha"]].assign(
        level=levels,
        expected=np.nan,
        reason=levels.isna().map({True: "refused", False: None}),
        remark="She is at the door.",
        model="a-model",
        prompt="judge-v1",
        guideline="1",
        frames=8,
        repeat=0,
    )
    return tables.MACHINE_JUDGMENTS.check(rows.assign(**columns)[tables.MACHINE_JUDGMENTS.columns])


def run_stage():
    calibration.main()
    return files.read_json(METRICS)


def test_the_stage_tells_how_far_late_runs_are_judged(folder):
    assert run_stage()["late"] == []
    run = read_run(calibration.RUNS / f"captions{calibration.TEST}").assign(origin="clip")
    times = {"pooled_start": run["start"], "pooled_end": run["end"]}
    tables.POOLED_RUNS.write(run.assign(**times)[tables.POOLED_RUNS.columns])
    then = {"levels": 1, "run": "clip", "split": "test", "depth": 5, "judged": 0.25, "value": 0.5}
    bounds = {"low": 0.0, "high": 1.0, "asked": 9, "at": LATER}
    tables.LATE_RUNS.write(pd.DataFrame([then | bounds]))
    [late] = run_stage()["late"]
    assert late == {"run": "clip", "depth": 5, "before": 0.25, "now": late["now"]}
    assert 0.25 < late["now"] <= 1


@pytest.mark.parametrize("name", ["good", "lenient", "similarity", "constant", "fails"])
def test_the_stage_names_each_judge_with_its_fault(folder, name):
    panel, truth = people()
    tables.MACHINE_JUDGMENTS.write(machine_table(judges(panel, truth, seed=2)[name]))
    before = [path.read_bytes() for path in (tables.CONSENSUS.path, tables.JUDGMENTS.path)]
    figures = run_stage()
    assert [verdict["code"] for verdict in figures["verdicts"]] == [name]
    assert (figures["second_looks"] is None) == (name != "good")
    assert figures["alternative_test"]["passed"] is (name in {"good", "fails"})
    values = figures["conclusions"]["measures"]["nDCG(iou=0.5)@10"]
    means = [list(values[side].values()) for side in ("people", "machine")]
    assert values["tau_b"] == pytest.approx(stats.kendalltau(*means).statistic, abs=1e-6)
    favour = values["favour"]
    assert ((favour["low"] or 0) > 0) == (name == "similarity")
    assert figures["control"]["difference"]["kappa"]["low"] > 0 or name != "good"
    assert figures["answers"]["reasons"] == (
        {"refused": figures["answers"]["asked"] - figures["answers"]["with_level"]}
        if name == "fails"
        else {}
    )
    assert before == [path.read_bytes() for path in (tables.CONSENSUS.path, tables.JUDGMENTS.path)]


def test_no_figure_of_a_person_is_in_the_metrics(folder):
    _, truth = people()
    tables.MACHINE_JUDGMENTS.write(machine_table(truth))
    text = json.dumps(run_stage())
    table = pd.read_csv(calibration.LEAD / "calibration.csv")
    assert set(table["annotator"]) == set(rehearsed().judgments["annotator"])
    for row in table.itertuples():
        assert f"{row.exact}" not in text or row.exact in {0.0, 1.0}


def test_without_machine_levels_or_judgments_it_says_so(folder):
    assert [verdict["code"] for verdict in run_stage()["verdicts"]] == ["none"]
    tables.JUDGMENTS.write(tables.JUDGMENTS.empty())
    tables.PAIRS.write(tables.PAIRS.empty())
    consensus.main()
    figures = run_stage()
    assert [verdict["code"] for verdict in figures["verdicts"]] == ["none"]
    assert figures["conclusions"] is None
    assert len(pd.read_csv(calibration.LEAD / "second_looks.csv")) == 0


def test_the_control_is_no_judge_and_asks_for_no_second_look(folder):
    panel, truth = people()
    level = judges(panel, truth, seed=2)["similarity"]
    tables.MACHINE_JUDGMENTS.write(machine_table(level, expected=level * 1.0, model="similarity"))
    figures = run_stage()
    assert [verdict["code"] for verdict in figures["verdicts"]] == ["control"]
    assert figures["second_looks"] is None


def test_a_model_shown_captions_alone_asks_for_no_second_look(folder):
    tables.MACHINE_JUDGMENTS.write(some_doubts(frames=0))
    figures = run_stage()
    assert figures["blind"]
    assert figures["second_looks"] is None


def test_what_is_of_an_older_clip_counts_for_nothing(folder):
    _, truth = people()
    old = machine_table(np.zeros_like(truth), clip_sha="older")
    tables.MACHINE_JUDGMENTS.write(old)
    figures = run_stage()
    assert (figures["answers"]["asked"], figures["answers"]["stale"]) == (0, len(truth))
    assert [verdict["code"] for verdict in figures["verdicts"]] == ["none"]


def some_doubts(**columns):
    """Return the levels of a machine that is far from the truth on a few pairs, and sure."""
    _, truth = people()
    level = np.where(np.arange(len(truth)) % 40, truth, 4 - truth)
    return machine_table(level, expected=level * 1.0, **columns)


def decide_again(looks, level):
    """Write decisions on pairs, as if they were fetched."""
    shown = tables.PAIRS.read().merge(looks[PAIR_KEY], on=PAIR_KEY)
    tables.ADJUDICATIONS.write(decisions_of(shown, level, at=LATER))
    consensus.main()


def read_looks():
    return csv_files.read_csv(calibration.LEAD / "second_looks.csv")


def test_second_looks_are_blind_until_they_are_decided_and_change_no_figure(folder):
    tables.MACHINE_JUDGMENTS.write(some_doubts())
    before = run_stage()
    looks = read_looks()
    assert len(looks) == before["second_looks"] > 10
    assert looks[["decided", *TOLD]].isna().all(axis=None)
    decided = len(looks) - 4
    decide_again(looks.iloc[:decided], 4)
    after = run_stage()
    told = read_looks()
    assert told[PAIR_KEY].to_numpy().tolist() == looks[PAIR_KEY].to_numpy().tolist()
    assert told["decided"].tolist() == ["4"] * decided + [None] * 4
    assert set(told["why"][:decided]) == {"doubted", "control"}
    assert set(told["remark"][:decided]) == {"She is at the door."}
    assert told[TOLD].iloc[decided:].isna().all(axis=None)
    assert after.pop("second_looks") == before.pop("second_looks") - decided
    again = after.pop("decided_again")
    assert again["doubted"]["decided"] + again["control"]["decided"] == decided
    del before["decided_again"]
    assert after == before, "agreement, tau, favour and worth are those of the votes"


def test_the_pairs_of_the_page_are_listed_for_those_who_decide(folder):
    tables.MACHINE_JUDGMENTS.write(some_doubts())
    run_stage()
    pairs = adjudicate.read_second_looks()
    assert len(pairs) == len(read_looks())
    adjudicate.list_pairs(pairs[:3], second_looks.NOTE)
    assert adjudicate.read_second_looks() == pairs[3:]
    adjudicate.list_pairs(pairs[3:], second_looks.NOTE)
    again = run_stage()
    assert again["second_looks"] == len(pairs)
    tables.MACHINE_JUDGMENTS.write(tables.MACHINE_JUDGMENTS.empty())
    run_stage()
    with pytest.raises(CampaignError, match="lists no pair; `dvc repro calibration` says why"):
        adjudicate.read_second_looks()


def write_audit(machine):
    """Write an audit of ten queries: four moments of each are the pool, the others two strata."""
    pairs = select_newest(tables.PAIRS.read()).sort_values(["query_id", "rank"])
    write_candidates(pairs[pairs["rank"] <= 4].assign(batch=1)[tables.CANDIDATES.columns])
    tables.TOPUP.write(tables.TOPUP.empty())
    chosen = pairs["query_id"].isin(sorted(pairs["query_id"].unique())[:10])
    drawn = pairs[chosen & (pairs["rank"] > 4)].assign(origin="near")
    tables.AUDIT.write(drawn[tables.AUDIT.columns])
    high = drawn["rank"] <= 7
    strata = drawn.assign(stratum=np.where(high, "high", "unjudged"), size=np.where(high, 3, 40))
    tables.AUDIT_STRATA.write(strata[tables.AUDIT_STRATA.columns])
    how = {"seed": 1, "queries": 40, "drawn": 10, "pool": 47, "depth": 47, "near": 6, "deep": 0}
    design.write(design.Design(**how, machine=machine))


def test_what_an_audit_found_and_what_a_machines_levels_brought_is_told(folder):
    tables.MACHINE_JUDGMENTS.write(machine_table(people()[1]))
    before = run_stage()
    assert before["audit"] is before["missed"] is None
    write_audit("gpt")
    told = run_stage()
    figures = told["audit"]
    assert figures["machine"] == "gpt"
    assert figures["queries"] > 4
    assert [row["level"] for row in figures["widths"]] == [1, 2, 3, 4]
    ratios = [row["width_ratio"] for row in figures["widths"]]
    assert all(ratio is None or 0.5 < ratio < 2 for ratio in ratios)
    assert ratios[0] is not None
    assert (told["missed"]["level"], told["missed"]["depth"]) == (2, 47)
    write_audit(None)
    plain = run_stage()
    assert plain["audit"] is None
    assert plain["missed"] == told["missed"]
    queries = tables.QUERIES.read()
    changed = queries["query_id"].str[-1] < "8"
    tables.QUERIES.write(queries.assign(stratum=changed.map({True: "changed", False: "caption"})))
    parts = run_stage()["missed"]["by_stratum"]
    assert [*parts] == ["caption", "changed"]
    assert sum(part["queries"] for part in parts.values()) == figures["queries"]
    shares = [part["share"] for part in parts.values()]
    assert min(shares) <= plain["missed"]["share"] <= max(shares)


def test_runs_of_one_s_own_are_ordered_too(folder):
    _, truth = people()
    tables.MACHINE_JUDGMENTS.write(machine_table(truth))
    shutil.copy(calibration.RUNS / f"random{calibration.TEST}", "ours.run")
    path = folder / "params.yaml"
    path.write_text(path.read_text().replace("  runs: []", "  runs: [ours.run]"))
    conclusions = run_stage()["conclusions"]
    assert conclusions["runs"] == ["captions", "ideal", "random", "ours", "shuffled"]
    path.write_text(path.read_text().replace("[ours.run]", "[random.run]"))
    with pytest.raises(UsageError, match=r"another run .*'random'"):
        run_stage()


@pytest.fixture
def raw_files(tmp_path):
    """Return a raw file of people, and one of a good machine, of the sample."""
    panel, truth = people()
    scores = panel.scores
    votes = {"pair_id": scores.pair, "worker": scores.annotator, "relevance": scores.level}
    pd.DataFrame(votes).to_csv(tmp_path / "raw.csv", index=False)
    level = judges(panel, truth, seed=2)["good"]
    pd.DataFrame({"pair_id": range(len(level)), "level": level}).to_csv(
        tmp_path / "machine.csv", index=False
    )
    pd.DataFrame({"pair_id": range(len(level)), "query_id": panel.query}).to_csv(
        tmp_path / "pairs.csv", index=False
    )
    return tmp_path


def command(*words):
    calibration.command(calibration.parser().parse_args([str(word) for word in words]))


def test_the_command_works_on_any_collection(raw_files, capsys):
    both = ("--people", raw_files / "raw.csv", "--machine", raw_files / "machine.csv")
    command(*both, "--json", "--lead", raw_files)
    figures = json.loads(capsys.readouterr().out)
    assert [verdict["code"] for verdict in figures["verdicts"]] == ["good"]
    assert figures["first_votes"] == "drawn"
    assert len(pd.read_csv(raw_files / "calibration.csv")) == 6
    command(*both)
    output = capsys.readouterr().out
    assert output.startswith("No fault was found (without similarities, ")
    assert "and it passes the alternative annotator test " in output
    assert "published test, against all others: yes, the better alternative to " in output
    assert "pairs are independent" not in output
    (raw_files / "pairs.csv").unlink()
    command(*both)
    assert "pairs are independent" in capsys.readouterr().out


def test_a_release_s_own_files_are_read(raw_files, capsys):
    panel, truth = people()
    order = pd.DataFrame({"pair_id": range(len(truth)), "query_id": panel.query})
    places = order.assign(video_name="v", start=np.arange(len(truth)) / 3, end=1e6)
    places.to_csv(raw_files / "pairs.csv", index=False)
    level = judges(panel, truth, seed=2)["fails"]
    answers = places.drop(columns="pair_id").assign(level=level, reason=None, repeat=0)
    answers.loc[answers["level"] == NO_LEVEL, ["level", "reason"]] = [None, "refused"]
    unseen = answers.iloc[:1].assign(video_name="nobody saw it")
    pd.concat([answers, unseen]).to_csv(raw_files / "machine_judgments.csv", index=False)
    assert ",2.0," in (raw_files / "machine_judgments.csv").read_text()
    judged_pairs = [
        {"pair_id": pair, "query_id": int(query), "similarity": float(near), "relevance": 1}
        for pair, (query, near) in enumerate(zip(panel.query, panel.similarity, strict=True))
        if pair % 7
    ]
    (raw_files / "val.json").write_text(json.dumps(judged_pairs))
    both = ("--people", raw_files / "raw.csv", "--machine", raw_files / "machine_judgments.csv")
    command(*both, "--json", "--judged", raw_files / "val.json")
    figures = json.loads(capsys.readouterr().out)
    assert [verdict["code"] for verdict in figures["verdicts"]] == ["fails"]
    assert figures["answers"]["asked"] == len(truth)
    assert figures["answers"]["reasons"] == {"refused": int((level == NO_LEVEL).sum())}
    both_decided = (level != NO_LEVEL) & (panel.consensus != NO_LEVEL)
    assert figures["pairs"] == int(both_decided.sum())
    has_similarity = np.arange(len(truth)) % 7 > 0
    assert figures["control"]["control"]["pairs"] == int((has_similarity & both_decided).sum())
    assert figures["control"]["difference"]["kappa"]["low"] > 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("pair_id,level\n0,5\n", "line 2, level: '5' is not a level from 0 to 4"),
        ("pair_id,level\n0,1\n0,2\n", "line 3, pair_id: '0' appears twice; number its levels"),
        ("pair_id,grade\n0,1\n", "line 1: column 'level' is missing"),
        ("pair_id,level\nelsewhere,1\n", "none of its pairs is in"),
        ("query_id,video_name,start,end,level\n0,v,1,2,1\n", "must be next to the votes"),
    ],
)
def test_a_machine_s_file_that_is_wrong_is_one_clear_line(raw_files, rows, message):
    path = raw_files / "machine.csv"
    path.write_text(rows)
    with pytest.raises(MomentRankError, match=re.escape(message)):
        command("--people", raw_files / "raw.csv", "--machine", path)


def test_half_of_the_options_is_refused(raw_files):
    with pytest.raises(UsageError, match="--people FILE and --machine FILE"):
        command("--people", raw_files / "raw.csv")
