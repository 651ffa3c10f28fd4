"""Reference runs of a finished rehearsal on the sample corpus: they rank as they should."""

import pytest
from support.campaign_cases import NONE_VOIDED
from support.rehearsed import rehearsed

from annotation.votes import campaign_votes
from momentrank.cli.main import main as momentrank
from pipeline import reference_runs
from pipeline.reference_runs import SEGMENT

SEED = 2024


@pytest.fixture(scope="module")
def qrels():
    """Return what people came to, as a release has it."""
    rehearsal = rehearsed()
    agreed = campaign_votes.consensus(
        rehearsal.judgments, rehearsal.ledger, NONE_VOIDED, closed=True
    ).dropna(subset="level")
    pairs = rehearsal.ledger.merge(agreed[["query_id", "moment_id", "level"]])
    return pairs[["query_id", *SEGMENT, "level"]].astype({"level": "int64"})


@pytest.fixture(scope="module")
def runs(qrels):
    """Return every reference run; the pool is what was shown."""
    ledger = rehearsed().ledger
    moments = ledger.drop_duplicates("moment_id")[["moment_id", *SEGMENT]]
    durations = ledger.drop_duplicates("video_id").set_index("video_id")["duration"]
    best = reference_runs.ideal(qrels)
    return {
        "random": reference_runs.random_moments(sorted(set(qrels["query_id"])), moments, SEED),
        "captions": reference_runs.by_captions(
            ledger[["query_id", "moment_id", "rank", "similarity"]], moments
        ),
        "ideal": best,
        "jittered": reference_runs.move_boundaries(best, durations, SEED, 0.25),
    }


@pytest.fixture(scope="module")
def scores(runs, qrels):
    """Return every run's scores."""
    return reference_runs.scores(runs, qrels)


def test_the_ideal_order_scores_all_there_is(scores, qrels):
    relevant = qrels.loc[qrels["level"] > 0, "query_id"].nunique() / qrels["query_id"].nunique()
    assert relevant > 0.9
    assert set(scores["ideal"].values()) == {round(relevant, 6)}


@pytest.mark.parametrize("measure", reference_runs.MEASURES)
def test_random_is_below_captions_and_nothing_is_above_the_ideal(scores, measure):
    random, captions, ideal, jittered = (
        scores[name][measure] for name in ("random", "captions", "ideal", "jittered")
    )
    assert random < captions <= ideal
    assert jittered <= ideal


def test_loose_boundaries_cost_where_the_measure_is_strict(scores):
    own = scores["jittered"]
    assert own["nDCG(iou=0.3)@20"] > own["nDCG(iou=0.7)@20"]
    assert own["AxIoU@10"] < scores["ideal"]["AxIoU@10"]


def test_momentrank_validate_accepts_every_run(runs, tmp_path):
    tags = reference_runs.tags(reference_runs.ReferenceRuns(seed=SEED, jitter=0.25))
    paths = [tmp_path / f"{name}.test.run" for name in runs]
    for path, name in zip(paths, runs, strict=True):
        reference_runs.write(path, runs[name], tags[name])
    assert momentrank(["validate", *map(str, paths)]) == 0
