"""Runs to compare with: what is in them, and what they score."""

import contextlib

import numpy as np
import pandas as pd

import momentrank as mr
from momentrank.cli.main import main as momentrank
from pipeline import reference_runs
from pipeline.core.sections import ReferenceRuns

PARAMS = ReferenceRuns(seed=1, jitter=0.25)
QRELS = pd.DataFrame(
    [
        ("q2", "v2", 0.0, 4.0, 1),
        ("q1", "v1", 8.0, 10.0, 2),
        ("q1", "v1", 0.0, 4.0, 4),
        ("q1", "v2", 2.0, 6.0, 0),
        ("q1", "v1", 4.0, 7.0, 2),
    ],
    columns=["query_id", "video_id", "start", "end", "level"],
)
MOMENTS = pd.DataFrame(
    {
        "moment_id": [f"m{number}" for number in range(50)],
        "video_id": "v1",
        "start": [float(number // 2) for number in range(50)],  # each segment twice
        "end": [float(number // 2) + 1.5 for number in range(50)],
    }
)


def rows(run):
    return run[["query_id", "video_id", "start", "rank"]].to_numpy().tolist()


def test_the_ideal_order_is_by_level_then_video_and_time():
    assert rows(reference_runs.ideal(QRELS)) == [
        ["q1", "v1", 0.0, 1],
        ["q1", "v1", 4.0, 2],
        ["q1", "v1", 8.0, 3],
        ["q1", "v2", 2.0, 4],
        ["q2", "v2", 0.0, 1],
    ]


def test_candidates_keep_their_order_and_similarity():
    candidates = pd.DataFrame(
        {"query_id": "q", "moment_id": ["m4", "m0"], "rank": [2, 1], "similarity": [0.5, 1.0]}
    )
    run = reference_runs.by_captions(candidates, MOMENTS)
    assert run[["start", "rank", "score"]].to_numpy().tolist() == [[0, 1, 1.0], [2, 2, 0.5]]


def test_random_moments_are_distinct_and_of_the_seed_and_the_query_alone():
    run = reference_runs.random_moments(["q1", "q2"], MOMENTS, seed=1)
    assert run.groupby("query_id").size().tolist() == [25, 25]  # the pool holds 25 segments
    assert not run.duplicated(["query_id", "video_id", "start", "end"]).any()
    alone = reference_runs.random_moments(["q2"], MOMENTS.sample(frac=1, random_state=3), seed=1)
    own = run[run["query_id"] == "q2"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, own)
    assert rows(alone) != rows(reference_runs.random_moments(["q2"], MOMENTS, seed=2))
    q1_rows = run[run["query_id"] == "q1"]
    assert own["start"].tolist() != q1_rows["start"].tolist()
    assert reference_runs.random_moments([], MOMENTS, seed=1).empty


def test_boundaries_move_by_a_share_of_the_length_and_stay_in_the_video():
    exact = reference_runs.ideal(QRELS)
    durations = pd.Series({"v1": 10.0, "v2": 6.0})
    moved = reference_runs.move_boundaries(exact, durations, seed=1, jitter=0.25)
    length = exact["end"] - exact["start"]
    for name in ("start", "end"):
        assert (abs(moved[name] - exact[name]) <= 0.25 * length + 0.001).all()
        assert (moved[name] != exact[name]).any()
    assert (moved["start"] >= 0).all()
    assert (moved["end"] <= moved["video_id"].map(durations)).all()
    assert (moved["end"] > moved["start"]).all()
    still = reference_runs.move_boundaries(exact, durations, seed=1, jitter=0.0)
    np.testing.assert_array_equal(still[["start", "end"]], exact[["start", "end"]])


def test_the_ideal_run_scores_1_and_jitter_costs():
    exact = reference_runs.ideal(QRELS)
    runs = {
        "ideal": exact,
        "jittered": reference_runs.move_boundaries(exact, pd.Series(dtype="float64"), 1, 0.25),
    }
    scores = reference_runs.scores(runs, QRELS)
    assert set(scores["ideal"]) == set(reference_runs.MEASURES)
    assert set(scores["ideal"].values()) == {1.0}
    assert scores["jittered"]["AxIoU@10"] < 1.0
    assert reference_runs.scores(runs, QRELS.iloc[:0]) == {"ideal": None, "jittered": None}


def test_what_nobody_judged_and_where_others_would_cut_are_told():
    exact = reference_runs.ideal(QRELS)
    elsewhere = exact.assign(video_id="somewhere else")
    runs = {"ideal": exact, "other": elsewhere}
    low = reference_runs.scores(runs, QRELS, reference_runs.GAINS)
    high = reference_runs.scores(runs, QRELS, reference_runs.GAINS, "bounds")
    assert low["ideal"] == high["ideal"]  # all of it is judged
    name = "nDCG(iou=0.5)@20"
    assert low["other"][name] == 0 < high["other"][name]
    noise = {each["run"]: each for each in reference_runs.calc_boundary_noise(runs, QRELS)}
    assert noise["ideal"]["noisy"] < noise["ideal"]["value"] == 1.0
    assert reference_runs.calc_boundary_noise(runs, QRELS.iloc[:0]) == []


def test_tags_say_what_a_run_is():
    tags = reference_runs.tags(PARAMS)
    assert "reads-captions" in tags["captions"]
    assert tags["jittered"] == "oracle:boundaries-jittered-0.25"
    assert all(tag.split() == [tag] for tag in tags.values())


def test_momentrank_accepts_what_is_written(tmp_path, capsys):
    path = tmp_path / "runs" / "ideal.test.run"
    reference_runs.write(path, reference_runs.ideal(QRELS), "oracle:exact-boundaries")
    assert momentrank(["validate", str(path)]) == 0
    assert "2 queries, 5 segments" in capsys.readouterr().out
    assert path.read_text().splitlines()[0].split()[5:] == ["1", "4.0", "oracle:exact-boundaries"]
    assert mr.read_run(path)["rank"].tolist() == [1, 2, 3, 4, 1]


def test_without_judgments_the_qrels_are_empty_and_so_are_the_ideal_runs(tmp_path):
    with contextlib.chdir(tmp_path):
        empty = tmp_path / "val.qrels"
        empty.write_text("")
        qrels = reference_runs.read_judged(empty)
        assert qrels.empty
        best = reference_runs.ideal(qrels)
        moved = reference_runs.move_boundaries(best, pd.Series(dtype="float64"), 1, 0.25)
        reference_runs.write(tmp_path / "x.run", moved, "x")
    assert (tmp_path / "x.run").read_text() == ""
